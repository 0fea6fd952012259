//! The version that a catalog folder holds, checked to be complete and to fit into Workers KV.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::catalog::stored::{Manifest, SegmentId};
use crate::catalog::write::{Platform, Version};
use crate::importer::check::Opened;
use crate::importer::folder::{Folder as Files, lay_out};

/// The largest value that Workers KV accepts, in bytes.
const VALUE_LIMIT: u64 = 25 * 1024 * 1024;

/// The current version of a catalog folder.
#[derive(Debug)]
pub struct Folder {
    files: Files,
    /// The record that serves the version.
    pub current: Vec<u8>,
    /// What belongs to the version.
    pub manifest: Manifest,
    /// The segments that perhaps no file holds, as the version is not the folder's.
    made: BTreeMap<SegmentId, Vec<u8>>,
}

impl Folder {
    /// Opens the current version.
    ///
    /// # Errors
    /// When there is no catalog, it is in another format, or one of its files is missing or too large.
    pub fn open(path: &Path) -> Result<Self> {
        let files = Files(path.to_owned());
        let current = files.read_current()?;
        let manifest = files.read_version(current.version)?;
        let record = files.read_record(current.version)?;
        ensure!(
            manifest.version == current.version,
            "{} contradicts itself: import it again",
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
        Ok(Self { files, current: record, manifest, made: BTreeMap::new() })
    }

    /// Opens the current version, and makes another one of it with these platforms only.
    ///
    /// # Errors
    /// When there is no catalog, it cannot be read, or it has no platform of a name.
    pub fn open_part(path: &Path, names: &[String]) -> Result<Self> {
        let files = Files(path.to_owned());
        let platforms = Opened::new(&files)?.platforms(names)?;
        Self::of(files, &platforms)
    }

    /// Opens the current version, and makes another one of it with the platforms of a second folder too. A platform that the
    /// first folder has, perhaps under a former name, is not taken from the second.
    ///
    /// # Errors
    /// When there is no catalog in one of the folders, or it cannot be read.
    pub fn open_with(path: &Path, second: &Path) -> Result<Self> {
        let files = Files(path.to_owned());
        let mut platforms = Opened::new(&files)?.every_platform()?;
        let mut added = Opened::new(&Files(second.to_owned()))?.every_platform()?;
        added.retain(|new| {
            let name = &new.connector.platform;
            !platforms
                .iter()
                .any(|old| old.connector.platform == *name || old.aliases.contains(name))
        });
        platforms.append(&mut added);
        platforms.sort_by(|a, b| a.connector.key.cmp(&b.connector.key));
        Self::of(files, &platforms)
    }

    /// A version with these platforms only, in list order.
    fn of(files: Files, platforms: &[Platform]) -> Result<Self> {
        let mut made = BTreeMap::new();
        let Version { current, manifest } = lay_out(platforms, |id, bytes| {
            made.insert(id, bytes.to_owned());
            Ok(())
        })?;
        Ok(Self { files, current, manifest, made })
    }

    /// All segments of the version, each once.
    #[must_use]
    pub fn segments(&self) -> BTreeSet<SegmentId> {
        self.manifest.segments.iter().copied().collect()
    }

    /// The bytes of one segment.
    ///
    /// # Errors
    /// When it cannot be read, or its content does not match its id.
    pub fn read(&self, id: SegmentId) -> Result<Vec<u8>> {
        self.made.get(&id).map_or_else(|| self.files.read_segment(id), |bytes| Ok(bytes.clone()))
    }
}
