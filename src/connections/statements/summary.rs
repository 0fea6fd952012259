//! Counts the tenant's connections with counters. For a token, counts the connections that it may
//! see.

use super::sql::Sql;
use crate::auth::statements::Guard;
use crate::ports::Statement;

/// The maximum number of platforms in a summary.
pub const MAX_SUMMARY_PLATFORMS: u64 = 50;

/// Selects all counters except those by platform: `active`, `dimension`, `value`, `n`. Reads at
/// most 14 rows; for a token, a few rows for each connection of its identity.
pub fn counters(guard: &Guard<'_>) -> Statement {
    let mut sql = Sql::new(guard);
    if guard.restriction.is_some() {
        sql.push("SELECT c.active, d.column1 AS dimension, CASE d.column1 WHEN 'all' THEN '' WHEN 'state' THEN \
            c.state ELSE c.identity_type END AS value, count(*) AS n");
        sql.visible_connections(
            "0, 1",
            " CROSS JOIN (VALUES ('all'), ('state'), ('identityType')) d",
        )
        .push(" GROUP BY 1, 2, 3");
        return sql.finish();
    }
    sql.push(
        "SELECT n.active, n.dimension, n.value, n.n \
        FROM api_keys k \
        CROSS JOIN connection_counts n ON n.account = k.account AND n.environment = k.environment \
        AND (n.active, n.dimension) IN (VALUES (0, 'all'), (1, 'all'), (0, 'identityType'), \
        (1, 'identityType'), (2, 'state')) \
        WHERE ",
    )
    .guard();
    sql.finish()
}

/// Selects the counters of the largest platforms in the same columns, largest first. Reads one row
/// for each platform; for a token, more.
pub fn platforms(guard: &Guard<'_>) -> Statement {
    let mut sql = Sql::new(guard);
    if guard.restriction.is_some() {
        sql.push("SELECT 2 AS active, 'platform' AS dimension, c.platform AS value, count(*) AS n");
        sql.visible_connections("0, 1", "")
            .push(" GROUP BY c.platform ORDER BY n DESC, c.platform LIMIT ");
    } else {
        sql.push("SELECT n.active, n.dimension, n.value, n.n \
            FROM api_keys k \
            CROSS JOIN connection_counts n INDEXED BY connection_counts_by_size ON n.account = k.account \
            AND n.environment = k.environment AND n.active = 2 AND n.dimension = 'platform' \
            WHERE ");
        sql.guard().push(" ORDER BY n.n DESC, n.value LIMIT ");
    }
    sql.integer(MAX_SUMMARY_PLATFORMS);
    sql.finish()
}

/// Selects the platforms with active connections that a token may see. Reads a few rows for each
/// connection.
pub fn connected_platforms(guard: &Guard<'_>) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT DISTINCT c.platform")
        .visible_connections("1", "")
        .push(" ORDER BY 1 LIMIT ")
        .integer(MAX_SUMMARY_PLATFORMS);
    sql.finish()
}

impl Sql<'_> {
    /// Adds ` FROM … WHERE …`: the connections `c` that a token may see, with one of the listed
    /// values of `active`. `joined` adds further joins.
    fn visible_connections(&mut self, active: &str, joined: &str) -> &mut Self {
        self.push(
            " FROM api_keys k \
            CROSS JOIN connections c INDEXED BY connections_by_identity ON c.account = k.account \
            AND c.environment = k.environment AND c.active IN (",
        );
        self.push(active).push(")").push(joined).push(" WHERE ").guard_connection()
    }
}
