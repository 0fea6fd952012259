//! The SQL of usage.

use serde::{Deserialize, Serialize, Serializer};

use super::counts::Count;
use crate::auth::statements::Guard;
use crate::connections::statements::sql::Sql;
use crate::ports::{Param, Statement};
use crate::terms::UsageGroup;
use crate::util::json;

/// The value of platform and identity in rows that count all other combinations. Platforms and
/// identities can't contain commas.
pub const OTHER: &str = ",";

/// The maximum number of rows per tenant and day, without the rows for [`OTHER`].
pub const MAX_ROWS_PER_DAY: u64 = 1000;

/// The maximum number of rows in a response, without the row for all others.
pub const MAX_GROUPS: u64 = 1000;

/// Starts a statement with the table `counted`: the counts in the parameter `?1`, each with the
/// tenant of its caller.
macro_rules! with_counted {
    ($rest:literal) => {
        concat!(
            "\
WITH counted AS (
  SELECT k.account, k.environment, n.value ->> 1 AS day, n.value ->> 2 AS endpoint, n.value ->> 3 AS status,
    n.value ->> 4 AS platform, n.value ->> 5 AS identity, sum(n.value ->> 6) AS requests
  FROM json_each(?1) n CROSS JOIN api_keys k ON k.id = coalesce(
    (SELECT h.id FROM api_keys h WHERE h.hash = n.value ->> 0),
    (SELECT g.key_id FROM agent_grants g WHERE g.id = n.value ->> 0), n.value ->> 0)
  WHERE k.account NOT IN (SELECT account FROM away)
  GROUP BY 1, 2, 3, 4, 5, 6, 7
)",
            $rest
        )
    };
}

/// The maximum number of data points that one invocation of the Worker may write.
pub const MAX_POINTS: u64 = 250;

/// A data point for the dataset.
#[derive(Debug, Deserialize)]
pub struct DataPoint {
    account: String,
    environment: String,
    endpoint: String,
    status: String,
    platform: String,
    identity: String,
    requests: u64,
}

impl Serialize for DataPoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { account, environment, endpoint, status, platform, identity, requests } = self;
        (account, [account, environment, endpoint, status, platform, identity], requests)
            .serialize(serializer)
    }
}

/// Selects up to [`MAX_POINTS`] counts with the tenants of their callers, starting with the most
/// requests.
pub fn select_counted(counts: &[Count]) -> Statement {
    const SQL: &str = with_counted!(
        "
SELECT account, environment, endpoint, status, platform, identity, requests FROM counted ORDER BY requests DESC LIMIT ?2"
    );
    Statement {
        sql: SQL.into(),
        params: vec![Param::Text(json::text(&counts)), Param::integer(MAX_POINTS)],
    }
}

/// Adds counts, starting with the most requests. If a tenant's day already has [`MAX_ROWS_PER_DAY`]
/// rows, counts further combinations under [`OTHER`]. Skips callers whose key is not in this
/// database. Not idempotent.
pub fn add(counts: &[Count]) -> Statement {
    const SQL: &str = with_counted!(
        "
, days AS MATERIALIZED (
  SELECT d.account, d.environment, d.day, (SELECT count(*) FROM usage u WHERE u.account = d.account
    AND u.environment = d.environment AND u.id >= printf('%05d', d.day) AND u.id < printf('%05d', d.day + 1)) AS held
  FROM (SELECT DISTINCT account, environment, day FROM counted) d
), known AS MATERIALIZED (
  SELECT c.*, d.held, EXISTS (SELECT 1 FROM usage u WHERE u.account = c.account AND u.environment = c.environment
    AND u.id = printf('%05d %s %s %s %s', c.day, c.endpoint, c.status, c.platform, c.identity)) AS is_held
  FROM counted c CROSS JOIN days d USING (account, environment, day)
), placed AS (
  SELECT *, is_held OR held + row_number() OVER (PARTITION BY account, environment, day, is_held
    ORDER BY requests DESC, endpoint, status, platform, identity) <= ?2 AS fits FROM known
), kept AS (
  SELECT account, environment, day, endpoint, status, iif(fits, platform, ',') AS platform,
    iif(fits, identity, ',') AS identity, requests FROM placed
)
INSERT INTO usage (account, environment, id, day, endpoint, status, platform, identity, requests)
SELECT account, environment, printf('%05d %s %s %s %s', day, endpoint, status, platform, identity), day, endpoint, status,
  platform, identity, sum(requests)
FROM kept WHERE true GROUP BY 1, 2, 3
ON CONFLICT (account, environment, id) DO UPDATE SET requests = requests + excluded.requests"
    );
    Statement {
        sql: SQL.into(),
        params: vec![Param::Text(json::text(&counts)), Param::integer(MAX_ROWS_PER_DAY)],
    }
}

/// Which counts to select, and the columns to group them by.
#[derive(Debug, Clone)]
pub struct UsageFilter {
    /// The first day, in days since 1970-01-01 UTC.
    pub from: u64,
    /// The last day, in days since 1970-01-01 UTC.
    pub to: u64,
    pub platform: Option<String>,
    pub identity: Option<String>,
    /// The columns to group by. At least one.
    pub group_by: Vec<UsageGroup>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct UsageRow {
    pub day: Option<u64>,
    pub endpoint: Option<String>,
    pub platform: Option<String>,
    pub identity: Option<String>,
    pub status: Option<String>,
    pub requests: u64,
    /// The sum of all rows, including those beyond the limit.
    pub total: u64,
}

/// Sums the counts of the caller's tenant by group, in descending order.
pub fn select(guard: &Guard<'_>, filter: &UsageFilter) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT ");
    for group in UsageGroup::ALL {
        let source = if filter.group_by.contains(&group) { "u." } else { "NULL AS " };
        sql.push(source).push(group.as_str()).push(", ");
    }
    sql.push("sum(u.requests) AS requests, sum(sum(u.requests)) OVER () AS total FROM api_keys k CROSS JOIN usage u ON u.account = k.account AND u.environment = k.environment AND u.id >= ");
    sql.text(&format!("{:05}", filter.from)).push(" AND u.id < ");
    sql.text(&format!("{:05}", filter.to.saturating_add(1)));
    if let Some(platform) = &filter.platform {
        sql.push(" AND u.platform = ").text(platform);
    }
    if let Some(identity) = &filter.identity {
        sql.push(" AND u.identity = ").text(identity);
    }
    sql.push(" WHERE ").guard();
    let columns: Vec<String> =
        filter.group_by.iter().map(|group| format!("u.{}", group.as_str())).collect();
    let columns = columns.join(", ");
    sql.push(" GROUP BY ").push(&columns).push(" ORDER BY sum(u.requests) DESC, ").push(&columns);
    sql.push(" LIMIT ").integer(MAX_GROUPS);
    sql.finish()
}

/// Deletes up to 2000 rows of the days before `day`.
pub fn prune(day: u64) -> Statement {
    Statement {
        sql: "DELETE FROM usage WHERE (account, environment, id) IN (SELECT account, environment, id FROM usage INDEXED BY usage_by_day WHERE day < ?1 AND account NOT IN (SELECT account FROM away) LIMIT 2000)".into(),
        params: vec![Param::integer(day)],
    }
}
