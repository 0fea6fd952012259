//! The comparison step of a move: reads every row again from both databases.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use super::super::tables::{RowCopy, RowView, TABLES, rows};
use super::{MAX_PENDING_CHANGES, Move, MoveDatabase, MoveState, total};
use crate::operator::sql::StringLiteral;

/// The number of rows per comparison.
const ROWS_PER_COMPARISON: usize = 2_000;

impl<S: MoveDatabase, T: MoveDatabase> Move<'_, S, T> {
    /// Compares all rows of the source and the target, page by page. Skips rows that the source has
    /// logged as changed: they are compared when they are copied again.
    pub(super) fn compare(
        &self,
        state: &MoveState,
        columns: &[Vec<String>],
        copied: &mut u64,
        mut report: impl FnMut(u64, u64),
    ) -> Result<()> {
        let shift = state.event_shift;
        let (mut done, all) = (0_u64, total(self.source, self.account)?);
        report(done, all);
        let account = StringLiteral(self.account);
        for (table, own) in TABLES.iter().zip(columns).filter(|(table, _)| table.name != "api_keys")
        {
            let mut after: Option<String> = None;
            self.catch_up_until_few(state, columns, copied)?;
            loop {
                let row_range = (self.account, after.as_deref(), None);
                let results = self.source.run(&[
                    table.select_for_comparison(own, RowView::Source(shift), row_range, Some(ROWS_PER_COMPARISON))?,
                    format!("SELECT DISTINCT key, '' AS row FROM account_changes WHERE account = {account} AND relation = '{}'", table.name),
                ])?;
                let (source_rows, logged) =
                    (rows::<RowCopy>(&results, 0)?, rows::<RowCopy>(&results, 1)?);
                let last = source_rows.last().filter(|_| source_rows.len() == ROWS_PER_COMPARISON);
                let last = last.map(|copied| copied.key.clone());
                let row_range = (self.account, after.as_deref(), last.as_deref());
                let sql =
                    table.select_for_comparison(own, RowView::Target(shift), row_range, None)?;
                let target_rows = rows(&self.target.run(&[sql])?, 0)?;
                done = done.saturating_add(source_rows.len() as u64);
                if let Some(key) = first_difference(source_rows, target_rows, &logged) {
                    bail!(
                        "the row {key} of {} is not the same in both databases, so nothing was switched: undo the move",
                        table.name
                    );
                }
                report(done, all);
                if last.is_none() {
                    break;
                }
                after = last;
                if logged.len() > MAX_PENDING_CHANGES {
                    self.catch_up_until_few(state, columns, copied)?;
                }
            }
        }
        Ok(())
    }
}

/// The key of the first row that differs and is not logged as changed.
fn first_difference(
    source_rows: Vec<RowCopy>,
    target_rows: Vec<RowCopy>,
    logged: &[RowCopy],
) -> Option<String> {
    let mut unmatched: BTreeMap<String, String> =
        target_rows.into_iter().map(|copied| (copied.key, copied.row)).collect();
    let is_logged = |key: &String| logged.iter().any(|change| change.key == *key);
    let other = source_rows
        .into_iter()
        .filter(|copied| unmatched.remove(&copied.key).as_ref() != Some(&copied.row))
        .map(|copied| copied.key)
        .find(|key| !is_logged(key));
    other.or_else(|| unmatched.into_keys().find(|key| !is_logged(key)))
}
