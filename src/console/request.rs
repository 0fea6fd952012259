//! A browser's request to sign in to the console, for the time of the sign-in at the provider. It
//! is a signed string instead of a row, so that requests without a sign-in do not fill the
//! database.
//!
//! The string is not secret. It includes the hash of the browser's cookie, and only a browser with
//! that cookie can continue.

use serde::{Deserialize, Serialize};

use crate::auth::token::SessionSecrets;

const PREFIX: &str = "cr_";
/// How long a person has for signing in, in milliseconds.
const LIFETIME_MS: u64 = 10 * 60 * 1000;

/// The claims in the `state` of an authorization request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleRequest {
    #[serde(rename = "s")]
    pub sign_in: String,
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
    /// Milliseconds since 1970-01-01 UTC.
    #[serde(rename = "t")]
    pub created_at: u64,
}

impl ConsoleRequest {
    /// Returns `None` without a signing secret.
    pub fn sign(&self, secrets: &SessionSecrets) -> Option<String> {
        secrets.sign_text(PREFIX, self)
    }

    /// Verifies a signed request and its age.
    pub fn verify(secrets: &SessionSecrets, text: &str, now: u64) -> Option<Self> {
        let is_recent = |request: &Self| now < request.created_at.saturating_add(LIFETIME_MS);
        secrets.verify_text(PREFIX, text).filter(is_recent)
    }
}

#[cfg(test)]
mod tests {
    use super::{ConsoleRequest, LIFETIME_MS};
    use crate::auth::token::SessionSecrets;

    #[test]
    fn a_request_is_valid_until_it_expires_and_only_with_its_signature() {
        let request = ConsoleRequest {
            sign_in: "s".into(),
            id: "i".into(),
            browser_hash: "b".into(),
            configured_at: 1,
            created_at: 5,
        };
        let secrets = SessionSecrets::new(&"s".repeat(32), "");
        let text = request.sign(&secrets).unwrap();
        let last = 4 + LIFETIME_MS;
        assert_eq!(ConsoleRequest::verify(&secrets, &text, last), Some(request));
        assert_eq!(ConsoleRequest::verify(&secrets, &text, last + 1), None);
        let changed = text.replacen("cr_", "cr_A", 1);
        assert_eq!(ConsoleRequest::verify(&secrets, &changed, last), None);
        let other = text.replacen("cr_", "ar_", 1);
        assert_eq!(ConsoleRequest::verify(&secrets, &other, last), None);
    }
}
