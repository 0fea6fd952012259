//! The SQL that claims due deliveries for a run, and records the outcomes of attempts.

use super::statement;
use crate::events::EventId;
use crate::events::statements::columns;
use crate::ports::{Param, Statement};
use crate::terms::DeliveryState;
use crate::webhooks::attempt::{AttemptOutcome, DisableReason, LEASE_MS, NextState};

/// Selects a row if any delivery is due.
pub fn select_if_due(now: u64) -> Statement {
    statement(
        "SELECT 1 AS due \
         FROM deliveries INDEXED BY deliveries_by_due \
         WHERE due_at <= ?1 AND webhook_id NOT IN (SELECT id FROM away_webhooks) \
         LIMIT 1",
        vec![Param::integer(now)],
    )
}

/// Counts due deliveries, up to `limit`.
pub fn count_due(now: u64, limit: u64) -> Statement {
    statement(
        "SELECT count(*) AS total \
         FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_by_due WHERE due_at <= ?1 \
         AND webhook_id NOT IN (SELECT id FROM away_webhooks) LIMIT ?2)",
        vec![Param::integer(now), Param::integer(limit)],
    )
}

/// The webhooks with pending deliveries. `taken` and `busy` are the numbers of deliveries that are
/// being attempted for the webhook and for its account. `most` is the maximum number for the
/// webhook: one while its receiver fails. `?1` is the current time, `?2` the end of a claim that
/// starts now, `?3` the limit.
macro_rules! with_capacity {
    ($rest:literal) => {
        concat!(
            "WITH RECURSIVE waiting(id) AS (SELECT '' UNION ALL SELECT (SELECT d.webhook_id \
             FROM deliveries d INDEXED BY deliveries_by_webhook WHERE d.webhook_id > waiting.id \
             AND d.due_at IS NOT NULL ORDER BY d.webhook_id LIMIT 1) FROM waiting \
             WHERE waiting.id IS NOT NULL), ",
            "webhook(id, account, environment, taken, most) AS MATERIALIZED (SELECT w.id, w.account, w.environment, \
             (SELECT count(*) FROM deliveries d INDEXED BY deliveries_by_webhook WHERE d.webhook_id = w.id \
             AND d.due_at > ?1 AND d.due_at <= ?2 AND d.lease IS NOT NULL), iif(w.failing_since IS NULL, ?3, 1) \
             FROM waiting CROSS JOIN webhooks w ON w.id = waiting.id \
             WHERE w.id NOT IN (SELECT id FROM away_webhooks)), ",
            "room AS MATERIALIZED (SELECT *, sum(taken) OVER (PARTITION BY account, environment) AS busy FROM webhook) ",
            $rest
        )
    };
}

/// Claims due deliveries for a minute. Alternates between accounts, and between the webhooks of an
/// account, starting with the oldest deliveries, so that slow receivers of one account do not delay
/// those of others.
pub fn claim(now: u64, lease: &str, limit: usize) -> Statement {
    statement(
        concat!(
            "UPDATE deliveries SET lease = ?4, lease_until = ?2 WHERE (webhook_id, event_id) IN (",
            with_capacity!(
                "SELECT webhook_id, event_id \
                 FROM (SELECT webhook_id, event_id, due_at, nth, busy + row_number() OVER \
                 (PARTITION BY account, environment ORDER BY nth, due_at) AS turn \
                 FROM (SELECT d.webhook_id, d.event_id, d.due_at, r.account, r.environment, r.busy, r.most, \
                 r.taken + row_number() OVER (PARTITION BY d.webhook_id ORDER BY d.due_at, d.event_id) AS nth \
                 FROM room r CROSS JOIN deliveries d ON d.webhook_id = r.id AND d.event_id IN (SELECT event_id \
                 FROM deliveries INDEXED BY deliveries_by_webhook WHERE webhook_id = r.id AND due_at <= ?1 \
                 ORDER BY due_at, event_id LIMIT ?3) WHERE r.taken < r.most) \
                 WHERE nth <= most) \
                 ORDER BY turn, nth, due_at \
                 LIMIT ?3"
            ),
            ")"
        ),
        vec![
            Param::integer(now),
            Param::integer(now.saturating_add(LEASE_MS)),
            Param::integer(limit as u64),
            Param::text(lease),
        ],
    )
}

/// Selects a row if [`claim`] would find more deliveries to receivers that are not failing.
pub fn select_if_more_due(now: u64, limit: usize) -> Statement {
    statement(
        with_capacity!(
            "SELECT 1 AS due \
             FROM room r \
             WHERE r.most > 1 AND r.taken < r.most AND EXISTS (SELECT 1 \
             FROM deliveries d INDEXED BY deliveries_by_webhook WHERE d.webhook_id = r.id AND d.due_at <= ?1) \
             LIMIT 1"
        ),
        vec![
            Param::integer(now),
            Param::integer(now.saturating_add(LEASE_MS)),
            Param::integer(limit as u64),
        ],
    )
}

pub fn select_claimed(now: u64, lease: &str) -> Statement {
    statement(
        "SELECT d.webhook_id, d.attempts, w.account, w.environment, w.url, w.sealed, w.failing_since, \
         d.event_id \
         FROM deliveries d INDEXED BY deliveries_by_due \
         CROSS JOIN webhooks w ON w.id = d.webhook_id \
         WHERE d.due_at = ?1 AND d.lease = ?2 \
         ORDER BY d.webhook_id, d.event_id",
        vec![Param::integer(now.saturating_add(LEASE_MS)), Param::text(lease)],
    )
}

/// Selects the events of the claimed deliveries, in the order of [`select_claimed`].
pub fn select_events(now: u64, lease: &str) -> Statement {
    let columns = columns();
    let sql = format!(
        "SELECT {columns} \
         FROM deliveries d INDEXED BY deliveries_by_due \
         CROSS JOIN events e ON e.id = d.event_id \
         WHERE d.due_at = ?1 AND d.lease = ?2 \
         ORDER BY d.webhook_id, d.event_id"
    );
    let until = now.saturating_add(LEASE_MS);
    Statement { sql: sql.into(), params: vec![Param::integer(until), Param::text(lease)] }
}

#[derive(Debug, Clone, Copy)]
pub struct ClaimedDelivery<'a> {
    pub webhook: &'a str,
    pub event: EventId,
    /// The id of the claim.
    pub lease: &'a str,
}

impl ClaimedDelivery<'_> {
    /// Stores the outcome of an attempt, if the claim is still valid.
    pub fn record_attempt(
        &self,
        outcome: AttemptOutcome,
        attempts: u64,
        now: u64,
        duration_ms: u64,
    ) -> Statement {
        let (state, next) = match outcome.next(attempts, now) {
            NextState::Delivered => (DeliveryState::Delivered, None),
            NextState::At(at) => (DeliveryState::Pending, Some(at)),
            NextState::Failed => (DeliveryState::Failed, None),
        };
        statement(
            "UPDATE deliveries \
             SET state = ?4, attempts = ?5, next_attempt_at = ?6, attempted_at = ?7, status = ?8, error = ?9, \
             duration_ms = ?10, lease = NULL, lease_until = NULL \
             WHERE webhook_id = ?1 AND event_id = ?2 AND lease = ?3",
            vec![
                Param::text(self.webhook),
                Param::integer(self.event.0),
                Param::text(self.lease),
                Param::text(state.as_str()),
                Param::integer(attempts),
                Param::optional_integer(next),
                Param::integer(now),
                Param::optional_integer(outcome.status().map(u64::from)),
                Param::optional_text(outcome.error()),
                Param::integer(duration_ms),
            ],
        )
    }

    /// Releases the claim without an attempt, and reschedules the delivery.
    pub fn reschedule(&self, until: u64) -> Statement {
        statement(
            "UPDATE deliveries \
             SET next_attempt_at = ?4, lease = NULL, lease_until = NULL \
             WHERE webhook_id = ?1 AND event_id = ?2 AND lease = ?3",
            vec![
                Param::text(self.webhook),
                Param::integer(self.event.0),
                Param::text(self.lease),
                Param::integer(until),
            ],
        )
    }
}

pub fn mark_working(webhook: &str) -> Statement {
    statement(
        "UPDATE webhooks SET failing_since = NULL WHERE id = ?1 AND failing_since IS NOT NULL",
        vec![Param::text(webhook)],
    )
}

pub fn mark_failing(webhook: &str, now: u64) -> Statement {
    statement(
        "UPDATE webhooks SET failing_since = ?2 WHERE id = ?1 AND failing_since IS NULL",
        vec![Param::text(webhook), Param::integer(now)],
    )
}

/// Disables a webhook that failed at this URL, unless a delivery has succeeded since.
pub fn disable(
    webhook: &str,
    url: &str,
    reason: DisableReason,
    outcome: AttemptOutcome,
    now: u64,
) -> Statement {
    let since = match reason {
        DisableReason::Gone => now,
        DisableReason::NoSuccess => now.saturating_sub(crate::webhooks::attempt::GRACE_PERIOD_MS),
    };
    statement(
        "UPDATE webhooks \
         SET active = 0, disabled_code = ?3, disabled_status = ?4, updated_at = ?5 \
         WHERE id = ?1 AND url = ?2 AND active = 1 AND failing_since <= ?6",
        vec![
            Param::text(webhook),
            Param::text(url),
            Param::text(reason.as_str()),
            Param::optional_integer(outcome.status().map(u64::from)),
            Param::integer(now),
            Param::integer(since),
        ],
    )
}
