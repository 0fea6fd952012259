//! `GET /v1/whoami`: what the key opens, and never the key.

use super::message::{NO_STORE, Response};
use super::problem::Problem;
use super::query::no_parameters;
use crate::access::{Principal, Scope};
use crate::json::{Object, array};
use crate::rfc3339::rfc3339;

/// Answers `GET /v1/whoami`; it has no parameters.
///
/// # Errors
/// With all faults of the query.
pub fn whoami(principal: &Principal, query: &str) -> Result<Response, Problem> {
    no_parameters(query)?;
    let scopes: Vec<&str> = principal.scopes.iter().map(Scope::as_str).collect();
    let expires_at = principal.expires_at.and_then(rfc3339);
    let body = Object::default()
        .text("account", &principal.account)
        .text("environment", principal.environment.as_str())
        .json("scopes", &array(&scopes))
        .text_or_null("expiresAt", expires_at.as_deref())
        .finish();
    Ok(Response::json(body.into_bytes(), NO_STORE))
}
