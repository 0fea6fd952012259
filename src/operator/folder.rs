//! Reads a version from a catalog folder, and checks that it is complete and fits into Workers KV.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::catalog::format::stored::{Manifest, SegmentId};
use crate::catalog::write::{Platform, Version};
use crate::importer::check::OpenCatalog;
use crate::importer::folder::{Folder as Files, serialize_platforms};

/// The maximum size of a value in Workers KV, in bytes.
const VALUE_LIMIT: u64 = 25 * 1024 * 1024;

/// A version of a catalog folder, to be published.
#[derive(Debug)]
pub struct Folder {
    files: Files,
    /// The record that makes the service serve this version.
    pub current: Vec<u8>,
    pub manifest: Manifest,
    /// The segments of a derived version that the folder may lack.
    derived: BTreeMap<SegmentId, Vec<u8>>,
}

impl Folder {
    /// Opens the folder's current version.
    pub fn open(path: &Path) -> Result<Self> {
        let files = Files(path.to_owned());
        let current = files.read_current()?;
        let manifest = files.read_version(current.version)?;
        let record = files.read_record(current.version)?;
        ensure!(
            manifest.version == current.version,
            "{} is inconsistent: import it again",
            path.display()
        );
        for id in manifest.segments.iter().copied() {
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
        Ok(Self { files, current: record, manifest, derived: BTreeMap::new() })
    }

    /// Opens the current version and derives a version with only the given platforms.
    pub fn open_with_platforms(path: &Path, names: &[String]) -> Result<Self> {
        let files = Files(path.to_owned());
        let platforms = OpenCatalog::new(&files)?.platforms(names)?;
        Self::from_platforms(files, &platforms)
    }

    /// Opens the current version and derives a version that adds the platforms of a second folder.
    /// If both have a platform, perhaps under a former name, the first folder's is used.
    pub fn open_merged(path: &Path, second: &Path) -> Result<Self> {
        let files = Files(path.to_owned());
        let mut platforms = OpenCatalog::new(&files)?.all_platforms()?;
        let mut added = OpenCatalog::new(&Files(second.to_owned()))?.all_platforms()?;
        added.retain(|new| {
            let name = &new.connector.platform;
            !platforms
                .iter()
                .any(|old| old.connector.platform == *name || old.aliases.contains(name))
        });
        platforms.append(&mut added);
        platforms.sort_by(|a, b| a.connector.key.cmp(&b.connector.key));
        Self::from_platforms(files, &platforms)
    }

    /// Builds a version from platforms in list order.
    fn from_platforms(files: Files, platforms: &[Platform]) -> Result<Self> {
        let mut derived = BTreeMap::new();
        let Version { current, manifest } = serialize_platforms(platforms, |id, bytes| {
            derived.insert(id, bytes.to_owned());
            Ok(())
        })?;
        Ok(Self { files, current, manifest, derived })
    }

    /// The ids of all segments of the version.
    pub fn segments(&self) -> BTreeSet<SegmentId> {
        self.manifest.segments.iter().copied().collect()
    }

    /// The names of the version's platforms.
    pub fn platforms(&self) -> Result<BTreeSet<String>> {
        let opened = OpenCatalog::from_record(self.current.clone(), |id| self.read(id))?;
        Ok(opened.connectors()?.into_iter().map(|entry| entry.connector.platform).collect())
    }

    pub fn read(&self, id: SegmentId) -> Result<Vec<u8>> {
        self.derived.get(&id).map_or_else(|| self.files.read_segment(id), |bytes| Ok(bytes.clone()))
    }
}
