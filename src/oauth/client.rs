//! The app's OAuth client at a platform.

use std::fmt;

use super::assertion::PrivateKey;
use crate::catalog::detail::{OAuth2, TokenAuth};
use crate::ports::{Clock, Random, Signatures};

/// The credentials of an OAuth client. `Debug` does not print the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Client {
    pub id: String,
    /// The `client_secret`. `None` for a public client, and for a client with a private key.
    pub secret: Option<String>,
    key: Option<PrivateKey>,
    /// The signed assertion for one request.
    pub assertion: Option<String>,
}

impl Client {
    /// Creates a client. `secret` may be a private key.
    pub fn new(id: String, secret: Option<String>) -> Self {
        let key = secret.as_deref().and_then(PrivateKey::parse);
        let secret = secret.filter(|secret| !PrivateKey::is_jwk(secret));
        Self { id, secret, key, assertion: None }
    }

    /// Signs the assertion for a request to `url`, if the client authenticates by private key. The
    /// audience is the issuer or, if the catalog has none, the URL: RFC 7523, section 3, permits
    /// both, but Auth0 accepts only the issuer.
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
