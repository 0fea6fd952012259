//! Converts `OpenAPI` documents to a catalog folder. This module depends on the format of the
//! catalog, but not on Cloudflare's storage.
//!
//! [`source`] finds the files, [`fetched`] reads the documents of `sources.toml`, and [`instance`]
//! imports the description that an instance of a platform publishes. [`parts`] joins the files of a
//! document, and [`read`] parses it to a `document`; `discovery` and `graphql` translate other
//! formats. [`connector`] and [`action`] build the rows, [`auth`] and [`server`] build a
//! connector's detail, and `detail` builds an action's detail. Then [`platform`] assigns platform
//! names, [`name`] derives display names, [`providers`] adds facts about well-known platforms,
//! [`oauth_list`] adds OAuth endpoints of other platforms, [`overrides`] applies the operator's
//! `catalog.toml`, and [`folder`] writes the catalog. [`report`] describes the outcome.
//!
//! [`check`] verifies a folder, `lost_actions` compares its well-known platforms with an older
//! folder, [`find`] searches it, [`show`] prints a platform, [`export`] prints all platforms, and
//! [`diff`] compares two folders.

pub mod action;
pub mod add;
pub mod auth;
mod auth_entry;
pub mod category;
pub mod check;
pub mod cli;
mod collisions;
pub mod connect_facts;
pub mod connector;
mod detail;
pub mod diff;
mod discovery;
mod document;
pub mod entries;
pub mod export;
pub mod fetched;
pub mod find;
pub mod folder;
mod graphql;
pub mod hash;
pub mod image;
mod import_output;
pub mod instance;
pub mod licence;
mod lost_actions;
mod markup;
pub mod name;
mod naming;
pub mod oauth_list;
mod outcome;
pub mod overrides;
mod parallel;
pub mod parts;
mod paths;
pub mod platform;
mod progress;
pub mod providers;
pub mod read;
pub mod report;
mod scalar;
pub mod server;
mod server_match;
pub mod shipped_files;
pub mod show;
pub mod source;
pub mod text;
pub mod title;
pub mod version;
pub mod yaml;

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use connector::Draft;
use fetched::FetchedDocument;
use folder::Folder;
use licence::LicenceFilter;
use naming::{display_names, names, paths_and_servers, platform};
use oauth_list::OAuthList;
use outcome::{
    ALL_PATHS, Outcome, Selection, SharedDocument, claim_parts, disambiguate_platforms,
    drop_copies, outcome, replace_by_fetched, replace_older,
};
use overrides::{Override, Overrides};
use platform::Naming;
use providers::Providers;
use read::Rejection;
use report::{Reason, Summary};
use source::{MAX_BYTES, Source, Sources};

use crate::catalog::write::Platform;

/// The arguments of an import.
#[derive(Debug, Default)]
pub struct Import {
    /// Files and folders with documents.
    pub sources: Vec<PathBuf>,
    pub licence: LicenceFilter,
    /// Files and folders whose documents are imported regardless of their licence.
    pub also: Vec<PathBuf>,
    /// Files and folders whose documents replace other documents about the same platforms.
    pub newer: Vec<PathBuf>,
    /// Documents of `sources.toml`, which replace any other document about their platforms.
    pub fetched: Vec<FetchedDocument>,
    /// Platforms whose document should be in `fetched` but has not been downloaded.
    pub missing: Vec<String>,
    /// OAuth endpoints for platforms whose documents don't contain them.
    pub oauth_list: OAuthList,
    /// Facts about well-known platforms.
    pub providers: Providers,
    pub overrides: Overrides,
}

/// Translates a document in another format to `OpenAPI`. Returns `None` for an `OpenAPI` document.
/// `endpoint` is the URL of the API if the document is a GraphQL schema.
fn translate(text: &str, endpoint: Option<&str>) -> Result<Option<String>, Rejection> {
    match endpoint {
        Some(endpoint) => graphql::openapi(text, endpoint).map(Some),
        None => discovery::openapi(text),
    }
}

/// Observes the progress of an import.
pub trait ProgressObserver: Sync {
    /// Reports the number and the total size of the files.
    fn files_found(&self, files: usize, bytes: u64);
    /// Reports that a file of this many bytes has been read.
    fn file_read(&self, bytes: u64);
}

/// The maximum total size of the files that are processed concurrently, in bytes. A single file may
/// be larger.
const MAX_BYTES_IN_PROGRESS: u64 = 2 * MAX_BYTES;

/// Imports the sources. Replaces the catalog in the folder if the import has at least one
/// connector.
pub fn import(job: &Import, folder: &Folder, watch: &dyn ProgressObserver) -> Result<Summary> {
    let sources = job.find()?;
    // Lock the folder before the slow reading, so that a concurrent import fails immediately.
    let _lock = folder.lock()?;
    let (summary, platforms) = read_sources(job, sources, watch)?;
    if !platforms.is_empty() {
        folder.write(&platforms)?;
    }
    folder::replace(&folder.report(), summary.full().as_bytes())?;
    Ok(summary)
}

/// Adds platforms to the catalog in the folder, replacing platforms with the same names. Returns
/// all platforms of the new catalog.
pub fn extend(folder: &Folder, added: Vec<Platform>) -> Result<Vec<Platform>> {
    let _lock = folder.lock()?;
    let mut platforms = check::OpenCatalog::new(folder)?.all_platforms()?;
    let names: HashSet<&str> =
        added.iter().map(|platform| platform.connector.platform.as_str()).collect();
    platforms.retain(|known| !names.contains(known.connector.platform.as_str()));
    platforms.extend(added);
    finish(&mut platforms)?;
    folder.write(&platforms)?;
    Ok(platforms)
}

/// Reads the sources and builds the platforms, sorted by connector key.
pub fn gather(job: &Import, watch: &dyn ProgressObserver) -> Result<(Summary, Vec<Platform>)> {
    read_sources(job, job.find()?, watch)
}

impl Import {
    /// Finds the files. A file that several arguments include keeps the path of the first argument,
    /// so `sources` come last.
    fn find(&self) -> Result<Sources> {
        source::find(&[&self.newer, &self.also, &self.sources].map(Vec::as_slice).concat())
    }

    /// The settings with which a file is imported.
    fn selection(&self, file: &Path) -> Selection<'static> {
        Selection {
            licence: self.licence_filter(file),
            paths: &ALL_PATHS,
            address: None,
            endpoint: None,
        }
    }

    /// The base URL of a platform in `providers.toml`.
    fn address(&self, platform: &str) -> Option<&str> {
        let first = self.providers.0.get(platform)?.detail.servers.first()?;
        Some(&first.url)
    }

    fn licence_filter(&self, file: &Path) -> LicenceFilter {
        let is_also = self.also.iter().any(|also| file.starts_with(also));
        if is_also { LicenceFilter::Any } else { self.licence }
    }
}

fn read_sources(
    job: &Import,
    sources: Sources,
    watch: &dyn ProgressObserver,
) -> Result<(Summary, Vec<Platform>)> {
    let weigh = |file: &Source| file.bytes;
    let fetched = SharedDocument::new(&job.fetched);
    let all = sources.files.iter().map(weigh).chain(fetched.iter().map(|shared| shared.bytes));
    let files = sources.files.len().saturating_add(fetched.len());
    watch.files_found(files, all.fold(0, u64::saturating_add));
    let outcomes = parallel::map(&sources.files, weigh, MAX_BYTES_IN_PROGRESS, |file| {
        let outcome = match source::bytes(&file.path) {
            Ok(bytes) => outcome(&bytes, file, job.selection(&file.path), &job.providers),
            Err(e) => (Outcome::Nothing(Reason::Unreadable(e.to_string())), BTreeSet::new()),
        };
        watch.file_read(file.bytes);
        outcome
    });
    let mut fetched: Vec<(PathBuf, Outcome)> = parallel::map(
        &fetched,
        |shared| shared.bytes,
        MAX_BYTES_IN_PROGRESS,
        |shared| {
            let outcomes = shared.outcomes(job);
            watch.file_read(shared.bytes);
            outcomes
        },
    )
    .into_iter()
    .flatten()
    .collect();
    let mut outcomes = claim_parts(outcomes, &sources.files);
    let files = sources.files.len().saturating_add(fetched.len());
    let mut summary = Summary { files, ..Summary::default() };
    summary
        .skipped
        .extend(sources.unreadable.into_iter().map(|(path, why)| (path, Reason::Unreadable(why))));
    let mut paths: Vec<PathBuf> = sources.files.into_iter().map(|file| file.path).collect();
    replace_older(&mut outcomes, &paths, &job.newer);
    replace_by_fetched(&mut outcomes, &mut fetched, &job.providers);
    for (path, outcome) in fetched {
        paths.push(path);
        outcomes.push(outcome);
    }
    disambiguate_platforms(&mut outcomes);
    drop_copies(&mut outcomes, &paths);
    let mut platforms = name(paths.into_iter().zip(outcomes).collect(), job, &mut summary)?;
    finish(&mut platforms)?;
    summary.skipped.sort_by(|a, b| a.0.cmp(&b.0));
    summary.documents.sort();
    summary.connectors = platforms.len();
    summary.platforms = platforms
        .iter()
        .map(|platform| (platform.connector.platform.clone(), platform.actions.len()))
        .collect();
    Ok((summary, platforms))
}

/// Names the documents, and applies known facts and the operator's overrides. Documents without an
/// open licence are also named, so that the names, which `catalog.toml` refers to, don't depend on
/// `--licence`.
fn name(
    outcomes: Vec<(PathBuf, Outcome)>,
    job: &Import,
    summary: &mut Summary,
) -> Result<Vec<Platform>> {
    let Import { providers, overrides, .. } = job;
    let namings: Vec<&Naming> =
        outcomes.iter().filter_map(|(_, outcome)| outcome.naming()).collect();
    let names = names(&namings, &paths_and_servers(&outcomes), providers, &mut summary.warnings);
    // If no document was imported, report that instead of a mismatch with `catalog.toml`.
    let (overrides, absent) =
        if namings.is_empty() { (Vec::new(), Vec::new()) } else { overrides.pair(&names)? };
    let shown = display_names(&outcomes, &names, &overrides, providers);
    let mut pairs = names.into_iter().zip(overrides).zip(shown);
    let mut platforms = Vec::new();
    let mut closed_entries = Vec::new();
    let mut without_document = Vec::new();
    let mut listed = Vec::new();
    let mut faults = Vec::new();
    for (path, outcome) in outcomes {
        let ((names, overrides), shown) =
            if outcome.naming().is_some() { pairs.next() } else { None }.unwrap_or_default();
        match outcome {
            Outcome::Rows { mut draft, warnings, .. } => {
                summary.warnings.extend(
                    warnings.iter().map(|warning| format!("{}: {warning}", path.display())),
                );
                if let Some(own) = names.first().filter(|name| !providers.0.contains_key(*name))
                    && job.oauth_list.complete(own, &mut draft.detail)
                {
                    listed.push(own.clone());
                }
                let platform = platform(*draft, names, shown, job, &overrides, &mut faults);
                let warning = server::refusal_warning(&platform.detail.servers);
                summary.warnings.extend(warning.map(|why| format!("{}: {why}", path.display())));
                summary.documents.push((path, platform.connector.platform.clone()));
                platforms.push(platform);
            }
            Outcome::Closed { licence, .. } => {
                let entry = names.first().filter(|name| providers.0.contains_key(*name));
                if entry.is_some() {
                    without_document.push(((names, overrides), shown));
                } else if overrides != Override::default() {
                    closed_entries.extend(names.into_iter().next());
                }
                summary.skipped.push((path, Reason::Licence(licence)));
            }
            Outcome::Nothing(reason) => summary.skipped.push((path, reason)),
        }
    }
    // Without any document, don't add the platforms of `providers.toml`.
    if !platforms.is_empty() {
        let remaining = without_document.into_iter().chain(pairs);
        platforms.extend(remaining.map(|((names, overrides), shown)| {
            platform(Draft::empty(), names, shown, job, &overrides, &mut faults)
        }));
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    summary.actions = platforms.iter().map(|platform| platform.actions.len()).sum();
    let absent: Vec<String> =
        absent.into_iter().map(|overrides| overrides.platform.clone()).collect();
    note(summary, "OAuth endpoints come from `--oauth-list` for", &listed);
    note(summary, "documents of sources.toml that have not been downloaded", &job.missing);
    note(
        summary,
        "entries of catalog.toml ignored, because their licence is not open",
        &closed_entries,
    );
    note(
        summary,
        "optional entries of catalog.toml ignored, because no document is about them",
        &absent,
    );
    Ok(platforms)
}

/// The maximum number of names in a note.
const MAX_NAMES_SHOWN: usize = 5;

fn note(summary: &mut Summary, what: &str, names: &[String]) {
    let mut shown = names.iter().take(MAX_NAMES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if let Some(more) = names.len().checked_sub(MAX_NAMES_SHOWN).filter(|more| *more > 0) {
        let _ = write!(shown, " and {more} more");
    }
    if !shown.is_empty() {
        summary.notes.push(format!("{what}: {shown}"));
    }
}

/// Sorts the platforms and assigns their ids. Returns an error if two platforms have the same name.
fn finish(platforms: &mut [Platform]) -> Result<()> {
    platforms.sort_by(|a, b| a.connector.key.cmp(&b.connector.key));
    let mut seen = HashSet::new();
    if let Some(twice) =
        platforms.iter().find(|platform| !seen.insert(platform.connector.platform.as_str()))
    {
        bail!(
            "two platforms have the name `{}`: rename one of them with `rename` in catalog.toml",
            twice.connector.platform
        );
    }
    connector::assign_ids(platforms.iter_mut().map(|platform| &mut platform.connector));
    let names: HashSet<String> =
        platforms.iter().map(|platform| platform.connector.platform.clone()).collect();
    let mut taken = HashSet::new();
    for platform in platforms {
        // A current name takes precedence over a former name of another platform.
        platform.aliases.retain(|alias| !names.contains(alias) && taken.insert(alias.clone()));
    }
    Ok(())
}
