//! Parameters with a constant value.

use serde_json::Value;
use serde_json::value::RawValue;

/// Returns the single value that a schema allows, or its default, as a header value. Returns `None`
/// if the schema has neither, or if the value is not a string, a number or a boolean.
pub fn constant_value(schema: &Value) -> Option<String> {
    let only_item = |value: &Value| match value {
        Value::Array(values) => {
            <[Value; 1]>::try_from(values.clone()).ok().map(|[only_item]| only_item)
        }
        _ => None,
    };
    let value = schema.get("const").cloned();
    let value = value.or_else(|| only_item(schema.get("enum")?));
    text(&value.or_else(|| schema.get("default").cloned())?)
}

/// Returns whether a schema's `const` and `enum` allow a header value.
pub fn allows(schema: &RawValue, value: &str) -> bool {
    let Ok(schema) = serde_json::from_str::<Value>(schema.get()) else { return false };
    let is_value = |one: &Value| text(one).as_deref() == Some(value);
    let constant = schema.get("const").is_none_or(is_value);
    let allowed_values = schema.get("enum").and_then(Value::as_array);
    constant && allowed_values.is_none_or(|values| values.iter().any(is_value))
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::{allows, constant_value};

    #[test]
    fn single_values_and_defaults_become_constants() {
        for (schema, expected) in [
            (json!({"const": "2022-06-28"}), Some("2022-06-28")),
            (json!({"enum": ["v1"]}), Some("v1")),
            (json!({"type": "string", "default": "v1"}), Some("v1")),
            (json!({"enum": ["v1", "v2"], "default": "v2"}), Some("v2")),
            (json!({"enum": [3]}), Some("3")),
            (json!({"const": true}), Some("true")),
            (json!({"enum": ["v1", "v2"]}), None),
            (json!({"type": "string"}), None),
            (json!({"default": null}), None),
            (json!({"default": {}}), None),
            (json!(true), None),
        ] {
            assert_eq!(constant_value(&schema).as_deref(), expected, "{schema}");
        }
    }

    #[test]
    fn schema_allows_only_listed_values() {
        for (schema, expected) in [
            (json!({"const": "v1"}), true),
            (json!({"enum": ["v0", "v1"]}), true),
            (json!({"type": "string"}), true),
            (json!({"default": "v0"}), true),
            (json!({"const": "v0"}), false),
            (json!({"enum": ["v0"]}), false),
        ] {
            assert_eq!(allows(&to_raw_value(&schema).unwrap(), "v1"), expected, "{schema}");
        }
    }
}
