//! All SQL of connecting: OAuth clients, attempts, and the rows that a connected account leaves.
//!
//! Statements that a request's key guards join its row, as everywhere. The others serve browsers, which come without a
//! key: they find an attempt by the hash of a secret, and write only for the account of that attempt.

use crate::auth::statements::Guard;
use crate::connect::attempt::Attempt;
use crate::connections::model::ConnectionId;
use crate::connections::statements::sql::Sql;
use crate::ports::{Param, Statement};
use crate::util::case_fold::fold;

mod attempts;
mod clients;
mod codes;
mod connected;

pub use attempts::*;
pub use clients::*;
pub use codes::*;
pub use connected::*;

fn statement(sql: &'static str, params: Vec<Param>) -> Statement {
    Statement { sql: sql.into(), params }
}

/// Selects what the vault holds of the connection with an id.
#[must_use]
pub fn select_held(guard: &Guard<'_>, id: &ConnectionId) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT h.* FROM api_keys k CROSS JOIN connections c INDEXED BY connections_by_id ON c.account = k.account AND c.environment = k.environment AND c.id = ");
    sql.text(id.as_str()).push(HELD).push(" WHERE ").guard_connection();
    sql.finish()
}

/// Selects the state of the connection with an id.
#[must_use]
pub fn select_state(guard: &Guard<'_>, id: &ConnectionId) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT c.state, c.state_reason, coalesce(c.state_since, c.created_at) AS since, c.platform_account_id, c.platform_account_name FROM api_keys k CROSS JOIN connections c INDEXED BY connections_by_id ON c.account = k.account AND c.environment = k.environment AND c.id = ");
    sql.text(id.as_str()).push(" WHERE ").guard_connection();
    sql.finish()
}

/// Joins what the vault holds of the connection `c`.
const HELD: &str = " CROSS JOIN credentials h ON h.account = c.account AND h.environment = c.environment AND h.connection_id = c.id";

/// As [`select_held`], by the connection's key in parts.
#[must_use]
pub fn select_held_by_key(
    guard: &Guard<'_>,
    platform: &str,
    label: &str,
    identity: &str,
) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT h.* FROM api_keys k CROSS JOIN connections c INDEXED BY connections_by_key ON c.account = k.account AND c.environment = k.environment AND c.platform = ");
    sql.text(platform)
        .push(" AND c.label = ")
        .text(label)
        .push(" AND c.identity = ")
        .text(identity);
    sql.push(HELD).push(" WHERE ").guard_connection();
    sql.finish()
}

/// Selects the credentials of the connection that the attempt with this state reconnects.
#[must_use]
pub fn select_former(state_hash: &str) -> Statement {
    statement(
        "SELECT h.* FROM connect_attempts a CROSS JOIN credentials h ON h.account = a.account AND h.environment = a.environment AND h.connection_id = a.connection_id WHERE a.state_hash = ?1 AND a.reconnects = 1",
        vec![Param::text(state_hash)],
    )
}

/// Selects what the vault holds of the connections that an attempt's identity has at the same platform.
#[must_use]
pub fn select_held_of_identity(attempt: &Attempt) -> Statement {
    statement(
        "SELECT h.connection_id, h.auth_method, h.sealed FROM connections c INDEXED BY connections_by_identity CROSS JOIN credentials h ON h.account = c.account AND h.environment = c.environment AND h.connection_id = c.id WHERE c.account = ?1 AND c.environment = ?2 AND c.active IN (0, 1) AND c.identity_folded = ?3 AND c.identity = ?4 AND c.platform = ?5",
        vec![
            Param::text(&attempt.account),
            Param::text(attempt.environment.as_str()),
            Param::text(&fold(&attempt.identity)),
            Param::text(&attempt.identity),
            Param::text(&attempt.platform),
        ],
    )
}
