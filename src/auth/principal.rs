//! On whose behalf a request runs, and what it may do.

use crate::terms::{Environment, Scopes};

/// On whose behalf a caller asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The id of the caller's key, or of the key that created its token.
    pub key_id: String,
    /// The account whose connections the key opens.
    pub account: String,
    /// Which environment of the account.
    pub environment: Environment,
    /// What the caller may do.
    pub scopes: Scopes,
    /// When the key or token expires, in milliseconds since 1970-01-01 UTC; `None` when it never does.
    pub expires_at: Option<u64>,
}
