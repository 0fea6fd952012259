//! The endpoints of API keys.

use serde_json::{Value, json};

use super::bodies::body;
use super::endpoint_doc::{Body, EndpointDoc, SERVICE};
use super::json::texts;
use super::schema::{boolean, names, record, reference, string, text_or_null, time, time_or_null};
use super::string_schemas::described;
use crate::http::fields::KEY_FIELDS;
use crate::http::paging::MAX_LIMIT;
use crate::terms::{KeyState, Scope};

/// Example bodies that create an API key, each with a name and a description.
pub const CREATE_EXAMPLES: [(&str, &str, &str); 2] = [
    ("minimal", "Required fields only", r#"{"scopes":["connections:read"]}"#),
    (
        "whole",
        "All fields",
        r#"{"name":"Nightly export","scopes":["catalog:read","connections:read"],"expiresAt":"2030-01-31T12:00:00Z"}"#,
    ),
];

pub const LIST: EndpointDoc = EndpointDoc {
    tag: SERVICE,
    summary: "List API keys",
    description: "Lists the API keys of the key's account and environment, newest first, including revoked and expired ones. For the next page, pass `next` as `before`. Secrets are never returned.",
    response: "A page of the list.",
    schema: Some("ApiKeyPage"),
    body: None,
    address: "/v1/keys?limit=5",
    script: "\
for await (const { id, name, state, lastUsedOn } of vault.keys.list()) console.log(id, name, state, lastUsedOn);
",
};

pub const CREATE: EndpointDoc = EndpointDoc {
    tag: SERVICE,
    summary: "Create an API key",
    description: "Creates an API key for the account and the environment of the key that you send, with scopes that this key has itself. It never outlives this key: it expires no later, and is revoked when this key is revoked. An environment can have 100 valid keys. The secret is returned only here.",
    response: "The new key, with its secret.",
    schema: Some("ApiKeyWithSecret"),
    body: Some(Body { schema: "NewApiKey", examples: &CREATE_EXAMPLES, sample: 0 }),
    address: "/v1/keys",
    script: "\
const key = await vault.keys.create({ name: \"Nightly export\", scopes: [\"connections:read\"] });
console.log(key.id, key.secret.length);
",
};

pub const ROTATE: EndpointDoc = EndpointDoc {
    tag: SERVICE,
    summary: "Rotate an API key",
    description: "Creates a key that replaces this one: with the same name and scopes, all of which the key that you send must have too. The new key expires when the old one does, or when the key that you send does if that is earlier. The old key stays valid for 24 hours, to leave time for the switch; revoke it to end it earlier. Keys that the old one created then belong to the new one. The secret is returned only here.",
    response: "The new key, with its secret.",
    schema: Some("ApiKeyWithSecret"),
    body: None,
    address: "/v1/keys/$API_KEY/rotate",
    script: "\
const { id, secret } = await vault.keys.rotate(process.env.API_KEY);
console.log(id, secret.length);
",
};

pub const REVOKE: EndpointDoc = EndpointDoc {
    tag: SERVICE,
    summary: "Revoke an API key",
    description: "Revokes a key immediately and permanently, with its tokens and the keys that it created. A key that replaces it stays valid. A revoked key stays in the list.",
    response: "The key is revoked.",
    schema: None,
    body: None,
    address: "/v1/keys/$API_KEY",
    script: "\
await vault.keys.revoke(process.env.API_KEY);\n",
};

fn members() -> Vec<(&'static str, Value)> {
    let scopes = json!({
        "type": "array", "items": {"type": "string", "enum": texts(Scope::NAMES)},
    });
    let day = json!({"type": ["string", "null"], "format": "date"});
    vec![
        ("id", described("Identifies the key without revealing it.", id())),
        ("name", text_or_null("What it is for.")),
        ("scopes", described("What it may do.", scopes)),
        ("state", names("Whether it can be used.", KeyState::NAMES)),
        ("createdAt", time("When it was created.")),
        ("expiresAt", time_or_null("When it expires; `null` for never.")),
        ("revokedAt", time_or_null("When it was revoked; `null` if it was not.")),
        (
            "lastUsedOn",
            described("The day of its last use, in UTC; `null` if no use is recorded.", day),
        ),
        ("replacedBy", text_or_null("The id of the key that replaces it.")),
        (
            "createdBy",
            text_or_null("The id of the key that created it; `null` if the operator did."),
        ),
        ("current", boolean("Whether it is the key of this request.")),
    ]
}

pub fn id() -> Value {
    json!({"type": "string", "format": "uuid"})
}

pub fn key() -> Value {
    record("An API key.", members())
}

pub fn with_secret() -> Value {
    let secret = string("The key itself: `sk_test_…` or `sk_live_…`. Returned only once.");
    let members = members().into_iter().chain([("secret", secret)]).collect();
    record("An API key, with its secret.", members)
}

pub fn page() -> Value {
    let rows = json!({"type": "array", "maxItems": MAX_LIMIT, "items": reference("ApiKey")});
    record(
        "A page of API keys.",
        vec![
            ("rows", described("The keys of this page, newest first.", rows)),
            ("next", text_or_null("The cursor for `before`; `null` on the last page.")),
        ],
    )
}

pub fn new() -> Value {
    body("A new API key.", &KEY_FIELDS, &json!({}))
}

/// The schemas of API keys, by name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("ApiKeyPage", page()),
        ("ApiKey", key()),
        ("ApiKeyWithSecret", with_secret()),
        ("NewApiKey", new()),
    ]
}
