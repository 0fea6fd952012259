//! What runs without a request: each minute a look at what is due, and the messages of the queue.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::agents::approval;
use crate::audit;
use crate::credentials::check::{AT_ONCE, Due, HANDED_MS, check_all};
use crate::credentials::lifecycle::statements::hand_over;
use crate::credentials::reports::{self, Readiness, Report, readiness};
use crate::events::statements::prune;
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::ports::{Clock, Db, Ports, Queue, StorageError, all_rows, first_row, within};
use crate::storage::metering::{Metered, STORAGE_MS};
use crate::util::json;
use crate::webhooks::attempt::PAUSES_MS;
use crate::webhooks::deliver::{self, deliver};
use crate::webhooks::statements::count_due;

/// How many connections are handed over in one statement.
const PORTION: usize = 1000;
/// How many portions one run hands over at most: 4,000 connections a minute, 5.7 million a day.
const PORTIONS: usize = 4;
/// How many messages are sent at once, which is how many the platform takes of this size.
const MESSAGES: usize = 50;
/// The pause before the second attempt of a delivery.
const FIRST_PAUSE: Duration = Duration::from_millis(PAUSES_MS[0]);

/// How many rows there are.
#[derive(Deserialize)]
struct Count {
    total: usize,
}

/// A message of the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Message {
    /// Connections to be checked.
    Check(Vec<Due>),
    /// Deliveries are due: as many as one run attempts are to be attempted.
    Deliver(),
}

/// Does what is due: a handful at once, more through the queue. Run each minute. Returns what went wrong, for the log;
/// nothing is lost by that, because what was not done stays due.
///
/// # Errors
/// When storage can't answer.
pub async fn run<P: Ports + Queue>(service: &Service, ports: &P) -> Result<Vec<String>, Problem> {
    let (config, cache) = (service.config(), service.catalog());
    let metered = Metered::new(ports);
    let now = ports.now();
    let oldest = now.saturating_sub(config.event_ms);
    let keys = &config.vault_keys;
    let mut batch = vec![hand_over(now, now.saturating_add(HANDED_MS), AT_ONCE), prune(oldest)];
    batch.extend(reports::report(keys, now));
    batch.push(reports::reports(0));
    batch.push(audit::statements::prune(now.saturating_sub(config.audit_ms)));
    batch.push(approval::prune(now));
    let sets = metered.batch(batch).await?;
    let first = all_rows(&sets, 0)?;
    let reported: Vec<Report> = all_rows(&sets, 4)?;
    // Without a queue, each minute does what one run can.
    let is_handful =
        first.len() < AT_ONCE || !enqueue(ports, messages(&first), Duration::ZERO).await?;
    let mut faults = Vec::new();
    // A revocation takes as many subrequests as a check; together they leave room for deliveries below the 50 of
    // Cloudflare's free plan.
    let checked = if is_handful { first.len() } else { 0 };
    let revoked = AT_ONCE.saturating_add(1).saturating_sub(checked);
    if is_handful {
        faults = check_all(config, cache, &metered, &first).await?;
    } else {
        hand_out(&metered, ports, now).await?;
    }
    let first_key = keys.reported().into_iter().next().unwrap_or_default();
    let may_reseal = readiness(&reported, &first_key) == Readiness::Ready;
    service.upkeep(ports, may_reseal, revoked).await?;
    // Last, since all of this may write events.
    faults.append(&mut sweep(service, ports).await?);
    let room = service.room();
    room.remember(ports.number(), metered.size());
    faults.extend(room.warning(ports.number(), now));
    Ok(faults)
}

/// Hands what is due to the queue.
async fn hand_out<P: Ports + Queue>(
    metered: &Metered<'_, P>,
    ports: &P,
    now: u64,
) -> Result<(), Problem> {
    for _ in 0..PORTIONS {
        let until = now.saturating_add(HANDED_MS);
        let sets = metered.batch(vec![hand_over(now, until, PORTION)]).await?;
        let due: Vec<Due> = all_rows(&sets, 0)?;
        let messages = messages(&due);
        for some in messages.chunks(MESSAGES) {
            enqueue(ports, some.to_vec(), Duration::ZERO).await?;
        }
        if due.len() < PORTION {
            break;
        }
    }
    Ok(())
}

/// Attempts the deliveries that are due: a handful at once, more through the queue.
async fn sweep<P: Ports + Queue>(service: &Service, ports: &P) -> Result<Vec<String>, Problem> {
    let most = MESSAGES.saturating_mul(deliver::AT_ONCE);
    let sets = Metered::new(ports).batch(vec![count_due(ports.now(), most as u64)]).await?;
    let due = first_row::<Count>(&sets, 0)?.map_or(0, |count| count.total);
    // This run does the first handful.
    let others = due.div_ceil(deliver::AT_ONCE).saturating_sub(1);
    if others > 0 {
        let message = json::text(&Message::Deliver());
        enqueue(ports, vec![message; others], Duration::ZERO).await?;
    }
    if due > 0 { deliver_due(service, ports).await } else { Ok(Vec::new()) }
}

/// Attempts a handful of deliveries that are due, and has the queue see to what is due next. Returns what went wrong, for
/// the log.
///
/// # Errors
/// When storage can't answer. What was attempted by then is attempted again.
pub async fn deliver_due<P: Ports + Queue>(
    service: &Service,
    ports: &P,
) -> Result<Vec<String>, Problem> {
    let done = deliver(service, ports).await?;
    let message = || vec![json::text(&Message::Deliver())];
    // The queue only hastens: the next run of the schedule finds what it does not do.
    if done.is_more_due {
        enqueue(ports, message(), Duration::ZERO).await?;
    }
    if done.retries_soon {
        enqueue(ports, message(), FIRST_PAUSE).await?;
    }
    Ok(done.faults)
}

/// Sends messages to the queue. Returns `false` when there is none.
async fn enqueue<P: Clock + Queue>(
    ports: &P,
    messages: Vec<String>,
    delay: Duration,
) -> Result<bool, StorageError> {
    let sent = within(ports, STORAGE_MS, ports.enqueue(messages, delay)).await;
    sent.unwrap_or_else(|| Err(StorageError::new("queue: no answer in time")))
}

fn messages(due: &[Due]) -> Vec<String> {
    due.chunks(AT_ONCE).map(|some| json::text(&Message::Check(some.to_vec()))).collect()
}

/// Does what a message of the queue says. Returns what went wrong, for the log.
///
/// # Errors
/// When the message is not one of this service's, or storage can't answer.
pub async fn consume<P: Ports + Queue>(
    service: &Service,
    ports: &P,
    message: &str,
) -> Result<Vec<String>, Problem> {
    let (config, cache) = (service.config(), service.catalog());
    let message = serde_json::from_str(message)
        .map_err(|error| Problem::unavailable(format!("a message that can't be read: {error}")))?;
    let due = match message {
        Message::Check(due) => due,
        Message::Deliver() => return deliver_due(service, ports).await,
    };
    let metered = Metered::new(ports);
    let mut faults = check_all(config, cache, &metered, &due).await?;
    if metered.has_deliveries() {
        faults.append(&mut deliver_due(service, ports).await?);
    }
    Ok(faults)
}
