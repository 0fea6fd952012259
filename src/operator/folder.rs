//! A catalog folder: what `catalog import` writes and `catalog publish` reads.
//!
//! | file | value |
//! |---|---|
//! | `segments/<id>` | a segment |
//! | `versions/<id>.json` | a [`Manifest`] |
//! | `current.json` | a [`Current`] |

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::de::DeserializeOwned;

use crate::catalog::stored::{Current, FORMAT, Manifest, SegmentId};

/// Workers KV's largest value, in bytes.
const VALUE_LIMIT: u64 = 25 * 1024 * 1024;

/// The current version of a catalog folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
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
        let file = path.join("current.json");
        if !file.is_file() {
            bail!(
                "there is no catalog in {}: make one with `npm run catalog -- import <file or folder>`",
                path.display()
            );
        }
        let current: Current = read_json(&file)?;
        ensure!(
            current.format == FORMAT,
            "{} has format {}, this program reads {FORMAT}: import it again",
            path.display(),
            current.format
        );
        let manifest: Manifest =
            read_json(&path.join("versions").join(format!("{}.json", current.connectors)))?;
        ensure!(
            manifest.connectors == current.connectors,
            "{} contradicts itself: import it again",
            path.display()
        );
        let folder = Self { path: path.to_owned(), current, manifest };
        for id in folder.segments() {
            let file = folder.file(id);
            let size = fs::metadata(&file)
                .with_context(|| format!("the segment {}", file.display()))?
                .len();
            ensure!(
                size <= VALUE_LIMIT,
                "the segment {} has {size} bytes; Workers KV takes {VALUE_LIMIT}",
                file.display()
            );
        }
        Ok(folder)
    }

    /// Every segment of the version, each once.
    #[must_use]
    pub fn segments(&self) -> BTreeSet<SegmentId> {
        segments_of(&self.manifest).collect()
    }

    /// The bytes of one segment.
    ///
    /// # Errors
    /// When it cannot be read, or is not what its name says.
    pub fn read(&self, id: SegmentId) -> Result<Vec<u8>> {
        let file = self.file(id);
        let bytes = fs::read(&file).with_context(|| format!("the segment {}", file.display()))?;
        ensure!(
            SegmentId::of(&bytes) == id,
            "the segment {} is damaged: import the catalog again",
            file.display()
        );
        Ok(bytes)
    }

    fn file(&self, id: SegmentId) -> PathBuf {
        self.path.join("segments").join(id.to_string())
    }
}

/// Every segment that a version refers to.
pub fn segments_of(manifest: &Manifest) -> impl Iterator<Item = SegmentId> {
    std::iter::once(manifest.connectors).chain(manifest.actions.iter().copied())
}

fn read_json<T: DeserializeOwned>(file: &Path) -> Result<T> {
    let bytes = fs::read(file).with_context(|| file.display().to_string())?;
    serde_json::from_slice(&bytes).with_context(|| file.display().to_string())
}
