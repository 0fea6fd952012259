//! The SQL of the webhook endpoints and of replays. The SQL of the background job is in
//! [`deliveries`].

use crate::auth::Principal;
use crate::auth::statements::Guard;
use crate::connections::statements::sql::Sql;
use crate::credentials::Sealed;
use crate::events::EventId;
use crate::events::statements::push_id;
use crate::ports::{Param, Statement};
use crate::terms::DeliveryState;

pub mod deliveries;

fn statement(sql: &'static str, params: Vec<Param>) -> Statement {
    Statement { sql: sql.into(), params }
}

/// Joins the caller's key with the webhooks of its tenant.
const FROM_WEBHOOKS_OF_CALLER: &str = "FROM api_keys k CROSS JOIN webhooks w ON w.account = k.account AND w.environment = k.environment";

/// Selects all webhooks, oldest first. Not paginated, because their number is limited.
pub fn select_all(guard: &Guard<'_>) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT w.* ").push(FROM_WEBHOOKS_OF_CALLER).push(" WHERE ").guard();
    sql.push(" ORDER BY w.created_at, w.id");
    sql.finish()
}

pub fn select(guard: &Guard<'_>, id: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT w.* ")
        .push(FROM_WEBHOOKS_OF_CALLER)
        .push(" AND w.id = ")
        .text(id)
        .push(" WHERE ")
        .guard();
    sql.finish()
}

/// A webhook to be inserted.
#[derive(Debug)]
pub struct NewWebhook<'a> {
    pub id: &'a str,
    pub url: &'a str,
    pub description: Option<&'a str>,
    /// The event types to send, as a JSON array.
    pub types: &'a str,
    /// Whether events are sent.
    pub active: bool,
    /// The encrypted signing secrets.
    pub sealed: &'a Sealed,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
    pub request: &'a str,
}

/// Inserts a webhook, unless the tenant already has `limit` webhooks.
pub fn insert(principal: &Principal, new: &NewWebhook<'_>, limit: u64) -> Statement {
    statement(
        "INSERT INTO webhooks (account, environment, id, url, description, types, active, sealed, created_at, \
         updated_at, written_by) \
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10 \
         WHERE (SELECT count(*) FROM webhooks WHERE account = ?1 AND environment = ?2) < ?11 \
         ON CONFLICT DO NOTHING",
        vec![
            Param::text(&principal.account),
            Param::text(principal.environment.as_str()),
            Param::text(new.id),
            Param::text(new.url),
            Param::optional_text(new.description),
            Param::text(new.types),
            Param::Integer(new.active.into()),
            Param::text(new.sealed.as_str()),
            Param::integer(new.now),
            Param::text(new.request),
            Param::integer(limit),
        ],
    )
}

/// Selects a webhook of the caller's tenant.
pub fn select_for_caller(principal: &Principal, id: &str) -> Statement {
    statement(
        "SELECT * FROM webhooks WHERE account = ?1 AND environment = ?2 AND id = ?3",
        vec![
            Param::text(&principal.account),
            Param::text(principal.environment.as_str()),
            Param::text(id),
        ],
    )
}

/// The fields to change. `None` leaves a field unchanged.
#[derive(Debug, Default)]
pub struct Changes<'a> {
    pub url: Option<&'a str>,
    /// `Some(None)` removes the description.
    pub description: Option<Option<&'a str>>,
    /// The event types to send, as a JSON array.
    pub types: Option<&'a str>,
    /// Whether events are sent.
    pub active: Option<bool>,
}

/// Updates a webhook and returns its row. Enabling it resets `failing_since`.
pub fn update(
    guard: &Guard<'_>,
    id: &str,
    changes: &Changes<'_>,
    now: u64,
    request: &str,
) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("UPDATE webhooks SET updated_at = ").integer(now);
    sql.push(", written_by = ").text(request);
    if let Some(url) = changes.url {
        sql.push(", url = ").text(url);
    }
    if let Some(description) = changes.description {
        sql.push(", description = ").bind(Param::optional_text(description));
    }
    if let Some(types) = changes.types {
        sql.push(", types = ").text(types);
    }
    if let Some(active) = changes.active {
        sql.push(", active = ").bind(Param::Integer(active.into()));
        sql.push(", failing_since = iif(active = 1, failing_since, NULL)");
        sql.push(", disabled_code = NULL, disabled_status = NULL");
    }
    sql.push(" WHERE id = ").text(id);
    sql.push(
        " AND (account, environment) IN (SELECT k.account, k.environment FROM api_keys k WHERE ",
    );
    sql.guard().push(") RETURNING *");
    sql.finish()
}

/// Deletes a webhook. Returns its id.
pub fn delete(guard: &Guard<'_>, id: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("DELETE FROM webhooks WHERE id = ").text(id);
    sql.push(
        " AND (account, environment) IN (SELECT k.account, k.environment FROM api_keys k WHERE ",
    );
    sql.guard().push(") RETURNING id");
    sql.finish()
}

/// Replaces the secrets of a webhook, unless another request has replaced them since they were
/// read.
pub fn rotate(
    principal: &Principal,
    id: &str,
    (old, new): (&str, &Sealed),
    now: u64,
    request: &str,
) -> Statement {
    statement(
        "UPDATE webhooks \
         SET sealed = ?5, updated_at = ?6, written_by = ?7 \
         WHERE account = ?1 AND environment = ?2 AND id = ?3 AND sealed = ?4",
        vec![
            Param::text(&principal.account),
            Param::text(principal.environment.as_str()),
            Param::text(id),
            Param::text(old),
            Param::text(new.as_str()),
            Param::integer(now),
            Param::text(request),
        ],
    )
}

/// Which deliveries of a webhook to select.
#[derive(Debug, Clone, Copy)]
pub struct DeliveryQuery {
    /// Selects only deliveries in this state.
    pub state: Option<DeliveryState>,
    /// Selects only deliveries of events before this one.
    pub before: Option<EventId>,
    pub limit: u64,
}

/// Selects deliveries of a webhook, newest events first.
pub fn select_deliveries(guard: &Guard<'_>, id: &str, query: DeliveryQuery) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push(
        "SELECT e.id AS event_id, e.type, e.occurred_at, d.state, d.attempts, d.next_attempt_at, \
        d.attempted_at, d.status, d.error, d.duration_ms ",
    );
    sql.push(FROM_WEBHOOKS_OF_CALLER).push(" AND w.id = ").text(id);
    sql.push(" CROSS JOIN deliveries d");
    match query.state {
        Some(state) => sql
            .push(" INDEXED BY deliveries_by_state ON d.webhook_id = w.id AND d.state = ")
            .text(state.as_str()),
        None => sql.push(" ON d.webhook_id = w.id"),
    };
    if let Some(before) = query.before {
        push_id(sql.push(" AND d.event_id < "), before);
    }
    sql.push(" CROSS JOIN events e ON e.id = d.event_id WHERE ").guard();
    sql.push(" ORDER BY d.event_id DESC LIMIT ").integer(query.limit);
    sql.finish()
}

#[derive(Debug, Clone, Copy)]
pub struct Replay {
    /// The first event to replay.
    pub from: EventId,
    /// The last event to replay; `None` for all events so far.
    pub to: Option<EventId>,
    /// The maximum number of pending deliveries after the replay.
    pub limit: u64,
}

/// Adds the condition that selects events of a replay that match the webhook's types.
fn push_events(sql: &mut Sql<'_>, id: &str, replay: Replay) {
    sql.push(FROM_WEBHOOKS_OF_CALLER).push(" AND w.id = ").text(id).push(" AND w.active = 1");
    sql.push(
        " CROSS JOIN events e INDEXED BY events_by_tenant ON e.account = w.account \
        AND e.environment = w.environment AND e.id >= ",
    );
    push_id(sql, replay.from);
    if let Some(to) = replay.to {
        push_id(sql.push(" AND e.id <= "), to);
    }
    sql.push(" WHERE ").guard();
    sql.push(" AND (w.types = '[]' OR EXISTS (SELECT 1 FROM json_each(w.types) WHERE value = e.type)) ORDER BY e.id");
}

/// Adds an expression for the number of events that a replay can add to the pending deliveries.
fn push_remaining(sql: &mut Sql<'_>, id: &str, limit: u64) {
    sql.push("max(0, ").integer(limit);
    sql.push(
        " - (SELECT count(*) FROM deliveries INDEXED BY deliveries_by_state WHERE webhook_id = ",
    )
    .text(id);
    sql.push(" AND state = 'pending'))");
}

/// Makes events due again, regardless of the state of their deliveries. New events have the due time 0,
/// so they are delivered first.
pub fn replay(guard: &Guard<'_>, id: &str, replay: Replay, now: u64) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("INSERT INTO deliveries (webhook_id, event_id, next_attempt_at) SELECT w.id, e.id, ")
        .integer(now);
    sql.push(" ");
    push_events(&mut sql, id, replay);
    push_remaining(sql.push(" LIMIT "), id, replay.limit);
    sql.push(" ON CONFLICT DO UPDATE \
        SET state = 'pending', attempts = 0, next_attempt_at = excluded.next_attempt_at, lease = NULL, \
        lease_until = NULL");
    sql.finish()
}

/// Selects the ids of the events that [`replay`] makes due, plus one more if there is one. Each row
/// also contains the maximum number of events that may become due.
pub fn select_replayed(guard: &Guard<'_>, id: &str, replay: Replay) -> Statement {
    let mut sql = Sql::new(guard);
    push_remaining(sql.push("SELECT e.id, "), id, replay.limit);
    sql.push(" AS room ");
    push_events(&mut sql, id, replay);
    push_remaining(sql.push(" LIMIT 1 + "), id, replay.limit);
    sql.finish()
}
