//! The authenticated caller of a request.

use crate::terms::{Environment, Scopes};

/// The account and environment of an authenticated request, and its permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The id of the caller's key, or of the key that created its token.
    pub key_id: String,
    pub account: String,
    pub environment: Environment,
    pub scopes: Scopes,
    /// When the key or token expires, in milliseconds since 1970-01-01 UTC; `None` when it never does.
    pub expires_at: Option<u64>,
}
