//! The steps by which an account moves from one database to another. `schema/0001_init.sql` has the tables, and the
//! triggers that note or refuse changes meanwhile.
//!
//! | step | source | target |
//! |---|---|---|
//! | 1. copy | `copying`: changes are logged | `arriving`: the account is inactive there; pages of rows arrive, each read back |
//! | 2. catch up | noted changes are read, later forgotten | they are applied, and read back |
//! | 3. compare | every row is read again, but those noted as changed | every row is read again |
//! | 4. fence | `fenced`: changes are refused, for 5 seconds at most | the last changes come; rows are counted |
//! | 5. switch | `left`, if the fence still stands; names of secrets lead to the target | |
//! | 6. arrive | | its row goes: the account is served here |
//!
//! So at the switch every row is known to be the same on both sides: whatever changes after its comparison is noted, and
//! read back when it is applied; and triggers keep everybody but this command from changing the copy.
//!
//! Each step is one transaction of one database, and can be repeated. An interruption between 5 and 6 blocks no request:
//! the first request that follows a forwarding row ends the arrival too.
//!
//! [`copy`], [`compare`] and [`switch`] are these steps; [`remove`] is what comes after them, or of a move that is undone.

mod compare;
mod copy;
mod remove;
mod switch;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::tables::{Number, TABLES, columns, count, counted, one, rows};
use crate::operator::sql::Text;

pub use remove::clean;

/// How many rows are read at once.
const PAGE: usize = 500;
/// How many noted changes may be left when the fence is put up.
const FEW: usize = 50;
/// How many events may be written, in all accounts of the source, while an account moves.
const EVENTS: u64 = 10_000_000;
/// The time, in SQL.
const NOW: &str = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/// A database, as the steps see it.
pub trait Side {
    /// Runs statements in one transaction. Returns the rows of each.
    ///
    /// # Errors
    /// When the database rejects one, or can't be reached.
    fn run(&self, sql: &[String]) -> Result<Vec<Value>>;

    /// The number of its shard.
    fn number(&self) -> u16;
}

/// What a database knows of an account's move.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Row {
    /// `copying`, `fenced`, `left` or `arriving`.
    pub step: String,
    /// The other database.
    pub other: u16,
    event_shift: u64,
    event_end: u64,
    copied: Option<String>,
    copied_key: Option<String>,
    /// How many milliseconds ago it left.
    pub left_for: Option<u64>,
}

/// What a move does with row after row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It copies them.
    Copy,
    /// It compares both copies.
    Compare,
}

/// How a move went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Rows that were copied, those of repeated copies too.
    pub rows: u64,
    /// Rows of the account, counted on both sides.
    pub total: u64,
}

/// What the database knows of the account's move. Returns `None` when it is not being moved, and nothing is left of it.
///
/// # Errors
/// When the database can't be reached.
pub fn row_of(side: &impl Side, account: &str) -> Result<Option<Row>> {
    let sql = format!(
        "SELECT step, other, event_shift, event_end, copied, copied_key, {NOW} - left_at AS left_for FROM account_moves WHERE account = {}",
        Text(account)
    );
    Ok(rows(&side.run(&[sql])?, 0)?.pop())
}

/// The move of an account.
#[derive(Debug)]
pub struct Move<'a, S, T> {
    /// The account.
    pub account: &'a str,
    /// Where it is.
    pub source: &'a S,
    /// Where it goes.
    pub target: &'a T,
}

impl<S: Side, T: Side> Move<'_, S, T> {
    /// Moves the account, or continues where it was interrupted. Reports before the first page and after each one how many rows
    /// are copied, and of how many; then, how many are compared.
    ///
    /// # Errors
    /// Whatever stopped it. The account is then served as before, and the move can be resumed or undone.
    pub fn run(&self, mut tell: impl FnMut(Phase, u64, u64)) -> Result<Moved> {
        let row = self.begin()?;
        let mut copied = 0;
        if row.step != "left" {
            let columns = columns(self.source)?;
            copied = self.copy(&row, &columns, |done, all| tell(Phase::Copy, done, all))?;
            self.compare(&row, &columns, &mut copied, |done, all| tell(Phase::Compare, done, all))?;
            self.switch(&row, &columns, &mut copied)?;
        }
        let total = self.arrive()?;
        Ok(Moved { rows: copied, total })
    }

    /// Notes in both databases that the account moves. The target first: a source that notes changes without a copy would
    /// do so for nothing.
    fn begin(&self) -> Result<Row> {
        let account = Text(self.account);
        let [source, target] =
            [row_of(self.source, self.account)?, row_of(self.target, self.account)?];
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
                let shift = here.n.max(there.n).saturating_add(EVENTS);
                let end = shift.saturating_add(here.n).saturating_add(EVENTS);
                self.target.run(&[
                    format!("INSERT INTO account_moves (account, step, other, event_shift, event_end, writing, began_at) VALUES ({account}, 'arriving', {from}, {shift}, {end}, 'events', {NOW})"),
                    // New events of others come after those that are reserved. This row belongs to no account.
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
        row_of(self.target, self.account)?.context("the move was undone meanwhile")
    }

    /// Ends the arrival. Returns how many rows the account has.
    fn arrive(&self) -> Result<u64> {
        let account = Text(self.account);
        self.target.run(&[
            format!("DELETE FROM forwards WHERE account IN (SELECT account FROM account_moves WHERE account = {account} AND step = 'arriving')"),
            format!("DELETE FROM account_moves WHERE account = {account} AND step = 'arriving'"),
        ])?;
        total(self.target, self.account)
    }

    /// Takes back a move before its switch: the source notes nothing any more, and the copy goes.
    ///
    /// # Errors
    /// When the account has left, or a database can't be reached.
    pub fn undo(&self) -> Result<()> {
        let account = Text(self.account);
        let answers = self.source.run(&[
            format!("DELETE FROM account_moves WHERE account = {account} AND step IN ('copying', 'fenced')"),
            format!("DELETE FROM account_changes WHERE account = {account} AND account NOT IN (SELECT account FROM account_moves)"),
            format!("SELECT count(*) AS n FROM account_moves WHERE account = {account} AND step = 'left'"),
        ])?;
        if one::<Number>(&answers, 2)?.n > 0 {
            bail!("the account has already moved: to move it back, start another move");
        }
        if row_of(self.target, self.account)?.is_some_and(|row| row.step == "arriving") {
            remove::remove(self.target, self.account, "arriving")?;
        }
        Ok(())
    }
}

/// How many rows of the account are copied, or to be copied.
fn total(side: &impl Side, account: &str) -> Result<u64> {
    let all = counted(&side.run(&count(account))?, 0)?;
    Ok(all.iter().take(TABLES.len()).sum())
}
