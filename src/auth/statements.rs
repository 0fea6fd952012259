//! The SQL that authenticates a caller, and the [`Guard`] of all other statements.

use super::Caller;
use crate::auth::restriction::TokenRestriction;
use crate::ports::{Param, Statement};
use crate::terms::{Environment, Scope, Scopes};

/// SQL with the condition that finds the key of the caller: by the key's hash, by the key id in a
/// token, by grant, or by console session. `?3` is the time.
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
            // A session ends after an hour without requests (`console::IDLE_TIMEOUT_MS`).
            Caller::Person(_) => concat!(
                $before,
                "id = (SELECT s.key_id FROM console_sessions s WHERE s.id = ?1 AND s.code_hash IS NULL AND s.expires_at > ?3 AND s.used_at > ?3 - 3600000)",
                $after
            ),
        }
    };
}

/// The parameter `?1` of `with_key!`.
fn caller_key_param(caller: &Caller) -> Param {
    Param::Text(caller_key(caller))
}

/// The value that identifies the caller in storage: the key's hash, the key id in a token, or the
/// id of the grant or session.
pub fn caller_key(caller: &Caller) -> String {
    match caller {
        Caller::Key(key) => key.hash().to_string(),
        Caller::Token(token) | Caller::Person(token) => {
            token.grant.as_ref().map_or(&token.key_id, |grant| &grant.id).clone()
        }
    }
}

/// The SQL condition that the key `key_id` of a row is valid. `now` is a SQL expression.
pub fn key_is_valid(now: &str) -> String {
    format!(
        "EXISTS (SELECT 1 FROM api_keys k WHERE k.id = key_id AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > {now}))"
    )
}

/// Selects the row of the key of an agent's grant, with the current `confirm` of the sign-in.
const SELECT_KEY_OF_GRANT: &str = "SELECT k.id, k.account, k.environment, k.scopes, k.expires_at, k.revoked_at, NULL AS moved_to, e.confirm FROM agent_grants g CROSS JOIN api_keys k ON k.id = g.key_id LEFT JOIN agent_endpoints e ON e.id = g.endpoint WHERE g.id = ?1 AND g.state = 'active' UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, shard, NULL FROM forwards WHERE name = ?1";

/// Selects the row of the caller's key in any state, or the shard to which the account was moved.
pub fn select_key(caller: &Caller, now: u64) -> Statement {
    if matches!(caller, Caller::Token(token) if token.grant.is_some()) {
        return Statement {
            sql: SELECT_KEY_OF_GRANT.into(),
            params: vec![caller_key_param(caller)],
        };
    }
    let sql = with_key!(
        caller,
        "SELECT id, account, environment, scopes, expires_at, revoked_at, NULL AS moved_to FROM api_keys WHERE ",
        " UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, shard FROM forwards WHERE name = ?1"
    );
    let mut params = vec![caller_key_param(caller)];
    if caller.person().is_some() {
        params.extend([Param::Null, Param::integer(now)]);
    }
    Statement { sql: sql.into(), params }
}

/// Selects the shard to which a connect attempt, an agent endpoint or a console sign-in was moved.
/// `hash` is the hash of the link or `state`, or the id.
pub fn select_forward(hash: &str) -> Statement {
    Statement {
        sql: "SELECT shard AS moved_to FROM forwards WHERE name = ?1".into(),
        params: vec![Param::text(hash)],
    }
}

/// Completes an interrupted move: the source database has forwarded a request to this one, but the
/// command may have crashed before its last step. Runs before the request's statements, which would
/// otherwise be rejected. `name` is [`complete_move_param`], the hash of a link or a `state`, or the id of
/// an agent endpoint or a console sign-in.
pub fn complete_move(name: &Param) -> [Statement; 2] {
    const ACCOUNT: &str = "(SELECT account FROM api_keys WHERE hash = ?1 OR id = ?1 UNION ALL SELECT account FROM connect_attempts WHERE link_hash = ?1 OR state_hash = ?1 UNION ALL SELECT account FROM agent_endpoints WHERE id = ?1 UNION ALL SELECT account FROM agent_grants WHERE id = ?1 UNION ALL SELECT account FROM (SELECT account FROM console_sign_ins WHERE id = ?1 UNION ALL SELECT account FROM console_sessions WHERE id = ?1))";
    ["forwards", "account_moves"].map(|table| {
        let condition = if table == "forwards" {
            "account IN (SELECT account FROM account_moves WHERE step = 'arriving')"
        } else {
            "step = 'arriving'"
        };
        Statement {
            sql: format!("DELETE FROM {table} WHERE {condition} AND account IN {ACCOUNT}").into(),
            params: vec![name.clone()],
        }
    })
}

/// The argument of [`complete_move`] for a caller.
pub fn complete_move_param(caller: &Caller) -> Param {
    caller_key_param(caller)
}

/// Restricts statements to the caller's tenant. Each statement joins the row `k` of `api_keys`. It
/// returns and changes nothing if that key is invalid or lacks the scope.
#[derive(Debug, Clone)]
pub struct Guard<'a> {
    /// SQL that is true if `k` is the caller's key, is valid and has the scope.
    pub condition: &'static str,
    /// The parameters of the condition. They are the first parameters of the statement.
    pub params: Vec<Param>,
    /// The restriction of a token; `None` for a key.
    pub restriction: Option<&'a TokenRestriction>,
    /// The scopes of a token, which `condition` does not check; `None` for a key.
    pub signed_scopes: Option<Scopes>,
}

impl<'a> Guard<'a> {
    /// Creates a guard that requires `scope`.
    pub fn new(caller: &'a Caller, scope: Option<Scope>, now: u64) -> Self {
        let condition = with_key!(
            caller,
            "k.",
            " AND k.environment = ?2 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?3) AND (?4 IS NULL OR instr(' ' || k.scopes || ' ', ' ' || ?4 || ' ') > 0)"
        );
        let environment = caller.environment();
        let lacks = |scope| caller.signed_scopes().is_some_and(|scopes| !scopes.contains(scope));
        let scope = match scope {
            None => Param::Null,
            // The token lacks the scope. No scope has this name, so the statement returns and
            // changes nothing.
            Some(scope) if lacks(scope) => Param::Text("none".into()),
            Some(scope) => Param::Text(scope.as_str().into()),
        };
        let params = params(caller_key_param(caller), environment, now, scope);
        let signed_scopes = caller.signed_scopes();
        Self { condition, params, restriction: caller.restriction(), signed_scopes }
    }
}

/// The parameters of `with_key!`, followed by `more`.
pub(super) fn params(name: Param, environment: Environment, now: u64, more: Param) -> Vec<Param> {
    vec![name, Param::text(environment.as_str()), Param::integer(now), more]
}

#[cfg(test)]
mod tests {
    use super::Guard;
    use crate::auth::Caller;
    use crate::auth::limits::Limits;
    use crate::auth::restriction::TokenRestriction;
    use crate::auth::shard::Shard;
    use crate::auth::token::Token;
    use crate::ports::Param;
    use crate::terms::{Environment, Scope};

    #[test]
    fn a_guard_refuses_a_token_without_the_scope() {
        let token = Token {
            environment: Environment::Test,
            shard: Shard::FIRST,
            key_id: "key".to_owned(),
            restriction: TokenRestriction {
                identity: "user".to_owned(),
                ..TokenRestriction::default()
            },
            limits: Limits::default(),
            presets: Box::default(),
            scopes: [Scope::CatalogRead].into_iter().collect(),
            origins: None,
            expires_at: 1,
            grant: None,
        };
        let caller = Caller::Token(token);
        for (requested, expected) in [
            (None, Param::Null),
            (Some(Scope::CatalogRead), Param::text("catalog:read")),
            (Some(Scope::ConnectionsRead), Param::text("none")),
        ] {
            assert_eq!(
                Guard::new(&caller, requested, 0).params.last(),
                Some(&expected),
                "{requested:?}"
            );
        }
    }
}
