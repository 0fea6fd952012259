//! The format of the row files, which describe the documentation of platforms.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

pub type Pairs = BTreeMap<String, String>;

/// The documentation of one platform. A field with several URLs separates them by spaces. In a URL,
/// `*` stands for part of a segment.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The URLs of the documentation pages.
    pub docs: Vec<String>,
    /// The sources that the row's author has read, and the fields that they do not cover.
    pub checked: String,
    /// The OAuth support of the platform, if any.
    pub oauth: Option<OAuth>,
    /// How a key is sent.
    pub key: Option<Key>,
    #[serde(default)]
    pub api: RestApi,
    /// The date on which the platform shut down its API.
    pub ended: Option<String>,
}

/// The platform's OAuth 2.0 support.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuth {
    #[serde(default)]
    pub grant: Grant,
    #[serde(default)]
    pub authorize: String,
    pub token: String,
    /// The refresh URL, if it differs from `token`.
    pub refresh_url: Option<String>,
    /// The allowed methods of client authentication, separated by bars: `basic`, `post`, `none`.
    pub client: String,
    /// The name of the parameter with the client id.
    #[serde(default = "client_id")]
    pub client_id: String,
    /// The allowed formats of token requests: `form`, `json`.
    #[serde(default = "form")]
    pub body: String,
    #[serde(default)]
    pub pkce: Pkce,
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The allowed separators of scopes, separated by bars.
    #[serde(default = "space")]
    pub separator: String,
    /// The required parameters of an authorization request.
    #[serde(default)]
    pub needs: Pairs,
    /// The required parameters of an exchange of a code, or of a request for a client's own token.
    /// `$state` stands for the state of the attempt.
    #[serde(default)]
    pub token_needs: Pairs,
    /// The required parameters of a refresh. `$redirect_uri` stands for the redirect URI of the
    /// exchange.
    #[serde(default)]
    pub refresh_needs: Pairs,
    /// The authorization parameters that a client must send to get a refresh token.
    #[serde(default)]
    pub offline: Pairs,
    /// The scope that a client must request to get a refresh token.
    pub offline_scope: Option<String>,
    /// The authorization parameters that a client must send to get a new refresh token when the
    /// user has consented before.
    #[serde(default)]
    pub reconsent: Pairs,
    /// The callback's parameters in addition to the code and the state.
    #[serde(default)]
    pub callback: Pairs,
    /// The expected `redirect_uri`, if it differs from the callback's URL.
    pub redirect_uri: Option<String>,
    /// Whether the token response is form-encoded, unless the request accepts JSON.
    #[serde(default)]
    pub form_response: bool,
    /// The token response. It can contain `$access`, `$refresh`, `$expires`, `$expires_at`,
    /// `$epoch` and `$scope`.
    pub response: Option<Value>,
    /// The lifetime of an access token in seconds; 0 if it does not expire.
    #[serde(default)]
    pub expires: u64,
    /// Whether the response contains the lifetime only if the request has the parameter
    /// `expires_in`.
    #[serde(default)]
    pub expiry_if_asked: bool,
    #[serde(default)]
    pub refresh: Refresh,
    /// The response to a refresh after the user has ended the grant.
    #[serde(default = "invalid_grant")]
    pub dead: ScriptedResponse,
    pub revoke: Option<Revoke>,
    pub long: Option<LongLivedToken>,
    /// The ways to send the access token. A request must contain all parts of one of them.
    #[serde(default = "bearer")]
    pub send: Vec<Vec<String>>,
    /// The base URL of the API for these tokens, if it differs from `api.base`.
    pub base: Option<String>,
    /// Other base URLs that accept the tokens.
    #[serde(default)]
    pub more: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    #[default]
    AuthorizationCode,
    ClientCredentials,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pkce {
    /// The platform refuses authorization requests without PKCE.
    Required,
    Supported,
    /// The documentation does not mention PKCE, and the platform ignores it.
    #[default]
    Ignored,
}

/// What happens when a refresh token is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refresh {
    /// A new token is issued and the used one ends. Using the old token again ends the grant.
    Rotate,
    /// A new token is issued, and the used one works for some more time.
    Replace,
    /// The response contains the same token.
    Same,
    /// The response contains no refresh token, and the used one stays valid.
    Keep,
    /// The platform issues no refresh tokens.
    #[default]
    None,
}

/// A response that the documentation shows.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedResponse {
    pub status: u16,
    pub body: Value,
}

/// The revocation endpoint, which follows RFC 7009 or is similar.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revoke {
    pub url: String,
    pub client: String,
    #[serde(default = "form")]
    pub body: String,
    /// `access` if the endpoint revokes only access tokens.
    #[serde(default)]
    pub token: String,
    #[serde(default)]
    pub headers: Vec<String>,
}

/// The second exchange: a token that lasts hours for one that lasts weeks.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongLivedToken {
    pub url: String,
    /// The `grant_type` of the request.
    pub grant: String,
    /// The name of the parameter with the token.
    pub token: String,
    pub needs_secret: bool,
    pub expires: u64,
    /// The URL at which a long-lived token is exchanged for a new one.
    pub refresh_url: Option<String>,
    pub refresh_grant: Option<String>,
}

/// A key that the user copies from the platform.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The ways to send the key, like [`OAuth::send`]. `$key`, `$app` (a second secret) and `$user`
    /// stand for the user's values.
    pub send: Vec<Vec<String>>,
    pub base: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestApi {
    #[serde(default)]
    pub base: String,
    /// Cheap requests that require valid credentials. The test calls the first one. The method is
    /// `GET` unless the entry begins with `POST `.
    #[serde(default)]
    pub check: Vec<String>,
    /// Further requests, to other base URLs.
    #[serde(default)]
    pub more: Vec<String>,
    /// Responses by URL, if their content matters.
    #[serde(default)]
    pub responses: BTreeMap<String, Value>,
    /// Headers that every request must have, as `name: regular expression`.
    #[serde(default)]
    pub headers: Vec<String>,
    /// Headers whose values only the app knows, which the app sends with its call.
    #[serde(default)]
    pub app_headers: Pairs,
    /// Required parameters of requests to a path.
    #[serde(default)]
    pub needs_query: BTreeMap<String, Vec<String>>,
    /// The response to a request without one of `headers`.
    pub unversioned: Option<ScriptedResponse>,
    /// The response to invalid credentials.
    pub denied: Option<ScriptedResponse>,
}

fn client_id() -> String {
    "client_id".to_owned()
}

fn form() -> String {
    "form".to_owned()
}

fn space() -> String {
    " ".to_owned()
}

fn bearer() -> Vec<Vec<String>> {
    vec![vec!["Authorization: Bearer $token".to_owned()]]
}

fn invalid_grant() -> ScriptedResponse {
    ScriptedResponse { status: 400, body: serde_json::json!({"error": "invalid_grant"}) }
}

/// Reads all rows. A row that is `like` another one inherits the OAuth members that it does not
/// set.
pub fn read_rows() -> BTreeMap<String, Row> {
    let mut tables = toml::Table::new();
    for text in
        [include_str!("rows-1.toml"), include_str!("rows-2.toml"), include_str!("rows-3.toml")]
    {
        for (name, row) in text.parse::<toml::Table>().unwrap() {
            assert!(tables.insert(name.clone(), row).is_none(), "two rows of {name}");
        }
    }
    let all_tables = tables.clone();
    for (_, row) in &mut tables {
        let Some(oauth) = row.get_mut("oauth").and_then(toml::Value::as_table_mut) else {
            continue;
        };
        if let Some(toml::Value::String(like)) = oauth.remove("like") {
            for (name, value) in all_tables[&like]["oauth"].as_table().unwrap() {
                oauth.entry(name).or_insert_with(|| value.clone());
            }
        }
    }
    tables
        .into_iter()
        .map(|(name, row)| {
            let row = row.try_into().unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, row)
        })
        .collect()
}

/// Whether a list, separated by bars, contains a value.
pub fn list_contains(list: &str, value: &str) -> bool {
    list.split('|').any(|one| one == value)
}

/// Whether a URL matches one of these patterns. `*` matches any characters within a segment, or
/// none.
pub fn is_one_of(patterns: &str, url: &str) -> bool {
    patterns.split(' ').any(|pattern| pattern_matches(pattern, url))
}

/// Whether a string matches one pattern.
pub fn pattern_matches(pattern: &str, text: &str) -> bool {
    let (expected, found): (Vec<&str>, Vec<&str>) =
        (pattern.split('/').collect(), text.split('/').collect());
    expected.len() == found.len()
        && expected.iter().zip(&found).all(|(expected, found)| segment_fits(expected, found))
}

pub fn segment_fits(pattern: &str, segment: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == segment,
        Some((before, after)) => {
            segment.len() >= before.len() + after.len()
                && segment.starts_with(before)
                && segment.ends_with(after)
        }
    }
}
