//! What the document says about events.

use super::endpoints::{About, EVENTS};
use super::node::{Node, object};
use super::schema::{names, record, reference, string};
use super::texts::said;
use crate::api::paging::MAX_LIMIT;
use crate::terms::EventType;

/// What happened.
pub const LIST: About = About {
    tag: EVENTS,
    summary: "List events",
    description: "Lists what happened in the key's account and environment, oldest first. Every change of a connection writes an event in the same transaction, so the list has each exactly once. Read it page by page: pass `next` as `after`, and store it. If `next` is what you passed, you have read everything so far; ask again later with the same value. Events are kept for 30 days, unless the operator has set something else. Only API keys can have the scope.",
    answer: "A page of the list.",
    schema: Some("EventPage"),
    body: None,
    address: "/v1/events?types=connection.degraded,connection.failed",
    script: "\
for await (const event of vault.events.list({ types: [\"connection.failed\"] })) {
  console.log(event.id, event.type, event.data.connection.id);
}
",
};

/// A page of events.
#[must_use]
pub fn page() -> Node {
    let rows = object! {"type": "array", "maxItems": MAX_LIMIT, "items": reference("Event")};
    record(
        "A page of events.",
        vec![
            ("rows", said("The events of this page, oldest first.", rows)),
            (
                "next",
                string("The cursor for `after`: the id of the last event that was looked at."),
            ),
        ],
    )
}

fn text_or_null(description: &str) -> Node {
    said(description, object! {"type": Node::texts(["string", "null"])})
}

/// An object of which the last member is there only if there is something to be said.
fn with_reason(description: &str, name: &str, member: Node) -> Node {
    let status = object! {"type": Node::texts(["integer", "null"])};
    let reason = record(
        "Why it happened.",
        vec![
            ("code", string("The reason, for programs, as in the status of a connection.")),
            ("detail", text_or_null("The reason, for people.")),
            ("httpStatus", said("The status of the platform's response.", status)),
        ],
    );
    object! {
        "type": "object",
        "description": description,
        "required": Node::texts([name]),
        "properties": Node::members(vec![(name, member), ("reason", reason)]),
    }
}

/// An event.
#[must_use]
pub fn event() -> Node {
    let client = record(
        "The OAuth client that the platform rejects.",
        vec![
            ("platform", string("The platform.")),
            ("clientId", string("The client's id at the platform.")),
        ],
    );
    let webhook = record(
        "The webhook that the service has disabled.",
        vec![("id", string("The webhook's id."))],
    );
    let data = object! {"oneOf": vec![
        with_reason("The connection, as it was just after the event.", "connection", reference("Connection")),
        with_reason("The OAuth client.", "oauthClient", client),
        with_reason("The webhook.", "webhook", webhook),
    ]};
    let time = object! {"type": "string", "format": "date-time"};
    record(
        "Something that happened.",
        vec![
            ("id", string("Identifies the event. Later events have greater ids.")),
            ("type", names("What happened.", EventType::NAMES)),
            ("occurredAt", said("When it happened.", time)),
            ("data", said("What it is about, and why it happened.", data)),
        ],
    )
}
