//! The endpoint of the audit log.

use serde_json::{Value, json};

use super::endpoint_doc::{EndpointDoc, SERVICE};
use super::json::Members as _;
use super::schema::{count, names, record, reference, string, text_or_null, time};
use super::string_schemas::described;
use crate::http::paging::MAX_LIMIT;
use crate::terms::{ActorType, AuditAction};

pub const LIST: EndpointDoc = EndpointDoc {
    tag: SERVICE,
    summary: "List the audit",
    description: "Lists who changed API keys, OAuth clients, webhooks, the sign-ins, grants, console sessions and connections, and who read credentials, newest first. An entry is written in the same transaction as the change. Entries contain no secrets and no values, and are deleted after 90 days by default; the operator can change this.",
    response: "A page of the list.",
    schema: Some("AuditEntryPage"),
    body: None,
    address: "/v1/audit?actions=credentials.read",
    script: "\
const { rows } = await vault.audit.page({ actions: [\"credentials.read\"], limit: 5 });
for (const { at, actor, target, count } of rows) console.log(at, actor.id, target.id, count);
",
};

pub fn page() -> Value {
    let rows = json!({"type": "array", "maxItems": MAX_LIMIT, "items": reference("AuditEntry")});
    record(
        "A page of the audit.",
        vec![
            ("rows", described("The entries of this page, newest first.", rows)),
            ("next", text_or_null("The cursor for `before`; `null` on the last page.")),
        ],
    )
}

pub fn entry() -> Value {
    let actor = record(
        "Who did it.",
        vec![
            (
                "type",
                names(
                    "`key`: the holder of an API key. `token`: the holder of a session token. `person`: a user with a browser, on a page of the service, or in the console after a sign-in. `grant`: an agent. `operator`: the operator's command line. `service`: the service itself, in reaction to a platform or a webhook receiver.",
                    ActorType::NAMES,
                ),
            ),
            (
                "id",
                text_or_null(
                    "The id of the API key, the identity of the token or the person, or the id of the agent's grant; `null` for `operator` and `service`.",
                ),
            ),
            (
                "keyId",
                text_or_null(
                    "The id of the API key behind the actor; `null` for `operator` and `service`.",
                ),
            ),
        ],
    );
    let targets = [
        "agent_grant",
        "agent_sign_in",
        "branding",
        "connection",
        "console_session",
        "console_sign_in",
        "key",
        "oauth_client",
        "webhook",
    ];
    let target = record(
        "The object that was changed, or whose credentials were read.",
        vec![
            ("type", names("What it is.", targets)),
            (
                "id",
                string(
                    "Its id. For an OAuth client, the platform, followed by a slash and the client's name unless that is `default`. For the branding, `branding`.",
                ),
            ),
        ],
    );
    record(
        "A change, or a read of credentials.",
        vec![
            (
                "id",
                string("Identifies the entry. Later entries have greater ids.")
                    .with(json!({"pattern": ID})),
            ),
            (
                "at",
                time(
                    "When it happened; for reads that were counted together, the time of the first one.",
                ),
            ),
            ("action", names("What was done.", AuditAction::NAMES)),
            ("actor", actor),
            ("target", target),
            (
                "requestId",
                text_or_null(
                    "The `x-request-id` of the request, of the last one if there were several; `null` for `operator` and `service`.",
                ),
            ),
            (
                "count",
                count(
                    "The count: reads of one connection's credentials with one API key in one minute are counted together. 1 for everything else.",
                ),
            ),
        ],
    )
}

/// The pattern of the id of an audit entry.
pub const ID: &str = "^aud_[0-9a-f]{25}$";

/// The schemas of the audit log, by name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![("AuditEntryPage", page()), ("AuditEntry", entry())]
}
