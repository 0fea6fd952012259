//! The documentation of each endpoint, in addition to the endpoint table: words, schemas, code samples.

use super::endpoint_doc::{Body, CATALOG, EndpointDoc, OtherResponse, SERVICE, VAULT};
use super::{
    agents, audit, connect, console, events, importing, keys, platform_calls, usage, webhooks,
};
use crate::http::endpoint::Keyed;
use crate::terms::Method;

/// Bodies that create a connection, each with a name and a description: with required members only, and with all.
pub const CREATING: [(&str, &str, &str); 2] = [
    (
        "minimal",
        "Required fields only",
        r#"{"platform":"github","identity":"ann@example.com","identityType":"user"}"#,
    ),
    (
        "whole",
        "All fields",
        r#"{"platform":"jira","platformVersion":"v1","identity":"team-42","identityType":"team","name":"Jira of the team",
            "label":"work","tags":["eu","billing"],"state":"operational","active":true}"#,
    ),
];

/// Bodies that change a connection.
pub const CHANGING: [(&str, &str, &str); 1] =
    [("tags", "New tags", r#"{"tags":["eu","production"]}"#)];

/// Bodies that set the state of a connection.
pub const SETTING: [(&str, &str, &str); 2] = [
    ("minimal", "Required fields only", r#"{"state":"operational"}"#),
    (
        "whole",
        "All fields",
        r#"{"state":"failed","active":false,"reason":"The platform refused the refresh token."}"#,
    ),
];

/// Bodies that set the name of a connection.
pub const NAMING: [(&str, &str, &str); 2] = [
    ("name", "A name", r#"{"name":"Work account"}"#),
    ("none", "Remove the name", r#"{"name":null}"#),
];

/// Bodies that create a token, as above.
pub const CREATING_SESSION: [(&str, &str, &str); 2] = [
    ("minimal", "Required fields only", r#"{"identity":"ann@example.com"}"#),
    (
        "whole",
        "All fields",
        r#"{"identity":"team-42","identityType":"team","scopes":["connections:read","connections:write"],
            "platforms":["github","jira"],"origins":["https://app.example.com"],"ttlSeconds":3600}"#,
    ),
];

/// The other successful responses of an endpoint, without the one that [`about`] describes.
pub const fn others(endpoint: Keyed) -> &'static [OtherResponse] {
    match endpoint {
        Keyed::Connect => &[
            OtherResponse { response: "The reconnected connection.", schema: "Connection" },
            OtherResponse {
                response: "The attempt, which waits for the user.",
                schema: "PendingAttempt",
            },
        ],
        Keyed::SetOauthClient => {
            &[OtherResponse { response: "The replaced OAuth client.", schema: "OauthClient" }]
        }
        Keyed::SetAgentSignIn => {
            &[OtherResponse { response: "The replaced sign-in.", schema: "AgentSignIn" }]
        }
        Keyed::SetConsoleSignIn => {
            &[OtherResponse { response: "The replaced sign-in.", schema: "ConsoleSignIn" }]
        }
        _ => &[],
    }
}

/// The description of an endpoint that needs a key.
pub const fn about(endpoint: Keyed) -> EndpointDoc {
    match endpoint {
        Keyed::ListConnectors => EndpointDoc {
            tag: CATALOG,
            summary: "List connectors",
            description: "Lists the connectors of the catalog, ordered by name (ignoring case), then by key; with `q`, the best match first. A connector must match all filters.",
            response: "A page of the list.",
            schema: Some("ConnectorPage"),
            body: None,
            address: "/v1/available-connectors?q=git&limit=5",
            script: "\
const page = await vault.connectors.list({ q: \"git\", limit: 5 });
for (const { platform, name } of page.rows) console.log(platform, name);
",
        },
        Keyed::GetConnector => EndpointDoc {
            tag: CATALOG,
            summary: "Retrieve a connector",
            description: "Returns a connector with the ways to connect, and the addresses of the platform's API. An earlier name of a platform is an alias.",
            response: "The connector.",
            schema: Some("ConnectorDetail"),
            body: None,
            address: "/v1/available-connectors/github",
            script: "\
const connector = await vault.connectors.get(\"github\");
for (const { id, type, fields } of connector.authMethods) console.log(id, type, fields.length);
",
        },
        Keyed::SearchActions => EndpointDoc {
            tag: CATALOG,
            summary: "Search the actions of all platforms",
            description: "Finds actions by what they do, the best match first: use plain words, such as `create github issue` or `send an email`. Words may match an action's title, key, path, description or platform, also in another form or through a common synonym. Words such as `the` and `my` are ignored. An action matches if it contains at least 40% of the query; rare words weigh more. Matches of equal rank have a fixed order.",
            response: "A page of the matches. `total` is exact up to 10,000; if there are more, it is 10,000 and `totalIsMinimum` is `true`.",
            schema: Some("ActionSearchPage"),
            body: None,
            address: "/v1/available-actions?q=create%20github%20issue&limit=5",
            script: "\
const page = await vault.actions.search({ q: \"create github issue\", limit: 5 });
for (const { platform, key, title } of page.rows) console.log(platform, key, title);
",
        },
        Keyed::ListActions => EndpointDoc {
            tag: CATALOG,
            summary: "List the actions of a platform",
            description: "Lists the actions of the platform, ordered by title (ignoring case), then by key; with `q`, the best match first. An action must match all filters.",
            response: "A page of the list.",
            schema: Some("ActionPage"),
            body: None,
            address: "/v1/available-actions/github?method=GET&limit=5",
            script: "\
const page = await vault.actions.list(\"github\", { method: \"GET\", limit: 5 });
for (const { key, title } of page.rows) console.log(key, title);
",
        },
        Keyed::GetAction => EndpointDoc {
            tag: CATALOG,
            summary: "Retrieve an action",
            description: "Returns an action with its address, its parameters, its body and how it is authorized. `input` is one JSON Schema (2020-12) of the action's whole input. Definitions that would make it too large allow any value, and their description says so.",
            response: "The action.",
            schema: Some("ActionDetail"),
            body: None,
            address: "/v1/available-actions/github/issuesCreate",
            script: "\
const action = await vault.actions.get(\"github\", \"issuesCreate\");
console.log(action.method, action.path, Object.keys(action.input.properties));
",
        },
        Keyed::ListConnections => EndpointDoc {
            tag: VAULT,
            summary: "List connections",
            description: "Lists the connections of the key's account and environment, newest first, then by id, descending. A connection must match all filters. To fetch all of them, follow the `Link` header until a response has none: every page costs the same at any depth, and a connection that exists throughout is returned exactly once.",
            response: "A page of the list.",
            schema: Some("ConnectionPage"),
            body: None,
            address: "/v1/vault/connections?platform=github&limit=5",
            script: "\
// Fetches page after page; `await` instead of `for await` fetches one page.
for await (const connection of vault.connections.list({ platform: \"github\" })) {
  console.log(connection.identity, connection.state);
}
",
        },
        Keyed::CreateConnection => EndpointDoc {
            tag: VAULT,
            summary: "Create a connection",
            description: "Creates a connection in the key's account and environment. Its `key` is `<environment>::<platform>::<label>::<identity>` and unique within an account: a second connection with the same key returns a 409 with the `connectionId` of the first. `description` is copied from the connector, and so is `platformVersion` if you omit it.",
            response: "The new connection.",
            schema: Some("Connection"),
            body: Some(Body { schema: "NewConnection", examples: &CREATING, sample: 0 }),
            address: "/v1/vault/connections",
            script: "\
const connection = await vault.connections.create({
  platform: \"github\",
  identity: \"eve@example.com\",
  identityType: \"user\",
  tags: [\"eu\"],
});
console.log(connection.id, connection.key);
",
        },
        Keyed::ReadConnection => EndpointDoc {
            tag: VAULT,
            summary: "Get a connection",
            description: "Returns one connection, active or not. A malformed, unknown or deleted id, and one of another account or environment, all return the same 404.",
            response: "The connection.",
            schema: Some("Connection"),
            body: None,
            address: "/v1/vault/connections/$ID",
            script: "\
const connection = await vault.connections.get(process.env.ID);
console.log(connection.platform, connection.identity, connection.tags.join());
",
        },
        Keyed::UpdateConnection => EndpointDoc {
            tag: VAULT,
            summary: "Update the tags of a connection",
            description: "Replaces all tags; other fields cannot be updated here. With `If-Match`, only if the connection has not changed since you read it. If nothing changes, the version stays the same.",
            response: "The updated connection.",
            schema: Some("Connection"),
            body: Some(Body { schema: "ConnectionChanges", examples: &CHANGING, sample: 0 }),
            address: "/v1/vault/connections/$ID",
            script: "\
const read = await vault.connections.get(process.env.ID);
const changes = { tags: [...read.tags, \"production\"] };
const connection = await vault.connections.update(read.id, changes, { ifMatch: read });
console.log(connection.version, connection.tags.join());
",
        },
        Keyed::DeleteConnection => EndpointDoc {
            tag: VAULT,
            summary: "Delete a connection",
            description: "Deletes the connection; from then on, its id returns a 404. With `If-Match`, only if the connection has not changed since you read it.",
            response: "The connection is deleted.",
            schema: None,
            body: None,
            address: "/v1/vault/connections/$ID",
            script: "\
await vault.connections.delete(process.env.ID);\n",
        },
        Keyed::SetConnectionState => EndpointDoc {
            tag: VAULT,
            summary: "Set the state of a connection",
            description: "Reports the state of a connection whose credentials you hold. If the vault holds them, it determines the state itself, and the response is a 409. With `If-Match`, only if the connection has not changed since you read it. If nothing changes, the version stays the same.",
            response: "The updated connection.",
            schema: Some("Connection"),
            body: Some(Body { schema: "StateChange", examples: &SETTING, sample: 1 }),
            address: "/v1/vault/connections/$ID/state",
            script: "\
const change = { state: \"failed\", reason: \"The platform refused the refresh token.\" };
const connection = await vault.connections.setState(process.env.ID, change);
console.log(connection.state, connection.version);
",
        },
        Keyed::SetConnectionName => EndpointDoc {
            tag: VAULT,
            summary: "Set the name of a connection",
            description: "Sets the display name, or removes it with `null`. With `If-Match`, only if the connection has not changed since you read it. If nothing changes, the version stays the same.",
            response: "The updated connection.",
            schema: Some("Connection"),
            body: Some(Body { schema: "NameChange", examples: &NAMING, sample: 0 }),
            address: "/v1/vault/connections/$ID/name",
            script: "\
const connection = await vault.connections.setName(process.env.ID, \"Work account\");
console.log(connection.name, connection.version);
",
        },
        Keyed::GetStatus => connect::STATUS,
        Keyed::CheckConnection => connect::CHECK,
        Keyed::GetCredentials => connect::CREDENTIALS,
        Keyed::SetCredentials => connect::IMPORT,
        Keyed::ImportConnections => importing::IMPORT,
        Keyed::RunAction => platform_calls::RUN,
        Keyed::ProxyGet => platform_calls::proxy(Method::Get),
        Keyed::ProxyPost => platform_calls::proxy(Method::Post),
        Keyed::ProxyPut => platform_calls::proxy(Method::Put),
        Keyed::ProxyPatch => platform_calls::proxy(Method::Patch),
        Keyed::ProxyDelete => platform_calls::proxy(Method::Delete),
        Keyed::Connect => connect::START,
        Keyed::ListAttempts => connect::ATTEMPTS,
        Keyed::GetAttempt => connect::ATTEMPT,
        Keyed::ListOauthClients => connect::LIST_CLIENTS,
        Keyed::GetOauthClient => connect::GET_CLIENT,
        Keyed::SetOauthClient => connect::SET_CLIENT,
        Keyed::DeleteOauthClient => connect::DELETE_CLIENT,
        Keyed::GetAgentSignIn => agents::GET_SIGN_IN,
        Keyed::SetAgentSignIn => agents::SET_SIGN_IN,
        Keyed::DeleteAgentSignIn => agents::DELETE_SIGN_IN,
        Keyed::ListAgentGrants => agents::LIST_GRANTS,
        Keyed::CreateAgentGrant => agents::CREATE_GRANT,
        Keyed::DeleteAgentGrant => agents::DELETE_GRANT,
        Keyed::GetConsoleSignIn => console::GET_SIGN_IN,
        Keyed::SetConsoleSignIn => console::SET_SIGN_IN,
        Keyed::DeleteConsoleSignIn => console::DELETE_SIGN_IN,
        Keyed::ListConsoleSessions => console::LIST_SESSIONS,
        Keyed::SignOut => console::SIGN_OUT,
        Keyed::DeleteConsoleSession => console::DELETE_SESSION,
        Keyed::ListAudit => audit::LIST,
        Keyed::GetUsage => usage::GET,
        Keyed::ListEvents => events::LIST,
        Keyed::ListKeys => keys::LIST,
        Keyed::CreateKey => keys::CREATE,
        Keyed::RotateKey => keys::ROTATE,
        Keyed::RevokeKey => keys::REVOKE,
        Keyed::ListWebhooks => webhooks::LIST,
        Keyed::CreateWebhook => webhooks::CREATE,
        Keyed::GetWebhook => webhooks::GET,
        Keyed::UpdateWebhook => webhooks::UPDATE,
        Keyed::DeleteWebhook => webhooks::DELETE,
        Keyed::RotateWebhook => webhooks::ROTATE,
        Keyed::TestWebhook => webhooks::TEST,
        Keyed::ReplayEvents => webhooks::REPLAY,
        Keyed::ListDeliveries => webhooks::DELIVERIES,
        Keyed::Summary => EndpointDoc {
            tag: VAULT,
            summary: "Count connections",
            description: "Counts the connections of the key's account and environment by state, platform, identity type, and whether they are active. The counts are exact.",
            response: "The counts.",
            schema: Some("ConnectionSummary"),
            body: None,
            address: "/v1/vault/summary",
            script: "\
const { total, state } = await vault.connections.summary();
console.log(total, state.failed);
",
        },
        Keyed::Whoami => EndpointDoc {
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
        },
        Keyed::CreateSession => EndpointDoc {
            tag: SERVICE,
            summary: "Create a token for a browser",
            description: "Creates a short-lived token with the access of the API key, restricted to one identity, and optionally to one identity type and some platforms. Send it in the same header as a key. It can read and change the connections of that identity and no others: lists, totals and counts cover only these, all others return a 404, and new connections must belong to that identity. With `platforms`, the catalog shows only these. With `origins`, the token is rejected everywhere else. If the key is revoked, the vault rejects the token at once; the catalog, which does not check storage for tokens, accepts it until it expires.",
            response: "The token. It is shown only once.",
            schema: Some("Session"),
            body: Some(Body { schema: "NewSession", examples: &CREATING_SESSION, sample: 0 }),
            address: "/v1/sessions",
            script: "\
const session = await vault.sessions.create({ identity: \"ann@example.com\", ttlSeconds: 600 });
console.log(session.token.length, session.expiresAt);
",
        },
    }
}
