//! The storage of a command, on this machine or at Cloudflare. [`super::d1`] and [`super::kv`]
//! implement access to both; all other modules use these two.

use std::rc::Rc;

use anyhow::Result;

use super::d1::Database;
use super::local::Local;
use super::project::Project;
use super::storage_target::StorageTarget;
use super::wrangler::Wrangler;
use crate::auth::Shard;

#[derive(Debug)]
pub struct Storage {
    pub project: Project,
    pub backend: Backend,
    /// The shards that have a database, in order of their numbers.
    pub shards: Vec<Shard>,
}

/// How storage is accessed.
#[derive(Debug)]
pub enum Backend {
    /// Storage on this machine, through the helper process.
    Local(Local),
    /// Storage through wrangler: at Cloudflare or, in tests, on this machine.
    Wrangler(Wrangler),
}

impl Storage {
    /// Opens the storage of the project in the current folder.
    pub fn open(storage_target: &StorageTarget) -> Result<Self> {
        let project = Project::find()?;
        let ids = project.ids()?;
        let shards = ids.databases.keys().copied().collect();
        let backend = if storage_target.remote || storage_target.by_wrangler {
            Backend::Wrangler(Wrangler::new(project.clone(), storage_target)?)
        } else {
            Backend::Local(Local::connect(&project, &ids, &storage_target.folder(&project)?)?)
        };
        Ok(Self { project, backend, shards })
    }

    /// The database of each shard, in order of the shard numbers.
    pub fn databases(self) -> Vec<Database> {
        let storage = Rc::new(self);
        let database = |shard: &Shard| Database { storage: Rc::clone(&storage), shard: *shard };
        storage.shards.iter().map(database).collect()
    }

    /// Makes wrangler ignore Ctrl-C, so that a running step can complete. This program still
    /// receives it.
    pub fn shield_from_interrupts(self) -> Self {
        let Self { project, backend, shards } = self;
        let backend = match backend {
            Backend::Wrangler(wrangler) => Backend::Wrangler(wrangler.shield_from_interrupts()),
            // The helper process does not receive the terminal's Ctrl-C anyway.
            local @ Backend::Local(_) => local,
        };
        Self { project, backend, shards }
    }
}
