//! Lets a request wait for a change that another request makes: the end of an attempt, a user's
//! approval, a refresh.

use crate::ports::Clock;

/// The first pause of a request that waits for a user, in milliseconds.
pub const USER_PAUSE_MS: u32 = 1000;
/// The longest pause in milliseconds.
const MAX_PAUSE_MS: u32 = 3000;

/// The time that a request can still wait. Each pause is 25% longer than the one before: most
/// changes come soon, and each poll costs a batch.
#[derive(Debug)]
pub struct Wait {
    remaining_ms: u32,
    pause_ms: u32,
}

impl Wait {
    pub const fn new(first_pause_ms: u32, limit_ms: u32) -> Self {
        Self { remaining_ms: limit_ms, pause_ms: first_pause_ms }
    }

    /// Pauses before the next poll. Returns `false`, without a pause, when the time is over.
    pub async fn pause(&mut self, clock: &impl Clock) -> bool {
        let pause = self.pause_ms.min(self.remaining_ms);
        self.remaining_ms = self.remaining_ms.saturating_sub(pause);
        self.pause_ms = self.pause_ms.saturating_add(self.pause_ms / 4).min(MAX_PAUSE_MS);
        pause > 0 && clock.sleep(pause).await
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::iter;

    use super::{USER_PAUSE_MS, Wait};
    use crate::ports::Clock;

    struct Recorder {
        pauses: RefCell<Vec<u32>>,
        has_timer: bool,
    }

    impl Clock for Recorder {
        fn now(&self) -> u64 {
            0
        }

        async fn sleep(&self, milliseconds: u32) -> bool {
            self.pauses.borrow_mut().push(milliseconds);
            self.has_timer
        }
    }

    fn pauses(limit_ms: u32, has_timer: bool) -> Vec<u32> {
        let clock = Recorder { pauses: RefCell::default(), has_timer };
        let mut wait = Wait::new(USER_PAUSE_MS, limit_ms);
        let polls = iter::from_fn(|| pollster::block_on(wait.pause(&clock)).then_some(()));
        assert!(polls.count() <= 12);
        clock.pauses.into_inner()
    }

    #[test]
    fn pauses_grow_until_the_time_limit() {
        assert_eq!(pauses(25_000, true).iter().sum::<u32>(), 25_000);
        assert_eq!(pauses(25_000, true).len(), 11);
        assert_eq!(pauses(3000, true), [1000, 1250, 750]);
        assert!(pauses(0, true).is_empty());
    }

    #[test]
    fn waiting_ends_without_a_timer() {
        assert_eq!(pauses(25_000, false), [1000]);
    }
}
