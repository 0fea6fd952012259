//! The endpoint that imports connections.

use serde_json::{Value, json};

use super::bodies::body;
use super::endpoint_doc::{Body, CONNECTING, EndpointDoc};
use super::schema::{names, record, record_with, reference};
use super::string_schemas::described;
use crate::http::fields::{IMPORT_FIELDS, IMPORTED_CONNECTION_FIELDS, MAX_IMPORTED_CONNECTIONS};

/// Example bodies that import connections, each with a name and a description.
pub const IMPORT_EXAMPLES: [(&str, &str, &str); 2] = [
    (
        "token",
        "A token, which this service uses from now on",
        r#"{"connections":[{"platform":"github","identity":"team-7","identityType":"team",
            "credentials":{"type":"bearer","token":"example-token"}}],"cutOver":true}"#,
    ),
    (
        "oauth2",
        "Tokens of OAuth 2.0, which another service still refreshes",
        r#"{"connections":[{"platform":"github","identity":"team-8","identityType":"team","label":"work",
            "name":"Work account","tags":["eu"],"clientId":"example-client","credentials":{"type":"oauth2",
            "accessToken":"example-access-token","refreshToken":"example-refresh-token",
            "expiresAt":"2030-01-31T12:00:00Z","scopes":["repo"]}}]}"#,
    ),
];

pub const IMPORT: EndpointDoc = EndpointDoc {
    tag: CONNECTING,
    summary: "Import connections",
    description: "Creates connections with the credentials that another service holds, each with an outcome of its own. No platform is called. Without `cutOver`, the connections await their cut-over: their access tokens work until they expire, and nothing is refreshed or checked, since the other service may still use the same refresh tokens. Import them again with `cutOver` once it has stopped. An import replaces credentials only while they await the cut-over, so a repeated import changes nothing. The names and tags of connections that exist stay. Only API keys can have the scope.",
    response: "The outcome of each connection.",
    schema: Some("ImportResults"),
    body: Some(Body { schema: "NewImport", examples: &IMPORT_EXAMPLES, sample: 0 }),
    address: "/v1/vault/connections/import",
    script: "\
const connection = {
  platform: \"github\",
  identity: \"team-9\",
  identityType: \"team\",
  credentials: { type: \"bearer\", token: \"example-token\" },
};
const { results } = await vault.connections.import({ connections: [connection], cutOver: true });
for (const { outcome, error } of results) console.log(outcome, error?.detail ?? \"\");
",
};

pub fn new_import() -> Value {
    body("Connections from another service.", &IMPORT_FIELDS, &json!({"cutOver": false}))
}

pub fn imported_connection() -> Value {
    let defaults = json!({"label": "default", "tags": []});
    body("A connection from another service.", &IMPORTED_CONNECTION_FIELDS, &defaults)
}

pub fn results() -> Value {
    let results = json!({
        "type": "array", "minItems": 1, "maxItems": u64::try_from(MAX_IMPORTED_CONNECTIONS).unwrap(),
        "items": reference("ImportResult"),
    });
    record(
        "The outcomes of an import.",
        vec![(
            "results",
            described("One for each connection of the request, in the same order.", results),
        )],
    )
}

pub fn result() -> Value {
    let id = json!({"type": "string", "format": "uuid"});
    let optional = json!({
        "connectionId": described("The id of the connection; absent if the import of it failed.", id),
        "error": reference("Problem"),
    });
    record_with(
        "The outcome of one connection.",
        vec![(
            "outcome",
            names(
                "`created`: there is a new connection. `updated`: the credentials were stored in a connection that existed. `unchanged`: the connection has these credentials. `skipped`: it has other credentials, which do not await a cut-over, and keeps them. `failed`: `error` has the reason.",
                ["created", "updated", "unchanged", "skipped", "failed"],
            ),
        )],
        optional,
    )
}

/// The schemas of imports, by name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("NewImport", new_import()),
        ("ImportedConnection", imported_connection()),
        ("ImportResults", results()),
        ("ImportResult", result()),
    ]
}
