//! Records the day on which a key was last used, and the minute in which a console session was. The
//! first request in that day or minute includes the write in its batch.

use std::cell::RefCell;

use sha2::{Digest as _, Sha256};

use super::key::ApiKey;
use super::statements::params;
use super::token::Token;
use crate::ports::{Param, Statement};

const DAY_MS: u64 = 86_400_000;
const MINUTE_MS: u64 = 60_000;
/// The maximum number of remembered uses per isolate.
const CAPACITY: usize = 1024;

/// Identifies a key and a day: the first 8 bytes of the key's hash, plus the days since 1970-01-01
/// UTC. For a session: the first 8 bytes of the hash of its id, plus the minutes since then.
pub type UseId = u64;

/// The uses that are known to have been written.
#[derive(Debug, Default)]
pub struct LastUses(RefCell<Vec<UseId>>);

impl LastUses {
    /// The use of a key at `now`, and the statement that records it. Returns `None` if it is
    /// already recorded. The statement has no effect if the key is invalid or another isolate has
    /// recorded the use.
    pub fn due(&self, key: &ApiKey, now: u64) -> Option<(UseId, Statement)> {
        let day = now.checked_div(DAY_MS)?;
        let use_id = u64::from_le_bytes(*key.hash().0.first_chunk()?).wrapping_add(day);
        if self.0.try_borrow().ok()?.contains(&use_id) {
            return None;
        }
        let statement = Statement {
            sql: "UPDATE api_keys AS k SET last_used_day = ?4 WHERE k.hash = ?1 AND k.environment = ?2 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?3) AND ifnull(k.last_used_day, 0) < ?4".into(),
            params: params(
                Param::Text(key.hash().to_string()),
                key.environment(),
                now,
                Param::Integer(day.cast_signed()),
            ),
        };
        Some((use_id, statement))
    }

    /// Like [`Self::due`], for the session of a person in the console.
    pub fn due_session(&self, token: &Token, now: u64) -> Option<(UseId, Statement)> {
        let id = &token.grant.as_ref()?.id;
        let minute = now.checked_div(MINUTE_MS)?;
        let hash = Sha256::digest(id.as_bytes());
        let use_id = u64::from_le_bytes(*hash.first_chunk()?).wrapping_add(minute);
        if self.0.try_borrow().ok()?.contains(&use_id) {
            return None;
        }
        // A session that was idle for an hour (`console::IDLE_TIMEOUT_MS`) has ended, and is not revived.
        let statement = Statement {
            sql: "UPDATE console_sessions SET used_at = ?2 WHERE id = ?1 AND code_hash IS NULL AND expires_at > ?2 AND used_at > ?2 - 3600000 AND used_at <= ?2 - 60000".into(),
            params: vec![Param::text(id), Param::integer(now)],
        };
        Some((use_id, statement))
    }

    /// Marks a use as recorded.
    pub fn record(&self, use_id: UseId) {
        let Ok(mut written) = self.0.try_borrow_mut() else { return };
        if written.len() >= CAPACITY {
            written.clear();
        }
        written.push(use_id);
    }
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY, DAY_MS, LastUses};
    use crate::auth::Shard;
    use crate::auth::key::ApiKey;
    use crate::terms::Environment;

    fn key(number: usize) -> ApiKey {
        let mut digits = (0..32).map(|place| u8::from(number >> place & 1 == 1));
        let fill = |bytes: &mut [u8]| bytes.fill_with(|| digits.next().unwrap_or_default());
        ApiKey::generate(Environment::Test, Shard::FIRST, fill)
    }

    #[test]
    fn a_use_is_due_once_a_day_and_the_cache_is_bounded() {
        let uses = LastUses::default();
        let is_due = |number: usize, now: u64| uses.due(&key(number), now).is_some();
        for number in 0..CAPACITY {
            uses.record(uses.due(&key(number), 0).unwrap().0);
        }
        assert!(!is_due(0, 0) && !is_due(CAPACITY - 1, DAY_MS - 1) && is_due(0, DAY_MS));
        uses.record(uses.due(&key(CAPACITY), 0).unwrap().0);
        assert!(!is_due(CAPACITY, 0) && is_due(0, 0));
    }
}
