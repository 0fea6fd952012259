//! The connection state machine. Pure; every transition is decided here.
//!
//! The table of transitions in `docs/api.md` is rendered from this module, and an end-to-end test runs through each of
//! its rows.

use crate::oauth::TokenErrorKind;
use crate::terms::State;

/// The backoff after consecutive failures, in milliseconds. The last value repeats.
pub const BACKOFF_MS: [u64; 5] = [60_000, 300_000, 900_000, 3_600_000, 21_600_000];
/// The minimum time between a refusal and the second one that fails the connection, in
/// milliseconds. Some platforms refuse a valid token once.
pub const CONFIRMATION_MS: u64 = 60_000;
/// The maximum backoff while the platform rejects the OAuth client, in milliseconds. Once the client is corrected, its
/// connections recover within this time.
pub const PROBE_INTERVAL_MS: u64 = 60 * 60 * 1000;
/// The time that a platform may refuse requests before the connection fails, in milliseconds.
pub const GRACE_PERIOD_MS: u64 = 3 * 24 * 60 * 60 * 1000;

/// The reason code of a connection whose grant the platform has ended.
pub const REASON_GRANT_ENDED: &str = "grant_ended";

/// The state after a refresh or a check that succeeded.
pub const STATE_AFTER_SUCCESS: State = State::Operational;

/// The reason code of new credentials whose check was inconclusive.
pub const REASON_NOT_CHECKED: &str = "not_checked";
/// The human-readable text of [`REASON_NOT_CHECKED`].
pub const REASON_NOT_CHECKED_DETAIL: &str =
    "The platform did not say whether it accepts the credentials. They were stored.";

/// The state of a connection after its credentials were stored. `is_proven` is whether the platform
/// has just issued or accepted them.
pub const fn stored(is_proven: bool) -> State {
    if is_proven { STATE_AFTER_SUCCESS } else { State::Unknown }
}

/// The reason why a refresh or a check failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealthFailure {
    /// The platform is unreachable, returned a server error, or asked to wait.
    Unavailable,
    /// The platform's response can't be parsed.
    Unreadable,
    /// The platform rejects the refresh token, or the access token has expired and there is no refresh token.
    GrantRejected,
    /// The platform rejects credentials that can't be refreshed.
    CredentialsRejected,
    /// The platform denies access.
    Denied,
    /// The platform rejects the OAuth client, or the account has no OAuth client.
    ClientRejected,
    /// The platform does not serve the OAuth client, perhaps for this connection only.
    Unauthorized,
    /// The platform rejects the request.
    RequestRejected,
}

impl HealthFailure {
    pub const ALL: [Self; 8] = [
        Self::Unavailable,
        Self::Unreadable,
        Self::GrantRejected,
        Self::CredentialsRejected,
        Self::Denied,
        Self::ClientRejected,
        Self::Unauthorized,
        Self::RequestRejected,
    ];

    /// The reason code of the API.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unavailable => "platform_unavailable",
            Self::Unreadable => "invalid_answer",
            Self::GrantRejected | Self::Denied => "grant_rejected",
            Self::CredentialsRejected => "credentials_rejected",
            Self::ClientRejected | Self::Unauthorized => "client_rejected",
            Self::RequestRejected => "request_rejected",
        }
    }

    /// Whether a second failure of this kind, after [`CONFIRMATION_MS`], fails the connection.
    const fn is_final_when_repeated(self) -> bool {
        matches!(self, Self::GrantRejected | Self::CredentialsRejected)
    }

    /// Whether the platform has refused this connection in particular. An outage is not a refusal,
    /// and a rejected client affects every connection of that client.
    const fn is_refusal(self) -> bool {
        self.is_final_when_repeated()
            || matches!(self, Self::Denied | Self::RequestRejected | Self::Unauthorized)
    }

    /// Whether the account must act, because the cause affects all of its users.
    const fn needs_account(self) -> bool {
        matches!(self, Self::ClientRejected | Self::Unauthorized | Self::RequestRejected)
    }
}

impl From<TokenErrorKind> for HealthFailure {
    fn from(kind: TokenErrorKind) -> Self {
        match kind {
            TokenErrorKind::GrantRejected => Self::GrantRejected,
            TokenErrorKind::ClientRejected => Self::ClientRejected,
            TokenErrorKind::Unauthorized => Self::Unauthorized,
            TokenErrorKind::RequestRejected => Self::RequestRejected,
            TokenErrorKind::Denied => Self::Denied,
            TokenErrorKind::Temporary => Self::Unavailable,
            TokenErrorKind::Unreadable => Self::Unreadable,
        }
    }
}

/// The failures since the last success.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailureHistory {
    /// The number of failures since the last success.
    pub attempts: u64,
    /// The time of the platform's first refusal, in milliseconds since 1970-01-01 UTC.
    pub failing_since: Option<u64>,
    /// The time of the first failure that is final if repeated.
    pub refused_since: Option<u64>,
}

/// The state of a connection after a failure, and the times of its next attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureOutcome {
    /// The new state.
    pub state: State,
    /// The reason code.
    pub code: &'static str,
    /// The number of failures since the last success.
    pub attempts: u64,
    /// The time of the platform's first refusal.
    pub failing_since: Option<u64>,
    /// The time of the first failure that is final if repeated.
    pub refused_since: Option<u64>,
    /// The time of the next attempt; `None` if no attempt follows.
    pub next_attempt_at: Option<u64>,
    /// An alternative to `next_attempt_at`. The statement chooses the time at which fewer attempts
    /// are due.
    pub alternative_at: Option<u64>,
    /// The time from which a caller can request an attempt, before the next one is due.
    pub retry_at: u64,
}

/// The transition after a failure. `retry_after_ms` is the wait that the platform requests;
/// `jitter` is a random number, which spreads the next attempts.
pub fn after_failure(
    before: FailureHistory,
    failure: HealthFailure,
    retry_after_ms: Option<u64>,
    now: u64,
    jitter: u8,
) -> FailureOutcome {
    let is_past =
        |since: Option<u64>, limit| since.is_some_and(|since| now.saturating_sub(since) >= limit);
    let attempts = before.attempts.saturating_add(1);
    let refused_since =
        before.refused_since.or_else(|| failure.is_final_when_repeated().then_some(now));
    let failing_since = before.failing_since.or_else(|| failure.is_refusal().then_some(now));
    let is_confirmed =
        failure.is_final_when_repeated() && is_past(before.refused_since, CONFIRMATION_MS);
    let is_past_grace_period = failure.is_refusal() && is_past(failing_since, GRACE_PERIOD_MS);
    let has_failed = is_confirmed || is_past_grace_period;
    let index = usize::try_from(before.attempts).unwrap_or(usize::MAX);
    let longest = BACKOFF_MS.last().copied().unwrap_or(PROBE_INTERVAL_MS);
    let pause = BACKOFF_MS.get(index).copied().unwrap_or(longest);
    let is_client_rejected = failure.code() == HealthFailure::ClientRejected.code();
    let pause = if is_client_rejected { pause.min(PROBE_INTERVAL_MS) } else { pause };
    // The pause varies from 80 % to 120 %, in 255 steps. With whole percents, connections that
    // failed together would repeatedly retry in the same minute.
    let spread = |jitter: u8| {
        let share = u64::from(jitter).saturating_mul(40).saturating_add(80 * 255);
        pause.saturating_mul(share).saturating_div(100 * 255)
    };
    // An attempt before the confirmation delay could not confirm the failure, and would add a whole backoff period.
    let to_confirm = refused_since
        .filter(|_| failure.is_final_when_repeated())
        .map_or(0, |since| since.saturating_add(CONFIRMATION_MS).saturating_sub(now));
    let min_pause = to_confirm.max(retry_after_ms.unwrap_or(0));
    let at = |jitter| (!has_failed).then(|| now.saturating_add(spread(jitter).max(min_pause)));
    FailureOutcome {
        state: if has_failed { State::Failed } else { State::Degraded },
        code: match failure {
            HealthFailure::GrantRejected if is_confirmed => REASON_GRANT_ENDED,
            _ => failure.code(),
        },
        attempts,
        failing_since,
        refused_since,
        next_attempt_at: at(jitter),
        alternative_at: at(jitter.wrapping_add(128)),
        retry_at: now.saturating_add(retry_after_ms.unwrap_or(0)),
    }
}

/// The party that must act: the API's member `actor`.
pub fn actor(state: State, code: Option<&str>) -> &'static str {
    let is_cause =
        |failure: &HealthFailure| failure.needs_account() && Some(failure.code()) == code;
    match state {
        State::Failed => "user",
        State::Degraded if HealthFailure::ALL.iter().any(is_cause) => "account",
        _ => "nobody",
    }
}

#[cfg(test)]
mod tests {
    use super::HealthFailure::{
        ClientRejected, CredentialsRejected, GrantRejected, RequestRejected, Unauthorized,
        Unavailable,
    };
    use super::{FailureHistory, actor, after_failure};
    use crate::terms::State;

    #[test]
    fn requested_refreshes_wait_for_retry_after() {
        for (retry_after, retry_at) in [(None, 7), (Some(9_999), 10_006)] {
            let after = after_failure(FailureHistory::default(), Unavailable, retry_after, 7, 0);
            assert_eq!(after.retry_at, retry_at, "{retry_after:?}");
        }
    }

    #[test]
    fn failures_back_off_and_only_confirmed_refusals_fail() {
        let first = FailureHistory::default();
        let since = |attempts, refused_since| FailureHistory {
            attempts,
            failing_since: Some(0),
            refused_since,
        };
        let day = 86_400_000;
        for (before, failure, now, state, code, pause) in [
            (first, Unavailable, 1000, State::Degraded, "platform_unavailable", 60_000),
            (since(1, None), Unavailable, 60_000, State::Degraded, "platform_unavailable", 300_000),
            (
                since(9, None),
                Unavailable,
                day * 9,
                State::Degraded,
                "platform_unavailable",
                21_600_000,
            ),
            (first, GrantRejected, 1000, State::Degraded, "grant_rejected", 60_000),
            (since(1, Some(0)), GrantRejected, 59_999, State::Degraded, "grant_rejected", 300_000),
            (since(1, Some(0)), GrantRejected, 60_000, State::Failed, "grant_ended", 0),
            (since(1, None), GrantRejected, 60_000, State::Degraded, "grant_rejected", 300_000),
            (first, CredentialsRejected, 1000, State::Degraded, "credentials_rejected", 60_000),
            (
                since(1, Some(0)),
                CredentialsRejected,
                60_000,
                State::Failed,
                "credentials_rejected",
                0,
            ),
            (
                since(5, None),
                RequestRejected,
                day * 3 - 1,
                State::Degraded,
                "request_rejected",
                21_600_000,
            ),
            (since(5, None), RequestRejected, day * 3, State::Failed, "request_rejected", 0),
            (
                since(5, None),
                ClientRejected,
                day * 9,
                State::Degraded,
                "client_rejected",
                3_600_000,
            ),
            (first, Unauthorized, 1000, State::Degraded, "client_rejected", 60_000),
            (
                since(5, None),
                Unauthorized,
                day * 3 - 1,
                State::Degraded,
                "client_rejected",
                3_600_000,
            ),
            (since(5, None), Unauthorized, day * 3, State::Failed, "client_rejected", 0),
        ] {
            // The middle value of `jitter` changes the backoff by less than 0.1 %.
            let after = after_failure(before, failure, None, now, 128);
            assert_eq!((after.state, after.code), (state, code), "{failure:?} at {now}");
            assert_eq!(after.attempts, before.attempts + 1);
            let found = after.next_attempt_at.map_or(0, |at| at - now);
            assert!(found.abs_diff(pause) <= pause / 100, "{failure:?} at {now}: {found}");
        }
        for (jitter, pause, alternative) in [(0, 48_000, 60_047), (255, 72_000, 59_952)] {
            let after = after_failure(first, Unavailable, None, 0, jitter);
            assert_eq!(
                (after.next_attempt_at, after.alternative_at),
                (Some(pause), Some(alternative))
            );
        }
        for (jitter, pause) in [(0, 60_000), (255, 72_000)] {
            let after = after_failure(first, GrantRejected, None, 0, jitter);
            assert_eq!(after.next_attempt_at, Some(pause), "the next refusal ends the grant");
        }
        let with_retry_after = after_failure(first, Unavailable, Some(90_000), 0, 0);
        assert_eq!(
            (with_retry_after.next_attempt_at, with_retry_after.alternative_at),
            (Some(90_000), Some(90_000))
        );
        // After an outage of days, the first refusal is not final.
        let mut before = first;
        for (failure, now) in
            [(Unavailable, 0), (Unavailable, day * 4), (RequestRejected, day * 4 + 1)]
        {
            let after = after_failure(before, failure, None, now, 0);
            assert_eq!(after.state, State::Degraded, "{failure:?} at {now}");
            before = FailureHistory { failing_since: after.failing_since, ..before };
        }
        // Failures of another kind in between do not reset a refusal.
        let refused = after_failure(first, GrantRejected, None, 7, 0);
        let before = FailureHistory {
            attempts: 1,
            failing_since: Some(7),
            refused_since: refused.refused_since,
        };
        let passing = after_failure(before, Unavailable, None, 9, 0);
        assert_eq!((refused.refused_since, passing.refused_since), (Some(7), Some(7)));
    }

    #[test]
    fn actor_is_the_user_or_the_account() {
        for (state, code, expected) in [
            (State::Failed, Some("client_rejected"), "user"),
            (State::Failed, None, "user"),
            (State::Degraded, Some("client_rejected"), "account"),
            (State::Degraded, Some("request_rejected"), "account"),
            (State::Degraded, Some("grant_rejected"), "nobody"),
            (State::Degraded, None, "nobody"),
            (State::Operational, Some("client_rejected"), "nobody"),
            (State::Unknown, None, "nobody"),
        ] {
            assert_eq!(actor(state, code), expected, "{state:?} for {code:?}");
        }
    }
}
