//! `shards list`: lists the databases with their size and content.

use anyhow::{Context, Result};
use clap::Args;
use indicatif::HumanCount;
use serde::{Deserialize, Serialize};

use super::{ACCOUNTS, Shards};
use crate::operator::storage_target::StorageTarget;

#[derive(Debug, Clone, Args)]
pub struct List {
    #[command(flatten)]
    storage_target: StorageTarget,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
struct DatabaseContent {
    accounts: u64,
    connections: u64,
}

/// The JSON representation of a database.
#[derive(Serialize)]
struct DatabaseView {
    shard: u16,
    binding: String,
    bytes: u64,
    accounts: u64,
    connections: u64,
    /// `None` if Cloudflare does not report it.
    #[serde(rename = "rowsRead24h")]
    rows_read: Option<u64>,
}

pub fn list(args: &List) -> Result<()> {
    let sql = format!(
        "SELECT (SELECT count(*) FROM ({ACCOUNTS})) AS accounts, (SELECT ifnull(sum(n), 0) FROM connection_counts WHERE dimension = 'all' AND account IN ({ACCOUNTS})) AS connections"
    );
    let mut all = Vec::new();
    let shards = Shards::open(&args.storage_target)?;
    for database in &shards.0 {
        let results = database.query(std::slice::from_ref(&sql))?;
        let content: DatabaseContent =
            results.rows(0)?.pop().context("the database returned no counts")?;
        all.push(DatabaseView {
            shard: database.shard.number(),
            binding: database.shard.binding(),
            bytes: results.size,
            accounts: content.accounts,
            connections: content.connections,
            rows_read: if args.storage_target.remote { database.rows_read()? } else { None },
        });
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&all)?);
    } else {
        print!("{}", table(&all, shards.max_bytes()?));
    }
    Ok(())
}

/// Formats one line per database. `limit` is the maximum size of a database, in bytes.
fn table(all: &[DatabaseView], limit: u64) -> String {
    let head = ["BINDING", "SIZE", "FULL", "ACCOUNTS", "CONNECTIONS", "ROWS READ IN 24 H"];
    let line = |[binding, size, full, accounts, connections, read]: [String; 6]| {
        format!(
            "{binding:<10}  {size:>12}  {full:>6}  {accounts:>10}  {connections:>12}  {read:>17}\n"
        )
    };
    let mut text = line(head.map(str::to_owned));
    for DatabaseView { binding, bytes, accounts, connections, rows_read, .. } in all {
        let tenth = |unit: u64| bytes.checked_div(unit.max(10) / 10).unwrap_or_default();
        let decimal = |tenths: u64| format!("{}.{}", tenths / 10, tenths % 10);
        text += &line([
            binding.clone(),
            format!("{} MB", decimal(tenth(1_000_000))),
            format!("{} %", decimal(tenth(limit / 100))),
            HumanCount(*accounts).to_string(),
            HumanCount(*connections).to_string(),
            rows_read.map_or("–".to_owned(), |rows| HumanCount(rows).to_string()),
        ]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_one_database_per_line() {
        let shown = |shard: u16, bytes, accounts, connections| DatabaseView {
            shard,
            binding: format!("VAULT_{shard}"),
            bytes,
            accounts,
            connections,
            rows_read: (shard == 1).then_some(123_456_789),
        };
        let all = [shown(1, 9_512_345_678, 1234, 5_200_000), shown(2, 192_512, 0, 0)];
        let text = table(&all, 10_000_000_000);
        assert_eq!(
            text,
            "\
BINDING             SIZE    FULL    ACCOUNTS   CONNECTIONS  ROWS READ IN 24 H
VAULT_1        9512.3 MB  95.1 %       1,234     5,200,000        123,456,789
VAULT_2           0.1 MB   0.0 %           0             0                  –
"
        );
    }
}
