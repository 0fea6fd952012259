//! The endpoints of webhooks.

use serde_json::{Value, json};

use super::bodies::body;
use super::endpoint_doc::{Body, EVENTS, EndpointDoc};
use super::json::object;
use super::schema::{
    boolean, count, names, number_or_null, record, reference, string, strings, text_or_null, time,
    time_or_null,
};
use super::string_schemas::described;
use crate::http::fields::{NEW_WEBHOOK_FIELDS, REPLAY_FIELDS, WEBHOOK_FIELDS};
use crate::http::paging::MAX_LIMIT;
use crate::terms::DeliveryState;
use crate::webhooks::rules::MAX_WEBHOOKS;

/// Example bodies that create a webhook, each with a name and a description.
pub const CREATE_EXAMPLES: [(&str, &str, &str); 2] = [
    ("minimal", "Required fields only", r#"{"url":"https://app.example.com/webhooks"}"#),
    (
        "whole",
        "All fields",
        r#"{"url":"https://app.example.com/webhooks","description":"Asks users to reconnect",
            "types":["connection.failed","connection.deleted"],"active":true}"#,
    ),
];

/// Example bodies that change a webhook.
pub const UPDATE_EXAMPLES: [(&str, &str, &str); 2] = [
    ("types", "Other types of events", r#"{"types":["connection.failed"]}"#),
    ("active", "Pause", r#"{"active":false}"#),
];

/// Example bodies that replay events.
pub const REPLAY_EXAMPLES: [(&str, &str, &str); 2] = [
    ("from", "From an event on", r#"{"from":"evt_0000000000001"}"#),
    ("one", "One event", r#"{"from":"evt_0000000000002","to":"evt_0000000000002"}"#),
];

pub const LIST: EndpointDoc = EndpointDoc {
    tag: EVENTS,
    summary: "List webhooks",
    description: "Lists the webhooks of the key's account and environment, oldest first. There are at most 20. Secrets are never returned.",
    response: "The webhooks.",
    schema: Some("WebhookPage"),
    body: None,
    address: "/v1/webhooks",
    script: "\
for (const { id, url, active } of await vault.webhooks.list()) console.log(id, url, active);
",
};

pub const CREATE: EndpointDoc = EndpointDoc {
    tag: EVENTS,
    summary: "Create a webhook",
    description: "From now on, the service sends each new event with a `POST` to the URL, signed according to [Standard Webhooks](https://www.standardwebhooks.com): with the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`. The body is the event as in `GET /v1/events`. An event arrives at least once, and possibly out of order: its `id` is in `webhook-id`. Respond with a 2xx within 15 seconds; otherwise, the event is sent again after 5 seconds, 5 and 30 minutes, and 2, 5, 10, 14, 20 and 24 hours, or later if `Retry-After` says so. Redirects are not followed. If the URL returns 410, or nothing was delivered for 5 days, the webhook is disabled, and an event `webhook.disabled` is written. The secret is returned only here.",
    response: "The new webhook, with its secret.",
    schema: Some("WebhookWithSecret"),
    body: Some(Body { schema: "NewWebhook", examples: &CREATE_EXAMPLES, sample: 0 }),
    address: "/v1/webhooks",
    script: "\
const webhook = await vault.webhooks.create({
  url: \"https://app.example.com/webhooks\",
  types: [\"connection.failed\"],
});
console.log(webhook.id, webhook.secret.length);
",
};

pub const GET: EndpointDoc = EndpointDoc {
    tag: EVENTS,
    summary: "Get a webhook",
    description: "Returns a webhook: whether events are sent, since when deliveries have failed, and why the service has disabled it.",
    response: "The webhook.",
    schema: Some("Webhook"),
    body: None,
    address: "/v1/webhooks/$WEBHOOK",
    script: "\
const { url, active, failingSince } = await vault.webhooks.get(process.env.WEBHOOK);
console.log(url, active, failingSince);
",
};

pub const UPDATE: EndpointDoc = EndpointDoc {
    tag: EVENTS,
    summary: "Update a webhook",
    description: "Changes the fields that you send. A new URL also receives pending deliveries. With `\"active\": false`, no more events are sent, and pending deliveries become `failed`. When you enable the webhook again, it receives new events; replay the missed ones.",
    response: "The updated webhook.",
    schema: Some("Webhook"),
    body: Some(Body { schema: "WebhookChanges", examples: &UPDATE_EXAMPLES, sample: 0 }),
    address: "/v1/webhooks/$WEBHOOK",
    script: "\
const webhook = await vault.webhooks.update(process.env.WEBHOOK, { types: [\"connection.failed\"] });
console.log(webhook.types.join());
",
};

pub const DELETE: EndpointDoc = EndpointDoc {
    tag: EVENTS,
    summary: "Delete a webhook",
    description: "Deletes a webhook with its deliveries. Pending deliveries are not sent.",
    response: "The webhook is deleted.",
    schema: None,
    body: None,
    address: "/v1/webhooks/$WEBHOOK",
    script: "\
await vault.webhooks.delete(process.env.WEBHOOK);\n",
};

pub const ROTATE: EndpointDoc = EndpointDoc {
    tag: EVENTS,
    summary: "Rotate the secret of a webhook",
    description: "Gives the webhook a new secret. For 24 hours, deliveries are signed with the new and the previous one, so that you can replace it without losing any. The secret is returned only here.",
    response: "The webhook, with its new secret.",
    schema: Some("WebhookWithSecret"),
    body: None,
    address: "/v1/webhooks/$WEBHOOK/rotate",
    script: "\
const { secret } = await vault.webhooks.rotate(process.env.WEBHOOK);
console.log(secret.length);
",
};

pub const TEST: EndpointDoc = EndpointDoc {
    tag: EVENTS,
    summary: "Test a webhook",
    description: "Sends an event of the type `webhook.test` once, immediately, and returns the receiver's response. The event is not listed and not retried. This also works for an inactive webhook.",
    response: "The receiver's response.",
    schema: Some("WebhookTest"),
    body: None,
    address: "/v1/webhooks/$WEBHOOK/test",
    script: "\
const { delivered, httpStatus, error } = await vault.webhooks.test(process.env.WEBHOOK);
console.log(delivered, httpStatus ?? error);
",
};

pub const REPLAY: EndpointDoc = EndpointDoc {
    tag: EVENTS,
    summary: "Replay events",
    description: "Sends events again, from one event to another or to the latest: those whose types the webhook receives, whether or not they were delivered. Up to 1,000 are queued by one request; if there are more, `next` is the `from` of the following one.",
    response: "The number of events that are sent.",
    schema: Some("Replayed"),
    body: Some(Body { schema: "Replay", examples: &REPLAY_EXAMPLES, sample: 0 }),
    address: "/v1/webhooks/$WEBHOOK/replay",
    script: "\
const { queued, next } = await vault.webhooks.replay(process.env.WEBHOOK, { from: \"evt_0000000000001\" });
console.log(queued, next);
",
};

pub const DELIVERIES: EndpointDoc = EndpointDoc {
    tag: EVENTS,
    summary: "List deliveries",
    description: "Lists the deliveries of a webhook, those of the latest events first. For the next page, pass `next` as `before`. Deliveries are kept as long as their events.",
    response: "A page of the list.",
    schema: Some("DeliveryPage"),
    body: None,
    address: "/v1/webhooks/$WEBHOOK/deliveries?limit=5",
    script: "\
for await (const delivery of vault.webhooks.deliveries(process.env.WEBHOOK)) {
  console.log(delivery.event, delivery.type, delivery.state, delivery.attempts);
}
",
};

fn members() -> Vec<(&'static str, Value)> {
    let code = names(
        "The reason: `gone` for a 410, `no_success` for 5 days without a 2xx.",
        ["gone", "no_success"],
    );
    let disabled = json!({
        "type": ["object", "null"],
        "required": ["code", "httpStatus"],
        "properties": object(vec![
            ("code", code),
            ("httpStatus", number_or_null("The status of the last response.")),
        ]),
    });
    vec![
        ("id", string("Identifies the webhook.")),
        ("url", string("The URL that receives events.")),
        ("description", text_or_null("What it is for.")),
        ("types", strings("The types of events that are sent; all if empty.")),
        ("active", boolean("Whether events are sent.")),
        (
            "failingSince",
            time_or_null(
                "The time since which deliveries have failed; `null` if the last one succeeded.",
            ),
        ),
        ("disabled", described("Why the service has disabled it; `null` if it has not.", disabled)),
        ("createdAt", time("When it was created.")),
        ("updatedAt", time("When it was last changed.")),
    ]
}

pub fn webhook() -> Value {
    record("A webhook: a URL that receives events.", members())
}

pub fn with_secret() -> Value {
    let secret = string("The key that signs deliveries. Returned only once.");
    let members = members().into_iter().chain([("secret", secret)]).collect();
    record("A webhook, with its secret.", members)
}

pub fn list() -> Value {
    let rows = json!({"type": "array", "maxItems": MAX_WEBHOOKS, "items": reference("Webhook")});
    record("The webhooks.", vec![("rows", described("The webhooks, oldest first.", rows))])
}

pub fn new() -> Value {
    let defaults = json!({"types": [], "active": true});
    body("A new webhook.", &NEW_WEBHOOK_FIELDS, &defaults)
}

pub fn changes() -> Value {
    body("An update of a webhook.", &WEBHOOK_FIELDS, &json!({}))
}

pub fn replay() -> Value {
    body("The events to send again.", &REPLAY_FIELDS, &json!({}))
}

pub fn replayed() -> Value {
    record(
        "The number of events that are sent.",
        vec![
            ("queued", count("The number of events that are sent again.")),
            ("next", text_or_null("The `from` of the next request; `null` if there are no more.")),
        ],
    )
}

pub fn test() -> Value {
    record(
        "A receiver's response.",
        vec![
            ("delivered", boolean("Whether the status was a 2xx.")),
            ("httpStatus", number_or_null("The status of its response.")),
            ("error", text_or_null(NO_RESPONSE)),
            ("durationMs", count("The duration in milliseconds.")),
        ],
    )
}

const NO_RESPONSE: &str =
    "Why there was no response: `unreachable`, `timed_out` or `address_refused`.";

pub fn deliveries() -> Value {
    let rows = json!({"type": "array", "maxItems": MAX_LIMIT, "items": reference("Delivery")});
    record(
        "A page of deliveries.",
        vec![
            (
                "rows",
                described("The deliveries of this page, those of the latest events first.", rows),
            ),
            ("next", text_or_null("The cursor for `before`; `null` on the last page.")),
        ],
    )
}

pub fn delivery() -> Value {
    let error =
        format!("{NO_RESPONSE} `webhook_inactive` if the webhook was disabled before it was sent.");
    record(
        "A delivery of an event to a webhook.",
        vec![
            ("event", string("The event's id.")),
            ("type", string("The event's type.")),
            ("occurredAt", time("When it happened.")),
            (
                "state",
                names(
                    "`failed` deliveries are not sent again, unless they are replayed.",
                    DeliveryState::NAMES,
                ),
            ),
            ("attempts", count("The number of times that it was sent.")),
            ("lastAttemptAt", time_or_null("When it was last sent.")),
            ("nextAttemptAt", time_or_null("When it is sent next; `null` if it is over.")),
            ("httpStatus", number_or_null("The status of the last response.")),
            ("error", text_or_null(&error)),
            ("durationMs", number_or_null("The duration of the last attempt in milliseconds.")),
        ],
    )
}

/// The schemas of webhooks, by name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("WebhookPage", list()),
        ("Webhook", webhook()),
        ("WebhookWithSecret", with_secret()),
        ("NewWebhook", new()),
        ("WebhookChanges", changes()),
        ("WebhookTest", test()),
        ("Replay", replay()),
        ("Replayed", replayed()),
        ("DeliveryPage", deliveries()),
        ("Delivery", delivery()),
    ]
}
