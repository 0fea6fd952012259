//! The schemas of request bodies: from the service's tables, with a description for each field.

use connector_vault::access::Scope;
use connector_vault::api::body::{Field, FieldCheck};
use connector_vault::api::session::{
    DEFAULT_TTL, MAX_ORIGIN, MAX_ORIGINS, MAX_PLATFORMS, MAX_TTL, MIN_TTL, SESSION_FIELDS,
};
use connector_vault::api::vault::create::CREATE_FIELDS;
use connector_vault::api::vault::update::UPDATE_FIELDS;

use super::node::{Node, object};
use super::parameters::platform;
use super::schemas::said;
use super::{samples, texts};

/// What a connection is created from.
pub fn new_connection() -> Node {
    let description = "What a connection is created from.";
    body(description, &CREATE_FIELDS, &about_creating(), &defaults())
}

/// What can be changed about a connection.
pub fn connection_changes() -> Node {
    let description = "What is changed about a connection.";
    body(description, &UPDATE_FIELDS, &about_changing(), &object! {})
}

/// What a token is made from.
pub fn new_session() -> Node {
    let description = "What a token is made from.";
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
        ("platform", _) => platform(),
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
                "platforms" => (MAX_PLATFORMS, platform()),
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
            "Whose connections the token opens: your own identifier of the user, team, organization or project, as their connections have it. No comma, no control character.",
        ),
        ("identityType", "Only connections of this type of identity; of all types when left out."),
        (
            "scopes",
            "What the token may do: some of what the API key may. Left out, it may read, as far as the key may.",
        ),
        (
            "platforms",
            "Only these platforms, in the vault and in the catalog; all when left out. Whether the catalog has them is not looked at.",
        ),
        (
            "origins",
            "The token is good on pages of these web origins only, each as a browser sends it: in lower case, without a path, without the port that the scheme has anyway. Without encryption only on the same machine. On pages of all origins when left out. Which pages may read answers at all is the operator's to say.",
        ),
        (
            "ttlSeconds",
            "For how many seconds the token is good; never for longer than the API key.",
        ),
    ]
}

fn about_creating() -> [(&'static str, &'static str); 9] {
    [
        ("platform", "A platform of the catalog, as `GET /v1/available-connectors` lists it."),
        ("platformVersion", "Version of the platform's API; the catalog's when left out."),
        (
            "identity",
            "Whose connection it is: your own identifier of the user, team, organization or project. No comma, no control character.",
        ),
        ("identityType", "What kind of identity that is."),
        ("name", "Display name. No control character."),
        ("label", "Tells connections of one identity to one platform apart, as a part of the key."),
        ("tags", TAGS),
        ("state", "How the connection is doing, as far as you know."),
        (
            "active",
            "Whether the connection is active. Lists show active ones unless they are asked otherwise.",
        ),
    ]
}

const TAGS: &str = "Kept exactly as sent, order and duplicates too. In a tag no comma, no control character, no white space at either end.";

fn about_changing() -> [(&'static str, &'static str); 1] {
    [(
        "tags",
        "The new tags, instead of all that are there; kept exactly as sent. In a tag no comma, no control character, no white space at either end. Left out: nothing changes.",
    )]
}

/// What a connection has of which no more was said than must be.
fn defaults() -> Node {
    let [(_, _, minimal), _] = samples::CREATING;
    let created = samples::created(minimal);
    let Some(Node::Text(key)) = created.get("key") else { panic!("a connection has a key") };
    let label = key.split("::").nth(2).unwrap();
    let own =
        ["name", "tags", "state", "active"].map(|name| (name, created.get(name).unwrap().clone()));
    Node::members(own).with(object! {"label": label})
}
