//! `keys demo`: prints the demo key for `npm start`. The key is valid only with local storage, so
//! it can safely be stored in a file.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::arguments::scopes;
use super::create::add;
use super::table::KeyTable;
use crate::operator::shards::Shards;
use crate::operator::storage::Storage;
use crate::operator::storage_target::StorageTarget;
use crate::operator::time::Moment;
use crate::terms::{Environment, Scope};

const ACCOUNT: &str = "demo";
/// The file with the demo key. It is in the folder of the local database, so that both are deleted
/// together.
const FILE: &str = "v3/d1/demo-key.json";

#[derive(Debug, Clone, Args)]
pub struct Demo {
    #[command(flatten)]
    storage_target: StorageTarget,
}

/// The content of the demo key's file. No `Debug`, because it contains a secret.
#[derive(Serialize, Deserialize)]
struct DemoKey {
    id: String,
    secret: String,
}

/// Prints the demo key. Creates a new key if there is none or if it is no longer valid.
pub fn demo(args: &Demo) -> Result<()> {
    if args.storage_target.remote {
        bail!(
            "the demo key is for this machine only. To create a key at Cloudflare:\n  npm run keys -- create --remote --account <name> --environment live"
        );
    }
    let storage = Storage::open(&args.storage_target)?;
    let file = args.storage_target.folder(&storage.project)?.join(FILE);
    let shards = Shards::from_storage(storage);
    let stored =
        fs::read(&file).ok().and_then(|json| serde_json::from_slice::<DemoKey>(&json).ok());
    let key = match stored {
        Some(key) if is_valid(&shards, &key)? => key,
        _ => {
            let table = KeyTable(shards.database_for(ACCOUNT)?);
            let (row, key) = add(&table, ACCOUNT, Environment::Test, scopes(&Scope::ALL), None)?;
            let key = DemoKey { id: row.id, secret: key.reveal().into() };
            store(&file, &key).with_context(|| format!("the file {}", file.display()))?;
            key
        }
    };
    println!("{}", key.secret);
    eprintln!(
        "The demo key: account {ACCOUNT}, environment test, all scopes. It is valid on this machine only."
    );
    Ok(())
}

/// Whether the demo key exists in a database and is active.
fn is_valid(shards: &Shards, key: &DemoKey) -> Result<bool> {
    let found = KeyTable::find(shards, &key.id)?;
    Ok(found.is_some_and(|(_, found)| found.row.state(Moment::now()) == "active"))
}

/// Writes the demo key's file atomically, readable only by its owner.
fn store(file: &Path, key: &DemoKey) -> Result<()> {
    let new = file.with_extension("new");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&new)?.write_all(&serde_json::to_vec(key)?)?;
    Ok(fs::rename(&new, file)?)
}
