//! The end of a grant: token revocation (RFC 7009).

use super::client::Client;
use super::error::TokenErrorKind;
use super::{answer, token};
use crate::catalog::detail::{OAuth2, TokenBody};
use crate::ports::{HttpError, HttpRequest, HttpResponse};

/// A request to revoke the refresh token and with it the whole grant, or the access token when there is no other.
#[must_use]
pub fn revocation(
    oauth: &OAuth2,
    url: &str,
    client: &Client,
    refresh_token: Option<&str>,
    access_token: &str,
) -> HttpRequest {
    let (hint, token) = match refresh_token {
        Some(token) => ("refresh_token", token),
        None => ("access_token", access_token),
    };
    let (of_client, authorization) = token::authentication(oauth.token_auth, client);
    let own = [("token", token), ("token_type_hint", hint)];
    let pairs: Vec<(&str, &str)> = own.into_iter().chain(of_client).collect();
    token::request(url, TokenBody::Form, &pairs, authorization)
}

/// What became of a revocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The token is no longer valid, or was not any more.
    Revoked,
    /// The platform does not revoke it; another try would not help.
    Refused,
    /// Nothing is known; try again later.
    TryAgain,
}

/// What the platform's answer to a revocation means.
#[must_use]
pub fn is_done(answer: &Result<HttpResponse, HttpError>, now_ms: u64) -> Outcome {
    let is_success = answer.as_ref().is_ok_and(|answer| (200..300).contains(&answer.status));
    match answer::failure(answer, now_ms) {
        None if is_success => Outcome::Revoked,
        Some(error) if error.kind == TokenErrorKind::GrantRejected => Outcome::Revoked,
        Some(error) if error.kind == TokenErrorKind::Passing => Outcome::TryAgain,
        _ => Outcome::Refused,
    }
}
