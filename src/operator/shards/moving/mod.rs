//! Moves an account from one database to another while the account is in use.
//!
//! # Routing
//!
//! An account is stored in exactly one database, its shard. Every secret contains the number of its
//! shard as two base62 digits (see [`Shard`](crate::auth::shard::Shard)), so the Worker selects the
//! database from the secret itself, without a directory, a cache or another round trip. A secret of
//! another account can't reach this account, because a database contains only the hashes of its own
//! secrets.
//!
//! The disadvantage is that a secret can't change when its account moves: clients have it, and the
//! service has only its hash. The source database therefore keeps a row in `forwards` for every
//! name that a request may contain: the hash and the id of each key, the links and OAuth states of
//! pending connect attempts, agent endpoints, and grants. A request that finds a forward is
//! repeated in the target. This costs another round trip until the key is rotated, so `keys list`
//! warns about such keys.
//!
//! # Requirements
//!
//! Reads must work throughout a move. Writes may be rejected for a few seconds at most, with a
//! retryable status. No row may be lost or served twice, even if the command, the network or either
//! database fails. D1 has no transactions across databases, so a move is a sequence of steps, and
//! each step is a transaction in one database. Both databases store the state of the move in a row
//! of `account_moves`, and each step can be repeated.
//!
//! | step | source | target |
//! |---|---|---|
//! | 1. copy | `copying`: triggers log changes | `arriving`: pages of rows are written and read back |
//! | 2. catch up | logged changes are read, then deleted from the log | the changes are applied and read back |
//! | 3. compare | every row is read again, except those logged as changed | every row is read again |
//! | 4. fence | `fenced`: triggers reject changes, for 5 seconds at most | the last changes are applied; rows are counted |
//! | 5. switch | `left`, if the fence is still up; forwards lead to the target | |
//! | 6. arrive | | the row in `account_moves` is deleted: this database serves the account |
//!
//! # Correctness
//!
//! *The source serves the account until step 5.* The account's secrets lead to the source, so no
//! request reaches the copy, and triggers reject all writes to the copy except those of the
//! command.
//!
//! *Triggers log every change*, so no code path can skip the log. The log contains keys, not
//! values: step 2 reads the current row, so repeated or reordered entries are harmless.
//!
//! *Source and target are equal at the switch.* Every row is compared after it was copied. If a row
//! changes after its comparison, the change is logged, and the row is read back when it is copied
//! again.
//!
//! *The fence expires.* It is a timestamp, so a command that crashes while the fence is up blocks
//! the account for at most 5 seconds. The switch checks in its own transaction that the fence is
//! still up and that the log is empty; otherwise it changes nothing, and the next attempt catches
//! up again. The fence is not put up during a token refresh or a code exchange, because the
//! platform's response must be stored: it may contain the only valid refresh token.
//!
//! *A crash between steps 5 and 6 blocks the account only briefly.* The first request that follows
//! a forward completes the arrival before it is served.
//!
//! Event ids in the target are larger by a constant, so that cursors of the feed still work after
//! the move: `event_shifts` maps them. An old copy is kept for a day, in case the move has to be
//! investigated, and is then removed.
//!
//! [`copy`], [`compare`] and [`switch`] implement these steps. [`remove`] deletes old copies, and
//! new copies if a move is undone.

mod compare;
mod copy;
mod remove;
mod switch;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::tables::{Number, TABLES, columns, count, one, read_counts, rows};
use crate::operator::sql::StringLiteral;

pub use remove::clean;

/// The number of rows per page.
const PAGE: usize = 500;
/// The maximum number of logged changes that may remain when the fence is put up.
const MAX_PENDING_CHANGES: usize = 50;
/// The maximum number of events that all accounts of the source can write during a move.
const MAX_EVENTS_DURING_MOVE: u64 = 10_000_000;
/// The SQL expression for the current time, in milliseconds since 1970-01-01 UTC.
const NOW: &str = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/// One of the two databases of a move.
pub trait MoveDatabase {
    /// Runs statements in one transaction. Returns the rows of each statement.
    fn run(&self, sql: &[String]) -> Result<Vec<Value>>;

    fn number(&self) -> u16;
}

/// A row of `account_moves`: the state of a move in one of its databases.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct MoveState {
    /// `copying`, `fenced`, `left` or `arriving`.
    pub step: String,
    pub other: u16,
    event_shift: u64,
    event_end: u64,
    copied: Option<String>,
    copied_key: Option<String>,
    /// The time since the account left, in milliseconds.
    pub left_for: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Copy,
    Compare,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveResult {
    /// The number of copied rows, including repeated copies.
    pub rows: u64,
    /// The number of the account's rows, which is equal in both databases.
    pub total: u64,
}

/// The state of an account's move in a database. Returns `None` if the account is not moving and
/// the database has no old copy.
pub fn move_state(database: &impl MoveDatabase, account: &str) -> Result<Option<MoveState>> {
    let sql = format!(
        "SELECT step, other, event_shift, event_end, copied, copied_key, {NOW} - left_at AS left_for FROM account_moves WHERE account = {}",
        StringLiteral(account)
    );
    Ok(rows(&database.run(&[sql])?, 0)?.pop())
}

#[derive(Debug)]
pub struct Move<'a, S, T> {
    pub account: &'a str,
    pub source: &'a S,
    pub target: &'a T,
}

impl<S: MoveDatabase, T: MoveDatabase> Move<'_, S, T> {
    /// Moves the account, or continues an interrupted move. Before the first page and after each
    /// page, calls `report` with the phase, the number of processed rows, and their total.
    pub fn run(&self, mut report: impl FnMut(Phase, u64, u64)) -> Result<MoveResult> {
        let row = self.begin()?;
        let mut copied = 0;
        if row.step != "left" {
            let columns = columns(self.source)?;
            copied = self.copy(&row, &columns, |done, all| report(Phase::Copy, done, all))?;
            self.compare(&row, &columns, &mut copied, |done, all| {
                report(Phase::Compare, done, all);
            })?;
            self.switch(&row, &columns, &mut copied)?;
        }
        let total = self.arrive()?;
        Ok(MoveResult { rows: copied, total })
    }

    /// Records the move in both databases. The target comes first: while the move is recorded only
    /// in the source, the source logs changes unnecessarily.
    fn begin(&self) -> Result<MoveState> {
        let account = StringLiteral(self.account);
        let [source, target] =
            [move_state(self.source, self.account)?, move_state(self.target, self.account)?];
        let (from, to) = (self.source.number(), self.target.number());
        if let Some(row) = &source {
            ensure!(
                row.step != "arriving" && row.other == to,
                "the account is moving between this database and that of number {}: finish or undo that move first",
                row.other
            );
            if row.step == "left" {
                return Ok(row.clone());
            }
        }
        match &target {
            Some(row) if row.step == "left" => bail!(
                "an old copy of the account is still in the target: remove it with `npm run shards -- clean {}`",
                self.account
            ),
            Some(row) => ensure!(
                row.step == "arriving" && row.other == from,
                "another move of this account to the target is in progress"
            ),
            None => {
                let newest = "SELECT ifnull(max(id), 0) AS n FROM events".to_owned();
                let here: Number = one(&self.source.run(std::slice::from_ref(&newest))?, 0)?;
                let there: Number = one(&self.target.run(&[newest])?, 0)?;
                let shift = here.n.max(there.n).saturating_add(MAX_EVENTS_DURING_MOVE);
                let end = shift.saturating_add(here.n).saturating_add(MAX_EVENTS_DURING_MOVE);
                self.target.run(&[
                    format!("INSERT INTO account_moves (account, step, other, event_shift, event_end, writing, began_at) VALUES ({account}, 'arriving', {from}, {shift}, {end}, 'events', {NOW})"),
                    // A placeholder that belongs to no account. It makes new events of other
                    // accounts get ids after the reserved range.
                    format!("INSERT INTO events (id, account, environment, type, occurred_at, subject) VALUES ({end}, '', '', 'reserved', {NOW}, '{{}}')"),
                    format!("UPDATE account_moves SET writing = NULL WHERE account = {account}"),
                ])?;
            }
        }
        if source.is_none() {
            ensure!(
                target.is_none_or(|row| row.copied.is_none()),
                "the target has rows of another move: undo that first"
            );
            self.source.run(&[format!("INSERT INTO account_moves (account, step, other, began_at) VALUES ({account}, 'copying', {to}, {NOW})")])?;
        }
        move_state(self.target, self.account)?.context("the move was undone in the meantime")
    }

    /// Completes the arrival. Returns the number of the account's rows.
    fn arrive(&self) -> Result<u64> {
        let account = StringLiteral(self.account);
        self.target.run(&[
            format!("DELETE FROM forwards WHERE account IN (SELECT account FROM account_moves WHERE account = {account} AND step = 'arriving')"),
            format!("DELETE FROM account_moves WHERE account = {account} AND step = 'arriving'"),
        ])?;
        total(self.target, self.account)
    }

    /// Undoes a move before its switch: stops logging in the source, and removes the copy.
    pub fn undo(&self) -> Result<()> {
        let account = StringLiteral(self.account);
        let results = self.source.run(&[
            format!("DELETE FROM account_moves WHERE account = {account} AND step IN ('copying', 'fenced')"),
            format!("DELETE FROM account_changes WHERE account = {account} AND account NOT IN (SELECT account FROM account_moves)"),
            format!("SELECT count(*) AS n FROM account_moves WHERE account = {account} AND step = 'left'"),
        ])?;
        if one::<Number>(&results, 2)?.n > 0 {
            bail!("the account has already moved: to move it back, start another move");
        }
        if move_state(self.target, self.account)?.is_some_and(|row| row.step == "arriving") {
            remove::remove(self.target, self.account, "arriving")?;
        }
        Ok(())
    }
}

/// The number of rows to copy.
fn total(database: &impl MoveDatabase, account: &str) -> Result<u64> {
    let all = read_counts(&database.run(&count(account))?, 0)?;
    Ok(all.iter().take(TABLES.len()).sum())
}
