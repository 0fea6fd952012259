//! The states of a connection, and what whatever happens makes of them. Pure, and the only place that says so: the table in
//! `docs/api.md` is rendered from it, and each row of that table is tested on the real runtime.

use crate::oauth::TokenErrorKind;
use crate::terms::State;

/// The pauses after failures, in milliseconds; the last one stays.
pub const PAUSES_MS: [u64; 5] = [60_000, 300_000, 900_000, 3_600_000, 21_600_000];
/// The least time between two refusals before the second one counts, in milliseconds.
pub const CONFIRMED_MS: u64 = 60_000;
/// The longest pause while the platform rejects the OAuth client, in milliseconds: whoever mends it need not wait longer.
pub const PROBE_MS: u64 = 60 * 60 * 1000;
/// How long a platform may refuse, since its first refusal, before the connection has failed, in milliseconds.
pub const PATIENCE_MS: u64 = 3 * 24 * 60 * 60 * 1000;

/// The reason of a connection whose grant the platform has ended.
pub const ENDED: &str = "grant_ended";

/// What a renewal or a check that succeeds makes of a connection that has not failed.
pub const WORKS: State = State::Operational;

/// Why the state of new credentials is unknown although the platform was asked about them.
pub const NOT_CHECKED: &str = "not_checked";
/// The same for people.
pub const NOT_CHECKED_DETAIL: &str =
    "The platform did not say whether it accepts the credentials. They were stored.";

/// What stored credentials make of a connection, failed or new: `is_proven` if the platform has just given or accepted them.
#[must_use]
pub const fn stored(is_proven: bool) -> State {
    if is_proven { WORKS } else { State::Unknown }
}

/// A way in which a renewal or a check fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The platform can't be reached, is in trouble, or asks to wait.
    Unavailable,
    /// The platform's answer can't be read.
    Unreadable,
    /// The platform no longer accepts the refresh token, or the access token has expired and there is none.
    GrantRejected,
    /// The platform rejects credentials that can't be renewed.
    CredentialsRejected,
    /// The platform denies access.
    Denied,
    /// The platform rejects the OAuth client, or there is none.
    ClientRejected,
    /// The platform does not serve the OAuth client, perhaps for this connection only.
    Unauthorized,
    /// The platform rejects the request.
    RequestRejected,
}

impl Failure {
    /// All ways.
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

    /// The reason, as a stable identifier for programs.
    #[must_use]
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

    /// Whether the second one, a while after the first, is the end.
    const fn ends(self) -> bool {
        matches!(self, Self::GrantRejected | Self::CredentialsRejected)
    }

    /// Whether the platform has answered, and refused this connection. One that is down refuses nothing, and whoever runs
    /// the app mends its client.
    const fn refuses(self) -> bool {
        self.ends() || matches!(self, Self::Denied | Self::RequestRejected | Self::Unauthorized)
    }

    /// Whether the account must act, for all of its users.
    const fn is_the_accounts(self) -> bool {
        matches!(self, Self::ClientRejected | Self::Unauthorized | Self::RequestRejected)
    }
}

impl From<TokenErrorKind> for Failure {
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

/// What was known before a failure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Before {
    /// Failures since the last success.
    pub attempts: u64,
    /// When the platform first answered and refused, in milliseconds since 1970-01-01 UTC.
    pub failing_since: Option<u64>,
    /// When it first refused in a way whose second time is the end.
    pub refused_since: Option<u64>,
}

/// What a failure makes of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct After {
    /// The state that the connection has now.
    pub state: State,
    /// Why, for programs.
    pub code: &'static str,
    /// Failures since the last success.
    pub attempts: u64,
    /// When the platform first answered and refused; `None` when it has not.
    pub failing_since: Option<u64>,
    /// When it first refused in a way whose second time is the end; `None` when it has not.
    pub refused_since: Option<u64>,
    /// When the next attempt is due; `None` when there is none.
    pub next_attempt_at: Option<u64>,
    /// Another moment for it, to be taken when less is due then; `None` when there is none.
    pub or_at: Option<u64>,
}

/// What a failure makes of a connection. The platform asks to wait `retry_after_ms`; `chance` is a random number, which
/// spreads the next attempts.
#[must_use]
pub fn after_failure(
    before: Before,
    failure: Failure,
    retry_after_ms: Option<u64>,
    now: u64,
    chance: u8,
) -> After {
    let is_past = |since: Option<u64>, patience| {
        since.is_some_and(|since| now.saturating_sub(since) >= patience)
    };
    let attempts = before.attempts.saturating_add(1);
    let refused_since = before.refused_since.or_else(|| failure.ends().then_some(now));
    let failing_since = before.failing_since.or_else(|| failure.refuses().then_some(now));
    let is_ended = failure.ends() && is_past(before.refused_since, CONFIRMED_MS);
    let is_hopeless = failure.refuses() && is_past(failing_since, PATIENCE_MS);
    let is_over = is_ended || is_hopeless;
    let nth = usize::try_from(before.attempts).unwrap_or(usize::MAX);
    let longest = PAUSES_MS.last().copied().unwrap_or(PROBE_MS);
    let pause = PAUSES_MS.get(nth).copied().unwrap_or(longest);
    let is_clients = failure.code() == Failure::ClientRejected.code();
    let pause = if is_clients { pause.min(PROBE_MS) } else { pause };
    // 80 % to 120 % of the pause, in 255 steps: with whole percents, what failed together would meet again every few minutes.
    let spread = |chance: u8| {
        let share = u64::from(chance).saturating_mul(40).saturating_add(80 * 255);
        pause.saturating_mul(share).saturating_div(100 * 255)
    };
    // An attempt that comes too early to confirm the end would cost a whole pause more.
    let to_confirm = refused_since
        .filter(|_| failure.ends())
        .map_or(0, |since| since.saturating_add(CONFIRMED_MS).saturating_sub(now));
    let least = to_confirm.max(retry_after_ms.unwrap_or(0));
    let at = |chance| (!is_over).then(|| now.saturating_add(spread(chance).max(least)));
    After {
        state: if is_over { State::Failed } else { State::Degraded },
        code: match failure {
            Failure::GrantRejected if is_ended => ENDED,
            _ => failure.code(),
        },
        attempts,
        failing_since,
        refused_since,
        next_attempt_at: at(chance),
        or_at: at(chance.wrapping_add(128)),
    }
}

/// Who must act on a connection, by its state and the reason of it.
#[must_use]
pub fn actor(state: State, code: Option<&str>) -> &'static str {
    let is = |failure: &Failure| failure.is_the_accounts() && Some(failure.code()) == code;
    match state {
        State::Failed => "user",
        State::Degraded if Failure::ALL.iter().any(is) => "account",
        _ => "nobody",
    }
}

#[cfg(test)]
mod tests {
    use super::Failure::{
        ClientRejected, CredentialsRejected, GrantRejected, RequestRejected, Unauthorized,
        Unavailable,
    };
    use super::{Before, actor, after_failure};
    use crate::terms::State;

    #[test]
    fn failures_lead_to_pauses_and_only_an_ended_grant_to_the_end() {
        let first = Before::default();
        let since =
            |attempts, refused_since| Before { attempts, failing_since: Some(0), refused_since };
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
            // The middle of all chances leaves a pause as it is, but for 20/255 of a percent.
            let after = after_failure(before, failure, None, now, 128);
            assert_eq!((after.state, after.code), (state, code), "{failure:?} at {now}");
            assert_eq!(after.attempts, before.attempts + 1);
            let found = after.next_attempt_at.map_or(0, |at| at - now);
            assert!(found.abs_diff(pause) <= pause / 100, "{failure:?} at {now}: {found}");
        }
        for (chance, pause, or) in [(0, 48_000, 60_047), (255, 72_000, 59_952)] {
            let after = after_failure(first, Unavailable, None, 0, chance);
            assert_eq!((after.next_attempt_at, after.or_at), (Some(pause), Some(or)));
        }
        for (chance, pause) in [(0, 60_000), (255, 72_000)] {
            let after = after_failure(first, GrantRejected, None, 0, chance);
            assert_eq!(after.next_attempt_at, Some(pause), "the next refusal is the end");
        }
        let patient = after_failure(first, Unavailable, Some(90_000), 0, 0);
        assert_eq!((patient.next_attempt_at, patient.or_at), (Some(90_000), Some(90_000)));
        // After an outage of days, a first refusal is a first one.
        let mut before = first;
        for (failure, now) in
            [(Unavailable, 0), (Unavailable, day * 4), (RequestRejected, day * 4 + 1)]
        {
            let after = after_failure(before, failure, None, now, 0);
            assert_eq!(after.state, State::Degraded, "{failure:?} at {now}");
            before = Before { failing_since: after.failing_since, ..before };
        }
        // A refusal is remembered over failures of another kind.
        let refused = after_failure(first, GrantRejected, None, 7, 0);
        let before =
            Before { attempts: 1, failing_since: Some(7), refused_since: refused.refused_since };
        let passing = after_failure(before, Unavailable, None, 9, 0);
        assert_eq!((refused.refused_since, passing.refused_since), (Some(7), Some(7)));
    }

    #[test]
    fn the_user_acts_on_what_has_failed_and_the_account_on_its_client() {
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
