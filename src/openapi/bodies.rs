//! Derives the schemas of request bodies from the service's tables of fields.

use serde_json::{Value, json};

use super::json::{Members as _, object, texts};
use super::parameters::platform_ignoring_case;
use super::schema::reference;
use super::string_schemas::{self, described};
use super::{branding, console};
use crate::auth::limits::MAX_ACTIONS;
use crate::connect::rules;
use crate::http::body::{Field, FieldCheck, MAX_MEMBERS};
use crate::http::fields::{
    MAX_CONNECTIONS, MAX_IMPORTED_CONNECTIONS, MAX_ORIGINS, MAX_PLATFORMS, MAX_TTL, MIN_TTL,
};
use crate::http::origin::MAX_ORIGIN_LENGTH;
use crate::oauth::authorization::RESERVED_PARAMETERS;
use crate::platform_calls::endpoints::action_response::{MAX_BYTES_RANGE, MAX_POINTERS};
use crate::terms::Scope;

/// The schema of a body with these fields. `defaults` contains their default values.
pub(super) fn body(description: &str, fields: &[Field], defaults: &Value) -> Value {
    let members = fields.iter().map(|field| {
        let schema = described(field.doc.about, field_schema(field));
        let default = defaults.get(field.name);
        let default = default.filter(|_| !field.required);
        let schema = match default {
            Some(default) => schema.with(json!({"default": default.clone()})),
            None => schema,
        };
        (field.name, schema)
    });
    let members: Vec<_> = members.collect();
    let required: Vec<_> =
        fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let schema = json!({
        "type": "object", "description": description, "additionalProperties": false,
    });
    let required =
        if required.is_empty() { json!({}) } else { json!({"required": texts(required)}) };
    schema.with(required).with(json!({"properties": object(members)}))
}

fn field_schema(field: &Field) -> Value {
    schema_by_name(field).unwrap_or_else(|| match field.check {
        FieldCheck::Text(rule) => string_schemas::text(rule),
        FieldCheck::TextOrNull(rule) => or_null(string_schemas::text(rule)),
        FieldCheck::Boolean => json!({"type": "boolean"}),
        FieldCheck::OneOf(names) => one_of(names),
        FieldCheck::Names(names) => list_of(names.len(), one_of(names)),
        FieldCheck::Texts(max, rule) => list_of(max, string_schemas::text(rule)),
        FieldCheck::Custom(_) => unchecked_field_schema(field.name),
    })
}

/// The schema of a field whose name allows a more precise schema than its check.
fn schema_by_name(field: &Field) -> Option<Value> {
    Some(match (field.name, field.check) {
        ("request", _) => json!({"type": "string"}),
        // Platforms are validated against the catalog, so no rule describes them.
        ("platform", _) => platform_ignoring_case(),
        ("platformVersion", _) => string_schemas::version(),
        ("logo", _) => branding::logo(),
        ("color", _) => branding::color(),
        ("url", FieldCheck::TextOrNull(_)) => or_null(url(rules::MAX_URL)),
        ("url" | "issuer", _) => url(crate::webhooks::rules::MAX_URL),
        ("returnUrl" | "startUrl", _) => url(rules::MAX_URL),
        ("from", _) => event(),
        ("to", _) => or_null(event()),
        ("connection", _) => connection(),
        ("path" | "query" | "header" | "cookie" | "arguments", _) => json!({"type": "object"}),
        ("body", _) => json!({}),
        ("scopes", FieldCheck::Custom(_)) if field.required => {
            set_of(Scope::NAMES.len(), one_of(&Scope::NAMES))
        }
        ("connections", FieldCheck::Custom(_)) if field.required => json!({
            "type": "array", "minItems": 1, "maxItems": MAX_IMPORTED_CONNECTIONS,
            "items": reference("ImportedConnection"),
        }),
        ("credentials", _) => reference("NewCredentials"),
        ("roles", _) => console::roles(),
        ("expiresAt", _) => or_null(json!({"type": "string", "format": "date-time"})),
        ("authorizationParameters", _) => {
            let own = json!({"not": {"enum": texts(RESERVED_PARAMETERS)}});
            let name = string_schemas::text(|name| rules::parameter(name, "x")).with(own);
            by_name(name, string_schemas::text(|value| rules::parameter("x", value)))
        }
        ("fields" | "fixedFields" | "variables", _) => {
            // `minLength` is omitted, because an empty value counts as missing.
            let value = json!({"type": "string", "maxLength": rules::MAX_SECRET});
            by_name(string_schemas::text(|name| rules::field(name, "x")), value)
        }
        _ => return None,
    })
}

/// The schema of a field without a rule.
fn unchecked_field_schema(name: &str) -> Value {
    match name {
        "ttlSeconds" => json!({"type": "integer", "minimum": MIN_TTL, "maximum": MAX_TTL}),
        "maxBytes" => {
            let (min, max) = MAX_BYTES_RANGE.into_inner();
            json!({"type": "integer", "minimum": min, "maximum": max})
        }
        "select" => list_of(MAX_POINTERS, json!({"type": "string", "pattern": "^(/.*)?$"})),
        "scopes" => {
            set_of(Scope::TOKEN_SCOPES.len(), one_of(&Scope::TOKEN_SCOPES.map(Scope::as_str)))
        }
        "platforms" => set_of(MAX_PLATFORMS, platform_ignoring_case()),
        "actions" => set_of(MAX_ACTIONS, reference("ActionPattern")),
        "connections" => set_of(MAX_CONNECTIONS, connection()),
        "origins" => {
            let origin =
                json!({"type": "string", "maxLength": MAX_ORIGIN_LENGTH, "pattern": ORIGIN});
            set_of(MAX_ORIGINS, origin)
        }
        _ => panic!("`{name}` has a check of its own, and no schema"),
    }
}

fn url(longest: usize) -> Value {
    json!({"type": "string", "format": "uri", "maxLength": longest, "pattern": URL})
}

fn event() -> Value {
    json!({"type": "string", "pattern": EVENT})
}

fn connection() -> Value {
    json!({"type": "string", "format": "uuid"})
}

fn one_of(names: &[&str]) -> Value {
    json!({"type": "string", "enum": names})
}

fn or_null(mut schema: Value) -> Value {
    schema["type"] = json!([schema["type"], "null"]);
    schema
}

fn list_of(max: usize, items: Value) -> Value {
    json!({"type": "array", "maxItems": max, "items": items})
}

/// A non-empty list of distinct values.
fn set_of(max: usize, items: Value) -> Value {
    json!({"type": "array", "minItems": 1, "maxItems": max, "uniqueItems": true, "items": items})
}

/// The schema of a map of strings.
fn by_name(name: Value, value: Value) -> Value {
    json!({
        "type": "object",
        "maxProperties": MAX_MEMBERS,
        "propertyNames": name,
        "additionalProperties": value,
    })
}

/// A pattern for return URLs. The service rejects some URLs that match it.
const URL: &str = "^(https://|http://(localhost|127\\.0\\.0\\.1)([:/?#]|$))";

/// The pattern of event ids.
const EVENT: &str = "^evt_[0-9]{13}$";

/// A pattern for origins. The service also rejects spellings that browsers would change.
const ORIGIN: &str =
    "^(https://[a-z0-9-]+(\\.[a-z0-9-]+)*|http://(localhost|127\\.0\\.0\\.1))(:[1-9][0-9]{0,4})?$";
