//! Tracks database size from each D1 response, without extra queries. When a database is nearly
//! full, requests that would enlarge it are rejected, so that refreshes of existing connections can
//! still be stored.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::http::problem::Problem;
use crate::ports::is_recent;

/// The fill level, in percent, at which a warning is logged and platform calls no longer write
/// events.
const WARNING_PERCENT: u64 = 80;
/// The fill level, in percent, at which additions are rejected.
pub const FULL_PERCENT: u64 = 95;
/// The minimum interval between two warnings of an isolate, in milliseconds.
const WARNING_INTERVAL_MS: u64 = 60 * 60 * 1000;

/// The database sizes that an isolate knows from D1's responses.
#[derive(Debug)]
pub struct DatabaseCapacity {
    max: u64,
    shards: RefCell<BTreeMap<u16, SizeReport>>,
}

#[derive(Debug, Default)]
struct SizeReport {
    bytes: u64,
    warned_at: Option<u64>,
}

impl DatabaseCapacity {
    /// Creates a tracker without known sizes. `max` is the maximum size of a database, in bytes.
    pub const fn new(max: u64) -> Self {
        Self { max, shards: RefCell::new(BTreeMap::new()) }
    }

    /// Records the size of a shard's database; 0 if unknown.
    pub fn record_size(&self, number: u16, bytes: u64) {
        if bytes > 0
            && let Ok(mut shards) = self.shards.try_borrow_mut()
        {
            shards.entry(number).or_default().bytes = bytes;
        }
    }

    fn reaches(&self, bytes: u64, percent: u64) -> bool {
        bytes.saturating_mul(100) >= self.max.saturating_mul(percent)
    }

    /// The problem for additions to this shard. Returns `None` if it has capacity or its size is
    /// unknown.
    pub fn capacity_error(&self, number: u16) -> Option<Problem> {
        let bytes = self.shards.try_borrow().ok()?.get(&number)?.bytes;
        self.reaches(bytes, FULL_PERCENT).then(|| Problem::vault_full(self.describe(bytes)))
    }

    /// Whether this shard is too full for rows that callers can create without limit, such as
    /// events of calls.
    pub fn is_nearly_full(&self, number: u16) -> bool {
        let Ok(shards) = self.shards.try_borrow() else { return false };
        shards.get(&number).is_some_and(|shard| self.reaches(shard.bytes, WARNING_PERCENT))
    }

    /// The warning about this shard. Returns `None` if it has capacity, or if the isolate has
    /// logged the warning within the last hour.
    pub fn warning(&self, number: u16, now: u64) -> Option<String> {
        let mut shards = self.shards.try_borrow_mut().ok()?;
        let shard =
            shards.get_mut(&number).filter(|shard| self.reaches(shard.bytes, WARNING_PERCENT))?;
        if shard.warned_at.is_some_and(|at| is_recent(now, at, WARNING_INTERVAL_MS)) {
            return None;
        }
        shard.warned_at = Some(now);
        Some(self.describe(shard.bytes))
    }

    fn describe(&self, bytes: u64) -> String {
        let (max, percent) = (self.max, bytes.saturating_mul(100).checked_div(self.max));
        format!(
            "the database has {bytes} of {max} bytes ({} %), and additions are refused from {FULL_PERCENT} %: delete unused connections, and add a database for new accounts (docs/scaling.md)",
            percent.unwrap_or_default()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::DatabaseCapacity;

    #[test]
    fn keeps_known_size_when_new_size_is_unknown() {
        let capacity = DatabaseCapacity::new(100);
        for (bytes, is_full) in [(0, false), (94, false), (95, true), (0, true), (94, false)] {
            capacity.record_size(1, bytes);
            assert_eq!(capacity.capacity_error(1).is_some(), is_full, "{bytes}");
        }
    }
}
