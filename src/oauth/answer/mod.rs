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

use super::error::{TokenError, TokenErrorKind};
use crate::catalog::detail::OAuth2;
use crate::ports::{HttpError, HttpResponse};

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
    /// The members that the catalog wants to be kept, by the names that it gives them.
    pub members: BTreeMap<String, Value>,
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
        && !body::fails(&body)
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
    let body = body::parse(&answer.body).unwrap_or_default();
    if is_success(answer) && !body::says_error(&body) {
        return None;
    }
    let (code, description) = (body::code(&body), body::description(&body));
    let error = TokenError::said(Some(answer.status), code, description);
    let retry_after_ms = moment::retry_after(answer.header("retry-after"), now_ms);
    Some(TokenError { retry_after_ms, ..error })
}

fn is_success(answer: &HttpResponse) -> bool {
    (200..300).contains(&answer.status)
}

/// The object that has the tokens. A refresh is often answered without the nesting of the first answer.
fn grant<'a>(oauth: &OAuth2, body: &'a Value) -> Option<&'a Value> {
    let nested = oauth.token_pointer.as_deref().and_then(|pointer| body.pointer(pointer));
    let grant = nested.unwrap_or(body);
    text(grant, ACCESS_TOKEN).map(|_| grant)
}

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
    Some(Tokens {
        access_token,
        token_type: token_type(text(grant, ["token_type", "tokenType"])),
        expires_at: moment::expires_at(grant, now_ms),
        refresh_token,
        scopes: scopes(oauth, grant),
        subject: id_token.and_then(subject),
        members: members(oauth, body, grant),
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

/// `sub` of an ID token.
fn subject(id_token: &str) -> Option<String> {
    let payload = id_token.split('.').nth(1)?.trim_end_matches('=');
    let payload = Base64UrlUnpadded::decode_vec(payload).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    let subject = claims.get("sub")?.as_str()?;
    let is_good = (1..=255).contains(&subject.len()) && !subject.contains(char::is_control);
    is_good.then(|| subject.to_owned())
}

/// What the catalog wants to be kept: names of members beside the tokens or around them, or JSON Pointers into the
/// answer.
fn members(oauth: &OAuth2, body: &Value, grant: &Value) -> BTreeMap<String, Value> {
    let find = |name: &String| {
        let value = if name.starts_with('/') {
            body.pointer(name)
        } else {
            grant.get(name).or_else(|| body.get(name))
        };
        let value = value.filter(|value| !value.is_null())?;
        (value.to_string().len() <= MAX_MEMBER).then(|| (name.clone(), value.clone()))
    };
    oauth.token_members.iter().filter_map(find).collect()
}
