//! Where credentials go in a request to a platform.

use std::collections::BTreeMap;

use base64ct::{Base64, Encoding as _};

use super::held::Held;
use crate::catalog::detail::{AuthMethod, In, Kind};
use crate::percent::encode;

/// What a request to a platform carries. Both are ready to send.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Placed {
    /// Header names in lower case, with their values.
    pub headers: BTreeMap<String, String>,
    /// Query parameters, not encoded.
    pub query: BTreeMap<String, String>,
}

/// What a request carries so that the platform accepts it. Nothing for AWS Signature Version 4, which signs each request.
#[must_use]
pub fn place(method: &AuthMethod, held: &Held) -> Placed {
    let mut placed = Placed::default();
    let field = |name: &str| held.fields.get(name).map(String::as_str).unwrap_or_default();
    let mut authorize = |value: String| {
        placed.headers.insert("authorization".to_owned(), value);
    };
    match &method.kind {
        Kind::OAuth2(_) => {
            if let Some(tokens) = &held.tokens {
                // Whatever the platform calls the type, such as Slack’s `bot`.
                authorize(format!("Bearer {}", tokens.access));
            }
        }
        Kind::Bearer { prefix } => authorize(after(prefix, field("token"))),
        Kind::Basic { .. } => {
            let pair = format!("{}:{}", field("username"), field("password"));
            authorize(format!("Basic {}", Base64::encode_string(pair.as_bytes())));
        }
        Kind::ApiKey(key) => {
            let value = after(&key.prefix, field("apiKey"));
            match key.r#in {
                In::Header => placed.headers.insert(key.name.to_ascii_lowercase(), value),
                In::Query => placed.query.insert(key.name.clone(), value),
                In::Cookie => placed
                    .headers
                    .insert("cookie".to_owned(), format!("{}={}", key.name, encode(&value))),
            };
        }
        Kind::AwsSigv4 { .. } => {}
    }
    placed
}

/// What keeps the value of a field from being sent where the method sends it, as the end of a sentence. Returns `None`
/// when nothing does. Whatever passes fits, so that no platform is ever blamed for a key that was copied badly.
#[must_use]
pub fn misfit(kind: &Kind, field: &str, value: &str) -> Option<&'static str> {
    let is_in_header = match (kind, field) {
        (Kind::Basic { .. }, "username") => {
            let what = "must have no `:`, which would end it where it is sent (RFC 7617)";
            return value.contains(':').then_some(what);
        }
        (Kind::ApiKey(key), "apiKey") => key.r#in == In::Header,
        (Kind::Bearer { .. }, "token")
        | (Kind::AwsSigv4 { .. }, "accessKeyId" | "sessionToken") => true,
        _ => false,
    };
    let fits = value.trim() == value && value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let what =
        "has a character that can't be sent in a header, or a space at an end: copy it again";
    (is_in_header && !fits).then_some(what)
}

/// A secret after its prefix, with a space between them.
fn after(prefix: &str, secret: &str) -> String {
    if prefix.is_empty() { secret.to_owned() } else { format!("{prefix} {secret}") }
}

impl Placed {
    /// A request's headers with these instead of those of the same name. Other cookies stay beside the one that is placed.
    #[must_use]
    pub fn over(mut self, mut headers: Vec<(String, String)>) -> Vec<(String, String)> {
        if let Some(own) = self.headers.get_mut("cookie") {
            let name = encode(own.split('=').next().unwrap_or_default());
            let given = headers.iter().filter(|(name, _)| name == "cookie");
            for cookie in given.flat_map(|(_, cookies)| cookies.split("; ")) {
                if cookie.split('=').next() != Some(&name) {
                    own.push_str("; ");
                    own.push_str(cookie);
                }
            }
        }
        headers.retain(|(name, _)| !self.headers.contains_key(name));
        headers.extend(self.headers);
        headers
    }

    /// A URL with the query parameters.
    #[must_use]
    pub fn url(&self, url: &str) -> String {
        let mut whole = url.to_owned();
        for (name, value) in &self.query {
            whole.push(if whole.contains('?') { '&' } else { '?' });
            whole.push_str(&encode(name));
            whole.push('=');
            whole.push_str(&encode(value));
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Placed, misfit, place};
    use crate::catalog::detail::AuthMethod;
    use crate::credentials::held::Held;

    #[test]
    fn cookies_of_a_request_stand_behind_those_of_credentials() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let placed = |name: &str, value: &str| Placed {
            headers: [header(name, value)].into(),
            ..Placed::default()
        };
        let given = vec![header("cookie", "sid=theirs; a=1; sid=x; b=2"), header("x", "1")];
        let both = placed("cookie", "sid=ours").over(given.clone());
        assert_eq!(both, [header("x", "1"), header("cookie", "sid=ours; a=1; b=2")]);
        let other = placed("x", "ours").over(given);
        assert_eq!(other, [header("cookie", "sid=theirs; a=1; sid=x; b=2"), header("x", "ours")]);
    }

    #[test]
    fn what_a_header_can_not_hold_is_a_misfit() {
        let key = |place: &str| json!({"id": "k", "type": "api_key", "in": place, "name": "k", "prefix": "", "fields": []});
        let basic = json!({"id": "b", "type": "basic", "usernameLabel": "", "passwordLabel": "", "fields": []});
        let bearer = json!({"id": "t", "type": "bearer", "prefix": "Bearer", "fields": []});
        let amazon =
            json!({"id": "a", "type": "aws_sigv4", "service": "s3", "regions": [], "fields": []});
        for (method, field, value, fits) in [
            (key("header"), "apiKey", "k-1", true),
            (key("header"), "apiKey", "token=\"a b\", more", true),
            (key("header"), "apiKey", "ключ", false),
            (key("header"), "apiKey", "k\u{200b}", false),
            (key("header"), "apiKey", "“k”", false),
            (key("header"), "apiKey", " k", false),
            (key("header"), "apiKey", "k ", false),
            (key("header"), "apiKey", " ", false),
            // These are encoded, and so is a variable of a URL.
            (key("query"), "apiKey", " ключ ", true),
            (key("cookie"), "apiKey", "ключ;", true),
            (key("header"), "region", "ключ", true),
            (basic.clone(), "username", "ann", true),
            (basic.clone(), "username", "änn b", true),
            (basic.clone(), "username", "ann:x", false),
            (basic, "password", " pä:ss ", true),
            (bearer.clone(), "token", "t.1", true),
            (bearer, "token", "t\u{a0}", false),
            (amazon.clone(), "accessKeyId", "AKIAé", false),
            (amazon.clone(), "sessionToken", "a\u{2011}b", false),
            (amazon, "secretAccessKey", "a+b/é", true),
        ] {
            let method: AuthMethod = serde_json::from_value(method).unwrap();
            assert_eq!(misfit(&method.kind, field, value).is_none(), fits, "{field}: {value}");
        }
    }

    #[test]
    fn credentials_go_where_the_method_says() {
        let oauth = json!({
            "id": "o", "type": "oauth2", "fields": [], "grant": "authorization_code", "tokenUrl": "https://a.example",
            "issuer": null, "authorizationUrl": null, "refreshUrl": null, "revocationUrl": null, "scopes": [],
            "scopeSeparator": " ", "pkce": "none", "tokenAuth": "none", "authorizationParameters": {},
            "tokenParameters": {}, "tokenBody": "form", "tokenPointer": null, "tokenMembers": [],
        });
        let tokens = json!({"access": "t", "kind": "Bearer"});
        for (method, held, headers, url) in [
            (
                json!({"id": "k", "type": "api_key", "in": "header", "name": "X-Key", "prefix": "", "fields": []}),
                json!({"type": "api_key", "fields": {"apiKey": "s"}}),
                json!({"x-key": "s"}),
                "https://a.example/?b",
            ),
            (
                json!({"id": "k", "type": "api_key", "in": "header", "name": "Authorization", "prefix": "Key", "fields": []}),
                json!({"type": "api_key", "fields": {"apiKey": "s"}}),
                json!({"authorization": "Key s"}),
                "https://a.example/?b",
            ),
            (
                json!({"id": "k", "type": "api_key", "in": "query", "name": "k y", "prefix": "", "fields": []}),
                json!({"type": "api_key", "fields": {"apiKey": "a&b"}}),
                json!({}),
                "https://a.example/?b&k%20y=a%26b",
            ),
            (
                json!({"id": "k", "type": "api_key", "in": "cookie", "name": "sid", "prefix": "", "fields": []}),
                json!({"type": "api_key", "fields": {"apiKey": "a;b"}}),
                json!({"cookie": "sid=a%3Bb"}),
                "https://a.example/?b",
            ),
            (
                json!({"id": "b", "type": "basic", "usernameLabel": "", "passwordLabel": "", "fields": []}),
                json!({"type": "basic", "fields": {"username": "Aladdin", "password": "open sesame"}}),
                json!({"authorization": "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="}),
                "https://a.example/?b",
            ),
            (
                json!({"id": "t", "type": "bearer", "prefix": "Bearer", "fields": []}),
                json!({"type": "bearer", "fields": {"token": "s"}}),
                json!({"authorization": "Bearer s"}),
                "https://a.example/?b",
            ),
            (
                oauth,
                json!({"type": "oauth2", "tokens": tokens}),
                json!({"authorization": "Bearer t"}),
                "https://a.example/?b",
            ),
        ] {
            let method: AuthMethod = serde_json::from_value(method).unwrap();
            let held: Held = serde_json::from_value(held).unwrap();
            let placed = place(&method, &held);
            assert_eq!(json!(placed.headers), headers);
            assert_eq!(placed.url("https://a.example/?b"), url);
        }
    }
}
