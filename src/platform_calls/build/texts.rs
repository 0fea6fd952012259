//! Serializes lists and objects to strings.

use serde_json::Value;

/// A value as a string, without quotation marks.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        // Integers are written without a fraction, even if the input has one: `5`, not `5.0`.
        Value::Number(number) => {
            let text = number.to_string();
            text.strip_suffix(".0").unwrap_or(&text).to_owned()
        }
        other => other.to_string(),
    }
}

/// Encodes a string for its location.
pub(super) type Encoder<'w> = &'w dyn Fn(&str) -> String;

/// The items or members of a value: name and value of a member, an item with an empty name.
pub(super) fn texts(value: &Value, written: Encoder<'_>) -> Vec<(String, String)> {
    let one = |name: &str, value: &Value| (written(name), written(&plain(value)));
    match value {
        Value::Array(items) => items.iter().map(|item| one("", item)).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| one(name, value)).collect(),
        value => vec![one("", value)],
    }
}

/// Joins items, or names and values, with a separator. Exploded members have an equals sign.
pub(super) fn joined(value: &Value, explode: bool, between: &str, written: Encoder<'_>) -> String {
    let texts = texts(value, written).into_iter().map(|(name, text)| match (value, explode) {
        (Value::Object(_), true) => format!("{name}={text}"),
        (Value::Object(_), false) => format!("{name}{between}{text}"),
        _ => text,
    });
    texts.collect::<Vec<_>>().join(between)
}

/// Serializes a value in the style `simple`.
pub(super) fn simple(value: &Value, explode: bool, written: Encoder<'_>) -> String {
    joined(value, explode, ",", written)
}
