//! The databases of a project, the accounts in them, and the commands under `shards`.
//!
//! | file | contents |
//! |---|---|
//! | [`list`], [`add`], [`moves`] | the commands |
//! | [`moving`] | the steps of a move |
//! | [`tables`] | the SQL that copies an account's rows |
//! | [`file`] | the databases in wrangler.toml |

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::d1::Database;
use super::sql::StringLiteral;
use super::storage::Storage;
use super::storage_target::StorageTarget;
use crate::storage::capacity::FULL_PERCENT;

pub mod add;
pub mod file;
pub mod list;
pub mod moves;
pub mod moving;
pub mod tables;

#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// List the databases, with their size and content
    List(list::List),
    /// Add a database: create it with its tables, and bind it in wrangler.toml
    ///
    /// New accounts then go to the smallest database. At Cloudflare, deploy the Worker afterwards, so that it
    /// can reach the new database. If the command was interrupted, run it again: it finishes what it began.
    Add(add::Add),
    /// Move an account to another database, while it is in use
    ///
    /// Reads continue throughout. At the end, changes are refused for at most 5 seconds, with status 503. If the
    /// command was interrupted, run it again: it continues where it stopped. The account's keys stay valid, and `keys
    /// list` says which to rotate.
    Move(moves::MoveArgs),
    /// Remove old copies of accounts that moved to another database more than a day ago
    Clean(moves::Clean),
}

pub fn run(command: &Command) -> Result<ExitCode> {
    match command {
        Command::List(args) => list::list(args)?,
        Command::Add(args) => add::add(args)?,
        Command::Move(args) => moves::move_account(args)?,
        Command::Clean(args) => moves::clean(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The databases of all shards, in order of their shard numbers.
#[derive(Debug)]
pub struct Shards(pub Vec<Database>);

/// The load of a database. A new account is placed in the database with the lowest load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
struct DatabaseLoad {
    /// 1 if the account is in this database, otherwise 0.
    has_account: u8,
    accounts: u64,
    #[serde(default)]
    size: u64,
}

/// Selects accounts with a key, connection or OAuth client, except those in transit.
const ACCOUNTS: &str = "SELECT account FROM api_keys UNION SELECT account FROM connection_counts UNION SELECT account FROM oauth_clients EXCEPT SELECT account FROM account_moves WHERE step IN ('left', 'arriving')";

/// The condition that excludes the rows of accounts that have moved to another database.
pub const NOT_MOVED_AWAY: &str =
    "account NOT IN (SELECT account FROM account_moves WHERE step = 'left')";

/// The index of the account's database. For a new account, the index of the smallest database or,
/// among equally small ones, of the one with the fewest accounts. Returns `None` if all databases
/// have at least `full` bytes.
fn choose_database(loads: &[DatabaseLoad], full: u64) -> Result<Option<usize>> {
    let mut holders = loads.iter().enumerate().filter(|(_, load)| load.has_account > 0);
    if let Some((home, _)) = holders.next() {
        if holders.next().is_some() {
            bail!("the account is in two databases");
        }
        return Ok(Some(home));
    }
    let open = loads.iter().enumerate().filter(|(_, load)| load.size < full);
    let smallest = open.min_by_key(|(_, load)| (load.size, load.accounts));
    Ok(smallest.map(|(at, _)| at))
}

impl Shards {
    /// Opens the databases of the project in the current folder.
    pub fn open(storage_target: &StorageTarget) -> Result<Self> {
        Ok(Self::from_storage(Storage::open(storage_target)?))
    }

    pub fn from_storage(storage: Storage) -> Self {
        Self(storage.databases())
    }

    /// The maximum size of a database, in bytes.
    pub fn max_bytes(&self) -> Result<u64> {
        let project = self.0.first().map(|database| &database.storage.project);
        project.context("there is no database")?.max_database_bytes()
    }

    /// Runs a query in all databases and returns all rows.
    pub fn rows<T: DeserializeOwned>(&self, sql: &str) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        for database in &self.0 {
            rows.append(&mut database.query(&[sql.to_owned()])?.rows(0)?);
        }
        Ok(rows)
    }

    /// The database of an account; for a new account, the smallest one.
    pub fn database_for(&self, account: &str) -> Result<Database> {
        if let [only] = self.0.as_slice() {
            return Ok(only.clone());
        }
        let sql = format!(
            "SELECT {} IN ({ACCOUNTS}) AS has_account, (SELECT count(*) FROM ({ACCOUNTS})) AS accounts",
            StringLiteral(account)
        );
        let mut loads = Vec::new();
        for database in &self.0 {
            let results = database.query(std::slice::from_ref(&sql))?;
            let load: DatabaseLoad =
                results.rows(0)?.pop().context("the database returned no counts")?;
            loads.push(DatabaseLoad { size: results.size, ..load });
        }
        let max = self.max_bytes()?;
        let chosen = choose_database(&loads, max.saturating_mul(FULL_PERCENT).div_ceil(100))
            .with_context(|| format!("the account {account}"))?;
        let database = chosen.and_then(|at| self.0.get(at)).cloned();
        database.context("all databases are full: add one with `npm run shards -- add`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(has_account: u8, accounts: u64, size: u64) -> DatabaseLoad {
        DatabaseLoad { has_account, accounts, size }
    }

    #[test]
    fn chooses_the_database_of_an_account() {
        for (loads, expected) in [
            (vec![load(0, 9, 0)], Some(0)),
            (vec![load(0, 9, 10), load(0, 1, 20)], Some(0)),
            (vec![load(0, 9, 10), load(0, 1, 10), load(0, 1, 10)], Some(1)),
            (vec![load(0, 9, 10), load(1, 1, 95)], Some(1)),
            (vec![load(0, 9, 95), load(0, 1, 94)], Some(1)),
            (vec![load(0, 9, 95), load(0, 1, 100)], None),
        ] {
            assert_eq!(choose_database(&loads, 95).unwrap(), expected, "{loads:?}");
        }
        assert!(choose_database(&[load(1, 1, 0), load(1, 1, 0)], 95).is_err());
    }
}
