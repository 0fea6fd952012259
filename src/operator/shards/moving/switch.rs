//! The switch: changes are refused, the last ones come, and the source lets go.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use serde::Deserialize;

use super::super::tables::{Copied, Number, Seen, TABLES, count, counted, one, rows};
use super::{Move, NOW, Row, Side};
use crate::operator::sql::Text;

/// How long changes are refused, in milliseconds.
const FENCE_MS: u64 = 5_000;
/// How many fences are tried, with a pause after one that would have stopped a refresh.
const FENCES: usize = 100;
const PAUSE: Duration = Duration::from_millis(200);

impl<S: Side, T: Side> Move<'_, S, T> {
    /// Catches up, fences, compares and switches.
    pub(super) fn switch(
        &self,
        row: &Row,
        columns: &[Vec<String>],
        copied: &mut u64,
    ) -> Result<()> {
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
        // Later writes are logged as before: a continued move catches up with them.
        self.lower()?;
        bail!(
            "the account could not be switched within 5 seconds: run the command again when there are fewer writes, or undo the move"
        )
    }

    /// Refuses changes from now on, and reads what can't change any more. Returns `None` while credentials are being refreshed
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
            "the databases have different numbers of rows: {here:?}, {there:?}"
        );
        Ok(())
    }

    pub(super) fn counts(&self) -> Result<Vec<u64>> {
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
            ("id", "agent_endpoints", 1),
            ("id", "agent_grants", 1),
        ] {
            sql.push(format!("INSERT INTO forwards (name, account, shard, is_key) SELECT {name}, account, {to}, {is_key} FROM {table} WHERE {left} ON CONFLICT DO UPDATE SET shard = excluded.shard"));
        }
        // Those of earlier stays here.
        sql.push(format!("UPDATE forwards SET shard = {to} WHERE {left}"));
        for table in
            ["api_keys", "connect_attempts", "agent_endpoints", "agent_grants", "agent_approvals"]
        {
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
