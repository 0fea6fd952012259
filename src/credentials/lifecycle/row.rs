//! A row of `credentials`.

use serde::Deserialize;

use super::machine::{FailureHistory, HealthFailure};
use crate::oauth::scopes::missing;
use crate::terms::CredentialType;

/// A connection's credentials as stored: the ciphertext, and the data that is known without decryption.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CredentialsRow {
    /// The id of the connector's method.
    pub auth_method: String,
    /// The name of the OAuth client that obtained the credentials.
    pub client: String,
    /// The type of the credentials.
    #[serde(rename = "type")]
    pub kind: CredentialType,
    /// The encrypted credentials.
    pub sealed: String,
    /// The version of the row, which every write increments.
    pub version: u64,
    /// When the access token was issued, in milliseconds since 1970-01-01 UTC.
    pub issued_at: Option<u64>,
    /// When the access token expires, in milliseconds since 1970-01-01 UTC.
    pub expires_at: Option<u64>,
    /// Whether the access token can be refreshed: 1 or 0.
    pub refreshable: u8,
    /// The granted scopes, a JSON array of strings.
    pub scopes: String,
    /// The scopes that were requested but not granted, a JSON array of strings.
    pub missing_scopes: String,
    /// When the credentials were last stored or refreshed.
    pub refreshed_at: Option<u64>,
    /// The reason code of the last failure.
    pub reason_code: Option<String>,
    /// The platform's description of the last failure.
    pub reason_detail: Option<String>,
    /// The HTTP status of the last failure.
    pub reason_status: Option<u16>,
    /// The number of failures since the last success.
    pub attempts: u64,
    /// The time of the platform's first refusal.
    pub failing_since: Option<u64>,
    /// The time of the first failure that is final if repeated.
    pub refused_since: Option<u64>,
    /// The time of the next attempt.
    pub next_attempt_at: Option<u64>,
    /// The time from which a caller can request an attempt, before the next one is due.
    pub retry_at: Option<u64>,
    /// The id of the request that has the lease.
    pub lease: Option<String>,
    /// Whether another service still refreshes these imported credentials: 1 or 0.
    pub awaits_cut_over: u8,
}

impl CredentialsRow {
    /// The failures since the last success.
    pub const fn failure_history(&self) -> FailureHistory {
        let Self { attempts, failing_since, refused_since, .. } = *self;
        FailureHistory { attempts, failing_since, refused_since }
    }

    /// Whether the last refresh failed because of the OAuth client, so that it may be retried once
    /// the client is accepted. If the platform has refused this connection itself, a success of
    /// another connection proves nothing.
    pub fn waits_for_client(&self) -> bool {
        self.reason_code.as_deref() == Some(HealthFailure::ClientRejected.code())
            && (self.reason_status.is_none() || self.failing_since.is_none())
    }

    /// Whether the credentials were imported, and another service still refreshes them.
    pub const fn awaits_cut_over(&self) -> bool {
        self.awaits_cut_over == 1
    }

    /// The granted scopes.
    pub fn scopes(&self) -> Vec<String> {
        serde_json::from_str(&self.scopes).unwrap_or_default()
    }

    /// The scopes that were requested but not granted.
    pub fn missing_scopes(&self) -> Vec<String> {
        serde_json::from_str(&self.missing_scopes).unwrap_or_default()
    }

    /// The scopes that were granted or missing before, but are not among `granted`.
    pub fn missing_scopes_after(&self, granted: &[String]) -> Vec<String> {
        missing(&[self.scopes(), self.missing_scopes()].concat(), granted)
    }
}
