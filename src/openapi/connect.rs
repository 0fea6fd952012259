//! The endpoints that connect accounts.

use serde_json::{Value, json};

use super::bodies::body;
use super::credentials;
use super::endpoint_doc::{Body, CONNECTING, EndpointDoc, VAULT};
use super::json::Members as _;
use super::schema::page;
use crate::http::body::Field;
use crate::http::fields::{CLIENT_FIELDS, CONNECT_FIELDS, CREDENTIALS_FIELDS};

/// Example bodies that connect an account, each with a name and a description.
pub const CONNECT_EXAMPLES: [(&str, &str, &str); 2] = [
    (
        "consent",
        "With the user's consent at the platform",
        r#"{"platform":"github","authMethod":"oauth2","identity":"team-42","identityType":"team",
            "returnUrl":"https://app.example.com/settings"}"#,
    ),
    (
        "fields",
        "With credentials that the user entered",
        r#"{"platform":"github","authMethod":"token","identity":"team-42","identityType":"team","label":"token",
            "name":"Work account","tags":["eu"],"fields":{"token":"example-token"}}"#,
    ),
];

/// Example bodies that set an OAuth client, each with a name and a description.
pub const CLIENT_EXAMPLES: [(&str, &str, &str); 2] = [
    (
        "usual",
        "A client with a secret",
        r#"{"clientId":"example-client","clientSecret":"example-secret","scopes":["read:user","repo"]}"#,
    ),
    (
        "whole",
        "All fields",
        r#"{"authMethod":"oauth2","clientId":"example-client","clientSecret":"example-secret","scopes":["repo"],
            "authorizationParameters":{"prompt":"select_account"},"variables":{},
            "startUrl":"https://app.example/integrations"}"#,
    ),
];

/// Example bodies that store credentials, each with a name and a description.
pub const IMPORT_EXAMPLES: [(&str, &str, &str); 2] = [
    (
        "oauth2",
        "Tokens of OAuth 2.0",
        r#"{"type":"oauth2","accessToken":"example-access-token","refreshToken":"example-refresh-token",
            "expiresAt":"2030-01-31T12:00:00Z","scopes":["repo"]}"#,
    ),
    ("bearer", "A token", r#"{"type":"bearer","token":"example-token"}"#),
];

pub const CHECK: EndpointDoc = EndpointDoc {
    tag: VAULT,
    summary: "Check a connection",
    description: "Checks at once whether a connection works, as the service does once a day: it refreshes an access token, or tries other credentials with the connector's `verify` request. Returns the connection with its new state; its status has the reason. While the service waits after a failure, the response is a 429 with `Retry-After`.",
    response: "The connection after the check.",
    schema: Some("Connection"),
    body: None,
    address: "/v1/vault/connections/$ID/check",
    script: "\
const connection = await vault.connections.check(process.env.ID);
console.log(connection.state);
",
};

pub const STATUS: EndpointDoc = EndpointDoc {
    tag: VAULT,
    summary: "Get the status of a connection",
    description: "Returns the connection's state with its reason, who must act, and data about its credentials. If the vault does not hold them, the reason is the one last reported with `PUT …/state`.",
    response: "The status.",
    schema: Some("ConnectionStatus"),
    body: None,
    address: "/v1/vault/connections/$ID/status",
    script: "\
const { state, actor, reason } = await vault.connections.status(process.env.ID);
console.log(state, actor, reason?.code ?? \"no reason\");
",
};

pub const CREDENTIALS: EndpointDoc = EndpointDoc {
    tag: CONNECTING,
    summary: "Get the credentials of a connection",
    description: "Returns the connection's credentials, with the `headers` and `query` to add to a request to the platform. An access token with less than 5 minutes or a tenth of its lifetime left, whichever is less, is refreshed first. One that lasts at most 10 minutes in total is refreshed when less than 30 seconds are left. If the refresh fails, the old token is returned as long as it is valid; after that, the response is a 503 with `Retry-After`. Refresh tokens are never returned. Only API keys can have the scope, and only if it is named when the key is created.",
    response: "The credentials.",
    schema: Some("Credentials"),
    body: None,
    address: "/v1/vault/connections/$ID/credentials",
    script: "\
const credentials = await vault.connections.getCredentials(process.env.ID);
console.log(credentials.type, Object.keys(credentials.headers).join());
",
};

pub const IMPORT: EndpointDoc = EndpointDoc {
    tag: CONNECTING,
    summary: "Set the credentials of a connection",
    description: "Stores credentials that you or another service held, and replaces those in the vault. If the connector has a `verify` request, they are checked first; if the platform rejects them, nothing is stored. An access token that has expired is accepted together with a refresh token, and so is a refresh token alone: the first use gets an access token with it. Only API keys can have the scope.",
    response: "The credentials are stored.",
    schema: None,
    body: Some(Body { schema: "NewCredentials", examples: &IMPORT_EXAMPLES, sample: 1 }),
    address: "/v1/vault/connections/$ID/credentials",
    script: "\
await vault.connections.setCredentials(process.env.ID, { type: \"bearer\", token: \"example-token\" });
console.log(\"stored\");
",
};

pub const START: EndpointDoc = EndpointDoc {
    tag: CONNECTING,
    summary: "Connect an account",
    description: "Connects an account at a platform, or reconnects the connection that you name in `connection`. If the method asks the user for credentials, send them in `fields`: they are checked at the platform if the connector has a `verify` request, and encrypted, and the connection is returned. If the user must agree at the platform, the response is a 202 with an attempt: the user opens its `authorizationUrl` within 10 minutes, and you get the outcome with `GET /v1/vault/connect/{id}`. A connection with the same key that has failed is reconnected; any other returns a 409. A token connects accounts for its own identity only.",
    response: "The new connection.",
    schema: Some("Connection"),
    body: Some(Body { schema: "NewConnectAttempt", examples: &CONNECT_EXAMPLES, sample: 0 }),
    address: "/v1/vault/connect",
    script: "\
const attempt = await vault.connectAttempts.start({
  platform: \"github\",
  authMethod: \"oauth2\",
  identity: \"team-42\",
  identityType: \"team\",
});
console.log(\"Open\", attempt.authorizationUrl);
",
};

pub const ATTEMPTS: EndpointDoc = EndpointDoc {
    tag: CONNECTING,
    summary: "List attempts to connect",
    description: "Lists the attempts to connect accounts with the user's consent at the platform, newest first, for support when a user reports a failure. Credentials that a platform rejects create no attempt. For the next page, pass `next` as `before`. A filter by `status` alone reads only matching attempts; with `platform`, and with `status` for one identity, a request examines 1,000 attempts at most, so that a page can have fewer rows than `limit`, or none, although more follow. A token sees the attempts of its own identity only. The service keeps attempts for at least a day after they expired.",
    response: "A page of the list.",
    schema: Some("AttemptSummaryPage"),
    body: None,
    address: "/v1/vault/connect?status=failed,expired",
    script: "\
for await (const attempt of vault.connectAttempts.list({ status: [\"failed\", \"expired\"] })) {
  console.log(attempt.identity, attempt.platform, attempt.error?.code ?? attempt.status);
}
",
};

pub const ATTEMPT: EndpointDoc = EndpointDoc {
    tag: CONNECTING,
    summary: "Get an attempt to connect",
    description: "Returns the status of an attempt: it is `pending` until the user has agreed or refused at the platform, and `expired` 10 minutes after it began. With `wait`, the response comes as soon as the attempt is over, or after that number of seconds. The attempts of another account or environment, and for a token those of another identity, return a 404. The service deletes attempts that expired more than a day ago.",
    response: "The attempt.",
    schema: Some("ConnectAttempt"),
    body: None,
    address: "/v1/vault/connect/$ATTEMPT",
    script: "\
const { status, error } = await vault.connectAttempts.get(process.env.ATTEMPT);
console.log(status, error?.code ?? \"no error\");
",
};

pub const LIST_CLIENTS: EndpointDoc = EndpointDoc {
    tag: CONNECTING,
    summary: "List OAuth clients",
    description: "Lists the OAuth clients of the key's account and environment, ordered by platform and name. An OAuth client is the registration of your app at a platform. A platform can have several, such as one for a bot and one for users, which `name` distinguishes.",
    response: "A page of the list.",
    schema: Some("OauthClientPage"),
    body: None,
    address: "/v1/oauth-clients",
    script: "\
const page = await vault.oauthClients.list();
for (const { platform, name, clientId } of page.rows) console.log(platform, name, clientId);
",
};

pub const GET_CLIENT: EndpointDoc = EndpointDoc {
    tag: CONNECTING,
    summary: "Get an OAuth client",
    description: "Returns the OAuth client for a platform, or the one with this `name`. Its secret is never returned.",
    response: "The OAuth client.",
    schema: Some("OauthClient"),
    body: None,
    address: "/v1/oauth-clients/github",
    script: "\
const client = await vault.oauthClients.get(\"github\");
console.log(client.clientId, client.redirectUri);
",
};

pub const SET_CLIENT: EndpointDoc = EndpointDoc {
    tag: CONNECTING,
    summary: "Set an OAuth client",
    description: "Stores the OAuth client for a platform, or replaces it. With `name`, a platform has several, and connect requests and sessions choose one by `client`. An environment can have 1,000 clients. Register the app at the platform first, with the `redirectUri` of the response: `<the service's address>/connect/callback`.",
    response: "The new OAuth client.",
    schema: Some("StoredOauthClient"),
    body: Some(Body { schema: "NewOauthClient", examples: &CLIENT_EXAMPLES, sample: 0 }),
    address: "/v1/oauth-clients/github",
    script: "\
const client = await vault.oauthClients.set(\"github\", {
  clientId: \"example-client\",
  clientSecret: \"example-secret\",
  scopes: [\"read:user\", \"repo\"],
});
console.log(client.clientId, client.redirectUri);
",
};

pub const DELETE_CLIENT: EndpointDoc = EndpointDoc {
    tag: CONNECTING,
    summary: "Delete an OAuth client",
    description: "Deletes the OAuth client for a platform, or the one with this `name`. Until you set it again, no account can be connected with it, and access tokens that were issued with it can't be refreshed.",
    response: "The OAuth client is deleted.",
    schema: None,
    body: None,
    address: "/v1/oauth-clients/github",
    script: "\
await vault.oauthClients.delete(\"github\");\n",
};

/// The schemas of attempts, OAuth clients and credentials, by name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("NewConnectAttempt", new_attempt()),
        ("PendingAttempt", credentials::pending_attempt()),
        ("ConnectAttempt", credentials::attempt()),
        ("AttemptSummaryPage", credentials::attempts()),
        ("AttemptSummary", credentials::attempt_summary()),
        ("Credentials", credentials::credentials()),
        ("NewCredentials", new_credentials()),
    ]
}

/// The schemas of OAuth clients, by name.
pub fn client_schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("OauthClientPage", page("OauthClient", "OAuth clients")),
        ("OauthClient", credentials::client()),
        ("StoredOauthClient", credentials::stored_client()),
        ("NewOauthClient", new_client()),
    ]
}

fn new_attempt() -> Value {
    let description =
        "An account to connect, or a connection to reconnect. Needs `platform` or `connection`.";
    let defaults = json!({"label": "default", "allowOtherAccount": false, "link": false});
    // Builds the schema of one of the two forms. It requires the member `needed` and omits
    // `others`, which only the other form has.
    let form = |title: &str, description: &str, needed: &str, others: &[&str]| {
        let is_own = |name: &str| !others.contains(&name);
        let fields: Vec<Field> = CONNECT_FIELDS
            .into_iter()
            .filter(|field| is_own(field.name))
            .map(|field| Field { required: field.name == needed, ..field })
            .collect();
        json!({"title": title}).with(body(description, &fields, &defaults))
    };
    // A reconnection uses the values of its connection.
    let own = ["platform", "identity", "identityType", "label"];
    json!({
        "description": description,
        "oneOf": [
            form("NewAccount", "An account to connect.", "platform", &["connection"]),
            form("Reconnection", "A connection to reconnect.", "connection", &own),
        ],
    })
}

fn new_client() -> Value {
    let description = "The registration of your app at a platform.";
    let defaults = json!({
        "scopes": [], "authorizationParameters": {}, "variables": {},
    });
    body(description, &CLIENT_FIELDS, &defaults)
}

fn new_credentials() -> Value {
    let description = "Credentials: those of their type, and no others. With `oauth2`, `accessToken` or `refreshToken` is required; with any other type, each of its fields that the method requires.";
    body(description, &CREDENTIALS_FIELDS, &json!({}))
}
