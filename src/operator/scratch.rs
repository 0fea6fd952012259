//! Files that wrangler reads.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process;

use anyhow::{Context, Result};

/// A temporary file, gone when dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Writes one.
    ///
    /// # Errors
    /// When the system's folder of temporary files does not take it.
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

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing can be done about a failure here, and the system clears this folder too.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_file_goes_with_its_holder() {
        let file = Scratch::with("json", b"[]").unwrap();
        let path = file.0.clone();
        assert_eq!(fs::read(&path).unwrap(), b"[]");
        drop(file);
        assert!(!path.exists());
    }
}
