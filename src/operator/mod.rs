//! The operator's commands that use storage. They access local storage through a helper process,
//! and storage at Cloudflare through `wrangler`.
//!
//! | module | content |
//! |---|---|
//! | [`storage_target`], [`project`] | the choice of storage; the tools and `wrangler.toml` |
//! | [`storage`] | [`local`] storage, or Cloudflare's through [`wrangler`] |
//! | [`d1`], [`schema`] | the databases; their SQL files; `migrate` |
//! | [`kv`], [`folder`] | the catalog in Workers KV; the version in a catalog folder |
//! | [`temp_file`] | temporary files for wrangler |
//! | [`publish`], [`versions`] | `catalog publish`, `catalog list`, `catalog prune` |
//! | [`keys`] | `keys create`, `keys list`, `keys rotate`, `keys revoke`, `keys demo` |
//! | [`vault_keys`] | `vault-keys status`, `vault-keys rotate`, `vault-keys reseal` |
//! | [`agents`] | `agents list` |
//! | [`audit`] | `audit list` |
//! | [`export`] | `export`: all connections with their credentials |
//! | [`clients`] | `clients set`, `clients list`, `clients remove` |
//! | [`shards`] | `shards list`, `shards add`, `shards move`, `shards clean` |
//! | [`seed`] | `seed`: generated connections |
//! | [`inputs`] | `check-inputs`: validation of action inputs |
//! | [`progress`] | the progress bar of a seed or a move |
//! | [`time`], [`sql`] | expiries and timestamps; SQL literals |
//! | [`ports`] | the core's ports, for commands that run the service's code |

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};

use crate::auth::Shard;
use d1::Database;
use storage::Storage;
use storage_target::StorageTarget;

pub mod agents;
pub mod audit;
pub mod clients;
pub mod d1;
pub mod export;
pub mod folder;
pub mod inputs;
pub mod keys;
pub mod kv;
pub mod local;
pub mod ports;
pub mod progress;
pub mod project;
pub mod publish;
pub mod schema;
pub mod seed;
pub mod shards;
pub mod sql;
pub mod storage;
pub mod storage_target;
pub mod temp_file;
pub mod time;
pub mod vault_keys;
pub mod versions;
pub mod wrangler;

/// The commands under `catalog` that use storage.
#[derive(Debug, Clone, Subcommand)]
pub enum CatalogCommand {
    /// Publish the catalog folder, so that the service serves it
    Publish(publish::Publish),
    /// List the versions in storage
    List(versions::List),
    /// Remove old versions from storage
    ///
    /// A version that was served within the last two minutes stays, because isolates of the service may still read it. Do
    /// not run this during a publish to the same storage. Wait a minute after it before you publish to Cloudflare,
    /// whose listings can be that old.
    Prune(versions::Prune),
}

pub fn run_catalog(command: &CatalogCommand) -> Result<ExitCode> {
    match command {
        CatalogCommand::Publish(args) => publish::publish(args)?,
        CatalogCommand::List(args) => versions::list(args)?,
        CatalogCommand::Prune(args) => versions::prune(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Create the tables of all databases, or bring them up to date
///
/// `npm start` and `npm run deploy` also do this. It applies the missing files of schema/ and prints their names.
/// `wrangler d1 migrations list` shows which ones are missing.
#[derive(Debug, Clone, Args)]
pub struct Migrate {
    #[command(flatten)]
    storage_target: StorageTarget,
}

/// Applies the missing files of `schema/` and returns their names. If any database can't be
/// upgraded, changes none of them.
fn migrate_all(databases: &[Database]) -> Result<Vec<(Shard, Vec<String>)>> {
    let context = |database: &Database| database.shard.binding();
    let pending = databases
        .iter()
        .map(|database| Ok((database, database.pending().with_context(|| context(database))?)))
        .collect::<Result<Vec<_>>>()?;
    pending
        .into_iter()
        .map(|(database, files)| {
            let names = database.apply(&files).with_context(|| context(database))?;
            Ok((database.shard, names))
        })
        .collect()
}

pub fn migrate(args: &Migrate) -> Result<ExitCode> {
    for (shard, names) in migrate_all(&Storage::open(&args.storage_target)?.databases())? {
        for name in names {
            match shard {
                Shard::FIRST => println!("{name}"),
                other => println!("{}: {name}", other.binding()),
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
