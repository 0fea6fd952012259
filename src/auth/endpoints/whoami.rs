//! `GET /v1/whoami`: what the caller's secret may do, without the secret itself.

use serde::Serialize;

use crate::auth::limits::Access;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::Problem;
use crate::storage::transaction::Statements;
use crate::terms::{Environment, IdentityType, Scopes};
use crate::util::json;
use crate::util::name_set::Names;
use crate::util::rfc3339::rfc3339;

/// The document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Whoami<'a> {
    account: &'a str,
    environment: Environment,
    scopes: Scopes,
    expires_at: Option<String>,
    #[serde(flatten)]
    confinement: Option<Confined<'a>>,
}

/// What it says of a token besides.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Confined<'a> {
    identity: &'a str,
    identity_type: Option<IdentityType>,
    platforms: Option<&'a Names>,
    access: Access,
    actions: Option<&'a Names>,
    connections: Option<&'a Names>,
    origins: Option<&'a Names>,
}

/// Plans the request. For a token, the answer includes what it is confined to.
///
/// # Errors
/// With all faults of the query.
pub fn plan<'a>(context: &Context<'a>) -> Result<Handler<'a>, Problem> {
    context.no_query()?;
    let confinement = context.caller.token().map(|token| Confined {
        identity: &token.confinement.identity,
        identity_type: token.confinement.identity_type,
        platforms: token.confinement.platforms.as_ref(),
        access: token.limits.access,
        actions: token.limits.actions.as_ref(),
        connections: token.confinement.connections.as_ref(),
        origins: token.origins.as_ref(),
    });
    Ok(Handler::render(Statements::default(), move |_, principal| {
        let document = Whoami {
            account: &principal.account,
            environment: principal.environment,
            scopes: principal.scopes,
            expires_at: principal.expires_at.and_then(rfc3339),
            confinement,
        };
        Ok(Response::json(json::bytes(&document), NO_STORE))
    }))
}
