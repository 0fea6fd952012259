//! What an attempt to deliver an event means: for the delivery, and for its webhook. Pure.

/// How long a receiver may take to answer, in milliseconds.
pub const DEADLINE_MS: u32 = 15_000;
/// How long nobody else attempts a delivery, in milliseconds. Longer than any attempt takes.
pub const LEASE_MS: u64 = 60_000;
/// The pauses after failed attempts, in milliseconds: 5 s, 5 min, 30 min, then 2, 5, 10, 14, 20 and 24 h.
pub const PAUSES_MS: [u64; 9] = [
    5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000,
    86_400_000,
];
/// The longest pause that a receiver can ask for, in milliseconds: a day.
const MAX_PAUSE_MS: u64 = 86_400_000;
/// How long all deliveries of a webhook may fail before it is disabled, in milliseconds: 5 days.
pub const PATIENCE_MS: u64 = 5 * 86_400_000;

/// What a receiver did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It answered with this status, and perhaps asked for a pause of so many milliseconds.
    Status(u16, Option<u64>),
    /// It did not answer.
    None(Silence),
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// It can't be reached, or the connection broke.
    Unreachable,
    /// It did not answer in time.
    TimedOut,
    /// Nothing was sent, because the service must not send anything to the address.
    AddressRefused,
}

impl Silence {
    /// A stable identifier for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::TimedOut => "timed_out",
            Self::AddressRefused => "address_refused",
        }
    }
}

/// What becomes of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The receiver has it.
    Delivered,
    /// It is attempted again at this time, in milliseconds since 1970-01-01 UTC.
    At(u64),
    /// It is not attempted again.
    Failed,
}

/// Why a webhook is disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disabled {
    /// The receiver says that it is gone for good (410).
    Gone,
    /// Nothing was delivered for 5 days.
    NoSuccess,
}

impl Disabled {
    /// A stable identifier for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::NoSuccess => "no_success",
        }
    }
}

impl Answer {
    /// Whether the receiver has accepted the event.
    #[must_use]
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Status(200..=299, _))
    }

    /// The status. Returns `None` when there was no answer.
    #[must_use]
    pub const fn status(self) -> Option<u16> {
        match self {
            Self::Status(status, _) => Some(status),
            Self::None(_) => None,
        }
    }

    /// Why there was no answer, as a stable identifier for programs. Returns `None` when there was one.
    #[must_use]
    pub const fn error(self) -> Option<&'static str> {
        match self {
            Self::Status(..) => None,
            Self::None(silence) => Some(silence.as_str()),
        }
    }

    /// What becomes of the delivery after this attempt, which was the one with number `attempts`, counted from 1.
    #[must_use]
    pub fn next(self, attempts: u64, now: u64) -> Next {
        if self.is_success() {
            return Next::Delivered;
        }
        let nth = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
        let Some(pause) = PAUSES_MS.get(nth) else { return Next::Failed };
        let asked = match self {
            Self::Status(_, Some(asked)) => asked.min(MAX_PAUSE_MS),
            _ => 0,
        };
        Next::At(now.saturating_add(asked.max(*pause)))
    }

    /// Whether the webhook is to be disabled after this attempt. `failing_since` is when the first attempt failed since the
    /// last good one.
    #[must_use]
    pub fn disables(self, failing_since: Option<u64>, now: u64) -> Option<Disabled> {
        if self.status() == Some(410) {
            return Some(Disabled::Gone);
        }
        let is_hopeless =
            failing_since.is_some_and(|since| now.saturating_sub(since) >= PATIENCE_MS);
        (is_hopeless && !self.is_success()).then_some(Disabled::NoSuccess)
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Disabled, Next, PATIENCE_MS, Silence};

    #[test]
    fn an_event_is_tried_ten_times() {
        let answer = Answer::Status(500, None);
        let mut now = 1000;
        let mut pauses = Vec::new();
        for attempts in 1..=10 {
            match answer.next(attempts, now) {
                Next::At(at) => {
                    pauses.push((at - now) / 1000);
                    now = at;
                }
                next => assert_eq!((next, attempts), (Next::Failed, 10)),
            }
        }
        let hours = [2, 5, 10, 14, 20, 24].map(|hours| hours * 3600);
        assert_eq!(pauses, [[5, 300, 1800].as_slice(), &hours].concat());
    }

    #[test]
    fn a_receiver_may_ask_for_a_longer_pause_only() {
        for (asked, pause) in [(None, 5), (Some(1), 5), (Some(60), 60), (Some(999_999), 86_400)] {
            let answer = Answer::Status(429, asked.map(|seconds| seconds * 1000));
            assert_eq!(answer.next(1, 0), Next::At(pause * 1000), "{asked:?}");
        }
    }

    #[test]
    fn only_2xx_is_success() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(Answer::Status(status, None).next(1, 0), Next::Delivered);
        }
        for status in [100, 199, 300, 302, 304, 400, 404, 410, 429, 500, 503] {
            assert_eq!(Answer::Status(status, None).next(1, 0), Next::At(5000), "{status}");
        }
        assert_eq!(Answer::None(Silence::TimedOut).next(10, 0), Next::Failed);
    }

    #[test]
    fn a_webhook_is_disabled_when_it_is_gone_or_has_failed_for_five_days() {
        let (good, bad) = (Answer::Status(200, None), Answer::None(Silence::Unreachable));
        assert_eq!(Answer::Status(410, None).disables(None, 0), Some(Disabled::Gone));
        for (answer, since, expected) in [
            (bad, None, None),
            (bad, Some(1), None),
            (bad, Some(0), Some(Disabled::NoSuccess)),
            (good, Some(0), None),
        ] {
            assert_eq!(answer.disables(since, PATIENCE_MS), expected, "{answer:?} {since:?}");
        }
    }
}
