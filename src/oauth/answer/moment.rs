//! Times in authorization servers' answers: how long a token is valid, and how long to wait.

use std::borrow::Cow;

use serde_json::Value;

use crate::ports::HttpResponse;

/// The longest time for which a token is said to be valid: 100 years. A longer one means for ever.
const MAX_SECONDS: u64 = 3_155_760_000;
/// The longest time that a platform may ask to wait: a week.
const MAX_WAIT_MS: u64 = 604_800_000;

/// When the access token of `grant` expires, in milliseconds since 1970-01-01 UTC. A life of no seconds or less, and a moment that is over, mean that nothing is known.
#[must_use]
pub fn expires_at(grant: &Value, now_ms: u64) -> Option<u64> {
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
    Some(format!("{:.0}", number.max(0.0).trunc()).parse().unwrap_or(u64::MAX))
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
