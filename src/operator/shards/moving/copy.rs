//! Copying: the rows, page after page, then whatever changed meanwhile.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use serde::Deserialize;

use super::super::tables::{Copied, Seen, TABLES, Table, rows};
use super::{FEW, Move, PAGE, Row, Side, total};
use crate::operator::sql::Text;

/// How often noted changes are caught up with before the command gives up.
const ROUNDS: usize = 50;
/// A round of less time than this leaves less than what the fence has room for.
const QUICK: Duration = Duration::from_secs(1);

impl<S: Side, T: Side> Move<'_, S, T> {
    /// Copies page after page, from where the last run ended. Returns how many rows.
    pub(super) fn copy(
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
    pub(super) fn catch_up(&self, row: &Row, columns: &[Vec<String>]) -> Result<usize> {
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

    /// Catches up with noted changes until few are left, or until that takes so little time that the rest can come behind the
    /// fence.
    pub(super) fn settle(
        &self,
        row: &Row,
        columns: &[Vec<String>],
        copied: &mut u64,
    ) -> Result<()> {
        for _ in 0..ROUNDS {
            let began = Instant::now();
            let changed = self.catch_up(row, columns)?;
            *copied = copied.saturating_add(changed as u64);
            if changed <= FEW || began.elapsed() < QUICK {
                return Ok(());
            }
        }
        bail!(
            "the account changes faster than it can be copied: run the command again when there are fewer writes, or undo the move"
        )
    }
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
