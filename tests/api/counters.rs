//! Checks the counters and the tags table against the connections.

use crate::support::TestEnv;

/// Computes the correct contents of `connection_counts` from the connections.
const COUNTS: &str = "
    SELECT account, environment, active, 'all', '', count(*) FROM connections GROUP BY account, environment, active
    UNION ALL SELECT account, environment, active, 'platform', platform, count(*) FROM connections GROUP BY account, environment, active, platform
    UNION ALL SELECT account, environment, 2, 'platform', platform, count(*) FROM connections GROUP BY account, environment, platform
    UNION ALL SELECT account, environment, active, 'platformVersion', platform_version, count(*) FROM connections GROUP BY account, environment, active, platform_version
    UNION ALL SELECT account, environment, active, 'platform/platformVersion', platform || '/' || platform_version, count(*) FROM connections GROUP BY account, environment, active, platform, platform_version
    UNION ALL SELECT account, environment, active, 'identityType', identity_type, count(*) FROM connections GROUP BY account, environment, active, identity_type
    UNION ALL SELECT account, environment, active, 'platform/identityType', platform || '/' || identity_type, count(*) FROM connections GROUP BY account, environment, active, platform, identity_type
    UNION ALL SELECT account, environment, 2, 'state', state, count(*) FROM connections GROUP BY account, environment, state
    UNION ALL SELECT account, environment, active, 'identityType/state', identity_type || '/' || state, count(*) FROM connections GROUP BY account, environment, active, identity_type, state
    UNION ALL SELECT account, environment, active, 'platform/identityType/state', platform || '/' || identity_type || '/' || state, count(*) FROM connections GROUP BY account, environment, active, platform, identity_type, state
    UNION ALL SELECT account, environment, active, 'platformVersion/identityType/state', platform_version || '/' || identity_type || '/' || state, count(*) FROM connections GROUP BY account, environment, active, platform_version, identity_type, state
    UNION ALL SELECT account, environment, active, 'platform/platformVersion/identityType/state', platform || '/' || platform_version || '/' || identity_type || '/' || state, count(*) FROM connections GROUP BY account, environment, active, platform, platform_version, identity_type, state
    UNION ALL SELECT account, environment, active, 'tag', j.value, count(DISTINCT seq) FROM connections, json_each(tags) j GROUP BY account, environment, active, j.value";

/// Computes the correct contents of `connection_tags` from the connections.
const TAGS: &str = "SELECT DISTINCT account, environment, active, j.value, created_at, c.id, seq FROM connections c, json_each(tags) j";

/// The sorted rows of several queries. They run one at a time, because D1 limits the number of
/// queries in one statement.
fn rows(env: &TestEnv, queries: &str) -> Vec<String> {
    let mut rows: Vec<String> =
        queries.split("UNION ALL").flat_map(|sql| rows_of(env, sql)).collect();
    rows.sort();
    rows
}

fn rows_of(env: &TestEnv, sql: &str) -> Vec<String> {
    let mut statement = env.database.prepare_cached(sql).unwrap();
    let columns = statement.column_count();
    let text = |value: rusqlite::types::Value| format!("{value:?}");
    let row = |row: &rusqlite::Row<'_>| {
        (0..columns)
            .map(|at| row.get(at).map(text))
            .collect::<rusqlite::Result<Vec<_>>>()
            .map(|row| row.join(" "))
    };
    statement.query_map([], row).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

/// The wrong rows of counters and tags, each with its actual and its correct contents.
pub fn wrong_counters(env: &TestEnv) -> Vec<String> {
    let tables = [
        ("SELECT account, environment, active, dimension, value, n FROM connection_counts", COUNTS),
        (
            "SELECT account, environment, active, tag, created_at, id, seq FROM connection_tags",
            TAGS,
        ),
    ];
    let difference = |(actual, expected)| {
        let (actual, expected) = (rows(env, actual), rows(env, expected));
        let surplus =
            actual.iter().filter(|row| !expected.contains(row)).map(|row| format!("+ {row}"));
        let missing =
            expected.iter().filter(|row| !actual.contains(row)).map(|row| format!("- {row}"));
        let twice = (actual.len() != expected.len())
            .then(|| format!("{} for {}", actual.len(), expected.len()));
        surplus.chain(missing).chain(twice).collect::<Vec<_>>()
    };
    tables.into_iter().flat_map(difference).collect()
}
