//! The SQL of API keys.

use super::Caller;
use crate::auth::restriction::Confinement;
use crate::ports::{Param, Statement};
use crate::terms::{Environment, Scope};

/// Returns one of three SQL texts, which differ in the condition that identifies the key's row.
macro_rules! with_key {
    ($caller:expr, $before:literal, $after:literal) => {
        match $caller {
            Caller::Key(_) => concat!($before, "hash = ?1", $after),
            Caller::Token(token) if token.grant.is_some() => concat!(
                $before,
                "id = (SELECT g.key_id FROM agent_grants g WHERE g.id = ?1 AND g.state = 'active')",
                $after
            ),
            Caller::Token(_) => concat!($before, "id = ?1", $after),
        }
    };
}

/// What `?1` is: the key's hash, the key's id that the token states, or the id of the grant that names the key.
fn name(caller: &Caller) -> Param {
    Param::Text(match caller {
        Caller::Key(key) => key.hash().to_string(),
        Caller::Token(token) => {
            token.grant.as_ref().map_or(&token.key_id, |grant| &grant.id).clone()
        }
    })
}

/// Selects the row of the caller's key, whatever its state, or where its account was moved to.
#[must_use]
pub fn select_key(caller: &Caller) -> Statement {
    let sql = with_key!(
        caller,
        "SELECT id, account, environment, scopes, expires_at, revoked_at, NULL AS moved_to FROM api_keys WHERE ",
        " UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, shard FROM forwards WHERE name = ?1"
    );
    Statement { sql: sql.into(), params: vec![name(caller)] }
}

/// Selects where the attempt to connect was moved to whose link or `state` has this hash.
#[must_use]
pub fn select_forward(hash: &str) -> Statement {
    Statement {
        sql: "SELECT shard AS moved_to FROM forwards WHERE name = ?1".into(),
        params: vec![Param::text(hash)],
    }
}

/// Ends the arrival of the account that this secret belongs to, as the other database says that it is here now: whoever
/// moved it may have died before. Comes before what the request asks for, which would be refused. `name` is that of the
/// caller's row, the hash of a link or a `state`, or the id of an agents' endpoint.
#[must_use]
pub fn arrive(name: &Param) -> [Statement; 2] {
    const ACCOUNT: &str = "(SELECT account FROM api_keys WHERE hash = ?1 OR id = ?1 UNION ALL SELECT account FROM connect_attempts WHERE link_hash = ?1 OR state_hash = ?1 UNION ALL SELECT account FROM agent_endpoints WHERE id = ?1 UNION ALL SELECT account FROM agent_grants WHERE id = ?1)";
    ["forwards", "account_moves"].map(|table| {
        let arriving = if table == "forwards" {
            "account IN (SELECT account FROM account_moves WHERE step = 'arriving')"
        } else {
            "step = 'arriving'"
        };
        Statement {
            sql: format!("DELETE FROM {table} WHERE {arriving} AND account IN {ACCOUNT}").into(),
            params: vec![name.clone()],
        }
    })
}

/// What [`arrive`] is asked with for a caller.
#[must_use]
pub fn name_of(caller: &Caller) -> Param {
    name(caller)
}

/// Confines statements to what a caller may see. The statements join the row `k` of `api_keys`: they reach only that
/// key's account and environment, and return or change nothing when the key is not valid. Whoever builds a statement on
/// connections adds the confinement of a token.
#[derive(Debug, Clone)]
pub struct Guard<'a> {
    /// True for `k` when it is the caller's key, valid now, and has the scope.
    pub condition: &'static str,
    /// The condition's parameters, which come first in the statement.
    pub params: Vec<Param>,
    /// The part of the key's connections that a token may see; `None` for a key.
    pub confinement: Option<&'a Confinement>,
}

impl<'a> Guard<'a> {
    /// The guard of a caller that needs `scope`, or none. `now` is in milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn new(caller: &'a Caller, scope: Option<Scope>, now: u64) -> Self {
        let condition = with_key!(
            caller,
            "k.",
            " AND k.environment = ?2 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?3) AND (?4 IS NULL OR instr(' ' || k.scopes || ' ', ' ' || ?4 || ' ') > 0)"
        );
        let environment = caller.environment();
        let lacks = |scope| caller.token().is_some_and(|token| !token.scopes.contains(scope));
        let scope = match scope {
            None => Param::Null,
            // No key has a scope of this name: nothing is returned or changed for a token that lacks the scope.
            Some(scope) if lacks(scope) => Param::Text("none".into()),
            Some(scope) => Param::Text(scope.as_str().into()),
        };
        let params = params(name(caller), environment, now, scope);
        Self { condition, params, confinement: caller.confinement() }
    }
}

/// The parameters that check whether the key is valid now, and one more.
pub(super) fn params(name: Param, environment: Environment, now: u64, more: Param) -> Vec<Param> {
    vec![name, Param::text(environment.as_str()), Param::integer(now), more]
}

#[cfg(test)]
mod tests {
    use super::Guard;
    use crate::auth::Caller;
    use crate::auth::limits::Limits;
    use crate::auth::restriction::Confinement;
    use crate::auth::shard::Shard;
    use crate::auth::token::Token;
    use crate::ports::Param;
    use crate::terms::{Environment, Scope};

    #[test]
    fn storage_lets_a_token_do_only_what_it_says() {
        let token = Token {
            environment: Environment::Test,
            shard: Shard::FIRST,
            key_id: "key".to_owned(),
            confinement: Confinement { identity: "user".to_owned(), ..Confinement::default() },
            limits: Limits::default(),
            scopes: [Scope::CatalogRead].into_iter().collect(),
            origins: None,
            expires_at: 1,
            grant: None,
        };
        let caller = Caller::Token(token);
        for (asked, said) in [
            (None, Param::Null),
            (Some(Scope::CatalogRead), Param::text("catalog:read")),
            (Some(Scope::ConnectionsRead), Param::text("none")),
        ] {
            assert_eq!(Guard::new(&caller, asked, 0).params.last(), Some(&said), "{asked:?}");
        }
    }
}
