//! When an access token is renewed, and what a failed renewal means for its connection. Pure.

use crate::oauth::{TokenError, TokenErrorKind};
use crate::terms::State;

/// How long a token request may take, in milliseconds. Shorter than the lease, so that nobody else begins while it runs.
pub const DEADLINE_MS: u32 = 20_000;
/// How long nobody else renews, in milliseconds.
pub const LEASE_MS: u64 = 30_000;
/// How long somebody without a usable token waits for whoever renews, in milliseconds.
pub const WAIT_MS: u64 = 5_000;
/// A token with less time left than this is renewed, in milliseconds.
const MARGIN_MS: u64 = 5 * 60 * 1000;
/// The pauses after failed renewals, in milliseconds; the last one stays.
const PAUSES_MS: [u64; 5] = [60_000, 300_000, 900_000, 3_600_000, 21_600_000];
/// The least time between two refusals of a grant before it counts as ended, in milliseconds.
const CONFIRMED_MS: u64 = 60_000;
/// The longest pause while the platform rejects the OAuth client, in milliseconds: whoever mends it need not wait longer.
pub const PROBE_MS: u64 = 60 * 60 * 1000;
/// How long a platform may refuse, since its first refusal, before the connection has failed, in milliseconds.
const PATIENCE_MS: u64 = 3 * 24 * 60 * 60 * 1000;

/// Whether an access token is to be renewed before it is handed out: when less than 5 minutes or a tenth of its life is
/// left, whichever is less.
#[must_use]
pub fn is_due(issued_at: Option<u64>, expires_at: Option<u64>, now: u64) -> bool {
    let Some(expires_at) = expires_at else { return false };
    let life = expires_at.saturating_sub(issued_at.unwrap_or(now));
    let margin = MARGIN_MS.min(life.checked_div(10).unwrap_or(0));
    expires_at.saturating_sub(now) < margin.max(1)
}

/// Whether an access token is still valid.
#[must_use]
pub fn is_valid(expires_at: Option<u64>, now: u64) -> bool {
    expires_at.is_none_or(|at| now < at)
}

/// What was known before a renewal failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Before {
    /// Failed renewals since the last good one.
    pub attempts: u64,
    /// When the platform answered the first of them with a refusal, in milliseconds since 1970-01-01 UTC. One that is down
    /// refuses nothing.
    pub failing_since: Option<u64>,
    /// When the platform first said that the grant has ended.
    pub refused_since: Option<u64>,
}

/// What a failed renewal makes of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct After {
    /// The state that the connection has now.
    pub state: State,
    /// Why, for programs.
    pub code: &'static str,
    /// Failed renewals since the last good one.
    pub attempts: u64,
    /// When the platform answered the first of them with a refusal; `None` when it has answered none.
    pub failing_since: Option<u64>,
    /// When the platform first said that the grant has ended; `None` when it has not.
    pub refused_since: Option<u64>,
    /// When the next one is due; `None` when there is none.
    pub next_attempt_at: Option<u64>,
}

/// What a failed renewal makes of a connection. `chance` is a random number, which spreads the next attempts.
#[must_use]
pub fn after_failure(before: Before, error: &TokenError, now: u64, chance: u8) -> After {
    let code = reason(error.kind);
    let attempts = before.attempts.saturating_add(1);
    let is_refused = error.kind == TokenErrorKind::GrantRejected;
    let refused_since = before.refused_since.or_else(|| is_refused.then_some(now));
    let is_ended = is_refused
        && before.refused_since.is_some_and(|since| now.saturating_sub(since) >= CONFIRMED_MS);
    // Whoever runs the app mends its client; a platform that is down comes back.
    let answers = matches!(
        error.kind,
        TokenErrorKind::GrantRejected | TokenErrorKind::RequestRejected | TokenErrorKind::Denied
    );
    let failing_since = before.failing_since.or_else(|| answers.then_some(now));
    let is_hopeless =
        answers && failing_since.is_some_and(|since| now.saturating_sub(since) >= PATIENCE_MS);
    if is_ended || is_hopeless {
        let code = if is_ended { "grant_ended" } else { code };
        return After {
            state: State::Failed,
            code,
            attempts,
            failing_since,
            refused_since,
            next_attempt_at: None,
        };
    }
    let nth = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    let last = PAUSES_MS.last().copied().unwrap_or(MARGIN_MS);
    let pause = PAUSES_MS.get(nth).copied().unwrap_or(last);
    let pause =
        if error.kind == TokenErrorKind::ClientRejected { pause.min(PROBE_MS) } else { pause };
    // 80 % to 120 % of the pause.
    let spread = pause.saturating_mul(
        u64::from(chance).saturating_mul(40).saturating_div(255).saturating_add(80),
    );
    let pause = spread.saturating_div(100).max(error.retry_after_ms.unwrap_or(0));
    let next_attempt_at = Some(now.saturating_add(pause));
    After { state: State::Degraded, code, attempts, failing_since, refused_since, next_attempt_at }
}

/// What it makes of a connection that the platform rejects its credentials when they are checked: the same as an ended
/// grant.
#[must_use]
pub fn after_rejection(before: Before, status: Option<u16>, now: u64, chance: u8) -> After {
    let error = TokenError::bare(TokenErrorKind::GrantRejected, status);
    After { code: "credentials_rejected", ..after_failure(before, &error, now, chance) }
}

/// When credentials are checked next that were found good now: once in `period`, a little earlier by `chance`, so that what
/// came together drifts apart.
#[must_use]
pub fn next_check(now: u64, period: u64, chance: u8) -> u64 {
    let early = period.saturating_mul(u64::from(chance)).saturating_div(10 * 255);
    now.saturating_add(period.saturating_sub(early))
}

/// The reason of a failed renewal, as a stable identifier for programs.
#[must_use]
pub const fn reason(kind: TokenErrorKind) -> &'static str {
    match kind {
        TokenErrorKind::GrantRejected | TokenErrorKind::Denied => "grant_rejected",
        TokenErrorKind::ClientRejected => "client_rejected",
        TokenErrorKind::RequestRejected => "request_rejected",
        TokenErrorKind::Passing => "platform_unavailable",
        TokenErrorKind::Unreadable => "invalid_answer",
    }
}

/// Who must act on a connection, by its state and the reason of it.
#[must_use]
pub fn actor(state: State, code: Option<&str>) -> &'static str {
    match (state, code) {
        (State::Failed, _) => "user",
        (State::Degraded, Some("client_rejected" | "request_rejected")) => "account",
        _ => "nobody",
    }
}

#[cfg(test)]
mod tests {
    use super::{Before, after_failure, is_due};
    use crate::oauth::TokenError;
    use crate::oauth::TokenErrorKind::{ClientRejected, GrantRejected, Passing, RequestRejected};
    use crate::terms::State;

    #[test]
    fn tokens_are_renewed_shortly_before_they_expire() {
        let hour = 3_600_000;
        for (issued, expires, now, expected) in [
            (Some(0), None, 0, false),
            (Some(0), Some(hour), 0, false),
            (Some(0), Some(hour), hour - 300_000, false),
            (Some(0), Some(hour), hour - 299_999, true),
            (Some(0), Some(hour), hour, true),
            (Some(0), Some(60_000), 53_999, false),
            (Some(0), Some(60_000), 54_001, true),
            (None, Some(10), 10, true),
        ] {
            assert_eq!(is_due(issued, expires, now), expected, "{expires:?} at {now}");
        }
    }

    #[test]
    fn failures_lead_to_pauses_and_only_an_ended_grant_to_the_end() {
        let first = Before { attempts: 0, failing_since: None, refused_since: None };
        let since =
            |attempts, refused_since| Before { attempts, failing_since: Some(0), refused_since };
        let day = 86_400_000;
        for (before, kind, now, state, code, pause) in [
            (first, Passing, 1000, State::Degraded, "platform_unavailable", 60_000),
            (since(1, None), Passing, 60_000, State::Degraded, "platform_unavailable", 300_000),
            (since(9, None), Passing, day * 9, State::Degraded, "platform_unavailable", 21_600_000),
            (first, GrantRejected, 1000, State::Degraded, "grant_rejected", 60_000),
            (since(1, Some(0)), GrantRejected, 59_999, State::Degraded, "grant_rejected", 300_000),
            (since(1, Some(0)), GrantRejected, 60_000, State::Failed, "grant_ended", 0),
            (since(1, None), GrantRejected, 60_000, State::Degraded, "grant_rejected", 300_000),
            (since(5, None), RequestRejected, day * 3, State::Failed, "request_rejected", 0),
            (
                since(5, None),
                ClientRejected,
                day * 9,
                State::Degraded,
                "client_rejected",
                3_600_000,
            ),
        ] {
            // The middle of all chances leaves a pause as it is, but for 40/255 that is rounded.
            let after = after_failure(before, &TokenError::bare(kind, None), now, 128);
            assert_eq!((after.state, after.code), (state, code), "{kind:?} at {now}");
            assert_eq!(after.attempts, before.attempts + 1);
            let found = after.next_attempt_at.map_or(0, |at| at - now);
            assert!(found.abs_diff(pause) <= pause / 100, "{kind:?} at {now}: {found}");
        }
        for (chance, pause) in [(0, 48_000), (255, 72_000)] {
            let after = after_failure(first, &TokenError::bare(Passing, None), 0, chance);
            assert_eq!(after.next_attempt_at, Some(pause));
        }
        let patient =
            TokenError { retry_after_ms: Some(90_000), ..TokenError::bare(Passing, None) };
        assert_eq!(after_failure(first, &patient, 0, 0).next_attempt_at, Some(90_000));
        // After an outage of days, a first refusal is a first one.
        let mut before = first;
        for (kind, now) in [(Passing, 0), (Passing, day * 4), (RequestRejected, day * 4 + 1)] {
            let after = after_failure(before, &TokenError::bare(kind, None), now, 0);
            assert_eq!(after.state, State::Degraded, "{kind:?} at {now}");
            before = Before { failing_since: after.failing_since, ..before };
        }
        // A refusal is remembered over failures of another kind.
        let refused = after_failure(first, &TokenError::bare(GrantRejected, None), 7, 0);
        let before =
            Before { attempts: 1, failing_since: Some(7), refused_since: refused.refused_since };
        let passing = after_failure(before, &TokenError::bare(Passing, None), 9, 0);
        assert_eq!((refused.refused_since, passing.refused_since), (Some(7), Some(7)));
    }
}
