//! The job that delivers events to webhooks.

use std::time::Duration;

use serde::Deserialize;

use super::queue::{MAX_MESSAGES_PER_SEND, Message, enqueue};
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::ports::{Db, Ports, Queue, first_row};
use crate::storage::metering::Metered;
use crate::util::json;
use crate::webhooks::attempt::BACKOFF_MS;
use crate::webhooks::deliver::{self, deliver};
use crate::webhooks::statements::deliveries::count_due;

/// The delay before the first retry of a delivery.
const FIRST_PAUSE: Duration = Duration::from_millis(BACKOFF_MS[0]);

#[derive(Deserialize)]
struct Count {
    total: usize,
}

/// Attempts all due deliveries: one batch in this run, the others through the queue.
pub(super) async fn deliver_all_due<P: Ports + Queue>(
    service: &Service,
    ports: &P,
) -> Result<Vec<String>, Problem> {
    let max = MAX_MESSAGES_PER_SEND.saturating_mul(deliver::BATCH_SIZE);
    let sets = Metered::new(ports).batch(vec![count_due(ports.now(), max as u64)]).await?;
    let due = first_row::<Count>(&sets, 0)?.map_or(0, |count| count.total);
    let others = due.div_ceil(deliver::BATCH_SIZE).saturating_sub(1);
    if others > 0 {
        let message = json::text(&Message::Deliver());
        enqueue(ports, vec![message; others], Duration::ZERO).await?;
    }
    if due > 0 { deliver_due(service, ports).await } else { Ok(Vec::new()) }
}

/// Attempts one batch of due deliveries, and enqueues the next batch. Returns errors for the log.
/// Fails if storage is unavailable; deliveries that were attempted by then are attempted again.
pub async fn deliver_due<P: Ports + Queue>(
    service: &Service,
    ports: &P,
) -> Result<Vec<String>, Problem> {
    let message = || vec![json::text(&Message::Deliver())];
    // The queue is optional: the run of the next minute attempts all remaining deliveries.
    let start_run = async || enqueue(ports, message(), Duration::ZERO).await.map(drop);
    let done = deliver(service, ports, start_run).await?;
    if done.retries_soon {
        enqueue(ports, message(), FIRST_PAUSE).await?;
    }
    Ok(done.faults)
}
