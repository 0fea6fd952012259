//! Queue messages. Each starts its own run of a job, with its own limits on time and subrequests.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::deliver_webhooks::deliver_due;
use crate::credentials::check::{DueConnection, check_all};
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::ports::{Clock, Ports, Queue, StorageError, with_timeout};
use crate::storage::metering::{Metered, STORAGE_TIMEOUT_MS};

/// The maximum number of messages per call: what Cloudflare Queues accepts for messages of this
/// size.
pub(super) const MAX_MESSAGES_PER_SEND: usize = 50;

/// A queue message. Its JSON format must remain compatible, because a new deployment receives
/// messages of the previous one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Message {
    /// Checks these connections.
    Check(Vec<DueConnection>),
    /// Attempts one batch of due deliveries.
    Deliver(),
}

/// Sends messages to the queue. Returns `false` if no queue is configured.
pub(super) async fn enqueue<P: Clock + Queue>(
    ports: &P,
    messages: Vec<String>,
    delay: Duration,
) -> Result<bool, StorageError> {
    let sent = with_timeout(ports, STORAGE_TIMEOUT_MS, ports.enqueue(messages, delay)).await;
    sent.unwrap_or_else(|| Err(StorageError::new("queue: timed out")))
}

/// Processes a message. Returns errors for the log. Fails if the message is malformed or storage is
/// unavailable.
pub async fn consume<P: Ports + Queue>(
    service: &Service,
    ports: &P,
    message: &str,
) -> Result<Vec<String>, Problem> {
    let message = serde_json::from_str(message)
        .map_err(|error| Problem::unavailable(format!("unreadable message: {error}")))?;
    let due = match message {
        Message::Check(due) => due,
        Message::Deliver() => return deliver_due(service, ports).await,
    };
    let metered = Metered::new(ports);
    let mut faults = check_all(service.config(), service.catalog(), &metered, &due).await?;
    if metered.has_deliveries() {
        faults.append(&mut deliver_due(service, ports).await?);
    }
    Ok(faults)
}
