//! Sends events that are due to the webhooks that want them.
//!
//! Whoever writes an event has it sent just after the response; what is left unsent, because that isolate died or the
//! receiver failed, is found by the next run of the schedule. A delivery is taken for a minute, sent, and its outcome
//! written: when that does not happen, it is sent again.

use std::cell::RefCell;

use serde::Deserialize;

use crate::credentials::check::all;
use crate::events::{Event, EventId};
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::oauth::response::times::retry_after;
use crate::ports::{
    Clock, Db, Http, HttpError, Payload, Ports, Random, Statement, StreamingRequest, all_rows,
    first_row, user_agent,
};
use crate::storage::metering::Metered;
use crate::targets::Targets;
use crate::terms::Environment;
use crate::webhooks::attempt::{Answer, DEADLINE_MS, Silence};
use crate::webhooks::secret::{Secrets, place};
use crate::webhooks::statements::{
    Claimed, claim, disable, fails, is_more_due, select_claimed, select_events, works,
};

/// How many deliveries one run attempts, all at the same time: with its two batches it needs ten of the 50 subrequests that
/// Cloudflare's free plan allows.
pub const BATCH_SIZE: usize = 8;
/// When a delivery is tried again that this service itself could not sign, in milliseconds.
const LATER_MS: u64 = 60 * 60 * 1000;

/// A delivery that was taken: a row of [`select_claimed`].
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

/// A row of [`is_more_due`].
#[derive(Deserialize)]
struct IsDue {}

/// What a run has done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Whether more deliveries are due at receivers that do not fail.
    pub is_more_due: bool,
    /// Whether one of them is due again within seconds.
    pub retries_soon: bool,
    /// What went wrong in this service, for the log.
    pub faults: Vec<String>,
}

/// Attempts what is due, a handful at once.
///
/// # Errors
/// When storage can't answer. What was attempted by then is attempted again.
pub async fn deliver<P: Ports>(service: &Service, ports: &P) -> Result<Delivered, Problem> {
    let (config, ports) = (service.config(), &Metered::new(ports));
    let (now, lease) = (ports.now(), &ports.uuid());
    let select = [select_claimed(now, lease), select_events(now, lease)];
    let batch = [claim(now, lease, BATCH_SIZE)].into_iter().chain(select).collect();
    let sets = ports.batch(batch).await?;
    let (rows, events): (Vec<Row>, Vec<Event>) = (all_rows(&sets, 1)?, all_rows(&sets, 2)?);
    let (faults, outcomes) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let attempts = rows.iter().zip(&events).map(|(row, event)| {
        let (faults, outcomes) = (&faults, &outcomes);
        Box::pin(async move {
            let place = place(&row.account, row.environment, &row.webhook_id);
            let secrets = Secrets::open(&config.vault_keys, &place, &row.sealed);
            let (secrets, body) = match (secrets, event.to_json(config.account_names)) {
                (Ok(secrets), Ok(body)) => (secrets, body),
                (Err(error), _) => return faults.borrow_mut().push((row, error.to_string())),
                (_, Err(error)) => return faults.borrow_mut().push((row, error.to_string())),
            };
            let id = event.id.to_string();
            let message = Message { id: &id, body: &body, url: &row.url, secrets: &secrets };
            let begin = ports.now();
            let answer = send(ports, config.targets(), &message).await;
            outcomes.borrow_mut().push((row, answer, ports.now().saturating_sub(begin)));
        })
    });
    all(attempts.collect()).await;
    let mut done = Delivered::default();
    let (now, mut statements) = (ports.now(), Vec::new());
    for (row, fault) in faults.into_inner() {
        statements.push(row.claimed(lease).put_off(now.saturating_add(LATER_MS)));
        let (webhook, event) = (&row.webhook_id, row.event_id);
        done.faults.push(format!("delivery of {event} to {webhook}: {fault}"));
    }
    for (row, answer, duration_ms) in outcomes.into_inner() {
        let attempts = row.attempts.saturating_add(1);
        statements.push(row.claimed(lease).attempted(answer, attempts, now, duration_ms));
        row.judge(answer, now, &mut statements);
        done.retries_soon |= attempts == 1 && !answer.is_success();
    }
    if !statements.is_empty() {
        let last = statements.len();
        statements.push(is_more_due(now, BATCH_SIZE));
        let sets = ports.batch(statements).await?;
        done.is_more_due = first_row::<IsDue>(&sets, last)?.is_some();
    }
    Ok(done)
}

impl Row {
    fn claimed<'a>(&'a self, lease: &'a str) -> Claimed<'a> {
        Claimed { webhook: &self.webhook_id, event: self.event_id, lease }
    }

    /// Adds what an answer means for the webhook.
    fn judge(&self, answer: Answer, now: u64, statements: &mut Vec<Statement>) {
        if answer.is_success() {
            if self.failing_since.is_some() {
                statements.push(works(&self.webhook_id));
            }
            return;
        }
        if self.failing_since.is_none() {
            statements.push(fails(&self.webhook_id, now));
        }
        if let Some(why) = answer.disables(self.failing_since, now) {
            statements.push(disable(&self.webhook_id, &self.url, why, answer, now));
        }
    }
}

/// What is sent.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    /// Its id, the same in each attempt.
    pub id: &'a str,
    /// Its body, the same in each attempt.
    pub body: &'a [u8],
    /// Where it is sent.
    pub url: &'a str,
    /// What signs it.
    pub secrets: &'a Secrets,
}

/// Sends a message once. No redirect is followed, and the body of the answer is not read.
pub async fn send<P: Ports>(
    ports: &Metered<'_, P>,
    targets: Targets,
    message: &Message<'_>,
) -> Answer {
    if targets.check(message.url).is_err() {
        return Answer::None(Silence::AddressRefused);
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
    match ports.open(request, DEADLINE_MS).await {
        Ok(answer) => {
            let asked = retry_after(answer.header("retry-after"), ports.now());
            Answer::Status(answer.status, asked)
        }
        Err(HttpError::TimedOut) => Answer::None(Silence::TimedOut),
        Err(_) => Answer::None(Silence::Unreachable),
    }
}
