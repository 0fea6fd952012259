//! The endpoints for session tokens, and `whoami`, which describes the key or token of a request.

use serde_json::{Value, json};

use super::bodies::body;
use super::connections::environment;
use super::endpoint_doc::{Body, EndpointDoc, SERVICE};
use super::json::{Members as _, object, texts};
use super::schema::{names, record, record_with, string, text_or_null};
use super::string_schemas::described;
use crate::auth::endpoints::session::new::DEFAULT_TTL;
use crate::auth::limits::Access;
use crate::auth::token::MAX_TOKEN;
use crate::http::fields::SESSION_FIELDS;
use crate::terms::{Environment, IdentityType, Scope};

/// Example bodies that create a token, each with a name and a description.
pub const CREATE_EXAMPLES: [(&str, &str, &str); 2] = [
    ("minimal", "Required fields only", r#"{"identity":"ann@example.com"}"#),
    (
        "whole",
        "All fields",
        r#"{"identity":"team-42","identityType":"team","scopes":["connections:read","connections:write"],
            "platforms":["github","jira"],"origins":["https://app.example.com"],"ttlSeconds":3600}"#,
    ),
];

pub const WHOAMI: EndpointDoc = EndpointDoc {
    tag: SERVICE,
    summary: "Get the current API key or token",
    description: "Returns the account, environment, scopes and expiry of the key or token, and for a token its restrictions. Works with every valid key and token.",
    response: "The key or the token.",
    schema: Some("Whoami"),
    body: None,
    address: "/v1/whoami",
    script: "\
const { account, environment, scopes } = await vault.whoami();
console.log(account, environment, scopes.join());
",
};

pub const CREATE: EndpointDoc = EndpointDoc {
    tag: SERVICE,
    summary: "Create a token for a browser",
    description: "Creates a short-lived token with the access of the API key, restricted to one identity, and optionally to one identity type and some platforms. Send it in the same header as a key. It can read and change the connections of that identity and no others: lists, totals and counts cover only these, all others return a 404, and new connections must belong to that identity. With `platforms`, the catalog shows only these. With `origins`, the token is rejected everywhere else. If the key is revoked, the vault rejects the token at once; the catalog, which does not check storage for tokens, accepts it until it expires.",
    response: "The token. It is shown only once.",
    schema: Some("Session"),
    body: Some(Body { schema: "NewSession", examples: &CREATE_EXAMPLES, sample: 0 }),
    address: "/v1/sessions",
    script: "\
const session = await vault.sessions.create({ identity: \"ann@example.com\", ttlSeconds: 600 });
console.log(session.token.length, session.expiresAt);
",
};

/// The schemas of session tokens and `whoami`, by name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![("Whoami", whoami()), ("NewSession", new_session()), ("Session", session())]
}

fn whoami() -> Value {
    let account = ("account", string("The account that the key belongs to."));
    let environment = (
        "environment",
        names(
            "The environment that the key belongs to.",
            Environment::ALL.map(Environment::as_str),
        ),
    );
    let expiry = json!({"type": ["string", "null"], "format": "date-time"});
    let required = vec![
        account,
        environment,
        ("scopes", scopes("The scopes of the key or the token.", &Scope::ALL)),
        ("expiresAt", described("When the key or the token expires; null for never.", expiry)),
    ];
    let description = "The API key or the token. Only tokens have the members after `expiresAt`; only the token of a person in the console has `person`.";
    let Value::Object(members) = record(description, required) else { panic!("no object") };
    object(members.into_iter().map(|(name, value)| match name.as_str() {
        "properties" => {
            let person = string("The person who is signed in to the console.");
            (name, value.with(object(restriction())).with(json!({"person": person})))
        }
        _ => (name, value),
    }))
}

fn scopes(description: &str, scopes: &[Scope]) -> Value {
    let names = scopes.iter().map(|scope| scope.as_str());
    let scope = json!({"type": "string", "enum": texts(names)});
    described(description, json!({"type": "array", "uniqueItems": true, "items": scope}))
}

fn restriction() -> Vec<(&'static str, Value)> {
    let mut types: Vec<Value> = IdentityType::NAMES.map(Value::from).into();
    types.push(Value::Null);
    let list = |description: &str| {
        let items = json!({"type": "string"});
        described(description, json!({"type": ["array", "null"], "items": items}))
    };
    let values = |description: &str| {
        let value = json!({"type": "string"});
        let values = json!({"type": ["object", "null"], "additionalProperties": value});
        described(description, values)
    };
    let identity_type = json!({"type": ["string", "null"], "enum": types});
    vec![
        ("identity", string("The identity whose connections the token can access.")),
        (
            "identityType",
            described("The identity type that it is restricted to; null for all.", identity_type),
        ),
        ("platforms", list("The platforms that it is restricted to; null for all.")),
        (
            "access",
            names(
                "`read`: it calls platforms with `GET`, `HEAD` and GraphQL queries only.",
                Access::NAMES,
            ),
        ),
        (
            "actions",
            list(
                "The actions that it is restricted to, each as `platform/key` or `platform/prefix*`; null for all.",
            ),
        ),
        (
            "connections",
            list(
                "The ids of the connections that it is restricted to; null for all of the identity.",
            ),
        ),
        (
            "confirm",
            text_or_null(
                "The calls that the user must approve: `write` or `destructive`; null for none.",
            ),
        ),
        (
            "client",
            described(
                "The name of the OAuth client with which it connects accounts; null for the connection's own, or else `default`.",
                json!({"type": ["string", "null"]}),
            ),
        ),
        ("origins", list("The web origins that it is restricted to; null for all.")),
        ("fields", values("Values that the user can change in the connect window; null for none.")),
        ("fixedFields", values("Values that the user can't change; null for none.")),
        (
            "lang",
            described(
                "The language of the connect window, as a BCP 47 tag; null for that of the browser.",
                json!({"type": ["string", "null"]}),
            ),
        ),
    ]
}

fn session() -> Value {
    let time = json!({"type": "string", "format": "date-time"});
    let token = json!({"type": "string", "maxLength": u64::try_from(MAX_TOKEN).unwrap()});
    let mut members = vec![
        ("token", described("The token. Send it in the same header as a key.", token)),
        ("expiresAt", described("When it expires.", time)),
        ("environment", environment()),
    ];
    members.extend(restriction());
    members.insert(5, ("scopes", scopes("The scopes of the token.", &Scope::TOKEN_SCOPES)));
    let url = described(
        "With the scope `connections:connect`: the address of the window in which the token's user connects accounts. It works once.",
        json!({"type": "string", "format": "uri"}),
    );
    record_with("A token for a browser.", members, json!({"connectUrl": url}))
}

fn new_session() -> Value {
    let description = "A new token.";
    let reads = [Scope::CatalogRead, Scope::ConnectionsRead].map(Scope::as_str);
    let defaults = json!({"scopes": texts(reads), "ttlSeconds": DEFAULT_TTL});
    body(description, &SESSION_FIELDS, &defaults)
}
