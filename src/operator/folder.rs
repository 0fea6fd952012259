//! The version that a catalog folder holds, as `catalog publish` needs it: whole, and fit for Workers KV.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::catalog::stored::{Current, Manifest, SegmentId};
use crate::importer::folder::Folder as Files;

/// Workers KV's largest value, in bytes.
const VALUE_LIMIT: u64 = 25 * 1024 * 1024;

/// The current version of a catalog folder.
#[derive(Debug)]
pub struct Folder {
    files: Files,
    /// The record that names the version.
    pub current: Current,
    /// What the version consists of.
    pub manifest: Manifest,
}

impl Folder {
    /// Opens the current version.
    ///
    /// # Errors
    /// When there is no catalog, it is of another format, or one of its files is missing or too large.
    pub fn open(path: &Path) -> Result<Self> {
        let files = Files(path.to_owned());
        let current = files.read_current()?;
        let manifest = files.read_version(current.connectors)?;
        ensure!(
            manifest.connectors == current.connectors,
            "{} contradicts itself: import it again",
            path.display()
        );
        for id in manifest.segments() {
            let file = files.segment(id);
            let size = fs::metadata(&file)
                .with_context(|| format!("the segment {}", file.display()))?
                .len();
            ensure!(
                size <= VALUE_LIMIT,
                "the segment {} has {size} bytes; Workers KV takes {VALUE_LIMIT}",
                file.display()
            );
        }
        Ok(Self { files, current, manifest })
    }

    /// Every segment of the version, each once.
    #[must_use]
    pub fn segments(&self) -> BTreeSet<SegmentId> {
        self.manifest.segments().collect()
    }

    /// The bytes of one segment.
    ///
    /// # Errors
    /// When it cannot be read, or is not what its name says.
    pub fn read(&self, id: SegmentId) -> Result<Vec<u8>> {
        self.files.read_segment(id)
    }
}
