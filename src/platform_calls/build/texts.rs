//! Serializes lists and objects to strings.

use serde_json::Value;

/// Converts a value to a string, without quotation marks.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        // Write integers without a fraction, even if the input has one: `5`, not `5.0`.
        Value::Number(number) => {
            let text = number.to_string();
            text.strip_suffix(".0").unwrap_or(&text).to_owned()
        }
        other => other.to_string(),
    }
}

/// Encodes a string for its location in the request.
pub(super) type Encoder<'w> = &'w dyn Fn(&str) -> String;

/// The encoded names and values of an object's members. Items of a list, and other values, have an
/// empty name.
pub(super) fn texts(value: &Value, encoder: Encoder<'_>) -> Vec<(String, String)> {
    let pair = |name: &str, value: &Value| (encoder(name), encoder(&plain(value)));
    match value {
        Value::Array(items) => items.iter().map(|item| pair("", item)).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| pair(name, value)).collect(),
        value => vec![pair("", value)],
    }
}

/// Joins items, or names and values, with a separator. Exploded members have an equals sign.
pub(super) fn joined(
    value: &Value,
    explode: bool,
    separator: &str,
    encoder: Encoder<'_>,
) -> String {
    let texts = texts(value, encoder).into_iter().map(|(name, text)| match (value, explode) {
        (Value::Object(_), true) => format!("{name}={text}"),
        (Value::Object(_), false) => format!("{name}{separator}{text}"),
        _ => text,
    });
    texts.collect::<Vec<_>>().join(separator)
}

/// Serializes a value in the style `simple`.
pub(super) fn simple(value: &Value, explode: bool, encoder: Encoder<'_>) -> String {
    joined(value, explode, ",", encoder)
}
