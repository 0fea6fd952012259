//! The catalog folder: `segments/<id>`, `versions/<id>.json` and `current.json`.
//!
//! Everything but `current.json` is named by its content and written first, each file under another name and
//! then renamed, so that an import that is interrupted at any point leaves the old catalog whole.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context as _, Result, bail};
use serde::de::DeserializeOwned;

use crate::catalog::model::{Action, Connector};
use crate::catalog::segment::{ConnectorEntry, write_actions, write_connectors};
use crate::catalog::stored::{Current, FORMAT, Manifest, SegmentId};

/// A connector with all that is stored about it.
#[derive(Debug)]
pub struct Platform {
    /// The row.
    pub connector: Connector,
    /// Whether it is enabled for hosted authorization.
    pub authkit: bool,
    /// The rows of its action list.
    pub actions: Vec<Action>,
}

/// A catalog folder.
#[derive(Debug, Clone)]
pub struct Folder(pub PathBuf);

impl Folder {
    /// The file of a segment.
    #[must_use]
    pub fn segment(&self, id: SegmentId) -> PathBuf {
        self.0.join("segments").join(id.to_string())
    }

    /// The file of a version's manifest.
    #[must_use]
    pub fn version(&self, id: SegmentId) -> PathBuf {
        self.0.join("versions").join(format!("{id}.json"))
    }

    /// The file that names the version in use.
    #[must_use]
    pub fn current(&self) -> PathBuf {
        self.0.join("current.json")
    }

    /// The file that tells of every file that was skipped.
    #[must_use]
    pub fn report(&self) -> PathBuf {
        self.0.join("report.txt")
    }

    /// What names the version in use.
    ///
    /// # Errors
    /// When there is no catalog yet, or it cannot be read, or another version of this program wrote it.
    pub fn read_current(&self) -> Result<Current> {
        let path = self.current();
        let current: Current = match fs::read(&path) {
            Ok(bytes) => parsed(&path, &bytes)?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => bail!(
                "there is no catalog in {}: make one with `npm run catalog -- import FILE|DIR`",
                self.0.display()
            ),
            Err(e) => return Err(e).with_context(|| format!("cannot read {}", path.display())),
        };
        if current.format != FORMAT {
            bail!(
                "{}: format {}, but this program reads format {FORMAT}: import again",
                path.display(),
                current.format
            );
        }
        Ok(current)
    }

    /// A version's manifest.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read_version(&self, id: SegmentId) -> Result<Manifest> {
        let path = self.version(id);
        parsed(&path, &read(&path)?)
    }

    /// The bytes of a segment.
    ///
    /// # Errors
    /// When they cannot be read, or are not those that its name says.
    pub fn read_segment(&self, id: SegmentId) -> Result<Vec<u8>> {
        let path = self.segment(id);
        let bytes = read(&path)?;
        if SegmentId::of(&bytes) != id {
            bail!("{}: its content is not what its name says: import again", path.display());
        }
        Ok(bytes)
    }

    /// Makes the folder, and keeps other imports out of it for as long as the result lives.
    ///
    /// # Errors
    /// When the folder cannot be made, or another import is at work in it.
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

    /// Writes a catalog and makes it the current one, then removes what it does not need.
    ///
    /// # Errors
    /// When a file cannot be written; the catalog that was there stays.
    pub fn write(&self, platforms: Vec<Platform>) -> Result<Manifest> {
        let mut entries = Vec::with_capacity(platforms.len());
        let mut segments = BTreeSet::new();
        let mut action_rows = 0_u32;
        for platform in platforms {
            action_rows = action_rows.saturating_add(platform.connector.tools);
            let actions = self.put(&write_actions(platform.actions))?;
            segments.insert(actions);
            entries.push(ConnectorEntry {
                connector: platform.connector,
                authkit: platform.authkit,
                actions,
            });
        }
        let connector_rows = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        let connectors = self.put(&write_connectors(entries))?;
        let manifest = Manifest {
            format: FORMAT,
            connectors,
            actions: segments.into_iter().collect(),
            connector_rows,
            action_rows,
        };
        replace(&self.version(connectors), &json(&manifest)?)?;
        replace(&self.current(), &json(&Current { format: FORMAT, connectors })?)?;
        self.sweep(&manifest);
        Ok(manifest)
    }

    fn put(&self, bytes: &[u8]) -> Result<SegmentId> {
        let id = SegmentId::of(bytes);
        replace(&self.segment(id), bytes)?;
        Ok(id)
    }

    /// Removes what the current version does not name. What cannot be removed does no harm.
    fn sweep(&self, manifest: &Manifest) {
        let segments: BTreeSet<SegmentId> = manifest.segments().collect();
        let kept = |name: &str| match name.strip_suffix(".json") {
            Some(version) => version.parse() == Ok(manifest.connectors),
            None => name.parse().is_ok_and(|id| segments.contains(&id)),
        };
        for folder in ["segments", "versions"] {
            let entries = fs::read_dir(self.0.join(folder)).into_iter().flatten().flatten();
            for entry in entries {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let ours = name.contains(TEMPORARY)
                    || name.strip_suffix(".json").unwrap_or(&name).parse::<SegmentId>().is_ok();
                if ours && !kept(&name) {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
        let _ = fs::remove_file(temporary(&self.current()));
    }
}

/// In the name of a file that is not yet whole.
const TEMPORARY: &str = ".part";

fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(TEMPORARY);
    PathBuf::from(name)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn parsed<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).with_context(|| format!("cannot read {}", path.display()))
}

fn json(value: &impl serde::Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Puts a file in its place in one step; one that already says the same is left alone.
///
/// # Errors
/// When it cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|given| given == bytes) {
        return Ok(());
    }
    let part = temporary(path);
    fs::write(&part, bytes)
        .and_then(|()| fs::rename(&part, path))
        .with_context(|| format!("cannot write {}", path.display()))
}
