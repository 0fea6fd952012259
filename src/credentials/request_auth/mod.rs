//! Places credentials in a request to a platform, with the other headers and parameters that each request carries.

use std::collections::{BTreeMap, BTreeSet};

use base64ct::{Base64, Encoding as _};

use crate::catalog::detail::{ApiKeyLocation, AuthMethod, Kind, Parameters, variables};
use crate::credentials::model::Credentials;
use crate::oauth::Client;
use crate::ports::user_agent;
use crate::targets::fill::fill_text;
use crate::util::percent::encode;

/// The template variable for the access token.
pub const ACCESS_TOKEN: &str = "accessToken";
/// The template variable for the ID of the account's OAuth client.
pub const CLIENT_ID: &str = "clientId";
/// The template variable for the secret of the account's OAuth client.
pub const CLIENT_SECRET: &str = "clientSecret";

/// The `Accept` header of actions whose API document lists no media type except JSON.
pub const DEFAULT_ACCEPT: &str = "application/json, */*;q=0.5";

/// The owner of the secret that a value contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Secrecy {
    /// Not a secret: a caller may override the value.
    Public,
    /// The connected user's secret, which callers with the scope for credentials may read.
    User,
    /// The OAuth client's secret, which the API never returns.
    Client,
}

/// A value that a request carries.
#[derive(Clone, PartialEq, Eq)]
pub struct AuthValue {
    /// The value as it is sent.
    pub text: String,
    /// The owner of the secret in the value.
    pub secrecy: Secrecy,
}

/// The headers and query parameters that authenticate a request.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RequestAuth {
    /// Headers by their lower-case names.
    pub headers: BTreeMap<String, AuthValue>,
    /// Query parameters by their names. Neither names nor values are encoded.
    pub query: BTreeMap<String, AuthValue>,
    /// Whether a value is missing because its template needs the ID or the secret of an OAuth
    /// client, and there is no client.
    pub lacks_client: bool,
    /// The headers whose template contains a secret. A caller must not send them.
    reserved: BTreeSet<String>,
}

/// The input from which the headers and parameters are built.
#[derive(Clone, Copy)]
pub struct AuthPlacement<'a> {
    /// The headers that all of the connector's methods have.
    pub common: &'a Parameters,
    /// The method that the account was connected with.
    pub method: &'a AuthMethod,
    pub credentials: &'a Credentials,
    /// The account's OAuth client for the method.
    pub client: Option<&'a Client>,
}

/// Whether a template has this variable.
fn has_variable(template: &str, name: &str) -> bool {
    variables(template).any(|variable| variable == name)
}

/// Whether the requests of a method contain this variable of the OAuth client.
pub fn needs(common: &Parameters, method: &AuthMethod, variable: &str) -> bool {
    let templates = common.values().chain(method.headers.values()).chain(method.query.values());
    method.is_oauth2() && templates.into_iter().any(|template| has_variable(template, variable))
}

impl AuthPlacement<'_> {
    /// Builds the headers and parameters. With AWS Signature Version 4, each request must be signed too.
    pub fn place(self) -> RequestAuth {
        let mut auth = RequestAuth::default();
        self.place_secret(&mut auth);
        for (name, template) in self.common.iter().chain(&self.method.headers) {
            let name = name.to_ascii_lowercase();
            let Some(value) = self.fill(template, name == "cookie", &mut auth.lacks_client) else {
                continue;
            };
            if value.secrecy > Secrecy::Public {
                auth.reserved.insert(name.clone());
            } else {
                auth.reserved.remove(&name);
            }
            auth.headers.insert(name, value);
        }
        for (name, template) in &self.method.query {
            if let Some(value) = self.fill(template, false, &mut auth.lacks_client) {
                auth.query.insert(name.clone(), value);
            }
        }
        auth
    }

    /// Adds the secret where methods of this kind send it, unless a template of the method contains
    /// the secret.
    fn place_secret(self, auth: &mut RequestAuth) {
        let Self { method, credentials, .. } = self;
        let variable = match &method.kind {
            Kind::OAuth2(_) => ACCESS_TOKEN,
            Kind::Bearer { .. } => "token",
            Kind::ApiKey(_) => "apiKey",
            Kind::Basic { .. } => "password",
            Kind::AwsSigv4 { .. } => return,
        };
        let mut templates = self.common.values().chain(method.headers.values());
        if templates.any(|template| has_variable(template, variable))
            || method.query.values().any(|template| has_variable(template, variable))
        {
            return;
        }
        let field = |name: &str| credentials.fields.get(name).cloned().unwrap_or_default();
        let secret = |text| AuthValue { text, secrecy: Secrecy::User };
        let mut authorize = |text: String| {
            auth.headers.insert("authorization".to_owned(), secret(text));
        };
        match &method.kind {
            Kind::OAuth2(_) => {
                if let Some(tokens) = &credentials.tokens {
                    // Sends `Bearer` even if the platform uses another name for the type, such as Slack's `bot`.
                    authorize(format!("Bearer {}", tokens.access));
                }
            }
            Kind::Bearer { prefix } => authorize(with_prefix(prefix, &field("token"))),
            Kind::Basic { .. } => {
                if let Some((username, password)) = basic_credentials(&method.kind, credentials) {
                    let pair = format!("{username}:{password}");
                    authorize(format!("Basic {}", Base64::encode_string(pair.as_bytes())));
                }
            }
            Kind::ApiKey(key) => {
                let text = with_prefix(&key.prefix, &field("apiKey"));
                match key.r#in {
                    ApiKeyLocation::Header => {
                        auth.headers.insert(key.name.to_ascii_lowercase(), secret(text));
                    }
                    ApiKeyLocation::Query => {
                        auth.query.insert(key.name.clone(), secret(text));
                    }
                    ApiKeyLocation::Cookie => {
                        let cookie = format!("{}={}", key.name, encode(&text));
                        auth.headers.insert("cookie".to_owned(), secret(cookie));
                    }
                }
            }
            Kind::AwsSigv4 { .. } => {}
        }
    }

    /// Fills a template. Returns `None` when one of its fields is empty, or when it needs an OAuth
    /// client that is missing. In cookies, values are percent-encoded.
    fn fill(self, template: &str, is_cookie: bool, lacks_client: &mut bool) -> Option<AuthValue> {
        let mut values = BTreeMap::new();
        let mut secrecy = Secrecy::Public;
        for name in variables(template) {
            if let Some((value, value_secrecy)) = self.value(name) {
                secrecy = secrecy.max(value_secrecy);
                let value = if is_cookie { encode(value) } else { value.to_owned() };
                values.insert(name, value);
            }
        }
        let value = |name: &str| values.get(name).map(String::as_str);
        match fill_text(template, &value) {
            Ok(text) => Some(AuthValue { text, secrecy }),
            Err(error) => {
                let is_client = |name: &str| [CLIENT_ID, CLIENT_SECRET].contains(&name);
                *lacks_client |= self.method.is_oauth2() && error.field().is_some_and(is_client);
                None
            }
        }
    }

    /// The value of a variable, and the owner of that secret.
    fn value(&self, name: &str) -> Option<(&str, Secrecy)> {
        if self.method.is_oauth2() {
            match name {
                ACCESS_TOKEN => {
                    let token =
                        self.credentials.tokens.as_ref().map(|tokens| tokens.access.as_str());
                    return Some((token.filter(|token| !token.is_empty())?, Secrecy::User));
                }
                CLIENT_ID => return Some((self.client?.id.as_str(), Secrecy::Public)),
                CLIENT_SECRET => return Some((self.client?.secret.as_deref()?, Secrecy::Client)),
                _ => {}
            }
        }
        let is_secret = self.method.fields.iter().any(|field| field.name == name && field.secret);
        let secrecy = if is_secret { Secrecy::User } else { Secrecy::Public };
        self.credentials.variable(name).map(|value| (value, secrecy))
    }
}

/// The user name and password of HTTP Basic authentication. Returns `None` when a field that they
/// need is empty, and for other methods.
pub fn basic_credentials(kind: &Kind, credentials: &Credentials) -> Option<(String, String)> {
    let Kind::Basic { username, password, .. } = kind else { return None };
    let part = |template: &Option<String>, field: &str| match template {
        Some(template) => fill_text(template, &|name| credentials.variable(name)).ok(),
        None => Some(credentials.fields.get(field).cloned().unwrap_or_default()),
    };
    Some((part(username, "username")?, part(password, "password")?))
}

/// Returns why a field's value can't be sent where the method sends it, as the end of a sentence.
/// `common` are the headers of all of the connector's methods. This rejects a badly copied key
/// before it is sent to the platform.
pub fn unsendable_reason(
    common: &Parameters,
    method: &AuthMethod,
    field: &str,
    value: &str,
) -> Option<&'static str> {
    let is_user_name = match &method.kind {
        Kind::Basic { username: Some(template), .. } => has_variable(template, field),
        Kind::Basic { username: None, .. } => field == "username",
        _ => false,
    };
    if is_user_name && value.contains(':') {
        return Some("must have no `:`, which would end it where it is sent (RFC 7617)");
    }
    let is_header_secret = match (&method.kind, field) {
        (Kind::ApiKey(key), "apiKey") => key.r#in == ApiKeyLocation::Header,
        (Kind::Bearer { .. }, "token")
        | (Kind::AwsSigv4 { .. }, "accessKeyId" | "sessionToken") => true,
        _ => false,
    };
    let mut headers = common.iter().chain(&method.headers);
    let is_in_header_template = headers
        .any(|(name, value)| !name.eq_ignore_ascii_case("cookie") && has_variable(value, field));
    let is_sendable =
        value.trim() == value && value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let message =
        "has a character that can't be sent in a header, or a space at an end: copy it again";
    ((is_header_secret || is_in_header_template) && !is_sendable).then_some(message)
}

/// A prefix and a secret. If the prefix ends with a word, it is an authentication scheme, and a space follows (RFC
/// 9110, section 11.4). After anything else, such as `Token token=`, the secret follows immediately.
pub fn with_prefix(prefix: &str, secret: &str) -> String {
    let is_word = prefix.ends_with(|c: char| c.is_ascii_alphanumeric());
    format!("{prefix}{}{secret}", if is_word { " " } else { "" })
}

/// Whether a header has a default value that its sender did not choose: HTTP clients send `Accept: */*`, and this
/// service its own `User-Agent`.
fn is_default(name: &str, value: &str) -> bool {
    match name {
        "accept" => value.trim() == "*/*" || value == DEFAULT_ACCEPT,
        "user-agent" => value == user_agent().1,
        _ => false,
    }
}

/// A header's name in lower case, with hyphens instead of other punctuation. Servers that name
/// headers like CGI (WSGI, Rack, PHP) read `-` as `_` (RFC 3875, section 4.1.18), and some do so
/// for every character except letters and digits.
pub fn normalize_header_name(name: &str) -> String {
    name.bytes().map(to_hyphen).map(char::from).collect()
}

const fn to_hyphen(byte: u8) -> u8 {
    if byte.is_ascii_alphanumeric() { byte } else { b'-' }
}

/// Whether two lower-case names mean the same header. They may differ in punctuation.
pub fn is_same_header(one: &str, other: &str) -> bool {
    let [one, other] =
        [one, other].map(|name| name.trim_matches(|letter: char| !letter.is_ascii_alphanumeric()));
    one.bytes().map(to_hyphen).eq(other.bytes().map(to_hyphen))
}

impl RequestAuth {
    /// The first of the headers that a caller must not send, because their templates contain secrets.
    pub fn reserved_header<'h>(&self, headers: &'h [(String, String)]) -> Option<&'h str> {
        let names = headers.iter().map(|(name, _)| name.as_str());
        // Callers may send cookies, which are merged.
        let is_reserved = |name: &str| self.reserved.iter().any(|own| is_same_header(own, name));
        names.into_iter().find(|name| *name != "cookie" && is_reserved(name))
    }

    /// Merges these headers into the headers of a request. A header with a secret replaces the
    /// request's own; other headers are only added. Cookies are merged.
    pub fn apply_to(mut self, mut headers: Vec<(String, String)>) -> Vec<(String, String)> {
        if let Some(own_cookies) = self.headers.get_mut("cookie") {
            let name = |cookie: &str| encode(cookie.split('=').next().unwrap_or_default());
            let names: Vec<String> = own_cookies.text.split("; ").map(name).collect();
            let given = headers.iter().filter(|(name, _)| name == "cookie");
            for cookie in given.flat_map(|(_, cookies)| cookies.split("; ")) {
                if !names.iter().any(|name| cookie.split('=').next() == Some(name)) {
                    own_cookies.text.push_str("; ");
                    own_cookies.text.push_str(cookie);
                }
            }
        }
        headers.retain(|(name, value)| {
            let mut own = self.headers.iter().filter(|(own, _)| is_same_header(own, name));
            own.all(|(own, auth_value)| {
                own != "cookie" && auth_value.secrecy == Secrecy::Public && !is_default(name, value)
            })
        });
        for (name, value) in self.headers {
            if !headers.iter().any(|(given, _)| is_same_header(given, &name)) {
                headers.push((name, value.text));
            }
        }
        headers
    }

    /// Whether a query parameter contains a secret.
    pub fn has_secret(&self, name: &str) -> bool {
        self.query.get(name).is_some_and(|value| value.secrecy > Secrecy::Public)
    }

    /// Adds the query parameters to a URL. Without a secret, a parameter does not replace the URL's own.
    pub fn url(&self, url: &str) -> String {
        let mut new_url = url.to_owned();
        for (name, value) in &self.query {
            let name = encode(name);
            let query = url.split_once('?').map_or("", |(_, query)| query);
            let has_parameter = query.split('&').any(|pair| pair.split('=').next() == Some(&name));
            if has_parameter && value.secrecy == Secrecy::Public {
                continue;
            }
            new_url.push(if new_url.contains('?') { '&' } else { '?' });
            new_url.push_str(&name);
            new_url.push('=');
            new_url.push_str(&encode(&value.text));
        }
        new_url
    }
}

#[cfg(test)]
mod tests;
