//! Parses response bodies, as JSON or as a form, and extracts errors from them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::oauth::error::{is_code, is_known};
use crate::util::collect::by_insertion;
use crate::util::percent::decode_form;

/// Parses JSON or a form, regardless of the content type. Some servers wrap the object in an array, or
/// its JSON in a string.
pub fn parse(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.starts_with('[') {
        return serde_json::from_str::<Vec<Value>>(text).ok()?.into_iter().find(Value::is_object);
    }
    if text.starts_with('"') {
        let inner: String = serde_json::from_str(text).ok()?;
        return Some(inner.trim()).filter(|inner| inner.starts_with('{')).and_then(parse);
    }
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
    let members: Map<String, Value> = by_insertion(text.split('&').filter_map(pair));
    (!members.is_empty()).then_some(Value::Object(members))
}

/// A body that is neither JSON nor a form but plain text, such as `Invalid refresh token`. Returns
/// `None` for HTML, which a proxy in front of the authorization server sent.
pub fn plain_text(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_words = !text.is_empty() && text.len() <= 400 && !text.contains(['<', '{']);
    is_words.then_some(text)
}

/// Whether a body contains an error, regardless of the status.
pub fn has_error(body: &Value) -> bool {
    let is_error = |name: &str| match body.get(name) {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Object(members)) => !members.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::Bool(is_error)) => *is_error,
        Some(Value::Null) | None => false,
    };
    reports_slack_failure(body)
        || ["error", "errors", "error_code", "errorCode"].into_iter().any(is_error)
}

/// Whether a body reports a failure with a known code. Such a body contains no new tokens. With an
/// unknown code, it might, and these tokens must not be lost.
pub fn is_refusal(body: &Value) -> bool {
    reports_slack_failure(body) && code(body).is_some_and(is_known)
}

/// Whether a body reports a failure in the format of Slack.
fn reports_slack_failure(body: &Value) -> bool {
    ["ok", "success"].into_iter().any(|name| body.get(name) == Some(&Value::Bool(false)))
}

/// JSON Pointers at which platforms return error codes.
const CODES: [&str; 17] = [
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
    "/errors/0/errorType",
];

/// JSON Pointers at which platforms return error descriptions.
const DESCRIPTIONS: [&str; 18] = [
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
    "/errors",
    "/error",
];

/// JSON Pointers at which platforms return the name of an invalid parameter.
const PARAMETERS: [&str; 8] = [
    "/errors/0/resource",
    "/errors/0/field",
    "/errors/0/param",
    "/errors/0/parameter",
    "/error/param",
    "/error/field",
    "/param",
    "/field",
];

/// The error code: preferably a known code, otherwise the code for the invalid parameter, otherwise
/// any code.
pub fn code(body: &Value) -> Option<&str> {
    let texts = || CODES.into_iter().filter_map(|pointer| body.pointer(pointer)?.as_str());
    texts()
        .find(|code| is_known(code))
        .or_else(|| code_of_parameter(body))
        .or_else(|| texts().find(|code| is_code(code)))
}

/// The error code for an invalid parameter. For example, Strava reports the field `refresh_token`
/// of the resource `RefreshToken`, and web frameworks list errors by parameter.
fn code_of_parameter(body: &Value) -> Option<&'static str> {
    let code_of = |name: &str| match name.to_ascii_lowercase().replace('_', "").as_str() {
        "refreshtoken" => Some("invalid_refresh_token"),
        "authorizationcode" => Some("invalid_code"),
        "clientid" | "clientsecret" => Some("invalid_client"),
        _ => None,
    };
    // Reddit sends this body if a refresh token is no longer valid.
    let is_bare = body.as_object().is_some_and(|members| members.len() == 2)
        && body.get("error").and_then(Value::as_u64) == Some(400)
        && body.get("message").and_then(Value::as_str) == Some("Bad Request");
    if is_bare {
        return Some("invalid_refresh_token");
    }
    let named =
        || PARAMETERS.into_iter().find_map(|pointer| code_of(body.pointer(pointer)?.as_str()?));
    let listed = || {
        let lists = [Some(body), body.get("errors"), body.get("error")].into_iter().flatten();
        let lists = lists.filter_map(Value::as_object).flatten();
        let mut faults = lists.filter(|(_, faults)| faults.is_array());
        faults.find_map(|(name, _)| code_of(name))
    };
    let found = named().or_else(listed)?;
    // A missing parameter is an error in the request, not in the token.
    let text = body.to_string().to_lowercase();
    let is_absent = ["missing", "required", "blank"].into_iter().any(|word| text.contains(word));
    (!is_absent).then_some(found)
}

pub fn description(body: &Value) -> Option<&str> {
    let code = code(body);
    let mut texts = DESCRIPTIONS.into_iter().filter_map(|pointer| body.pointer(pointer)?.as_str());
    texts.find(|text| !text.trim().is_empty() && Some(*text) != code)
}

#[cfg(test)]
mod tests {
    use super::{description, has_error, parse};
    use serde_json::{Value, json};

    #[test]
    fn html_and_text_are_not_forms() {
        assert_eq!(parse("a=b&c=d%20e"), Some(json!({"a": "b", "c": "d e"})));
        for body in ["<a=b>", "<html>", "a=b c=d", "a=b\tc", "a=b\nc=d", "text", "", "a=%ff"] {
            assert_eq!(parse(body), None, "{body:?}");
        }
    }

    #[test]
    fn nonempty_error_members_are_errors() {
        for (text, expected) in [
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
                assert_eq!(has_error(&json!({(name): text})), expected, "{name}: {text}");
            }
        }
    }

    #[test]
    fn a_description_can_override_the_code() {
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
