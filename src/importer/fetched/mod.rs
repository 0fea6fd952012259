//! The documents of `sources.toml`: part of this project, or downloaded into a cache by `catalog
//! fetch`.
//!
//! [`list`] parses `sources.toml`, [`cache`] manages the folder of documents, [`describe`] extracts
//! the properties that are compared, [`pin`] records accepted documents, [`command`] implements
//! `catalog fetch`, and [`coverage`] implements `catalog list --coverage`.

pub mod cache;
pub mod command;
pub mod coverage;
pub mod describe;
pub mod list;
mod pin;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::hash;
use super::licence::{self, LicenceFilter};
pub use super::paths::PathFilter;
use crate::catalog::detail::License;
use cache::Cache;
use list::SourceList;

/// The default file.
pub const DEFAULT_LIST: &str = "sources.toml";

/// The document of a platform: part of this project, or downloaded and accepted.
#[derive(Debug, Clone, Default)]
pub struct FetchedDocument {
    /// The platform, regardless of what the document declares.
    pub platform: String,
    /// The address in `sources.toml`.
    pub address: String,
    /// The local file.
    pub path: PathBuf,
    /// The SHA-256 of the content, in hexadecimal.
    pub sha256: String,
    /// The operations that belong to the platform.
    pub paths: PathFilter,
    pub licence: String,
    /// The URL of the GraphQL endpoint, if the document is a GraphQL schema.
    pub endpoint: Option<String>,
    /// Whether the document is the description that the operator's instance publishes.
    pub is_instance: bool,
    /// Whether the document is imported regardless of its licence.
    pub accepts_any_licence: bool,
}

impl FetchedDocument {
    /// Whether an import with this licence filter includes the document.
    pub fn is_included(&self, filter: LicenceFilter) -> bool {
        self.is_instance
            || self.accepts_any_licence
            || filter == LicenceFilter::Any
            || licence::is_open_name(&self.licence)
    }

    /// The licence in `sources.toml`, for a document without a licence.
    pub fn license(&self) -> Option<License> {
        let name = Some(self.licence.clone()).filter(|_| !self.is_instance);
        name.map(|name| License { name: Some(name), url: None })
    }
}

/// The documents of this project and the accepted documents in the cache, if given. Also returns
/// the platforms whose accepted document is not in the cache.
pub fn available(
    list: &SourceList,
    cache: Option<&Cache>,
) -> Result<(Vec<FetchedDocument>, Vec<String>)> {
    let mut documents = Vec::new();
    let mut missing = Vec::new();
    for (platform, source) in &list.0 {
        let (path, sha256) = match (source.own_file(), cache, &source.pin) {
            (Some(path), ..) => {
                let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
                (path, hash::sha256(&bytes))
            }
            (None, Some(cache), Some(pin)) if cache.document(&pin.sha256).is_file() => {
                (cache.document(&pin.sha256), pin.sha256.clone())
            }
            (None, Some(_), _) => {
                missing.push(platform.clone());
                continue;
            }
            (None, None, _) => continue,
        };
        documents.push(FetchedDocument {
            platform: platform.clone(),
            address: source.address.clone(),
            path,
            sha256,
            paths: source.paths.clone(),
            licence: source.licence.clone(),
            endpoint: source.endpoint.clone(),
            is_instance: false,
            accepts_any_licence: false,
        });
    }
    Ok((documents, missing))
}
