//! The copy step of a move: copies rows page by page, then the changes that were logged meanwhile.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use serde::Deserialize;

use super::super::tables::{RowCopy, RowView, TABLES, Table, rows};
use super::{MAX_PENDING_CHANGES, Move, MoveDatabase, MoveState, PAGE, total};
use crate::operator::sql::StringLiteral;

/// The maximum number of rounds of logged changes before the command gives up.
const ROUNDS: usize = 50;
/// If a round takes less time than this, the changes that it leaves can be applied behind the
/// fence.
const SHORT_ROUND: Duration = Duration::from_secs(1);

impl<S: MoveDatabase, T: MoveDatabase> Move<'_, S, T> {
    /// Copies rows page by page, from where the last run stopped. Returns the number of copied
    /// rows.
    pub(super) fn copy(
        &self,
        state: &MoveState,
        columns: &[Vec<String>],
        mut report: impl FnMut(u64, u64),
    ) -> Result<u64> {
        let mut copied = 0_u64;
        let [whole, before] =
            [total(self.source, self.account)?, total(self.target, self.account)?];
        report(before, whole);
        let done = state.copied.as_deref();
        let mut tries = 10_u8;
        let begin = TABLES.iter().position(|table| Some(table.name) == done).unwrap_or_default();
        let all = TABLES.iter().zip(columns).skip(begin);
        for (table, own) in all.filter(|(table, _)| table.name != "api_keys") {
            let mut after = state.copied_key.clone().filter(|_| Some(table.name) == done);
            loop {
                let row_range = (self.account, after.as_deref());
                let sql = table.page(own, RowView::Source(state.event_shift), row_range, PAGE)?;
                let page: Vec<RowCopy> = rows(&self.source.run(&[sql])?, 0)?;
                let Some(last) = page.last() else { break };
                let progress = format!(
                    "UPDATE account_moves SET copied = '{}', copied_key = {} WHERE account = {}",
                    table.name,
                    StringLiteral(&last.key),
                    StringLiteral(self.account)
                );
                let keys: Vec<&str> = page.iter().map(|copied| copied.key.as_str()).collect();
                let written = self.write(*table, own, (&keys, &page), state, Some(progress));
                if let Err(error) = written {
                    // A row may have the same unique values as an already copied row that has since
                    // been deleted from the source.
                    if tries == 0 {
                        return Err(error);
                    }
                    tries = tries.saturating_sub(1);
                    while self.catch_up(state, columns)? > 0 {}
                    continue;
                }
                after = Some(last.key.clone());
                copied = copied.saturating_add(page.len() as u64);
                report(before.saturating_add(copied), whole);
                if page.len() < PAGE {
                    break;
                }
            }
        }
        Ok(copied)
    }

    /// Writes rows with these keys to the target, reads them back, and compares them.
    fn write(
        &self,
        table: Table,
        columns: &[String],
        (keys, copies): (&[&str], &[RowCopy]),
        state: &MoveState,
        more: Option<String>,
    ) -> Result<()> {
        let account = StringLiteral(self.account);
        let there = table.key_condition(self.account, keys, state.event_shift)?;
        let found: Vec<&str> = copies.iter().map(|copied| copied.key.as_str()).collect();
        let deleted: Vec<&str> = keys.iter().copied().filter(|key| !found.contains(key)).collect();
        let is_arriving = |writing: &str| {
            format!(
                "UPDATE account_moves SET writing = {writing} WHERE account = {account} AND step = 'arriving'"
            )
        };
        let mut sql = vec![is_arriving(&format!("'{}'", table.name))];
        if !deleted.is_empty() {
            let condition = table.key_condition(self.account, &deleted, state.event_shift)?;
            sql.push(format!("DELETE FROM {} WHERE {condition}", table.source()));
        }
        sql.append(&mut table.write(columns, copies)?);
        sql.push(is_arriving("NULL"));
        sql.extend(more);
        let at = sql.len();
        sql.push(table.select(columns, RowView::Target(state.event_shift), &there));
        let back: Vec<RowCopy> = rows(&self.target.run(&sql)?, at)?;
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

    /// Reads logged changes from the source, and the current rows of their keys. Returns `None` if
    /// no changes are logged.
    fn changes(&self, state: &MoveState, columns: &[Vec<String>]) -> Result<Option<Changes>> {
        #[derive(Deserialize)]
        struct LoggedChange {
            seq: u64,
            relation: String,
            key: String,
        }
        let account = StringLiteral(self.account);
        let sql = format!(
            "SELECT seq, relation, key FROM account_changes WHERE account = {account} ORDER BY seq LIMIT {PAGE}"
        );
        let logged: Vec<LoggedChange> = rows(&self.source.run(&[sql])?, 0)?;
        let Some(last) = logged.last().map(|logged| logged.seq) else { return Ok(None) };
        let mut changes = Changes { last, count: logged.len(), tables: Vec::new() };
        let mut sql = Vec::new();
        for (table, columns) in TABLES.into_iter().zip(columns) {
            let mut keys: Vec<String> = logged
                .iter()
                .filter(|logged| logged.relation == table.name)
                .map(|logged| logged.key.clone())
                .collect();
            keys.sort_unstable();
            keys.dedup();
            if keys.is_empty() || table.name == "api_keys" {
                continue;
            }
            let named: Vec<&str> = keys.iter().map(String::as_str).collect();
            let condition = table.key_condition(self.account, &named, 0)?;
            sql.push(table.select(columns, RowView::Source(state.event_shift), &condition));
            let columns = columns.clone();
            changes.tables.push(TableChanges { table, columns, keys, copies: Vec::new() });
        }
        if !sql.is_empty() {
            let results = self.source.run(&sql)?;
            for (at, changed) in changes.tables.iter_mut().enumerate() {
                changed.copies = rows(&results, at)?;
            }
        }
        Ok(Some(changes))
    }

    /// Applies up to [`PAGE`] logged changes. Returns their number.
    pub(super) fn catch_up(&self, state: &MoveState, columns: &[Vec<String>]) -> Result<usize> {
        let Some(changes) = self.changes(state, columns)? else { return Ok(0) };
        // Deletions must come first, because another row may have the same unique values as a
        // deleted row.
        for TableChanges { table, columns, keys, copies } in changes.tables.iter().rev() {
            let deleted: Vec<&str> = keys
                .iter()
                .map(String::as_str)
                .filter(|key| !copies.iter().any(|copied| copied.key == *key))
                .collect();
            if !deleted.is_empty() {
                self.write(*table, columns, (&deleted, &[]), state, None)?;
            }
        }
        for TableChanges { table, columns, copies, .. } in &changes.tables {
            let keys: Vec<&str> = copies.iter().map(|copied| copied.key.as_str()).collect();
            if !keys.is_empty() {
                self.write(*table, columns, (&keys, copies), state, None)?;
            }
        }
        self.source.run(&[format!(
            "DELETE FROM account_changes WHERE account = {} AND seq <= {}",
            StringLiteral(self.account),
            changes.last
        )])?;
        Ok(changes.count)
    }

    /// Applies logged changes until few remain, or until a round is so short that the rest can be
    /// applied behind the fence.
    pub(super) fn catch_up_until_few(
        &self,
        state: &MoveState,
        columns: &[Vec<String>],
        copied: &mut u64,
    ) -> Result<()> {
        for _ in 0..ROUNDS {
            let began = Instant::now();
            let changed = self.catch_up(state, columns)?;
            *copied = copied.saturating_add(changed as u64);
            if changed <= MAX_PENDING_CHANGES || began.elapsed() < SHORT_ROUND {
                return Ok(());
            }
        }
        bail!(
            "the account changes faster than it can be copied: run the command again when there are fewer writes, or undo the move"
        )
    }
}

struct Changes {
    last: u64,
    count: usize,
    tables: Vec<TableChanges>,
}

struct TableChanges {
    table: Table,
    columns: Vec<String>,
    keys: Vec<String>,
    /// The current rows. Deleted rows are missing.
    copies: Vec<RowCopy>,
}
