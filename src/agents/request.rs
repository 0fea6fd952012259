//! What an agent asked for at the authorization endpoint, on its way through the user's sign-in: a signed text, no row, so that
//! whoever only asks fills no database.
//!
//! The text is public: the account's app gets it, and so may whoever a link is forwarded to. It names the hash of the cookie that
//! the browser got together with it, and without that cookie nobody agrees to anything.

use base64ct::{Base64UrlUnpadded, Encoding as _};
use serde::{Deserialize, Serialize};

use super::Access;
use crate::auth::mac::mac;
use crate::auth::token::SessionSecrets;

/// The prefix of a request.
const PREFIX: &str = "ar_";
/// How long a user has to sign in, in milliseconds.
pub const LIFETIME_MS: u64 = 10 * 60 * 1000;
/// The longest `state` of a client, in characters.
pub const MAX_STATE: usize = 1024;

/// A request of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRequest {
    /// The id of the endpoint.
    #[serde(rename = "e")]
    pub endpoint: String,
    /// Makes the request unique.
    #[serde(rename = "i")]
    pub id: String,
    /// SHA-256 of the client's ID.
    #[serde(rename = "c")]
    pub client_hash: String,
    /// The client's ID, if it is the URL of a metadata document.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub client_url: Option<String>,
    /// What the client calls itself.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
    /// Where the code is sent.
    #[serde(rename = "r")]
    pub redirect_uri: String,
    /// The client's `state`.
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The challenge of PKCE.
    #[serde(rename = "h")]
    pub challenge: String,
    /// What is asked for.
    #[serde(rename = "a")]
    pub access: Access,
    /// SHA-256 of the browser's cookie.
    #[serde(rename = "b")]
    pub browser_hash: String,
    /// The id of the approval that the user signs in for. `None` for a client that asks for access.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// When it expires, in milliseconds since 1970-01-01 UTC.
    #[serde(rename = "t")]
    pub expires_at: u64,
}

impl AgentRequest {
    /// Signs the request. Returns `None` when the service has no secret to sign with.
    #[must_use]
    pub fn sign(&self, secrets: &SessionSecrets) -> Option<String> {
        secrets.sign_text(PREFIX, self)
    }

    /// Reads a request. Returns `None` when it was not signed here or has expired.
    #[must_use]
    pub fn verify(secrets: &SessionSecrets, text: &str, now: u64) -> Option<Self> {
        secrets.verify_text(PREFIX, text).filter(|request: &Self| now < request.expires_at)
    }
}

/// Two values for the OpenID provider that only the browser with this cookie leads to: the verifier of PKCE and the `nonce`.
#[must_use]
pub fn verifier_and_nonce(cookie: &str, request: &str) -> [String; 2] {
    ["verifier ", "nonce "].map(|what| {
        let bytes = mac(cookie.as_bytes(), &[what.as_bytes(), request.as_bytes()]);
        Base64UrlUnpadded::encode_string(&bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::{AgentRequest, verifier_and_nonce};
    use crate::agents::Access;
    use crate::auth::token::SessionSecrets;

    #[test]
    fn a_request_is_read_in_time_where_it_was_signed() {
        let request = AgentRequest {
            endpoint: "e".into(),
            id: "i".into(),
            client_hash: "c".into(),
            client_url: None,
            client_name: Some("Agent".into()),
            redirect_uri: "http://localhost:1/cb".into(),
            state: Some("s".into()),
            challenge: "h".into(),
            access: Access::Read,
            browser_hash: "b".into(),
            approval: None,
            expires_at: 10,
        };
        let secrets = SessionSecrets::new(&"s".repeat(32), "");
        let text = request.sign(&secrets).unwrap();
        assert_eq!(AgentRequest::verify(&secrets, &text, 9), Some(request));
        assert_eq!(AgentRequest::verify(&secrets, &text, 10), None);
        let changed = text.replacen("ar_", "ar_A", 1);
        assert_eq!(AgentRequest::verify(&secrets, &changed, 9), None);
        let [verifier, nonce] = verifier_and_nonce("cookie", &text);
        assert!(verifier != nonce && verifier.len() == 43);
        assert_ne!(verifier_and_nonce("other", &text), [verifier, nonce]);
    }
}
