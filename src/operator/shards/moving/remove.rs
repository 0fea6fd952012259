//! What is removed: the old copy of an account that moved, and the new one of a move that is undone.

use anyhow::{Result, ensure};

use super::super::tables::{Number, TABLES, one};
use super::{PAGE, Side, row_of};
use crate::operator::sql::Text;

/// How long the old copy stays, in milliseconds.
const KEPT_MS: u64 = 24 * 60 * 60 * 1000;

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
pub(super) fn remove(side: &impl Side, account: &str, step: &str) -> Result<()> {
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
                "another command is moving the account"
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
