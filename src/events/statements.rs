//! The SQL of events.

use super::EventId;
use crate::auth::statements::Guard;
use crate::connections::model::ConnectionId;
use crate::connections::statements::sql::Sql;
use crate::ports::{Param, Statement};
use crate::terms::{Environment, EventType};

/// Which events to select.
#[derive(Debug)]
pub struct EventQuery<'a> {
    pub newest_first: bool,
    /// Selects only events that follow this one in the selected order.
    pub after: EventId,
    /// Selects only events of this connection.
    pub connection: Option<&'a ConnectionId>,
    /// The event types to select with content. Events of other types are selected without it. Empty
    /// for all types.
    pub types: &'a [EventType],
    pub limit: u64,
}

const CONTENT_COLUMNS: [&str; 4] = ["e.connection", "e.subject", "e.reason", "e.call"];

/// The maximum number of events in a page whose size is not checked. An event has at most 27 KB.
const MAX_SMALL_PAGE: u64 = 100;
/// A larger page ends with the event at which its connections reach this many characters, because
/// the page is read into the isolate's memory, which all requests share.
const MAX_PAGE_CHARACTERS: u64 = 1_000_000;

/// The columns of [`super::Event`].
pub fn columns() -> String {
    format!("e.id, e.type, e.occurred_at, {}", CONTENT_COLUMNS.join(", "))
}

/// Selects events of the key's tenant: up to the query's limit, or fewer if the events are large.
pub fn select(guard: &Guard<'_>, query: &EventQuery<'_>) -> Statement {
    let mut sql = Sql::new(guard);
    let (comparison, order) = if query.newest_first { ("<", " DESC") } else { (">", "") };
    let is_large = query.limit > MAX_SMALL_PAGE;
    if is_large {
        sql.push("SELECT id, type, occurred_at, connection, subject, reason, call FROM (SELECT *, sum(ifnull(length(connection), 0)) OVER (ORDER BY id");
        sql.push(order)
            .push(" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS size_before FROM (");
    }
    sql.push("SELECT e.id, e.type, e.occurred_at");
    for column in CONTENT_COLUMNS {
        if query.types.is_empty() {
            sql.push(", ").push(column);
        } else {
            let names: Vec<&str> = query.types.iter().map(|kind| kind.as_str()).collect();
            sql.push(", iif(e.type IN ").texts(&names).push(", ").push(column);
            sql.push(", NULL) AS ").push(column.trim_start_matches("e."));
        }
    }
    let index =
        if query.connection.is_some() { "events_by_connection" } else { "events_by_tenant" };
    sql.push(" FROM api_keys k CROSS JOIN events e INDEXED BY ").push(index);
    sql.push(" ON e.account = k.account AND e.environment = k.environment");
    if let Some(connection) = query.connection {
        sql.push(" AND e.connection_id = ").text(connection.as_str());
    }
    sql.push(" AND e.id ").push(comparison).push(" ");
    push_id(&mut sql, query.after).push(" WHERE ").guard();
    sql.push(" ORDER BY e.id").push(order).push(" LIMIT ").integer(query.limit);
    if is_large {
        sql.push(")) WHERE ifnull(size_before, 0) < ").integer(MAX_PAGE_CHARACTERS);
        sql.push(" ORDER BY id").push(order);
    }
    sql.finish()
}

/// Adds an event id from a caller. If the account has since moved to another database, converts it
/// to the id there.
pub(crate) fn push_id<'s, 'a>(sql: &'s mut Sql<'a>, id: EventId) -> &'s mut Sql<'a> {
    sql.push("coalesce((SELECT s.shift + ").integer(id.0);
    sql.push(" FROM event_shifts s WHERE s.account = k.account AND s.through >= ").integer(id.0);
    sql.push(" ORDER BY s.through LIMIT 1), ");
    sql.integer(id.0).push(")")
}

/// The maximum number of call events per identity and day. Limits storage, because end users decide
/// how often they call.
const MAX_CALLS_OF_IDENTITY: u64 = 1000;

/// Inserts the event of a platform call. `call` describes the caller and the result. Inserts
/// nothing if the connection has been deleted, or if the tenant's `max_calls` or the identity's
/// limit is reached for this day. Long tags are omitted, because a call does not change them and
/// each event would store up to 27 KB of them.
pub fn insert_call(
    (account, environment): (&str, Environment),
    id: &str,
    call: String,
    max_calls: u64,
) -> Statement {
    const SQL: &str = "\
WITH now AS (SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS at), numbered AS MATERIALIZED (
  SELECT at,
    ifnull((SELECT iif(e.occurred_at / 86400000 = at / 86400000, e.tenant_call, 0)
      FROM events e INDEXED BY events_of_calls
      WHERE e.account = ?1 AND e.environment = ?2 AND e.tenant_call IS NOT NULL ORDER BY e.id DESC LIMIT 1), 0) + 1
      AS tenant_call,
    iif(?4 ->> 'identity' IS NULL, NULL,
      ifnull((SELECT iif(e.occurred_at / 86400000 = at / 86400000, e.identity_call, 0)
        FROM events e INDEXED BY events_of_callers
        WHERE e.account = ?1 AND e.environment = ?2 AND e.call ->> 'identity' = ?4 ->> 'identity'
          AND e.identity_call IS NOT NULL ORDER BY e.id DESC LIMIT 1), 0) + 1) AS identity_call
  FROM now
)
INSERT INTO events
  (account, environment, type, occurred_at, connection_id, connection, call, tenant_call, identity_call)
SELECT account, environment, 'connection.called', n.at, connection_id,
  iif(length(connection ->> 'tags') > 1024, json_set(connection, '$.tags', '[]'), connection), ?4,
  n.tenant_call, n.identity_call
FROM numbered n CROSS JOIN connection_events
WHERE account = ?1 AND environment = ?2 AND connection_id = ?3
  AND n.tenant_call <= ?5 AND ifnull(n.identity_call, 0) <= ?6";
    Statement {
        sql: SQL.into(),
        params: vec![
            Param::text(account),
            Param::text(environment.as_str()),
            Param::text(id),
            Param::Text(call),
            Param::integer(max_calls),
            Param::integer(MAX_CALLS_OF_IDENTITY),
        ],
    }
}

/// Deletes a batch of the oldest events if they are older than `before`. Reads only one row if
/// there are none. Never deletes the newest event, because `SQLite` would assign its id again.
pub fn prune(before: u64) -> Statement {
    Statement {
        // Checks the oldest event first, to avoid reading the others if there is nothing to delete.
        sql: "DELETE FROM events \
            WHERE id IN (SELECT e.id FROM (SELECT occurred_at FROM events ORDER BY id LIMIT 1) f \
            CROSS JOIN events e WHERE f.occurred_at < ?1 AND e.account NOT IN (SELECT account FROM away) \
            LIMIT 500) AND occurred_at < ?1 AND id < (SELECT max(id) FROM events)".into(),
        params: vec![Param::integer(before)],
    }
}
