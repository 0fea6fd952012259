//! Times in token responses: expiry and `Retry-After`.

use crate::catalog::detail::ExpiresUnit;
use crate::util::rfc3339::{milliseconds, numbers, parse};
use serde_json::Value;

/// The maximum lifetime of a token, in seconds: 100 years. A longer one means that the token does
/// not expire.
const MAX_SECONDS: u64 = 3_155_760_000;
/// The maximum wait for `Retry-After`, in milliseconds: a week.
const MAX_WAIT_MS: u64 = 604_800_000;

/// The smallest value of `expires` that is interpreted as a time, in seconds (in 2001). Smaller
/// values are lifetimes.
const MIN_TIMESTAMP: u64 = 1_000_000_000;

/// When the access token of `grant` expires, in milliseconds since 1970-01-01 UTC. Returns `None`
/// if the lifetime is not positive or the time has passed. `unit` is the unit of the lifetime. Some
/// servers send a time instead of a lifetime.
pub fn expires_at(grant: &Value, unit: ExpiresUnit, now_ms: u64) -> Option<u64> {
    let member = |names: [&str; 2]| names.into_iter().find_map(|name| grant.get(name));
    let expires = grant.get("expires");
    let expires_in = member(["expires_in", "expiresIn"]);
    let lifetime = expires_in.and_then(integer);
    // Facebook and Stack Exchange use `expires` for the lifetime; other platforms use it for a
    // time.
    let lifetime =
        lifetime.or_else(|| expires.and_then(integer).filter(|number| *number < MIN_TIMESTAMP));
    if let Some(lifetime) = lifetime {
        let lifetime = match unit {
            ExpiresUnit::Seconds => lifetime.saturating_mul(1000),
            ExpiresUnit::Milliseconds => lifetime,
        };
        let is_plausible = (1..=MAX_SECONDS.saturating_mul(1000)).contains(&lifetime);
        return is_plausible.then(|| now_ms.saturating_add(lifetime));
    }
    let moment = member(["expires_at", "expiresAt"]).or_else(|| grant.get("expires_on"));
    let moment = moment.or(expires).or(expires_in)?;
    let moment = match integer(moment) {
        // Larger numbers are already in milliseconds: as seconds, they would be implausibly late.
        Some(number) if number < 100_000_000_000 => number.saturating_mul(1000),
        Some(number) => number,
        None => date(moment.as_str()?.trim())?,
    };
    let last = now_ms.saturating_add(MAX_SECONDS.saturating_mul(1000));
    (now_ms < moment && moment <= last).then_some(moment)
}

/// Parses a time. Without a time zone, assumes UTC: if that is wrong, the platform rejects the
/// token before this time, and the token is refreshed.
fn date(text: &str) -> Option<u64> {
    parse(text).or_else(|| parse(&format!("{text}Z"))).or_else(|| http_date(text))
}

/// Parses a JSON number, or a string that contains one, and truncates it. Negative numbers become
/// 0.
fn integer(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().map(truncated)),
        Value::String(text) => match serde_json::from_str(text.trim()).ok()? {
            number @ Value::Number(_) => integer(&number),
            _ => None,
        },
        _ => None,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the nearest whole number that a u64 holds is what is wanted"
)]
const fn truncated(number: f64) -> u64 {
    number as u64
}

/// The delay in the header `Retry-After` (RFC 9110, section 10.2.3), in milliseconds. At most a
/// week.
pub fn retry_after(header: Option<&str>, now_ms: u64) -> Option<u64> {
    let field_value = header?.trim();
    let wait = match integer(&Value::from(field_value)) {
        // Some servers send the time at which the delay ends.
        Some(moment) if moment >= MIN_TIMESTAMP => {
            moment.saturating_mul(1000).saturating_sub(now_ms)
        }
        Some(seconds) => seconds.saturating_mul(1000),
        None => http_date(field_value)?.saturating_sub(now_ms),
    };
    Some(wait.min(MAX_WAIT_MS))
}

/// Parses an HTTP date, such as `Sun, 22 Nov 2026 12:00:00 GMT` (RFC 9110, section 5.6.7).
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_whitespace().skip(1);
    let day = words.next()?.parse().ok()?;
    let name = words.next()?;
    let (month, _) = (1..).zip(MONTHS).find(|(_, month)| *month == name)?;
    let year = words.next()?.parse().ok()?;
    let time = numbers(words.next()?, ':')?;
    if words.next() != Some("GMT") {
        return None;
    }
    u64::try_from(milliseconds([year, month, day], time)?).ok()
}

#[cfg(test)]
mod tests {
    use super::http_date;
    use crate::util::rfc3339::parse;

    /// 2026-11-22T12:00:00Z
    const NOON: u64 = 1_795_348_800_000;

    #[test]
    fn parses_times() {
        for (text, expected) in [
            ("2026-11-22T12:00:00Z", Some(NOON)),
            ("2026-11-22t12:00:00.123456z", Some(NOON)),
            ("2026-11-22 13:30:00+01:30", Some(NOON)),
            ("2026-11-21T23:00:00.0-13:00", Some(NOON)),
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1970-01-01T00:00:00+00:01", None),
            ("2026-11-22T12:00:00", None),
            ("2026-11-22", None),
            ("2026-02-30T12:00:00Z", None),
            ("2026-11-22T24:00:00Z", None),
            ("2026-11-22T12:00:00+1", None),
            ("2026-11-22T12:00:00*01:00", None),
            ("+026-11-22T12:00:00Z", None),
            ("ü026-11-22T12:00:00Zü", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
        for (text, expected) in [
            ("Sun, 22 Nov 2026 12:00:00 GMT", Some(NOON)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sun, 31 Nov 2026 12:00:00 GMT", None),
            ("Sun, 22 nov 2026 12:00:00 GMT", None),
            ("Sun, 22 Nov 2026 12:00:00 +0100", None),
            ("Sun, 22 Nov 2026 12:00 GMT", None),
            ("22 Nov 2026", None),
        ] {
            assert_eq!(http_date(text), expected, "{text}");
        }
    }
}
