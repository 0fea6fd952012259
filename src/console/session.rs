//! The sessions of people in the console.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::IDLE_TIMEOUT_MS;
use crate::auth::Shard;
use crate::auth::limits::Limits;
use crate::auth::restriction::TokenRestriction;
use crate::auth::token::{Grant, Token};
use crate::terms::{Environment, Scopes};
use crate::util::rfc3339::rfc3339;

/// A row of `console_sessions`. `Debug` prints only the id.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct Session {
    pub id: String,
    pub account: String,
    pub environment: Environment,
    /// The id in `console_sign_ins`.
    pub sign_in: String,
    pub key_id: String,
    /// The verified email address or, without one, the subject at the provider.
    pub person: String,
    /// Space-separated.
    pub scopes: String,
    /// A hash of the code; `None` after its exchange.
    pub code_hash: Option<String>,
    /// The id of the request that exchanged the code.
    pub claimed_by: Option<String>,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// The last use, in milliseconds since 1970-01-01 UTC, accurate to a minute.
    pub used_at: u64,
    pub expires_at: u64,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.id)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionView<'a> {
    id: &'a str,
    person: &'a str,
    scopes: Scopes,
    current: bool,
    created_at: Option<String>,
    last_used_at: Option<String>,
    expires_at: Option<String>,
}

impl Session {
    /// The session's scopes. Skips scopes that this release does not know.
    fn scopes(&self) -> Scopes {
        self.scopes.split(' ').filter_map(|name| name.parse().ok()).collect()
    }

    /// Creates the token with which the console acts for the person.
    pub fn token(&self, shard: Shard) -> Token {
        Token {
            environment: self.environment,
            shard,
            key_id: self.key_id.clone(),
            restriction: TokenRestriction {
                identity: self.person.clone(),
                ..TokenRestriction::default()
            },
            scopes: self.scopes(),
            limits: Limits::default(),
            presets: Box::default(),
            origins: None,
            expires_at: self.expires_at,
            grant: Some(Grant {
                id: self.id.clone(),
                endpoint: self.sign_in.clone(),
                can_request_more: false,
            }),
        }
    }

    /// The session as JSON. `current` is the id of the caller's own session.
    pub fn to_json(&self, current: Option<&str>) -> Vec<u8> {
        let idle_at = self.used_at.saturating_add(IDLE_TIMEOUT_MS);
        crate::util::json::bytes(&SessionView {
            id: &self.id,
            person: &self.person,
            scopes: self.scopes(),
            current: current == Some(self.id.as_str()),
            created_at: rfc3339(self.created_at),
            last_used_at: rfc3339(self.used_at),
            expires_at: rfc3339(self.expires_at.min(idle_at)),
        })
    }
}
