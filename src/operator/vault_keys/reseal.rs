//! `vault-keys reseal`: re-encrypts, with the first key, everything that other keys have encrypted.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;

use super::KeySource;
use super::reported::{names, read_reports};
use super::rotate::missing;
use super::usage::key_usages;
use crate::credentials::VaultKeys;
use crate::credentials::reencrypt::{Progress, reencrypt as some};
use crate::credentials::reports::{Readiness, Report, readiness};
use crate::operator::d1::Database;
use crate::operator::ports::{OperatorPorts, wait};
use crate::operator::shards::Shards;
use crate::operator::storage::{Backend, Storage};
use crate::operator::time::Moment;

/// The number of rows per batch in local storage.
const BATCH_SIZE: u64 = 100;
/// The number of rows per batch through wrangler. It is smaller because a batch must fit into one
/// command line.
const BATCH_SIZE_WRANGLER: u64 = 10;

#[derive(Debug, Clone, Args)]
pub struct Reseal {
    #[command(flatten)]
    source: KeySource,
}

/// Re-encrypts the rows of a database.
fn reseal_database(database: Database, keys: &VaultKeys) -> Result<Progress> {
    let is_local = matches!(database.storage.backend, Backend::Local(_));
    let mut batch_size = if is_local { BATCH_SIZE } else { BATCH_SIZE_WRANGLER };
    let ports = OperatorPorts(database);
    let mut all = Progress::default();
    while !all.is_done {
        let run = match wait(some(&ports, keys, batch_size)) {
            // Large rows may together be too long for a command line.
            Err(_) if batch_size == BATCH_SIZE_WRANGLER => {
                batch_size = 1;
                continue;
            }
            run => run?,
        };
        let is_stuck = run.reencrypted == 0;
        all = Progress { reencrypted: all.reencrypted.saturating_add(run.reencrypted), ..run };
        if is_stuck {
            break;
        }
    }
    Ok(all)
}

/// Fails with instructions if a running service of the database does not have the key.
fn ensure_key_deployed(
    reports: &[Report],
    key: &str,
    source: &KeySource,
    file: &str,
) -> Result<()> {
    let id = key.split(':').next().unwrap_or_default();
    let instruction = if source.storage_target.remote {
        format!("deploy the keys with `npx wrangler secret put VAULT_KEYS < {file}`")
    } else if source.file.is_none() {
        "`npm start` reloads this file when it changes".to_owned()
    } else {
        format!("`npm start` reads them from .dev.vars: copy the contents of {file} there")
    };
    let again = "A service reports its keys each minute: wait two minutes, then run this again";
    match readiness(reports, key) {
        Readiness::Ready => Ok(()),
        Readiness::NoReports if source.storage_target.remote => bail!(
            "no service has reported its keys in the last hour. Deploy it with `npm run deploy`. {again}"
        ),
        Readiness::NoReports => bail!(
            "no service has reported its keys in the last hour, so whether it has `{id}` is not known. Start it with `npm start`. {again}"
        ),
        Readiness::Missing => bail!(
            "the running service lacks the key `{id}` of {file}, and could not decrypt what it encrypts. It has {}: {instruction}. {again}",
            names(reports)
        ),
        Readiness::Unconfirmed => bail!(
            "a service has just received the key `{id}`; other services that lack it will report within a minute. {again}"
        ),
        Readiness::Divided => bail!(
            "of the services that run on this database, some have the key `{id}` and some lack it, and could not decrypt what it encrypts. They have {}. Stop or update those that lack it. {again}",
            names(reports)
        ),
    }
}

pub fn reseal(args: &Reseal) -> Result<ExitCode> {
    let storage = Storage::open(&args.source.storage_target)?.shield_from_interrupts();
    let file = args.source.keys(&storage.project);
    let file = file.context("pass your copy of VAULT_KEYS with --file")?;
    let keys = file.read()?;
    let first = keys.first().with_context(|| format!("there are no keys in {}", file.name()))?;
    let shards = Shards::from_storage(storage);
    let all = read_reports(&shards)?;
    let key = keys.ids_and_fingerprints().into_iter().next().unwrap_or_default();
    for (database, reports) in shards.0.iter().zip(&all) {
        ensure_key_deployed(reports, &key, &args.source, &file.name())
            .with_context(|| format!("nothing was re-encrypted in {}", database.shard.binding()))?;
    }
    let mut all = Progress::default();
    for database in &shards.0 {
        let Progress { reencrypted, damaged, .. } = reseal_database(database.clone(), &keys)?;
        all.reencrypted = all.reencrypted.saturating_add(reencrypted);
        all.damaged = all.damaged.saturating_add(damaged);
    }
    let rows = |count: u64| if count == 1 { "1 row".into() } else { format!("{count} rows") };
    println!("{} re-encrypted with `{first}`", rows(all.reencrypted));
    let lines = missing(&keys, &key_usages(&shards, Moment::now())?, &[]);
    if all.damaged > 0 {
        eprintln!(
            "{} can't be decrypted although {} has the key of that id: changed, moved, or encrypted with another key of the same id.",
            rows(all.damaged),
            file.name()
        );
    }
    if !lines.is_empty() {
        eprintln!(
            "keys that are still needed are missing in {}:\n{}",
            file.name(),
            lines.join("\n")
        );
    }
    let is_good = lines.is_empty() && all.damaged == 0;
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
