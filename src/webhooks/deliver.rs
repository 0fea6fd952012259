//! Delivers events to webhooks.
//!
//! A request that writes an event starts the delivery after its response. If the isolate dies or
//! the receiver fails, a later scheduled run delivers the event. Each run claims deliveries for a
//! minute, sends them, and stores the outcomes. If an outcome can't be stored, the event is sent
//! again.

use std::cell::RefCell;
use std::pin::pin;

use serde::Deserialize;

use crate::credentials::check::join_all;
use crate::events::{Event, EventId};
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::oauth::response::times::retry_after;
use crate::ports::{
    Clock, Db, Http, HttpError, Payload, Ports, Random, Statement, StorageError, StreamingRequest,
    all_rows, first_row, user_agent, with_timeout,
};
use crate::storage::metering::Metered;
use crate::targets::Targets;
use crate::terms::Environment;
use crate::webhooks::attempt::{AttemptOutcome, DeliveryError, TIMEOUT_MS};
use crate::webhooks::secret::{Secrets, seal_context};
use crate::webhooks::statements::deliveries::{
    ClaimedDelivery, claim, disable, mark_failing, mark_working, select_claimed, select_events,
    select_if_more_due,
};

/// The number of deliveries that a run attempts concurrently. Including its batches, a run needs at
/// most 12 of the 50 subrequests of Cloudflare's free plan.
pub const BATCH_SIZE: usize = 8;
/// The pauses after which a run stores the outcomes so far, in milliseconds. The number of claims
/// per webhook is limited, so the release of completed claims must not wait for a slow receiver.
const STORE_AFTER_MS: [u32; 2] = [1_000, 3_000];
/// The delay before retrying a delivery that this service could not sign, in milliseconds.
const UNSIGNED_RETRY_MS: u64 = 60 * 60 * 1000;

/// A claimed delivery, as selected by [`select_claimed`].
#[derive(Deserialize)]
struct Row {
    webhook_id: String,
    attempts: u64,
    account: String,
    environment: Environment,
    url: String,
    sealed: String,
    failing_since: Option<u64>,
    event_id: EventId,
}

/// A row that [`select_if_more_due`] selects.
#[derive(Deserialize)]
struct MoreDueRow {}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct DeliveryRun {
    /// Whether a failed delivery is due again within seconds.
    pub retries_soon: bool,
    /// Errors of this service for the log.
    pub faults: Vec<String>,
}

/// The outcomes that a run has not stored yet.
#[derive(Default)]
struct UnstoredOutcomes<'r> {
    /// Each with the duration of the attempt in milliseconds.
    attempts: Vec<(&'r Row, AttemptOutcome, u64)>,
    /// Deliveries that could not be attempted, with the cause.
    faults: Vec<(&'r Row, String)>,
}

/// Attempts due deliveries concurrently. Calls `start_run` if more deliveries are due for webhooks
/// that are not failing.
pub async fn deliver<P: Ports>(
    service: &Service,
    ports: &P,
    start_run: impl AsyncFn() -> Result<(), StorageError>,
) -> Result<DeliveryRun, Problem> {
    let (config, ports) = (service.config(), &Metered::new(ports));
    let (now, lease) = (ports.now(), &ports.uuid());
    let select = [select_claimed(now, lease), select_events(now, lease)];
    let batch = [claim(now, lease, BATCH_SIZE)].into_iter().chain(select).collect();
    let sets = ports.batch(batch).await?;
    let (rows, events): (Vec<Row>, Vec<Event>) = (all_rows(&sets, 1)?, all_rows(&sets, 2)?);
    let unstored = RefCell::new(UnstoredOutcomes::default());
    let attempts = rows.iter().zip(&events).map(|(row, event)| {
        let unstored = &unstored;
        Box::pin(async move {
            let seal_context = seal_context(&row.account, row.environment, &row.webhook_id);
            let secrets = Secrets::open(&config.vault_keys, &seal_context, &row.sealed);
            let (secrets, body) = match (secrets, event.to_json(config.account_names)) {
                (Ok(secrets), Ok(body)) => (secrets, body),
                (Err(error), _) => {
                    return unstored.borrow_mut().faults.push((row, error.to_string()));
                }
                (_, Err(error)) => {
                    return unstored.borrow_mut().faults.push((row, error.to_string()));
                }
            };
            let id = event.id.to_string();
            let message = Message { id: &id, body: &body, url: &row.url, secrets: &secrets };
            let started_at = ports.now();
            let outcome = send(ports, config.targets(), &message).await;
            let duration_ms = ports.now().saturating_sub(started_at);
            unstored.borrow_mut().attempts.push((row, outcome, duration_ms));
        })
    });
    let mut attempts = pin!(join_all(attempts.collect()));
    let mut run = DeliveryRun::default();
    for pause in STORE_AFTER_MS {
        let has_ended = with_timeout(ports, pause, attempts.as_mut()).await.is_some();
        run.store(unstored.take(), lease, ports, &start_run).await?;
        if has_ended {
            return Ok(run);
        }
    }
    attempts.await;
    run.store(unstored.take(), lease, ports, &start_run).await?;
    Ok(run)
}

impl DeliveryRun {
    /// Stores outcomes. Starts another run if more deliveries are due.
    async fn store<P: Ports>(
        &mut self,
        UnstoredOutcomes { attempts, faults }: UnstoredOutcomes<'_>,
        lease: &str,
        ports: &Metered<'_, P>,
        start_run: &impl AsyncFn() -> Result<(), StorageError>,
    ) -> Result<(), Problem> {
        let (now, mut statements) = (ports.now(), Vec::new());
        for (row, fault) in faults {
            statements.push(row.claimed(lease).reschedule(now.saturating_add(UNSIGNED_RETRY_MS)));
            let (webhook, event) = (&row.webhook_id, row.event_id);
            self.faults.push(format!("delivery of {event} to {webhook}: {fault}"));
        }
        for (row, outcome, duration_ms) in attempts {
            let attempts = row.attempts.saturating_add(1);
            statements.push(row.claimed(lease).record_attempt(outcome, attempts, now, duration_ms));
            row.update_health(outcome, now, &mut statements);
            self.retries_soon |= attempts == 1 && !outcome.is_success();
        }
        if statements.is_empty() {
            return Ok(());
        }
        let last = statements.len();
        statements.push(select_if_more_due(now, BATCH_SIZE));
        let sets = ports.batch(statements).await?;
        if first_row::<MoreDueRow>(&sets, last)?.is_some() {
            start_run().await?;
        }
        Ok(())
    }
}

impl Row {
    fn claimed<'a>(&'a self, lease: &'a str) -> ClaimedDelivery<'a> {
        ClaimedDelivery { webhook: &self.webhook_id, event: self.event_id, lease }
    }

    /// Updates the webhook's health after an attempt.
    fn update_health(&self, outcome: AttemptOutcome, now: u64, statements: &mut Vec<Statement>) {
        if outcome.is_success() {
            if self.failing_since.is_some() {
                statements.push(mark_working(&self.webhook_id));
            }
            return;
        }
        if self.failing_since.is_none() {
            statements.push(mark_failing(&self.webhook_id, now));
        }
        if let Some(why) = outcome.disables(self.failing_since, now) {
            statements.push(disable(&self.webhook_id, &self.url, why, outcome, now));
        }
    }
}

/// A message to the receiver of a webhook.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    /// The message id, which is the same in each attempt.
    pub id: &'a str,
    /// The same in each attempt.
    pub body: &'a [u8],
    pub url: &'a str,
    /// The secrets that sign the message.
    pub secrets: &'a Secrets,
}

/// Sends a message once. Does not follow redirects, nor read the body of the response.
pub async fn send<P: Ports>(
    ports: &Metered<'_, P>,
    targets: Targets,
    message: &Message<'_>,
) -> AttemptOutcome {
    if targets.check(message.url).is_err() {
        return AttemptOutcome::Failed(DeliveryError::AddressRefused);
    }
    let now = ports.now();
    let seconds = now.checked_div(1000).unwrap_or_default();
    let signature = message.secrets.sign(message.id, seconds, message.body, now);
    let header = |name: &str, value: String| (name.to_owned(), value);
    let headers = [
        user_agent(),
        header("content-type", "application/json".to_owned()),
        header("webhook-id", message.id.to_owned()),
        header("webhook-timestamp", seconds.to_string()),
        header("webhook-signature", signature),
    ];
    let payload = Payload::Bytes(message.body);
    let request = StreamingRequest { method: "POST", url: message.url, headers: &headers, payload };
    match ports.open(request, TIMEOUT_MS).await {
        Ok(response) => {
            let requested = retry_after(response.header("retry-after"), ports.now());
            AttemptOutcome::Status(response.status, requested)
        }
        Err(HttpError::TimedOut) => AttemptOutcome::Failed(DeliveryError::TimedOut),
        Err(_) => AttemptOutcome::Failed(DeliveryError::Unreachable),
    }
}
