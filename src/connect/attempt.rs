//! An attempt to connect an account with the user's consent: begun, bound to a browser, brought back, ended.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::terms::{AttemptStatus, Environment, IdentityType};

/// How long a user has to agree, in milliseconds.
pub const LIFETIME_MS: u64 = 10 * 60 * 1000;
/// How long an exchange may take, in milliseconds. One that is older has been interrupted.
pub const EXCHANGE_MS: u64 = 60 * 1000;
/// The most attempts of an identity that are open at a time.
pub const MAX_OF_IDENTITY: u64 = 20;
/// The most attempts of an account that are open at a time.
pub const MAX_OF_ACCOUNT: u64 = 1000;

/// What an attempt must remember and nobody may read. `Debug` shows nothing.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// What the platform must bring back.
    pub state: String,
    /// The verifier of PKCE, where the platform takes one.
    pub verifier: Option<String>,
    /// What the user filled in.
    pub fields: BTreeMap<String, String>,
}

impl fmt::Debug for Remembered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Remembered(…)")
    }
}

/// A row of `connect_attempts`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Attempt {
    /// Lower-case hyphenated UUID.
    pub id: String,
    /// The account that began it.
    pub account: String,
    /// The environment of the account.
    pub environment: Environment,
    /// The key that began it, itself or by a token; empty in a list.
    #[serde(default)]
    pub key_id: String,
    /// How far it is.
    pub status: Stored,
    /// The connection that it creates or reconnects.
    pub connection_id: String,
    /// 1 when it reconnects.
    pub reconnects: u8,
    /// 1 when another account at the platform may take the former one's place.
    pub allow_other_account: u8,
    /// The platform's identifier.
    pub platform: String,
    /// `v` and a number.
    pub platform_version: String,
    /// The platform's description.
    pub description: String,
    /// The id of the connector's method.
    pub auth_method: String,
    /// Whose connection it is to be.
    pub identity: String,
    /// What kind of identity that is.
    pub identity_type: IdentityType,
    /// Distinguishes connections of one identity to one platform.
    pub label: String,
    /// The display name.
    pub name: Option<String>,
    /// A JSON array of strings; `None` leaves the tags of a reconnected connection.
    pub tags: Option<String>,
    /// A JSON array of strings: what was asked for.
    pub scopes: String,
    /// Where the browser goes in the end.
    pub return_url: Option<String>,
    /// SHA-256 of the cookie of the browser that it is bound to.
    pub browser_hash: Option<String>,
    /// What it remembers, sealed; `None` once it is over, and for one whose link leads to the window.
    pub sealed: Option<String>,
    /// The request that exchanges or exchanged the code.
    pub claimed_by: Option<String>,
    /// Since when, in milliseconds since 1970-01-01 UTC.
    pub claimed_at: Option<u64>,
    /// Why it failed.
    pub error_code: Option<String>,
    /// Why it failed, for people.
    pub error_detail: Option<String>,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub expires_at: u64,
}

/// How far a stored attempt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stored {
    /// The user has not come back.
    Pending,
    /// The user has come back, and the code is being exchanged.
    Exchanging,
    /// The connection exists.
    Succeeded,
    /// It ended without one.
    Failed,
}

/// What is told of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It may still succeed.
    Pending,
    /// The connection exists.
    Succeeded,
    /// It ended without one.
    Failed {
        /// Why, for programs.
        code: String,
        /// Why, for people.
        detail: String,
    },
    /// The user did not come back in time.
    Expired,
}

impl Status {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> AttemptStatus {
        match self {
            Self::Pending => AttemptStatus::Pending,
            Self::Succeeded => AttemptStatus::Succeeded,
            Self::Failed { .. } => AttemptStatus::Failed,
            Self::Expired => AttemptStatus::Expired,
        }
    }
}

impl Attempt {
    /// Whether its link leads to the window, where the user enters keys or chooses a method.
    #[must_use]
    pub fn is_in_window(&self) -> bool {
        self.status == Stored::Pending && self.sealed.is_none()
    }

    /// What was asked for.
    #[must_use]
    pub fn scopes(&self) -> Vec<String> {
        serde_json::from_str(&self.scopes).unwrap_or_default()
    }

    /// What is told of the attempt at `now`, in milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn status(&self, now: u64) -> Status {
        let failed =
            |code: &str, detail: &str| Status::Failed { code: code.into(), detail: detail.into() };
        match self.status {
            Stored::Pending if self.expires_at <= now => Status::Expired,
            Stored::Pending => Status::Pending,
            Stored::Exchanging => {
                let since = self.claimed_at.unwrap_or_default();
                if now.saturating_sub(since) < EXCHANGE_MS {
                    return Status::Pending;
                }
                failed(
                    Failure::Interrupted.as_str(),
                    "The service was interrupted while it exchanged the code. Try again.",
                )
            }
            Stored::Succeeded => Status::Succeeded,
            Stored::Failed => failed(
                self.error_code.as_deref().unwrap_or_default(),
                self.error_detail.as_deref().unwrap_or_default(),
            ),
        }
    }
}

/// Why an attempt failed, as a stable identifier for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The user said no, at the platform.
    Denied,
    /// The user signed in with another account than before.
    AccountMismatch,
    /// Another connection has the same key by now.
    ConnectionExists,
    /// The connection that was to be reconnected is gone.
    ConnectionNotFound,
    /// The platform rejects the OAuth client.
    ClientRejected,
    /// The platform rejects the request, such as its scopes.
    RequestRejected,
    /// The platform rejects the code.
    CodeRejected,
    /// The platform can't be reached, or has a fault.
    PlatformUnavailable,
    /// The platform's answer can't be read.
    InvalidAnswer,
    /// The answer comes from another authorization server than the one that was asked (RFC 9207).
    IssuerMismatch,
    /// The catalog or the OAuth client changed meanwhile.
    Changed,
    /// The service was interrupted.
    Interrupted,
}

impl Failure {
    /// All failures.
    pub const ALL: [Self; 12] = [
        Self::Denied,
        Self::AccountMismatch,
        Self::ConnectionExists,
        Self::ConnectionNotFound,
        Self::ClientRejected,
        Self::RequestRejected,
        Self::CodeRejected,
        Self::PlatformUnavailable,
        Self::InvalidAnswer,
        Self::IssuerMismatch,
        Self::Changed,
        Self::Interrupted,
    ];

    /// The `code` of the attempt's error.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::AccountMismatch => "account_mismatch",
            Self::ConnectionExists => "connection_exists",
            Self::ConnectionNotFound => "connection_not_found",
            Self::ClientRejected => "client_rejected",
            Self::RequestRejected => "request_rejected",
            Self::CodeRejected => "code_rejected",
            Self::PlatformUnavailable => "platform_unavailable",
            Self::InvalidAnswer => "invalid_answer",
            Self::IssuerMismatch => "issuer_mismatch",
            Self::Changed => "changed",
            Self::Interrupted => "interrupted",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Remembered;

    #[test]
    fn nothing_shows_what_is_remembered() {
        let remembered = Remembered {
            state: "s".to_owned(),
            verifier: None,
            fields: [("a".to_owned(), "b".to_owned())].into(),
        };
        assert_eq!(format!("{remembered:?}"), "Remembered(…)");
    }
}
