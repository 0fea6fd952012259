//! The SQL of API keys.

use super::Caller;
use super::principal::{Environment, Scope};
use crate::ports::{Param, Statement};
use crate::vault::confinement::Confinement;

/// Two texts that differ in the column by which the row of a key is found.
macro_rules! by_hash_or_id {
    ($caller:expr, $before:literal, $after:literal) => {
        match $caller {
            Caller::Key(_) => concat!($before, "hash", $after),
            Caller::Token(_) => concat!($before, "id", $after),
        }
    };
}

/// What the row of the caller's key is found by.
fn name(caller: &Caller) -> Param {
    Param::Text(match caller {
        Caller::Key(key) => key.hash().to_string(),
        Caller::Token(token) => token.key_id.clone(),
    })
}

/// The row of the caller's key, whatever its state: at most one row.
#[must_use]
pub fn select_key(caller: &Caller) -> Statement {
    let sql = by_hash_or_id!(
        caller,
        "SELECT id, account, environment, scopes, expires_at, revoked_at FROM api_keys WHERE ",
        " = ?1"
    );
    Statement { sql: sql.into(), params: vec![name(caller)] }
}

/// Confines statements to what a caller may see. They join the row `k` of `api_keys`, so that what they say or do is
/// confined to the key's account and environment, and is nothing at all for a key that is not valid; and to what a token
/// is confined to.
#[derive(Debug, Clone)]
pub struct Guard<'a> {
    /// Holds for `k` when it is the caller's key, valid now, and has the scope.
    pub condition: &'static str,
    /// Its parameters, which are the first ones of the statement.
    pub params: Vec<Param>,
    /// What of the key's connections may be seen.
    pub confinement: Option<&'a Confinement>,
}

impl<'a> Guard<'a> {
    /// The guard of a caller that needs a scope; `now` in milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn new(caller: &'a Caller, scope: Scope, now: u64) -> Self {
        let condition = by_hash_or_id!(
            caller,
            "k.",
            " = ?1 AND k.environment = ?2 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?3) AND instr(' ' || k.scopes || ' ', ' ' || ?4 || ' ') > 0"
        );
        let environment = caller.environment();
        let params = params(name(caller), environment, now, Param::Text(scope.as_str().into()));
        Self { condition, params, confinement: caller.confinement() }
    }
}

/// What says whether the key of a name is valid now, and one parameter more.
#[inline(never)]
pub(super) fn params(name: Param, environment: Environment, now: u64, more: Param) -> Vec<Param> {
    let now = Param::Integer(i64::try_from(now).unwrap_or(i64::MAX));
    vec![name, Param::Text(environment.as_str().into()), now, more]
}
