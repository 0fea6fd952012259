//! The folder of documents that have been fetched. Each document is named by its content.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::importer::folder::replace;

/// The cache that is used unless another one is named.
pub const DEFAULT_CACHE: &str = ".sources";

/// The folder.
#[derive(Debug, Clone)]
pub struct Cache(pub PathBuf);

/// What was last found at each address, by address.
pub type Records = BTreeMap<String, Record>;

/// What was last found at an address. The downloader keeps more in the file, which is left as it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// The SHA-256 of the document, in hexadecimal.
    pub sha256: String,
}

impl Cache {
    /// Where a document is, or will be.
    #[must_use]
    pub fn document(&self, sha256: &str) -> PathBuf {
        self.0.join("documents").join(sha256)
    }

    fn reported(&self) -> PathBuf {
        self.0.join("reported.json")
    }

    /// The documents of which the operator has been told what they change, by address.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read_reported(&self) -> Result<Records> {
        read(&self.reported())
    }

    /// Notes of which documents the operator has been told.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_reported(&self, records: &Records) -> Result<()> {
        fs::create_dir_all(&self.0).with_context(|| self.0.display().to_string())?;
        replace(&self.reported(), &serde_json::to_vec_pretty(records)?)
    }
}

fn read(path: &Path) -> Result<Records> {
    match fs::read(path) {
        Ok(json) => serde_json::from_slice(&json).with_context(|| path.display().to_string()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Records::new()),
        Err(e) => Err(e).with_context(|| path.display().to_string()),
    }
}
