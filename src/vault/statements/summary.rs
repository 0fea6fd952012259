//! What a tenant has, from the counters alone.

use super::Sql;
use crate::access::statements::GUARD;
use crate::ports::{Param, Statement};

/// Platforms that a summary names.
pub const PLATFORMS: u64 = 50;

/// The counters of everything but platforms: `active`, `dimension`, `value`, `n`. At most 14 rows read.
#[must_use]
pub fn counters(guard: &[Param]) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT n.active, n.dimension, n.value, n.n FROM api_keys k CROSS JOIN connection_counts n ON n.account = k.account AND n.environment = k.environment AND (n.active, n.dimension) IN (VALUES (0, 'all'), (1, 'all'), (0, 'identityType'), (1, 'identityType'), (2, 'state')) WHERE ").push(GUARD);
    sql.finish()
}

/// The counters of the largest platforms, the largest first, in the same columns. One row read each.
#[must_use]
pub fn platforms(guard: &[Param]) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT n.active, n.dimension, n.value, n.n FROM api_keys k CROSS JOIN connection_counts n INDEXED BY connection_counts_by_size ON n.account = k.account AND n.environment = k.environment AND n.active = 2 AND n.dimension = 'platform' WHERE ");
    sql.push(GUARD).push(" ORDER BY n.n DESC, n.value LIMIT ").integer(PLATFORMS);
    sql.finish()
}
