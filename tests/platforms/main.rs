//! Tests 100 well-known platforms: connects to them, calls them, refreshes, revokes and reconnects,
//! through `handle()` with the catalog's real entries. Stand-ins respond for the platforms and
//! refuse what their public documentation refuses. Rows describe that documentation. They were
//! written without looking at `providers.toml`, so that a wrong fact there fails a test. A journey
//! ends at its first failure.

#![cfg(feature = "cli")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests fail by panicking"
)]

mod calls;
#[path = "../api/database.rs"]
#[expect(dead_code, reason = "the tests of the API use all of it")]
mod database;
mod documents;
mod hosts;
mod journey;
mod replays;
mod reports;
mod row;
mod service;
mod standin;
#[path = "../api/support.rs"]
#[expect(dead_code, reason = "the tests of the API use all of it")]
mod support;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::env;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::OnceLock;
use std::thread;

use connector_vault::catalog::write::Platform;
use connector_vault::importer::licence::LicenceFilter;
use connector_vault::importer::overrides::Overrides;
use connector_vault::importer::providers::Providers;
use connector_vault::importer::{Import, ProgressObserver, gather};

use journey::Inputs;
use row::Row;
use serde_json::json;
use service::Runtime;

struct NoProgress;

impl ProgressObserver for NoProgress {
    fn files_found(&self, _: usize, _: u64) {}
    fn file_read(&self, _: u64) {}
}

/// The values that users enter, from `inputs.toml`: `[platform.oauth]` and `[platform.key]`, by
/// field name. `journey.rs` interprets names that begin with `=`.
fn inputs() -> BTreeMap<String, BTreeMap<String, Inputs>> {
    toml::from_str(include_str!("inputs.toml")).unwrap()
}

/// The catalog's entries of these platforms, as an import creates them. No documents of theirs are
/// imported: the entries contain servers and auth methods, and documents would only add actions.
fn catalog() -> &'static HashMap<String, Platform> {
    static CATALOG: OnceLock<HashMap<String, Platform>> = OnceLock::new();
    CATALOG.get_or_init(|| {
        let rows = row::read_rows();
        let mut providers = Providers::read(Path::new("providers.toml")).unwrap();
        let (hosts, reports) = (hosts::read_hosts(), reports::read_reports());
        let is_tested = |name: &String| {
            rows.contains_key(name)
                || hosts.iter().any(|host| host.platform == *name)
                || reports.iter().any(|report| report.platform == *name)
        };
        providers.0.retain(|name, _| is_tested(name));
        let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("platforms");
        fs::create_dir_all(&empty).unwrap();
        // An import needs at least one document.
        let unrelated_document =
            r#"{"openapi": "3.0.0", "info": {"title": "Nobody", "version": "1"}, "paths": {}}"#;
        fs::write(empty.join("nobody.json"), unrelated_document).unwrap();
        let has_servers = providers.0.values().all(|one| !one.detail.servers.is_empty());
        assert!(has_servers, "an entry gets its servers from a document, which is not read here");
        let job = Import {
            sources: vec![empty],
            licence: LicenceFilter::Any,
            overrides: Overrides::read(Path::new("catalog.toml")).unwrap_or_default(),
            providers,
            ..Import::default()
        };
        let (_, platforms) = gather(&job, &NoProgress).unwrap();
        platforms.into_iter().map(|one| (one.connector.platform.clone(), one)).collect()
    })
}

/// Runs the journeys of one row.
fn journeys(
    name: &str,
    row: &Row,
    inputs: &BTreeMap<String, Inputs>,
    runtime: Option<&Rc<RefCell<Runtime>>>,
) -> Vec<(String, Result<(), String>)> {
    let no_inputs = Inputs::new();
    let inputs_for = |method: &str| inputs.get(method).unwrap_or(&no_inputs);
    let found = catalog().get(name);
    if let Some(ended) = &row.ended {
        let why = format!("it is offered, but its API ended on {ended}");
        let result = if found.is_some() { Err(why) } else { Ok(()) };
        return vec![("ended".to_owned(), result)];
    }
    let Some(platform) = found else {
        return vec![("catalog".to_owned(), Err("catalog: there is no such connector".to_owned()))];
    };
    let mut done = Vec::new();
    if row.oauth.is_some() {
        done.push((
            "oauth".to_owned(),
            journey::oauth(name, row, platform, inputs_for("oauth"), runtime),
        ));
    }
    if row.key.is_some() {
        done.push((
            "key".to_owned(),
            journey::key(name, row, platform, inputs_for("key"), runtime),
        ));
    }
    done
}

#[test]
fn the_rows_cover_one_hundred_platforms_with_sources() {
    let rows = row::read_rows();
    assert!(rows.values().filter(|row| row.ended.is_none()).count() >= 100);
    for (name, row) in &rows {
        assert!(!row.docs.is_empty() && !row.checked.is_empty(), "{name}");
        assert!(row.docs.iter().all(|page| page.starts_with("https://")), "{name}");
        assert!(row.ended.is_some() || row.oauth.is_some() || row.key.is_some(), "{name}");
    }
}

#[test]
fn every_platform_is_connected_called_refreshed_ended_reconnected_and_deleted() {
    catalog();
    let (rows, inputs) = (row::read_rows(), inputs());
    let rows: Vec<(&String, &Row)> = rows.iter().collect();
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let nothing = BTreeMap::new();
    let work = |index: usize| {
        let own = rows.iter().skip(index).step_by(cores);
        own.flat_map(|(name, row)| {
            let done = journeys(name, row, inputs.get(*name).unwrap_or(&nothing), None);
            done.into_iter().map(|(method, result)| ((*name).clone(), method, result))
        })
        .collect::<Vec<_>>()
    };
    let results = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..cores).map(|index| scope.spawn(move || work(index))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let report = report(&results);
    let (done, failed) = (results.len(), report.len());
    assert!(report.is_empty(), "{failed} of {done} journeys:\n{}", report.join("\n"));
}

/// Returns a line for each failed journey.
fn report(results: &[(String, String, Result<(), String>)]) -> Vec<String> {
    let failed = results.iter().filter_map(|(platform, method, result)| {
        let fault = result.as_ref().err()?;
        Some(format!("{platform}/{method}: {fault}"))
    });
    let mut report: Vec<String> = failed.collect();
    report.sort();
    report
}

#[test]
#[ignore = "lab/tests/platforms.test.mjs runs it, with the built Worker on the real runtime"]
fn every_platform_is_connected_on_the_real_runtime_too() {
    let port = env::var("CONNECTOR_VAULT_LABORATORY").unwrap().parse().unwrap();
    let runtime = Rc::new(RefCell::new(Runtime::connect(port)));
    let (rows, inputs, nothing) = (row::read_rows(), inputs(), BTreeMap::new());
    let made = rows.iter().filter(|(_, row)| row.ended.is_none()).flat_map(|(name, row)| {
        let done = journeys(name, row, inputs.get(name).unwrap_or(&nothing), Some(&runtime));
        done.into_iter().map(|(method, result)| (name.clone(), method, result))
    });
    let results: Vec<_> = made.collect();
    let mut platforms: Vec<&String> = results.iter().map(|(platform, ..)| platform).collect();
    platforms.dedup();
    runtime.borrow_mut().send_message(&json!({
        "journeys": results.len(), "platforms": platforms.len(), "failed": report(&results),
    }));
}
