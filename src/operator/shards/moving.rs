//! The steps by which an account moves from one database to another. `migrations/0013_moves.sql` has the tables, and the
//! triggers that note or refuse changes meanwhile.
//!
//! | step | source | target |
//! |---|---|---|
//! | 1. copy | `copying`: changes are noted | `arriving`: nobody acts there; pages of rows come, each read back |
//! | 2. catch up | noted changes are read, later forgotten | they are applied, and read back |
//! | 3. compare | every row is read again, but those noted as changed | every row is read again |
//! | 4. fence | `fenced`: changes are refused, for 5 seconds at most | the last changes come; rows are counted |
//! | 5. switch | `left`, if the fence still stands; names of secrets lead to the target | |
//! | 6. arrive | | its row goes: the account is served here |
//!
//! So at the switch every row is known to be the same on both sides: whatever changes after its comparison is noted, and
//! read back when it is applied; and triggers keep everybody but this command from changing the copy.
//!
//! Each step is one transaction of one database, and can be repeated. Whoever is interrupted between 5 and 6 blocks nobody:
//! the first request that follows a forwarding row ends the arrival too.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::tables::{Copied, Number, Seen, TABLES, Table, columns, count, counted, one, rows};
use crate::operator::sql::Text;

/// How long changes are refused, in milliseconds.
const FENCE_MS: u64 = 5_000;
/// How long the old copy stays, in milliseconds.
const KEPT_MS: u64 = 24 * 60 * 60 * 1000;
/// How many rows are read at once.
const PAGE: usize = 500;
/// How many rows are compared at once.
const COMPARED: usize = 2_000;
/// How many noted changes may be left when the fence is put up.
const FEW: usize = 50;
/// How often noted changes are caught up with before the command gives up.
const ROUNDS: usize = 50;
/// How many fences are tried, with a pause after one that would have stopped a renewal.
const FENCES: usize = 100;
const PAUSE: Duration = Duration::from_millis(200);
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
    /// Moves the account, or goes on where it was interrupted. Tells before the first page and after each one how many rows
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
                "the account is moving between this database and that of number {}: finish that, or undo it, first",
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
                "the account moves into the target from elsewhere"
            ),
            None => {
                let newest = "SELECT ifnull(max(id), 0) AS n FROM events".to_owned();
                let here: Number = one(&self.source.run(std::slice::from_ref(&newest))?, 0)?;
                let there: Number = one(&self.target.run(&[newest])?, 0)?;
                let shift = here.n.max(there.n).saturating_add(EVENTS);
                let end = shift.saturating_add(here.n).saturating_add(EVENTS);
                self.target.run(&[
                    format!("INSERT INTO account_moves (account, step, other, event_shift, event_end, writing, began_at) VALUES ({account}, 'arriving', {from}, {shift}, {end}, 'events', {NOW})"),
                    // New events of others come after those that are reserved. It belongs to nobody.
                    format!("INSERT INTO events (id, account, environment, type, occurred_at, subject) VALUES ({end}, '', '', 'reserved', {NOW}, '{{}}')"),
                    format!("UPDATE account_moves SET writing = NULL WHERE account = {account}"),
                ])?;
            }
        }
        if source.is_none() {
            ensure!(
                target.is_none_or(|row| row.copied.is_none()),
                "what was copied before is of another move: undo that first"
            );
            self.source.run(&[format!("INSERT INTO account_moves (account, step, other, began_at) VALUES ({account}, 'copying', {to}, {NOW})")])?;
        }
        row_of(self.target, self.account)?.context("the move was undone meanwhile")
    }

    /// Copies page after page, from where the last run ended. Returns how many rows.
    fn copy(
        &self,
        row: &Row,
        columns: &[Vec<String>],
        mut tell: impl FnMut(u64, u64),
    ) -> Result<u64> {
        let mut copied = 0_u64;
        let [whole, before] =
            [total(self.source, self.account)?, total(self.target, self.account)?];
        tell(before, whole);
        let done = row.copied.as_deref();
        let mut tries = 10_u8;
        let begin = TABLES.iter().position(|table| Some(table.name) == done).unwrap_or_default();
        let all = TABLES.iter().zip(columns).skip(begin);
        for (table, own) in all.filter(|(table, _)| table.name != "api_keys") {
            let mut after = row.copied_key.clone().filter(|_| Some(table.name) == done);
            loop {
                let place = (self.account, after.as_deref());
                let sql = table.page(own, Seen::Source(row.event_shift), place, PAGE)?;
                let page: Vec<Copied> = rows(&self.source.run(&[sql])?, 0)?;
                let Some(last) = page.last() else { break };
                let progress = format!(
                    "UPDATE account_moves SET copied = '{}', copied_key = {} WHERE account = {}",
                    table.name,
                    Text(&last.key),
                    Text(self.account)
                );
                let keys: Vec<&str> = page.iter().map(|copied| copied.key.as_str()).collect();
                let written = self.write(*table, own, (&keys, &page), row, Some(progress));
                if let Err(error) = written {
                    // A row may have taken the place of one that was copied before it was deleted.
                    if tries == 0 {
                        return Err(error);
                    }
                    tries = tries.saturating_sub(1);
                    while self.catch_up(row, columns)? > 0 {}
                    continue;
                }
                after = Some(last.key.clone());
                copied = copied.saturating_add(page.len() as u64);
                tell(before.saturating_add(copied), whole);
                if page.len() < PAGE {
                    break;
                }
            }
        }
        Ok(copied)
    }

    /// Writes what the source has under these keys into the target, and reads it back.
    fn write(
        &self,
        table: Table,
        columns: &[String],
        (keys, copies): (&[&str], &[Copied]),
        row: &Row,
        more: Option<String>,
    ) -> Result<()> {
        let account = Text(self.account);
        let there = table.with_keys(self.account, keys, row.event_shift)?;
        let found: Vec<&str> = copies.iter().map(|copied| copied.key.as_str()).collect();
        let gone: Vec<&str> = keys.iter().copied().filter(|key| !found.contains(key)).collect();
        let is_arriving = |writing: &str| {
            format!(
                "UPDATE account_moves SET writing = {writing} WHERE account = {account} AND step = 'arriving'"
            )
        };
        let mut sql = vec![is_arriving(&format!("'{}'", table.name))];
        if !gone.is_empty() {
            let gone = table.with_keys(self.account, &gone, row.event_shift)?;
            sql.push(format!("DELETE FROM {} WHERE {gone}", table.source()));
        }
        sql.append(&mut table.write(columns, copies)?);
        sql.push(is_arriving("NULL"));
        sql.extend(more);
        let at = sql.len();
        sql.push(table.select(columns, Seen::Target(row.event_shift), &there));
        let back: Vec<Copied> = rows(&self.target.run(&sql)?, at)?;
        let mut sent: Vec<&str> = copies.iter().map(|copied| copied.row.as_str()).collect();
        let mut read: Vec<&str> = back.iter().map(|copied| copied.row.as_str()).collect();
        sent.sort_unstable();
        read.sort_unstable();
        ensure!(
            sent == read,
            "rows of {} are not the same in both databases: undo the move",
            table.name
        );
        Ok(())
    }

    /// Reads noted changes of the source and what the rows are now. Returns `None` when there are none.
    fn changes(&self, row: &Row, columns: &[Vec<String>]) -> Result<Option<Changes>> {
        #[derive(Deserialize)]
        struct Noted {
            seq: u64,
            relation: String,
            key: String,
        }
        let account = Text(self.account);
        let some = format!(
            "SELECT seq, relation, key FROM account_changes WHERE account = {account} ORDER BY seq LIMIT {PAGE}"
        );
        let noted: Vec<Noted> = rows(&self.source.run(&[some])?, 0)?;
        let Some(last) = noted.last().map(|noted| noted.seq) else { return Ok(None) };
        let mut changes = Changes { last, count: noted.len(), tables: Vec::new() };
        let mut sql = Vec::new();
        for (table, columns) in TABLES.into_iter().zip(columns) {
            let mut keys: Vec<String> = noted
                .iter()
                .filter(|noted| noted.relation == table.name)
                .map(|noted| noted.key.clone())
                .collect();
            keys.sort_unstable();
            keys.dedup();
            if keys.is_empty() || table.name == "api_keys" {
                continue;
            }
            let named: Vec<&str> = keys.iter().map(String::as_str).collect();
            let condition = table.with_keys(self.account, &named, 0)?;
            sql.push(table.select(columns, Seen::Source(row.event_shift), &condition));
            let columns = columns.clone();
            changes.tables.push(Changed { table, columns, keys, copies: Vec::new() });
        }
        if !sql.is_empty() {
            let answers = self.source.run(&sql)?;
            for (at, changed) in changes.tables.iter_mut().enumerate() {
                changed.copies = rows(&answers, at)?;
            }
        }
        Ok(Some(changes))
    }

    /// Catches up with up to [`PAGE`] noted changes. Returns how many there were.
    fn catch_up(&self, row: &Row, columns: &[Vec<String>]) -> Result<usize> {
        let Some(changes) = self.changes(row, columns)? else { return Ok(0) };
        // What is gone goes first: another row may have taken its place.
        for Changed { table, columns, keys, copies } in changes.tables.iter().rev() {
            let gone: Vec<&str> = keys
                .iter()
                .map(String::as_str)
                .filter(|key| !copies.iter().any(|copied| copied.key == *key))
                .collect();
            if !gone.is_empty() {
                self.write(*table, columns, (&gone, &[]), row, None)?;
            }
        }
        for Changed { table, columns, copies, .. } in &changes.tables {
            let keys: Vec<&str> = copies.iter().map(|copied| copied.key.as_str()).collect();
            if !keys.is_empty() {
                self.write(*table, columns, (&keys, copies), row, None)?;
            }
        }
        self.source.run(&[format!(
            "DELETE FROM account_changes WHERE account = {} AND seq <= {}",
            Text(self.account),
            changes.last
        )])?;
        Ok(changes.count)
    }

    /// Catches up with noted changes until few are left.
    fn settle(&self, row: &Row, columns: &[Vec<String>], copied: &mut u64) -> Result<()> {
        for _ in 0..ROUNDS {
            let changed = self.catch_up(row, columns)?;
            *copied = copied.saturating_add(changed as u64);
            if changed <= FEW {
                return Ok(());
            }
        }
        bail!(
            "the account changes faster than it can be copied: run the command again when there is less to do, or undo the move"
        )
    }

    /// Compares every row of both databases, page after page. What the source notes as changed at that moment is compared
    /// when it is copied.
    fn compare(
        &self,
        row: &Row,
        columns: &[Vec<String>],
        copied: &mut u64,
        mut tell: impl FnMut(u64, u64),
    ) -> Result<()> {
        let shift = row.event_shift;
        let (mut done, all) = (0_u64, total(self.source, self.account)?);
        tell(done, all);
        let account = Text(self.account);
        for (table, own) in TABLES.iter().zip(columns).filter(|(table, _)| table.name != "api_keys")
        {
            let mut after: Option<String> = None;
            self.settle(row, columns, copied)?;
            loop {
                let place = (self.account, after.as_deref(), None);
                let answers = self.source.run(&[
                    table.compared(own, Seen::Source(shift), place, Some(COMPARED))?,
                    format!("SELECT DISTINCT key, '' AS row FROM account_changes WHERE account = {account} AND relation = '{}'", table.name),
                ])?;
                let (here, noted) = (rows::<Copied>(&answers, 0)?, rows::<Copied>(&answers, 1)?);
                let last = here.last().filter(|_| here.len() == COMPARED);
                let last = last.map(|copied| copied.key.clone());
                let place = (self.account, after.as_deref(), last.as_deref());
                let there = table.compared(own, Seen::Target(shift), place, None)?;
                let there = rows(&self.target.run(&[there])?, 0)?;
                done = done.saturating_add(here.len() as u64);
                if let Some(key) = differing(here, there, &noted) {
                    bail!(
                        "the row {key} of {} is not the same in both databases, so nothing was switched: undo the move",
                        table.name
                    );
                }
                tell(done, all.max(done));
                if last.is_none() {
                    break;
                }
                after = last;
                if noted.len() > FEW {
                    self.settle(row, columns, copied)?;
                }
            }
        }
        Ok(())
    }

    /// Catches up, fences, compares and switches.
    fn switch(&self, row: &Row, columns: &[Vec<String>], copied: &mut u64) -> Result<()> {
        let of_keys = columns.last().map(Vec::as_slice).unwrap_or_default();
        for _ in 0..FENCES {
            self.settle(row, columns, copied)?;
            let Some(fenced) = self.fence(of_keys)? else {
                std::thread::sleep(PAUSE);
                continue;
            };
            if fenced.noted > 0 {
                while self.catch_up(row, columns)? > 0 {}
            }
            self.last_rows(row, of_keys, &fenced)?;
            if self.leave(row)? {
                return Ok(());
            }
        }
        // What is written from now on is noted as before: whoever goes on catches up with it.
        self.lower()?;
        bail!(
            "the account could not be switched within 5 seconds: run the command again when there is less to do, or undo the move"
        )
    }

    /// Refuses changes from now on, and reads what can't change any more. Returns `None` while credentials are being renewed
    /// or an account is being connected: what platforms answer then must be written.
    ///
    /// All in one query: through wrangler, each takes two of the five seconds.
    fn fence(&self, columns: &[String]) -> Result<Option<Fenced>> {
        let account = Text(self.account);
        let [.., keys] = TABLES;
        let mut sql = vec![
            format!(
                "UPDATE account_moves SET step = 'fenced', fence_until = {NOW} + {FENCE_MS} WHERE account = {account} AND step IN ('copying', 'fenced') AND NOT EXISTS (SELECT 1 FROM credentials WHERE account = {account} AND lease_until > {NOW}) AND NOT EXISTS (SELECT 1 FROM connect_attempts WHERE account = {account} AND status = 'exchanging' AND claimed_at > {NOW} - 60000)"
            ),
            format!(
                "SELECT count(*) AS n FROM account_moves WHERE account = {account} AND fence_until > {NOW}"
            ),
            format!("SELECT count(*) AS n FROM account_changes WHERE account = {account}"),
            "SELECT ifnull(max(id), 0) AS n FROM events".to_owned(),
            format!("SELECT through, shift FROM event_shifts WHERE account = {account}"),
            keys.select(columns, Seen::Source(0), &keys.of(self.account)),
        ];
        let at = sql.len();
        sql.append(&mut count(self.account));
        let answers = self.source.run(&sql)?;
        if one::<Number>(&answers, 1)?.n == 0 {
            return Ok(None);
        }
        Ok(Some(Fenced {
            noted: one::<Number>(&answers, 2)?.n,
            newest: one::<Number>(&answers, 3)?.n,
            shifts: rows(&answers, 4)?,
            keys: rows(&answers, 5)?,
            counts: counted(&answers, at)?,
        }))
    }

    fn lower(&self) -> Result<()> {
        let sql = format!(
            "UPDATE account_moves SET step = 'copying', fence_until = NULL WHERE account = {} AND step = 'fenced'",
            Text(self.account)
        );
        self.source.run(&[sql]).map(drop)
    }

    /// Copies the keys and the ids of events, and compares how many rows there are.
    fn last_rows(&self, row: &Row, columns: &[String], fenced: &Fenced) -> Result<()> {
        ensure!(
            fenced.newest.saturating_add(row.event_shift) < row.event_end,
            "too many events were written meanwhile: undo the move"
        );
        let account = Text(self.account);
        let [.., keys] = TABLES;
        let writing = |table: &str| {
            format!(
                "UPDATE account_moves SET writing = {table} WHERE account = {account} AND step = 'arriving'"
            )
        };
        let mut sql = vec![writing("'api_keys'")];
        sql.append(&mut keys.write(columns, &fenced.keys)?);
        sql.push(writing("NULL"));
        sql.push(format!("DELETE FROM event_shifts WHERE account = {account}"));
        let old = fenced.shifts.iter();
        let old = old.map(|old| (old.through, old.shift.saturating_add(row.event_shift)));
        for (through, shift) in old.chain([(fenced.newest, row.event_shift)]) {
            sql.push(format!("INSERT INTO event_shifts (account, through, shift) VALUES ({account}, {through}, {shift}) ON CONFLICT DO NOTHING"));
        }
        let at = sql.len();
        sql.push(keys.select(columns, Seen::Source(0), &keys.of(self.account)));
        sql.append(&mut count(self.account));
        let answers = self.target.run(&sql)?;
        let back: Vec<Copied> = rows(&answers, at)?;
        ensure!(back == fenced.keys, "the keys are not the same in both databases: undo the move");
        let there = counted(&answers, at.saturating_add(1))?;
        let here = &fenced.counts;
        ensure!(
            here == &there || fenced.noted > 0 && self.counts()? == there,
            "the databases do not have as many rows: {here:?}, {there:?}"
        );
        Ok(())
    }

    fn counts(&self) -> Result<Vec<u64>> {
        counted(&self.source.run(&count(self.account))?, 0)
    }

    /// Leaves the source, if the fence still stands and nothing was noted since.
    fn leave(&self, row: &Row) -> Result<bool> {
        let (account, to) = (Text(self.account), self.target.number());
        let left = format!(
            "account IN (SELECT account FROM account_moves WHERE account = {account} AND step = 'left' AND writing IS NOT NULL)"
        );
        let mut sql = vec![format!(
            "UPDATE account_moves SET step = 'left', fence_until = NULL, left_at = {NOW}, writing = '', event_shift = {} WHERE account = {account} AND step = 'fenced' AND fence_until > {NOW} AND NOT EXISTS (SELECT 1 FROM account_changes WHERE account = {account})",
            row.event_shift
        )];
        for (name, table, is_key) in [
            ("hash", "api_keys", 1),
            ("id", "api_keys", 1),
            ("link_hash", "connect_attempts", 0),
            ("state_hash", "connect_attempts", 0),
        ] {
            sql.push(format!("INSERT INTO forwards (name, account, shard, is_key) SELECT {name}, account, {to}, {is_key} FROM {table} WHERE {left} ON CONFLICT DO UPDATE SET shard = excluded.shard"));
        }
        // Those of earlier stays here.
        sql.push(format!("UPDATE forwards SET shard = {to} WHERE {left}"));
        for table in ["api_keys", "connect_attempts"] {
            sql.push(format!("DELETE FROM {table} WHERE {left}"));
        }
        sql.push(format!("UPDATE account_moves SET writing = NULL WHERE account = {account}"));
        let at = sql.len();
        sql.push(format!(
            "SELECT count(*) AS n FROM account_moves WHERE account = {account} AND step = 'left'"
        ));
        Ok(one::<Number>(&self.source.run(&sql)?, at)?.n > 0)
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
            bail!("the account has moved already: to move it back is another move");
        }
        if row_of(self.target, self.account)?.is_some_and(|row| row.step == "arriving") {
            remove(self.target, self.account, "arriving")?;
        }
        Ok(())
    }
}

/// The first key whose row is not the same in both lists, and is not noted.
fn differing(here: Vec<Copied>, there: Vec<Copied>, noted: &[Copied]) -> Option<String> {
    let mut left: BTreeMap<String, String> =
        there.into_iter().map(|copied| (copied.key, copied.row)).collect();
    let is_noted = |key: &String| noted.iter().any(|change| change.key == *key);
    let other = here
        .into_iter()
        .filter(|copied| left.remove(&copied.key).as_ref() != Some(&copied.row))
        .map(|copied| copied.key)
        .find(|key| !is_noted(key));
    other.or_else(|| left.into_keys().find(|key| !is_noted(key)))
}

/// How many rows of the account are copied, or to be copied.
fn total(side: &impl Side, account: &str) -> Result<u64> {
    let all = counted(&side.run(&count(account))?, 0)?;
    Ok(all.iter().take(TABLES.len()).sum())
}

/// Noted changes.
struct Changes {
    last: u64,
    count: usize,
    tables: Vec<Changed>,
}

/// Noted changes of one table.
struct Changed {
    table: Table,
    columns: Vec<String>,
    keys: Vec<String>,
    /// What those rows are now, those that are left.
    copies: Vec<Copied>,
}

/// What was read when the fence was put up.
struct Fenced {
    noted: u64,
    newest: u64,
    shifts: Vec<Shift>,
    keys: Vec<Copied>,
    counts: Vec<u64>,
}

/// Ids of events in an earlier database.
#[derive(Deserialize)]
struct Shift {
    through: u64,
    shift: u64,
}

/// Removes the old copy of an account, if it left more than a day ago, or `at_once`. Returns whether it did.
///
/// # Errors
/// When the database can't be reached. What was removed by then stays removed.
pub fn clean(side: &impl Side, account: &str, at_once: bool) -> Result<bool> {
    let row = row_of(side, account)?.filter(|row| row.step == "left");
    let Some(row) = row else { return Ok(false) };
    if !at_once && row.left_for.is_none_or(|age| age < KEPT_MS) {
        return Ok(false);
    }
    remove(side, account, "left")?;
    Ok(true)
}

/// Removes what a database has of an account that is not served there, page after page, and its row of the move last.
fn remove(side: &impl Side, account: &str, step: &str) -> Result<()> {
    let named = Text(account);
    for table in TABLES.iter().rev() {
        loop {
            let key = table.names().join(", ");
            let (all, found) = (table.of(account), table.of_those_found(account));
            let answers = side.run(&[
                format!("UPDATE account_moves SET writing = '' WHERE account = {named} AND step = '{step}'"),
                format!("DELETE FROM {} WHERE {found} AND ({key}) IN (SELECT {key} FROM {} WHERE {all} LIMIT {PAGE}) AND EXISTS (SELECT 1 FROM account_moves WHERE account = {named} AND step = '{step}')", table.name, table.name),
                format!("UPDATE account_moves SET writing = NULL WHERE account = {named} AND step = '{step}'"),
                format!("SELECT count(*) AS n FROM (SELECT 1 FROM {} WHERE {all} LIMIT 1)", table.name),
            ])?;
            if one::<Number>(&answers, 3)?.n == 0 {
                break;
            }
            ensure!(
                row_of(side, account)?.is_some_and(|row| row.step == step),
                "somebody else moves the account"
            );
        }
    }
    // Triggers took what follows from the rows; what is left of it was no longer right.
    let derived = |table: &str| {
        format!(
            "DELETE FROM {table} WHERE account = {named} AND EXISTS (SELECT 1 FROM account_moves WHERE account = {named} AND step = '{step}')"
        )
    };
    side.run(&[
        derived("connection_tags"),
        derived("connection_counts"),
        format!("DELETE FROM event_shifts WHERE account = {named}"),
        format!("DELETE FROM account_changes WHERE account = {named}"),
        format!("DELETE FROM forwards WHERE account = {named} AND is_key = 0"),
        format!("DELETE FROM account_moves WHERE account = {named} AND step = '{step}'"),
    ])
    .map(drop)
}
