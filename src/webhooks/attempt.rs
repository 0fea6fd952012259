//! Determines the next state of a delivery, and of its webhook, after an attempt. Pure: does no
//! I/O.

use crate::terms::named;

/// The timeout for a receiver's response, in milliseconds.
pub const TIMEOUT_MS: u32 = 15_000;
/// How long a delivery is claimed, in milliseconds. Longer than an attempt can take.
pub const LEASE_MS: u64 = 60_000;
/// The backoff after failed attempts, in milliseconds: 5 s, 5 min, 30 min, then 2, 5, 10, 14, 20 and 24 h.
pub const BACKOFF_MS: [u64; 9] = [
    5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000,
    86_400_000,
];
/// The maximum pause that a receiver can request, in milliseconds.
const MAX_BACKOFF_MS: u64 = 86_400_000;
/// How long a webhook may fail before it is disabled, in milliseconds: 5 days.
pub const GRACE_PERIOD_MS: u64 = 5 * 86_400_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The status of the response, and the requested pause in milliseconds.
    Status(u16, Option<u64>),
    /// There was no response.
    Failed(DeliveryError),
}

named! {
    /// Why there was no response.
    DeliveryError:
    /// The receiver can't be reached, or the connection broke.
    Unreachable = "unreachable",
    /// The receiver did not respond in time.
    TimedOut = "timed_out",
    /// No request was sent, because the service must not send requests to the URL.
    AddressRefused = "address_refused",
}

/// The next state of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextState {
    Delivered,
    /// The delivery is retried at this time, in milliseconds since 1970-01-01 UTC.
    At(u64),
    /// No retries are left.
    Failed,
}

named! {
    /// Why the service disabled a webhook.
    DisableReason:
    /// The receiver responded with 410 (Gone).
    Gone = "gone",
    /// No delivery succeeded within 5 days.
    NoSuccess = "no_success",
}

impl AttemptOutcome {
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Status(200..=299, _))
    }

    /// The status of the response; `None` if there was no response.
    pub const fn status(self) -> Option<u16> {
        match self {
            Self::Status(status, _) => Some(status),
            Self::Failed(_) => None,
        }
    }

    /// The error code if there was no response.
    pub const fn error(self) -> Option<&'static str> {
        match self {
            Self::Status(..) => None,
            Self::Failed(error) => Some(error.as_str()),
        }
    }

    /// The next state of the delivery. `attempts` is the number of this attempt, starting at 1.
    pub fn next(self, attempts: u64, now: u64) -> NextState {
        if self.is_success() {
            return NextState::Delivered;
        }
        let index = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
        let Some(pause) = BACKOFF_MS.get(index) else { return NextState::Failed };
        let requested = match self {
            Self::Status(_, Some(requested)) => requested.min(MAX_BACKOFF_MS),
            _ => 0,
        };
        NextState::At(now.saturating_add(requested.max(*pause)))
    }

    /// The reason for disabling the webhook after this attempt, if any. `failing_since` is the time
    /// of the first failure since the last success.
    pub fn disables(self, failing_since: Option<u64>, now: u64) -> Option<DisableReason> {
        if self.status() == Some(410) {
            return Some(DisableReason::Gone);
        }
        let is_past_grace_period =
            failing_since.is_some_and(|since| now.saturating_sub(since) >= GRACE_PERIOD_MS);
        (is_past_grace_period && !self.is_success()).then_some(DisableReason::NoSuccess)
    }
}

#[cfg(test)]
mod tests {
    use super::{AttemptOutcome, DeliveryError, DisableReason, GRACE_PERIOD_MS, NextState};

    #[test]
    fn a_delivery_is_attempted_ten_times() {
        let outcome = AttemptOutcome::Status(500, None);
        let mut now = 1000;
        let mut pauses = Vec::new();
        for attempts in 1..=10 {
            match outcome.next(attempts, now) {
                NextState::At(at) => {
                    pauses.push((at - now) / 1000);
                    now = at;
                }
                next => assert_eq!((next, attempts), (NextState::Failed, 10)),
            }
        }
        let hours = [2, 5, 10, 14, 20, 24].map(|hours| hours * 3600);
        assert_eq!(pauses, [[5, 300, 1800].as_slice(), &hours].concat());
    }

    #[test]
    fn a_receiver_can_only_lengthen_the_backoff() {
        for (requested, pause) in [(None, 5), (Some(1), 5), (Some(60), 60), (Some(999_999), 86_400)]
        {
            let outcome = AttemptOutcome::Status(429, requested.map(|seconds| seconds * 1000));
            assert_eq!(outcome.next(1, 0), NextState::At(pause * 1000), "{requested:?}");
        }
    }

    #[test]
    fn only_2xx_is_success() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(AttemptOutcome::Status(status, None).next(1, 0), NextState::Delivered);
        }
        for status in [100, 199, 300, 302, 304, 400, 404, 410, 429, 500, 503] {
            assert_eq!(
                AttemptOutcome::Status(status, None).next(1, 0),
                NextState::At(5000),
                "{status}"
            );
        }
        assert_eq!(AttemptOutcome::Failed(DeliveryError::TimedOut).next(10, 0), NextState::Failed);
    }

    #[test]
    fn a_webhook_is_disabled_when_it_is_gone_or_has_failed_for_five_days() {
        let (success, failure) =
            (AttemptOutcome::Status(200, None), AttemptOutcome::Failed(DeliveryError::Unreachable));
        assert_eq!(AttemptOutcome::Status(410, None).disables(None, 0), Some(DisableReason::Gone));
        for (outcome, since, expected) in [
            (failure, None, None),
            (failure, Some(1), None),
            (failure, Some(0), Some(DisableReason::NoSuccess)),
            (success, Some(0), None),
        ] {
            assert_eq!(outcome.disables(since, GRACE_PERIOD_MS), expected, "{outcome:?} {since:?}");
        }
    }
}
