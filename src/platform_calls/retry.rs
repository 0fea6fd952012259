//! Determines when a request that a platform temporarily rejected can be retried.

use crate::oauth::response::times::retry_after;
use crate::ports::StreamingResponse;
use crate::util::rfc3339::parse;

/// The headers that contain the end of a rate limit, the most precise first. GitHub, Discord,
/// Twitter, `OpenAI`, Okta and the IETF draft (draft-ietf-httpapi-ratelimit-headers) use them.
const RESET_HEADERS: [&str; 7] = [
    "x-ratelimit-reset-after",
    "ratelimit-reset",
    "x-ratelimit-reset",
    "x-rate-limit-reset",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "anthropic-ratelimit-requests-reset",
];
/// Numbers of at least this value are timestamps in seconds since 1970; from [`MIN_TIMESTAMP_MS`]
/// on, in milliseconds.
const MIN_TIMESTAMP: f64 = 1e9;
const MIN_TIMESTAMP_MS: f64 = 1e12;
/// The maximum plausible wait, in milliseconds.
const MAX_MS: f64 = 7.0 * 24.0 * 3600.0 * 1000.0;

/// The milliseconds until the request can be retried. Returns `None` unless the response is a
/// temporary rejection that contains a time.
pub fn wait(response: &StreamingResponse, now_ms: u64) -> Option<u64> {
    if !matches!(response.status, 429 | 503) {
        return None;
    }
    let wait_header = response.header("retry-after");
    let resets = || RESET_HEADERS.iter().find_map(|name| reset(response.header(name)?, now_ms));
    // The value may be a fraction of a second, or a date.
    wait_header
        .and_then(|text| reset(text, now_ms))
        .or_else(|| retry_after(wait_header, now_ms))
        .or_else(resets)
}

/// Parses a timestamp, or a number of seconds from now: `1795348800`, `0.65`, `6m0s`,
/// `2026-11-22T12:00:00Z`.
fn reset(text: &str, now_ms: u64) -> Option<u64> {
    let text = text.split([',', ';']).next().unwrap_or_default().trim();
    if let Some(moment) = parse(text) {
        return Some(moment.saturating_sub(now_ms));
    }
    let number = text.parse::<f64>().ok().filter(|number| *number >= 0.0);
    match number {
        Some(number) if number >= MIN_TIMESTAMP_MS => {
            Some(round_up(number)?.saturating_sub(now_ms))
        }
        Some(number) if number >= MIN_TIMESTAMP => {
            Some(round_up(number * 1000.0)?.saturating_sub(now_ms))
        }
        Some(seconds) => round_up((seconds * 1000.0).min(MAX_MS)),
        None => round_up(duration(text)?.min(MAX_MS)),
    }
}

/// Parses `1h2m3.5s` or `250ms` into milliseconds.
fn duration(text: &str) -> Option<f64> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at_checked(digits)?;
        let unit_end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, next) = after.split_at_checked(unit_end)?;
        let factor = match unit {
            "ms" => 1.0,
            "s" => 1000.0,
            "m" => 60_000.0,
            "h" => 3_600_000.0,
            "d" => 86_400_000.0,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * factor;
        rest = next;
    }
    (!text.is_empty()).then_some(total)
}

/// Rounds milliseconds up to a whole number.
fn round_up(milliseconds: f64) -> Option<u64> {
    let rounded = milliseconds.ceil();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, not negative and below 2^53"
    )]
    (rounded.is_finite() && (0.0..9e15).contains(&rounded)).then_some(rounded as u64)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::wait;
    use crate::ports::StreamingResponse;

    /// 2026-11-22T12:00:00Z
    const NOON: u64 = 1_795_348_800_000;

    #[test]
    fn parses_when_a_request_can_be_retried() {
        for (status, name, value, expected) in [
            (429, "retry-after", "5", Some(5000)),
            (503, "retry-after", "Sun, 22 Nov 2026 12:00:07 GMT", Some(7000)),
            (429, "retry-after", "0.65", Some(650)),
            (429, "retry-after", "soon", None),
            (429, "x-ratelimit-reset", "1795348812", Some(12_000)),
            (429, "x-ratelimit-reset", "1795348812500", Some(12_500)),
            (429, "x-ratelimit-reset", "1795348000", Some(0)),
            (429, "x-ratelimit-reset", "30", Some(30_000)),
            (429, "x-ratelimit-reset", "2026-11-22T12:00:03Z", Some(3000)),
            (429, "x-ratelimit-reset-after", "1.5", Some(1500)),
            (429, "ratelimit-reset", "2, 60", Some(2000)),
            (429, "x-ratelimit-reset-requests", "1m2.5s", Some(62_500)),
            (429, "x-ratelimit-reset-requests", "250ms", Some(250)),
            (429, "x-ratelimit-reset", "-1", None),
            (429, "x-ratelimit-reset", "NaN", None),
            (429, "x-ratelimit-reset", "1x", None),
            (429, "x-other", "5", None),
            (500, "retry-after", "5", None),
            (200, "x-ratelimit-reset", "5", None),
        ] {
            let headers = vec![(name.to_owned(), value.to_owned())];
            let response = StreamingResponse { status, headers, body: Rc::new(()) };
            assert_eq!(wait(&response, NOON), expected, "{status} {name}: {value}");
        }
    }
}
