//! The folder of downloaded documents. The name of each file is a hash of its content.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::importer::folder::replace;

/// The default folder.
pub const DEFAULT_CACHE: &str = ".sources";

#[derive(Debug, Clone)]
pub struct Cache(pub PathBuf);

/// The last result for each address.
pub type Records = BTreeMap<String, Record>;

/// The last result for an address. Members that only the downloader uses are preserved.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// The SHA-256 of the document, in hexadecimal.
    pub sha256: String,
}

impl Cache {
    /// The path of the document with this hash.
    pub fn document(&self, sha256: &str) -> PathBuf {
        self.0.join("documents").join(sha256)
    }

    fn reported(&self) -> PathBuf {
        self.0.join("reported.json")
    }

    /// Reads the documents whose changes have been reported to the operator, by address.
    pub fn read_reported(&self) -> Result<Records> {
        read(&self.reported())
    }

    /// Writes the documents whose changes have been reported to the operator.
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
