//! Helpers that import small documents and run the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use connector_vault::catalog::model::{Action, Connector};
use connector_vault::catalog::write::Platform;
use connector_vault::importer::licence::LicenceFilter;
use connector_vault::importer::overrides::Overrides;
use connector_vault::importer::report::Summary;
use connector_vault::importer::{Import, ProgressObserver, gather};

pub const FIXTURES: &str = "tests/fixtures/openapi";

pub struct NoProgress;

impl ProgressObserver for NoProgress {
    fn files_found(&self, _: usize, _: u64) {}
    fn file_read(&self, _: u64) {}
}

/// Creates an empty folder for a test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("importer").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn import_sources(
    sources: &[&str],
    licence: LicenceFilter,
    overrides: &str,
) -> (Summary, Vec<Platform>) {
    let overrides = Overrides::parse("catalog.toml", overrides).unwrap();
    let sources = sources.iter().map(PathBuf::from).collect();
    gather(&Import { sources, licence, overrides, ..Import::default() }, &NoProgress).unwrap()
}

/// Imports documents from strings, with the file names `0.yaml`, `1.yaml`, ….
pub fn import_documents(name: &str, documents: &[&str]) -> (Summary, Vec<Platform>) {
    let folder = folder(name);
    for (at, text) in documents.iter().enumerate() {
        fs::write(folder.join(format!("{at}.yaml")), text).unwrap();
    }
    import_sources(&[folder.to_str().unwrap()], LicenceFilter::Any, "")
}

pub fn indented(lines: &str) -> String {
    format!("  {}\n", lines.replace('\n', "\n  "))
}

/// Imports a document with additional lines in `info`. Returns the connector.
pub fn import_with_info(name: &str, info: &str) -> Connector {
    let info = indented(info);
    let (summary, mut platforms) =
        import_documents(name, &[&format!("openapi: 3.0.0\ninfo:\n{info}paths: {{}}\n")]);
    assert!(summary.skipped.is_empty(), "{}", summary.full());
    platforms.remove(0).connector
}

/// Imports a document with a single operation. Returns the action.
pub fn import_operation(name: &str, path: &str, method: &str, operation: &str) -> Action {
    let document = format!(
        "openapi: 3.0.0\ninfo: {{title: T, version: 1}}\npaths: {{\"{path}\": {{{method}: {operation}}}}}\n"
    );
    let (summary, mut platforms) = import_documents(name, &[&document]);
    assert!(summary.skipped.is_empty(), "{}", summary.full());
    platforms.remove(0).actions.remove(0)
}

pub fn platform_names(platforms: &[Platform]) -> Vec<&str> {
    let mut names: Vec<&str> =
        platforms.iter().map(|platform| platform.connector.platform.as_str()).collect();
    names.sort_unstable();
    names
}

/// Runs `catalog` with these arguments. Imports don't use `providers.toml`.
pub fn run(arguments: &[&str]) -> Output {
    let documents_only = arguments.first().filter(|command| **command == "import");
    Command::new(env!("CARGO_BIN_EXE_connector-vault"))
        .arg("catalog")
        .args(arguments)
        .args(documents_only.map(|_| "--no-providers"))
        .env_remove("INIT_CWD")
        .output()
        .unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
