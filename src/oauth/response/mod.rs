//! Parses token responses (RFC 6749, section 5) in all formats that platforms use. [`body`] parses
//! bodies and errors, [`times`] parses expiry times.

pub mod body;
#[cfg(test)]
mod tests;
pub mod times;

use std::collections::BTreeMap;
use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use serde_json::Value;

use super::account;
use super::error::{TokenError, TokenErrorKind, is_known};
use crate::catalog::detail::{FieldSource, OAuth2, SourceKind};
use crate::ports::{HttpError, HttpResponse};
use crate::targets::fill::{FillError, extract_field, fill_text};
use crate::util::collect::by_insertion;
use crate::util::json;

/// The maximum length of a token, in bytes.
pub const MAX_TOKEN: usize = 16_384;
/// The maximum length of a stored member, in bytes of JSON.
pub const MAX_MEMBER: usize = 4096;

/// The tokens of a response. `Debug` prints no secrets.
#[derive(Clone, PartialEq)]
pub struct Tokens {
    /// The access token. Visible ASCII, so that it can be sent in a header.
    pub access_token: String,
    /// The platform's token type, such as Slack's `bot`. Platform calls always use `Bearer`.
    pub token_type: String,
    /// Milliseconds since 1970-01-01 UTC, if known.
    pub expires_at: Option<u64>,
    /// `None` if there is no refresh token, or if the previous one remains valid.
    pub refresh_token: Option<String>,
    /// The granted scopes, if the response contains them.
    pub scopes: Option<Vec<String>>,
    /// The user's id: `sub` of the ID token. The signature is not verified, because the ID token
    /// comes directly from the token endpoint (`OpenID` Connect Core, section 3.1.3.7).
    pub subject: Option<String>,
    /// The user's name, from the ID token.
    pub subject_name: Option<String>,
    /// The members that the catalog selects, by name.
    pub members: BTreeMap<String, Value>,
    /// Values from the response for fields of the auth method.
    pub field_values: Vec<(String, String)>,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("token_type", &self.token_type)
            .field("expires_at", &self.expires_at)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

/// Parses the response to a token request. If a successful response contains both tokens and an
/// error, returns the tokens, because a new refresh token must not be lost.
pub fn read(
    oauth: &OAuth2,
    response: &Result<HttpResponse, HttpError>,
    now_ms: u64,
) -> Result<Tokens, TokenError> {
    let status = response.as_ref().map(|response| response.status).ok();
    let unreadable = || TokenError::from_kind(TokenErrorKind::Unreadable, status);
    let success = response.as_ref().ok().filter(|response| is_success(response));
    if let Some(body) = success.and_then(|response| body::parse(&response.text()))
        && !body::is_refusal(&body)
        && let Some(grant) = grant(oauth, &body)
    {
        return tokens(oauth, &body, grant, now_ms).ok_or_else(unreadable);
    }
    Err(failure(response, now_ms).unwrap_or_else(unreadable))
}

/// The error in a response. Returns `None` for a success, even without tokens.
pub fn failure(response: &Result<HttpResponse, HttpError>, now_ms: u64) -> Option<TokenError> {
    let response = match response {
        Ok(response) => response,
        Err(HttpError::Unreachable | HttpError::TimedOut | HttpError::CallerDisconnected) => {
            return Some(TokenError::from_kind(TokenErrorKind::Temporary, None));
        }
        Err(HttpError::TooLarge) => {
            return Some(TokenError::from_kind(TokenErrorKind::Unreadable, None));
        }
    };
    let text = response.text();
    let parsed = body::parse(&text);
    let body = parsed.clone().unwrap_or_default();
    if is_success(response) && !body::has_error(&body) {
        return None;
    }
    let words = if parsed.is_none() { body::plain_text(&text) } else { None };
    let description = body::description(&body).or(words);
    // Some platforms put the error code into the description.
    let code = body::code(&body).or_else(|| description.filter(|text| is_known(text)));
    let mut error = TokenError::new(Some(response.status), code, description);
    if parsed.is_none() && is_from_intermediary(response, &error, words.is_some()) {
        error.kind = TokenErrorKind::Temporary;
    }
    error.retry_after_ms = times::retry_after(response.header("retry-after"), now_ms);
    Some(error)
}

/// Whether a refusal that is neither JSON nor a form was sent by a proxy or firewall in front of
/// the authorization server. The server itself would respond with 400 or 401 (RFC 6749, section
/// 5.2).
fn is_from_intermediary(response: &HttpResponse, error: &TokenError, has_words: bool) -> bool {
    let is_vague =
        matches!(error.kind, TokenErrorKind::RequestRejected | TokenErrorKind::Unauthorized);
    let is_page = !response.body.is_empty() && !has_words;
    let is_refusal = matches!(response.status, 400 | 401);
    (400..500).contains(&response.status)
        && is_vague
        && error.code.is_none()
        && (is_page || !is_refusal)
}

fn is_success(response: &HttpResponse) -> bool {
    (200..300).contains(&response.status)
}

/// The object that contains the tokens. After a refresh, it is often less nested than after a code
/// exchange.
fn grant<'a>(oauth: &OAuth2, body: &'a Value) -> Option<&'a Value> {
    let value_at =
        |pointer: &Option<String>| pointer.as_deref().and_then(|pointer| body.pointer(pointer));
    let first = value_at(&oauth.token_pointer).unwrap_or(body);
    let fallback = value_at(&oauth.token_fallback);
    // If the catalog does not define where the tokens are, tries the usual pointers.
    let is_stated = oauth.token_pointer.is_some() || oauth.token_fallback.is_some();
    let usual_pointers = COMMON_POINTERS.iter().filter(|_| !is_stated);
    let usual_grants = usual_pointers.filter_map(|pointer| body.pointer(pointer));
    let mut grants = [Some(first), fallback].into_iter().flatten().chain(usual_grants);
    grants.find(|grant| text(grant, ACCESS_TOKEN).is_some())
}

/// JSON Pointers at which platforms commonly nest tokens.
const COMMON_POINTERS: [&str; 8] =
    ["/data", "/data/0", "/authed_user", "/body", "/result", "/response", "/token", "/tokens"];

const ACCESS_TOKEN: [&str; 2] = ["access_token", "accessToken"];

/// Parses tokens. Returns `None` if any of them is unusable.
fn tokens(oauth: &OAuth2, body: &Value, grant: &Value, now_ms: u64) -> Option<Tokens> {
    let access_token = text(grant, ACCESS_TOKEN).filter(|token| is_token(token))?.to_owned();
    let refresh_token = match text(grant, ["refresh_token", "refreshToken"]) {
        Some(token) => Some(Some(token).filter(|token| is_refresh_token(token))?.to_owned()),
        None => None,
    };
    let id_token =
        text(grant, ["id_token", "idToken"]).or_else(|| text(body, ["id_token", "idToken"]));
    let claims = id_token.and_then(claims).unwrap_or_default();
    Some(Tokens {
        access_token,
        token_type: token_type(text(grant, ["token_type", "tokenType"])),
        expires_at: times::expires_at(grant, oauth.expires_unit, now_ms),
        refresh_token,
        scopes: scopes(oauth, grant),
        subject: subject(&claims),
        subject_name: account::name_from_claims(&claims),
        members: members(oauth, body, grant),
        field_values: field_values(oauth, SourceKind::Token, body, &BTreeMap::new())
            .filter_map(|(source, values)| Some((source.field.clone(), values.into_iter().next()?)))
            .collect(),
    })
}

/// The first of the named members that is a non-empty string.
fn text<'a, const N: usize>(object: &'a Value, names: [&str; N]) -> Option<&'a str> {
    let texts = names.into_iter().filter_map(|name| object.get(name)?.as_str());
    texts.map(str::trim).find(|text| !text.is_empty())
}

/// Whether a token can be sent in a header.
fn is_token(text: &str) -> bool {
    text.len() <= MAX_TOKEN && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether a refresh token is valid (RFC 6749, appendix A.17). Spaces are allowed, because it is
/// sent in a body.
fn is_refresh_token(text: &str) -> bool {
    text.len() <= MAX_TOKEN && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn token_type(raw: Option<&str>) -> String {
    let is_word = |word: &&str| {
        word.len() <= 32 && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    match raw.filter(is_word) {
        Some(word) if !word.eq_ignore_ascii_case("bearer") => word.to_owned(),
        _ => "Bearer".to_owned(),
    }
}

/// Parses scopes from an array, or from a string in which they are separated by the platform's
/// separator, commas or spaces.
fn scopes(oauth: &OAuth2, grant: &Value) -> Option<Vec<String>> {
    let raw = ["scope", "scopes"]
        .into_iter()
        .find_map(|name| grant.get(name).filter(|value| value.is_string() || value.is_array()))?;
    let separator = Some(oauth.scope_separator.as_str()).filter(|separator| !separator.is_empty());
    let texts: Vec<&str> = match raw {
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        text => vec![text.as_str()?],
    };
    let mut scopes: Vec<String> = Vec::new();
    let parts = texts.into_iter().flat_map(|text| text.split(separator.unwrap_or(" ")));
    for scope in parts.flat_map(|part| part.split([',', ' ', '\t', '\n', '\r'])) {
        let is_scope =
            (1..=256).contains(&scope.len()) && scope.bytes().all(|byte| byte.is_ascii_graphic());
        if is_scope && scopes.len() < 1000 && !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    Some(scopes)
}

fn claims(id_token: &str) -> Option<Value> {
    let payload = id_token.split('.').nth(1)?.trim_end_matches('=');
    let payload = Base64UrlUnpadded::decode_vec(payload).ok()?;
    serde_json::from_slice(&payload).ok()
}

fn subject(claims: &Value) -> Option<String> {
    let subject = claims.get("sub")?.as_str()?;
    let is_valid = (1..=255).contains(&subject.len()) && !subject.contains(char::is_control);
    is_valid.then(|| subject.to_owned())
}

/// The members that the catalog selects: by a name beside or around the tokens, or by JSON Pointer.
/// Refresh tokens are removed from their values, because the API returns members.
fn members(oauth: &OAuth2, body: &Value, grant: &Value) -> BTreeMap<String, Value> {
    let mut secrets = Vec::new();
    collect_refresh_tokens(body, &mut secrets);
    let find = |name: &String| {
        let value = if name.starts_with('/') {
            body.pointer(name)
        } else {
            grant.get(name).or_else(|| body.get(name))
        };
        let value = redact(value.filter(|value| !value.is_null())?, &secrets)?;
        (value.to_string().len() <= MAX_MEMBER).then(|| (name.clone(), value))
    };
    by_insertion(oauth.token_members.iter().filter_map(find))
}

/// Whether a member's name means a refresh token: `refresh_token`, `refreshToken`,
/// `user_refresh_token`.
fn is_refresh_token_name(name: &str) -> bool {
    let name: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    name.contains("refreshtoken") && !name.contains("expire")
}

fn collect_refresh_tokens<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(token) if is_refresh_token_name(name) && !token.is_empty() => {
                        found.push(token);
                    }
                    value => collect_refresh_tokens(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_refresh_tokens(item, found)),
        _ => {}
    }
}

/// Removes secrets from a value. Returns `None` if the value is a string that contains one.
fn redact(value: &Value, secrets: &[&str]) -> Option<Value> {
    Some(match value {
        Value::String(text) if secrets.iter().any(|secret| text.contains(secret)) => return None,
        Value::Object(members) => {
            let values = members
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), redact(value, secrets)?)));
            Value::Object(by_insertion(values))
        }
        Value::Array(items) => items.iter().filter_map(|item| redact(item, secrets)).collect(),
        other => other.clone(),
    })
}

/// The values at an extended JSON Pointer. A step such as `?is_default=true` selects the items of a
/// list that have this member. Its value can be a template with a field, such as `{site}`. If the
/// field has no value, the step selects all items.
fn find<'a>(body: &'a Value, pointer: &str, fields: &BTreeMap<String, String>) -> Vec<&'a Value> {
    let field = |name: &str| fields.get(name).map(String::as_str);
    let mut found = vec![body];
    for step in pointer.split('/').skip(1) {
        let condition = step.strip_prefix('?').and_then(|condition| condition.split_once('='));
        found = if let Some((name, template)) = condition {
            let template = template.replace("~1", "/").replace("~0", "~");
            let expected = match fill_text(&template, &field) {
                Ok(text) => Some(text),
                Err(FillError::Missing(_)) => None,
                // The template rejects the field's value, so no item can match.
                Err(_) => return Vec::new(),
            };
            let is_selected = |item: &&Value| {
                let Some(expected) = &expected else { return true };
                match item.get(name) {
                    Some(Value::String(text)) => text.eq_ignore_ascii_case(expected),
                    Some(other) => json::text(other) == *expected,
                    None => false,
                }
            };
            found.into_iter().flat_map(items).filter(is_selected).collect()
        } else {
            let step = format!("/{step}");
            found.into_iter().filter_map(|value| value.pointer(&step)).collect()
        };
    }
    found
}

/// The items of a list. Any other value is treated as a list of one item.
fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

/// The field sources of this kind, each with its distinct values in a response. `fields` are the
/// known field values.
pub fn field_values<'a>(
    oauth: &'a OAuth2,
    from: SourceKind,
    body: &'a Value,
    fields: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = (&'a FieldSource, Vec<String>)> {
    let sources = oauth.field_sources.iter().filter(move |source| source.from == from);
    sources.map(move |source| {
        let mut values: Vec<String> = Vec::new();
        for value in find(body, &source.at, fields) {
            let raw = match value {
                Value::String(text) => text.trim().to_owned(),
                Value::Number(number) => json::text(number),
                _ => continue,
            };
            if let Some(value) = extract_field(source.template.as_deref(), &source.field, &raw)
                && !values.iter().any(|known| known == value)
            {
                values.push(value.to_owned());
            }
        }
        (source, values)
    })
}
