//! The app's client at a platform.

use std::fmt;

use super::assertion::PrivateKey;
use crate::catalog::detail::{OAuth2, TokenAuth};
use crate::ports::{Clock, Random, Signatures};

/// The app's client credentials. `Debug` does not show the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Client {
    pub id: String,
    /// The `client_secret`; `None` for a public client, and for one with a private key.
    pub secret: Option<String>,
    key: Option<PrivateKey>,
    /// The assertion of one request.
    pub assertion: Option<String>,
}

impl Client {
    /// Creates a client from the stored secret, which may be a private key.
    pub fn new(id: String, secret: Option<String>) -> Self {
        let key = secret.as_deref().and_then(PrivateKey::parse);
        let secret = secret.filter(|secret| !PrivateKey::is_jwk(secret));
        Self { id, secret, key, assertion: None }
    }

    /// Adds the assertion for a request to this URL, if the client authenticates by private key. Its audience is the issuer,
    /// or the URL if the catalog names no issuer: RFC 7523, section 3, permits both, and Auth0 accepts only the issuer.
    pub async fn with_assertion(
        mut self,
        oauth: &OAuth2,
        url: &str,
        ports: &(impl Signatures + Random + Clock),
    ) -> Self {
        let is_signed = oauth.token_auth == TokenAuth::PrivateKeyJwt;
        if let Some(key) = self.key.as_ref().filter(|_| is_signed) {
            let audience = oauth.issuer.as_deref().unwrap_or(url);
            self.assertion = key.assertion(&self.id, audience, ports).await;
        }
        self
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Client;

    #[test]
    fn debug_shows_no_secret() {
        let client = Client::new("app".to_owned(), Some("hunter2".to_owned()));
        assert_eq!(format!("{client:?}"), "Client { id: \"app\", .. }");
    }

    #[test]
    fn a_private_key_is_never_the_secret() {
        for jwk in [
            r#"{"kty":"RSA","n":"n","e":"AQAB","d":"d"}"#,
            r#"{"kty":"EC","crv":"P-384","x":"x","y":"y","d":"d"}"#,
        ] {
            assert_eq!(Client::new("app".to_owned(), Some(jwk.to_owned())).secret, None, "{jwk}");
        }
    }
}
