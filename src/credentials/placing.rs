//! Where credentials go in a request to a platform, and what else every request carries.

use std::collections::{BTreeMap, BTreeSet};

use base64ct::{Base64, Encoding as _};

use super::held::Held;
use crate::catalog::detail::{AuthMethod, In, Kind, Parameters, variables};
use crate::oauth::Client;
use crate::ports::user_agent;
use crate::targets::fill::fill_text;
use crate::util::percent::encode;

/// The variable of a template that stands for the access token of OAuth 2.0.
pub const ACCESS_TOKEN: &str = "accessToken";
/// The variable that stands for the ID of the account's OAuth client.
pub const CLIENT_ID: &str = "clientId";
/// The variable that stands for the secret of the account's OAuth client.
pub const CLIENT_SECRET: &str = "clientSecret";

/// The header `Accept` of actions whose document names no other type than JSON.
pub const DEFAULT_ACCEPT: &str = "application/json, */*;q=0.5";

/// Whose secret a value contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Secrecy {
    /// Nobody's: the value may be known, and a caller may send another one.
    Public,
    /// The connected user's, which callers with the scope for credentials may read.
    User,
    /// The OAuth client's, which the API never returns.
    Client,
}

/// A value that a request carries.
#[derive(Clone, PartialEq, Eq)]
pub struct Placement {
    /// Ready to send.
    pub text: String,
    /// Whose secret it contains.
    pub secrecy: Secrecy,
}

/// What a request to a platform carries.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Placed {
    /// By header names in lower case.
    pub headers: BTreeMap<String, Placement>,
    /// By the names of query parameters. Neither names nor values are encoded.
    pub query: BTreeMap<String, Placement>,
    /// Whether a template needs the ID or the secret of an OAuth client, and there is none: what it would be is missing.
    pub lacks_client: bool,
    /// The headers whose template contains a secret: a caller's own value is an error.
    reserved: BTreeSet<String>,
}

/// What is needed to place credentials.
#[derive(Clone, Copy)]
pub struct Placing<'a> {
    /// The headers of all of the connector's methods.
    pub common: &'a Parameters,
    /// The method by which the account was connected.
    pub method: &'a AuthMethod,
    /// The credentials.
    pub held: &'a Held,
    /// The account's OAuth client for the method.
    pub client: Option<&'a Client>,
}

/// Whether a template has this variable.
fn has(template: &str, name: &str) -> bool {
    variables(template).any(|variable| variable == name)
}

/// Whether requests of a method carry this variable of the OAuth client.
#[must_use]
pub fn needs(common: &Parameters, method: &AuthMethod, variable: &str) -> bool {
    let templates = common.values().chain(method.headers.values()).chain(method.query.values());
    method.is_oauth2() && templates.into_iter().any(|template| has(template, variable))
}

impl Placing<'_> {
    /// What a request carries so that the platform accepts it. AWS Signature Version 4 also signs each request.
    #[must_use]
    pub fn place(self) -> Placed {
        let mut placed = Placed::default();
        self.place_secret(&mut placed);
        for (name, template) in self.common.iter().chain(&self.method.headers) {
            let name = name.to_ascii_lowercase();
            let Some(value) = self.fill(template, name == "cookie", &mut placed.lacks_client)
            else {
                continue;
            };
            if value.secrecy > Secrecy::Public {
                placed.reserved.insert(name.clone());
            } else {
                placed.reserved.remove(&name);
            }
            placed.headers.insert(name, value);
        }
        for (name, template) in &self.method.query {
            if let Some(value) = self.fill(template, false, &mut placed.lacks_client) {
                placed.query.insert(name.clone(), value);
            }
        }
        placed
    }

    /// Places the secret of the method's kind where that kind has it, unless a template of the method does.
    fn place_secret(self, placed: &mut Placed) {
        let Self { method, held, .. } = self;
        let own = match &method.kind {
            Kind::OAuth2(_) => ACCESS_TOKEN,
            Kind::Bearer { .. } => "token",
            Kind::ApiKey(_) => "apiKey",
            Kind::Basic { .. } => "password",
            Kind::AwsSigv4 { .. } => return,
        };
        let mut templates = self.common.values().chain(method.headers.values());
        if templates.any(|template| has(template, own))
            || method.query.values().any(|template| has(template, own))
        {
            return;
        }
        let field = |name: &str| held.fields.get(name).cloned().unwrap_or_default();
        let secret = |text| Placement { text, secrecy: Secrecy::User };
        let mut authorize = |text: String| {
            placed.headers.insert("authorization".to_owned(), secret(text));
        };
        match &method.kind {
            Kind::OAuth2(_) => {
                if let Some(tokens) = &held.tokens {
                    // Whatever the platform calls the type, such as Slack’s `bot`.
                    authorize(format!("Bearer {}", tokens.access));
                }
            }
            Kind::Bearer { prefix } => authorize(after(prefix, &field("token"))),
            Kind::Basic { .. } => {
                if let Some((username, password)) = basic_pair(&method.kind, held) {
                    let pair = format!("{username}:{password}");
                    authorize(format!("Basic {}", Base64::encode_string(pair.as_bytes())));
                }
            }
            Kind::ApiKey(key) => {
                let text = after(&key.prefix, &field("apiKey"));
                match key.r#in {
                    In::Header => {
                        placed.headers.insert(key.name.to_ascii_lowercase(), secret(text));
                    }
                    In::Query => {
                        placed.query.insert(key.name.clone(), secret(text));
                    }
                    In::Cookie => {
                        let cookie = format!("{}={}", key.name, encode(&text));
                        placed.headers.insert("cookie".to_owned(), secret(cookie));
                    }
                }
            }
            Kind::AwsSigv4 { .. } => {}
        }
    }

    /// The value of a template. Returns `None` when a field in it was left empty, and when it needs an OAuth client that is
    /// missing. In cookies, values are percent-encoded.
    fn fill(self, template: &str, is_cookie: bool, lacks_client: &mut bool) -> Option<Placement> {
        let mut values = BTreeMap::new();
        let mut secrecy = Secrecy::Public;
        for name in variables(template) {
            if let Some((value, of)) = self.value(name) {
                secrecy = secrecy.max(of);
                let value = if is_cookie { encode(value) } else { value.to_owned() };
                values.insert(name, value);
            }
        }
        let value = |name: &str| values.get(name).map(String::as_str);
        match fill_text(template, value) {
            Ok(text) => Some(Placement { text, secrecy }),
            Err(error) => {
                let is_client = |name: &str| [CLIENT_ID, CLIENT_SECRET].contains(&name);
                *lacks_client |= self.method.is_oauth2() && error.field().is_some_and(is_client);
                None
            }
        }
    }

    /// The value of a variable, and whose secret it is.
    fn value(&self, name: &str) -> Option<(&str, Secrecy)> {
        if self.method.is_oauth2() {
            match name {
                ACCESS_TOKEN => {
                    let token = self.held.tokens.as_ref().map(|tokens| tokens.access.as_str());
                    return Some((token.filter(|token| !token.is_empty())?, Secrecy::User));
                }
                CLIENT_ID => return Some((self.client?.id.as_str(), Secrecy::Public)),
                CLIENT_SECRET => return Some((self.client?.secret.as_deref()?, Secrecy::Client)),
                _ => {}
            }
        }
        let is_secret = self.method.fields.iter().any(|field| field.name == name && field.secret);
        let secrecy = if is_secret { Secrecy::User } else { Secrecy::Public };
        self.held.variable(name).map(|value| (value, secrecy))
    }
}

/// The user name and the password of a basic method. Returns `None` when a field that they need was left empty, and for
/// any other method.
#[must_use]
pub fn basic_pair(kind: &Kind, held: &Held) -> Option<(String, String)> {
    let Kind::Basic { username, password, .. } = kind else { return None };
    let part = |template: &Option<String>, field: &str| match template {
        Some(template) => fill_text(template, |name| held.variable(name)).ok(),
        None => Some(held.fields.get(field).cloned().unwrap_or_default()),
    };
    Some((part(username, "username")?, part(password, "password")?))
}

/// What keeps the value of a field from being sent where the method sends it, as the end of a sentence; `common` are the
/// headers of all of the connector's methods. Returns `None` when nothing does. Whatever passes fits, so that no platform
/// is ever blamed for a key that was copied badly.
#[must_use]
pub fn misfit(
    common: &Parameters,
    method: &AuthMethod,
    field: &str,
    value: &str,
) -> Option<&'static str> {
    let is_user_name = match &method.kind {
        Kind::Basic { username: Some(template), .. } => has(template, field),
        Kind::Basic { username: None, .. } => field == "username",
        _ => false,
    };
    if is_user_name && value.contains(':') {
        return Some("must have no `:`, which would end it where it is sent (RFC 7617)");
    }
    let by_kind = match (&method.kind, field) {
        (Kind::ApiKey(key), "apiKey") => key.r#in == In::Header,
        (Kind::Bearer { .. }, "token")
        | (Kind::AwsSigv4 { .. }, "accessKeyId" | "sessionToken") => true,
        _ => false,
    };
    let mut headers = common.iter().chain(&method.headers);
    let by_template =
        headers.any(|(name, value)| !name.eq_ignore_ascii_case("cookie") && has(value, field));
    let fits = value.trim() == value && value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let what =
        "has a character that can't be sent in a header, or a space at an end: copy it again";
    ((by_kind || by_template) && !fits).then_some(what)
}

/// A secret after its prefix. A word is an authentication scheme, which a space ends (RFC 9110, section 11.4); after any
/// other text, such as `Token token=`, the secret follows at once.
#[must_use]
pub fn after(prefix: &str, secret: &str) -> String {
    let is_word = prefix.ends_with(|c: char| c.is_ascii_alphanumeric());
    format!("{prefix}{}{secret}", if is_word { " " } else { "" })
}

/// Whether a header says nothing that its sender has chosen: HTTP clients add `Accept: */*` by themselves, and this service
/// its own name.
fn is_default(name: &str, value: &str) -> bool {
    match name {
        "accept" => value.trim() == "*/*" || value == DEFAULT_ACCEPT,
        "user-agent" => value == user_agent().1,
        _ => false,
    }
}

impl Placed {
    /// The header that a caller must not send, because its template contains a secret. Returns `None` if these have none.
    #[must_use]
    pub fn conflict<'h>(&self, headers: &'h [(String, String)]) -> Option<&'h str> {
        let names = headers.iter().map(|(name, _)| name.as_str());
        // Cookies are joined.
        names.into_iter().find(|name| *name != "cookie" && self.reserved.contains(*name))
    }

    /// A request's headers with these instead of those of the same name, or behind them where these contain no secret. Other
    /// cookies stay beside those that are placed.
    #[must_use]
    pub fn over(mut self, mut headers: Vec<(String, String)>) -> Vec<(String, String)> {
        if let Some(own) = self.headers.get_mut("cookie") {
            let name = |cookie: &str| encode(cookie.split('=').next().unwrap_or_default());
            let names: Vec<String> = own.text.split("; ").map(name).collect();
            let given = headers.iter().filter(|(name, _)| name == "cookie");
            for cookie in given.flat_map(|(_, cookies)| cookies.split("; ")) {
                if !names.iter().any(|name| cookie.split('=').next() == Some(name)) {
                    own.text.push_str("; ");
                    own.text.push_str(cookie);
                }
            }
        }
        headers.retain(|(name, value)| match self.headers.get(name) {
            None => true,
            Some(_) if name == "cookie" => false,
            Some(own) => own.secrecy == Secrecy::Public && !is_default(name, value),
        });
        for (name, value) in self.headers {
            if !headers.iter().any(|(given, _)| *given == name) {
                headers.push((name, value.text));
            }
        }
        headers
    }

    /// Whether a query parameter is placed and contains a secret.
    #[must_use]
    pub fn has_secret(&self, name: &str) -> bool {
        self.query.get(name).is_some_and(|value| value.secrecy > Secrecy::Public)
    }

    /// A URL with the query parameters. One that contains no secret leaves the URL's own.
    #[must_use]
    pub fn url(&self, url: &str) -> String {
        let mut whole = url.to_owned();
        for (name, value) in &self.query {
            let name = encode(name);
            let query = url.split_once('?').map_or("", |(_, query)| query);
            let is_there = query.split('&').any(|pair| pair.split('=').next() == Some(&name));
            if is_there && value.secrecy == Secrecy::Public {
                continue;
            }
            whole.push(if whole.contains('?') { '&' } else { '?' });
            whole.push_str(&name);
            whole.push('=');
            whole.push_str(&encode(&value.text));
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use base64ct::{Base64, Encoding as _};
    use serde_json::{Value, json};

    use super::{Placed, Placement, Placing, Secrecy, misfit};
    use crate::catalog::detail::{AuthMethod, Parameters};
    use crate::credentials::held::Held;
    use crate::oauth::Client;

    fn shown(values: &BTreeMap<String, Placement>) -> Value {
        values.iter().map(|(name, value)| (name.clone(), json!(value.text))).collect()
    }

    fn place(common: &Value, method: &AuthMethod, held: &Held, client: Option<&Client>) -> Placed {
        let common: Parameters = serde_json::from_value(common.clone()).unwrap();
        Placing { common: &common, method, held, client }.place()
    }

    #[test]
    fn cookies_of_a_request_stand_behind_those_of_credentials() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let placed = |name: &str, text: &str| {
            let text = text.to_owned();
            let placement = Placement { text, secrecy: Secrecy::User };
            Placed { headers: [(name.to_owned(), placement)].into(), ..Placed::default() }
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
            let common = Parameters::new();
            let found = misfit(&common, &method, field, value);
            assert_eq!(found.is_none(), fits, "{field}: {value}");
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
            let placed = place(&json!({}), &method, &held, None);
            assert_eq!(shown(&placed.headers), headers);
            assert_eq!(placed.url("https://a.example/?b"), url);
        }
    }

    /// A method with these members besides its id.
    fn method(more: &Value) -> AuthMethod {
        let mut method = json!({"id": "m", "fields": []});
        for (name, value) in more.as_object().unwrap() {
            method[name] = value.clone();
        }
        serde_json::from_value(method).unwrap()
    }

    fn oauth(headers: &Value) -> AuthMethod {
        method(&json!({
            "type": "oauth2", "grant": "authorization_code", "tokenUrl": "https://a.example", "scopeSeparator": " ",
            "headers": headers,
        }))
    }

    #[test]
    fn a_prefix_ends_with_a_space_if_it_ends_with_a_word() {
        for (prefix, expected) in [
            ("Token", "Token k"),
            ("GenieKey", "GenieKey k"),
            ("Api-Key1", "Api-Key1 k"),
            ("Token token=", "Token token=k"),
            ("key:", "key:k"),
            ("Key ", "Key k"),
            ("sso-key \"", "sso-key \"k"),
            ("", "k"),
        ] {
            let key = json!({"type": "api_key", "in": "header", "name": "Authorization", "prefix": prefix});
            let held = json!({"type": "api_key", "fields": {"apiKey": "k"}});
            let held: Held = serde_json::from_value(held).unwrap();
            let placed = place(&json!({}), &method(&key), &held, None);
            assert_eq!(shown(&placed.headers), json!({"authorization": expected}));
        }
    }

    #[test]
    fn templates_add_headers_and_parameters() {
        let fields = json!([
            {"name": "apiKey", "label": "K", "secret": true, "required": true},
            {"name": "appKey", "label": "A", "secret": true, "required": true},
            {"name": "site", "label": "S"},
        ]);
        let held = json!({"type": "api_key", "fields": {"apiKey": "k", "appKey": "a;b"}});
        let held: Held = serde_json::from_value(held).unwrap();
        for (common, more, headers, query) in [
            // Several credentials, and a constant of the connector that the method's own wins over.
            (
                json!({"Version": "1", "X-Kind": "json"}),
                json!({"headers": {"version": "2", "X-App": "{appKey}"}}),
                json!({"version": "2", "x-kind": "json", "x-app": "a;b", "x-key": "k"}),
                json!({}),
            ),
            (
                json!({}),
                json!({"query": {"app": "{appKey}", "v": "1"}}),
                json!({"x-key": "k"}),
                json!({"app": "a;b", "v": "1"}),
            ),
            // What a template names goes there and nowhere else.
            (json!({}), json!({"query": {"key": "{apiKey}"}}), json!({}), json!({"key": "k"})),
            (
                json!({}),
                json!({"headers": {"Authorization": "Key {apiKey}:{appKey}"}}),
                json!({"authorization": "Key k:a;b"}),
                json!({}),
            ),
            // What was left empty is left out.
            (json!({}), json!({"headers": {"X-Site": "{site}"}}), json!({"x-key": "k"}), json!({})),
            // Braces in which no name stands are text; values of cookies are encoded.
            (
                json!({"X-Json": "{\"a\": 1}"}),
                json!({"headers": {"Cookie": "one={apiKey}; two={appKey}"}}),
                json!({"x-json": "{\"a\": 1}", "cookie": "one=k; two=a%3Bb"}),
                json!({}),
            ),
        ] {
            let mut whole =
                json!({"type": "api_key", "in": "header", "name": "X-Key", "fields": fields});
            for (name, value) in more.as_object().unwrap() {
                whole[name] = value.clone();
            }
            let placed = place(&common, &method(&whole), &held, None);
            assert_eq!((shown(&placed.headers), shown(&placed.query)), (headers, query));
        }
    }

    #[test]
    fn the_token_of_oauth_and_the_data_of_its_client_go_where_templates_say() {
        let held = json!({"type": "oauth2", "tokens": {"access": "t", "kind": "Bearer", "members": {"cloudId": "c"}}});
        let held: Held = serde_json::from_value(held).unwrap();
        let client = |secret: Option<&str>| Client::new("id".into(), secret.map(Into::into));
        for (headers, client, expected, lacks_client) in [
            (json!({}), None, json!({"authorization": "Bearer t"}), false),
            (json!({"X-Token": "{accessToken}"}), None, json!({"x-token": "t"}), false),
            (
                json!({"Client-Id": "{clientId}", "Cloud": "{cloudId}"}),
                Some(client(None)),
                json!({"authorization": "Bearer t", "client-id": "id", "cloud": "c"}),
                false,
            ),
            (
                json!({"X-Api-Key": "{clientId}:{clientSecret}"}),
                Some(client(Some("s"))),
                json!({"authorization": "Bearer t", "x-api-key": "id:s"}),
                false,
            ),
            (
                json!({"X-Api-Key": "{clientId}:{clientSecret}"}),
                Some(client(None)),
                json!({"authorization": "Bearer t"}),
                true,
            ),
            (json!({"Client-Id": "{clientId}"}), None, json!({"authorization": "Bearer t"}), true),
        ] {
            let placed = place(&json!({}), &oauth(&headers), &held, client.as_ref());
            assert_eq!((shown(&placed.headers), placed.lacks_client), (expected, lacks_client));
        }
        let both = oauth(
            &json!({"A": "{clientId}", "B": "{clientSecret}", "C": "{accessToken}", "D": "1"}),
        );
        let client = client(Some("s"));
        let placed = place(&json!({}), &both, &held, Some(&client));
        let secrecy: Vec<Secrecy> = placed.headers.values().map(|value| value.secrecy).collect();
        let expected = [Secrecy::Public, Secrecy::Client, Secrecy::User, Secrecy::Public];
        assert_eq!(secrecy, expected);
    }

    #[test]
    fn a_caller_replaces_what_contains_no_secret() {
        let whole = json!({
            "type": "bearer", "prefix": "Bearer",
            "fields": [{"name": "token", "label": "T", "secret": true}, {"name": "org", "label": "O"}],
            "headers": {"Version": "1", "Org": "{org}", "Key": "{token}", "Accept": "application/x", "User-Agent": "a"},
            "query": {"v": "1", "k": "{token}"},
        });
        let held = json!({"type": "bearer", "fields": {"token": "t", "org": "o"}});
        let held: Held = serde_json::from_value(held).unwrap();
        let placed = place(&json!({}), &method(&whole), &held, None);
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
        };
        assert_eq!(placed.conflict(&pairs(&[("version", "2"), ("org", "x")])), None);
        assert_eq!(placed.conflict(&pairs(&[("version", "2"), ("key", "x")])), Some("key"));
        let sent = pairs(&[("version", "2"), ("accept", "*/*"), ("user-agent", "connector-vault")]);
        let mut over = placed.clone().over(sent);
        over.sort();
        let expected = [
            ("accept", "application/x"),
            ("key", "t"),
            ("org", "o"),
            ("user-agent", "a"),
            ("version", "2"),
        ];
        assert_eq!(over, pairs(&expected));
        let sent = pairs(&[("accept", "text/csv"), ("user-agent", "theirs")]);
        let over = placed.clone().over(sent);
        assert!(
            pairs(&[("accept", "text/csv"), ("user-agent", "theirs")])
                .iter()
                .all(|it| over.contains(it))
        );
        assert_eq!(placed.url("https://a.example/?v=2"), "https://a.example/?v=2&k=t");
        assert_eq!(placed.url("https://a.example/"), "https://a.example/?k=t&v=1");
        assert!(placed.has_secret("k") && !placed.has_secret("v"));
    }

    #[test]
    fn a_pair_of_basic_authentication_is_what_its_templates_say() {
        let fields = json!({"apiKey": "k", "email": "e@x", "password": "p", "username": "u"});
        for (username, password, expected) in [
            (None, None, "u:p"),
            (Some("{apiKey}"), Some(""), "k:"),
            (Some("{apiKey}"), Some("x"), "k:x"),
            (Some("api"), Some("{apiKey}"), "api:k"),
            (Some("{email}/token"), Some("{apiKey}"), "e@x/token:k"),
        ] {
            let basic = method(&json!({
                "type": "basic", "usernameLabel": "", "passwordLabel": "", "username": username, "password": password,
            }));
            let held = json!({"type": "basic", "fields": fields});
            let held: Held = serde_json::from_value(held).unwrap();
            let placed = place(&json!({}), &basic, &held, None);
            let value = format!("Basic {}", Base64::encode_string(expected.as_bytes()));
            assert_eq!(shown(&placed.headers), json!({"authorization": value}));
            let has_colon = misfit(&Parameters::new(), &basic, "email", "a:b");
            assert_eq!(has_colon.is_some(), username == Some("{email}/token"));
        }
    }

    #[test]
    fn what_stands_in_a_template_of_a_header_must_fit_there() {
        let whole = json!({
            "type": "api_key", "in": "query", "name": "k", "headers": {"X-A": "{a}", "Cookie": "c={c}"}, "query": {"q": "{b}"},
        });
        let (whole, common) = (method(&whole), [("X-D".to_owned(), "{d}".to_owned())].into());
        for (field, fits) in
            [("a", false), ("b", true), ("c", true), ("d", false), ("apiKey", true)]
        {
            assert_eq!(misfit(&common, &whole, field, "ключ").is_none(), fits, "{field}");
        }
    }
}
