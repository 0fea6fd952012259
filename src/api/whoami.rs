//! `GET /v1/whoami`: what the key opens, and never the key.

use serde::Serialize;

use super::message::{NO_STORE, Response};
use super::problem::Problem;
use super::query::QueryReader;
use crate::access::{Principal, Scope};

/// The body.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Whoami<'a> {
    account: &'a str,
    environment: &'a str,
    scopes: Vec<&'a str>,
    expires_at: Option<String>,
}

/// Answers `GET /v1/whoami`; it has no parameters.
///
/// # Errors
/// With all faults of the query.
pub fn whoami(principal: &Principal, query: &str) -> Result<Response, Problem> {
    QueryReader::new(query, &[]).finish()?;
    let body = Whoami {
        account: &principal.account,
        environment: principal.environment.as_str(),
        scopes: principal.scopes.iter().map(Scope::as_str).collect(),
        expires_at: principal.expires_at.and_then(rfc3339),
    };
    // Strings only: serialization has nothing to fail on.
    Ok(Response::json(serde_json::to_vec(&body).unwrap_or_default(), NO_STORE))
}

/// RFC 3339 in UTC with milliseconds; none past the year 9999.
fn rfc3339(milliseconds: u64) -> Option<String> {
    let timestamp = jiff::Timestamp::from_millisecond(i64::try_from(milliseconds).ok()?).ok()?;
    Some(format!("{timestamp:.3}"))
}
