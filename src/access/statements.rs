//! The SQL of API keys.

use super::key::{ApiKey, KeyHash};
use super::principal::Scope;
use crate::ports::{Param, Statement};

/// The row of a key, whatever its state: at most one row read.
#[must_use]
pub fn select_key(hash: &KeyHash) -> Statement {
    Statement {
        sql: "SELECT id, account, environment, scopes, expires_at, revoked_at FROM api_keys WHERE hash = ?1".into(),
        params: vec![Param::Text(hash.to_string())],
    }
}

/// Holds for the row `k` of `api_keys` when its key is valid now and has a scope: what a statement that joins that row
/// says or does is confined to the key's account and environment, and is nothing at all for a key that is not valid.
/// Its parameters are the first ones, [`guard_params`].
pub const GUARD: &str = "k.hash = ?1 AND k.environment = ?2 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?3) AND instr(' ' || k.scopes || ' ', ' ' || ?4 || ' ') > 0";

/// The parameters of [`GUARD`]; `now` in milliseconds since 1970-01-01 UTC.
#[must_use]
pub fn guard_params(key: &ApiKey, scope: Scope, now: u64) -> Vec<Param> {
    params(key, now, Param::Text(scope.as_str().into()))
}

/// What says whether a key is valid now, and one parameter more.
#[inline(never)]
pub(super) fn params(key: &ApiKey, now: u64, more: Param) -> Vec<Param> {
    vec![
        Param::Text(key.hash().to_string()),
        Param::Text(key.environment().as_str().into()),
        Param::Integer(i64::try_from(now).unwrap_or(i64::MAX)),
        more,
    ]
}
