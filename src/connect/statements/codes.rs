//! The SQL of the codes in connect links.

use crate::auth::statements::key_is_valid;
use crate::ports::{Param, Statement};

/// Marks a code as exchanged. Returns a row only to the first request, even if its write is retried.
pub fn mark_code_used(
    hash: &str,
    request_id: &str,
    (key_id, expires_at): (&str, u64),
    now: u64,
) -> Statement {
    let sql = format!(
        "INSERT INTO used_codes (hash, used_by, expires_at) SELECT ?1, ?2, ?3 FROM (SELECT ?4 AS key_id) WHERE {} ON CONFLICT DO UPDATE SET expires_at = excluded.expires_at WHERE used_by = excluded.used_by RETURNING expires_at",
        key_is_valid("?5")
    );
    Statement {
        sql: sql.into(),
        params: vec![
            Param::text(hash),
            Param::text(request_id),
            Param::integer(expires_at),
            Param::text(key_id),
            Param::integer(now),
        ],
    }
}

/// Deletes up to ten expired codes. Runs with each exchange, which adds one row, so that the table
/// does not grow.
pub fn delete_expired_codes(now: u64) -> Statement {
    Statement {
        sql: "DELETE FROM used_codes WHERE hash IN (SELECT hash FROM used_codes INDEXED BY used_codes_by_expiry WHERE expires_at <= ?1 LIMIT 10)".into(),
        params: vec![Param::integer(now)],
    }
}

/// Selects the shard to which the key of an unused code was moved.
pub fn select_forward_of_code(hash: &str, key_id: &str) -> Statement {
    Statement {
        sql: "SELECT shard AS moved_to FROM forwards WHERE name = ?1 AND NOT EXISTS (SELECT 1 FROM used_codes WHERE hash = ?2)".into(),
        params: vec![Param::text(key_id), Param::text(hash)],
    }
}
