//! Finds the files that an import reads.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// The maximum size of a file, in bytes. Larger files are skipped.
pub const MAX_BYTES: u64 = 128 << 20;

pub fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Parses an argument that names a file or a folder. Rejects URLs.
pub fn local_path(text: &str) -> Result<PathBuf, String> {
    let is_url = ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme));
    if is_url {
        return Err(format!(
            "URLs are not read: download the document first, such as with `curl -fLO {text}`, then name the file"
        ));
    }
    Ok(PathBuf::from(text))
}

/// A file to read.
#[derive(Debug, Clone)]
pub struct Source {
    /// The path for messages: the argument, or a path below it.
    pub path: PathBuf,
    /// The imported folder. References in the file must stay within it.
    pub root: PathBuf,
    /// The size of the file when it was found.
    pub bytes: u64,
}

/// The files of the arguments.
#[derive(Debug, Default)]
pub struct Sources {
    /// The files, sorted by path and without duplicates.
    pub files: Vec<Source>,
    /// Unreadable folders and links below the arguments, with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
    seen: HashSet<PathBuf>,
}

/// Finds the files among the arguments, and the `.json`, `.yaml` and `.yml` files below the folders
/// among them. Follows links, visits each folder once, and skips names that begin with a dot.
pub fn find(arguments: &[PathBuf]) -> Result<Sources> {
    let mut sources = Sources::default();
    for path in arguments {
        let meta = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        if meta.is_dir() {
            fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
            sources.walk(path);
        } else {
            fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            sources.add(path, &parent_folder(path), meta.len());
        }
    }
    if !arguments.is_empty() && sources.files.is_empty() && sources.unreadable.is_empty() {
        let names: Vec<String> = arguments.iter().map(|path| path.display().to_string()).collect();
        bail!("no .json, .yaml or .yml file in {}", names.join(", "));
    }
    sources.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

impl Sources {
    fn add(&mut self, path: &Path, root: &Path, bytes: u64) {
        let canonical = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if self.seen.insert(canonical) {
            self.files.push(Source { path: path.to_owned(), root: root.to_owned(), bytes });
        }
    }

    fn walk(&mut self, root: &Path) {
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            let first_time = fs::canonicalize(&folder).map(|canonical| self.seen.insert(canonical));
            let entries = match first_time {
                Ok(true) => fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>),
                Ok(false) => continue,
                Err(e) => Err(e),
            };
            let mut entries = match entries {
                Ok(entries) => entries,
                Err(e) => {
                    self.unreadable.push((folder, e.to_string()));
                    continue;
                }
            };
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                if !entry.file_name().to_string_lossy().starts_with('.') {
                    self.enter(&entry.path(), root, &mut folders);
                }
            }
        }
    }

    fn enter(&mut self, path: &Path, root: &Path, folders: &mut Vec<PathBuf>) {
        let is_document = path.extension().is_some_and(|ext| {
            ["json", "yaml", "yml"].iter().any(|known| ext.eq_ignore_ascii_case(known))
        });
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => folders.push(path.to_owned()),
            Ok(meta) if meta.is_file() && is_document => self.add(path, root, meta.len()),
            Err(e) if is_document => self.unreadable.push((path.to_owned(), e.to_string())),
            _ => {}
        }
    }
}

fn parent_folder(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or_else(|| PathBuf::from("."), Path::to_owned)
}

pub fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let file = fs::File::open(path)?;
    let size = file.metadata().map_or(0, |meta| meta.len()).min(MAX_BYTES);
    let mut bytes = Vec::with_capacity(usize::try_from(size.saturating_add(1)).unwrap_or(0));
    file.take(MAX_BYTES.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("larger than {} MiB", MAX_BYTES >> 20),
        ));
    }
    Ok(bytes)
}
