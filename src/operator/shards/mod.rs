//! The databases of a project, and in which of them an account lives; the commands under `shards`.
//!
//! | file | what it knows |
//! |---|---|
//! | [`list`], [`add`], [`moves`] | the commands |
//! | [`moving`] | the steps of a move |
//! | [`file`] | databases in wrangler.toml |

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::d1::Database;
use super::place::Place;
use super::sql::Text;
use super::storage::Storage;
use crate::storage::capacity::FULL;

pub mod add;
pub mod file;
pub mod list;
pub mod moves;
pub mod moving;
pub mod tables;

/// The commands under `shards`.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// List the databases, with their size and what they hold
    List(list::List),
    /// Add a database: create it, make its tables, and bind it in wrangler.toml
    ///
    /// New accounts then go to the database with the most room. At Cloudflare, deploy the Worker after it, so that it can
    /// reach the new database. If the command was interrupted, run it again: it finishes what it had begun.
    Add(add::Add),
    /// Move an account to another database, while it is used
    ///
    /// Reads always work. At the end, changes are rejected for at most 5 seconds, with status 503. If the command was
    /// interrupted, run it again: it continues where it was. Its keys keep working, and `keys list` shows which to rotate.
    Move(moves::MoveArgs),
    /// Remove old copies of accounts that moved to another database more than a day ago
    Clean(moves::Clean),
}

/// Runs one of the commands under `shards`.
///
/// # Errors
/// Whatever stopped it, in words for the operator.
pub fn run(command: &Command) -> Result<ExitCode> {
    match command {
        Command::List(args) => list::list(args)?,
        Command::Add(args) => add::add(args)?,
        Command::Move(args) => moves::move_account(args)?,
        Command::Clean(args) => moves::clean(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The databases of all shards, the first one first.
#[derive(Debug)]
pub struct Shards(pub Vec<Database>);

/// What decides where an account goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
struct Room {
    /// Whether the account lives here.
    lives: u8,
    accounts: u64,
    #[serde(default)]
    size: u64,
}

/// Accounts with a key, connection or OAuth client, except those in transit.
const ACCOUNTS: &str = "SELECT account FROM api_keys UNION SELECT account FROM connection_counts UNION SELECT account FROM oauth_clients EXCEPT SELECT account FROM account_moves WHERE step IN ('left', 'arriving')";

/// The condition on rows with an `account` that are not of an old copy, whose account is in another database now.
pub const STAYS: &str = "account NOT IN (SELECT account FROM account_moves WHERE step = 'left')";

/// The number of the database in which an account lives or is to live: the one that has it, or else the smallest one, of
/// equal ones that with the fewest accounts. Returns `None` when each has `full` bytes, so that there is no room for a new
/// account.
fn choose(rooms: &[Room], full: u64) -> Result<Option<usize>> {
    let mut homes = rooms.iter().enumerate().filter(|(_, room)| room.lives > 0);
    if let Some((home, _)) = homes.next() {
        if homes.next().is_some() {
            bail!("the account is in two databases");
        }
        return Ok(Some(home));
    }
    let open = rooms.iter().enumerate().filter(|(_, room)| room.size < full);
    let most_room = open.min_by_key(|(_, room)| (room.size, room.accounts));
    Ok(most_room.map(|(at, _)| at))
}

impl Shards {
    /// The databases of the project around the current folder.
    ///
    /// # Errors
    /// As [`Storage::open`].
    pub fn open(place: &Place) -> Result<Self> {
        Ok(Self::of(Storage::open(place)?))
    }

    /// The databases of opened storage.
    #[must_use]
    pub fn of(storage: Storage) -> Self {
        Self(storage.databases())
    }

    /// The most bytes of a database.
    ///
    /// # Errors
    /// When wrangler.toml cannot be read.
    pub fn max_bytes(&self) -> Result<u64> {
        let project = self.0.first().map(|database| &database.storage.project);
        project.context("there is no database")?.max_database_bytes()
    }

    /// The rows of a query, from all databases.
    ///
    /// # Errors
    /// When a database cannot be reached.
    pub fn rows<T: DeserializeOwned>(&self, sql: &str) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        for database in &self.0 {
            rows.append(&mut database.query(&[sql.to_owned()])?.rows(0)?);
        }
        Ok(rows)
    }

    /// The database in which an account lives; for a new account, the one with the most room.
    ///
    /// # Errors
    /// When a database cannot be reached, or all are full.
    pub fn place(&self, account: &str) -> Result<Database> {
        if let [only] = self.0.as_slice() {
            return Ok(only.clone());
        }
        let sql = format!(
            "SELECT {} IN ({ACCOUNTS}) AS lives, (SELECT count(*) FROM ({ACCOUNTS})) AS accounts",
            Text(account)
        );
        let mut rooms = Vec::new();
        for database in &self.0 {
            let answers = database.query(std::slice::from_ref(&sql))?;
            let room: Room = answers.rows(0)?.pop().context("the database counts nothing")?;
            rooms.push(Room { size: answers.size, ..room });
        }
        let most = self.max_bytes()?;
        let chosen = choose(&rooms, most.saturating_mul(FULL).div_ceil(100))
            .with_context(|| format!("the account {account}"))?;
        let database = chosen.and_then(|at| self.0.get(at)).cloned();
        database.context("all databases are full: add one with `npm run shards -- add`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(lives: u8, accounts: u64, size: u64) -> Room {
        Room { lives, accounts, size }
    }

    #[test]
    fn a_new_account_goes_where_there_is_most_room_and_an_old_one_where_it_lives() {
        for (rooms, expected) in [
            (vec![room(0, 9, 0)], Some(0)),
            (vec![room(0, 9, 10), room(0, 1, 20)], Some(0)),
            (vec![room(0, 9, 10), room(0, 1, 10), room(0, 1, 10)], Some(1)),
            (vec![room(0, 9, 10), room(1, 1, 95)], Some(1)),
            (vec![room(0, 9, 95), room(0, 1, 94)], Some(1)),
            (vec![room(0, 9, 95), room(0, 1, 100)], None),
        ] {
            assert_eq!(choose(&rooms, 95).unwrap(), expected, "{rooms:?}");
        }
        assert!(choose(&[room(1, 1, 0), room(1, 1, 0)], 95).is_err());
    }
}
