//! The schemas of requests and responses.

use super::endpoints::{about, others};
use super::node::{Node, object};
use super::parameters::platform;
use super::recorded_responses::{RecordedResponse, RecordedResponses};
use super::schema::{
    boolean, count, names, record, record_with, reference, string, strings, variants,
};
use super::string_schemas::described;
use super::{
    agents, audit, bodies, console, credentials, details, events, importing, keys, string_schemas,
    usage, webhooks,
};
use crate::auth::limits::Access;
use crate::auth::token::MAX_TOKEN;
use crate::catalog::model::Status;
use crate::connections::statements::summary::PLATFORMS;
use crate::http::endpoint::{Endpoint, Keyed, Open};
use crate::http::paging::MAX_LIMIT;
use crate::http::problem::Code;
use crate::terms::{Environment, IdentityType, Method, Scope, State};

/// The greatest safe integer of JavaScript.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// All schemas by name, compared with the recorded responses.
pub fn all(responses: &RecordedResponses) -> Node {
    let schemas = object! {
        "ConnectorPage": page("Connector", "connectors"),
        "Connector": connector(),
        "ConnectorDetail": details::connector(&connector()),
        "AuthMethod": details::auth_method(),
        "AuthField": details::field(),
        "ActionPage": page("Action", "actions"),
        "ActionSearchPage": search_page(),
        "Action": action(),
        "ActionDetail": details::action(&action()),
        "ActionPattern": object! {
            "description": "Actions of a platform: `platform/key`, or `platform/prefix*` for all whose keys begin like that.",
            "type": "string", "pattern": "^[A-Za-z0-9-]{1,64}/[^,*\n]{0,256}\\*?$",
        },
        "ConnectionPage": page("ListedConnection", "connections"),
        "ListedConnection": listed_connection(),
        "PlatformAccount": credentials::platform_account(),
        "Connection": connection(),
        "NewConnection": bodies::new_connection(responses),
        "ConnectionChanges": bodies::connection_changes(),
        "StateChange": bodies::state_change(),
        "NameChange": bodies::name_change(),
        "ConnectionStatus": credentials::status(),
        "ConnectionSummary": summary(),
        "NewConnectAttempt": bodies::new_attempt(),
        "PendingAttempt": credentials::pending_attempt(),
        "ConnectAttempt": credentials::attempt(),
        "AttemptSummaryPage": credentials::attempts(),
        "AttemptSummary": credentials::attempt_summary(),
        "Credentials": credentials::credentials(),
        "NewCredentials": bodies::new_credentials(),
        "NewImport": importing::new_import(),
        "ImportedConnection": importing::imported_connection(),
        "ImportResults": importing::results(),
        "ImportResult": importing::result(),
        "ActionInput": bodies::action_input(),
        "ActionAnswer": super::platform_calls::response(),
        "OauthClientPage": page("OauthClient", "OAuth clients"),
        "OauthClient": credentials::client(),
        "StoredOauthClient": credentials::stored_client(),
        "NewOauthClient": bodies::new_client(),
        "AgentSignIn": agents::sign_in(),
        "NewAgentSignIn": agents::new_sign_in(),
        "NewAgentGrant": agents::new_grant(),
        "AgentContinuation": agents::continuation(),
        "AgentGrantPage": agents::grants(),
        "AgentGrant": agents::grant(),
        "ConsoleSignIn": console::sign_in(),
        "NewConsoleSignIn": console::new_sign_in(),
        "ConsoleSessionPage": console::sessions(),
        "ConsoleSession": console::session(),
        "AuditEntryPage": audit::page(),
        "AuditEntry": audit::entry(),
        "Usage": usage::usage(),
        "UsageRow": usage::row(),
        "EventPage": events::page(),
        "Event": events::event(),
        "WebhookPage": webhooks::list(),
        "Webhook": webhooks::webhook(),
        "WebhookWithSecret": webhooks::with_secret(),
        "NewWebhook": webhooks::new(),
        "WebhookChanges": webhooks::changes(),
        "WebhookTest": webhooks::test(),
        "Replay": webhooks::replay(),
        "Replayed": webhooks::replayed(),
        "DeliveryPage": webhooks::deliveries(),
        "Delivery": webhooks::delivery(),
        "ApiKeyPage": keys::page(),
        "ApiKey": keys::key(),
        "ApiKeyWithSecret": keys::with_secret(),
        "NewApiKey": keys::new(),
        "Whoami": whoami(),
        "NewSession": bodies::new_session(),
        "Session": session(),
        "Health": record("The health of the service.", vec![("status", object! {"type": "string", "const": "ok"})]),
        "Problem": problem(),
        "Fault": fault(),
    };
    for endpoint in Endpoint::ALL {
        match endpoint {
            Endpoint::Open(Open::Health) => {
                assert_alike(
                    "Health",
                    &schemas,
                    &responses.for_endpoint(*endpoint).success.document(),
                );
            }
            // Responses that programs don't read, and a file that describes itself.
            Endpoint::Open(_) => {}
            Endpoint::Keyed(keyed) => {
                let Some(name) = about(*keyed).schema else { continue };
                let recorded = responses.for_endpoint(*endpoint);
                check(*keyed, name, &schemas, &recorded.success, responses);
                for (other, response) in others(*keyed).iter().zip(&recorded.others) {
                    assert_alike(other.schema, &schemas, &response.document());
                }
            }
        }
    }
    schemas
}

/// Asserts that the schema matches the response.
fn check(
    endpoint: Keyed,
    name: &str,
    schemas: &Node,
    response: &RecordedResponse,
    responses: &RecordedResponses,
) {
    let response = response.document();
    if endpoint == Keyed::Whoami {
        // Only a token has some members.
        let token = responses.whoami_of_token.document();
        let schema = schemas.get(name).unwrap();
        assert_eq!(schema.get("required"), Some(&Node::texts(response.names())));
        let mut properties = schema.get("properties").unwrap().names();
        // Of people in the console.
        properties.retain(|name| *name != "person");
        assert_eq!(properties, token.names());
        return;
    }
    if endpoint == Keyed::GetAction {
        // The last member is present on request, as it is here. `graphql` belongs to other actions.
        let schema = schemas.get(name).unwrap();
        let (names, optional) = (response.names(), 1);
        let mut properties = schema.get("properties").unwrap().names();
        properties.retain(|name| *name != "graphql");
        assert_eq!(properties, names);
        let always = names.iter().take(names.len() - optional);
        assert_eq!(schema.get("required"), Some(&Node::texts(always)));
        return;
    }
    if endpoint == Keyed::GetCredentials {
        credentials::check(schemas.get(name).unwrap(), &response);
        return;
    }
    if endpoint == Keyed::RunAction {
        // One member is present only when the body is too large.
        let schema = schemas.get(name).unwrap();
        assert_eq!(schema.get("required"), Some(&Node::texts(response.names())));
        return;
    }
    if matches!(endpoint, Keyed::SearchActions | Keyed::CreateSession | Keyed::SetOauthClient) {
        // One member is present only when there are more matches than are counted, with a scope, or when something may
        // be wrong.
        let schema = schemas.get(name).unwrap();
        assert_eq!(schema.get("required"), Some(&Node::texts(response.names())));
        return;
    }
    assert_alike(name, schemas, &response);
    if let Some(Node::Array(rows)) = response.get("rows") {
        let row = name.strip_suffix("Page").map_or_else(|| format!("{name}Row"), str::to_owned);
        assert_alike(&row, schemas, rows.first().unwrap());
    }
}

/// Asserts that the members of a schema are those of a response, in the same order, and that all of them are required.
fn assert_alike(name: &str, schemas: &Node, response: &Node) {
    let schema = schemas.get(name).unwrap();
    let properties = schema.get("properties").unwrap();
    assert_eq!(properties.names(), response.names(), "members of {name}");
    assert_eq!(schema.get("required"), Some(&Node::texts(response.names())), "members of {name}");
    for part in response.names() {
        if let (Some(inner @ Node::Object(_)), Some(own)) =
            (response.get(part), properties.get(part).and_then(|own| own.get("properties")))
        {
            assert_eq!(own.names(), inner.names(), "members of {name}, {part}");
        }
    }
}

fn page(row: &str, what: &str) -> Node {
    let rows = object! {"type": "array", "maxItems": MAX_LIMIT, "items": reference(row)};
    record(
        &format!("A page of the list of {what}."),
        vec![
            ("rows", described("The rows of this page; empty past the last page.", rows)),
            ("total", count("The exact number of rows in the whole list.")),
            ("pages", count("The number of pages; 0 if there are no rows.")),
            (
                "page",
                described("The number of this page.", object! {"type": "integer", "minimum": 1}),
            ),
        ],
    )
}

fn search_page() -> Node {
    let page = page("Action", "actions");
    let more = described(
        "`true` if there are more matches than `total`; otherwise omitted.",
        object! {"type": "boolean", "const": true},
    );
    let notes = described(
        "What is easily misunderstood, such as that a platform that the question names has no actions; otherwise omitted.",
        object! {"type": "array", "items": object! {"type": "string"}, "minItems": 1},
    );
    let total = count("The number of matches; exact up to 10,000.");
    let own = |name: &str| page.get("properties").unwrap().get(name).unwrap().clone();
    object! {
        "type": "object",
        "description": "A page of the matches.",
        "required": page.get("required").unwrap().clone(),
        "properties": object! {
            "rows": own("rows"), "total": total, "pages": own("pages"), "page": own("page"), "totalIsMinimum": more,
            "notes": notes,
        },
    }
}

fn connector() -> Node {
    let id = object! {"type": "integer", "minimum": 1, "maximum": MAX_SAFE};
    let image = object! {"type": "string", "format": "uri"};
    record(
        "A platform that users can connect.",
        vec![
            ("id", described("Derived from `key`, so it stays the same after every import.", id)),
            ("name", string("The display name.")),
            ("key", string("`api::<platform>::<platformVersion>`")),
            ("platform", described("The platform's identifier.", platform())),
            (
                "platformVersion",
                described("The version of the platform's API.", string_schemas::version()),
            ),
            ("status", names("The release stage of the connector.", variants::<Status>())),
            ("description", string("A description in one line.")),
            ("category", string("The category; `Other` if unknown.")),
            (
                "image",
                described(
                    "The logo's absolute URL. Logos of well-known brands are on the service's own origin.",
                    image,
                ),
            ),
            ("tags", strings("Free-form tags.")),
            ("oauth", boolean("Whether the platform offers OAuth.")),
            ("tools", count("The number of actions of the platform.")),
            ("version", string("The version that the platform's own OpenAPI document states.")),
            ("active", boolean("Whether the operator offers the connector.")),
        ],
    )
}

fn action() -> Node {
    record(
        "An operation of a platform.",
        vec![
            ("title", string("A title in one line.")),
            ("key", string("Unique within the platform.")),
            ("method", names("The HTTP method that the action uses.", Method::NAMES)),
            ("platform", described("The platform that the action belongs to.", platform())),
            (
                "modelName",
                string("The resource that the action works on, in PascalCase; can be empty."),
            ),
        ],
    )
}

fn environment() -> Node {
    names("The environment of the API key.", Environment::ALL.map(Environment::as_str))
}

fn connection() -> Node {
    record("A stored link between an identity and a platform.", connection_members())
}

fn listed_connection() -> Node {
    record_with(
        "A stored link between an identity and a platform. With `include=account`, it has the connected account.",
        connection_members(),
        object! {"account": credentials::connected_account()},
    )
}

fn connection_members() -> Vec<(&'static str, Node)> {
    let id = object! {"type": "string", "format": "uuid"};
    let name = object! {"type": Node::texts(["string", "null"])};
    let kind = object! {"type": "string", "const": "api"};
    let version = object! {"type": "string", "pattern": "^[1-9][0-9]*$"};
    let time = object! {"type": "string", "format": "date-time"};
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

fn summary() -> Node {
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
    let platforms = object! {"type": "array", "maxItems": PLATFORMS, "items": platforms};
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
            ("otherPlatforms", count("The number of connections of all other platforms.")),
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
        ("scopes", scopes("The scopes of the key or the token.", &Scope::ALL)),
        ("expiresAt", described("When the key or the token expires; null for never.", expiry)),
    ];
    let description = "The API key or the token. Only tokens have the members after `expiresAt`; only the token of a person in the console has `person`.";
    let Node::Object(members) = record(description, always) else { panic!("no object") };
    Node::members(members.into_iter().map(|(name, value)| match name.as_str() {
        "properties" => {
            let person = string("The person who is signed in to the console.");
            (name, value.with(Node::members(restriction())).with(object! {"person": person}))
        }
        _ => (name, value),
    }))
}

fn scopes(description: &str, scopes: &[Scope]) -> Node {
    let names = scopes.iter().map(|scope| scope.as_str());
    let scope = object! {"type": "string", "enum": Node::texts(names)};
    described(description, object! {"type": "array", "uniqueItems": true, "items": scope})
}

fn restriction() -> Vec<(&'static str, Node)> {
    let mut types: Vec<Node> = IdentityType::NAMES.map(Node::from).into();
    types.push(Node::Null);
    let list = |description: &str| {
        let items = object! {"type": "string"};
        described(description, object! {"type": Node::texts(["array", "null"]), "items": items})
    };
    let values = |description: &str| {
        let value = object! {"type": "string"};
        let values =
            object! {"type": Node::texts(["object", "null"]), "additionalProperties": value};
        described(description, values)
    };
    let identity_type = object! {"type": Node::texts(["string", "null"]), "enum": types};
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
                "`read`: it calls platforms by `GET`, `HEAD` and GraphQL queries only.",
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
            "client",
            described(
                "The name of the OAuth client with which it connects accounts; null for the connection's own, or else `default`.",
                object! {"type": Node::texts(["string", "null"])},
            ),
        ),
        ("origins", list("The web origins that it is restricted to; null for all.")),
        ("fields", values("Values that the user can change in the connect window; null for none.")),
        ("fixedFields", values("Values that the user can't change; null for none.")),
        (
            "lang",
            described(
                "The language of the connect window, as a tag of BCP 47; null for that of the browser.",
                object! {"type": Node::texts(["string", "null"])},
            ),
        ),
    ]
}

fn session() -> Node {
    let time = object! {"type": "string", "format": "date-time"};
    let token = object! {"type": "string", "maxLength": u64::try_from(MAX_TOKEN).unwrap()};
    let mut members = vec![
        ("token", described("The token. Send it in the same header as a key.", token)),
        ("expiresAt", described("When it expires.", time)),
        ("environment", environment()),
    ];
    members.extend(restriction());
    members.insert(5, ("scopes", scopes("The scopes of the token.", &Scope::OF_TOKENS)));
    let url = described(
        "With the scope `connections:connect`: the address of the window in which the token's user connects accounts. It works once.",
        object! {"type": "string", "format": "uri"},
    );
    record_with("A token for a browser.", members, object! {"connectUrl": url})
}

fn problem() -> Node {
    let status = Code::ALL.map(|code| u64::from(code.describe().0));
    let (least, limit) = (status.iter().min().unwrap(), status.iter().max().unwrap());
    let uri = object! {"type": "string", "format": "uri"};
    let id = object! {"type": "string", "format": "uuid"};
    object! {
        "type": "object",
        "description": "An error (RFC 9457).",
        "required": Node::texts(["type", "title", "status", "detail", "code", "requestId"]),
        "properties": object! {
            "type": described("The URL of a page about the code.", uri),
            "title": string("A title for the code."),
            "status": described("The HTTP status.", object! {"type": "integer", "minimum": *least, "maximum": *limit}),
            "detail": string("What went wrong in this case, for people."),
            "code": names("What went wrong, for programs.", Code::ALL.map(Code::as_str)),
            "requestId": described("Identifies the request in the service's log.", id.clone()),
            "errors": described(
                "With status 400: the errors of the request. `code` is that of the first one.",
                object! {"type": "array", "minItems": 1, "items": reference("Fault")},
            ),
            "suggestions": described("Similar valid values.", object! {
                "type": "array", "minItems": 1, "items": object! {"type": "string"},
            }),
            "connectionId": described("The id of the connection that already has the key.", id),
        },
    }
}

fn fault() -> Node {
    let at = |title: &str, description: &str, place: &str, about: &str| {
        let always = vec![(place, string(about)), ("detail", string("What is wrong, for people."))];
        let suggestion = object! {"suggestion": string("A similar valid value.")};
        object! {"title": title}.with(record_with(description, always, suggestion))
    };
    let pointer = "The position of the error in the body: a JSON pointer (RFC 6901), empty for the whole body.";
    object! {
        "description": "One error in the query or in the body.",
        "oneOf": Node::Array(vec![
            at("QueryFault", "An error in the query.", "parameter", "The name of the query parameter, as sent."),
            at("BodyFault", "An error in the body.", "pointer", pointer),
        ]),
    }
}
