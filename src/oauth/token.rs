//! Requests to a token endpoint (RFC 6749, 4.1.3, 4.4.2 and 6).

use base64ct::{Base64, Encoding as _};
use serde_json::{Map, Value};

use super::authorization::scope;
use super::client::Client;
use super::pkce::Verifier;
use crate::catalog::detail::{OAuth2, TokenAuth, TokenBody};
use crate::percent::encode;
use crate::ports::HttpRequest;
use crate::terms::Method;

/// A token endpoint, and who asks it.
#[derive(Debug, Clone, Copy)]
pub struct TokenEndpoint<'a> {
    /// How the platform speaks OAuth. The variables of its token parameters are filled.
    pub oauth: &'a OAuth2,
    /// Its token URL, or its refresh URL when a token is refreshed, with the variables filled.
    pub url: &'a str,
    /// The app at the platform.
    pub client: &'a Client,
}

impl TokenEndpoint<'_> {
    /// Exchanges the code that the user's browser brought back.
    #[must_use]
    pub fn exchange(
        &self,
        code: &str,
        redirect_uri: &str,
        verifier: Option<&Verifier>,
    ) -> HttpRequest {
        self.request(&[
            ("grant_type", Some("authorization_code")),
            ("code", Some(code)),
            ("redirect_uri", Some(redirect_uri)),
            ("code_verifier", verifier.map(Verifier::as_str)),
        ])
    }

    /// Asks for a new access token. `scopes` narrows what it may do; empty for what was granted.
    #[must_use]
    pub fn refresh(&self, refresh_token: &str, scopes: &[String]) -> HttpRequest {
        self.request(&[
            ("grant_type", Some("refresh_token")),
            ("refresh_token", Some(refresh_token)),
            ("scope", scope(self.oauth, scopes).as_deref()),
        ])
    }

    /// Asks for an access token of the app itself.
    #[must_use]
    pub fn client_credentials(&self, scopes: &[String]) -> HttpRequest {
        self.request(&[
            ("grant_type", Some("client_credentials")),
            ("scope", scope(self.oauth, scopes).as_deref()),
        ])
    }

    fn request(&self, own: &[(&str, Option<&str>)]) -> HttpRequest {
        let (own_of_client, authorization) = authentication(self.oauth.token_auth, self.client);
        let own = own.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
        let mut pairs: Vec<(&str, &str)> = own.chain(own_of_client).collect();
        for (name, value) in &self.oauth.token_parameters {
            let is_own = OWN.contains(&name.as_str());
            if !is_own {
                pairs.push((name, value));
            }
        }
        request(self.url, self.oauth.token_body, &pairs, authorization)
    }
}

/// The parameters that only the vault sets.
const OWN: [&str; 8] = [
    "grant_type",
    "code",
    "redirect_uri",
    "code_verifier",
    "refresh_token",
    "scope",
    "client_id",
    "client_secret",
];

/// What the client adds to the body, and its header `Authorization`.
pub(super) fn authentication(
    method: TokenAuth,
    client: &Client,
) -> (Vec<(&'static str, &str)>, Option<String>) {
    match (method, &client.secret) {
        (TokenAuth::ClientSecretBasic, Some(secret)) => {
            // A colon in the id would end it, hence the encoding (RFC 6749, 2.3.1).
            let pair = format!("{}:{}", encode(&client.id), encode(secret));
            (Vec::new(), Some(format!("Basic {}", Base64::encode_string(pair.as_bytes()))))
        }
        (TokenAuth::ClientSecretPost, Some(secret)) => {
            (vec![("client_id", client.id.as_str()), ("client_secret", secret.as_str())], None)
        }
        (TokenAuth::None, _) | (_, None) => (vec![("client_id", client.id.as_str())], None),
    }
}

/// A `POST` of these parameters.
pub(super) fn request(
    url: &str,
    body: TokenBody,
    pairs: &[(&str, &str)],
    authorization: Option<String>,
) -> HttpRequest {
    let (content_type, body) = match body {
        TokenBody::Form => {
            let pair = |(name, value): &(&str, &str)| format!("{}={}", encode(name), encode(value));
            let pairs: Vec<String> = pairs.iter().map(pair).collect();
            ("application/x-www-form-urlencoded", pairs.join("&"))
        }
        TokenBody::Json => {
            let member = |(name, value): &(&str, &str)| ((*name).to_owned(), Value::from(*value));
            let object: Map<String, Value> = pairs.iter().map(member).collect();
            ("application/json", Value::Object(object).to_string())
        }
    };
    let mut headers = vec![
        ("accept".to_owned(), "application/json".to_owned()),
        ("content-type".to_owned(), content_type.to_owned()),
        ("user-agent".to_owned(), "connector-vault".to_owned()),
    ];
    headers.extend(authorization.map(|value| ("authorization".to_owned(), value)));
    HttpRequest { method: Method::Post, url: url.to_owned(), headers, body: body.into_bytes() }
}
