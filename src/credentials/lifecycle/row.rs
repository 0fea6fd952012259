//! A row of `credentials`.

use serde::Deserialize;

use super::machine::{Before, Failure};
use crate::oauth::scopes::missing;
use crate::terms::CredentialType;

/// What the vault knows of a connection's credentials without opening them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct HeldRow {
    /// The id of the connector's method.
    pub auth_method: String,
    /// Their type.
    #[serde(rename = "type")]
    pub kind: CredentialType,
    /// What is held, sealed.
    pub sealed: String,
    /// One more with every write.
    pub version: u64,
    /// When the access token was issued, in milliseconds since 1970-01-01 UTC.
    pub issued_at: Option<u64>,
    /// When it expires.
    pub expires_at: Option<u64>,
    /// 1 when it can be renewed.
    pub renewable: u8,
    /// A JSON array of strings: what the platform granted.
    pub scopes: String,
    /// A JSON array of strings: what it did not grant of what was asked for.
    pub missing_scopes: String,
    /// When the credentials were stored or renewed last.
    pub refreshed_at: Option<u64>,
    /// Why the last renewal failed.
    pub reason_code: Option<String>,
    /// Why the last renewal failed, for people.
    pub reason_detail: Option<String>,
    /// The HTTP status of the platform's answer to it.
    pub reason_status: Option<u16>,
    /// Failed renewals since the last good one.
    pub attempts: u64,
    /// When the platform answered the first of them with a refusal.
    pub failing_since: Option<u64>,
    /// When the platform first said that the grant has ended.
    pub refused_since: Option<u64>,
    /// When the next one is due.
    pub next_attempt_at: Option<u64>,
    /// Who renews now.
    pub lease: Option<String>,
}

impl HeldRow {
    /// What is known when something fails.
    #[must_use]
    pub const fn before(&self) -> Before {
        let Self { attempts, failing_since, refused_since, .. } = *self;
        Before { attempts, failing_since, refused_since }
    }

    /// Whether the last renewal failed because of the OAuth client: it may be tried again once the client is accepted. Where
    /// the platform refused this connection, perhaps alone, another one's success shows nothing.
    #[must_use]
    pub fn waits_for_client(&self) -> bool {
        self.reason_code.as_deref() == Some(Failure::ClientRejected.code())
            && (self.reason_status.is_none() || self.failing_since.is_none())
    }

    /// What was granted.
    #[must_use]
    pub fn scopes(&self) -> Vec<String> {
        serde_json::from_str(&self.scopes).unwrap_or_default()
    }

    /// What was not granted of what was asked for.
    #[must_use]
    pub fn missing_scopes(&self) -> Vec<String> {
        serde_json::from_str(&self.missing_scopes).unwrap_or_default()
    }

    /// What is missing now that the platform grants these scopes: all that was granted or missing before, and is not among
    /// them.
    #[must_use]
    pub fn missing_without(&self, granted: &[String]) -> Vec<String> {
        missing(&[self.scopes(), self.missing_scopes()].concat(), granted)
    }
}
