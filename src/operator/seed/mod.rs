//! `seed`: fills an account with made-up connections, to try the vault at the size that one expects.
//!
//! | file | what it knows |
//! |---|---|
//! | [`platforms`] | what there is to connect to, from the catalog |
//! | [`generate`], [`words`] | what a connection looks like |
//! | [`statements`], [`load`] | the SQL, and how it gets into the database |
//! | [`progress`] | what is told meanwhile |

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use clap::Args;
use indicatif::HumanCount;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::d1::Database;
use super::keys;
use super::when::Moment;
use super::wrangler::{Place, Wrangler};
use crate::access::Environment;
use crate::importer::folder::Folder;
use generate::Generator;
use load::Loader;
use platforms::Platforms;
use statements::{Before, Owner};

pub mod generate;
pub mod load;
pub mod platforms;
pub mod progress;
pub mod statements;
pub mod words;

/// 128 and the number of SIGINT: how shells know that somebody pressed Ctrl-C.
const INTERRUPTED: u8 = 130;

/// Fill an account with made-up connections, to try the vault at the size that you expect
///
/// They are connections to the platforms of the catalog, a few of which have most, by users, teams, organizations and
/// projects, with names in many scripts, tags, states, and ages of up to two years. Run again, it adds more.
/// Ctrl-C ends it after the batch at work, and it says how many are in. While a batch goes in, nobody else can write to
/// the same database: on this machine for about a second, at Cloudflare for as long as the import of a file takes.
#[derive(Debug, Clone, Args)]
pub struct Seed {
    /// The account that gets them: 1–64 of A-Z a-z 0-9 . _ -
    #[arg(long, value_parser = keys::account)]
    account: String,
    /// How many, 1 to 10,000,000; at Cloudflare each one is billed as some 25 rows written
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    connections: u64,
    /// The environment that they are in
    #[arg(long, value_parser = keys::environment, value_name = "test|live", default_value = "test")]
    environment: Environment,
    /// Do nothing when the account has connections in the environment already
    #[arg(long)]
    only_if_none: bool,
    /// Make the same ones as another run with this number on an equal database, creation times apart; without it, each
    /// run makes others
    #[arg(long = "seed", value_name = "N")]
    start: Option<u64>,
    /// The catalog folder
    #[arg(long, value_name = "DIR", default_value = ".catalog")]
    catalog: PathBuf,
    #[command(flatten)]
    place: Place,
    /// Do what --remote does, on this machine: so that it can be tested
    #[arg(long, hide = true)]
    by_file: bool,
}

/// Runs `seed`.
///
/// # Errors
/// Whatever stopped it, in words for the operator.
pub fn run(args: &Seed) -> Result<ExitCode> {
    let platforms = Platforms::read(&Folder(args.catalog.clone()))?;
    let wrangler = Wrangler::new(&args.place)?.undisturbed();
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stopped)).context("waiting for signals")?;
    }
    let answers =
        Database(wrangler.clone()).query(&statements::before(&args.account, args.environment))?;
    let before: Before = answers.rows(0)?.pop().context("the database counts nothing")?;
    let tenant =
        format!("account {} ({}) {}", args.account, args.environment.as_str(), args.place.name());
    if args.only_if_none && before.connections > 0 {
        eprintln!("Nothing to do: {tenant} has {}.", counted(before.connections));
        return Ok(ExitCode::SUCCESS);
    }
    // A row's number is never below the one in its identity, so what comes after the last row is unused.
    let first = before.last.saturating_add(1);
    let seed = args.start.map_or_else(random, Ok)?;
    let mut generator = Generator::new(&platforms, seed, first, args.connections, Moment::now());
    let owner = Owner {
        account: &args.account,
        environment: args.environment,
        written_by: generator.uuid(),
    };
    let mut loader = Loader::new(wrangler, args.by_file)?;
    let mut progress = progress::Progress::new(args.connections);
    let mut done = 0;
    let mut result = Ok(());
    while result.is_ok() && done < args.connections && !stopped.load(Ordering::Relaxed) {
        let batch = args.connections.saturating_sub(done).min(loader.batch());
        let rows = generator.by_ref().take(usize::try_from(batch)?);
        result = loader.load(&statements::insert(rows, owner));
        if result.is_ok() {
            done = done.saturating_add(batch);
            progress.done(done);
        }
    }
    let took = progress.end().as_secs_f64();
    let made = counted(done);
    result.map_err(|error| explained(error, done))?;
    if done < args.connections {
        let rest = args.connections.saturating_sub(done);
        eprintln!(
            "Stopped: {made} made, each of them whole. For the rest: the same with --connections {rest}"
        );
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let had = HumanCount(before.connections);
    eprintln!("Made {made} in {took:.1} s: {tenant}, which had {had} before.");
    Ok(ExitCode::SUCCESS)
}

/// `1 connection`, `1,000 connections`
fn counted(connections: u64) -> String {
    format!("{} connection{}", HumanCount(connections), if connections == 1 { "" } else { "s" })
}

/// An error with what stands in spite of it.
fn explained(error: anyhow::Error, done: u64) -> anyhow::Error {
    let at_once = format!("{error:#}").contains("UNIQUE constraint failed");
    let why = if at_once {
        "; another seed is at work here, so wait for it and run this again"
    } else {
        ""
    };
    error.context(format!("stopped with {} made{why}", counted(done)))
}

fn random() -> Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).context("randomness from the system")?;
    Ok(u64::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests;
