//! The schemas of request bodies, from the service's tables.

use super::node::{Node, object};
use super::parameters::platform_in_any_case;
use super::schema::reference;
use super::string_schemas::{self, described};
use super::{branding, console};
use crate::auth::limits::MAX_ACTIONS;
use crate::connect::rules;
use crate::http::body::{Field, FieldCheck, MAX_MEMBERS};
use crate::http::fields::{
    MAX_CONNECTIONS, MAX_IMPORTED, MAX_ORIGINS, MAX_PLATFORMS, MAX_TTL, MIN_TTL,
};
use crate::http::origin::MAX_ORIGIN;
use crate::oauth::authorization::OWN_PARAMETERS;
use crate::platform_calls::endpoints::action_response::{MAX_BYTES_RANGE, MAX_POINTERS};
use crate::terms::Scope;

/// The schema of a body with these fields; `defaults` has default values.
pub(super) fn body(description: &str, fields: &[Field], defaults: &Node) -> Node {
    let members = fields.iter().map(|field| {
        let schema = described(field.doc.about, field_schema(field));
        let default = defaults.get(field.name);
        let default = default.filter(|_| !field.required);
        let schema = match default {
            Some(default) => schema.with(object! {"default": default.clone()}),
            None => schema,
        };
        (field.name, schema)
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
        // The catalog decides which platforms are valid, not a rule.
        ("platform", _) => platform_in_any_case(),
        ("platformVersion", _) => string_schemas::version(),
        ("logo", _) => branding::logo(),
        ("color", _) => branding::color(),
        ("url", FieldCheck::TextOrNull(_)) => {
            let longest = u64::try_from(rules::MAX_URL).unwrap();
            object! {"type": Node::texts(["string", "null"]), "format": "uri", "maxLength": longest, "pattern": URL}
        }
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
