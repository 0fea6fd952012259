//! The SQL of webhooks.

use super::attempt::{Answer, Disabled, LEASE_MS, Next};
use crate::auth::Principal;
use crate::auth::statements::Guard;
use crate::connections::statements::sql::Sql;
use crate::credentials::Sealed;
use crate::events::EventId;
use crate::events::statements::{columns, push_id};
use crate::ports::{Param, Statement};
use crate::terms::DeliveryState;

fn statement(sql: &'static str, params: Vec<Param>) -> Statement {
    Statement { sql: sql.into(), params }
}

/// The webhooks of the key's account and environment.
const OF_KEY: &str = "FROM api_keys k CROSS JOIN webhooks w ON w.account = k.account AND w.environment = k.environment";

/// Selects all webhooks, the oldest first. There are few.
#[must_use]
pub fn select_all(guard: &Guard<'_>) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT w.* ").push(OF_KEY).push(" WHERE ").guard();
    sql.push(" ORDER BY w.created_at, w.id");
    sql.finish()
}

/// Selects a webhook.
#[must_use]
pub fn select(guard: &Guard<'_>, id: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT w.* ").push(OF_KEY).push(" AND w.id = ").text(id).push(" WHERE ").guard();
    sql.finish()
}

/// A webhook to be stored.
#[derive(Debug)]
pub struct NewWebhook<'a> {
    /// Its id.
    pub id: &'a str,
    /// Where events are sent.
    pub url: &'a str,
    /// What it is for.
    pub description: Option<&'a str>,
    /// A JSON array of types.
    pub types: &'a str,
    /// Whether events are sent.
    pub active: bool,
    /// Its secrets.
    pub sealed: &'a Sealed,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
    /// The request.
    pub request: &'a str,
}

/// Stores a webhook, unless there are `most` already.
#[must_use]
pub fn insert(principal: &Principal, new: &NewWebhook<'_>, most: u64) -> Statement {
    statement(
        "INSERT INTO webhooks (account, environment, id, url, description, types, active, sealed, created_at, updated_at, written_by) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10 WHERE (SELECT count(*) FROM webhooks WHERE account = ?1 AND environment = ?2) < ?11 ON CONFLICT DO NOTHING",
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
            Param::integer(most),
        ],
    )
}

/// Selects a webhook after it was written.
#[must_use]
pub fn select_of(principal: &Principal, id: &str) -> Statement {
    statement(
        "SELECT * FROM webhooks WHERE account = ?1 AND environment = ?2 AND id = ?3",
        vec![
            Param::text(&principal.account),
            Param::text(principal.environment.as_str()),
            Param::text(id),
        ],
    )
}

/// What a request changes of a webhook; `None` for what stays.
#[derive(Debug, Default)]
pub struct Changes<'a> {
    /// Where events are sent.
    pub url: Option<&'a str>,
    /// What it is for; nothing, for `Some(None)`.
    pub description: Option<Option<&'a str>>,
    /// A JSON array of types.
    pub types: Option<&'a str>,
    /// Whether events are sent.
    pub active: Option<bool>,
}

/// Changes a webhook, and returns its row. Enabling it forgets that it failed.
#[must_use]
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
#[must_use]
pub fn delete(guard: &Guard<'_>, id: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("DELETE FROM webhooks WHERE id = ").text(id);
    sql.push(
        " AND (account, environment) IN (SELECT k.account, k.environment FROM api_keys k WHERE ",
    );
    sql.guard().push(") RETURNING id");
    sql.finish()
}

/// Replaces the secrets of a webhook, unless somebody else has done so since they were read.
#[must_use]
pub fn rotate(
    principal: &Principal,
    id: &str,
    (old, new): (&str, &Sealed),
    now: u64,
    request: &str,
) -> Statement {
    statement(
        "UPDATE webhooks SET sealed = ?5, updated_at = ?6, written_by = ?7 WHERE account = ?1 AND environment = ?2 AND id = ?3 AND sealed = ?4",
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

/// Which deliveries of a webhook are selected.
#[derive(Debug, Clone, Copy)]
pub struct AskedDeliveries {
    /// Those in this state; all if `None`.
    pub state: Option<DeliveryState>,
    /// Those of events before this one; of all if `None`.
    pub before: Option<EventId>,
    /// How many at most.
    pub most: u64,
}

/// Selects deliveries of a webhook, those of the latest events first.
#[must_use]
pub fn select_deliveries(guard: &Guard<'_>, id: &str, asked: AskedDeliveries) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT e.id AS event_id, e.type, e.occurred_at, d.state, d.attempts, d.next_attempt_at, d.attempted_at, d.status, d.error, d.duration_ms ");
    sql.push(OF_KEY).push(" AND w.id = ").text(id);
    sql.push(" CROSS JOIN deliveries d");
    match asked.state {
        Some(state) => sql
            .push(" INDEXED BY deliveries_by_state ON d.webhook_id = w.id AND d.state = ")
            .text(state.as_str()),
        None => sql.push(" ON d.webhook_id = w.id"),
    };
    if let Some(before) = asked.before {
        push_id(sql.push(" AND d.event_id < "), before);
    }
    sql.push(" CROSS JOIN events e ON e.id = d.event_id WHERE ").guard();
    sql.push(" ORDER BY d.event_id DESC LIMIT ").integer(asked.most);
    sql.finish()
}

/// The events that are sent once more.
#[derive(Debug, Clone, Copy)]
pub struct Replay {
    /// The first one.
    pub from: EventId,
    /// The last one; `None` for up to now.
    pub to: Option<EventId>,
    /// How many at most.
    pub most: u64,
}

/// The events of a replay that the webhook wants.
fn push_replayed(sql: &mut Sql<'_>, id: &str, replay: Replay) {
    sql.push(OF_KEY).push(" AND w.id = ").text(id).push(" AND w.active = 1");
    sql.push(" CROSS JOIN events e INDEXED BY events_by_tenant ON e.account = w.account AND e.environment = w.environment AND e.id >= ");
    push_id(sql, replay.from);
    if let Some(to) = replay.to {
        push_id(sql.push(" AND e.id <= "), to);
    }
    sql.push(" WHERE ").guard();
    sql.push(" AND (w.types = '[]' OR EXISTS (SELECT 1 FROM json_each(w.types) WHERE value = e.type)) ORDER BY e.id");
}

/// Adds how many events a replay may make due, less those that are pending already.
fn push_room(sql: &mut Sql<'_>, id: &str, most: u64) {
    sql.push("max(0, ").integer(most);
    sql.push(
        " - (SELECT count(*) FROM deliveries INDEXED BY deliveries_by_state WHERE webhook_id = ",
    )
    .text(id);
    sql.push(" AND state = 'pending'))");
}

/// Makes events due at a webhook, whatever became of them before. They come after new events, which are due since 1970.
#[must_use]
pub fn replay(guard: &Guard<'_>, id: &str, replay: Replay, now: u64) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("INSERT INTO deliveries (webhook_id, event_id, next_attempt_at) SELECT w.id, e.id, ")
        .integer(now);
    sql.push(" ");
    push_replayed(&mut sql, id, replay);
    push_room(sql.push(" LIMIT "), id, replay.most);
    sql.push(" ON CONFLICT DO UPDATE SET state = 'pending', attempts = 0, next_attempt_at = excluded.next_attempt_at, lease = NULL, lease_until = NULL");
    sql.finish()
}

/// Selects the events that [`replay`] is about to make due, and one more if there is one: their ids, and how many may
/// become due.
#[must_use]
pub fn select_replayed(guard: &Guard<'_>, id: &str, replay: Replay) -> Statement {
    let mut sql = Sql::new(guard);
    push_room(sql.push("SELECT e.id, "), id, replay.most);
    sql.push(" AS room ");
    push_replayed(&mut sql, id, replay);
    push_room(sql.push(" LIMIT 1 + "), id, replay.most);
    sql.finish()
}

/// Selects a row when a delivery is due.
#[must_use]
pub fn is_due(now: u64) -> Statement {
    statement(
        "SELECT 1 AS due FROM deliveries INDEXED BY deliveries_by_due WHERE due_at <= ?1 AND webhook_id NOT IN (SELECT id FROM away_webhooks) LIMIT 1",
        vec![Param::integer(now)],
    )
}

/// Counts the deliveries that are due, up to `most`.
#[must_use]
pub fn count_due(now: u64, most: u64) -> Statement {
    statement(
        "SELECT count(*) AS total FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_by_due WHERE due_at <= ?1 AND webhook_id NOT IN (SELECT id FROM away_webhooks) LIMIT ?2)",
        vec![Param::integer(now), Param::integer(most)],
    )
}

/// The webhooks that have deliveries left, how many of these are being attempted, and how many may be: a receiver that
/// fails gets one at a time. `?1` is the time, `?2` the end of a lease that begins now, `?3` the most at once.
macro_rules! with_room {
    ($rest:literal) => {
        concat!(
            "WITH RECURSIVE waiting(id) AS (SELECT '' UNION ALL SELECT (SELECT d.webhook_id FROM deliveries d INDEXED BY deliveries_by_webhook WHERE d.webhook_id > waiting.id AND d.due_at IS NOT NULL ORDER BY d.webhook_id LIMIT 1) FROM waiting WHERE waiting.id IS NOT NULL), ",
            "room(id, taken, most) AS MATERIALIZED (SELECT w.id, (SELECT count(*) FROM deliveries d INDEXED BY deliveries_by_webhook WHERE d.webhook_id = w.id AND d.due_at > ?1 AND d.due_at <= ?2 AND d.lease IS NOT NULL), iif(w.failing_since IS NULL, ?3, 1) FROM waiting CROSS JOIN webhooks w ON w.id = waiting.id WHERE w.id NOT IN (SELECT id FROM away_webhooks)) ",
            $rest
        )
    };
}

/// Takes deliveries that are due, so that nobody else attempts them for a minute. The webhooks take turns; of each, the
/// first ones come first.
#[must_use]
pub fn claim(now: u64, lease: &str, most: usize) -> Statement {
    statement(
        concat!(
            "UPDATE deliveries SET lease = ?4, lease_until = ?2 WHERE (webhook_id, event_id) IN (",
            with_room!(
                "SELECT webhook_id, event_id FROM (SELECT d.webhook_id, d.event_id, d.due_at, r.most, r.taken + row_number() OVER (PARTITION BY d.webhook_id ORDER BY d.due_at, d.event_id) AS nth FROM room r CROSS JOIN deliveries d ON d.webhook_id = r.id AND d.event_id IN (SELECT event_id FROM deliveries INDEXED BY deliveries_by_webhook WHERE webhook_id = r.id AND due_at <= ?1 ORDER BY due_at, event_id LIMIT ?3) WHERE r.taken < r.most) WHERE nth <= most ORDER BY nth, due_at LIMIT ?3"
            ),
            ")"
        ),
        vec![
            Param::integer(now),
            Param::integer(now.saturating_add(LEASE_MS)),
            Param::integer(most as u64),
            Param::text(lease),
        ],
    )
}

/// Selects a row when [`claim`] would take more deliveries of receivers that do not fail.
#[must_use]
pub fn is_more_due(now: u64, most: usize) -> Statement {
    statement(
        with_room!(
            "SELECT 1 AS due FROM room r WHERE r.most > 1 AND r.taken < r.most AND EXISTS (SELECT 1 FROM deliveries d INDEXED BY deliveries_by_webhook WHERE d.webhook_id = r.id AND d.due_at <= ?1) LIMIT 1"
        ),
        vec![
            Param::integer(now),
            Param::integer(now.saturating_add(LEASE_MS)),
            Param::integer(most as u64),
        ],
    )
}

/// Selects what [`claim`] took.
#[must_use]
pub fn select_claimed(now: u64, lease: &str) -> Statement {
    statement(
        "SELECT d.webhook_id, d.attempts, w.account, w.environment, w.url, w.sealed, w.failing_since, d.event_id FROM deliveries d INDEXED BY deliveries_by_due CROSS JOIN webhooks w ON w.id = d.webhook_id WHERE d.due_at = ?1 AND d.lease = ?2 ORDER BY d.webhook_id, d.event_id",
        vec![Param::integer(now.saturating_add(LEASE_MS)), Param::text(lease)],
    )
}

/// Selects the events of what [`claim`] took, in the order of [`select_claimed`].
#[must_use]
pub fn select_events(now: u64, lease: &str) -> Statement {
    let columns = columns();
    let sql = format!(
        "SELECT {columns} FROM deliveries d INDEXED BY deliveries_by_due CROSS JOIN events e ON e.id = d.event_id WHERE d.due_at = ?1 AND d.lease = ?2 ORDER BY d.webhook_id, d.event_id"
    );
    let until = now.saturating_add(LEASE_MS);
    Statement { sql: sql.into(), params: vec![Param::integer(until), Param::text(lease)] }
}

/// A delivery that was taken.
#[derive(Debug, Clone, Copy)]
pub struct Claimed<'a> {
    /// The webhook.
    pub webhook: &'a str,
    /// The event.
    pub event: EventId,
    /// Who has taken it.
    pub lease: &'a str,
}

impl Claimed<'_> {
    /// Writes what an attempt made of it, if it is still the same lease.
    #[must_use]
    pub fn attempted(
        &self,
        answer: Answer,
        attempts: u64,
        now: u64,
        duration_ms: u64,
    ) -> Statement {
        let (state, next) = match answer.next(attempts, now) {
            Next::Delivered => (DeliveryState::Delivered, None),
            Next::At(at) => (DeliveryState::Pending, Some(at)),
            Next::Failed => (DeliveryState::Failed, None),
        };
        statement(
            "UPDATE deliveries SET state = ?4, attempts = ?5, next_attempt_at = ?6, attempted_at = ?7, status = ?8, error = ?9, duration_ms = ?10, lease = NULL, lease_until = NULL WHERE webhook_id = ?1 AND event_id = ?2 AND lease = ?3",
            vec![
                Param::text(self.webhook),
                Param::integer(self.event.0),
                Param::text(self.lease),
                Param::text(state.as_str()),
                Param::integer(attempts),
                Param::optional_integer(next),
                Param::integer(now),
                Param::optional_integer(answer.status().map(u64::from)),
                Param::optional_text(answer.error()),
                Param::integer(duration_ms),
            ],
        )
    }

    /// Gives it back, to be attempted at another time: nothing was attempted.
    #[must_use]
    pub fn put_off(&self, until: u64) -> Statement {
        statement(
            "UPDATE deliveries SET next_attempt_at = ?4, lease = NULL, lease_until = NULL WHERE webhook_id = ?1 AND event_id = ?2 AND lease = ?3",
            vec![
                Param::text(self.webhook),
                Param::integer(self.event.0),
                Param::text(self.lease),
                Param::integer(until),
            ],
        )
    }
}

/// Remembers that the webhook's receiver has accepted an event.
#[must_use]
pub fn works(webhook: &str) -> Statement {
    statement(
        "UPDATE webhooks SET failing_since = NULL WHERE id = ?1 AND failing_since IS NOT NULL",
        vec![Param::text(webhook)],
    )
}

/// Remembers since when the webhook has failed.
#[must_use]
pub fn fails(webhook: &str, now: u64) -> Statement {
    statement(
        "UPDATE webhooks SET failing_since = ?2 WHERE id = ?1 AND failing_since IS NULL",
        vec![Param::text(webhook), Param::integer(now)],
    )
}

/// Disables a webhook that failed at this address, unless its receiver has accepted something since.
#[must_use]
pub fn disable(webhook: &str, url: &str, why: Disabled, answer: Answer, now: u64) -> Statement {
    let since = match why {
        Disabled::Gone => now,
        Disabled::NoSuccess => now.saturating_sub(super::attempt::PATIENCE_MS),
    };
    statement(
        "UPDATE webhooks SET active = 0, disabled_code = ?3, disabled_status = ?4, updated_at = ?5 WHERE id = ?1 AND url = ?2 AND active = 1 AND failing_since <= ?6",
        vec![
            Param::text(webhook),
            Param::text(url),
            Param::text(why.as_str()),
            Param::optional_integer(answer.status().map(u64::from)),
            Param::integer(now),
            Param::integer(since),
        ],
    )
}
