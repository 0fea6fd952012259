//! Locates files that ship with this program: facts about platforms, scripts and the schema. They
//! are in the project's folder or, if the npm package connector-vault-server runs this program, in
//! that package.

use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};
use serde::Serialize;

/// The environment variable with the folder of the npm package, set by `scripts/lib/run.mjs`.
const PACKAGE_ENV: &str = "CONNECTOR_VAULT_PACKAGE";

/// The folder of the npm package that runs this program, if any.
pub fn package() -> Option<PathBuf> {
    env::var_os(PACKAGE_ENV).map(PathBuf::from)
}

/// The path of a shipped file: in the current folder if it exists there, otherwise in the package.
pub fn shipped_path(name: &Path) -> PathBuf {
    first(name, package().as_deref())
}

/// Starts a shipped script with Node, and writes the request to its stdin as JSON. The caller reads
/// its stdout.
pub fn start_script(script: &str, request: &impl Serialize) -> Result<Child> {
    let mut child = Command::new("node")
        .arg(shipped_path(Path::new(script)))
        // Node ignores HTTPS_PROXY without this variable.
        .env("NODE_USE_ENV_PROXY", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{script} could not be started"))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(&serde_json::to_vec(request)?)?;
    }
    Ok(child)
}

fn first(name: &Path, package: Option<&Path>) -> PathBuf {
    match package {
        Some(package) if !name.exists() => package.join(name),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_the_current_folder_takes_precedence() {
        let package = Path::new("/package");
        // The current folder of tests is the project's folder.
        let present = Path::new("providers.toml");
        assert_eq!(first(present, Some(package)), present);
        let absent = Path::new("absent.toml");
        assert_eq!(first(absent, Some(package)), package.join(absent));
        assert_eq!(first(absent, None), absent);
    }
}
