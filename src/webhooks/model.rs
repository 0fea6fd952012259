//! The rows of `webhooks` and `deliveries`, and their JSON representations.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::events::EventId;
use crate::terms::{DeliveryState, Environment};
use crate::util::rfc3339::rfc3339;

/// A row of `webhooks`. `Debug` prints only its id, because a URL may contain a secret.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct Webhook {
    pub account: String,
    pub environment: Environment,
    pub id: String,
    pub url: String,
    pub description: Option<String>,
    /// The event types to send, as a JSON array. Empty for all types.
    pub types: String,
    /// 1 if events are sent, otherwise 0.
    pub active: u8,
    /// The encrypted signing secrets.
    pub sealed: String,
    /// The time of the first failed delivery since the last success, in milliseconds since
    /// 1970-01-01 UTC.
    pub failing_since: Option<u64>,
    /// Why the service disabled the webhook.
    pub disabled_code: Option<String>,
    /// The status of the response for which the service disabled the webhook.
    pub disabled_status: Option<u16>,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub updated_at: u64,
    /// The id of the request that last wrote the row.
    pub written_by: String,
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Webhook({})", self.id)
    }
}

/// The JSON representation of a webhook.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WebhookView<'a> {
    id: &'a str,
    url: &'a str,
    description: Option<&'a str>,
    types: &'a RawValue,
    active: bool,
    failing_since: Option<String>,
    disabled: Option<Disabled<'a>>,
    created_at: Option<String>,
    updated_at: Option<String>,
    /// Set only if the secret was just generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Disabled<'a> {
    code: &'a str,
    http_status: Option<u16>,
}

impl Webhook {
    /// Renders the webhook. `secret` is set only if it was just generated.
    pub fn to_json(&self, secret: Option<&str>) -> serde_json::Result<Vec<u8>> {
        let http_status = self.disabled_status;
        serde_json::to_vec(&WebhookView {
            id: &self.id,
            url: &self.url,
            description: self.description.as_deref(),
            types: serde_json::from_str(&self.types)?,
            active: self.active == 1,
            failing_since: self.failing_since.and_then(rfc3339),
            disabled: self.disabled_code.as_deref().map(|code| Disabled { code, http_status }),
            created_at: rfc3339(self.created_at),
            updated_at: rfc3339(self.updated_at),
            secret,
        })
    }
}

/// A row of `deliveries`, joined with its event.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Delivery {
    pub event_id: EventId,
    #[serde(rename = "type")]
    pub kind: String,
    /// When the event occurred, in milliseconds since 1970-01-01 UTC.
    pub occurred_at: u64,
    pub state: DeliveryState,
    pub attempts: u64,
    /// Milliseconds since 1970-01-01 UTC; 0 for immediately, `None` if the delivery has ended.
    pub next_attempt_at: Option<u64>,
    /// The time of the last attempt, in milliseconds since 1970-01-01 UTC.
    pub attempted_at: Option<u64>,
    /// The status of the last response.
    pub status: Option<u16>,
    /// The error of the last attempt, if there was no response.
    pub error: Option<String>,
    /// The duration of the last attempt, in milliseconds.
    pub duration_ms: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DeliveryView<'a> {
    event: EventId,
    #[serde(rename = "type")]
    kind: &'a str,
    occurred_at: Option<String>,
    state: DeliveryState,
    attempts: u64,
    last_attempt_at: Option<String>,
    next_attempt_at: Option<String>,
    http_status: Option<u16>,
    error: Option<&'a str>,
    duration_ms: Option<u64>,
}

impl Delivery {
    /// Renders the delivery for the API.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&DeliveryView {
            event: self.event_id,
            kind: &self.kind,
            occurred_at: rfc3339(self.occurred_at),
            state: self.state,
            attempts: self.attempts,
            last_attempt_at: self.attempted_at.and_then(rfc3339),
            next_attempt_at: self.next_attempt_at.and_then(|at| rfc3339(at.max(self.occurred_at))),
            http_status: self.status,
            error: self.error.as_deref(),
            duration_ms: self.duration_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Webhook;

    #[test]
    fn debug_shows_neither_url_nor_secret() {
        let row = json!({
            "account": "a", "environment": "test", "id": "7", "url": "https://hooks.example/s3cret",
            "description": null, "types": "[]", "active": 1, "sealed": "s3cret", "failing_since": null,
            "disabled_code": null, "disabled_status": null, "created_at": 0, "updated_at": 0, "written_by": "",
        });
        let webhook: Webhook = serde_json::from_value(row).unwrap();
        assert_eq!(format!("{webhook:?}"), "Webhook(7)");
    }
}
