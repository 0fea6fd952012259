//! The schemas of request bodies: from the service's tables, with a description for each field.

use super::answers::Answers;
use super::node::{Node, object};
use super::parameters::platform_in_any_case;
use super::texts::{self, said};
use crate::api::body::{Field, FieldCheck};
use crate::api::fields::{
    CREATE_FIELDS, MAX_ORIGIN, MAX_ORIGINS, MAX_PLATFORMS, MAX_TTL, MIN_TTL, NAME_FIELDS,
    SESSION_FIELDS, STATE_FIELDS, UPDATE_FIELDS,
};
use crate::api::session::new::DEFAULT_TTL;
use crate::terms::Scope;

/// What a connection is created from.
pub fn new_connection(answers: &Answers) -> Node {
    let description = "A new connection.";
    body(description, &CREATE_FIELDS, &about_creating(), &defaults(answers))
}

/// What can be changed about a connection.
pub fn connection_changes() -> Node {
    let description = "An update of a connection.";
    body(description, &UPDATE_FIELDS, &about_changing(), &object! {})
}

/// How a connection is doing from now on.
pub fn state_change() -> Node {
    let description = "The new state of a connection.";
    body(description, &STATE_FIELDS, &about_state(), &object! {})
}

/// What a connection is called from now on.
pub fn name_change() -> Node {
    let description = "The new name of a connection.";
    let about = [("name", "The display name; `null` removes it.")];
    body(description, &NAME_FIELDS, &about, &object! {})
}

/// What a token is made from.
pub fn new_session() -> Node {
    let description = "A new token.";
    let reads = [Scope::CatalogRead, Scope::ConnectionsRead].map(Scope::as_str);
    let defaults = object! {"scopes": Node::texts(reads), "ttlSeconds": DEFAULT_TTL};
    body(description, &SESSION_FIELDS, &about_opening(), &defaults)
}

/// The schema of a body with these fields; `about` has a description for each, `defaults` what they are when left out.
fn body(description: &str, fields: &[Field], about: &[(&str, &str)], defaults: &Node) -> Node {
    let known: Vec<_> = fields.iter().map(|field| field.name).collect();
    assert_eq!(known, about.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let members = fields.iter().zip(about).map(|(field, (name, description))| {
        let schema = said(description, field_schema(field));
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
        // Its rule is the catalog itself.
        ("platform", _) => platform_in_any_case(),
        ("platformVersion", _) => texts::version(),
        (_, FieldCheck::Text(rule)) => texts::text(rule),
        (_, FieldCheck::TextOrNull(rule)) => {
            let Node::Object(members) = texts::text(rule) else { panic!("a schema is an object") };
            Node::members(members.into_iter().map(|(name, value)| match name.as_str() {
                "type" => (name, Node::Array(vec![value, "null".into()])),
                _ => (name, value),
            }))
        }
        (_, FieldCheck::Boolean) => object! {"type": "boolean"},
        (_, FieldCheck::OneOf(names)) => object! {"type": "string", "enum": Node::texts(names)},
        (_, FieldCheck::Texts(most, rule)) => object! {
            "type": "array", "maxItems": u64::try_from(most).unwrap(), "items": texts::text(rule),
        },
        ("ttlSeconds", FieldCheck::Own(_)) => {
            object! {"type": "integer", "minimum": MIN_TTL, "maximum": MAX_TTL}
        }
        (name, FieldCheck::Own(_)) => {
            let (most, item) = match name {
                "scopes" => {
                    let names = Scope::OF_TOKENS.map(Scope::as_str);
                    (names.len(), object! {"type": "string", "enum": Node::texts(names)})
                }
                "platforms" => (MAX_PLATFORMS, platform_in_any_case()),
                "origins" => {
                    let longest = u64::try_from(MAX_ORIGIN).unwrap();
                    let item = object! {"type": "string", "maxLength": longest, "pattern": ORIGIN};
                    (MAX_ORIGINS, item)
                }
                _ => panic!("`{name}` has a check of its own, and no schema"),
            };
            object! {
                "type": "array", "minItems": 1, "maxItems": u64::try_from(most).unwrap(), "uniqueItems": true,
                "items": item,
            }
        }
    }
}

/// The shape of an origin; the service also refuses what a browser would write in another way.
const ORIGIN: &str =
    "^(https://[a-z0-9-]+(\\.[a-z0-9-]+)*|http://(localhost|127\\.0\\.0\\.1))(:[1-9][0-9]{0,4})?$";

fn about_opening() -> [(&'static str, &'static str); 6] {
    [
        (
            "identity",
            "The identity whose connections the token can access: your own identifier of the user, team, organization or project, as in their connections. No comma.",
        ),
        ("identityType", "Only connections of this identity type; all types if omitted."),
        (
            "scopes",
            "The scopes of the token, some of those of the API key. If omitted, those of the key's scopes that only read.",
        ),
        (
            "platforms",
            "Only these platforms of the catalog, ignoring case, both in the vault and in the catalog; all if omitted.",
        ),
        (
            "origins",
            "Only pages of these web origins can use the token; all origins if omitted. Write each as a browser sends it: in lower case, without a path, without the scheme's default port. `http` is allowed for `localhost` and `127.0.0.1` only. The operator decides separately which origins may call the service.",
        ),
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

fn about_state() -> [(&'static str, &'static str); 3] {
    [
        ("state", "The state of the connection."),
        ("active", "Whether the connection is active. Unchanged if omitted."),
        (
            "reason",
            "The reason, in a sentence. It is stored with the state until the state changes; no response returns it yet.",
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

/// What a connection has of which no more was said than must be.
fn defaults(answers: &Answers) -> Node {
    // The first example has nothing else.
    let created = answers.created[0].document();
    let Some(Node::Text(key)) = created.get("key") else { panic!("a connection has a key") };
    let label = key.split("::").nth(2).unwrap();
    let own =
        ["name", "tags", "state", "active"].map(|name| (name, created.get(name).unwrap().clone()));
    Node::members(own).with(object! {"label": label})
}
