//! The storage that a command uses: this machine's or Cloudflare's. Only [`super::d1`] and [`super::kv`] know how to
//! access each; all other modules use these two.

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
    /// The shards that have a database, the first one first.
    pub shards: Vec<Shard>,
}

/// The access to storage.
#[derive(Debug)]
pub enum Backend {
    /// This machine's storage, through the helper process.
    Local(Local),
    /// Through wrangler: Cloudflare's storage, or this machine's in tests.
    Wrangler(Wrangler),
}

impl Storage {
    /// Opens the storage of the project around the current folder.
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

    /// The database of each shard, the first one first.
    pub fn databases(self) -> Vec<Database> {
        let storage = Rc::new(self);
        let database = |shard: &Shard| Database { storage: Rc::clone(&storage), shard: *shard };
        storage.shards.iter().map(database).collect()
    }

    /// Makes Ctrl-C reach this program only, so that a running step completes.
    pub fn shield_from_interrupts(self) -> Self {
        let Self { project, backend, shards } = self;
        let backend = match backend {
            Backend::Wrangler(wrangler) => Backend::Wrangler(wrangler.shield_from_interrupts()),
            // The helper process is outside the terminal's process group anyway.
            local @ Backend::Local(_) => local,
        };
        Self { project, backend, shards }
    }
}
