//! Derives the parameters of an operation from the service's tables.

use serde_json::{Value, json};

use super::audit;
use super::json::{Members as _, texts};
use super::string_schemas::{self, longest};
use crate::catalog::key;
use crate::http::doc::{DefaultValue, Doc};
use crate::http::endpoint::Keyed;
use crate::http::query::{Check, Parameter};
use crate::storage::read_replica::{self, BOOKMARK, FIRST_PRIMARY, FIRST_UNCONSTRAINED};

/// All parameters of an endpoint. Includes `If-None-Match` if `supports_if_none_match` is true.
pub fn convert(endpoint: Keyed, supports_if_none_match: bool) -> Vec<Value> {
    let facts = endpoint.spec();
    let mut parameters: Vec<Value> = path(endpoint).collect();
    parameters.append(&mut query(endpoint));
    for (name, is_heeded) in [
        ("IfNoneMatch", supports_if_none_match),
        ("IfMatch", facts.if_match),
        ("Bookmark", endpoint.supports_bookmark()),
    ] {
        if is_heeded {
            parameters.push(json!({"$ref": format!("#/components/parameters/{name}")}));
        }
    }
    parameters
}

pub fn query(endpoint: Keyed) -> Vec<Value> {
    endpoint.spec().query.iter().map(|parameter| parameter_schema(*parameter)).collect()
}

fn parameter_schema(parameter: Parameter) -> Value {
    let Doc { about, default, .. } = parameter.doc;
    let mut schema = schema(parameter);
    if let Some(example) = example(parameter) {
        schema = schema.with(json!({"examples": [example]}));
    }
    if let Some(default) = default {
        let default = match default {
            DefaultValue::Boolean(value) => value.into(),
            DefaultValue::Integer(value) => value.into(),
            DefaultValue::Text(text) => text.into(),
            DefaultValue::Texts(names) => texts(names),
        };
        schema = schema.with(json!({"default": default}));
    }
    let node = json!({"name": parameter.name, "in": "query", "description": about});
    let style = match parameter.check {
        Check::Items(..) => json!({"style": "form", "explode": false}),
        _ => json!({}),
    };
    let required = if parameter.is_required { json!({"required": true}) } else { json!({}) };
    node.with(required).with(style).with(json!({"schema": schema}))
}

/// The text that precedes an example in backquotes at the end of a description.
const EXAMPLE: &str = " For example, `";

/// Extracts the example from the description of a parameter.
fn example(parameter: Parameter) -> Option<Value> {
    let (_, example) = parameter.doc.about.split_once(EXAMPLE)?;
    let example = example.strip_suffix("`.").unwrap();
    Some(match parameter.check {
        Check::Items(..) => texts(example.split(',')),
        _ => example.into(),
    })
}

/// An example id of a connection or an attempt.
const EXAMPLE_UUID: &str = "0b9af7c6-0000-4000-8000-000000000000";

fn schema(parameter: Parameter) -> Value {
    let count = |max: usize| u64::try_from(max).unwrap();
    match parameter.check {
        Check::Boolean => json!({"type": "boolean"}),
        Check::Integer(min, max) => {
            json!({"type": "integer", "minimum": min, "maximum": max})
        }
        Check::OneOf(names) => json!({"type": "string", "enum": texts(names)}),
        Check::Items(max, _) if !parameter.doc.items.is_empty() => json!({
            "type": "array",
            "items": {"type": "string", "enum": texts(parameter.doc.items)},
            "minItems": 1,
            "maxItems": count(max),
        }),
        Check::Items(max, longest) => json!({
            "type": "array",
            "items": {"type": "string", "pattern": "^[^,]+$", "maxLength": count(longest)},
            "minItems": 1,
            "maxItems": count(max),
        }),
        Check::Length(max) => {
            json!({"type": "string", "minLength": 1, "maxLength": count(max)})
        }
        Check::Words(max) => {
            json!({"type": "string", "minLength": 1, "maxLength": count(max), "pattern": "\\S"})
        }
        Check::Rule(_) if parameter.name == "platformVersion" => string_schemas::version(),
        // Checked before UUIDs, because the rule for names of clients also accepts UUIDs.
        Check::Rule(rule) if rule("bot").is_none() => {
            json!({"type": "string", "pattern": "^[a-z0-9-]{1,40}$"})
        }
        Check::Rule(rule) if rule(EXAMPLE_UUID).is_none() => {
            json!({"type": "string", "format": "uuid"})
        }
        Check::Rule(rule) if rule("evt_0000000000000").is_none() => {
            json!({"type": "string", "pattern": "^evt_[0-9]{13}$"})
        }
        Check::Rule(rule) if rule("2027-01-15T08:00:00Z").is_none() => {
            json!({"type": "string", "format": "date-time"})
        }
        Check::Rule(rule) if rule("2027-01-15").is_none() => {
            json!({"type": "string", "format": "date"})
        }
        Check::Rule(rule) if rule("aud_0000000000000000000000000").is_none() => {
            json!({"type": "string", "pattern": audit::ID})
        }
        // The only remaining rule is for cursors: hexadecimal digits.
        Check::Rule(rule) => {
            let digits = longest(|count| rule(&"0".repeat(count)).is_none());
            json!({"type": "string", "pattern": format!("^[0-9a-f]{{{digits}}}$")})
        }
    }
}

fn path(endpoint: Keyed) -> impl Iterator<Item = Value> {
    let path = endpoint.spec().path;
    let names = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    names.map(move |name| {
        let (schema, description) = match name {
            "platform" => (
                platform_ignoring_case().with(json!({"examples": ["github"]})),
                "The platform, ignoring case. For example, `github`.",
            ),
            "key" => {
                let schema = json!({"type": "string", "examples": ["issuesCreate"]});
                (schema, "The action's key, exactly. For example, `issuesCreate`.")
            }
            "id" if path.starts_with("/v1/webhooks/") => {
                let schema = json!({"type": "string", "pattern": "^wh_"});
                (schema, "The webhook's id, exactly.")
            }
            "id" => {
                let schema = json!({"type": "string", "format": "uuid"});
                let description = match endpoint {
                    Keyed::GetAttempt => "The attempt's id, ignoring case.",
                    Keyed::RotateKey | Keyed::RevokeKey => "The API key's id, ignoring case.",
                    Keyed::DeleteConsoleSession => "The session's id, ignoring case.",
                    Keyed::DeleteAgentGrant => "The grant's id, ignoring case.",
                    _ => "The connection's id, ignoring case.",
                };
                (schema, description)
            }
            "path" => {
                let schema = json!({"type": "string", "examples": ["user"]});
                (schema, "The path at the platform, below its server: any number of segments, with slashes between them.")
            }
            _ => panic!("`{name}` is not described"),
        };
        json!({
            "name": name, "in": "path", "required": true, "description": description, "schema": schema,
        })
    })
}

/// The components for request headers, by name.
pub fn headers() -> Value {
    json!({
        "IfNoneMatch": {
            "name": "If-None-Match",
            "in": "header",
            "description": "Entity tags of responses that you already have, as returned in `ETag`, separated by commas; or `*`. If one of them matches, the response is a 304 without a body.",
            "schema": {"type": "string"},
        },
        "IfMatch": {
            "name": "If-Match",
            "in": "header",
            "description": "Strong entity tags, as returned in `ETag`, separated by commas; or `*`. If the connection is not at one of these versions, the response is a 412, and nothing is written.",
            "schema": {"type": "string"},
        },
        "Bookmark": {
            "name": BOOKMARK,
            "in": "header",
            "description": format!("Lets a read replica near you serve a read, if there is one: any replica with `{FIRST_UNCONSTRAINED}`, or one that is at least as recent as an earlier response with the value of this header in that response. `{FIRST_PRIMARY}` uses the primary and returns a bookmark. Without this header, reads use the primary."),
            "schema": {"type": "string", "pattern": "^([0-9A-Za-z]{2}\\.)?[0-9A-Za-z-]+$", "maxLength": u64::try_from(read_replica::MAX_BOOKMARK).unwrap()},
        },
    })
}

/// The schema of a platform in lower case.
pub fn platform() -> Value {
    string_schemas::text(key::platform)
}

/// The schema of a platform for parameters that ignore case.
pub fn platform_ignoring_case() -> Value {
    string_schemas::text(|text| key::platform(&text.to_ascii_lowercase()))
}
