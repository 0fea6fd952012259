//! `seed`: fills an account with generated connections, to test the vault at a realistic size.
//!
//! | module | content |
//! |---|---|
//! | [`platforms`] | the connected platforms, from the catalog |
//! | [`generate`], [`words`] | random connections |
//! | [`statements`] | the SQL |

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use clap::Args;
use indicatif::HumanCount;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::d1::with_operator_actor;
use super::keys::arguments;
use super::progress::Progress;
use super::shards::Shards;
use super::storage::{Backend, Storage};
use super::storage_target::StorageTarget;
use super::time::Moment;
use crate::importer::folder::Folder;
use crate::terms::Environment;
use generate::Generator;
use platforms::Platforms;
use statements::{SeedTarget, StateBefore};

pub mod generate;
pub mod platforms;
pub mod statements;
pub mod words;

/// The number of connections per transaction in local storage. A transaction blocks other writers
/// for at most a second.
const BATCH_LOCAL: u64 = 5_000;
/// The number of connections per transaction through wrangler. It is larger because each import has
/// an overhead of several seconds.
const BATCH_WRANGLER: u64 = 50_000;

/// The exit code that shells expect after Ctrl-C: 128 plus the number of SIGINT.
const INTERRUPTED: u8 = 130;

/// Fill an account with generated connections, to try the vault at the size you expect
///
/// The connections belong to users, teams, organizations and projects, and have names in many scripts, tags, states,
/// and ages of up to two years. As in real life, a few platforms have most of them. Another run adds more.
///
/// Ctrl-C stops after the current batch and prints how many were added. While a batch is written, other writes to the
/// database wait: for about a second on this machine, and for as long as a file import takes at Cloudflare.
#[derive(Debug, Clone, Args)]
pub struct Seed {
    /// The account that gets the connections: 1–64 characters of A-Z a-z 0-9 . _ -
    #[arg(long, value_parser = arguments::account)]
    account: String,
    /// The number of connections, 1 to 10,000,000; Cloudflare bills each one as about 32 rows written
    #[arg(long, value_name = "N", value_parser = arguments::number::<u64>(1, 10_000_000))]
    connections: u64,
    /// The environment of the connections
    #[arg(long, value_parser = arguments::environment, value_name = "test|live", default_value = "test")]
    environment: Environment,
    /// Do nothing if the account already has connections in this environment
    #[arg(long)]
    only_if_none: bool,
    /// Create the same connections, except for their creation times, as another run with this number on an equal
    /// database. Default: different ones in each run
    #[arg(long = "seed", value_name = "N")]
    start: Option<u64>,
    /// The catalog folder
    #[arg(long, value_name = "DIR", default_value = ".catalog")]
    catalog: PathBuf,
    #[command(flatten)]
    storage_target: StorageTarget,
}

pub fn run(args: &Seed) -> Result<ExitCode> {
    let platforms = Platforms::read(&Folder(args.catalog.clone()))?;
    let shards =
        Shards::from_storage(Storage::open(&args.storage_target)?.shield_from_interrupts());
    let database = shards.database_for(&args.account)?;
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stopped)).context("waiting for signals")?;
    }
    let results = database.query(&[statements::before(&args.account, args.environment)])?;
    let before: StateBefore = results.rows(0)?.pop().context("the database returned no counts")?;
    let tenant = format!(
        "account {} ({}) {}",
        args.account,
        args.environment.as_str(),
        args.storage_target.name()
    );
    if args.only_if_none && before.connections > 0 {
        eprintln!("Nothing to do: {tenant} has {}.", format_count(before.connections));
        return Ok(ExitCode::SUCCESS);
    }
    // The number of a row is at least the number in its identity, so numbers after the last row are
    // unused.
    let first = before.last.saturating_add(1);
    let seed = args.start.map_or_else(random, Ok)?;
    let mut generator = Generator::new(&platforms, seed, first, args.connections, Moment::now());
    let owner = SeedTarget {
        account: &args.account,
        environment: args.environment,
        written_by: generator.uuid(),
    };
    let max = match database.storage.backend {
        Backend::Local(_) => BATCH_LOCAL,
        Backend::Wrangler(_) => BATCH_WRANGLER,
    };
    let mut progress = Progress::new(0, args.connections);
    let mut done = 0;
    let mut result = Ok(());
    while result.is_ok() && done < args.connections && !stopped.load(Ordering::Relaxed) {
        let batch = args.connections.saturating_sub(done).min(max);
        let rows = generator.by_ref().take(usize::try_from(batch)?);
        result = database.load(&with_operator_actor(&statements::insert(rows, owner)));
        if result.is_ok() {
            done = done.saturating_add(batch);
            progress.done(done);
        }
    }
    let took = progress.end().as_secs_f64();
    let made = format_count(done);
    result.map_err(|error| with_progress(error, done))?;
    if done < args.connections {
        let rest = args.connections.saturating_sub(done);
        eprintln!(
            "Stopped: created {made}. For the rest, run the command again with --connections {rest}"
        );
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let had = HumanCount(before.connections);
    eprintln!("Created {made} in {took:.1} s: {tenant}, which had {had} before.");
    Ok(ExitCode::SUCCESS)
}

/// Formats a count: `1 connection` or `1,000 connections`.
fn format_count(connections: u64) -> String {
    format!("{} connection{}", HumanCount(connections), if connections == 1 { "" } else { "s" })
}

/// Adds to an error the number of connections that were stored before it.
fn with_progress(error: anyhow::Error, done: u64) -> anyhow::Error {
    let is_concurrent = format!("{error:#}").contains("UNIQUE constraint failed");
    let why = if is_concurrent {
        "; another seed is writing to this database: wait until it ends, then run this again"
    } else {
        ""
    };
    error.context(format!("stopped after creating {}{why}", format_count(done)))
}

fn random() -> Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).context("randomness from the system")?;
    Ok(u64::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests;
