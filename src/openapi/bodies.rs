//! The schemas of request bodies: from the service's tables, with a description for each field.

use super::console;
use super::node::{Node, object};
use super::parameters::platform_in_any_case;
use super::recorded_responses::RecordedResponses;
use super::schema::reference;
use super::string_schemas::{self, described};
use crate::auth::endpoints::session::new::DEFAULT_TTL;
use crate::auth::limits::MAX_ACTIONS;
use crate::connect::rules;
use crate::http::body::{Field, FieldCheck, MAX_MEMBERS};
use crate::http::fields::{
    CLIENT_FIELDS, CONNECT_FIELDS, CREATE_FIELDS, CREDENTIALS_FIELDS, INPUT_FIELDS,
    MAX_CONNECTIONS, MAX_IMPORTED, MAX_ORIGIN, MAX_ORIGINS, MAX_PLATFORMS, MAX_TTL, MIN_TTL,
    NAME_FIELDS, SESSION_FIELDS, STATE_FIELDS, UPDATE_FIELDS,
};
use crate::oauth::authorization::OWN_PARAMETERS;
use crate::platform_calls::endpoints::action_response::{MAX_BYTES_RANGE, MAX_POINTERS};
use crate::terms::Scope;

/// The body that creates a connection.
pub fn new_connection(responses: &RecordedResponses) -> Node {
    let description = "A new connection.";
    body(description, &CREATE_FIELDS, &about_creating(), &defaults(responses))
}

pub fn connection_changes() -> Node {
    let description = "An update of a connection.";
    body(description, &UPDATE_FIELDS, &about_changing(), &object! {})
}

pub fn state_change() -> Node {
    let description = "The new state of a connection.";
    body(description, &STATE_FIELDS, &about_state(), &object! {})
}

pub fn name_change() -> Node {
    let description = "The new name of a connection.";
    let about = [("name", "The display name; `null` removes it.")];
    body(description, &NAME_FIELDS, &about, &object! {})
}

pub fn new_session() -> Node {
    let description = "A new token.";
    let reads = [Scope::CatalogRead, Scope::ConnectionsRead].map(Scope::as_str);
    let defaults = object! {"scopes": Node::texts(reads), "ttlSeconds": DEFAULT_TTL};
    body(description, &SESSION_FIELDS, &about_opening(), &defaults)
}

pub fn new_attempt() -> Node {
    let description =
        "An account to connect, or a connection to reconnect. Needs `platform` or `connection`.";
    let defaults = object! {"label": "default", "allowOtherAccount": false, "link": false};
    let about = about_starting();
    // One of two forms: `required` is required, and the members of the other form are left out.
    let of = |title: &str, description: &str, needed: &str, others: &[&str]| {
        let is_own = |name: &str| !others.contains(&name);
        let fields: Vec<Field> = CONNECT_FIELDS
            .into_iter()
            .filter(|field| is_own(field.name))
            .map(|field| Field { required: field.name == needed, ..field })
            .collect();
        let about: Vec<_> = about.iter().copied().filter(|(name, _)| is_own(name)).collect();
        object! {"title": title}.with(body(description, &fields, &about, &defaults))
    };
    // A reconnection takes these from its connection.
    let own = ["platform", "identity", "identityType", "label"];
    object! {
        "description": description,
        "oneOf": vec![
            of("NewAccount", "An account to connect.", "platform", &["connection"]),
            of("Reconnection", "A connection to reconnect.", "connection", &own),
        ],
    }
}

pub fn new_client() -> Node {
    let description = "The registration of your app at a platform.";
    let defaults = object! {
        "scopes": Vec::new(), "authorizationParameters": object! {}, "variables": object! {},
    };
    body(description, &CLIENT_FIELDS, &about_client(), &defaults)
}

pub fn action_input() -> Node {
    let description =
        "The input of an action. The `input` of the action's detail is its exact schema.";
    let about = [
        ("path", "The parameters of the path, by name."),
        ("query", "The parameters of the query, by name."),
        ("header", "The parameters that are headers, by name."),
        ("cookie", "The parameters that are cookies, by name."),
        ("body", "The request's body."),
        (
            "arguments",
            "Instead of these: the input as one flat object, as the action's detail describes it with `for=model`.",
        ),
        (
            "select",
            "Only these parts of the response's body: up to 20 JSON Pointers of at most 16 steps, in which `*` is every item.",
        ),
        (
            "maxBytes",
            "The maximum size of the response in bytes: 500–8388608. `omitted` lists the parts that do not fit.",
        ),
    ];
    body(description, &INPUT_FIELDS, &about, &object! {})
}

pub fn new_credentials() -> Node {
    let description = "Credentials: those of their type, and no others. With `oauth2`, `accessToken` or `refreshToken` is required; with any other type, each of its fields that the method requires.";
    body(description, &CREDENTIALS_FIELDS, &about_credentials(), &object! {})
}

/// The schema of a body with these fields; `about` has the description of each, `defaults` the default values.
pub(super) fn body(
    description: &str,
    fields: &[Field],
    about: &[(&str, &str)],
    defaults: &Node,
) -> Node {
    let known: Vec<_> = fields.iter().map(|field| field.name).collect();
    assert_eq!(known, about.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let members = fields.iter().zip(about).map(|(field, (name, description))| {
        let schema = described(description, field_schema(field));
        let default = defaults.get(name);
        let default = default.filter(|_| !field.required);
        let schema = match default {
            Some(default) => schema.with(object! {"default": default.clone()}),
            None => schema,
        };
        (*name, schema)
    });
    let members: Vec<_> = members.collect();
    let required: Vec<_> =
        fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let schema = object! {
        "type": "object", "description": description, "additionalProperties": false,
    };
    let required = if required.is_empty() {
        object! {}
    } else {
        object! {"required": Node::texts(required)}
    };
    schema.with(required).with(object! {"properties": Node::members(members)})
}

fn field_schema(field: &Field) -> Node {
    match (field.name, field.check) {
        ("request", _) => object! {"type": "string"},
        // Its rule is the catalog itself.
        ("platform", _) => platform_in_any_case(),
        ("platformVersion", _) => string_schemas::version(),
        ("url" | "issuer", _) => {
            let longest = u64::try_from(crate::webhooks::rules::MAX_URL).unwrap();
            object! {"type": "string", "format": "uri", "maxLength": longest, "pattern": URL}
        }
        ("from", _) => object! {"type": "string", "pattern": EVENT},
        ("to", _) => object! {"type": Node::texts(["string", "null"]), "pattern": EVENT},
        ("connection", _) => object! {"type": "string", "format": "uuid"},
        ("path" | "query" | "header" | "cookie" | "arguments", _) => object! {"type": "object"},
        ("body", _) => object! {},
        ("scopes", FieldCheck::Own(_)) if field.required => object! {
            "type": "array", "minItems": 1, "maxItems": u64::try_from(Scope::NAMES.len()).unwrap(), "uniqueItems": true,
            "items": object! {"type": "string", "enum": Node::texts(Scope::NAMES)},
        },
        ("connections", FieldCheck::Own(_)) if field.required => object! {
            "type": "array", "minItems": 1, "maxItems": u64::try_from(MAX_IMPORTED).unwrap(),
            "items": reference("ImportedConnection"),
        },
        ("credentials", _) => reference("NewCredentials"),
        ("roles", _) => console::roles(),
        ("expiresAt", _) => {
            object! {"type": Node::texts(["string", "null"]), "format": "date-time"}
        }
        ("returnUrl" | "startUrl", _) => {
            let longest = u64::try_from(rules::MAX_URL).unwrap();
            object! {"type": "string", "format": "uri", "maxLength": longest, "pattern": URL}
        }
        ("authorizationParameters", _) => {
            let own = object! {"not": object! {"enum": Node::texts(OWN_PARAMETERS)}};
            let name = string_schemas::text(|name| rules::parameter(name, "x")).with(own);
            by_name(name, string_schemas::text(|value| rules::parameter("x", value)))
        }
        ("fields" | "fixedFields" | "variables", _) => {
            let longest = u64::try_from(rules::MAX_SECRET).unwrap();
            // An empty value counts as missing.
            let value = object! {"type": "string", "maxLength": longest};
            by_name(string_schemas::text(|name| rules::field(name, "x")), value)
        }
        (_, FieldCheck::Text(rule)) => string_schemas::text(rule),
        (_, FieldCheck::TextOrNull(rule)) => {
            let Node::Object(members) = string_schemas::text(rule) else {
                panic!("a schema is an object")
            };
            Node::members(members.into_iter().map(|(name, value)| match name.as_str() {
                "type" => (name, Node::Array(vec![value, "null".into()])),
                _ => (name, value),
            }))
        }
        (_, FieldCheck::Boolean) => object! {"type": "boolean"},
        (_, FieldCheck::OneOf(names)) => object! {"type": "string", "enum": Node::texts(names)},
        (_, FieldCheck::Names(names)) => object! {
            "type": "array", "maxItems": u64::try_from(names.len()).unwrap(),
            "items": object! {"type": "string", "enum": Node::texts(names)},
        },
        (_, FieldCheck::Texts(max, rule)) => object! {
            "type": "array", "maxItems": u64::try_from(max).unwrap(), "items": string_schemas::text(rule),
        },
        ("ttlSeconds", FieldCheck::Own(_)) => {
            object! {"type": "integer", "minimum": MIN_TTL, "maximum": MAX_TTL}
        }
        ("maxBytes", FieldCheck::Own(_)) => {
            object! {"type": "integer", "minimum": *MAX_BYTES_RANGE.start(), "maximum": *MAX_BYTES_RANGE.end()}
        }
        ("select", FieldCheck::Own(_)) => object! {
            "type": "array", "maxItems": u64::try_from(MAX_POINTERS).unwrap(),
            "items": object! {"type": "string", "pattern": "^(/.*)?$"},
        },
        (name, FieldCheck::Own(_)) => {
            let (max, item) = match name {
                "scopes" => {
                    let names = Scope::OF_TOKENS.map(Scope::as_str);
                    (names.len(), object! {"type": "string", "enum": Node::texts(names)})
                }
                "platforms" => (MAX_PLATFORMS, platform_in_any_case()),
                "actions" => (MAX_ACTIONS, reference("ActionPattern")),
                "connections" => (MAX_CONNECTIONS, object! {"type": "string", "format": "uuid"}),
                "origins" => {
                    let longest = u64::try_from(MAX_ORIGIN).unwrap();
                    let item = object! {"type": "string", "maxLength": longest, "pattern": ORIGIN};
                    (MAX_ORIGINS, item)
                }
                _ => panic!("`{name}` has a check of its own, and no schema"),
            };
            object! {
                "type": "array", "minItems": 1, "maxItems": u64::try_from(max).unwrap(), "uniqueItems": true,
                "items": item,
            }
        }
    }
}

/// A map of strings.
fn by_name(name: Node, value: Node) -> Node {
    object! {
        "type": "object",
        "maxProperties": u64::try_from(MAX_MEMBERS).unwrap(),
        "propertyNames": name,
        "additionalProperties": value,
    }
}

/// The form of a URL to return to; the service rejects some more.
const URL: &str = "^(https://|http://(localhost|127\\.0\\.0\\.1)([:/?#]|$))";

/// The id of an event.
const EVENT: &str = "^evt_[0-9]{13}$";

/// The form of an origin; the service also rejects spellings that browsers would change.
const ORIGIN: &str =
    "^(https://[a-z0-9-]+(\\.[a-z0-9-]+)*|http://(localhost|127\\.0\\.0\\.1))(:[1-9][0-9]{0,4})?$";

fn about_opening() -> [(&'static str, &'static str); 13] {
    [
        (
            "identity",
            "The identity whose connections the token can access: your own identifier of the user, team, organization or project, as in their connections. No comma.",
        ),
        ("identityType", "Only connections of this identity type; all types if omitted."),
        (
            "scopes",
            "The scopes of the token, a subset of the API key's. If omitted, the key's read scopes.",
        ),
        (
            "platforms",
            "Only these platforms of the catalog, ignoring case, both in the vault and in the catalog; all if omitted.",
        ),
        (
            "access",
            "`read` allows calls to platforms by `GET`, `HEAD` and GraphQL queries only. If omitted, by every method.",
        ),
        (
            "actions",
            "Only these actions of platforms, each as `platform/key` or `platform/prefix*`, and no other calls: the token can't use the proxy. Restricts `platforms` to theirs. All calls if omitted.",
        ),
        (
            "connections",
            "Only the connections with these ids, and no new ones. If omitted, all of the identity.",
        ),
        (
            "client",
            "The name of the OAuth client with which the token connects accounts; its user can't choose another one. If omitted, `default`, and a connection that is reconnected keeps its own.",
        ),
        (
            "origins",
            "Only pages of these web origins, and the service's own, can use the token; all origins if omitted. Write each as a browser sends it: in lower case, without a path, without the scheme's default port. `http` is allowed for `localhost` and `127.0.0.1` only. The operator decides separately which origins may call the service.",
        ),
        (
            "fields",
            "Values for the fields of the platform's auth methods, which the user can change in the connect window. No secrets. Needs `platforms` with one platform.",
        ),
        (
            "fixedFields",
            "As `fields`, but the user can't change them: the token connects accounts with these values only. A value that decides which host receives an OAuth client's secret must be in the client's `variables` instead.",
        ),
        ("lang", LANG),
        ("ttlSeconds", "The lifetime of the token in seconds; it never outlives the API key."),
    ]
}

fn about_creating() -> [(&'static str, &'static str); 9] {
    [
        (
            "platform",
            "A platform of the catalog, as `GET /v1/available-connectors` lists it, ignoring case.",
        ),
        ("platformVersion", "The version of the platform's API; the catalog's version if omitted."),
        (
            "identity",
            "The identity that the connection belongs to: your own identifier of the user, team, organization or project. No comma.",
        ),
        ("identityType", "The type of the identity."),
        ("name", "The display name."),
        ("label", "Distinguishes connections of one identity to one platform; part of the key."),
        ("tags", TAGS),
        ("state", "The state of the connection, as far as you know."),
        (
            "active",
            "Whether the connection is active. By default, lists contain only active connections.",
        ),
    ]
}

/// The description of `lang`.
const LANG: &str = "The language of the connect window and of the pages around it, as a tag of BCP 47. They are available in English (`en`), German (`de`), French (`fr`), Spanish (`es`) and Japanese (`ja`); in others they are in English. If omitted, that of the browser, or for an attempt that of the token's session.";

fn about_starting() -> [(&'static str, &'static str); 16] {
    [
        ("platform", "A platform of the catalog, ignoring case."),
        (
            "connection",
            "The id of a connection to reconnect: it keeps its id, key, tags and history.",
        ),
        (
            "authMethod",
            "The id of one of the connector's `authMethods`. Required if there are several, unless the connection that is reconnected has one already.",
        ),
        (
            "client",
            "The name of the OAuth client to use. If omitted, that of the token's session or of the connection that is reconnected, or else `default`. With a token, it can't differ from that of the session.",
        ),
        (
            "identity",
            "The identity that the connection belongs to: your own identifier of the user, team, organization or project. No comma. Required with an API key; a token has its own.",
        ),
        (
            "identityType",
            "The type of the identity. Required with an API key; if a token has none, `user` if omitted.",
        ),
        ("label", "Distinguishes connections of one identity to one platform; part of the key."),
        ("name", "The display name."),
        (
            "tags",
            "The tags; if omitted, a connection that is reconnected keeps its own. No comma in a tag.",
        ),
        (
            "fields",
            "What the user entered, by the names of the method's `fields`. A field with an empty value counts as empty. If a link leads to the connect window: values that the user can change there, no secrets.",
        ),
        (
            "fixedFields",
            "Values of the method's `fields` that the user can't change, no secrets. If the user signs in to an account with other values, the attempt fails with `account_mismatch`.",
        ),
        ("lang", LANG),
        (
            "scopes",
            "The scopes to request at the platform; those of the OAuth client if omitted. Only for methods of OAuth 2.0.",
        ),
        (
            "returnUrl",
            "Where the browser goes when the user has agreed or refused, with `connect=<the attempt's id>` in the query. Its origin must be the service's own, one that the operator allows, or for a token with `origins` one of these.",
        ),
        (
            "allowOtherAccount",
            "Whether another account at the platform may replace the previously connected one. Otherwise the attempt fails with `account_mismatch`.",
        ),
        (
            "link",
            "Whether to return a link in every case. If the user has to enter a key, fill in a field or choose a method, the link leads to the connect window; `label`, `name`, `tags`, `scopes` and `allowOtherAccount` can't be sent then. If `authMethod` is omitted, the only method of OAuth 2.0 with an OAuth client is used. Needs the scope `catalog:read` as well.",
        ),
    ]
}

fn about_client() -> [(&'static str, &'static str); 8] {
    [
        (
            "authMethod",
            "The id of one of the connector's `authMethods` with the type `oauth2`; if omitted, the client is for all of them.",
        ),
        ("clientId", "The client's id at the platform."),
        (
            "clientSecret",
            "The client's secret, or its private key as a JSON Web Key where the method's `tokenAuth` is `private_key_jwt`. If omitted, the stored one stays as long as `clientId` is the same; `null` removes it. It is encrypted, and never returned.",
        ),
        ("scopes", "The scopes to request when a request to connect names none."),
        (
            "authorizationParameters",
            "Additional parameters of the authorization request. Security-relevant ones can't be set.",
        ),
        (
            "variables",
            "Values of the variables in the platform's URLs. A variable that determines which host receives the client's secret must be set here, unless the catalog lists its values.",
        ),
        (
            "startUrl",
            "The page of your app where users start to connect. The service links to it when a visit begins at the platform, such as an installation from its marketplace, which does not identify the user. Omit it for none.",
        ),
        (
            "pkce",
            "Whether authorization requests use PKCE (RFC 7636). If omitted, the connector's method decides.",
        ),
    ]
}

fn about_credentials() -> [(&'static str, &'static str); 15] {
    [
        ("type", "The type of the credentials."),
        (
            "authMethod",
            "The id of one of the connector's `authMethods`. Required if several have the type.",
        ),
        ("accessToken", "With `oauth2`: the access token."),
        (
            "refreshToken",
            "With `oauth2`: the refresh token, with which the service refreshes the access token.",
        ),
        (
            "expiresAt",
            "With `oauth2`: when the access token expires; `null` or omitted if unknown.",
        ),
        ("scopes", "With `oauth2`: the scopes that the platform granted."),
        ("apiKey", "With `api_key`: the key."),
        ("username", "With `basic`: the user name."),
        ("password", "With `basic`: the password."),
        ("token", "With `bearer`: the token."),
        ("accessKeyId", "With `aws_sigv4`: the id of the access key."),
        ("secretAccessKey", "With `aws_sigv4`: the secret access key."),
        ("sessionToken", "With `aws_sigv4`: the token of a temporary session."),
        ("region", "With `aws_sigv4`: the region."),
        ("fields", "More of the method's `fields`, such as variables of the platform's URLs."),
    ]
}

fn about_state() -> [(&'static str, &'static str); 3] {
    [
        ("state", "The state of the connection."),
        ("active", "Whether the connection is active. Unchanged if omitted."),
        (
            "reason",
            "The reason, in a sentence. It is stored with the state until the state changes, and returned with the connection's status.",
        ),
    ]
}

const TAGS: &str = "Stored exactly as sent, including order and duplicates. No comma in a tag.";

fn about_changing() -> [(&'static str, &'static str); 1] {
    [(
        "tags",
        "The new tags, which replace all existing ones. Stored exactly as sent, including order and duplicates. No comma in a tag. If omitted, nothing changes.",
    )]
}

/// The members of a connection that was created with the required fields only.
fn defaults(responses: &RecordedResponses) -> Node {
    // The first example has only the required fields.
    let created = responses.created[0].document();
    let Some(Node::Text(key)) = created.get("key") else { panic!("a connection has a key") };
    let label = key.split("::").nth(2).unwrap();
    let own =
        ["name", "tags", "state", "active"].map(|name| (name, created.get(name).unwrap().clone()));
    Node::members(own).with(object! {"label": label})
}
