//! Removes the old copy of a moved account, and the new copy of an undone move.

use anyhow::{Result, ensure};

use super::super::tables::{Number, TABLES, one};
use super::{MoveDatabase, PAGE, move_state};
use crate::operator::sql::StringLiteral;

/// How long an old copy is kept, in milliseconds.
const RETENTION_MS: u64 = 24 * 60 * 60 * 1000;

/// Removes the old copy of an account if it left more than a day ago; with `at_once`, at any time.
/// Returns whether the copy was removed.
pub fn clean(database: &impl MoveDatabase, account: &str, at_once: bool) -> Result<bool> {
    let row = move_state(database, account)?.filter(|row| row.step == "left");
    let Some(row) = row else { return Ok(false) };
    if !at_once && row.left_for.is_none_or(|age| age < RETENTION_MS) {
        return Ok(false);
    }
    remove(database, account, "left")?;
    Ok(true)
}

/// Removes the rows of an account that this database does not serve, page by page, and finally the
/// state of the move.
pub(super) fn remove(database: &impl MoveDatabase, account: &str, step: &str) -> Result<()> {
    let named = StringLiteral(account);
    for table in TABLES.iter().rev() {
        loop {
            let key = table.lookup_columns().join(", ");
            let (all, found) =
                (table.account_condition(account), table.account_condition_after_lookup(account));
            let results = database.run(&[
                format!("UPDATE account_moves SET writing = '' WHERE account = {named} AND step = '{step}'"),
                format!("DELETE FROM {} WHERE {found} AND ({key}) IN (SELECT {key} FROM {} WHERE {all} LIMIT {PAGE}) AND EXISTS (SELECT 1 FROM account_moves WHERE account = {named} AND step = '{step}')", table.name, table.name),
                format!("UPDATE account_moves SET writing = NULL WHERE account = {named} AND step = '{step}'"),
                format!("SELECT count(*) AS n FROM (SELECT 1 FROM {} WHERE {all} LIMIT 1)", table.name),
            ])?;
            if one::<Number>(&results, 3)?.n == 0 {
                break;
            }
            ensure!(
                move_state(database, account)?.is_some_and(|row| row.step == step),
                "another command is moving the account"
            );
        }
    }
    // Triggers have already updated derived rows for the deleted rows. Those that remain are
    // obsolete.
    let derived = |table: &str| {
        format!(
            "DELETE FROM {table} WHERE account = {named} AND EXISTS (SELECT 1 FROM account_moves WHERE account = {named} AND step = '{step}')"
        )
    };
    database
        .run(&[
            derived("connection_tags"),
            derived("connection_counts"),
            format!("DELETE FROM event_shifts WHERE account = {named}"),
            format!("DELETE FROM account_changes WHERE account = {named}"),
            format!("DELETE FROM forwards WHERE account = {named} AND is_key = 0"),
            format!("DELETE FROM account_moves WHERE account = {named} AND step = '{step}'"),
        ])
        .map(drop)
}
