//! The operator's commands that talk to storage, through Cloudflare's `wrangler`.
//!
//! | file | what it knows |
//! |---|---|
//! | [`wrangler`], [`scratch`] | how to run wrangler, on this machine's storage or at Cloudflare, and files for it |
//! | [`d1`] | the database of keys and connections |
//! | [`kv`], [`folder`] | the catalog in Workers KV, and what of a folder goes there |
//! | [`publish`], [`versions`] | `catalog publish`, `catalog list`, `catalog prune` |
//! | [`keys`], [`rotate`] | `keys create`, `keys list`, `keys revoke`; `keys rotate` |
//! | [`key_table`], [`key_care`] | the keys' SQL; what to say of a key: its last use, its end |
//! | [`seed`] | `seed`: made-up connections |
//! | [`when`], [`sql`] | expiries and timestamps; SQL literals |

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

pub mod d1;
pub mod folder;
pub mod key_care;
pub mod key_table;
pub mod keys;
pub mod kv;
pub mod publish;
pub mod rotate;
pub mod scratch;
pub mod seed;
pub mod sql;
pub mod versions;
pub mod when;
pub mod wrangler;

/// The commands under `catalog` that talk to storage.
#[derive(Debug, Clone, Subcommand)]
pub enum CatalogCommand {
    /// Make the catalog folder what the service serves
    Publish(publish::Publish),
    /// List the versions in storage
    List(versions::List),
    /// Remove old versions from storage
    ///
    /// A version that was served until less than two minutes ago stays: some of the service still reads it.
    /// Do not run this while a catalog is published to the same storage, and after it wait a minute before you
    /// publish to Cloudflare: for so long its listings may show what is gone.
    Prune(versions::Prune),
}

/// Runs one of the commands under `catalog`.
///
/// # Errors
/// Whatever stopped it, in words for the operator.
pub fn run_catalog(command: &CatalogCommand) -> Result<ExitCode> {
    match command {
        CatalogCommand::Publish(args) => publish::publish(args)?,
        CatalogCommand::List(args) => versions::list(args)?,
        CatalogCommand::Prune(args) => versions::prune(args)?,
    }
    Ok(ExitCode::SUCCESS)
}
