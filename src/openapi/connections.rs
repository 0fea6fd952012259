//! The endpoints of connections.

use serde_json::{Value, json};

use super::bodies::body;
use super::credentials;
use super::endpoint_doc::{Body, EndpointDoc, VAULT};
use super::json::{Members as _, object};
use super::parameters::platform;
use super::recorded_responses::RecordedResponses;
use super::schema::{boolean, count, names, page, record, record_with, string, strings};
use super::string_schemas::{self, described};
use crate::connections::statements::summary::MAX_SUMMARY_PLATFORMS;
use crate::http::fields::{CREATE_FIELDS, NAME_FIELDS, STATE_FIELDS, UPDATE_FIELDS};
use crate::terms::{Environment, IdentityType, State};

/// Example bodies that create a connection, each with a name and a description: with only the
/// required members, and with all members.
pub const CREATE_EXAMPLES: [(&str, &str, &str); 2] = [
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

/// Example bodies that change a connection.
pub const UPDATE_EXAMPLES: [(&str, &str, &str); 1] =
    [("tags", "New tags", r#"{"tags":["eu","production"]}"#)];

/// Example bodies that set the state of a connection.
pub const STATE_EXAMPLES: [(&str, &str, &str); 2] = [
    ("minimal", "Required fields only", r#"{"state":"operational"}"#),
    (
        "whole",
        "All fields",
        r#"{"state":"failed","active":false,"reason":"The platform refused the refresh token."}"#,
    ),
];

/// Example bodies that set the name of a connection.
pub const NAME_EXAMPLES: [(&str, &str, &str); 2] = [
    ("name", "A name", r#"{"name":"Work account"}"#),
    ("none", "Remove the name", r#"{"name":null}"#),
];

pub const LIST: EndpointDoc = EndpointDoc {
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
};

pub const CREATE: EndpointDoc = EndpointDoc {
    tag: VAULT,
    summary: "Create a connection",
    description: "Creates a connection in the key's account and environment. Its `key` is `<environment>::<platform>::<label>::<identity>` and unique within an account: a second connection with the same key returns a 409 with the `connectionId` of the first. `description` is copied from the connector, and so is `platformVersion` if you omit it.",
    response: "The new connection.",
    schema: Some("Connection"),
    body: Some(Body { schema: "NewConnection", examples: &CREATE_EXAMPLES, sample: 0 }),
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
};

pub const READ: EndpointDoc = EndpointDoc {
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
};

pub const UPDATE: EndpointDoc = EndpointDoc {
    tag: VAULT,
    summary: "Update the tags of a connection",
    description: "Replaces all tags; other fields cannot be updated here. With `If-Match`, only if the connection has not changed since you read it. If nothing changes, the version stays the same.",
    response: "The updated connection.",
    schema: Some("Connection"),
    body: Some(Body { schema: "ConnectionChanges", examples: &UPDATE_EXAMPLES, sample: 0 }),
    address: "/v1/vault/connections/$ID",
    script: "\
const read = await vault.connections.get(process.env.ID);
const changes = { tags: [...read.tags, \"production\"] };
const connection = await vault.connections.update(read.id, changes, { ifMatch: read });
console.log(connection.version, connection.tags.join());
",
};

pub const DELETE: EndpointDoc = EndpointDoc {
    tag: VAULT,
    summary: "Delete a connection",
    description: "Deletes the connection; from then on, its id returns a 404. With `If-Match`, only if the connection has not changed since you read it.",
    response: "The connection is deleted.",
    schema: None,
    body: None,
    address: "/v1/vault/connections/$ID",
    script: "\
await vault.connections.delete(process.env.ID);\n",
};

pub const SET_STATE: EndpointDoc = EndpointDoc {
    tag: VAULT,
    summary: "Set the state of a connection",
    description: "Reports the state of a connection whose credentials you hold. If the vault holds them, it determines the state itself, and the response is a 409. With `If-Match`, only if the connection has not changed since you read it. If nothing changes, the version stays the same.",
    response: "The updated connection.",
    schema: Some("Connection"),
    body: Some(Body { schema: "StateChange", examples: &STATE_EXAMPLES, sample: 1 }),
    address: "/v1/vault/connections/$ID/state",
    script: "\
const change = { state: \"failed\", reason: \"The platform refused the refresh token.\" };
const connection = await vault.connections.setState(process.env.ID, change);
console.log(connection.state, connection.version);
",
};

pub const SET_NAME: EndpointDoc = EndpointDoc {
    tag: VAULT,
    summary: "Set the name of a connection",
    description: "Sets the display name, or removes it with `null`. With `If-Match`, only if the connection has not changed since you read it. If nothing changes, the version stays the same.",
    response: "The updated connection.",
    schema: Some("Connection"),
    body: Some(Body { schema: "NameChange", examples: &NAME_EXAMPLES, sample: 0 }),
    address: "/v1/vault/connections/$ID/name",
    script: "\
const connection = await vault.connections.setName(process.env.ID, \"Work account\");
console.log(connection.name, connection.version);
",
};

pub const SUMMARY: EndpointDoc = EndpointDoc {
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
};

/// The schemas of connections, by name.
pub fn schemas(responses: &RecordedResponses) -> Vec<(&'static str, Value)> {
    vec![
        ("ConnectionPage", page("ListedConnection", "connections")),
        ("ListedConnection", listed_connection()),
        ("PlatformAccount", credentials::platform_account()),
        ("Connection", connection()),
        ("NewConnection", new_connection(responses)),
        ("ConnectionChanges", connection_changes()),
        ("StateChange", state_change()),
        ("NameChange", name_change()),
        ("ConnectionStatus", credentials::status()),
        ("ConnectionSummary", summary()),
    ]
}

pub fn environment() -> Value {
    names("The environment of the API key.", Environment::ALL.map(Environment::as_str))
}

fn connection() -> Value {
    record("A stored link between an identity and a platform.", connection_members())
}

fn listed_connection() -> Value {
    record_with(
        "A stored link between an identity and a platform. With `include=account`, it has the connected account.",
        connection_members(),
        json!({"account": credentials::connected_account()}),
    )
}

fn connection_members() -> Vec<(&'static str, Value)> {
    let id = json!({"type": "string", "format": "uuid"});
    let name = json!({"type": ["string", "null"]});
    let kind = json!({"type": "string", "const": "api"});
    let version = json!({"type": "string", "pattern": "^[1-9][0-9]*$"});
    let time = json!({"type": "string", "format": "date-time"});
    vec![
        ("id", described("A UUID in lower case.", id)),
        (
            "platformVersion",
            described("The version of the platform's API.", string_schemas::version()),
        ),
        ("name", described("The display name; null if unset.", name)),
        ("type", described("Always `api`.", kind)),
        (
            "key",
            string("`<environment>::<platform>::<label>::<identity>`; unique within an account."),
        ),
        ("environment", environment()),
        ("platform", described("The platform's identifier.", platform())),
        ("identity", string("The identity that the connection belongs to.")),
        ("identityType", names("The type of the identity.", IdentityType::NAMES)),
        ("description", string("The connector's description when the connection was created.")),
        (
            "state",
            names(
                "`operational`: healthy. `degraded`: a token refresh failed, and a retry is pending. `failed`: does not work until it is reconnected. `unknown`: could not be determined.",
                State::NAMES,
            ),
        ),
        ("tags", strings("The tags, exactly as they were sent.")),
        ("version", described("Starts at \"1\" and goes up by one with every change.", version)),
        ("active", boolean("Whether the connection is active.")),
        ("createdAt", described("When the connection was created: UTC, with milliseconds.", time)),
    ]
}

fn summary() -> Value {
    let counts = |description: &str, names: &[&'static str]| {
        record(
            description,
            names.iter().map(|name| (*name, count("The number of connections."))).collect(),
        )
    };
    let platforms = record(
        "A platform and its number of connections.",
        vec![
            ("platform", described("The platform's identifier.", platform())),
            ("total", count("The number of its connections.")),
        ],
    );
    let platforms = json!({"type": "array", "maxItems": MAX_SUMMARY_PLATFORMS, "items": platforms});
    record(
        "The exact number of connections of the key's account and environment.",
        vec![
            ("total", count("All connections.")),
            ("active", counts("By whether they are active.", &["true", "false"])),
            ("state", counts("By state.", &State::NAMES)),
            ("identityType", counts("By identity type.", &IdentityType::NAMES)),
            (
                "platforms",
                described(
                    "The platforms with the most connections, in descending order.",
                    platforms,
                ),
            ),
            ("otherPlatforms", count("The number of connections to all other platforms.")),
        ],
    )
}

/// The schema of a body that creates a connection.
fn new_connection(responses: &RecordedResponses) -> Value {
    let description = "A new connection.";
    body(description, &CREATE_FIELDS, &defaults(responses))
}

fn connection_changes() -> Value {
    let description = "An update of a connection.";
    body(description, &UPDATE_FIELDS, &json!({}))
}

fn state_change() -> Value {
    let description = "The new state of a connection.";
    body(description, &STATE_FIELDS, &json!({}))
}

fn name_change() -> Value {
    let description = "The new name of a connection.";
    body(description, &NAME_FIELDS, &json!({}))
}

/// The default values of a connection, from the response to a body with only the required fields.
fn defaults(responses: &RecordedResponses) -> Value {
    // The first example body has only the required fields.
    let created = responses.created[0].document();
    let Some(Value::String(key)) = created.get("key") else { panic!("a connection has a key") };
    let label = key.split("::").nth(2).unwrap();
    let own =
        ["name", "tags", "state", "active"].map(|name| (name, created.get(name).unwrap().clone()));
    object(own).with(json!({"label": label}))
}
