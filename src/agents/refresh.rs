//! Refresh tokens: signed, and rotated by generations. The grant's row says which generation is the newest that was used.
//!
//! A client whose response was lost, or that sends two requests at once, presents a token twice. Both get the same successor: the
//! text of a generation is always the same. A token stays valid until its successor is first used, plus [`GRACE_MS`]; whoever
//! presents an older one has a copy of it, and the grant ends.

use serde::{Deserialize, Serialize};

use crate::auth::token::SessionSecrets;

/// The prefix of a refresh token.
pub const PREFIX: &str = "rt_";
/// How long a token stays valid after its successor was first used, in milliseconds.
pub const GRACE_MS: u64 = 60 * 1000;
/// How long a grant lives that is not used, in milliseconds.
pub const IDLE_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// What a refresh token states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefreshToken {
    /// The id of the endpoint.
    #[serde(rename = "e")]
    pub endpoint: String,
    /// The id of the grant.
    #[serde(rename = "g")]
    pub grant: String,
    /// How many tokens of the grant came before it.
    #[serde(rename = "n")]
    pub generation: u32,
}

impl RefreshToken {
    /// Signs the token. Returns `None` when the service has no secret to sign with.
    #[must_use]
    pub fn sign(&self, secrets: &SessionSecrets) -> Option<String> {
        secrets.sign_text(PREFIX, self)
    }

    /// Reads a token of an endpoint. Returns `None` when it was not signed here.
    #[must_use]
    pub fn verify(secrets: &SessionSecrets, endpoint: &str, text: &str) -> Option<Self> {
        secrets.verify_text(PREFIX, text).filter(|token: &Self| token.endpoint == endpoint)
    }

    /// The token that follows.
    #[must_use]
    pub fn successor(self) -> Self {
        Self { generation: self.generation.saturating_add(1), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::RefreshToken;
    use crate::auth::token::SessionSecrets;

    #[test]
    fn the_text_of_a_generation_is_always_the_same() {
        let secrets = SessionSecrets::new(&"s".repeat(32), "");
        let first = RefreshToken { endpoint: "e".into(), grant: "g".into(), generation: 1 };
        let text = first.sign(&secrets).unwrap();
        assert_eq!(first.sign(&secrets).unwrap(), text);
        assert_eq!(RefreshToken::verify(&secrets, "f", &text), None);
        let read = RefreshToken::verify(&secrets, "e", &text).unwrap();
        assert_ne!(read.successor().sign(&secrets).unwrap(), text);
    }
}
