//! The SQL of seeding.

use std::fmt::Write as _;

use serde::Deserialize;
use uuid::Uuid;

use super::generate::Row;
use crate::operator::sql::Text;
use crate::terms::Environment;
use crate::util::case_fold::fold;

/// Below the longest statement that D1 accepts, which is 100,000 bytes.
const STATEMENT_BYTES: usize = 95_000;

/// What the database holds before a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Before {
    /// The connections of the account in the environment.
    pub connections: u64,
    /// The number of the last row of `connections`.
    pub last: u64,
}

/// The SQL that selects [`Before`].
#[must_use]
pub fn before(account: &str, environment: Environment) -> String {
    format!(
        "SELECT coalesce((SELECT sum(n) FROM connection_counts WHERE account = {} AND environment = {} \
         AND active IN (0, 1) AND dimension = 'all'), 0) AS connections, \
         coalesce((SELECT max(seq) FROM connections), 0) AS last",
        Text(account),
        Text(environment.as_str())
    )
}

/// The tenant to which the connections belong.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    /// The account.
    pub account: &'a str,
    /// The environment.
    pub environment: Environment,
    /// Stored as the id of the request that wrote them.
    pub written_by: Uuid,
}

const INSERT: &str = "INSERT INTO connections (id, account, environment, active, platform, platform_version, label, \
     identity, identity_folded, identity_type, name, name_folded, description, state, tags, version, created_at, \
     written_by) VALUES\n";

/// The statements that insert connections, as few as the limit allows.
pub fn insert<'a>(rows: impl IntoIterator<Item = Row<'a>>, owner: Owner<'_>) -> Vec<String> {
    let mut full = Vec::new();
    let mut open = String::new();
    for row in rows {
        let values = values(&row, owner);
        if open.len().saturating_add(values.len()) > STATEMENT_BYTES {
            full.push(std::mem::take(&mut open));
        }
        open.push_str(if open.is_empty() { INSERT } else { ",\n" });
        open.push_str(&values);
    }
    full.push(open);
    full.retain(|statement| !statement.is_empty());
    full
}

fn values(row: &Row<'_>, owner: Owner<'_>) -> String {
    let name =
        |name: Option<&str>| name.map_or_else(|| "NULL".to_owned(), |name| Text(name).to_string());
    let tags = serde_json::Value::from(row.tags.clone()).to_string();
    let mut sql = String::new();
    let _ = write!(
        sql,
        "('{}',{},'{}',{},{},{},{},{},{},'{}',{},{},{},'{}',{},1,{},'{}')",
        row.id,
        Text(owner.account),
        owner.environment.as_str(),
        u8::from(row.active),
        Text(&row.platform.platform),
        Text(&row.platform_version),
        Text(row.label),
        Text(&row.identity),
        Text(&fold(&row.identity)),
        row.identity_type,
        name(row.name.as_deref()),
        name(row.name.as_deref().map(fold).as_deref()),
        Text(&row.platform.description),
        row.state,
        Text(&tags),
        row.created_at,
        owner.written_by,
    );
    sql
}
