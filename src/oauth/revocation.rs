//! Token revocation (RFC 7009).

use super::client::Client;
use super::error::TokenErrorKind;
use super::{response, token};
use crate::catalog::detail::{OAuth2, RevocationToken};
use crate::ports::{HttpError, HttpRequest, HttpResponse};

/// The parameters that the vault sets, in addition to those that authenticate the client.
pub const RESERVED_PARAMETERS: [&str; 2] = ["token", "token_type_hint"];

/// Builds a request that revokes the refresh token, and with it the grant. Revokes the access token
/// instead if there is no refresh token, or if the platform revokes only access tokens.
pub fn revocation(
    oauth: &OAuth2,
    url: &str,
    client: &Client,
    refresh_token: Option<&str>,
    access_token: &str,
) -> HttpRequest {
    let is_refresh = oauth.revocation_token == RevocationToken::RefreshToken;
    let (hint, token) = match refresh_token.filter(|_| is_refresh) {
        Some(token) => ("refresh_token", token),
        None => ("access_token", access_token),
    };
    let (client_pairs, authorization) = token::authentication(oauth, client);
    let own = [("token", token), ("token_type_hint", hint)];
    let pairs: Vec<(&str, &str)> = own.into_iter().chain(client_pairs).collect();
    token::request(oauth, url, oauth.revocation_body, &pairs, authorization)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The token is no longer valid.
    Revoked,
    /// The platform refused. A retry would not help.
    Refused,
    /// The result is unknown. Retry later.
    TryAgain,
}

/// Interprets the response to a revocation request.
pub fn outcome(response: &Result<HttpResponse, HttpError>, now_ms: u64) -> Outcome {
    match response::failure(response, now_ms).map(|error| error.kind) {
        _ if response.is_err() => Outcome::TryAgain,
        None | Some(TokenErrorKind::GrantRejected) => Outcome::Revoked,
        Some(TokenErrorKind::Temporary) => Outcome::TryAgain,
        Some(_) => Outcome::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::{Client, Outcome, outcome, revocation};
    use crate::catalog::detail::{Grant, OAuth2, RevocationToken, TokenAuth, TokenBody};
    use crate::ports::{HttpError, HttpResponse};

    #[test]
    fn revokes_the_refresh_token_if_there_is_one() {
        let standard = OAuth2::standard(Grant::AuthorizationCode, None, String::new());
        let oauth = OAuth2 { token_body: TokenBody::Json, ..standard };
        let client = Client::new("app".to_owned(), Some("s".to_owned()));
        let body = |refresh_token, oauth: &OAuth2| {
            let request =
                revocation(oauth, "https://idp.example/revoke", &client, refresh_token, "a");
            assert_eq!(request.url, "https://idp.example/revoke");
            String::from_utf8(request.body).unwrap()
        };
        let end = "client_id=app&client_secret=s";
        assert_eq!(
            body(Some("r&"), &oauth),
            format!("token=r%26&token_type_hint=refresh_token&{end}")
        );
        assert_eq!(body(None, &oauth), format!("token=a&token_type_hint=access_token&{end}"));
        let named = OAuth2 { client_id_parameter: "client_key".to_owned(), ..oauth.clone() };
        let expected = "token=a&token_type_hint=access_token&client_key=app&client_secret=s";
        assert_eq!(body(None, &named), expected);
        let oauth = OAuth2 { token_auth: TokenAuth::ClientSecretBasic, ..oauth.clone() };
        assert_eq!(body(None, &oauth), "token=a&token_type_hint=access_token");
        let only_access = OAuth2 { revocation_token: RevocationToken::AccessToken, ..oauth };
        assert_eq!(body(Some("r"), &only_access), "token=a&token_type_hint=access_token");
        let json = OAuth2 { revocation_body: TokenBody::Json, ..only_access };
        let expected = r#"{"token":"a","token_type_hint":"access_token"}"#;
        assert_eq!(body(Some("r"), &json), expected);
    }

    #[test]
    fn classifies_revocation_responses() {
        use Outcome::{Refused, Revoked, TryAgain};
        for (status, body, expected) in [
            (200, "", Revoked),
            (204, "", Revoked),
            (200, r#"{"ok":true,"revoked":true}"#, Revoked),
            (200, r#"{"ok":false,"error":"token_revoked"}"#, Revoked),
            (200, r#"{"ok":false,"error":"invalid_client_id"}"#, Refused),
            (
                400,
                r#"{"error":"invalid_token","error_description":"Token expired or revoked"}"#,
                Revoked,
            ),
            (400, r#"{"error":"unsupported_token_type"}"#, Refused),
            (401, r#"{"error":"invalid_client"}"#, Refused),
            (404, "{}", Refused),
            (404, "<html>", TryAgain),
            (302, "", Refused),
            (429, "", TryAgain),
            (503, r#"{"error":"invalid_token"}"#, TryAgain),
            (400, r#"{"error":"temporarily_unavailable"}"#, TryAgain),
        ] {
            let response = HttpResponse { status, headers: Vec::new(), body: body.into() };
            assert_eq!(outcome(&Ok(response), 0), expected, "{status} {body}");
        }
        for error in [HttpError::Unreachable, HttpError::TimedOut, HttpError::TooLarge] {
            assert_eq!(outcome(&Err(error), 0), TryAgain);
        }
    }
}
