//! Temporary files for wrangler.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process;

use anyhow::{Context, Result};

/// A temporary file that is deleted on drop.
pub struct TempFile(PathBuf);

impl TempFile {
    pub fn with(extension: &str, bytes: &[u8]) -> Result<Self> {
        let mut name = [0; 8];
        getrandom::fill(&mut name).context("randomness from the system")?;
        let name = format!(
            "connector-vault-{}-{:016x}.{extension}",
            process::id(),
            u64::from_be_bytes(name)
        );
        let file = Self(std::env::temp_dir().join(name));
        fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&file.0)
            .and_then(|mut open| open.write_all(bytes))
            .with_context(|| format!("the temporary file {}", file.0.display()))?;
        Ok(file)
    }

    pub fn path(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // A failure can't be handled here, and the system clears this folder anyway.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temp_file_is_deleted_on_drop() {
        let file = TempFile::with("json", b"[]").unwrap();
        let path = file.0.clone();
        assert_eq!(fs::read(&path).unwrap(), b"[]");
        drop(file);
        assert!(!path.exists());
    }
}
