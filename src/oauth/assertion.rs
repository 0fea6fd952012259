//! Client authentication by private key: `private_key_jwt` (RFC 7523, section 2.2).

use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use serde::{Deserialize, Serialize};

use crate::ports::{Algorithm, Clock, Random, Signatures};
use crate::util::json;

pub const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The lifetime of an assertion, in seconds. It is used immediately, but clocks may differ.
const LIFETIME_S: u64 = 300;

/// A private key, stored as a JSON Web Key. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct PrivateKey {
    jwk: String,
    algorithm: Algorithm,
    id: Option<String>,
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The members of a JSON Web Key that this module uses.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    crv: Option<String>,
    alg: Option<String>,
    kid: Option<String>,
    d: Option<String>,
}

#[derive(Serialize)]
struct Header<'a> {
    alg: &'static str,
    typ: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<&'a str>,
}

#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    sub: &'a str,
    aud: &'a str,
    jti: &'a str,
    iat: u64,
    exp: u64,
}

impl PrivateKey {
    /// Whether a string is a JSON Web Key, public or private. A JSON Web Key must never be sent as
    /// a client secret.
    pub fn is_jwk(text: &str) -> bool {
        serde_json::from_str::<serde_json::Value>(text)
            .is_ok_and(|value| value.get("kty").is_some())
    }

    /// Parses a private RSA or P-256 key.
    pub fn parse(text: &str) -> Option<Self> {
        let Jwk { kty, crv, alg, kid, d } = json::from_text(text).ok()?;
        let algorithm = match (kty.as_str(), crv.as_deref()) {
            ("RSA", _) => Algorithm::Rs256,
            ("EC", Some("P-256")) => Algorithm::Es256,
            _ => return None,
        };
        d?;
        let is_other = alg.is_some_and(|alg| alg != algorithm.as_str());
        (!is_other).then(|| Self { jwk: text.to_owned(), algorithm, id: kid })
    }

    /// Signs an assertion for one request to `audience`. Returns `None` if signing fails.
    pub async fn assertion(
        &self,
        client_id: &str,
        audience: &str,
        ports: &(impl Signatures + Random + Clock),
    ) -> Option<String> {
        let header = Header { alg: self.algorithm.as_str(), typ: "JWT", kid: self.id.as_deref() };
        let mut id = [0; 16];
        ports.fill(&mut id);
        let iat = ports.now() / 1000;
        let claims = Claims {
            iss: client_id,
            sub: client_id,
            aud: audience,
            jti: &Base64UrlUnpadded::encode_string(&id),
            iat,
            exp: iat.saturating_add(LIFETIME_S),
        };
        let encode = |text: String| Base64UrlUnpadded::encode_string(text.as_bytes());
        let signed = format!("{}.{}", encode(json::text(&header)), encode(json::text(&claims)));
        let signature = ports.sign(self.algorithm, &self.jwk, signed.as_bytes()).await?;
        Some(format!("{signed}.{}", Base64UrlUnpadded::encode_string(&signature)))
    }
}

#[cfg(test)]
mod tests {
    use super::PrivateKey;

    #[test]
    fn parses_only_private_rsa_and_p256_keys() {
        for (jwk, is_key) in [
            (r#"{"kty":"RSA","n":"n","e":"AQAB","d":"d"}"#, true),
            (r#"{"kty":"RSA","n":"n","e":"AQAB","d":"d","alg":"RS256","kid":"1"}"#, true),
            (r#"{"kty":"EC","crv":"P-256","x":"x","y":"y","d":"d"}"#, true),
            (r#"{"kty":"RSA","n":"n","e":"AQAB"}"#, false),
            (r#"{"kty":"RSA","n":"n","e":"AQAB","d":"d","alg":"PS256"}"#, false),
            (r#"{"kty":"EC","crv":"P-384","x":"x","y":"y","d":"d"}"#, false),
            (r#"{"kty":"oct","k":"k"}"#, false),
        ] {
            assert_eq!(PrivateKey::parse(jwk).is_some(), is_key, "{jwk}");
            assert!(PrivateKey::is_jwk(jwk), "{jwk}");
        }
        for text in ["", "hunter2", "{}", "[]", r#"{"k": 1}"#, "-----BEGIN PRIVATE KEY-----"] {
            assert!(PrivateKey::parse(text).is_none() && !PrivateKey::is_jwk(text), "{text}");
        }
    }

    #[test]
    fn debug_shows_no_key() {
        let key = PrivateKey::parse(r#"{"kty":"RSA","n":"n","e":"AQAB","d":"hunter2","kid":"1"}"#);
        assert_eq!(format!("{key:?}"), "Some(PrivateKey { id: Some(\"1\"), .. })");
    }
}
