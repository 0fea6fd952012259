//! The SQL of events.

use super::EventId;
use crate::auth::statements::Guard;
use crate::connections::model::ConnectionId;
use crate::connections::statements::sql::Sql;
use crate::ports::{Param, Statement};
use crate::terms::{Environment, EventType};

/// Which events are selected.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The newest first, rather than the oldest.
    pub newest_first: bool,
    /// Those after this one in that order.
    pub after: EventId,
    /// Those of this connection; of all if `None`.
    pub connection: Option<&'a ConnectionId>,
    /// The types whose content matters: events of other types are selected without. All when empty.
    pub types: &'a [EventType],
    /// How many.
    pub most: u64,
}

/// The columns of an event's content.
const CONTENT: [&str; 4] = ["e.connection", "e.subject", "e.reason", "e.call"];

/// The columns of [`super::Event`].
#[must_use]
pub fn columns() -> String {
    format!("e.id, e.type, e.occurred_at, {}", CONTENT.join(", "))
}

/// Selects events of the caller's account and environment.
#[must_use]
pub fn select(guard: &Guard<'_>, asked: &Asked<'_>) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT e.id, e.type, e.occurred_at");
    for column in CONTENT {
        if asked.types.is_empty() {
            sql.push(", ").push(column);
        } else {
            let names: Vec<&str> = asked.types.iter().map(|kind| kind.as_str()).collect();
            sql.push(", iif(e.type IN ").texts(&names).push(", ").push(column);
            sql.push(", NULL) AS ").push(column.trim_start_matches("e."));
        }
    }
    let index =
        if asked.connection.is_some() { "events_by_connection" } else { "events_by_tenant" };
    sql.push(" FROM api_keys k CROSS JOIN events e INDEXED BY ").push(index);
    sql.push(" ON e.account = k.account AND e.environment = k.environment");
    if let Some(connection) = asked.connection {
        sql.push(" AND e.connection_id = ").text(connection.as_str());
    }
    let (is_after, order) = if asked.newest_first { ("<", " DESC") } else { (">", "") };
    sql.push(" AND e.id ").push(is_after).push(" ");
    push_id(&mut sql, asked.after).push(" WHERE ").guard();
    sql.push(" ORDER BY e.id").push(order).push(" LIMIT ").integer(asked.most);
    sql.finish()
}

/// Pushes an id that a caller names, as the id has become if the account was moved to another database since.
pub(crate) fn push_id<'s, 'a>(sql: &'s mut Sql<'a>, id: EventId) -> &'s mut Sql<'a> {
    sql.push("coalesce((SELECT s.shift + ").integer(id.0);
    sql.push(" FROM event_shifts s WHERE s.account = k.account AND s.through >= ").integer(id.0);
    sql.push(" ORDER BY s.through LIMIT 1), ");
    sql.integer(id.0).push(")")
}

/// Writes that the platform of a connection was called; `call` says by whom, and what came of it. A connection that was
/// deleted meanwhile gets no event.
#[must_use]
pub fn called(account: &str, environment: Environment, id: &str, call: String) -> Statement {
    Statement {
        sql: "INSERT INTO events (account, environment, type, occurred_at, connection_id, connection, call) SELECT account, environment, 'connection.called', CAST(unixepoch('subsec') * 1000 AS INTEGER), connection_id, connection, ?4 FROM connection_events WHERE account = ?1 AND environment = ?2 AND connection_id = ?3".into(),
        params: vec![
            Param::text(account),
            Param::text(environment.as_str()),
            Param::text(id),
            Param::Text(call),
        ],
    }
}

/// Deletes the oldest events, a few at a time, when they are older than this. Reads one row when there are none. The last
/// event stays, since the next one's id counts on from it.
#[must_use]
pub fn prune(before: u64) -> Statement {
    Statement {
        // The oldest one is looked at first: while it is young enough, the others are not even read.
        sql: "DELETE FROM events WHERE id IN (SELECT e.id FROM (SELECT occurred_at FROM events ORDER BY id LIMIT 1) f CROSS JOIN events e WHERE f.occurred_at < ?1 AND e.account NOT IN (SELECT account FROM away) LIMIT 500) AND occurred_at < ?1 AND id < (SELECT max(id) FROM events)".into(),
        params: vec![Param::integer(before)],
    }
}
