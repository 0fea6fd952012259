//! How full the databases are, as each of their answers says: nobody asks them for it. Before one is full, what would add
//! to it is refused, so that there is room left for what keeps connections alive.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::http::problem::Problem;
use crate::ports::is_recent;

/// From how many percent of its limit on the schedule warns of a database.
const WARNED: u64 = 80;
/// From how many percent of its limit on nothing is added to a database.
pub const FULL: u64 = 95;
/// How long an isolate does not repeat a warning, in milliseconds.
const SILENCE_MS: u64 = 60 * 60 * 1000;

/// What an isolate knows of the databases' sizes.
#[derive(Debug)]
pub struct Room {
    most: u64,
    known: RefCell<BTreeMap<u16, Known>>,
}

/// What is known of a database.
#[derive(Debug, Default)]
struct Known {
    bytes: u64,
    warned_at: Option<u64>,
}

impl Room {
    /// Nothing is known yet of databases that have `most` bytes at most.
    #[must_use]
    pub const fn new(most: u64) -> Self {
        Self { most, known: RefCell::new(BTreeMap::new()) }
    }

    /// Remembers the size of the database of this number; 0 for one that is not known.
    pub fn remember(&self, number: u16, bytes: u64) {
        if bytes > 0
            && let Ok(mut known) = self.known.try_borrow_mut()
        {
            known.entry(number).or_default().bytes = bytes;
        }
    }

    /// Whether so many bytes are this much of the limit.
    fn reaches(&self, bytes: u64, percent: u64) -> bool {
        bytes.saturating_mul(100) >= self.most.saturating_mul(percent)
    }

    /// Why nothing can be added to the database of this number. Returns `None` when it has room, as far as is known.
    #[must_use]
    pub fn full(&self, number: u16) -> Option<Problem> {
        let bytes = self.known.try_borrow().ok()?.get(&number)?.bytes;
        self.reaches(bytes, FULL).then(|| Problem::vault_full(self.words(bytes)))
    }

    /// What the schedule says of the database of this number. Returns `None` when there is no need to, or when it was said
    /// within the last hour.
    pub fn warning(&self, number: u16, now: u64) -> Option<String> {
        let mut known = self.known.try_borrow_mut().ok()?;
        let known = known.get_mut(&number).filter(|known| self.reaches(known.bytes, WARNED))?;
        if known.warned_at.is_some_and(|at| is_recent(now, at, SILENCE_MS)) {
            return None;
        }
        known.warned_at = Some(now);
        Some(self.words(known.bytes))
    }

    fn words(&self, bytes: u64) -> String {
        let (most, percent) = (self.most, bytes.saturating_mul(100).checked_div(self.most));
        format!(
            "the database has {bytes} of {most} bytes ({} %), and nothing is added from {FULL} % on: delete connections that nobody needs, and have new accounts go to another database (docs/scaling.md)",
            percent.unwrap_or_default()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Room;

    #[test]
    fn an_unknown_size_does_not_replace_a_known_one() {
        let room = Room::new(100);
        for (bytes, is_full) in [(0, false), (94, false), (95, true), (0, true), (94, false)] {
            room.remember(1, bytes);
            assert_eq!(room.full(1).is_some(), is_full, "{bytes}");
        }
    }
}
