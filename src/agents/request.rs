//! An agent's request to the authorization endpoint, for the time of the user's sign-in. It is a
//! signed string instead of a row, so that requests without a sign-in do not fill the database.
//!
//! The string is not secret: the account's app receives it, and links that contain it can be
//! forwarded. It includes the hash of the browser's cookie, and only a browser with that cookie can
//! consent.

use serde::{Deserialize, Serialize};

use super::Access;
use crate::auth::token::SessionSecrets;

const PREFIX: &str = "ar_";
/// How long a user has for signing in, in milliseconds.
pub const LIFETIME_MS: u64 = 10 * 60 * 1000;
/// The maximum length of a client's `state`, in characters.
pub const MAX_STATE: usize = 1024;

/// A request for which the agent's user must sign in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRequest {
    #[serde(rename = "e")]
    pub endpoint: String,
    /// Makes the request unique.
    #[serde(rename = "i")]
    pub id: String,
    /// SHA-256 of the browser's cookie.
    #[serde(rename = "b")]
    pub browser_hash: String,
    /// When the sign-in was last configured, so that a code is never sent to a different provider
    /// than the one that issued it.
    #[serde(rename = "v")]
    pub configured_at: u64,
    #[serde(flatten)]
    pub purpose: Purpose,
    /// Milliseconds since 1970-01-01 UTC.
    #[serde(rename = "t")]
    pub expires_at: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Purpose {
    /// The user approves or declines a call.
    Approval {
        #[serde(rename = "p")]
        id: String,
    },
    /// The user lists and revokes grants.
    Grants {
        /// Always true. Distinguishes this variant in the untagged JSON.
        #[serde(rename = "l")]
        lists: bool,
    },
    /// The user gives a client access.
    Access(AccessRequest),
}

/// The client's parameters of the authorization request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessRequest {
    /// SHA-256 of the client's ID.
    #[serde(rename = "c")]
    pub client_hash: String,
    /// The URL of the client's metadata document, if it has one.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub client_url: Option<String>,
    /// The unverified name of the client.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
    #[serde(rename = "r")]
    pub redirect_uri: String,
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(rename = "h")]
    pub challenge: String,
    #[serde(rename = "a")]
    pub access: Access,
}

impl AgentRequest {
    /// Returns `None` without a signing secret.
    pub fn sign(&self, secrets: &SessionSecrets) -> Option<String> {
        secrets.sign_text(PREFIX, self)
    }

    /// Verifies a signed request and its expiry.
    pub fn verify(secrets: &SessionSecrets, text: &str, now: u64) -> Option<Self> {
        secrets.verify_text(PREFIX, text).filter(|request: &Self| now < request.expires_at)
    }
}

#[cfg(test)]
mod tests {
    use super::{AccessRequest, AgentRequest, Purpose};
    use crate::agents::Access;
    use crate::auth::token::SessionSecrets;

    fn request(purpose: Purpose) -> AgentRequest {
        AgentRequest {
            endpoint: "e".into(),
            id: "i".into(),
            browser_hash: "b".into(),
            configured_at: 1,
            purpose,
            expires_at: 10,
        }
    }

    #[test]
    fn a_request_is_valid_until_it_expires_and_only_with_its_signature() {
        let access = AccessRequest {
            client_hash: "c".into(),
            client_url: None,
            client_name: Some("Agent".into()),
            redirect_uri: "http://localhost:1/cb".into(),
            state: Some("s".into()),
            challenge: "h".into(),
            access: Access::Read,
        };
        let others = [Purpose::Approval { id: "p".into() }, Purpose::Grants { lists: true }];
        let others = others.map(request);
        let request = request(Purpose::Access(access));
        let secrets = SessionSecrets::new(&"s".repeat(32), "");
        let text = request.sign(&secrets).unwrap();
        assert_eq!(AgentRequest::verify(&secrets, &text, 9), Some(request));
        for other in others {
            let signed = other.sign(&secrets).unwrap();
            assert_eq!(AgentRequest::verify(&secrets, &signed, 9), Some(other));
        }
        assert_eq!(AgentRequest::verify(&secrets, &text, 10), None);
        let changed = text.replacen("ar_", "ar_A", 1);
        assert_eq!(AgentRequest::verify(&secrets, &changed, 9), None);
    }
}
