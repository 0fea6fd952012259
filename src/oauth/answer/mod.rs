//! What platforms answer to a request for tokens (RFC 6749, 5), in all the forms in which they really do. [`body`]
//! reads their form and errors, [`moment`] their times.

pub mod body;
pub mod moment;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use serde_json::Value;

use super::account;
use super::error::{TokenError, TokenErrorKind, is_known};
use crate::catalog::detail::{OAuth2, SourceKind};
use crate::ports::{HttpError, HttpResponse};
use crate::targets::fill::unfill;
use crate::util::json;

/// The longest token, in bytes.
pub const MAX_TOKEN: usize = 16_384;
/// The longest kept member, in bytes of JSON.
pub const MAX_MEMBER: usize = 4096;

/// What a platform granted. `Debug` shows no secret.
#[derive(Clone, PartialEq)]
pub struct Tokens {
    /// What calls are made with: graphic ASCII, so that it fits in a header.
    pub access_token: String,
    /// What the platform calls the token's type. Whatever it is, such as Slack's `bot`, calls send `Bearer`.
    pub token_type: String,
    /// When the access token expires, in milliseconds since 1970-01-01 UTC; `None` when that is not known.
    pub expires_at: Option<u64>,
    /// What the next access token is asked for with; `None` when there is none, or the old one stays valid.
    pub refresh_token: Option<String>,
    /// What was granted; `None` when the platform does not say.
    pub scopes: Option<Vec<String>>,
    /// Who agreed: `sub` of the ID token. Its signature is not checked, since it came from the token endpoint itself
    /// (`OpenID` Connect Core, 3.1.3.7).
    pub subject: Option<String>,
    /// The name of whoever agreed, as the ID token says.
    pub subject_name: Option<String>,
    /// The members that the catalog wants to be kept, by the names that it gives them.
    pub members: BTreeMap<String, Value>,
    /// What the platform says of the method's fields.
    pub told: Vec<(String, String)>,
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

/// Reads the answer to a request of [`super::token`]. Tokens in a success count more than an error beside them,
/// since a new refresh token must not be lost.
///
/// # Errors
/// When there are no tokens in it. An answer with tokens that cannot be used is unreadable.
pub fn read(
    oauth: &OAuth2,
    answer: &Result<HttpResponse, HttpError>,
    now_ms: u64,
) -> Result<Tokens, TokenError> {
    let status = answer.as_ref().map(|answer| answer.status).ok();
    let unreadable = || TokenError::bare(TokenErrorKind::Unreadable, status);
    let success = answer.as_ref().ok().filter(|answer| is_success(answer));
    if let Some(body) = success.and_then(|answer| body::parse(&answer.body))
        && !body::is_refusal(&body)
        && let Some(grant) = grant(oauth, &body)
    {
        return tokens(oauth, &body, grant, now_ms).ok_or_else(unreadable);
    }
    Err(failure(answer, now_ms).unwrap_or_else(unreadable))
}

/// The error in an answer. Returns `None` when it is a success, tokens or not.
#[must_use]
pub fn failure(answer: &Result<HttpResponse, HttpError>, now_ms: u64) -> Option<TokenError> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(HttpError::Unreachable | HttpError::TimedOut | HttpError::CallerLeft) => {
            return Some(TokenError::bare(TokenErrorKind::Passing, None));
        }
        Err(HttpError::TooLarge) => {
            return Some(TokenError::bare(TokenErrorKind::Unreadable, None));
        }
    };
    let parsed = body::parse(&answer.body);
    let body = parsed.clone().unwrap_or_default();
    if is_success(answer) && !body::says_error(&body) {
        return None;
    }
    let words = if parsed.is_none() { body::words(&answer.body) } else { None };
    let description = body::description(&body).or(words);
    // Some say the code in the place of the words.
    let code = body::code(&body).or_else(|| description.filter(|text| is_known(text)));
    let mut error = TokenError::said(Some(answer.status), code, description);
    if parsed.is_none() && is_foreign(answer, &error, words.is_some()) {
        error.kind = TokenErrorKind::Passing;
    }
    error.retry_after_ms = moment::retry_after(answer.header("retry-after"), now_ms);
    Some(error)
}

/// Whether a refusal that is neither JSON nor a form comes from something in front of the authorization server, such as a
/// firewall, which blocks whatever is asked. An authorization server refuses with 400 or 401 (RFC 6749, 5.2).
fn is_foreign(answer: &HttpResponse, error: &TokenError, has_words: bool) -> bool {
    let is_vague =
        matches!(error.kind, TokenErrorKind::RequestRejected | TokenErrorKind::Unauthorized);
    let is_page = !answer.body.is_empty() && !has_words;
    let is_refusal = matches!(answer.status, 400 | 401);
    (400..500).contains(&answer.status)
        && is_vague
        && error.code.is_none()
        && (is_page || !is_refusal)
}

fn is_success(answer: &HttpResponse) -> bool {
    (200..300).contains(&answer.status)
}

/// The object that has the tokens. A refresh is often answered without the nesting of the first answer.
fn grant<'a>(oauth: &OAuth2, body: &'a Value) -> Option<&'a Value> {
    let at =
        |pointer: &Option<String>| pointer.as_deref().and_then(|pointer| body.pointer(pointer));
    let first = at(&oauth.token_pointer).unwrap_or(body);
    // Where the catalog says nothing of their place, tokens below a usual member are better than none.
    let is_stated = oauth.token_pointer.is_some() || oauth.token_fallback.is_some();
    let usual = USUAL_POINTERS.iter().filter(|_| !is_stated).filter_map(|at| body.pointer(at));
    let mut grants = [Some(first), at(&oauth.token_fallback)].into_iter().flatten().chain(usual);
    grants.find(|grant| text(grant, ACCESS_TOKEN).is_some())
}

/// Where platforms nest tokens.
const USUAL_POINTERS: [&str; 4] = ["/data", "/data/0", "/authed_user", "/body"];

const ACCESS_TOKEN: [&str; 2] = ["access_token", "accessToken"];

/// The tokens of an answer. Returns `None` when one of them cannot be used.
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
        expires_at: moment::expires_at(grant, oauth.expires_unit, now_ms),
        refresh_token,
        scopes: scopes(oauth, grant),
        subject: subject(&claims),
        subject_name: account::name_in(&claims),
        members: members(oauth, body, grant),
        told: told(oauth, SourceKind::Token, body).collect(),
    })
}

/// The first of these members that is a filled text.
fn text<'a, const N: usize>(object: &'a Value, names: [&str; N]) -> Option<&'a str> {
    let texts = names.into_iter().filter_map(|name| object.get(name)?.as_str());
    texts.map(str::trim).find(|text| !text.is_empty())
}

/// Whether a token can be sent in a header.
fn is_token(text: &str) -> bool {
    text.len() <= MAX_TOKEN && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether a refresh token is one (RFC 6749, appendix A.17). It is sent in a body, where a space does no harm.
fn is_refresh_token(text: &str) -> bool {
    text.len() <= MAX_TOKEN && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn token_type(said: Option<&str>) -> String {
    let is_word = |word: &&str| {
        word.len() <= 32 && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    match said.filter(is_word) {
        Some(word) if !word.eq_ignore_ascii_case("bearer") => word.to_owned(),
        _ => "Bearer".to_owned(),
    }
}

/// Scopes as a list or as a text, with the platform's separator, commas or spaces between them.
fn scopes(oauth: &OAuth2, grant: &Value) -> Option<Vec<String>> {
    let said = ["scope", "scopes"]
        .into_iter()
        .find_map(|name| grant.get(name).filter(|value| value.is_string() || value.is_array()))?;
    let separator = Some(oauth.scope_separator.as_str()).filter(|separator| !separator.is_empty());
    let texts: Vec<&str> = match said {
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

/// The claims of an ID token.
fn claims(id_token: &str) -> Option<Value> {
    let payload = id_token.split('.').nth(1)?.trim_end_matches('=');
    let payload = Base64UrlUnpadded::decode_vec(payload).ok()?;
    serde_json::from_slice(&payload).ok()
}

/// `sub` of an ID token.
fn subject(claims: &Value) -> Option<String> {
    let subject = claims.get("sub")?.as_str()?;
    let is_good = (1..=255).contains(&subject.len()) && !subject.contains(char::is_control);
    is_good.then(|| subject.to_owned())
}

/// What the catalog wants to be kept: names of members beside the tokens or around them, or JSON Pointers into the
/// answer. Refresh tokens are never among them, wherever they stand: members are handed out.
fn members(oauth: &OAuth2, body: &Value, grant: &Value) -> BTreeMap<String, Value> {
    let mut secrets = Vec::new();
    collect_refresh_tokens(body, &mut secrets);
    let find = |name: &String| {
        let value = if name.starts_with('/') {
            body.pointer(name)
        } else {
            grant.get(name).or_else(|| body.get(name))
        };
        let value = without(value.filter(|value| !value.is_null())?, &secrets)?;
        (value.to_string().len() <= MAX_MEMBER).then(|| (name.clone(), value))
    };
    oauth.token_members.iter().filter_map(find).collect()
}

/// Whether a member has a refresh token, by its name: `refresh_token`, `refreshToken`, `user_refresh_token`.
fn names_refresh_token(name: &str) -> bool {
    let name: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    name.contains("refreshtoken") && !name.contains("expire")
}

/// All refresh tokens in an answer.
fn collect_refresh_tokens<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(token) if names_refresh_token(name) && !token.is_empty() => {
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

/// A value without these secrets. Returns `None` when it is one of them.
fn without(value: &Value, secrets: &[&str]) -> Option<Value> {
    Some(match value {
        Value::String(text) if secrets.iter().any(|secret| text.contains(secret)) => return None,
        Value::Object(members) => {
            let kept = members
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), without(value, secrets)?)));
            Value::Object(kept.collect())
        }
        Value::Array(items) => items.iter().filter_map(|item| without(item, secrets)).collect(),
        other => other.clone(),
    })
}

/// What a response says of the method's fields, by the sources of a kind: the names of the fields, and their values.
pub fn told<'a>(
    oauth: &'a OAuth2,
    from: SourceKind,
    body: &'a Value,
) -> impl Iterator<Item = (String, String)> + 'a {
    let sources = oauth.field_sources.iter().filter(move |source| source.from == from);
    sources.filter_map(move |source| {
        let said = match body.pointer(&source.at)? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => json::text(number),
            _ => return None,
        };
        let value = unfill(source.template.as_deref(), &source.field, &said)?;
        Some((source.field.clone(), value.to_owned()))
    })
}
