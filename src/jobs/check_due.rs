//! The job that refreshes credentials and checks the health of connections.

use std::time::Duration;

use super::queue::{MAX_MESSAGES_PER_SEND, Message, enqueue};
use crate::credentials::check::{BATCH_SIZE, CLAIM_MS, DueConnection, check_all};
use crate::credentials::lifecycle::statements::claim_due;
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::ports::{Clock, Db, Ports, Queue, all_rows};
use crate::storage::metering::Metered;
use crate::util::json;

/// The number of connections that one statement claims.
const CLAIMED_PER_STATEMENT: usize = 1000;
/// The maximum number of claiming statements per run: 4,000 connections a minute, 5.7 million a
/// day.
const MAX_STATEMENTS_PER_RUN: usize = 4;

/// What a run of the job has done.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// The number of connections that this run checked itself, rather than through the queue.
    pub checked: usize,
    /// Errors for the log.
    pub faults: Vec<String>,
}

/// Checks the claimed connections. If more are due than a run can check, enqueues all of them
/// instead. Without a queue, checks only the claimed ones.
pub(super) async fn check_due<P: Ports + Queue>(
    service: &Service,
    ports: &Metered<'_, P>,
    claimed: Vec<DueConnection>,
) -> Result<Checks, Problem> {
    let is_last = claimed.len() < BATCH_SIZE;
    if is_last || !enqueue(ports.inner(), messages(&claimed), Duration::ZERO).await? {
        let faults = check_all(service.config(), service.catalog(), ports, &claimed).await?;
        return Ok(Checks { checked: claimed.len(), faults });
    }
    enqueue_due_checks(ports).await?;
    Ok(Checks::default())
}

async fn enqueue_due_checks<P: Ports + Queue>(ports: &Metered<'_, P>) -> Result<(), Problem> {
    let now = ports.now();
    for _ in 0..MAX_STATEMENTS_PER_RUN {
        let until = now.saturating_add(CLAIM_MS);
        let sets = ports.batch(vec![claim_due(now, until, CLAIMED_PER_STATEMENT)]).await?;
        let due: Vec<DueConnection> = all_rows(&sets, 0)?;
        for chunk in messages(&due).chunks(MAX_MESSAGES_PER_SEND) {
            enqueue(ports.inner(), chunk.to_vec(), Duration::ZERO).await?;
        }
        if due.len() < CLAIMED_PER_STATEMENT {
            break;
        }
    }
    Ok(())
}

fn messages(due: &[DueConnection]) -> Vec<String> {
    due.chunks(BATCH_SIZE).map(|chunk| json::text(&Message::Check(chunk.to_vec()))).collect()
}
