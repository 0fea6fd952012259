//! API keys, as the API manages them. A key can list, create and revoke only keys of its own
//! tenant.

use serde::{Deserialize, Serialize};

use crate::terms::{KeyState, Scope, Scopes};
use crate::util::rfc3339::rfc3339;

pub mod statements;

/// The maximum number of valid keys per environment of an account. The API does not create more.
pub const MAX_KEYS: u64 = 100;

/// The maximum number of valid keys per environment of an account, with the replaced keys that are
/// still valid. It is twice as many, so that all keys can be rotated within [`OVERLAP_MS`].
pub const MAX_ROTATED_KEYS: u64 = 2 * MAX_KEYS;

/// How long a rotated key remains valid, in milliseconds. `keys rotate` uses the same period.
pub const OVERLAP_MS: u64 = 24 * 60 * 60 * 1000;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A row of `api_keys`, without the hash.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Key {
    pub id: String,
    pub name: Option<String>,
    /// Space-separated.
    scopes: String,
    /// Milliseconds since 1970-01-01 UTC.
    created_at: u64,
    /// Milliseconds since 1970-01-01 UTC; `None`: never.
    expires_at: Option<u64>,
    /// Milliseconds since 1970-01-01 UTC; `None`: not revoked.
    revoked_at: Option<u64>,
    /// Days since 1970-01-01 UTC; `None`: no recorded use.
    last_used_day: Option<u64>,
    /// The id of the key that replaced this one in a rotation.
    pub replaced_by: Option<String>,
    /// The id of the key that created this one; `None`: created by the operator.
    created_by: Option<String>,
}

/// The JSON representation of a key.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyView<'a> {
    id: &'a str,
    name: Option<&'a str>,
    scopes: Scopes,
    state: KeyState,
    created_at: Option<String>,
    expires_at: Option<String>,
    revoked_at: Option<String>,
    last_used_on: Option<String>,
    replaced_by: Option<&'a str>,
    created_by: Option<&'a str>,
    /// Whether the request was authenticated with this key.
    current: bool,
    /// Set only in the response that creates the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<&'a str>,
}

impl Key {
    pub fn state(&self, now: u64) -> KeyState {
        if self.revoked_at.is_some() {
            KeyState::Revoked
        } else if self.expires_at.is_some_and(|at| at <= now) {
            KeyState::Expired
        } else {
            KeyState::Active
        }
    }

    /// The key's scopes. Skips scopes that this release does not know.
    pub fn scopes(&self) -> Scopes {
        self.scopes.split_whitespace().filter_map(|name| name.parse().ok()).collect()
    }

    pub fn has_unknown_scopes(&self) -> bool {
        self.scopes.split_whitespace().any(|name| name.parse::<Scope>().is_err())
    }

    /// The key as JSON. `caller` is the id of the key that sends the request. `secret` is set only
    /// for a new key.
    pub fn view<'a>(&'a self, caller: &str, now: u64, secret: Option<&'a str>) -> KeyView<'a> {
        let day = self.last_used_day.and_then(|day| rfc3339(day.saturating_mul(DAY_MS)));
        KeyView {
            id: &self.id,
            name: self.name.as_deref(),
            scopes: self.scopes(),
            state: self.state(now),
            created_at: rfc3339(self.created_at),
            expires_at: self.expires_at.and_then(rfc3339),
            revoked_at: self.revoked_at.and_then(rfc3339),
            last_used_on: day.and_then(|day| Some(day.split_once('T')?.0.to_owned())),
            replaced_by: self.replaced_by.as_deref(),
            created_by: self.created_by.as_deref(),
            current: self.id == caller,
            secret,
        }
    }
}
