//! The documentation of a platform, in the format of the rows' files.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// Names and values.
pub type Pairs = BTreeMap<String, String>;

/// One platform. A field that can have several URLs separates them by spaces; in each URL, `*` stands for a variable part
/// of a segment.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The URLs of the documentation.
    pub docs: Vec<String>,
    /// The sources that the author has read, and the fields that they do not cover.
    pub checked: String,
    /// How users consent.
    pub oauth: Option<OAuth>,
    /// How a key is sent.
    pub key: Option<Key>,
    #[serde(default)]
    pub api: RestApi,
    /// The day on which the platform's API ended.
    pub ended: Option<String>,
}

/// The platform's OAuth 2.0.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuth {
    #[serde(default)]
    pub grant: Grant,
    #[serde(default)]
    pub authorize: String,
    pub token: String,
    /// The refresh URL, if it is not `token`.
    pub refresh_url: Option<String>,
    /// How the client may authenticate: `basic`, `post`, `none`, separated by bars.
    pub client: String,
    /// The name of the parameter for the client's id.
    #[serde(default = "client_id")]
    pub client_id: String,
    /// The permitted formats of a token request's body: `form`, `json`.
    #[serde(default = "form")]
    pub body: String,
    #[serde(default)]
    pub pkce: Pkce,
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The permitted separators of scopes, separated by bars.
    #[serde(default = "space")]
    pub separator: String,
    /// Parameters without which an authorization request is refused.
    #[serde(default)]
    pub needs: Pairs,
    /// Parameters without which the exchange of a code, or a request for a client's own token, is refused. `$state` is the
    /// state of the attempt.
    #[serde(default)]
    pub token_needs: Pairs,
    /// Parameters without which a refresh is refused. `$redirect_uri` is the redirect URI of the exchange.
    #[serde(default)]
    pub refresh_needs: Pairs,
    /// Parameters of the authorization request without which there is no refresh token.
    #[serde(default)]
    pub offline: Pairs,
    /// A scope without which there is no refresh token.
    pub offline_scope: Option<String>,
    /// Parameters without which a user who consented before gets no new refresh token.
    #[serde(default)]
    pub reconsent: Pairs,
    /// The parameters of the callback in addition to the code and the state.
    #[serde(default)]
    pub callback: Pairs,
    /// The expected `redirect_uri`, if it is not the callback's URL.
    pub redirect_uri: Option<String>,
    /// Whether the token response is a form, unless the request accepts JSON.
    #[serde(default)]
    pub form_response: bool,
    /// The token response, with `$access`, `$refresh`, `$expires`, `$expires_at`, `$epoch` and `$scope`.
    pub response: Option<Value>,
    /// The lifetime of an access token in seconds; 0 if it does not expire.
    #[serde(default)]
    pub expires: u64,
    /// Whether the response has the lifetime only if the request has the parameter `expires_in`.
    #[serde(default)]
    pub expiry_if_asked: bool,
    #[serde(default)]
    pub refresh: Refresh,
    /// The response to a refresh after the user has ended the grant.
    #[serde(default = "invalid_grant")]
    pub dead: ScriptedResponse,
    pub revoke: Option<Revoke>,
    pub long: Option<LongLivedToken>,
    /// How the access token is sent: one of these, each with all of its parts.
    #[serde(default = "bearer")]
    pub send: Vec<Vec<String>>,
    /// The address of the API for these tokens, if it differs from `api.base`.
    pub base: Option<String>,
    /// Further addresses that accept the tokens.
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
    /// A request without it is refused.
    Required,
    Supported,
    /// The documentation does not mention it, and the platform ignores it.
    #[default]
    Ignored,
}

/// The effect of using a refresh token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refresh {
    /// A new one is issued; the used one ends, and using it again ends the grant.
    Rotate,
    /// A new one is issued; the used one works for some time.
    Replace,
    /// The same one is returned.
    Same,
    /// The response does not contain it, and it stays valid.
    Keep,
    /// There are no refresh tokens.
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

/// The revocation endpoint, according to RFC 7009 or similar.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revoke {
    pub url: String,
    pub client: String,
    #[serde(default = "form")]
    pub body: String,
    /// `access` if only access tokens can be revoked.
    #[serde(default)]
    pub token: String,
    #[serde(default)]
    pub headers: Vec<String>,
}

/// The second exchange, of a token that lasts hours for one that lasts weeks.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongLivedToken {
    pub url: String,
    /// Its `grant_type`.
    pub grant: String,
    /// The parameter with the token.
    pub token: String,
    pub needs_secret: bool,
    pub expires: u64,
    /// The URL at which the long-lived token is exchanged for a new one.
    pub refresh_url: Option<String>,
    pub refresh_grant: Option<String>,
}

/// A key that the user copies.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Like [`OAuth::send`], with `$key`, `$app` for a second secret, and `$user`.
    pub send: Vec<Vec<String>>,
    pub base: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestApi {
    #[serde(default)]
    pub base: String,
    /// Cheap requests that need valid credentials; the first one is called. `GET` unless it begins with `POST `.
    #[serde(default)]
    pub check: Vec<String>,
    /// More requests, to other addresses.
    #[serde(default)]
    pub more: Vec<String>,
    /// Responses by their addresses, if their content matters.
    #[serde(default)]
    pub responses: BTreeMap<String, Value>,
    /// Headers that each request must have: `name: regular expression`.
    #[serde(default)]
    pub headers: Vec<String>,
    /// Headers that only the app can know, and which it sends with its call.
    #[serde(default)]
    pub app_headers: Pairs,
    /// Parameters that requests to a path must have.
    #[serde(default)]
    pub needs_query: BTreeMap<String, Vec<String>>,
    /// The response to a request that lacks one of `headers`.
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

/// All rows. A row that is `like` another one inherits its OAuth members, except those that it sets itself.
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

/// Whether a URL matches one of these patterns. `*` matches any characters within a segment, or none.
pub fn is_one_of(patterns: &str, url: &str) -> bool {
    patterns.split(' ').any(|pattern| pattern_matches(pattern, url))
}

/// Like [`is_one_of`], for a single pattern.
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
