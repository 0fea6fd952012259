//! `GET /v1/whoami`: what the secret opens, and never the secret.

use super::message::{NO_STORE, Response};
use super::problem::Problem;
use super::query::no_parameters;
use super::session::{confined, names};
use crate::access::Principal;
use crate::access::token::Token;
use crate::json::Object;
use crate::rfc3339::rfc3339;

/// Answers `GET /v1/whoami`; it has no parameters. Of a token it tells what it is confined to.
///
/// # Errors
/// With all faults of the query.
pub fn whoami(
    principal: &Principal,
    token: Option<&Token>,
    query: &str,
) -> Result<Response, Problem> {
    no_parameters(query)?;
    let expires_at = principal.expires_at.and_then(rfc3339);
    let document = Object::default()
        .text_or_null("account", principal.account.as_deref())
        .text("environment", principal.environment.as_str())
        .json("scopes", &names(principal.scopes))
        .text_or_null("expiresAt", expires_at.as_deref());
    let document = match token {
        Some(token) => confined(document, token, None),
        None => document,
    };
    Ok(Response::json(document.finish().into_bytes(), NO_STORE))
}
