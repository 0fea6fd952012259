//! Validates strings in connect requests. Each function returns `None` for a valid value, otherwise
//! the error, as the end of a sentence that begins with the member's name.

use crate::oauth::authorization::RESERVED_PARAMETERS;
use crate::util::rfc3339;

/// The maximum length of a secret or of a field's value.
pub const MAX_SECRET: usize = 16_384;
/// The maximum length of a client's id, a scope or a parameter.
pub const MAX_TEXT: usize = 1024;
pub const MAX_URL: usize = 2048;

/// Checks the id of an auth method.
pub fn method_id(text: &str) -> Option<&'static str> {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_valid = (1..=64).contains(&text.len()) && text.bytes().all(is_allowed);
    (!is_valid).then_some(
        "must be the id of one of the connector's `authMethods`: 1 to 64 of a-z, 0-9 and -",
    )
}

/// Checks the name of an OAuth client of the account.
pub fn client_name(text: &str) -> Option<&'static str> {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_valid = (1..=40).contains(&text.len()) && text.bytes().all(is_allowed);
    (!is_valid).then_some("must be the name of an OAuth client: 1 to 40 of a-z, 0-9 and -")
}

/// Checks a `client_id` (RFC 6749, appendix A.1).
pub fn client_id(text: &str) -> Option<&'static str> {
    (!is_visible(text, MAX_TEXT))
        .then_some("must have 1 to 1024 ASCII characters and no control character")
}

/// Checks a `client_secret` (RFC 6749, appendix A.2).
pub fn client_secret(text: &str) -> Option<&'static str> {
    let message = "must be null or have 1 to 16384 ASCII characters and no control character";
    (!is_visible(text, MAX_SECRET)).then_some(message)
}

/// Checks a platform's scope (RFC 6749, section 3.3). A comma is not allowed, because some
/// platforms separate scopes by commas.
pub fn scope(text: &str) -> Option<&'static str> {
    let is_valid = is_visible(text, MAX_TEXT) && !text.contains([' ', ',', '"', '\\']);
    (!is_valid).then_some(
        "must be one scope: 1 to 1024 visible ASCII characters without comma, quote and backslash",
    )
}

/// Checks an access token, which is sent in a header (RFC 6749, appendix A.12).
pub fn access_token(text: &str) -> Option<&'static str> {
    let message = "must have 1 to 16384 visible ASCII characters, and no space";
    (!is_visible(text, MAX_SECRET) || text.contains(' ')).then_some(message)
}

/// Checks a refresh token (RFC 6749, appendix A.17).
pub fn refresh_token(text: &str) -> Option<&'static str> {
    let message = "must have 1 to 16384 ASCII characters and no control character";
    (!is_visible(text, MAX_SECRET)).then_some(message)
}

/// Checks a secret that is sent to a platform.
pub fn secret(text: &str) -> Option<&'static str> {
    (!is_value(text)).then_some("must have 1 to 16384 characters and no control character")
}

/// Checks the name and the value of a field. An empty value is allowed: it counts as missing.
pub fn field(name: &str, value: &str) -> Option<&'static str> {
    if !is_visible(name, 64) {
        return Some("is not the name of a field");
    }
    (!value.is_empty()).then(|| secret(value)).flatten()
}

/// Checks a parameter of an authorization request.
pub fn parameter(name: &str, value: &str) -> Option<&'static str> {
    if !is_visible(name, 64) || name.contains([' ', '&', '=', '#']) {
        return Some("is not the name of a parameter");
    }
    if RESERVED_PARAMETERS.contains(&name) {
        return Some("is set by the service and can't be overridden");
    }
    (!is_visible(value, MAX_TEXT))
        .then_some("must have 1 to 1024 ASCII characters and no control character")
}

/// Checks the form of a return URL. Its origin is checked separately.
pub fn return_url(text: &str) -> Option<&'static str> {
    let message =
        "must be an absolute https URL, or an http one of this machine, without a user name";
    let local = ["http://localhost", "http://127.0.0.1"].iter().any(|start| {
        let rest = text.strip_prefix(start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/', '?', '#']))
    });
    let rest = if local { text.strip_prefix("http://") } else { text.strip_prefix("https://") };
    let Some(rest) = rest else { return Some(message) };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:".contains(&byte);
    let is_valid = is_visible(text, MAX_URL)
        && !text.contains([' ', '\\', '"', '<', '>', '`'])
        && !authority.is_empty()
        && authority.bytes().all(is_allowed);
    (!is_valid).then_some(message)
}

/// The origin of a URL that [`return_url`] accepts, in the form that browsers send.
pub fn origin(url: &str) -> String {
    let authority = url.find("://").map_or(0, |at| at.saturating_add(3));
    let rest = url.get(authority..).unwrap_or_default();
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let origin = url.get(..authority.saturating_add(end)).unwrap_or_default().to_ascii_lowercase();
    let default = if origin.starts_with("https://") { ":443" } else { ":80" };
    origin.strip_suffix(default).map_or(origin.clone(), str::to_owned)
}

/// Checks a time in RFC 3339, in UTC or with an offset.
pub fn timestamp(text: &str) -> Option<&'static str> {
    rfc3339::parse(text)
        .is_none()
        .then_some("must be null or a time as in 2030-01-31T12:00:00Z (RFC 3339)")
}

/// Whether a string has 1 to `max` characters, all of them visible ASCII or spaces.
fn is_visible(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len()) && text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
}

/// Whether a string can be sent to a platform. A control character would end a header.
fn is_value(text: &str) -> bool {
    (1..=MAX_SECRET).contains(&text.len()) && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::{
        MAX_SECRET, MAX_TEXT, MAX_URL, access_token, client_id, client_secret, field, method_id,
        origin, parameter, refresh_token, return_url, scope, secret, timestamp,
    };

    #[test]
    fn validates_method_ids() {
        let [longest, longer] = [64, 65].map(|length| "m".repeat(length));
        for id in ["oauth2", "api-key", "0", "-", longest.as_str()] {
            assert_eq!(method_id(id), None, "{id}");
        }
        for id in ["", "OAuth2", "api_key", "a b", "é", longer.as_str()] {
            assert!(method_id(id).is_some(), "{id}");
        }
    }

    #[test]
    fn accepts_empty_fields_but_not_empty_secrets() {
        for (text, is_secret, is_field) in [
            ("", false, true),
            ("s", true, true),
            ("pass word é", true, true),
            ("a\nb", false, false),
            ("a\u{0}", false, false),
        ] {
            assert_eq!(secret(text).is_none(), is_secret, "{text:?}");
            assert_eq!(field("name", text).is_none(), is_field, "{text:?}");
        }
        let longest = "n".repeat(64);
        for (name, is_name) in
            [("", false), ("a\nb", false), (&longest, true), (&format!("{longest}n"), false)]
        {
            assert_eq!(field(name, "").is_none(), is_name, "{name:?}");
        }
    }

    #[test]
    fn validates_oauth_strings() {
        type Rule = fn(&str) -> Option<&'static str>;
        let value: Rule = |value| parameter("prompt", value);
        let rules: [(Rule, usize, &str); 6] = [
            (client_id, MAX_TEXT, " ~\","),
            (client_secret, MAX_SECRET, " ~\","),
            (scope, MAX_TEXT, "~:/"),
            (access_token, MAX_SECRET, "~\","),
            (refresh_token, MAX_SECRET, " ~\","),
            (value, MAX_TEXT, " ~\","),
        ];
        for (index, (rule, max, good)) in rules.into_iter().enumerate() {
            assert_eq!(rule(good), None, "{index}");
            assert_eq!(rule(&"x".repeat(max)), None, "{index}");
            for bad in ["", "a\nb", "é", "\u{7f}", &"x".repeat(max + 1)] {
                assert!(rule(bad).is_some(), "{index} {bad:.10?}");
            }
        }
        for text in ["a b", "a,b", "a\"b", "a\\b"] {
            assert!(scope(text).is_some(), "{text}");
        }
        assert!(access_token("a b").is_some());
        assert_eq!(secret(&"é".repeat(MAX_SECRET / 2)), None);
        assert!(secret(&"x".repeat(MAX_SECRET + 1)).is_some());
    }

    #[test]
    fn validates_parameter_names() {
        let [longest, longer] = [64, 65].map(|length| "n".repeat(length));
        for (name, is_name) in [
            ("prompt", true),
            (longest.as_str(), true),
            (longer.as_str(), false),
            ("", false),
            ("a b", false),
            ("a&b", false),
            ("a=b", false),
            ("a#b", false),
            ("state", false),
        ] {
            assert_eq!(parameter(name, "x").is_none(), is_name, "{name}");
        }
    }

    #[test]
    fn times_follow_rfc_3339() {
        assert_eq!(timestamp("2030-01-31T12:00:00+01:00"), None);
        assert!(timestamp("tomorrow").is_some() && timestamp("2030-01-31").is_some());
    }

    #[test]
    fn validates_return_urls() {
        for (url, expected) in [
            ("https://app.example", "https://app.example"),
            ("https://App.example/a?b=c#d", "https://app.example"),
            ("https://app.example:443/", "https://app.example"),
            ("https://app.example:8443/", "https://app.example:8443"),
            ("http://localhost:5173/done", "http://localhost:5173"),
            ("http://127.0.0.1", "http://127.0.0.1"),
        ] {
            assert_eq!(return_url(url), None, "{url}");
            assert_eq!(origin(url), expected, "{url}");
        }
        let start = "https://app.example/";
        let longest = format!("{start}{}", "a".repeat(MAX_URL - start.len()));
        assert_eq!(return_url(&longest), None);
        assert!(return_url(&format!("{longest}a")).is_some());
        for url in [
            "",
            "/done",
            "//evil.example",
            "javascript:alert(1)",
            "data:text/html,x",
            "http://app.example",
            "http://localhost.evil.example",
            "http://localhost@evil.example",
            "https://",
            "https://user@app.example",
            "https://app.example\\@evil.example",
            "https://app.example/\n",
            "https://bücher.example",
            "https://a b.example",
            "https://app.example/a b",
            "https://app.example/?a=<b",
            "https://app.example/?a=b>",
            "https://app.example/#\"",
            "https://app.example/`",
            "https://app.example/\\",
        ] {
            assert!(return_url(url).is_some(), "{url}");
        }
    }
}
