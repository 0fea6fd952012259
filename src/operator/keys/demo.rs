//! `keys demo`: the key that `npm start` shows. It works only with this machine's storage, so keeping it in a file is
//! safe.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::arguments::scopes;
use super::create::add;
use super::table::KeyTable;
use crate::operator::place::Place;
use crate::operator::shards::Shards;
use crate::operator::storage::Storage;
use crate::operator::when::Moment;
use crate::terms::{Environment, Scope};

const ACCOUNT: &str = "demo";
/// Next to the database that knows the key, so that both are deleted together.
const FILE: &str = "v3/d1/demo-key.json";

/// `keys demo`
#[derive(Debug, Clone, Args)]
pub struct Demo {
    #[command(flatten)]
    place: Place,
}

/// What is kept in the file. It holds a secret, so it has no `Debug`.
#[derive(Serialize, Deserialize)]
struct Kept {
    id: String,
    secret: String,
}

/// Prints the demo key. Creates one when there is none, or when it no longer works.
///
/// # Errors
/// When `--remote` is given, or storage cannot be reached or written.
pub fn demo(args: &Demo) -> Result<()> {
    if args.place.remote {
        bail!(
            "the demo key is for this machine only. To create a key at Cloudflare:\n  npm run keys -- create --remote --account <name> --environment live"
        );
    }
    let storage = Storage::open(&args.place)?;
    let file = args.place.folder(&storage.project)?.join(FILE);
    let shards = Shards::of(storage);
    let kept = fs::read(&file).ok().and_then(|json| serde_json::from_slice::<Kept>(&json).ok());
    let key = match kept {
        Some(key) if works(&shards, &key)? => key,
        _ => {
            let table = KeyTable(shards.place(ACCOUNT)?);
            let (row, key) = add(&table, ACCOUNT, Environment::Test, scopes(&Scope::ALL), None)?;
            let key = Kept { id: row.id, secret: key.reveal().into() };
            keep(&file, &key).with_context(|| format!("the file {}", file.display()))?;
            key
        }
    };
    println!("{}", key.secret);
    eprintln!(
        "The demo key: account {ACCOUNT}, environment test, all scopes. It is valid on this machine only."
    );
    Ok(())
}

/// Whether a database knows the key and it is active.
fn works(shards: &Shards, key: &Kept) -> Result<bool> {
    let found = KeyTable::find(shards, &key.id)?;
    Ok(found.is_some_and(|(_, found)| found.row.state(Moment::now()) == "active"))
}

/// Writes the file atomically, readable by its owner only.
fn keep(file: &Path, key: &Kept) -> Result<()> {
    let new = file.with_extension("new");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&new)?.write_all(&serde_json::to_vec(key)?)?;
    Ok(fs::rename(&new, file)?)
}
