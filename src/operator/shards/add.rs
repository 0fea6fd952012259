//! `shards add`: creates databases with their tables, and adds their bindings to wrangler.toml.

use std::fs;

use anyhow::{Context, Result};
use clap::Args;
use serde::Deserialize;

use super::file::{is_placeholder, name, placeholder, with_database, with_id};
use crate::auth::Shard;
use crate::operator::keys::arguments;
use crate::operator::migrate_all;
use crate::operator::project::{Project, ids};
use crate::operator::storage::Storage;
use crate::operator::storage_target::StorageTarget;
use crate::operator::wrangler::{Wrangler, parse_json_output};

#[derive(Debug, Clone, Args)]
pub struct Add {
    /// The total number of databases. Default: one more than now
    #[arg(long, value_name = "N", value_parser = arguments::number::<u16>(1, 3844))]
    total: Option<u16>,
    #[command(flatten)]
    storage_target: StorageTarget,
}

/// A D1 database of the Cloudflare account.
#[derive(Deserialize)]
struct ListedDatabase {
    uuid: String,
    name: String,
}

pub fn add(args: &Add) -> Result<()> {
    let project = Project::find()?;
    let started = earlier_progress(&project, &args.storage_target)?;
    let total = match args.total {
        Some(total) => usize::from(total),
        // If an earlier run was interrupted, only completes it.
        None if started.is_complete => started.count.saturating_add(1),
        None => started.count,
    };
    if args.storage_target.remote {
        create_named(&project, &args.storage_target)?;
    }
    loop {
        let (file, text) = project.configuration()?;
        let ids = ids(&text)?;
        let all = ids.databases;
        if all.len() >= total {
            break;
        }
        let free = (1..).map_while(Shard::new).find(|shard| !all.contains_key(shard));
        let shard = free.context("there can't be more databases")?;
        let first = name(&text, Shard::FIRST).unwrap_or_else(|| "connector-vault".to_owned());
        let name = format!("{first}-{}", shard.number());
        let id = if args.storage_target.remote {
            create(&project, &args.storage_target, &name)?
        } else {
            placeholder(shard)
        };
        let text = with_database(&text, shard, &name, &id)?;
        fs::write(&file, text).with_context(|| format!("{}", file.display()))?;
        eprintln!("Added {} to wrangler.toml: the database {name}.", shard.binding());
    }
    let databases = Storage::open(&args.storage_target)?.databases();
    migrate_all(&databases)?;
    match databases.len() {
        1 => eprintln!("There is one database {}.", args.storage_target.name()),
        count => eprintln!("There are {count} databases {}.", args.storage_target.name()),
    }
    if args.storage_target.remote {
        eprintln!("Deploy the Worker now, so that it can reach them all: npm run deploy");
    }
    Ok(())
}

/// What earlier runs have done.
struct AddProgress {
    count: usize,
    /// Whether all databases have been created, with their tables.
    is_complete: bool,
}

fn earlier_progress(project: &Project, storage_target: &StorageTarget) -> Result<AddProgress> {
    let all = project.ids()?.databases;
    let is_created = !storage_target.remote || !all.values().any(|id| is_placeholder(id));
    let mut is_complete = is_created;
    if is_created && all.len() > 1 {
        for database in Storage::open(storage_target)?.databases() {
            is_complete &= database.shard == Shard::FIRST || database.has_tables()?;
        }
    }
    Ok(AddProgress { count: all.len(), is_complete })
}

/// Creates the databases that are in wrangler.toml but not yet at Cloudflare.
fn create_named(project: &Project, storage_target: &StorageTarget) -> Result<()> {
    for (shard, id) in project.ids()?.databases {
        if is_placeholder(&id) {
            let (file, text) = project.configuration()?;
            let name = name(&text, shard).context("a database in wrangler.toml has no name")?;
            let created = create(project, storage_target, &name)?;
            fs::write(&file, with_id(&text, shard, &id, &created)?)
                .with_context(|| format!("{}", file.display()))?;
        }
    }
    Ok(())
}

/// Returns the id of the D1 database with this name. Creates the database if it does not exist.
fn create(project: &Project, storage_target: &StorageTarget, name: &str) -> Result<String> {
    let wrangler = Wrangler::new(project.clone(), storage_target)?;
    let find = || {
        let all: Vec<ListedDatabase> =
            parse_json_output(&wrangler.account(["d1", "list", "--json"])?, '[')?;
        anyhow::Ok(all.into_iter().find(|one| one.name == name).map(|one| one.uuid))
    };
    if let Some(id) = find()? {
        return Ok(id);
    }
    wrangler.account(["d1", "create", name])?;
    find()?.with_context(|| format!("wrangler created {name}, but does not list it: wait a minute"))
}
