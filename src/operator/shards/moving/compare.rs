//! Comparing: every row is read again from both databases.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use super::super::tables::{Copied, Seen, TABLES, rows};
use super::{FEW, Move, Row, Side, total};
use crate::operator::sql::Text;

/// How many rows are compared at once.
const COMPARED: usize = 2_000;

impl<S: Side, T: Side> Move<'_, S, T> {
    /// Compares every row of both databases, page after page. What the source notes as changed at that moment is compared
    /// when it is copied.
    pub(super) fn compare(
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
