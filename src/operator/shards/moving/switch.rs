//! The switch step of a move: rejects changes, applies the last ones, and releases the account from
//! the source.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use serde::Deserialize;

use super::super::tables::{Number, RowCopy, RowView, TABLES, count, one, read_counts, rows};
use super::{Move, MoveDatabase, MoveState, NOW};
use crate::operator::sql::StringLiteral;

/// How long a fence rejects changes, in milliseconds.
const FENCE_MS: u64 = 5_000;
/// The maximum number of times that the command puts up the fence. It pauses and retries if the
/// fence would interrupt a token refresh.
const MAX_FENCES: usize = 100;
const PAUSE: Duration = Duration::from_millis(200);

impl<S: MoveDatabase, T: MoveDatabase> Move<'_, S, T> {
    /// Catches up, puts up the fence, compares row counts and switches.
    pub(super) fn switch(
        &self,
        state: &MoveState,
        columns: &[Vec<String>],
        copied: &mut u64,
    ) -> Result<()> {
        let key_columns = columns.last().map(Vec::as_slice).unwrap_or_default();
        for _ in 0..MAX_FENCES {
            self.catch_up_until_few(state, columns, copied)?;
            let Some(fenced) = self.fence(key_columns)? else {
                std::thread::sleep(PAUSE);
                continue;
            };
            if fenced.logged > 0 {
                while self.catch_up(state, columns)? > 0 {}
            }
            self.copy_last_rows(state, key_columns, &fenced)?;
            if self.release_source(state)? {
                return Ok(());
            }
        }
        // Without the fence, changes are logged again. The next run applies them.
        self.lower_fence()?;
        bail!(
            "the account could not be switched within 5 seconds: run the command again when there are fewer writes, or undo the move"
        )
    }

    /// Puts up the fence, and reads the rows that can't change behind it. Returns `None` during a
    /// token refresh or a code exchange, because the platform's response must be stored. This is a
    /// single query, because each query through wrangler takes two of the fence's five seconds.
    fn fence(&self, columns: &[String]) -> Result<Option<FenceSnapshot>> {
        let account = StringLiteral(self.account);
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
            keys.select(columns, RowView::Source(0), &keys.account_condition(self.account)),
        ];
        let at = sql.len();
        sql.append(&mut count(self.account));
        let results = self.source.run(&sql)?;
        if one::<Number>(&results, 1)?.n == 0 {
            return Ok(None);
        }
        Ok(Some(FenceSnapshot {
            logged: one::<Number>(&results, 2)?.n,
            newest: one::<Number>(&results, 3)?.n,
            shifts: rows(&results, 4)?,
            keys: rows(&results, 5)?,
            counts: read_counts(&results, at)?,
        }))
    }

    fn lower_fence(&self) -> Result<()> {
        let sql = format!(
            "UPDATE account_moves SET step = 'copying', fence_until = NULL WHERE account = {} AND step = 'fenced'",
            StringLiteral(self.account)
        );
        self.source.run(&[sql]).map(drop)
    }

    /// Copies the API keys and the shifts of event ids, and compares the row counts.
    fn copy_last_rows(
        &self,
        state: &MoveState,
        columns: &[String],
        fenced: &FenceSnapshot,
    ) -> Result<()> {
        ensure!(
            fenced.newest.saturating_add(state.event_shift) < state.event_end,
            "too many events were written in the meantime: undo the move"
        );
        let account = StringLiteral(self.account);
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
        let old = old.map(|old| (old.through, old.shift.saturating_add(state.event_shift)));
        for (through, shift) in old.chain([(fenced.newest, state.event_shift)]) {
            sql.push(format!("INSERT INTO event_shifts (account, through, shift) VALUES ({account}, {through}, {shift}) ON CONFLICT DO NOTHING"));
        }
        let at = sql.len();
        sql.push(keys.select(columns, RowView::Source(0), &keys.account_condition(self.account)));
        sql.append(&mut count(self.account));
        let results = self.target.run(&sql)?;
        let back: Vec<RowCopy> = rows(&results, at)?;
        ensure!(back == fenced.keys, "the keys are not the same in both databases: undo the move");
        let target_counts = read_counts(&results, at.saturating_add(1))?;
        let source_counts = &fenced.counts;
        ensure!(
            source_counts == &target_counts || fenced.logged > 0 && self.counts()? == target_counts,
            "the databases have different numbers of rows: {source_counts:?}, {target_counts:?}"
        );
        Ok(())
    }

    pub(super) fn counts(&self) -> Result<Vec<u64>> {
        read_counts(&self.source.run(&count(self.account))?, 0)
    }

    /// Releases the account from the source, if the fence is still up and no changes have been
    /// logged since.
    fn release_source(&self, state: &MoveState) -> Result<bool> {
        let (account, to) = (StringLiteral(self.account), self.target.number());
        let left = format!(
            "account IN (SELECT account FROM account_moves WHERE account = {account} AND step = 'left' AND writing IS NOT NULL)"
        );
        let mut sql = vec![format!(
            "UPDATE account_moves SET step = 'left', fence_until = NULL, left_at = {NOW}, writing = '', event_shift = {} WHERE account = {account} AND step = 'fenced' AND fence_until > {NOW} AND NOT EXISTS (SELECT 1 FROM account_changes WHERE account = {account})",
            state.event_shift
        )];
        for (name, table, is_key) in [
            ("hash", "api_keys", 1),
            ("id", "api_keys", 1),
            ("link_hash", "connect_attempts", 0),
            ("state_hash", "connect_attempts", 0),
            ("id", "agent_endpoints", 1),
            ("id", "agent_grants", 1),
            ("id", "console_sign_ins", 1),
            ("id", "console_sessions", 1),
        ] {
            sql.push(format!("INSERT INTO forwards (name, account, shard, is_key) SELECT {name}, account, {to}, {is_key} FROM {table} WHERE {left} ON CONFLICT DO UPDATE SET shard = excluded.shard"));
        }
        // Redirects the forwards from earlier moves of the account into this database.
        sql.push(format!("UPDATE forwards SET shard = {to} WHERE {left}"));
        for table in [
            "api_keys",
            "connect_attempts",
            "agent_endpoints",
            "agent_grants",
            "agent_approvals",
            "console_sign_ins",
            "console_sessions",
        ] {
            sql.push(format!("DELETE FROM {table} WHERE {left}"));
        }
        sql.push(format!("UPDATE account_moves SET writing = NULL WHERE account = {account}"));
        let at = sql.len();
        sql.push(format!(
            "SELECT count(*) AS n FROM account_moves WHERE account = {account} AND step = 'left'"
        ));
        Ok(one::<Number>(&self.source.run(&sql)?, at)?.n > 0)
    }
}

/// The rows and numbers that were read when the fence was put up.
struct FenceSnapshot {
    logged: u64,
    newest: u64,
    shifts: Vec<Shift>,
    keys: Vec<RowCopy>,
    counts: Vec<u64>,
}

/// How the event ids of an earlier database are mapped: see `event_shifts`.
#[derive(Deserialize)]
struct Shift {
    through: u64,
    shift: u64,
}
