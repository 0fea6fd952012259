//! The storage that a command uses: this machine's or Cloudflare's. Only [`super::d1`] and [`super::kv`] know how to
//! talk to each; all other modules go through these two.

use anyhow::Result;

use super::local::Local;
use super::place::Place;
use super::project::Project;
use super::wrangler::Wrangler;

/// Opened storage.
#[derive(Debug)]
pub struct Storage {
    /// The project that it belongs to.
    pub project: Project,
    /// How to reach it.
    pub way: Way,
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
        let way = if place.remote || place.by_wrangler {
            Way::Wrangler(Wrangler::new(project.clone(), place)?)
        } else {
            Way::Local(Local::connect(&project, &place.folder(&project)?)?)
        };
        Ok(Self { project, way })
    }

    /// Makes Ctrl-C reach this program only, so that whatever has begun comes to its end.
    #[must_use]
    pub fn undisturbed(self) -> Self {
        let Self { project, way } = self;
        let way = match way {
            Way::Wrangler(wrangler) => Way::Wrangler(wrangler.undisturbed()),
            // Its helper runs outside the terminal's process group anyway.
            local @ Way::Local(_) => local,
        };
        Self { project, way }
    }
}
