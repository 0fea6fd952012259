//! What runs without a request: each minute a look at what is due, and the messages of the queue.

use serde::{Deserialize, Serialize};

use super::cost::Metered;
use super::credentials::check::{AT_ONCE, Due, HANDED_MS, check_all};
use super::handle::Service;
use super::problem::Problem;
use crate::events::statements::prune;
use crate::json;
use crate::lifecycle::statements::hand_over;
use crate::ports::{Db, Ports, Queue, Statement, all_rows};

/// How many connections are handed over in one statement.
const PORTION: usize = 1000;
/// How many portions one run hands over at most: 4,000 connections a minute, 5.7 million a day.
const PORTIONS: usize = 4;
/// How many messages are sent at once, which is how many the platform takes of this size.
const MESSAGES: usize = 50;

/// A message of the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Message {
    /// Connections to be checked.
    Check(Vec<Due>),
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
    let first = take(&metered, now, AT_ONCE, Some(prune(oldest))).await?;
    // Without a queue, each minute does what one run can.
    let is_handful = first.len() < AT_ONCE || !ports.enqueue(messages(&first)).await?;
    if is_handful {
        let faults = check_all(config, cache, &metered, &first).await?;
        service.upkeep(ports).await?;
        return Ok(faults);
    }
    for _ in 0..PORTIONS {
        let due = take(&metered, now, PORTION, None).await?;
        let messages = messages(&due);
        for some in messages.chunks(MESSAGES) {
            ports.enqueue(some.to_vec()).await?;
        }
        if due.len() < PORTION {
            break;
        }
    }
    service.upkeep(ports).await?;
    Ok(Vec::new())
}

/// Takes what is due.
async fn take<P: Ports>(
    ports: &Metered<'_, P>,
    now: u64,
    most: usize,
    more: Option<Statement>,
) -> Result<Vec<Due>, Problem> {
    let until = now.saturating_add(HANDED_MS);
    let batch = [hand_over(now, until, most)].into_iter().chain(more).collect();
    let sets = ports.batch(batch).await?;
    Ok(all_rows(&sets, 0)?)
}

fn messages(due: &[Due]) -> Vec<String> {
    due.chunks(AT_ONCE).map(|some| json::text(&Message::Check(some.to_vec()))).collect()
}

/// Does what a message of the queue says. Returns what went wrong, for the log.
///
/// # Errors
/// When the message is not one of this service's, or storage can't answer.
pub async fn consume<P: Ports>(
    service: &Service,
    ports: &P,
    message: &str,
) -> Result<Vec<String>, Problem> {
    let (config, cache) = (service.config(), service.catalog());
    let message = serde_json::from_str(message)
        .map_err(|error| Problem::unavailable(format!("a message that can't be read: {error}")))?;
    match message {
        Message::Check(due) => check_all(config, cache, &Metered::new(ports), &due).await,
    }
}
