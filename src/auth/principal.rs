//! The authenticated caller of a request.

use super::confirm::Confirm;
use crate::terms::{Environment, Scopes};

/// The tenant and the permissions of an authenticated request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The id of the caller's key. For a token, the key that created it.
    pub key_id: String,
    pub account: String,
    pub environment: Environment,
    pub scopes: Scopes,
    /// When the key or token expires, in milliseconds since 1970-01-01 UTC; `None`: never.
    pub expires_at: Option<u64>,
    /// For an agent with a grant: which calls need approval according to the sign-in's current
    /// configuration. The grant can require more.
    pub confirm: Option<Confirm>,
}
