//! The catalog folder: `segments/<id>`; for each version, the manifest `versions/<id>.json` and the
//! record `versions/<id>.current`; and `current.json`, which identifies the current version.
//!
//! All files except `current.json` are named by a hash of their content and written before
//! `current.json`. Each file is written under a temporary name and renamed, so that an interrupted
//! import leaves the old catalog intact.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context as _, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::cli::DEFAULT_OUT;
use super::parallel;
use crate::catalog::format::stored::{FORMAT, Manifest, SegmentId};
use crate::catalog::write::{self, Platform, PreparedList, Sizes};

/// The content of `current.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentVersion {
    /// The [`FORMAT`] of the version.
    pub format: u32,
    /// The id of the version.
    pub version: SegmentId,
}

/// The member of `current.json` that exists in every format.
#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

#[derive(Debug, Clone)]
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn segment(&self, id: SegmentId) -> PathBuf {
        self.0.join("segments").join(id.to_string())
    }

    /// The path of a version's manifest.
    pub fn version(&self, id: SegmentId) -> PathBuf {
        self.0.join("versions").join(format!("{id}.json"))
    }

    /// The path of a version's record, which is published as `current`.
    pub fn record(&self, id: SegmentId) -> PathBuf {
        self.0.join("versions").join(format!("{id}.current"))
    }

    /// The path of `current.json`.
    pub fn current(&self) -> PathBuf {
        self.0.join("current.json")
    }

    /// The path of the report, which lists every skipped file.
    pub fn report(&self) -> PathBuf {
        self.0.join("report.txt")
    }

    /// Reads `current.json`.
    pub fn read_current(&self) -> Result<CurrentVersion> {
        let path = self.current();
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound && self.0 == Path::new(DEFAULT_OUT) => {
                bail!(
                    "there is no catalog in {DEFAULT_OUT} yet: `npm start` puts the sample catalog there; to make one of your own documents, use `npm run catalog -- import FILE|DIR`"
                )
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => bail!(
                "there is no catalog in {}: make one with `npm run catalog -- import FILE|DIR`",
                self.0.display()
            ),
            Err(e) => return Err(e).with_context(|| format!("cannot read {}", path.display())),
        };
        let FormatOnly { format } = parse_json(&path, &bytes)?;
        if format != FORMAT {
            bail!(
                "{}: another commit wrote this catalog, in format {format}; this program reads format {FORMAT}. Nothing was changed. Import your documents again with `npm run catalog -- import FILE|DIR`, or delete the catalog, so that `npm start` makes the sample catalog:\n  rm -rf '{}'",
                path.display(),
                self.0.display(),
            );
        }
        parse_json(&path, &bytes)
    }

    pub fn read_record(&self, id: SegmentId) -> Result<Vec<u8>> {
        read_verified(&self.record(id), id)
    }

    pub fn read_version(&self, id: SegmentId) -> Result<Manifest> {
        let path = self.version(id);
        parse_json(&path, &read(&path)?)
    }

    pub fn read_segment(&self, id: SegmentId) -> Result<Vec<u8>> {
        read_verified(&self.segment(id), id)
    }

    /// Creates the folder, and locks it against other imports until the returned file is dropped.
    pub fn lock(&self) -> Result<fs::File> {
        for folder in [self.0.clone(), self.0.join("segments"), self.0.join("versions")] {
            fs::create_dir_all(&folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        let path = self.0.join(".lock");
        let lock =
            fs::File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(fs::TryLockError::WouldBlock) => {
                bail!("another import is writing to {}", self.0.display())
            }
            Err(fs::TryLockError::Error(e)) => {
                Err(e).with_context(|| format!("cannot lock {}", path.display()))
            }
        }
    }

    /// Writes a catalog, makes it the current version, and deletes unused files.
    pub fn write(&self, platforms: &[Platform]) -> Result<Manifest> {
        let version =
            serialize_platforms(platforms, |id, bytes| replace(&self.segment(id), bytes))?;
        let manifest = version.manifest;
        replace(&self.record(manifest.version), &version.current)?;
        replace(&self.version(manifest.version), &json(&manifest)?)?;
        let current_version = CurrentVersion { format: FORMAT, version: manifest.version };
        replace(&self.current(), &json(&current_version)?)?;
        self.delete_unused(&manifest);
        Ok(manifest)
    }

    /// Deletes files that the current version does not use. Ignores failures, which are harmless.
    fn delete_unused(&self, manifest: &Manifest) {
        let segments: BTreeSet<SegmentId> = manifest.segments.iter().copied().collect();
        let is_in_use = |name: &str| match version_id(name) {
            Some(version) => version.parse() == Ok(manifest.version),
            None => name.parse().is_ok_and(|id| segments.contains(&id)),
        };
        for folder in ["segments", "versions"] {
            let entries = fs::read_dir(self.0.join(folder)).into_iter().flatten().flatten();
            for entry in entries {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let is_catalog_file = name.contains(TEMPORARY_SUFFIX)
                    || version_id(&name).unwrap_or(&name).parse::<SegmentId>().is_ok();
                if is_catalog_file && !is_in_use(&name) {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
        let _ = fs::remove_file(temporary_path(&self.current()));
    }
}

/// Serializes the platforms in parallel, and passes each segment to `put`.
pub fn serialize_platforms(
    platforms: &[Platform],
    put: impl FnMut(SegmentId, &[u8]) -> Result<()>,
) -> Result<write::Version> {
    let sizes = Sizes::PUBLISHED;
    let weigh = |platform: &Platform| platform.actions.len() as u64;
    let lists =
        parallel::map(platforms, weigh, u64::MAX, |platform| write::actions(platform, sizes));
    let parts: Vec<(&Platform, PreparedList)> = platforms.iter().zip(lists).collect();
    write::catalog(&parts, sizes, put)
}

/// The id in the file name of a version.
fn version_id(name: &str) -> Option<&str> {
    name.strip_suffix(".json").or_else(|| name.strip_suffix(".current"))
}

/// The suffix of incomplete files.
const TEMPORARY_SUFFIX: &str = ".part";

fn temporary_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(TEMPORARY_SUFFIX);
    PathBuf::from(name)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Reads a file whose name is a hash of its content, and verifies the hash.
fn read_verified(path: &Path, id: SegmentId) -> Result<Vec<u8>> {
    let bytes = read(path)?;
    if SegmentId::from_content(&bytes) != id {
        bail!("{}: its content does not match its name: import again", path.display());
    }
    Ok(bytes)
}

fn parse_json<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).with_context(|| format!("cannot read {}", path.display()))
}

fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Replaces a file atomically, unless its content is the same.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|existing| existing == bytes) {
        return Ok(());
    }
    let part = temporary_path(path);
    fs::write(&part, bytes)
        .and_then(|()| fs::rename(&part, path))
        .with_context(|| format!("cannot write {}", path.display()))
}
