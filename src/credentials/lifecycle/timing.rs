//! The times at which access tokens are refreshed and credentials are checked. Pure.

/// The timeout of a token request, in milliseconds. Shorter than the lease, so that no other request begins while this
/// one runs.
pub const TIMEOUT_MS: u32 = 20_000;
/// The duration of a lease, in milliseconds.
pub const LEASE_MS: u64 = 30_000;
/// The time that a request without a valid token waits for another request's refresh, in
/// milliseconds.
pub const WAIT_MS: u32 = 5_000;
/// The remaining lifetime below which a token is refreshed, in milliseconds.
const REFRESH_MARGIN_MS: u64 = 5 * 60 * 1000;
/// Like [`REFRESH_MARGIN_MS`], for a token with a lifetime of at most [`SHORT_LIFETIME_MS`]. Tokens of Exact
/// Online last ten minutes, and it refuses to refresh a token with more than 30 seconds left:
/// <https://github.com/picqer/exact-php-client/issues/475>.
const SHORT_REFRESH_MARGIN_MS: u64 = 30 * 1000;
const SHORT_LIFETIME_MS: u64 = 10 * 60 * 1000;

/// Whether an access token must be refreshed before use: less than a tenth of its lifetime is left, and less than five
/// minutes, or 30 seconds for a short-lived token.
pub fn is_due(issued_at: Option<u64>, expires_at: Option<u64>, now: u64) -> bool {
    let Some(expires_at) = expires_at else { return false };
    let lifetime = expires_at.saturating_sub(issued_at.unwrap_or(now));
    let limit =
        if lifetime <= SHORT_LIFETIME_MS { SHORT_REFRESH_MARGIN_MS } else { REFRESH_MARGIN_MS };
    let margin = limit.min(lifetime.checked_div(10).unwrap_or(0));
    expires_at.saturating_sub(now) < margin.max(1)
}

/// Whether an access token has more than half of its lifetime left.
pub fn is_recently_issued(issued_at: Option<u64>, expires_at: Option<u64>, now: u64) -> bool {
    let Some((issued_at, expires_at)) = issued_at.zip(expires_at) else { return false };
    let half = expires_at.saturating_sub(issued_at).saturating_div(2);
    now < issued_at.saturating_add(half)
}

/// Whether an access token is still valid.
pub fn is_valid(expires_at: Option<u64>, now: u64) -> bool {
    expires_at.is_none_or(|at| now < at)
}

/// The time of the next check after a success: up to a tenth of `period` sooner, so that connections
/// created together are checked at different times.
pub fn next_check(now: u64, period: u64, jitter: u8) -> u64 {
    let jitter_ms = period.saturating_mul(u64::from(jitter)).saturating_div(10 * 255);
    now.saturating_add(period.saturating_sub(jitter_ms))
}

#[cfg(test)]
mod tests {
    use super::{is_due, is_recently_issued, is_valid, next_check};

    #[test]
    fn a_token_is_recently_issued_in_the_first_half_of_its_lifetime() {
        for (issued, expires, now, expected) in [
            (Some(10), Some(20), 14, true),
            (Some(10), Some(20), 15, false),
            (Some(10), Some(20), 30, false),
            (None, Some(20), 1, false),
            (Some(10), None, 11, false),
        ] {
            assert_eq!(
                is_recently_issued(issued, expires, now),
                expected,
                "{issued:?} {expires:?} {now}"
            );
        }
    }

    #[test]
    fn tokens_are_refreshed_shortly_before_they_expire() {
        let hour = 3_600_000;
        for (issued, expires, now, expected) in [
            (Some(0), None, 0, false),
            (Some(0), Some(hour), 0, false),
            (Some(0), Some(hour), hour - 300_000, false),
            (Some(0), Some(hour), hour - 299_999, true),
            (Some(0), Some(hour), hour, true),
            (Some(0), Some(60_000), 53_999, false),
            (Some(0), Some(60_000), 54_000, false),
            (Some(0), Some(60_000), 54_001, true),
            (Some(0), Some(600_000), 570_000, false),
            (Some(0), Some(600_000), 570_001, true),
            (None, Some(10), 10, true),
        ] {
            assert_eq!(is_due(issued, expires, now), expected, "{expires:?} at {now}");
        }
    }

    #[test]
    fn a_token_is_valid_until_the_moment_at_which_it_expires() {
        for (expires, now, expected) in [
            (None, u64::MAX, true),
            (Some(10), 9, true),
            (Some(10), 10, false),
            (Some(10), 11, false),
        ] {
            assert_eq!(is_valid(expires, now), expected, "{expires:?} at {now}");
        }
    }

    #[test]
    fn checks_are_spread_over_a_tenth_of_the_period() {
        for (jitter, expected) in [(0, 1_025_500), (1, 1_025_490), (255, 1_022_950)] {
            assert_eq!(next_check(1_000_000, 25_500, jitter), expected, "{jitter}");
        }
    }
}
