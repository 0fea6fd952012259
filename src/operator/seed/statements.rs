//! The SQL of `seed`.

use std::fmt::Write as _;

use serde::Deserialize;
use uuid::Uuid;

use super::generate::GeneratedConnection;
use crate::operator::sql::StringLiteral;
use crate::terms::Environment;
use crate::util::case_fold::fold;

/// The maximum length of a statement, in bytes. D1 accepts 100,000.
const STATEMENT_BYTES: usize = 95_000;

/// What the database contains before `seed` runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct StateBefore {
    /// The number of the tenant's connections.
    pub connections: u64,
    /// The highest `seq` in `connections`.
    pub last: u64,
}

/// The SQL that selects [`StateBefore`].
pub fn before(account: &str, environment: Environment) -> String {
    format!(
        "SELECT coalesce((SELECT sum(n) FROM connection_counts WHERE account = {} AND environment = {} \
         AND active IN (0, 1) AND dimension = 'all'), 0) AS connections, \
         coalesce((SELECT max(seq) FROM connections), 0) AS last",
        StringLiteral(account),
        StringLiteral(environment.as_str())
    )
}

/// The tenant that gets the generated connections.
#[derive(Debug, Clone, Copy)]
pub struct SeedTarget<'a> {
    pub account: &'a str,
    pub environment: Environment,
    /// Stored in the column `written_by` instead of a request id.
    pub written_by: Uuid,
}

const INSERT: &str = "INSERT INTO connections (id, account, environment, active, platform, platform_version, label, \
     identity, identity_folded, identity_type, name, name_folded, description, state, tags, version, created_at, \
     written_by) VALUES\n";

/// The SQL that inserts connections, in as few statements as the length limit allows.
pub fn insert<'a>(
    rows: impl IntoIterator<Item = GeneratedConnection<'a>>,
    owner: SeedTarget<'_>,
) -> Vec<String> {
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

fn values(row: &GeneratedConnection<'_>, owner: SeedTarget<'_>) -> String {
    let name = |name: Option<&str>| {
        name.map_or_else(|| "NULL".to_owned(), |name| StringLiteral(name).to_string())
    };
    let tags = serde_json::Value::from(row.tags.clone()).to_string();
    let mut sql = String::new();
    let _ = write!(
        sql,
        "('{}',{},'{}',{},{},{},{},{},{},'{}',{},{},{},'{}',{},1,{},'{}')",
        row.id,
        StringLiteral(owner.account),
        owner.environment.as_str(),
        u8::from(row.active),
        StringLiteral(&row.platform.platform),
        StringLiteral(&row.platform_version),
        StringLiteral(row.label),
        StringLiteral(&row.identity),
        StringLiteral(&fold(&row.identity)),
        row.identity_type,
        name(row.name.as_deref()),
        name(row.name.as_deref().map(fold).as_deref()),
        StringLiteral(&row.platform.description),
        row.state,
        StringLiteral(&tags),
        row.created_at,
        owner.written_by,
    );
    sql
}
