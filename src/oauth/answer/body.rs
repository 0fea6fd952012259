//! The bodies of authorization servers' answers: JSON or a form, and where an error stands in them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::oauth::error::{is_code, is_known};
use crate::percent::decode_form;

/// The object that a body is: JSON or a form, whatever its content type says.
#[must_use]
pub fn parse(body: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(body).ok()?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('{') {
        return serde_json::from_str(text).ok();
    }
    if text.starts_with('<') || text.contains(char::is_whitespace) {
        return None;
    }
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let text = |part| decode_form(part).map(Cow::into_owned);
        Some((text(name)?, Value::String(text(value)?)))
    };
    let members: Map<String, Value> = text.split('&').filter_map(pair).collect();
    (!members.is_empty()).then_some(Value::Object(members))
}

/// Whether a body says that there was an error, although the status may say otherwise.
#[must_use]
pub fn says_error(body: &Value) -> bool {
    let says = |name: &str| match body.get(name) {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Object(members)) => !members.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::Bool(is_error)) => *is_error,
        Some(Value::Null) | None => false,
    };
    fails(body) || ["error", "errors", "error_code", "errorCode"].into_iter().any(says)
}

/// Whether a body says that nothing was done, as Slack's do.
#[must_use]
pub fn fails(body: &Value) -> bool {
    ["ok", "success"].into_iter().any(|name| body.get(name) == Some(&Value::Bool(false)))
}

/// Where errors stand in answers, as JSON Pointers.
const CODES: [&str; 16] = [
    "/error",
    "/error/code",
    "/error/type",
    "/error/error",
    "/error/status",
    "/error/reason",
    "/error_code",
    "/errorCode",
    "/error_type",
    "/code",
    "/status",
    "/type",
    "/name",
    "/errors/0/code",
    "/errors/0/type",
    "/errors/0/error",
];

/// Where people are told about errors.
const DESCRIPTIONS: [&str; 17] = [
    "/error_description",
    "/errorDescription",
    "/error/error_description",
    "/error/message",
    "/error/description",
    "/message",
    "/error_message",
    "/errorMessage",
    "/errorSummary",
    "/reason",
    "/detail",
    "/msg",
    "/title",
    "/errors/0/message",
    "/errors/0/detail",
    "/errors/0",
    "/error",
];

/// The code of an error: one that is known wherever it stands, or else the first.
#[must_use]
pub fn code(body: &Value) -> Option<&str> {
    let texts = || CODES.into_iter().filter_map(|pointer| body.pointer(pointer)?.as_str());
    texts().find(|code| is_known(code)).or_else(|| texts().find(|code| is_code(code)))
}

/// What people are told about an error.
#[must_use]
pub fn description(body: &Value) -> Option<&str> {
    let code = code(body);
    let mut texts = DESCRIPTIONS.into_iter().filter_map(|pointer| body.pointer(pointer)?.as_str());
    texts.find(|text| !text.trim().is_empty() && Some(*text) != code)
}

#[cfg(test)]
mod tests {
    use super::{description, parse, says_error};
    use serde_json::{Value, json};

    #[test]
    fn pages_and_texts_are_no_forms() {
        assert_eq!(parse(b"a=b&c=d%20e"), Some(json!({"a": "b", "c": "d e"})));
        for body in ["<a=b>", "<html>", "a=b c=d", "a=b\tc", "a=b\nc=d", "text", "", "a=%ff"] {
            assert_eq!(parse(body.as_bytes()), None, "{body:?}");
        }
    }

    #[test]
    fn what_is_not_empty_says_error() {
        for (said, expected) in [
            (json!("x"), true),
            (json!(""), false),
            (json!({"code": 1}), true),
            (json!({}), false),
            (json!(["x"]), true),
            (json!([]), false),
            (json!(7), true),
            (json!(0), false),
            (json!(0.0), false),
            (json!(true), true),
            (json!(false), false),
            (Value::Null, false),
        ] {
            for name in ["error", "errors", "error_code", "errorCode"] {
                assert_eq!(says_error(&json!({(name): said})), expected, "{name}: {said}");
            }
        }
    }

    #[test]
    fn descriptions_say_more_than_the_code() {
        for (body, expected) in [
            (json!({"error": "x", "error_description": " ", "message": "Why"}), Some("Why")),
            (json!({"error": "x", "error_description": "", "message": "Why"}), Some("Why")),
            (json!({"error": "invalid_grant", "message": "invalid_grant"}), None),
            (json!({"error": "The code is wrong"}), Some("The code is wrong")),
        ] {
            assert_eq!(description(&body), expected, "{body}");
        }
    }
}
