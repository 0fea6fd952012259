//! Refresh tokens: signed, and rotated by generation. The grant's row contains the newest
//! generation that was used.
//!
//! A client that lost a response, or that sends two requests concurrently, uses a token twice. Both
//! responses contain the same successor, because the tokens of a generation are identical. A token
//! remains valid until [`GRACE_MS`] after the first use of its successor. Using it later means that
//! it was copied, which revokes the grant.

use serde::{Deserialize, Serialize};

use crate::auth::token::SessionSecrets;

pub const PREFIX: &str = "rt_";
/// How long a token remains valid after the first use of its successor, in milliseconds.
pub const GRACE_MS: u64 = 60 * 1000;
/// How long an unused grant remains valid, in milliseconds.
pub const IDLE_TIMEOUT_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// The claims of a refresh token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefreshToken {
    #[serde(rename = "e")]
    pub endpoint: String,
    #[serde(rename = "g")]
    pub grant: String,
    /// Starts at 1 and increases with each rotation.
    #[serde(rename = "n")]
    pub generation: u32,
}

impl RefreshToken {
    /// Returns `None` without a signing secret.
    pub fn sign(&self, secrets: &SessionSecrets) -> Option<String> {
        secrets.sign_text(PREFIX, self)
    }

    /// Verifies a refresh token of this endpoint.
    pub fn verify(secrets: &SessionSecrets, endpoint: &str, text: &str) -> Option<Self> {
        secrets.verify_text(PREFIX, text).filter(|token: &Self| token.endpoint == endpoint)
    }

    pub fn successor(self) -> Self {
        Self { generation: self.generation.saturating_add(1), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::RefreshToken;
    use crate::auth::token::SessionSecrets;

    #[test]
    fn refresh_tokens_are_deterministic() {
        let secrets = SessionSecrets::new(&"s".repeat(32), "");
        let first = RefreshToken { endpoint: "e".into(), grant: "g".into(), generation: 1 };
        let text = first.sign(&secrets).unwrap();
        assert_eq!(first.sign(&secrets).unwrap(), text);
        assert_eq!(RefreshToken::verify(&secrets, "f", &text), None);
        let read = RefreshToken::verify(&secrets, "e", &text).unwrap();
        assert_ne!(read.successor().sign(&secrets).unwrap(), text);
    }
}
