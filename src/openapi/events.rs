//! The endpoint that lists events.

use serde_json::{Value, json};

use super::credentials::connected_account;
use super::endpoint_doc::{EVENTS, EndpointDoc};
use super::json::object;
use super::schema::{names, number_or_null, record, reference, string, text_or_null, time};
use super::string_schemas::described;
use crate::http::paging::MAX_LIMIT;
use crate::terms::EventType;

pub const LIST: EndpointDoc = EndpointDoc {
    tag: EVENTS,
    summary: "List events",
    description: "Lists the events of the key's account and environment, oldest first unless `order` is `newest`. Every change of a connection writes an event in the same transaction, so the list has each exactly once. Read it page by page: pass `next` as `after`, and store it. If `next` is the value that you passed, you have read everything so far; poll again later with the same value. Events are kept for 30 days by default; the operator can change this. Only API keys can have the scope.",
    response: "A page of the list.",
    schema: Some("EventPage"),
    body: None,
    address: "/v1/events?types=connection.degraded,connection.failed",
    script: "\
for await (const event of vault.events.list({ types: [\"connection.failed\"] })) {
  console.log(event.id, event.type, event.data.connection.id);
}
",
};

pub fn page() -> Value {
    let rows = json!({"type": "array", "maxItems": MAX_LIMIT, "items": reference("Event")});
    record(
        "A page of events.",
        vec![
            ("rows", described("The events of this page, in the requested order.", rows)),
            ("next", string("The cursor for `after`: the id of the last examined event.")),
        ],
    )
}

fn call() -> Value {
    let milliseconds = json!({"type": ["integer"]});
    json!({
        "type": "object",
        "description": "The call, made or only requested; only in events of the types `connection.called`, `call.approved` and `call.declined`. Never has a body, a header or a query.",
        "required": ["method", "keyId", "identity"],
        "properties": object(vec![
            ("method", string("The method of the request to the platform.")),
            ("action", string("The key of the action that was run. Absent for a proxied request.")),
            ("path", string("The path of a proxied request, percent-encoded, at most 500 characters of it. Absent if an action was run.")),
            ("approval", string("The id of the approval. Absent in `connection.called`, the only type that has the next three members.")),
            ("status", number_or_null("The status of the platform's response; null without one.")),
            ("error", text_or_null("The error code of the service's own response, if the platform gave none; `caller_disconnected` if the caller disconnected first.")),
            ("durationMs", described("Milliseconds until the platform's response began.", milliseconds)),
            ("keyId", string("The id of the API key that was used, or with which the token was created.")),
            ("identity", text_or_null("The identity of the token that was used; null for a key.")),
        ]),
    })
}

/// The schema of an object with the required member `name`, and the optional members `reason` and
/// `more`.
fn with_reason(description: &str, name: &str, member: Value, more: Vec<(&str, Value)>) -> Value {
    let reason = record(
        "Why it happened.",
        vec![
            ("code", string("The reason, for programs, as in the status of a connection.")),
            ("detail", text_or_null("The human-readable reason.")),
            ("httpStatus", number_or_null("The status of the platform's response.")),
        ],
    );
    let mut members = vec![(name, member), ("reason", reason)];
    members.extend(more);
    json!({
        "type": "object",
        "description": description,
        "required": [name],
        "properties": object(members),
    })
}

pub fn event() -> Value {
    let client = record(
        "The OAuth client that the platform rejects.",
        vec![
            ("platform", string("The platform.")),
            ("name", string("The name of the client.")),
            ("clientId", string("The client's id at the platform.")),
        ],
    );
    let grant = record(
        "What a platform had granted. In a reason, `refused` means that the platform does not revoke it, and `expired` that it could not be reached for 7 days.",
        vec![
            (
                "id",
                string(
                    "The id of the deleted connection, or of the attempt or request whose tokens no connection holds.",
                ),
            ),
            ("platform", string("The platform.")),
        ],
    );
    let webhook = record(
        "The webhook that the service has disabled.",
        vec![("id", string("The webhook's id."))],
    );
    let data = json!({"oneOf": [
        with_reason("The connection just after the event.", "connection", reference("Connection"), vec![("account", connected_account()), ("call", call())]),
        with_reason("The OAuth client.", "oauthClient", client, Vec::new()),
        with_reason("The grant.", "grant", grant, Vec::new()),
        with_reason("The webhook.", "webhook", webhook, Vec::new()),
    ]});
    record(
        "Something that happened.",
        vec![
            ("id", string("Identifies the event. Later events have greater ids.")),
            ("type", names("What happened.", EventType::NAMES)),
            ("occurredAt", time("When it happened.")),
            ("data", described("The objects that the event is about, and its reason.", data)),
        ],
    )
}

/// The schemas of events, by name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![("EventPage", page()), ("Event", event())]
}
