//! Lists and objects as one text.

use serde_json::Value;

/// A value as text, without quotation marks.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        // A whole number as platforms expect it, however the input writes it: `5`, not `5.0`.
        Value::Number(number) => {
            let text = number.to_string();
            text.strip_suffix(".0").unwrap_or(&text).to_owned()
        }
        other => other.to_string(),
    }
}

/// A text written for its place.
pub(super) type Written<'w> = &'w dyn Fn(&str) -> String;

/// The texts of a value's items or members: `name` and `value` of a member, an item with an empty name.
pub(super) fn texts(value: &Value, written: Written<'_>) -> Vec<(String, String)> {
    let one = |name: &str, value: &Value| (written(name), written(&plain(value)));
    match value {
        Value::Array(items) => items.iter().map(|item| one("", item)).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| one(name, value)).collect(),
        value => vec![one("", value)],
    }
}

/// Items, or names and values, with `between` between them; exploded members have an equals sign.
pub(super) fn joined(value: &Value, explode: bool, between: &str, written: Written<'_>) -> String {
    let texts = texts(value, written).into_iter().map(|(name, text)| match (value, explode) {
        (Value::Object(_), true) => format!("{name}={text}"),
        (Value::Object(_), false) => format!("{name}{between}{text}"),
        _ => text,
    });
    texts.collect::<Vec<_>>().join(between)
}

/// The style `simple`.
pub(super) fn simple(value: &Value, explode: bool, written: Written<'_>) -> String {
    joined(value, explode, ",", written)
}
