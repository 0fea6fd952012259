//! The SQL of the connect flow: OAuth clients, attempts, and the rows of a connected account.
//!
//! Statements for callers of the API join the row of the caller's key. The other statements serve
//! browsers, which have no key. They select an attempt by the hash of a secret, and write only to
//! that attempt's account.

use crate::auth::statements::Guard;
use crate::connect::attempt::Attempt;
use crate::connections::model::ConnectionId;
use crate::connections::statements::sql::{CREDENTIALS_JOIN, Sql};
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

fn statement(sql: impl Into<std::borrow::Cow<'static, str>>, params: Vec<Param>) -> Statement {
    Statement { sql: sql.into(), params }
}

/// Selects the credentials of a connection.
pub fn select_credentials(guard: &Guard<'_>, id: &ConnectionId) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT h.*").push_connection(id, CREDENTIALS_JOIN);
    sql.finish()
}

/// Selects the state of a connection.
pub fn select_state(guard: &Guard<'_>, id: &ConnectionId) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT c.state, c.state_reason, coalesce(c.state_since, c.created_at) AS since, c.platform_account_id, c.platform_account_name").push_connection(id, "");
    sql.finish()
}

/// Like [`select_credentials`], by platform, label and identity.
pub fn select_credentials_by_key(
    guard: &Guard<'_>,
    platform: &str,
    label: &str,
    identity: &str,
) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT h.*").push_connection_by_key([platform, label, identity], CREDENTIALS_JOIN);
    sql.finish()
}

/// Selects the credentials of the connection that an attempt reconnects, by the hash of the attempt's state.
pub fn select_previous_credentials(state_hash: &str) -> Statement {
    statement(
        "SELECT h.* FROM connect_attempts a CROSS JOIN credentials h ON h.account = a.account AND h.environment = a.environment AND h.connection_id = a.connection_id WHERE a.state_hash = ?1 AND a.reconnects = 1",
        vec![Param::text(state_hash)],
    )
}

/// Selects the credentials of the identity's connections to the attempt's platform.
pub fn select_credentials_of_identity(attempt: &Attempt) -> Statement {
    statement(
        "SELECT h.connection_id, h.auth_method, h.client, h.sealed FROM connections c INDEXED BY connections_by_identity CROSS JOIN credentials h ON h.account = c.account AND h.environment = c.environment AND h.connection_id = c.id WHERE c.account = ?1 AND c.environment = ?2 AND c.active IN (0, 1) AND c.identity_folded = ?3 AND c.identity = ?4 AND c.platform = ?5",
        vec![
            Param::text(&attempt.account),
            Param::text(attempt.environment.as_str()),
            Param::text(&fold(&attempt.identity)),
            Param::text(&attempt.identity),
            Param::text(&attempt.platform),
        ],
    )
}
