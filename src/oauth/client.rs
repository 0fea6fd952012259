//! The app's registration at a platform.

use std::fmt;

use super::assertion::PrivateKey;
use crate::catalog::detail::TokenAuth;
use crate::ports::{Clock, Random, Signatures};

/// What a platform gave to the app. `Debug` does not show the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Client {
    /// The `client_id`.
    pub id: String,
    /// The `client_secret`; `None` for a public client, and for one with a private key.
    pub secret: Option<String>,
    /// The private key, which nobody else gets.
    key: Option<PrivateKey>,
    /// The proof that the client holds its key, for one request.
    pub assertion: Option<String>,
}

impl Client {
    /// A client with what was stored as its secret.
    #[must_use]
    pub fn new(id: String, secret: Option<String>) -> Self {
        let key = secret.as_deref().and_then(PrivateKey::parse);
        let secret = secret.filter(|secret| !PrivateKey::is_jwk(secret));
        Self { id, secret, key, assertion: None }
    }

    /// Adds the proof that a request to this address needs, where the client authenticates like that.
    #[must_use]
    pub async fn proving(
        mut self,
        auth: TokenAuth,
        address: &str,
        ports: &(impl Signatures + Random + Clock),
    ) -> Self {
        if let Some(key) = self.key.as_ref().filter(|_| auth == TokenAuth::PrivateKeyJwt) {
            self.assertion = key.assertion(&self.id, address, ports).await;
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
