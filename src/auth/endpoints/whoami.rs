//! `GET /v1/whoami`: the caller's tenant, scopes and restrictions.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::auth::limits::{Access, Confirm};
use crate::connect::presets::none_if_empty;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::Problem;
use crate::storage::transaction::Statements;
use crate::terms::{Environment, IdentityType, Scopes};
use crate::util::json;
use crate::util::name_set::Names;
use crate::util::rfc3339::rfc3339;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Whoami<'a> {
    account: &'a str,
    environment: Environment,
    scopes: Scopes,
    expires_at: Option<String>,
    /// Set only for a person in the console.
    #[serde(skip_serializing_if = "Option::is_none")]
    person: Option<&'a str>,
    #[serde(flatten)]
    restriction: Option<RestrictionView<'a>>,
}

/// The additional members for tokens.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RestrictionView<'a> {
    identity: &'a str,
    identity_type: Option<IdentityType>,
    platforms: Option<&'a Names>,
    access: Access,
    actions: Option<&'a Names>,
    connections: Option<&'a Names>,
    confirm: Option<Confirm>,
    client: Option<&'a str>,
    origins: Option<&'a Names>,
    fields: Option<&'a BTreeMap<String, String>>,
    fixed_fields: Option<&'a BTreeMap<String, String>>,
    lang: Option<&'a str>,
}

pub fn handle<'a>(context: &Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let restriction = context.caller.token().map(|token| RestrictionView {
        identity: &token.restriction.identity,
        identity_type: token.restriction.identity_type,
        platforms: token.restriction.platforms.as_ref(),
        access: token.limits.access,
        actions: token.limits.actions.as_ref(),
        connections: token.restriction.connections.as_ref(),
        confirm: token.limits.confirm,
        client: token.restriction.client.as_deref(),
        origins: token.origins.as_ref(),
        fields: none_if_empty(&token.presets.fields),
        fixed_fields: none_if_empty(&token.presets.fixed),
        lang: token.presets.lang.as_deref(),
    });
    let person = context.caller.person();
    Ok(Handler::render(Statements::default(), move |_, principal| {
        let document = Whoami {
            account: &principal.account,
            environment: principal.environment,
            scopes: principal.scopes,
            expires_at: principal
                .expires_at
                .into_iter()
                .chain(person.map(|token| token.expires_at))
                .min()
                .and_then(rfc3339),
            person: person.map(|token| token.restriction.identity.as_str()),
            restriction: restriction.map(|view| RestrictionView {
                confirm: Confirm::stricter(view.confirm, principal.confirm),
                ..view
            }),
        };
        Ok(Response::json(json::bytes(&document), NO_STORE))
    }))
}
