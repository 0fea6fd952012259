//! `GET /v1/vault/connections/{id}/status`: the health of a connection, with its reasons.

use serde::{Deserialize, Serialize};

use crate::connect::statements::{select_credentials, select_state};
use crate::connections::model::PlatformAccount;
use crate::credentials::lifecycle::machine::actor;
use crate::credentials::lifecycle::row::CredentialsRow;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::Problem;
use crate::storage::transaction::Statements;
use crate::terms::{CredentialType, State};
use crate::util::json;
use crate::util::rfc3339::rfc3339;

/// The columns of a connection's state.
#[derive(Deserialize)]
struct StateRow {
    state: State,
    state_reason: Option<String>,
    since: u64,
    platform_account_id: Option<String>,
    platform_account_name: Option<String>,
}

/// The JSON of a connection's status.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'a> {
    state: State,
    since: Option<String>,
    reason: Option<Reason<'a>>,
    actor: &'static str,
    attempts: u64,
    next_attempt_at: Option<String>,
    expires_at: Option<String>,
    last_refreshed_at: Option<String>,
    scopes: Vec<String>,
    missing_scopes: Vec<String>,
    holds_credentials: bool,
    awaits_cut_over: bool,
    auth_method: Option<&'a str>,
    client: Option<&'a str>,
    account: Option<PlatformAccount<'a>>,
}

/// The reason for a connection's state.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reason<'a> {
    code: &'a str,
    detail: Option<&'a str>,
    http_status: Option<u16>,
}

pub fn handle<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let (guard, id, mut statements) =
        (context.guard(), context.connection_id(), Statements::default());
    let state = statements.query::<StateRow>(select_state(&guard, &id));
    let credentials = statements.query::<CredentialsRow>(select_credentials(&guard, &id));
    let shows_names = context.config().account_names;
    Ok(Handler::render(statements, move |results, _| {
        let row = results.first(state)?.ok_or_else(Problem::connection_not_found)?;
        let credentials = results.first(credentials)?;
        let time = |at: Option<u64>| at.and_then(rfc3339);
        let code = credentials.as_ref().and_then(|credentials| credentials.reason_code.as_deref());
        let reason = match (&credentials, code) {
            (Some(credentials), Some(code)) => Some(Reason {
                code,
                detail: credentials.reason_detail.as_deref(),
                http_status: credentials.reason_status,
            }),
            // The service that stores the credentials reported this reason.
            _ => row.state_reason.as_deref().map(|detail| Reason {
                code: "reported",
                detail: Some(detail),
                http_status: None,
            }),
        };
        let status = Status {
            state: row.state,
            since: rfc3339(row.since),
            reason,
            actor: actor(row.state, code),
            attempts: credentials.as_ref().map_or(0, |credentials| credentials.attempts),
            next_attempt_at: time(
                credentials.as_ref().and_then(|credentials| credentials.next_attempt_at),
            ),
            expires_at: time(credentials.as_ref().and_then(|credentials| credentials.expires_at)),
            last_refreshed_at: time(
                credentials.as_ref().and_then(|credentials| credentials.refreshed_at),
            ),
            scopes: credentials.as_ref().map(CredentialsRow::scopes).unwrap_or_default(),
            missing_scopes: credentials
                .as_ref()
                .map(CredentialsRow::missing_scopes)
                .unwrap_or_default(),
            holds_credentials: credentials.is_some(),
            awaits_cut_over: credentials.as_ref().is_some_and(CredentialsRow::awaits_cut_over),
            auth_method: credentials.as_ref().map(|credentials| credentials.auth_method.as_str()),
            client: credentials
                .as_ref()
                .filter(|credentials| credentials.kind == CredentialType::OAuth2)
                .map(|credentials| credentials.client.as_str()),
            account: PlatformAccount::from_columns(
                row.platform_account_id.as_ref(),
                row.platform_account_name.as_ref(),
                shows_names,
            ),
        };
        Ok(Response::json(json::bytes(&status), NO_STORE))
    }))
}
