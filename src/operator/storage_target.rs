//! The arguments that select the storage of a command: on this machine or at Cloudflare.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use super::project::Project;

/// The environment variable that overrides wrangler's folder of local storage. Tests use it for
/// temporary copies.
const PERSIST_TO: &str = "CONNECTOR_VAULT_PERSIST_TO";

#[derive(Debug, Clone, Default, Args)]
pub struct StorageTarget {
    /// Use the storage on this machine, which `npm start` serves from (the default)
    #[arg(long, conflicts_with = "remote")]
    pub local: bool,
    /// Use the storage at Cloudflare that wrangler.toml names
    #[arg(long)]
    pub remote: bool,
    /// The folder of the local storage. Default: the environment variable `CONNECTOR_VAULT_PERSIST_TO`, or
    /// .wrangler/state
    #[arg(long, value_name = "DIR", conflicts_with = "remote")]
    pub persist_to: Option<PathBuf>,
    /// Access this machine's storage through wrangler, like Cloudflare's; for tests
    #[arg(long, hide = true, conflicts_with = "remote")]
    pub by_wrangler: bool,
}

impl StorageTarget {
    /// Where the storage is, for messages.
    pub const fn name(&self) -> &'static str {
        if self.remote { "at Cloudflare" } else { "on this machine" }
    }

    /// The folder of the local storage.
    pub fn folder(&self, project: &Project) -> Result<PathBuf> {
        let given = self.persist_to.clone().or_else(|| env::var_os(PERSIST_TO).map(PathBuf::from));
        let folder = given.unwrap_or_else(|| project.root().join(".wrangler").join("state"));
        std::path::absolute(&folder).with_context(|| format!("the folder {}", folder.display()))
    }
}
