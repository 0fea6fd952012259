//! The schemas of what is sent and answered.

use connector_vault::access::token::MAX_TOKEN;
use connector_vault::access::{Environment, Scope};
use connector_vault::api::paging::MAX_LIMIT;
use connector_vault::api::problem::Code;
use connector_vault::api::route::Endpoint;
use connector_vault::catalog::model::{Method, Status};
use connector_vault::vault::model::{IdentityType, State};
use connector_vault::vault::statements::summary::PLATFORMS;

use super::node::{Node, object};
use super::parameters::platform;
use super::{bodies, samples, texts};
use crate::typescript::variants;

/// Greatest whole number that JavaScript's numbers hold.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// Where a schema is, as a reference.
pub fn reference(name: &str) -> Node {
    object! {"$ref": format!("#/components/schemas/{name}")}
}

/// All schemas by name, compared with what the service answers.
pub fn all() -> Node {
    let schemas = object! {
        "ConnectorPage": page("Connector", "connectors"),
        "Connector": connector(),
        "ActionPage": page("Action", "actions"),
        "Action": action(),
        "ConnectionPage": page("Connection", "connections"),
        "Connection": connection(),
        "NewConnection": bodies::new_connection(),
        "ConnectionChanges": bodies::connection_changes(),
        "ConnectionSummary": summary(),
        "Whoami": whoami(),
        "NewSession": bodies::new_session(),
        "Session": session(),
        "Health": record("Whether the service runs.", vec![("status", object! {"type": "string", "const": "ok"})]),
        "Problem": problem(),
        "Fault": fault(),
    };
    for endpoint in super::endpoints() {
        let Some(name) = answered_by(endpoint) else { continue };
        let answer = Node::parse(&samples::success(endpoint).body);
        if endpoint == Endpoint::Whoami {
            // Some members are there for a token only.
            let token = Node::parse(&samples::whoami_of_token().body);
            let schema = schemas.get(name).unwrap();
            assert_eq!(schema.get("required"), Some(&Node::texts(answer.names())));
            assert_eq!(schema.get("properties").unwrap().names(), token.names());
            continue;
        }
        assert_alike(name, &schemas, &answer);
        if let Some(Node::Array(rows)) = answer.get("rows") {
            let row = name.strip_suffix("Page").unwrap();
            assert_alike(row, &schemas, rows.first().unwrap());
        }
    }
    schemas
}

/// The schema of what an endpoint answers; none when it answers without a body.
pub const fn answered_by(endpoint: Endpoint) -> Option<&'static str> {
    Some(match endpoint {
        Endpoint::Health => "Health",
        Endpoint::Whoami => "Whoami",
        Endpoint::CreateSession => "Session",
        Endpoint::ListConnectors => "ConnectorPage",
        Endpoint::ListActions => "ActionPage",
        Endpoint::ListConnections => "ConnectionPage",
        Endpoint::CreateConnection | Endpoint::ReadConnection | Endpoint::UpdateConnection => {
            "Connection"
        }
        Endpoint::DeleteConnection => return None,
        Endpoint::Summary => "ConnectionSummary",
    })
}

/// The members that a schema names are those of an answer, in the same order, and all of them are required.
fn assert_alike(name: &str, schemas: &Node, answer: &Node) {
    let schema = schemas.get(name).unwrap();
    let properties = schema.get("properties").unwrap();
    assert_eq!(properties.names(), answer.names(), "members of {name}");
    assert_eq!(schema.get("required"), Some(&Node::texts(answer.names())), "members of {name}");
    for part in answer.names() {
        if let (Some(inner @ Node::Object(_)), Some(own)) =
            (answer.get(part), properties.get(part).and_then(|own| own.get("properties")))
        {
            assert_eq!(own.names(), inner.names(), "members of {name}, {part}");
        }
    }
}

/// An object of which every member is always there.
fn record(description: &str, members: Vec<(&str, Node)>) -> Node {
    let required = Node::texts(members.iter().map(|(name, _)| *name));
    object! {
        "type": "object",
        "description": description,
        "required": required,
        "properties": Node::members(members),
    }
}

/// A schema with a description before it.
pub fn said(description: &str, schema: Node) -> Node {
    object! {"description": description}.with(schema)
}

fn string(description: &str) -> Node {
    said(description, object! {"type": "string"})
}

fn boolean(description: &str) -> Node {
    said(description, object! {"type": "boolean"})
}

fn count(description: &str) -> Node {
    said(description, object! {"type": "integer", "minimum": 0})
}

fn names<T: AsRef<str>>(description: &str, names: impl IntoIterator<Item = T>) -> Node {
    said(description, object! {"type": "string", "enum": Node::texts(names)})
}

fn strings(description: &str) -> Node {
    said(description, object! {"type": "array", "items": object! {"type": "string"}})
}

fn page(row: &str, what: &str) -> Node {
    let rows = object! {"type": "array", "maxItems": MAX_LIMIT, "items": reference(row)};
    record(
        &format!("A page of the list of {what}."),
        vec![
            ("rows", said("The rows of this page; empty past the end.", rows)),
            ("total", count("How many rows the whole list has: exact.")),
            ("pages", count("How many pages that makes; 0 when there is no row.")),
            ("page", said("The number of this page.", object! {"type": "integer", "minimum": 1})),
        ],
    )
}

fn connector() -> Node {
    let id = object! {"type": "integer", "minimum": 1, "maximum": MAX_SAFE};
    let image = object! {"type": "string", "format": "uri"};
    record(
        "A platform that can be connected to.",
        vec![
            ("id", said("The same for the same `key` after every import.", id)),
            ("name", string("Display name.")),
            ("key", string("`api::<platform>::<platformVersion>`")),
            ("platform", said("The platform's identifier.", platform())),
            ("platformVersion", said("Version of the platform's API.", texts::version())),
            ("status", names("How far the connector has come.", variants::<Status>())),
            ("description", string("What it is, in one line.")),
            ("category", string("In words, `Other` when unknown.")),
            ("image", said("The logo: an `https:` or `data:` URL.", image)),
            ("tags", strings("Free-form tags.")),
            ("oauth", boolean("Whether the platform offers OAuth.")),
            ("tools", count("How many actions the platform has.")),
            ("version", string("The version text of the platform's own description.")),
            ("active", boolean("Whether the operator offers the connector.")),
        ],
    )
}

fn action() -> Node {
    record(
        "Something that a platform can do.",
        vec![
            ("title", string("In words, in one line.")),
            ("key", string("Unique within the platform.")),
            ("method", names("The HTTP method that the action uses.", variants::<Method>())),
            ("platform", said("The platform that the action belongs to.", platform())),
            (
                "modelName",
                string("The resource that the action works on, in PascalCase; possibly empty."),
            ),
        ],
    )
}

fn environment() -> Node {
    names(
        "Which of the account's two worlds; the API key decides it.",
        Environment::ALL.map(Environment::as_str),
    )
}

fn connection() -> Node {
    let id = object! {"type": "string", "format": "uuid"};
    let name = object! {"type": Node::texts(["string", "null"])};
    let kind = object! {"type": "string", "const": "api"};
    let version = object! {"type": "string", "pattern": "^[1-9][0-9]*$"};
    let time = object! {"type": "string", "format": "date-time"};
    record(
        "A stored link between an identity and a platform.",
        vec![
            ("id", said("A UUID in lower case.", id)),
            ("platformVersion", said("Version of the platform's API.", texts::version())),
            ("name", said("Display name; null when unset.", name)),
            ("type", said("The only type there is.", kind)),
            (
                "key",
                string(
                    "`<environment>::<platform>::<label>::<identity>`, each once in an account.",
                ),
            ),
            ("environment", environment()),
            ("platform", said("The platform's identifier.", platform())),
            ("identity", string("Whose connection it is.")),
            ("identityType", names("What kind of identity that is.", IdentityType::NAMES)),
            ("description", string("The connector's description when the connection was created.")),
            (
                "state",
                names(
                    "`operational`: healthy. `degraded`: a token refresh failed, a retry is pending. `failed`: inactive until somebody reconnects it. `unknown`: could not be determined.",
                    State::NAMES,
                ),
            ),
            ("tags", strings("The tags, exactly as they were sent.")),
            ("version", said("\"1\" when created, one more with every change.", version)),
            ("active", boolean("Whether the connection is active.")),
            ("createdAt", said("When it was created: UTC, with milliseconds.", time)),
        ],
    )
}

fn summary() -> Node {
    let counts = |description: &str, names: &[&'static str]| {
        record(description, names.iter().map(|name| (*name, count("How many."))).collect())
    };
    let platforms = record(
        "A platform and its number of connections.",
        vec![
            ("platform", said("The platform's identifier.", platform())),
            ("total", count("How many connections it has.")),
        ],
    );
    let platforms = object! {"type": "array", "maxItems": PLATFORMS, "items": platforms};
    record(
        "How many connections the key's account and environment has: exact.",
        vec![
            ("total", count("All of them.")),
            ("active", counts("By whether they are active.", &["true", "false"])),
            ("state", counts("By state.", &State::NAMES)),
            ("identityType", counts("By type of the identity.", &IdentityType::NAMES)),
            ("platforms", said("The largest platforms, the largest first.", platforms)),
            ("otherPlatforms", count("The sum of all other platforms.")),
        ],
    )
}

fn whoami() -> Node {
    let account = ("account", string("The account that the key belongs to."));
    let environment = (
        "environment",
        names(
            "The environment that the key belongs to.",
            Environment::ALL.map(Environment::as_str),
        ),
    );
    let expiry = object! {"type": Node::texts(["string", "null"]), "format": "date-time"};
    let always = vec![
        account,
        environment,
        ("scopes", scopes("What the key or the token may do.", &Scope::ALL)),
        ("expiresAt", said("When the key or the token stops being valid; null for never.", expiry)),
    ];
    let description =
        "What the API key opens, or the token: the last four members are there for a token only.";
    let Node::Object(members) = record(description, always) else { panic!("no object") };
    Node::members(members.into_iter().map(|(name, value)| match name.as_str() {
        "properties" => (name, value.with(Node::members(confinement()))),
        _ => (name, value),
    }))
}

fn scopes(description: &str, scopes: &[Scope]) -> Node {
    let names = scopes.iter().map(|scope| scope.as_str());
    let scope = object! {"type": "string", "enum": Node::texts(names)};
    said(description, object! {"type": "array", "uniqueItems": true, "items": scope})
}

/// What a token is confined to.
fn confinement() -> Vec<(&'static str, Node)> {
    let mut types: Vec<Node> = IdentityType::NAMES.map(Node::from).into();
    types.push(Node::Null);
    let list = |description: &str| {
        let items = object! {"type": "string"};
        said(description, object! {"type": Node::texts(["array", "null"]), "items": items})
    };
    let identity_type = object! {"type": Node::texts(["string", "null"]), "enum": types};
    vec![
        ("identity", string("Whose connections the token opens.")),
        ("identityType", said("Of which type of identity; null for all.", identity_type)),
        ("platforms", list("Of which platforms; null for all.")),
        ("origins", list("On pages of which web origins; null for all.")),
    ]
}

fn session() -> Node {
    let time = object! {"type": "string", "format": "date-time"};
    let token = object! {"type": "string", "maxLength": u64::try_from(MAX_TOKEN).unwrap()};
    let mut members = vec![
        ("token", said("The token: goes where a key goes.", token)),
        ("expiresAt", said("When it stops being valid.", time)),
        ("environment", environment()),
    ];
    members.extend(confinement());
    members.insert(5, ("scopes", scopes("What it may do.", &Scope::OF_TOKENS)));
    record("A token for a browser.", members)
}

fn problem() -> Node {
    let status = Code::ALL.map(|code| u64::from(code.facts().0));
    let (least, most) = (status.iter().min().unwrap(), status.iter().max().unwrap());
    let uri = object! {"type": "string", "format": "uri"};
    let id = object! {"type": "string", "format": "uuid"};
    object! {
        "type": "object",
        "description": "What went wrong (RFC 9457).",
        "required": Node::texts(["type", "title", "status", "detail", "code", "requestId"]),
        "properties": object! {
            "type": said("The address of a page about the code.", uri),
            "title": string("The code in words."),
            "status": said("The HTTP status.", object! {"type": "integer", "minimum": *least, "maximum": *most}),
            "detail": string("What went wrong in this very case, for a person."),
            "code": names("What went wrong, for a program.", Code::ALL.map(Code::as_str)),
            "requestId": said("Names the request in the service's log.", id.clone()),
            "errors": said(
                "With status 400: the faults of the request. `code` is that of the first one.",
                object! {"type": "array", "minItems": 1, "items": reference("Fault")},
            ),
            "suggestions": said("What may have been meant.", object! {
                "type": "array", "minItems": 1, "items": object! {"type": "string"},
            }),
            "connectionId": said("The connection that has the key already.", id),
        },
    }
}

fn fault() -> Node {
    object! {
        "type": "object",
        "description": "One fault of the query or of the body.",
        "required": Node::texts(["detail"]),
        "properties": object! {
            "parameter": string("The query parameter that is at fault, as it was sent."),
            "pointer": string("Where in the body the fault is: a JSON pointer (RFC 6901), empty for the whole body."),
            "detail": string("What is wrong, for a person."),
            "suggestion": string("What may have been meant."),
        },
        "oneOf": Node::Array(vec![
            object! {"required": Node::texts(["parameter"])},
            object! {"required": Node::texts(["pointer"])},
        ]),
    }
}
