//! The SQL of API keys.

use super::key::KeyHash;
use crate::ports::{Param, Statement};

/// The row of a key, whatever its state: at most one row read.
#[must_use]
pub fn select_key(hash: &KeyHash) -> Statement {
    Statement {
        sql: "SELECT id, account, environment, scopes, expires_at, revoked_at FROM api_keys WHERE hash = ?1",
        params: vec![Param::Text(hash.to_string())],
    }
}
