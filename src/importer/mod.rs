//! Turns `OpenAPI` documents into a catalog folder. Knows the catalog's layout, and nothing of storage at Cloudflare.
//!
//! [`source`] finds the files, [`fetched`] those of `sources.toml`, [`parts`] joins those that are one document, and [`read`]
//! parses each into a `document` that holds only what the catalog is made from; `discovery` translates Google's format.
//! [`connector`] and [`action`] make the rows, [`auth`] and [`server`] what a connector's detail shows, `detail` what an
//! action's does. Then [`platform`] names the platforms and [`name`] says what people call them, [`providers`] adds what is
//! known of the well-known ones, [`oauth_list`] how users connect to some others, [`overrides`] applies the operator's
//! `catalog.toml`, and [`folder`] writes the result. [`report`] describes the outcome. [`check`] reads a folder back,
//! [`find`] searches it, [`show`] prints a platform, [`export`] all of them, and [`diff`] compares two.

pub mod action;
pub mod add;
pub mod auth;
pub mod category;
pub mod check;
mod clash;
pub mod cli;
pub mod connector;
mod detail;
pub mod diff;
mod discovery;
mod document;
pub mod entries;
pub mod export;
pub mod fetched;
pub mod find;
mod fit;
pub mod folder;
pub mod hash;
pub mod image;
pub mod licence;
mod markup;
pub mod name;
pub mod oauth_list;
pub mod overrides;
mod parallel;
pub mod parts;
mod paths;
pub mod platform;
pub mod providers;
pub mod read;
pub mod report;
mod scalar;
pub mod server;
pub mod show;
pub mod source;
pub mod stated;
pub mod text;
pub mod title;
pub mod version;
pub mod yaml;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use connector::Draft;
use document::{Document, Info};
use fetched::FetchedDocument;
use folder::Folder;
use licence::Wanted;
use name::{Names, Said};
use oauth_list::OAuthList;
use overrides::{Override, Overrides};
use paths::PathFilter;
use platform::Naming;
use providers::Providers;
use read::{Parsed, Refusal};
use report::{Reason, Summary};
use scalar::{Format, Spare};
use server::base::Base;
use source::{MAX_BYTES, Source, Sources};

use crate::catalog::detail::{ConnectorDetail, Kind, Parameters, Server};
use crate::catalog::write::Platform;

/// What to import.
#[derive(Debug, Default)]
pub struct Import {
    /// Files and folders.
    pub sources: Vec<PathBuf>,
    /// Which of their documents to take.
    pub licence: Wanted,
    /// Files and folders whose documents are taken whatever their licence.
    pub also: Vec<PathBuf>,
    /// Files and folders whose documents replace those of the same platform.
    pub newer: Vec<PathBuf>,
    /// Documents about platforms, which replace any other document about them.
    pub fetched: Vec<FetchedDocument>,
    /// Platforms whose document should be among them, but is not.
    pub missing: Vec<String>,
    /// A list of how users connect, for platforms whose documents do not say it.
    pub oauth_list: OAuthList,
    /// What is known of well-known platforms.
    pub providers: Providers,
    /// The operator's overrides.
    pub overrides: Overrides,
}

/// Follows the progress of an import.
pub trait Watch: Sync {
    /// The files to read have been found: how many, and their total size.
    fn found(&self, files: usize, bytes: u64);
    /// A file of this many bytes has been read.
    fn read(&self, bytes: u64);
}

/// The most bytes of files that are processed at any moment; a single file may be larger.
const IN_WORK: u64 = 2 * MAX_BYTES;

/// All paths of a document.
static ALL_PATHS: std::sync::LazyLock<PathFilter> = std::sync::LazyLock::new(PathFilter::default);

/// What is taken of a file.
#[derive(Clone, Copy)]
struct Take<'a> {
    wanted: Wanted,
    paths: &'a PathFilter,
    /// The address of the platform, if it is known.
    address: Option<&'a str>,
}

/// The outcome of reading one file.
enum Outcome {
    /// Its rows.
    Rows { naming: Naming, names: Names, draft: Box<Draft>, warnings: Vec<String> },
    /// Only what names it: its licence is not open.
    Closed { naming: Naming, names: Names, content: u64, licence: Option<String> },
    /// No document.
    Nothing(Reason),
}

/// Imports. The folder's catalog is replaced when there is at least one connector.
///
/// # Errors
/// When a source does not exist, `catalog.toml` does not match, or the folder cannot be written.
pub fn import(job: &Import, folder: &Folder, watch: &dyn Watch) -> Result<Summary> {
    let sources = job.find()?;
    // Locked before the reading, which takes long, so that a second import fails at once.
    let _lock = folder.lock()?;
    let (summary, platforms) = read_all(job, sources, watch)?;
    if !platforms.is_empty() {
        folder.write(&platforms)?;
    }
    folder::replace(&folder.report(), summary.full().as_bytes())?;
    Ok(summary)
}

/// Reads the sources and makes the rows, sorted by connector key.
///
/// # Errors
/// When a source does not exist, or `catalog.toml` does not match.
pub fn gather(job: &Import, watch: &dyn Watch) -> Result<(Summary, Vec<Platform>)> {
    read_all(job, job.find()?, watch)
}

impl Import {
    /// Finds the files. One that is named twice keeps its first path, so `sources` come last.
    fn find(&self) -> Result<Sources> {
        source::find(&[&self.newer, &self.also, &self.sources].map(Vec::as_slice).concat())
    }

    /// What is taken of a file that is found.
    fn take(&self, file: &Path) -> Take<'static> {
        Take { wanted: self.wanted(file), paths: &ALL_PATHS, address: None }
    }

    /// Where a platform is, if `providers.toml` knows it.
    fn address(&self, platform: &str) -> Option<&str> {
        let first = self.providers.0.get(platform)?.detail.servers.first()?;
        Some(&first.url)
    }

    fn wanted(&self, file: &Path) -> Wanted {
        let is_also = self.also.iter().any(|also| file.starts_with(also));
        if is_also { Wanted::Any } else { self.licence }
    }
}

fn read_all(job: &Import, sources: Sources, watch: &dyn Watch) -> Result<(Summary, Vec<Platform>)> {
    let weigh = |file: &Source| file.bytes;
    let fetched = Shared::of(&job.fetched);
    let all = sources.files.iter().map(weigh).chain(fetched.iter().map(|shared| shared.bytes));
    watch
        .found(sources.files.len().saturating_add(fetched.len()), all.fold(0, u64::saturating_add));
    let outcomes = parallel::map(&sources.files, weigh, IN_WORK, |file| {
        let outcome = match source::bytes(&file.path) {
            Ok(bytes) => outcome(&bytes, file, job.take(&file.path), &job.providers),
            Err(e) => (Outcome::Nothing(Reason::Unreadable(e.to_string())), BTreeSet::new()),
        };
        watch.read(file.bytes);
        outcome
    });
    let mut fetched: Vec<(PathBuf, Outcome)> = parallel::map(
        &fetched,
        |shared| shared.bytes,
        IN_WORK,
        |shared| {
            let outcomes = shared.outcomes(job);
            watch.read(shared.bytes);
            outcomes
        },
    )
    .into_iter()
    .flatten()
    .collect();
    let mut outcomes = claim_parts(outcomes, &sources.files);
    let mut summary =
        Summary { files: sources.files.len().saturating_add(fetched.len()), ..Summary::default() };
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
    tell_apart(&mut outcomes);
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

/// Names what was read, and applies what is known of the platforms and the operator's overrides. Documents without an
/// open licence take part in the naming, so that a platform has the same name, and `catalog.toml` matches, whatever
/// `--licence` says.
fn name(
    outcomes: Vec<(PathBuf, Outcome)>,
    job: &Import,
    summary: &mut Summary,
) -> Result<Vec<Platform>> {
    let Import { providers, overrides, .. } = job;
    let namings: Vec<&Naming> =
        outcomes.iter().filter_map(|(_, outcome)| outcome.naming()).collect();
    let names = names(&namings, &places(&outcomes), providers, &mut summary.warnings);
    // When nothing could be read, that is the error to report, not a mismatch of `catalog.toml`.
    let (wishes, absent) =
        if namings.is_empty() { (Vec::new(), Vec::new()) } else { overrides.pair(&names)? };
    let shown = display_names(&outcomes, &names, &wishes, providers);
    let mut pairs = names.into_iter().zip(wishes).zip(shown);
    let mut platforms = Vec::new();
    let mut closed_wishes = Vec::new();
    let mut alone = Vec::new();
    let mut listed = Vec::new();
    let mut faults = Vec::new();
    for (path, outcome) in outcomes {
        let ((names, wishes), shown) =
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
                let platform = platform(*draft, names, shown, job, &wishes, &mut faults);
                let refused = server::refused(&platform.detail.servers);
                summary.warnings.extend(refused.map(|why| format!("{}: {why}", path.display())));
                summary.documents.push((path, platform.connector.platform.clone()));
                platforms.push(platform);
            }
            Outcome::Closed { licence, .. } => {
                let entry = names.first().filter(|name| providers.0.contains_key(*name));
                if entry.is_some() {
                    alone.push(((names, wishes), shown));
                } else if wishes != Override::default() {
                    closed_wishes.extend(names.into_iter().next());
                }
                summary.skipped.push((path, Reason::Licence(licence)));
            }
            Outcome::Nothing(reason) => summary.skipped.push((path, reason)),
        }
    }
    // Without documents, nothing was imported.
    if !platforms.is_empty() {
        let without = alone.into_iter().chain(pairs);
        platforms.extend(without.map(|((names, wishes), shown)| {
            platform(Draft::empty(), names, shown, job, &wishes, &mut faults)
        }));
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    summary.actions = platforms.iter().map(|platform| platform.actions.len()).sum();
    let absent: Vec<String> = absent.into_iter().map(|wishes| wishes.platform.clone()).collect();
    note(summary, "users connect as the list says, to", &listed);
    note(summary, "documents of sources.toml that have not been fetched", &job.missing);
    note(
        summary,
        "entries of catalog.toml left aside, as their licence is not open",
        &closed_wishes,
    );
    note(
        summary,
        "optional entries of catalog.toml left aside, as no document is about them",
        &absent,
    );
    Ok(platforms)
}

/// The path and the servers of each document with a name.
fn places(outcomes: &[(PathBuf, Outcome)]) -> Vec<(&Path, &[Server])> {
    let named = outcomes.iter().filter(|(_, outcome)| outcome.naming().is_some());
    named
        .map(|(path, outcome)| match outcome {
            Outcome::Rows { draft, .. } => (path.as_path(), draft.detail.servers.as_slice()),
            // Nothing of it is imported.
            Outcome::Closed { .. } | Outcome::Nothing(_) => (path.as_path(), [].as_slice()),
        })
        .collect()
}

/// The names of the documents' platforms, then those of the entries without a document: for each the name that it gets,
/// and the one that its document gave it. A document whose servers are elsewhere than those of the entry is about another
/// platform, and a warning says so; a document of `sources.toml` is of the platform that is assigned to it.
fn names(
    namings: &[&Naming],
    places: &[(&Path, &[Server])],
    providers: &Providers,
    warnings: &mut Vec<String>,
) -> Vec<Vec<String>> {
    let taking_part: Vec<_> =
        namings.iter().copied().zip(places).filter(|(naming, _)| naming.takes_part()).collect();
    let own: Vec<&Naming> = taking_part.iter().map(|(naming, _)| *naming).collect();
    let mut given = clash::names(&own);
    let entries = providers.pair(&given);
    for (nth, (naming, (path, servers))) in taking_part.into_iter().enumerate() {
        let Some(name) = given.get(nth).filter(|_| naming.assigned.is_none()) else { continue };
        let Some((entry, known)) =
            entries.get(name).and_then(|entry| providers.0.get_key_value(*entry))
        else {
            continue;
        };
        let Some(server) = fit::stranger(servers, &known.detail.servers) else { continue };
        let own = apart(&naming.with_title(), &given, providers);
        warnings.push(format!(
            "{}: it is filed under the name of {}, but its server `{server}` is not one of {entry}'s: it became the platform `{own}`",
            path.display(),
            known.name,
        ));
        if let Some(given) = given.get_mut(nth) {
            *given = own;
        }
    }
    let assigned: HashSet<&str> =
        namings.iter().filter_map(|naming| naming.assigned.as_deref()).collect();
    let mut given = given.iter();
    let own = namings.iter().map(|naming| {
        let given = if naming.takes_part() { given.next() } else { None };
        let entry = given.and_then(|given| entries.get(given));
        let entry =
            entry.filter(|entry| !assigned.contains(**entry)).map(|entry| (*entry).to_owned());
        let own = naming.assigned.clone().or(entry);
        let mut names: Vec<String> = own.into_iter().chain(given.cloned()).collect();
        names.dedup();
        names
    });
    let mut names: Vec<Vec<String>> = own.collect();
    // A document of no entry may keep an entry's name.
    let kept: HashSet<String> = names.iter().filter_map(|names| names.first().cloned()).collect();
    let alone = providers.0.keys().filter(|name| !kept.contains(*name));
    names.extend(alone.map(|name| vec![name.clone()]));
    names
}

/// The name with a number behind it, if need be, that no other platform has.
fn apart(name: &str, given: &[String], providers: &Providers) -> String {
    let is_taken = |name: &String| {
        given.contains(name)
            || providers.0.contains_key(name)
            || providers.0.values().any(|known| known.documents.contains(name))
    };
    let numbered = (2..).map(|number: u32| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or_default()
}

/// The display names, one for each of `names`, which has the platforms' names.
fn display_names(
    outcomes: &[(PathBuf, Outcome)],
    names: &[Vec<String>],
    wishes: &[Override],
    providers: &Providers,
) -> Vec<String> {
    let said = outcomes.iter().filter_map(|(_, outcome)| outcome.names());
    let mut said = said.map(Some).chain(std::iter::repeat(None));
    let possible = |(names, wishes): (&Vec<String>, &Override)| {
        let said = said.next().flatten();
        let own = names.first().map_or("", String::as_str);
        let known = providers.0.get(own).map(|known| &known.name);
        let platform = wishes.rename.clone().unwrap_or_else(|| own.to_owned());
        let possible = match (wishes.name.as_ref().or(known), said) {
            (Some(chosen), _) => Names::fixed(chosen),
            (None, Some(said)) if !said.shortest().is_empty() => said.clone(),
            (None, _) => Names::of_platform(&platform),
        };
        (platform, possible)
    };
    let possible: Vec<(String, Names)> = names.iter().zip(wishes).map(possible).collect();
    name::apart::tell_apart(&possible)
}

/// The platform of a draft; `names` are those that [`names`] gives, `shown` is the display name. Adds the faults of its
/// overrides to `faults`.
fn platform(
    draft: Draft,
    names: Vec<String>,
    shown: String,
    job: &Import,
    wishes: &Override,
    faults: &mut Vec<String>,
) -> Platform {
    let mut names = names.into_iter();
    let own = names.next().unwrap_or_default();
    let known = job.providers.0.get(&own);
    let claimed = known.into_iter().flat_map(|known| &known.documents);
    let mut aliases: Vec<String> = names.chain(claimed.cloned()).collect();
    let platform = match &wishes.rename {
        Some(wanted) => {
            aliases.push(own);
            wanted.clone()
        }
        None => own,
    };
    let mut fault = |what: String| faults.push(job.overrides.fault(wishes, &what));
    Platform { aliases, ..draft.finish(platform, shown, known, wishes, &mut fault) }
}

/// The most names that a note lists.
const NAMES_SHOWN: usize = 5;

fn note(summary: &mut Summary, what: &str, names: &[String]) {
    let mut shown = names.iter().take(NAMES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if let Some(more) = names.len().checked_sub(NAMES_SHOWN).filter(|more| *more > 0) {
        let _ = write!(shown, " and {more} more");
    }
    if !shown.is_empty() {
        summary.notes.push(format!("{what}: {shown}"));
    }
}

/// Sorts and numbers the platforms. Fails when two have the same name.
fn finish(platforms: &mut [Platform]) -> Result<()> {
    platforms.sort_by(|a, b| a.connector.key.cmp(&b.connector.key));
    let mut seen = HashSet::new();
    if let Some(twice) =
        platforms.iter().find(|platform| !seen.insert(platform.connector.platform.as_str()))
    {
        bail!(
            "two platforms have the name `{}`: give one another with `rename` in catalog.toml",
            twice.connector.platform
        );
    }
    connector::number(platforms.iter_mut().map(|platform| &mut platform.connector));
    let names: HashSet<String> =
        platforms.iter().map(|platform| platform.connector.platform.clone()).collect();
    let mut taken = HashSet::new();
    for platform in platforms {
        // The name of a platform that is there leads to that platform.
        platform.aliases.retain(|alias| !names.contains(alias) && taken.insert(alias.clone()));
    }
    Ok(())
}

/// Leaves out each document whose platform would have the name of a newer document's. That takes over how it is named, so
/// that no name changes.
fn replace_older(outcomes: &mut [Outcome], paths: &[PathBuf], newer: &[PathBuf]) {
    let is_newer = |path: &Path| newer.iter().any(|newer| path.starts_with(newer));
    let (new, mut old): (Vec<_>, Vec<_>) =
        outcomes.iter_mut().zip(paths).partition(|(_, path)| is_newer(path));
    old.retain(|(outcome, _)| outcome.naming().is_some());
    if new.is_empty() {
        return;
    }
    let namings: Vec<&Naming> = old.iter().filter_map(|(outcome, _)| outcome.naming()).collect();
    let names = clash::names(&namings);
    let mut by_name: HashMap<String, &mut Outcome> =
        names.into_iter().zip(old.into_iter().map(|(outcome, _)| outcome)).collect();
    for (outcome, path) in new {
        if let Outcome::Rows { naming, .. } = outcome
            && let Some(older) = by_name.remove(&naming.plain())
            && let Some(former) = older.naming()
        {
            naming.clone_from(former);
            *older = Outcome::Nothing(Reason::Replaced(path.clone()));
        }
    }
}

/// A fetched file, and what it has for each of its platforms.
struct Shared<'a> {
    documents: Vec<&'a FetchedDocument>,
    bytes: u64,
}

impl<'a> Shared<'a> {
    /// The files, so that each is read once.
    fn of(fetched: &'a [FetchedDocument]) -> Vec<Self> {
        let mut files: BTreeMap<&Path, Vec<&FetchedDocument>> = BTreeMap::new();
        for document in fetched {
            files.entry(&document.path).or_default().push(document);
        }
        let shared = files.into_iter().map(|(path, documents)| {
            let bytes = std::fs::metadata(path).map_or(0, |meta| meta.len());
            Self { documents, bytes }
        });
        shared.collect()
    }

    /// The outcome for each platform. What is not the document that was accepted is left out.
    fn outcomes(&self, job: &Import) -> Vec<(PathBuf, Outcome)> {
        let Some(first) = self.documents.first() else { return Vec::new() };
        let source =
            Source { path: first.path.clone(), root: first.path.clone(), bytes: self.bytes };
        let takes: Vec<Take<'_>> = self
            .documents
            .iter()
            .map(|document| Take {
                wanted: if document.is_taken(job.licence) { Wanted::Any } else { job.licence },
                paths: &document.paths,
                address: job.address(&document.platform),
            })
            .collect();
        let nothing = |reason: &Reason| {
            self.documents.iter().map(|_| Outcome::Nothing(reason.clone())).collect()
        };
        let outcomes = match source::bytes(&source.path) {
            Ok(bytes) if hash::sha256(&bytes) == first.sha256 => {
                outcomes(&bytes, &source, &takes, &job.providers).0
            }
            Ok(_) => nothing(&Reason::Unreadable(
                "is not the document that sources.toml names: fetch it once more".to_owned(),
            )),
            Err(e) => nothing(&Reason::Unreadable(e.to_string())),
        };
        let assigned = self.documents.iter().zip(outcomes).map(|(document, mut outcome)| {
            match &mut outcome {
                Outcome::Rows { naming, draft, .. } => {
                    *naming = Naming::assigned(&document.platform);
                    draft.detail.license.get_or_insert_with(|| document.license());
                }
                Outcome::Closed { licence, .. } => {
                    let licence = licence.take().or_else(|| Some(document.licence.clone()));
                    outcome = Outcome::Nothing(Reason::Licence(licence));
                }
                Outcome::Nothing(_) => {}
            }
            (PathBuf::from(&document.address), outcome)
        });
        assigned.collect()
    }
}

/// Leaves out each document about a platform that has a fetched one. The fetched one takes over its naming, so that no
/// other name changes.
fn replace_by_fetched(
    outcomes: &mut [Outcome],
    fetched: &mut [(PathBuf, Outcome)],
    providers: &Providers,
) {
    let named: Vec<&mut Outcome> =
        outcomes.iter_mut().filter(|outcome| outcome.naming().is_some()).collect();
    let namings: Vec<&Naming> = named.iter().filter_map(|outcome| outcome.naming()).collect();
    let given = clash::names(&namings);
    let entries = providers.pair(&given);
    let platforms: Vec<String> = given
        .iter()
        .map(|given| entries.get(given).map_or_else(|| given.clone(), |entry| (*entry).to_owned()))
        .collect();
    let mut by_platform: HashMap<String, &mut Outcome> = platforms.into_iter().zip(named).collect();
    for (path, outcome) in fetched {
        if let Outcome::Rows { naming, .. } = outcome
            && let Some(platform) = naming.assigned.clone()
            && let Some(older) = by_platform.remove(&platform)
            && let Some(former) = older.naming()
        {
            *naming = Naming { assigned: Some(platform), ..former.clone() };
            *older = Outcome::Nothing(Reason::Replaced(path.clone()));
        }
    }
}

/// Adds the content's hash to documents that would otherwise have the same naming.
fn tell_apart(outcomes: &mut [Outcome]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for naming in outcomes.iter().filter_map(Outcome::naming) {
        let count = counts.entry(naming.plain()).or_default();
        *count = count.saturating_add(1);
    }
    let is_shared = |naming: &Naming| counts.get(&naming.plain()).is_some_and(|count| *count > 1);
    for outcome in outcomes {
        match outcome {
            Outcome::Rows { naming, draft, .. } if is_shared(naming) => {
                naming.content = draft.content();
            }
            Outcome::Closed { naming, content, .. } if is_shared(naming) => {
                naming.content = *content;
            }
            _ => {}
        }
    }
}

/// Keeps one of several documents that say the same: the first by path that gives rows, or else the first one.
fn drop_copies(outcomes: &mut [Outcome], paths: &[PathBuf]) {
    let mut first: HashMap<Naming, PathBuf> = HashMap::new();
    for (outcome, path) in outcomes.iter_mut().zip(paths) {
        if let Outcome::Rows { naming, .. } = outcome
            && naming.content != 0
        {
            match first.get(naming) {
                Some(original) => *outcome = Outcome::Nothing(Reason::Duplicate(original.clone())),
                None => drop(first.insert(naming.clone(), path.clone())),
            }
        }
    }
    let mut named: HashSet<Naming> = first.into_keys().collect();
    for outcome in outcomes {
        if let Outcome::Closed { naming, licence, .. } = outcome
            && naming.content != 0
            && !named.insert(naming.clone())
        {
            *outcome = Outcome::Nothing(Reason::Licence(licence.take()));
        }
    }
}

impl Outcome {
    const fn naming(&self) -> Option<&Naming> {
        match self {
            Self::Rows { naming, .. } | Self::Closed { naming, .. } => Some(naming),
            Self::Nothing(_) => None,
        }
    }

    const fn names(&self) -> Option<&Names> {
        match self {
            Self::Rows { names, .. } | Self::Closed { names, .. } => Some(names),
            Self::Nothing(_) => None,
        }
    }
}

/// What a file gives, and the other files that it consists of.
fn outcome(
    bytes: &[u8],
    source: &Source,
    take: Take<'_>,
    providers: &Providers,
) -> (Outcome, BTreeSet<PathBuf>) {
    let (outcomes, files) = outcomes(bytes, source, &[take], providers);
    let nothing = || Outcome::Nothing(Reason::Refused(Refusal::NotOpenApi));
    (outcomes.into_iter().next().unwrap_or_else(nothing), files)
}

/// What each of the takes gives of a file, and the other files that it consists of.
fn outcomes(
    bytes: &[u8],
    source: &Source,
    takes: &[Take<'_>],
    providers: &Providers,
) -> (Vec<Outcome>, BTreeSet<PathBuf>) {
    let refused = |refusal: &Refusal| {
        let refused = |_| Outcome::Nothing(Reason::Refused(refusal.clone()));
        takes.iter().map(refused).collect::<Vec<_>>()
    };
    let text = match read::text(bytes) {
        Ok(text) => text,
        Err(refusal) => return (refused(&refusal), BTreeSet::new()),
    };
    let rows = |text: &str| match read::read(text) {
        Ok(Parsed::Json(document)) => {
            takes.iter().map(|take| rows(&document, *take, providers)).collect()
        }
        Ok(Parsed::Yaml(document)) => {
            takes.iter().map(|take| rows(&document, *take, providers)).collect()
        }
        Err(refusal) => refused(&refusal),
    };
    match discovery::openapi(text) {
        Ok(Some(translated)) => return (rows(&translated), BTreeSet::new()),
        Ok(None) => {}
        Err(refusal) => return (refused(&refusal), BTreeSet::new()),
    }
    let whole = Some(text).filter(|text| parts::may_refer(text));
    let Some(mut whole) = whole.and_then(|text| parts::whole(source, text)) else {
        return (rows(text), BTreeSet::new());
    };
    // As JSON, the version 1.10 would be the number 1.1.
    if let Ok(Parsed::Yaml(Document { info: Some(info), .. })) = read::read(text)
        && let Some(version) = whole.document.pointer_mut("/info/version")
    {
        *version = info.version.as_str().into();
    }
    let mut outcomes = rows(&whole.document.to_string());
    for outcome in &mut outcomes {
        match outcome {
            Outcome::Rows { warnings, .. } => warnings.extend(whole.faults.clone()),
            // The place is that in the whole, which nobody sees.
            Outcome::Nothing(Reason::Refused(Refusal::Broken(fault))) => fault.place = None,
            _ => {}
        }
    }
    (outcomes, whole.files)
}

/// Files that are no documents, but parts of one, are so called.
fn claim_parts(outcomes: Vec<(Outcome, BTreeSet<PathBuf>)>, files: &[Source]) -> Vec<Outcome> {
    let mut owners: HashMap<PathBuf, &Path> = HashMap::new();
    for ((_, parts), file) in outcomes.iter().zip(files) {
        for part in parts {
            owners.entry(part.clone()).or_insert(&file.path);
        }
    }
    let claim = |((outcome, _), file): ((Outcome, _), &Source)| {
        let path = file.path.canonicalize().ok().filter(|_| !owners.is_empty());
        match (path.and_then(|path| owners.get(&path).copied()), outcome) {
            (Some(owner), Outcome::Nothing(Reason::Refused(Refusal::NotOpenApi))) => {
                Outcome::Nothing(Reason::Part(owner.to_owned()))
            }
            (_, outcome) => outcome,
        }
    };
    outcomes.into_iter().zip(files).map(claim).collect()
}

fn rows<F: Format>(document: &Document<F>, take: Take<'_>, providers: &Providers) -> Outcome {
    let untitled = Info::default();
    let info = document.info.as_ref().unwrap_or(&untitled);
    let naming = Naming::new(
        info.provider.filled(),
        info.service.filled(),
        document.server(),
        info.title.as_str(),
        info.version.as_str(),
    );
    let owner = naming.owner();
    let names = Names::of(Said {
        provider: &naming.provider,
        service: info.service.as_str(),
        label: &owner,
        title: info.title.as_str(),
        version: &version::stated(info.version.as_str()),
    });
    let mut actions = action::of(document, take.paths);
    let mut warnings = std::mem::take(&mut actions.warnings);
    let required = detail::required(document, &actions);
    let (detail, schemes, left_out) = connector_detail(document, &required, providers);
    warnings.extend(left_out);
    let mut draft = Box::new(Draft::of(document, &names, detail, actions.rows.clone()));
    draft.schemes = schemes;
    if take.wanted == Wanted::Open && !licence::is_open(&info.license) {
        let content = draft.content();
        return Outcome::Closed {
            naming,
            names,
            content,
            licence: licence::described(&info.license),
        };
    }
    let own = draft.detail.servers.first().map(|server| server.url.as_str());
    let own = own.or_else(|| document.server());
    let base = take.address.map(|address| Base::new(address, own));
    let details = detail::of(document, &actions, base.as_ref());
    draft.detail.headers = details.headers;
    draft.units = details.units;
    warnings.extend(details.left_out);
    warnings.extend(
        document
            .left_out()
            .map(|name| format!("`{name}` is not what it should be and was left out")),
    );
    Outcome::Rows { naming, names, draft, warnings }
}

/// The detail of a document's connector, what its security schemes mean, and a warning for each part that cannot be
/// used.
fn connector_detail<F>(
    document: &Document<F>,
    required: &[Vec<String>],
    providers: &Providers,
) -> (ConnectorDetail, Vec<(String, Kind)>, Vec<String>) {
    let servers = server::of(document);
    let methods = auth::of(document, required, &servers, &|url| providers.server(url));
    let mut left_out = methods.left_out;
    // Relative addresses are normal where the document was found; they matter when they are all there is.
    if servers.servers.is_empty() && !servers.left_out.is_empty() {
        let urls = servers.left_out.join("`, `");
        left_out.push(format!("no server has an absolute URL: `{urls}`"));
    }
    let documentation = document.documentation.as_ref().and_then(|spare| match spare {
        Spare::Given(documentation) => image::https(documentation.url.as_str()),
        Spare::Absent | Spare::Text(_) | Spare::Other => None,
    });
    let license = document.info.as_ref().and_then(|info| licence::shown(&info.license));
    let detail = ConnectorDetail {
        auth_methods: methods.methods,
        servers: servers.servers,
        documentation_url: documentation,
        license,
        headers: Parameters::new(),
        verify: None,
        account: None,
        pagination: Vec::new(),
    };
    (detail, methods.schemes, left_out)
}
