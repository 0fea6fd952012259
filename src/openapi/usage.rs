//! The endpoint for usage.

use serde_json::{Value, json};

use super::endpoint_doc::{EndpointDoc, SERVICE};
use super::schema::{boolean, count, record, reference, text_or_null};
use super::string_schemas::described;
use crate::terms::EndpointGroup;
use crate::usage::statements::MAX_GROUPS;

pub const GET: EndpointDoc = EndpointDoc {
    tag: SERVICE,
    summary: "Count requests",
    description: "Counts the requests of the key's account and environment per day, by group of endpoints, platform, identity and class of status. The counts arrive within about 20 seconds. They can be slightly too low, never too high: what an instance of the service has not stored when it ends is lost. They are deleted after 90 days by default; the operator can change this.",
    response: "The counts.",
    schema: Some("Usage"),
    body: None,
    address: "/v1/usage?groupBy=day,status",
    script: "\
const { rows } = await vault.usage({ groupBy: [\"platform\"] });
for (const { platform, requests } of rows) console.log(platform, requests);
",
};

fn day(description: &str) -> Value {
    described(description, json!({"type": "string", "format": "date"}))
}

fn name_or_null<const N: usize>(description: &str, names: [&'static str; N]) -> Value {
    let mut all: Vec<Value> = names.into_iter().map(Value::from).collect();
    all.push(Value::Null);
    described(description, json!({"type": ["string", "null"], "enum": all}))
}

pub fn usage() -> Value {
    let rows = json!({"type": "array", "maxItems": MAX_GROUPS + 1, "items": reference("UsageRow")});
    record(
        "The number of requests.",
        vec![
            ("from", day("The first day, UTC.")),
            ("to", day("The last day, UTC.")),
            ("requests", count("The requests of all rows.")),
            (
                "rows",
                described(
                    "A row for each combination of `groupBy` with requests, by day, then the most requests first. If there are more than 1000, the last row is the sum of the others.",
                    rows,
                ),
            ),
        ],
    )
}

pub fn row() -> Value {
    let day = json!({"type": ["string", "null"], "format": "date"});
    record(
        "A number of requests. A member that `groupBy` does not name is `null`.",
        vec![
            ("day", described("The day, UTC.", day)),
            (
                "endpoint",
                name_or_null(
                    "The group of endpoints. `calls`: actions and the proxy. `keys`: also `GET /v1/whoami`.",
                    EndpointGroup::NAMES,
                ),
            ),
            (
                "platform",
                text_or_null(
                    "The platform of the connection that was called or whose credentials were read, or the one in the path; `null` for other requests.",
                ),
            ),
            (
                "identity",
                text_or_null(
                    "The identity of the token or the agent's user; for a key, that of the connection that was called or whose credentials were read; `null` for other requests.",
                ),
            ),
            ("status", name_or_null("The class of the status.", ["2xx", "3xx", "4xx", "5xx"])),
            (
                "other",
                boolean(
                    "Whether the row is the sum of combinations that have no row of their own: those after the first 1000 of a day, or of this response. Its `platform` and `identity` are `null`.",
                ),
            ),
            ("requests", count("The number of requests.")),
        ],
    )
}

/// The schemas of usage, by name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![("Usage", usage()), ("UsageRow", row())]
}
