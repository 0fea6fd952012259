//! The storage that a command uses: this machine's or Cloudflare's. Only [`super::d1`] and [`super::kv`] know how to
//! talk to each; all other modules go through these two.

use std::rc::Rc;

use anyhow::Result;

use super::d1::Database;
use super::local::Local;
use super::place::Place;
use super::project::Project;
use super::wrangler::Wrangler;
use crate::auth::Shard;

/// Opened storage.
#[derive(Debug)]
pub struct Storage {
    /// The project that it belongs to.
    pub project: Project,
    /// How to reach it.
    pub way: Way,
    /// The shards that have a database, the first one first.
    pub shards: Vec<Shard>,
}

/// How storage is reached.
#[derive(Debug)]
pub enum Way {
    /// This machine's storage, through the helper that keeps it open.
    Local(Local),
    /// Through wrangler: Cloudflare's storage, or this machine's in tests.
    Wrangler(Wrangler),
}

impl Storage {
    /// Opens the storage of the project around the current folder.
    ///
    /// # Errors
    /// When there is no project, its tools are not installed, or this machine's storage cannot be opened.
    pub fn open(place: &Place) -> Result<Self> {
        let project = Project::find()?;
        let ids = project.ids()?;
        let shards = ids.databases.keys().copied().collect();
        let way = if place.remote || place.by_wrangler {
            Way::Wrangler(Wrangler::new(project.clone(), place)?)
        } else {
            Way::Local(Local::connect(&project, &ids, &place.folder(&project)?)?)
        };
        Ok(Self { project, way, shards })
    }

    /// The database of each shard, the first one first.
    #[must_use]
    pub fn databases(self) -> Vec<Database> {
        let storage = Rc::new(self);
        let database = |shard: &Shard| Database { storage: Rc::clone(&storage), shard: *shard };
        storage.shards.iter().map(database).collect()
    }

    /// Makes Ctrl-C reach this program only, so that whatever has begun comes to its end.
    #[must_use]
    pub fn undisturbed(self) -> Self {
        let Self { project, way, shards } = self;
        let way = match way {
            Way::Wrangler(wrangler) => Way::Wrangler(wrangler.undisturbed()),
            // Its helper runs outside the terminal's process group anyway.
            local @ Way::Local(_) => local,
        };
        Self { project, way, shards }
    }
}
