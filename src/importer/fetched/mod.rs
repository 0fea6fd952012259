//! Documents of `sources.toml`, which `catalog fetch` downloads into a cache.
//!
//! [`list`] is the file, [`cache`] the folder of documents, [`describe`] extracts what must be compared, [`pin`]
//! records which document was accepted, [`command`] is `catalog fetch`, and [`coverage`] is `catalog list --coverage`.

pub mod cache;
pub mod command;
pub mod coverage;
pub mod describe;
pub mod list;
mod pin;

use std::path::PathBuf;

use super::licence::{self, Wanted};
pub use super::paths::PathFilter;
use crate::catalog::detail::License;
use cache::Cache;
use list::SourceList;

/// The default file.
pub const DEFAULT_LIST: &str = "sources.toml";

/// A document that has been downloaded and accepted, for one platform.
#[derive(Debug, Clone, Default)]
pub struct FetchedDocument {
    /// The platform, regardless of what the document declares.
    pub platform: String,
    /// Where it was downloaded from.
    pub address: String,
    /// The local file.
    pub path: PathBuf,
    /// The SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// Which of its operations belong to the platform.
    pub paths: PathFilter,
    pub licence: String,
}

impl FetchedDocument {
    /// Whether an import with this licence filter includes it.
    pub fn is_taken(&self, wanted: Wanted) -> bool {
        wanted == Wanted::Any || licence::is_open_name(&self.licence)
    }

    /// The licence, for a document that does not state one itself.
    pub fn license(&self) -> License {
        License { name: Some(self.licence.clone()), url: None }
    }
}

/// The accepted documents of a list that are in the cache, and the platforms whose document is missing.
pub fn cached(list: &SourceList, cache: &Cache) -> (Vec<FetchedDocument>, Vec<String>) {
    let mut documents = Vec::new();
    let mut missing = Vec::new();
    for (platform, source) in &list.0 {
        let pin = source.pin.as_ref().filter(|pin| cache.document(&pin.sha256).is_file());
        let Some(pin) = pin else {
            missing.push(platform.clone());
            continue;
        };
        documents.push(FetchedDocument {
            platform: platform.clone(),
            address: source.address.clone(),
            path: cache.document(&pin.sha256),
            sha256: pin.sha256.clone(),
            paths: source.paths.clone(),
            licence: source.licence.clone(),
        });
    }
    (documents, missing)
}
