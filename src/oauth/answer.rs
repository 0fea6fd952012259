//! What platforms answer to a request for tokens (RFC 6749, 5), in all the forms in which they really do.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use serde_json::{Map, Value};

use super::error::{TokenError, TokenErrorKind, is_code, is_known};
use crate::catalog::detail::OAuth2;
use crate::percent::decode_form;
use crate::ports::{HttpError, HttpResponse};

/// The longest token, in bytes.
pub const MAX_TOKEN: usize = 16_384;
/// The longest kept member, in bytes of JSON.
pub const MAX_MEMBER: usize = 4096;
/// The longest time for which a token is said to be valid: 100 years. A longer one means for ever.
const MAX_SECONDS: u64 = 3_155_760_000;
/// The longest time that a platform may ask to wait: a week.
const MAX_WAIT_MS: u64 = 604_800_000;

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

/// Reads the answer to a request of [`super::token`].
///
/// # Errors
/// When there are no tokens in it. An answer with tokens that cannot be used is unreadable.
pub fn read(
    oauth: &OAuth2,
    answer: &Result<HttpResponse, HttpError>,
    now_ms: u64,
) -> Result<Tokens, TokenError> {
    if let Some(error) = failure_without_tokens(oauth, answer, now_ms) {
        return Err(error);
    }
    let status = answer.as_ref().map(|answer| answer.status).ok();
    let unreadable = || TokenError::bare(TokenErrorKind::Unreadable, status);
    let body = answer.as_ref().ok().and_then(|answer| parse(&answer.body));
    body.and_then(|body| tokens(oauth, &body, now_ms)).ok_or_else(unreadable)
}

/// The error in an answer. Returns `None` when it is a success, tokens or not.
#[must_use]
pub fn failure(answer: &Result<HttpResponse, HttpError>, now_ms: u64) -> Option<TokenError> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(HttpError::Unreachable | HttpError::TimedOut) => {
            return Some(TokenError::bare(TokenErrorKind::Passing, None));
        }
        Err(HttpError::TooLarge) => {
            return Some(TokenError::bare(TokenErrorKind::Unreadable, None));
        }
    };
    let body = parse(&answer.body).unwrap_or_default();
    if is_success(answer) && !says_error(&body) {
        return None;
    }
    let (code, description) = (code(&body), description(&body));
    let error = TokenError::said(Some(answer.status), code, description);
    Some(TokenError { retry_after_ms: retry_after(answer, now_ms), ..error })
}

/// The error in an answer. Tokens in a success count more than an error beside them: a new refresh token must not be
/// lost.
fn failure_without_tokens(
    oauth: &OAuth2,
    answer: &Result<HttpResponse, HttpError>,
    now_ms: u64,
) -> Option<TokenError> {
    let good = answer.as_ref().ok().filter(|answer| is_success(answer));
    let body = good.and_then(|answer| parse(&answer.body));
    let has_tokens = body.is_some_and(|body| {
        body.get("ok") != Some(&Value::Bool(false)) && grant(oauth, &body).is_some()
    });
    if has_tokens { None } else { failure(answer, now_ms) }
}

fn is_success(answer: &HttpResponse) -> bool {
    (200..300).contains(&answer.status)
}

/// The object that a body is: JSON or a form, whatever its content type says.
fn parse(body: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(body).ok()?;
    let text = text.trim_start_matches('\u{feff}').trim();
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
    let members: Map<String, Value> = text.split('&').filter_map(pair).collect();
    (!members.is_empty()).then_some(Value::Object(members))
}

/// The object that has the tokens. A refresh is often answered without the nesting of the first answer.
fn grant<'a>(oauth: &OAuth2, body: &'a Value) -> Option<&'a Value> {
    let nested = oauth.token_pointer.as_deref().and_then(|pointer| body.pointer(pointer));
    let grant = nested.unwrap_or(body);
    text(grant, ACCESS_TOKEN).map(|_| grant)
}

const ACCESS_TOKEN: [&str; 2] = ["access_token", "accessToken"];

/// The tokens of an answer. Returns `None` when there are none, or one of them cannot be used.
fn tokens(oauth: &OAuth2, body: &Value, now_ms: u64) -> Option<Tokens> {
    let grant = grant(oauth, body)?;
    let access_token = text(grant, ACCESS_TOKEN).filter(|token| is_token(token))?.to_owned();
    let refresh_token = match text(grant, ["refresh_token", "refreshToken"]) {
        Some(token) => Some(Some(token).filter(|token| is_token(token))?.to_owned()),
        None => None,
    };
    let id_token =
        text(grant, ["id_token", "idToken"]).or_else(|| text(body, ["id_token", "idToken"]));
    Some(Tokens {
        access_token,
        token_type: token_type(text(grant, ["token_type", "tokenType"])),
        expires_at: expires_at(grant, now_ms),
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

fn token_type(said: Option<&str>) -> String {
    let is_word = |word: &&str| {
        word.len() <= 32 && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    match said.filter(is_word) {
        Some(word) if !word.eq_ignore_ascii_case("bearer") => word.to_owned(),
        _ => "Bearer".to_owned(),
    }
}

/// When the tokens of `grant` expire. A life of no seconds or less, and a moment that is over, mean that nothing is known.
fn expires_at(grant: &Value, now_ms: u64) -> Option<u64> {
    let member = |names: [&str; 2]| names.into_iter().find_map(|name| grant.get(name));
    let life = member(["expires_in", "expiresIn"]).and_then(whole);
    if let Some(seconds) = life {
        let is_life = (1..=MAX_SECONDS).contains(&seconds);
        return is_life.then(|| now_ms.saturating_add(seconds.saturating_mul(1000)));
    }
    let moment = member(["expires_at", "expiresAt"]).or_else(|| grant.get("expires_on"))?;
    let moment = match whole(moment) {
        // Seconds, or milliseconds where seconds would be far away.
        Some(number) if number < 100_000_000_000 => number.saturating_mul(1000),
        Some(number) => number,
        None => {
            let moment: jiff::Timestamp = moment.as_str()?.trim().parse().ok()?;
            u64::try_from(moment.as_millisecond()).ok()?
        }
    };
    let last = now_ms.saturating_add(MAX_SECONDS.saturating_mul(1000));
    (now_ms < moment && moment <= last).then_some(moment)
}

/// A number or a number as text, without what follows its decimal point. A negative one is 0. Returns `None` for anything
/// else.
fn whole(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => Cow::Owned(number.to_string()),
        Value::String(text) => Cow::Borrowed(text.trim()),
        _ => return None,
    };
    let number: f64 = number.parse().ok().filter(|number: &f64| number.is_finite())?;
    // The text of a float without its fraction is a whole number, however large.
    format!("{:.0}", number.max(0.0).trunc()).parse().ok()
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

/// Whether a success is none.
fn says_error(body: &Value) -> bool {
    let says = |name: &str| match body.get(name) {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Object(members)) => !members.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::Bool(is_error)) => *is_error,
        Some(Value::Null) | None => false,
    };
    let fails = |name: &str| body.get(name) == Some(&Value::Bool(false));
    ["error", "errors", "error_code", "errorCode"].into_iter().any(says)
        || ["ok", "success"].into_iter().any(fails)
}

/// Where errors stand in answers, as JSON Pointers.
const CODES: [&str; 16] = [
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
];

/// Where people are told about errors.
const DESCRIPTIONS: [&str; 17] = [
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
    "/error",
];

/// The code of an error: one that is known wherever it stands, or else the first.
fn code(body: &Value) -> Option<&str> {
    let codes = || {
        let texts = CODES.into_iter().filter_map(|pointer| body.pointer(pointer)?.as_str());
        texts.filter(|code| is_code(code))
    };
    codes().find(|code| is_known(code)).or_else(|| codes().next())
}

fn description(body: &Value) -> Option<&str> {
    let code = code(body);
    let mut texts = DESCRIPTIONS.into_iter().filter_map(|pointer| body.pointer(pointer)?.as_str());
    texts.find(|text| !text.trim().is_empty() && Some(*text) != code)
}

/// How long a platform asks to wait (RFC 9110, 10.2.3), at most a week.
#[must_use]
pub fn retry_after(answer: &HttpResponse, now_ms: u64) -> Option<u64> {
    let said = answer.header("retry-after")?.trim();
    let wait = if let Some(seconds) = whole(&Value::from(said)) {
        seconds.saturating_mul(1000)
    } else {
        let parser = jiff::fmt::rfc2822::DateTimeParser::new();
        let moment = parser.parse_timestamp(said).ok()?.as_millisecond();
        u64::try_from(moment).ok()?.saturating_sub(now_ms)
    };
    Some(wait.min(MAX_WAIT_MS))
}
