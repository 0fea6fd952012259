//! `shards move` and `shards clean`: move accounts between databases, and remove old copies.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use indicatif::{HumanCount, HumanDuration};
use serde::Deserialize;

use super::moving::{self, Move, Phase, move_state};
use super::{ACCOUNTS, Shards};
use crate::auth::Shard;
use crate::operator::d1::Database;
use crate::operator::keys::arguments::account;
use crate::operator::progress::Progress;
use crate::operator::sql::StringLiteral;
use crate::operator::storage_target::StorageTarget;
use crate::storage::capacity::FULL_PERCENT;

/// The size of a connection with all data that belongs to it, and the size of an event, in bytes.
/// Measured in docs/scaling.md.
const CONNECTION_BYTES: u64 = 2_600;
const EVENT_BYTES: u64 = 800;

#[derive(Debug, Clone, Args)]
pub struct MoveArgs {
    /// The account
    #[arg(value_parser = account)]
    account: String,
    /// The number of the database to move to: 0 is VAULT, 1 is `VAULT_1`
    #[arg(long, value_name = "N")]
    to: u16,
    /// Undo the move, before the account has switched to the other database
    #[arg(long)]
    undo: bool,
    #[command(flatten)]
    storage_target: StorageTarget,
}

#[derive(Debug, Clone, Args)]
pub struct Clean {
    /// Only the old copy of this account, however recent it is
    #[arg(value_parser = account)]
    account: Option<String>,
    #[command(flatten)]
    storage_target: StorageTarget,
}

#[derive(Deserialize)]
struct AccountRow {
    account: String,
}

/// The size of an account, for checking that it fits into the target database.
#[derive(Deserialize)]
struct Size {
    has_account: u8,
    connections: u64,
    events: u64,
}

pub fn move_account(args: &MoveArgs) -> Result<()> {
    let account = args.account.as_str();
    let shards = Shards::open(&args.storage_target)?;
    let target = Shard::new(args.to);
    let target = shards.0.iter().find(|database| Some(database.shard) == target);
    let target = target.context("there is no such database: `npm run shards -- list` shows all")?;
    let source = source(&shards, account, target)?;
    let step = Move { account, source, target };
    if args.undo {
        step.undo()?;
        eprintln!("The move is undone: the account {account} stays in {}.", source.shard.binding());
        return Ok(());
    }
    if move_state(target, account)?.is_none() && move_state(source, account)?.is_none() {
        ensure_fits(&shards, source, target, account)?;
    }
    let mut progress = ProgressReport::default();
    let moved = step.run(|phase, done, all| progress.report(phase, done, all));
    let [copying, comparing] = progress.end();
    let moved = moved?;
    eprintln!(
        "The account {account} is in {} now, with {} rows; {} were copied in {}, and all compared in {}.",
        target.shard.binding(),
        HumanCount(moved.total),
        HumanCount(moved.rows),
        HumanDuration(copying),
        HumanDuration(comparing)
    );
    eprintln!(
        "Its keys keep working. `npm run keys -- list` shows which to rotate, so that they are as fast as before."
    );
    eprintln!("The old copy stays for a day; then remove it: npm run shards -- clean");
    Ok(())
}

/// Reports the progress of each phase to the operator.
#[derive(Default)]
struct ProgressReport {
    current: Option<(Phase, Progress)>,
    durations: [Duration; 2],
}

impl ProgressReport {
    fn report(&mut self, phase: Phase, done: u64, all: u64) {
        if self.current.as_ref().is_none_or(|(current, _)| *current != phase) {
            self.stop();
            eprintln!(
                "{} rows",
                match phase {
                    Phase::Copy => "Copying",
                    Phase::Compare => "Comparing all",
                }
            );
            self.current = Some((phase, Progress::new(done, all)));
        }
        if let Some((_, progress)) = &mut self.current {
            progress.done(done);
        }
    }

    fn stop(&mut self) {
        let Some((phase, progress)) = self.current.take() else { return };
        let [copying, comparing] = &mut self.durations;
        *(if phase == Phase::Copy { copying } else { comparing }) = progress.end();
    }

    /// Ends the report. Returns the durations of copying and of comparing.
    fn end(mut self) -> [Duration; 2] {
        self.stop();
        self.durations
    }
}

/// The database that currently serves the account. If a move was interrupted before the account
/// arrived in the target, the source of that move.
fn source<'a>(shards: &'a Shards, account: &str, target: &Database) -> Result<&'a Database> {
    if let Some(row) = move_state(target, account)?.filter(|row| row.step == "arriving") {
        let from = shards.0.iter().find(|database| database.shard.number() == row.other);
        return from.context("the database that the account comes from is not bound");
    }
    for database in &shards.0 {
        let size = size(database, account)?.0;
        if size.has_account > 0 {
            ensure!(
                database.shard != target.shard,
                "the account {account} is in this database already"
            );
            return Ok(database);
        }
    }
    Err(anyhow::anyhow!("there is no account {account}"))
}

fn size(database: &Database, account: &str) -> Result<(Size, u64)> {
    let account = StringLiteral(account);
    let sql = format!(
        "SELECT {account} IN ({ACCOUNTS}) AS has_account, (SELECT ifnull(sum(n), 0) FROM connection_counts WHERE account = {account} AND dimension = 'all') AS connections, (SELECT count(*) FROM events WHERE account = {account}) AS events"
    );
    let results = database.query(&[sql])?;
    Ok((results.rows(0)?.pop().context("the database returned no counts")?, results.size))
}

fn ensure_fits(shards: &Shards, source: &Database, target: &Database, account: &str) -> Result<()> {
    let (size, _) = size(source, account)?;
    let (_, used) = self::size(target, account)?;
    let needs = size.connections.saturating_mul(CONNECTION_BYTES);
    let needs = needs.saturating_add(size.events.saturating_mul(EVENT_BYTES));
    let max = shards.max_bytes()?.saturating_mul(FULL_PERCENT).checked_div(100).unwrap_or_default();
    ensure!(
        used.saturating_add(needs) <= max,
        "the account needs about {} MB, which {} does not have: move it to another database, or add one with `npm run shards -- add`",
        needs.div_ceil(1_000_000),
        target.shard.binding()
    );
    Ok(())
}

pub fn clean(args: &Clean) -> Result<()> {
    let mut count = 0_usize;
    for database in &Shards::open(&args.storage_target)?.0 {
        let left = "SELECT account FROM account_moves WHERE step = 'left'".to_owned();
        let all: Vec<AccountRow> = database.query(&[left])?.rows(0)?;
        for AccountRow { account } in all {
            let is_named = args.account.as_ref() == Some(&account);
            if (is_named || args.account.is_none()) && moving::clean(database, &account, is_named)?
            {
                count = count.saturating_add(1);
                eprintln!("Removed the old copy of {account} from {}.", database.shard.binding());
            }
        }
    }
    if count == 0 {
        eprintln!("There is no old copy to remove.");
    }
    Ok(())
}
