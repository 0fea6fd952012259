//! Connect attempts. An attempt is started, bound to a browser, and ended by the callback or by
//! expiry.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::client::OauthClient;
use super::presets::Presets;
use crate::auth::key::hash;
use crate::branding::Branding;
use crate::catalog::detail::OAuth2;
use crate::ports::StorageError;
use crate::terms::{AttemptStatus, Environment, IdentityType, named};
use crate::util::json;

/// The lifetime of an attempt, in milliseconds.
pub const LIFETIME_MS: u64 = 10 * 60 * 1000;
/// The time after which an exchange counts as interrupted, in milliseconds.
pub const EXCHANGE_TIMEOUT_MS: u64 = 60 * 1000;
/// The maximum number of open attempts of an identity.
pub const MAX_OPEN_PER_IDENTITY: u64 = 20;
/// The maximum number of attempts that an identity may start with tokens within [`LIFETIME_MS`],
/// whether or not they are still open.
pub const MAX_STARTED_PER_IDENTITY: u64 = 80;
/// The maximum number of open attempts of an account.
pub const MAX_OPEN_PER_ACCOUNT: u64 = 1000;

/// The secrets of an attempt, which are stored encrypted. `Debug` does not show them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptSecrets {
    /// The `state` that the platform must return.
    pub state: String,
    /// The PKCE verifier, if the platform supports PKCE.
    pub verifier: Option<String>,
    /// The values of the method's fields.
    pub fields: BTreeMap<String, String>,
    /// The result of [`code_parties`] when the attempt started.
    pub parties: String,
    /// The token of the connect window, if the attempt started there. The window needs it to repeat
    /// a failed attempt.
    pub window: Option<String>,
}

/// Identifies the parties of an attempt's code: the platform's endpoints, which issue the code, and
/// the stored OAuth client, which receives it. A code is sent only to the server that issued it,
/// even if the operator has changed the platform's endpoints since.
pub fn code_parties(oauth: &OAuth2, client: &OauthClient) -> String {
    let endpoints = [oauth.issuer.as_deref(), oauth.authorization_url.as_deref()];
    let [issuer, authorization_url] = endpoints.map(Option::unwrap_or_default);
    let updated_at = client.updated_at.to_string();
    hash(&[issuer, authorization_url, &oauth.token_url, &updated_at, &client.client_id].join("\n"))
}

impl fmt::Debug for AttemptSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AttemptSecrets(…)")
    }
}

/// A row of `connect_attempts`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Attempt {
    /// A UUID.
    pub id: String,
    pub account: String,
    pub environment: Environment,
    /// The id of the key that started the attempt, directly or through a token; empty in a list.
    #[serde(default)]
    pub key_id: String,
    pub status: StoredStatus,
    /// The id of the connection that the attempt creates or reconnects.
    pub connection_id: String,
    /// 1 if the attempt reconnects a connection, otherwise 0.
    pub reconnects: u8,
    /// 1 if the connection may be reconnected to another account at the platform.
    pub allow_other_account: u8,
    pub platform: String,
    /// The version in the catalog: `v` followed by a number.
    pub platform_version: String,
    pub description: String,
    pub auth_method: String,
    /// The name of the OAuth client.
    pub client: String,
    pub identity: String,
    pub identity_type: IdentityType,
    /// Distinguishes several connections of an identity to a platform.
    pub label: String,
    pub name: Option<String>,
    /// A JSON array of strings; `None` keeps the tags of a reconnected connection.
    pub tags: Option<String>,
    /// A JSON array of strings: the requested scopes.
    pub scopes: String,
    /// The app's URL, where the browser continues after the attempt.
    pub return_url: Option<String>,
    /// [`Presets`] as JSON.
    pub presets: Option<String>,
    /// SHA-256 of the cookie of the bound browser.
    pub browser_hash: Option<String>,
    /// The encrypted [`AttemptSecrets`]; `None` once the attempt has ended, or if its link leads to
    /// the connect window.
    pub sealed: Option<String>,
    /// The id of the request that exchanges or exchanged the code.
    pub claimed_by: Option<String>,
    /// The start of the exchange, in milliseconds since 1970-01-01 UTC.
    pub claimed_at: Option<u64>,
    pub error_code: Option<String>,
    pub error_detail: Option<String>,
    /// Set only if the row was selected by a browser's secret.
    #[serde(default, deserialize_with = "Branding::column")]
    pub branding: Branding,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub expires_at: u64,
}

/// The stored status of an attempt. Expired and interrupted attempts are recognized by their times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredStatus {
    /// The user has not returned from the platform.
    Pending,
    /// The user has returned, and the code is being exchanged.
    Exchanging,
    Succeeded,
    Failed,
}

/// The status of an attempt at a point in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    Pending,
    Succeeded,
    Failed {
        code: String,
        detail: String,
    },
    /// The user did not return in time.
    Expired,
}

impl Status {
    /// The name of the status in the API.
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
    /// Whether the attempt's link leads to the connect window, where the user enters credentials or
    /// chooses a method.
    pub fn is_in_window(&self) -> bool {
        self.status == StoredStatus::Pending && self.sealed.is_none()
    }

    /// The values that the app set for the user. Fails if they can't be parsed, because a fixed
    /// value must not be ignored.
    pub fn presets(&self) -> Result<Presets, StorageError> {
        let Some(text) = &self.presets else { return Ok(Presets::default()) };
        json::from_text(text)
            .map_err(|error| StorageError::new(format!("an attempt's presets: {error}")))
    }

    /// The language that the app has chosen for the user.
    pub fn lang(&self) -> Option<String> {
        self.presets().ok()?.lang
    }

    pub fn scopes(&self) -> Vec<String> {
        serde_json::from_str(&self.scopes).unwrap_or_default()
    }

    /// The status at `now`.
    pub fn status(&self, now: u64) -> Status {
        let failed =
            |code: &str, detail: &str| Status::Failed { code: code.into(), detail: detail.into() };
        match self.status {
            StoredStatus::Pending if self.expires_at <= now => Status::Expired,
            StoredStatus::Pending => Status::Pending,
            StoredStatus::Exchanging => {
                let since = self.claimed_at.unwrap_or_default();
                if now.saturating_sub(since) < EXCHANGE_TIMEOUT_MS {
                    return Status::Pending;
                }
                failed(
                    AttemptErrorCode::Interrupted.as_str(),
                    "The service was interrupted while it exchanged the code. Try again.",
                )
            }
            StoredStatus::Succeeded => Status::Succeeded,
            StoredStatus::Failed => failed(
                self.error_code.as_deref().unwrap_or_default(),
                self.error_detail.as_deref().unwrap_or_default(),
            ),
        }
    }
}

named! {
    /// The error code of a failed attempt.
    AttemptErrorCode:
    /// The user denied access at the platform.
    Denied = "denied",
    /// The user signed in with a different account than before.
    AccountMismatch = "account_mismatch",
    /// Another connection with the same key was created in the meantime.
    ConnectionExists = "connection_exists",
    /// The connection to reconnect no longer exists.
    ConnectionNotFound = "connection_not_found",
    /// The account can't have more connections.
    ConnectionLimit = "connection_limit",
    ClientRejected = "client_rejected",
    /// The platform rejects the request, for example its scopes.
    RequestRejected = "request_rejected",
    CodeRejected = "code_rejected",
    PlatformUnavailable = "platform_unavailable",
    /// The platform's response can't be parsed.
    InvalidResponse = "invalid_answer",
    /// The response comes from another authorization server (RFC 9207).
    IssuerMismatch = "issuer_mismatch",
    /// The catalog or the OAuth client has changed in the meantime.
    Changed = "changed",
    Interrupted = "interrupted",
}

#[cfg(test)]
mod tests {
    use super::AttemptSecrets;

    #[test]
    fn debug_hides_attempt_secrets() {
        let secrets = AttemptSecrets {
            state: "s".to_owned(),
            verifier: None,
            fields: [("a".to_owned(), "b".to_owned())].into(),
            parties: String::new(),
            window: None,
        };
        assert_eq!(format!("{secrets:?}"), "AttemptSecrets(…)");
    }
}
