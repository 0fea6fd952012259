//! `OpenAPI` documents → a catalog folder.
//!
//! [`source`] finds the files, [`read`] turns each into a [`document`] that holds only what rows need, and
//! [`connector`] and [`action`] make the rows. When all are read, [`platform`] names them, [`overrides`] applies the
//! operator's `catalog.toml`, and [`folder`] writes. [`report`] says what
//! came of it. [`check`] reads a folder back, and [`show`] prints a platform of it.

pub mod action;
pub mod category;
pub mod check;
mod clash;
pub mod cli;
pub mod connector;
mod document;
pub mod folder;
mod hash;
pub mod image;
pub mod licence;
mod markup;
pub mod overrides;
mod parallel;
mod paths;
pub mod platform;
pub mod read;
pub mod report;
mod scalar;
pub mod show;
pub mod source;
pub mod text;
pub mod version;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};

use connector::Draft;
use document::Document;
use folder::{Folder, Platform};
use licence::Wanted;
use overrides::{Override, Overrides};
use platform::Naming;
use read::{Enough, Parsed};
use report::{Reason, Summary};

/// What to import.
#[derive(Debug, Default)]
pub struct Import {
    /// Files and folders.
    pub sources: Vec<PathBuf>,
    /// Which documents to take.
    pub licence: Wanted,
    /// What the operator wants otherwise.
    pub overrides: Overrides,
}

/// Follows an import while it goes on.
pub trait Watch: Sync {
    /// So much is to be read.
    fn found(&self, files: usize, bytes: u64);
    /// A file was read.
    fn read(&self, bytes: u64);
}

/// What became of one file.
enum Outcome {
    /// Its rows.
    Rows { naming: Naming, draft: Draft, unresolved: Vec<String> },
    /// Only its name: its licence is not an open one.
    Closed { naming: Naming, licence: Option<String> },
    /// Nothing.
    Nothing(Reason),
}

/// Imports; the catalog in the folder is replaced when there is at least one connector.
///
/// # Errors
/// When a source does not exist, when `catalog.toml` does not fit, or when the folder cannot be written.
pub fn import(job: &Import, folder: &Folder, watch: &dyn Watch) -> Result<Summary> {
    let (summary, platforms) = gather(job, watch)?;
    let _lock = folder.lock()?;
    if !platforms.is_empty() {
        folder.write(platforms)?;
    }
    folder::replace(&folder.report(), summary.full().as_bytes())?;
    Ok(summary)
}

/// Reads the sources and makes the rows, in order of connector key.
///
/// # Errors
/// When a source does not exist, or when `catalog.toml` does not fit.
pub fn gather(job: &Import, watch: &dyn Watch) -> Result<(Summary, Vec<Platform>)> {
    let sources = source::find(&job.sources)?;
    watch.found(
        sources.files.len(),
        sources.files.iter().map(|file| file.bytes).fold(0, u64::saturating_add),
    );
    let mut outcomes = parallel::map(&sources.files, |file| {
        let outcome = match source::bytes(&file.path) {
            Ok(bytes) => outcome(&bytes, job.licence),
            Err(e) => Outcome::Nothing(Reason::Unreadable(e.to_string())),
        };
        watch.read(file.bytes);
        outcome
    });
    let mut summary = Summary { files: sources.files.len(), ..Summary::default() };
    summary
        .skipped
        .extend(sources.unreadable.into_iter().map(|(path, why)| (path, Reason::Unreadable(why))));
    let paths: Vec<PathBuf> = sources.files.into_iter().map(|file| file.path).collect();
    tell_apart(&mut outcomes);
    drop_copies(&mut outcomes, &paths);
    let mut platforms =
        name(paths.into_iter().zip(outcomes).collect(), &job.overrides, &mut summary)?;
    finish(&mut platforms)?;
    summary.skipped.sort_by(|a, b| a.0.cmp(&b.0));
    summary.connectors = platforms.len();
    Ok((summary, platforms))
}

/// Names what was read and applies the operator's wishes. Names are given before the licence is looked at, so that
/// a platform is called the same, and `catalog.toml` fits, with any `--licence`.
fn name(
    outcomes: Vec<(PathBuf, Outcome)>,
    overrides: &Overrides,
    summary: &mut Summary,
) -> Result<Vec<Platform>> {
    let namings: Vec<&Naming> =
        outcomes.iter().filter_map(|(_, outcome)| outcome.naming()).collect();
    let names = clash::names(&namings);
    // When nothing was read at all, that is what the operator should hear of.
    let (wishes, absent) =
        if names.is_empty() { (Vec::new(), Vec::new()) } else { overrides.pair(&names)? };
    let mut pairs = names.into_iter().zip(wishes);
    let mut platforms = Vec::new();
    let mut closed_wishes = Vec::new();
    for (path, outcome) in outcomes {
        let (name, wishes) = if outcome.naming().is_some() {
            pairs.next().unwrap_or_default()
        } else {
            <(String, Override)>::default()
        };
        match outcome {
            Outcome::Rows { draft, unresolved, .. } => {
                summary.warnings.extend(
                    unresolved.iter().map(|reference| format!("{}: {reference}", path.display())),
                );
                let (connector, actions) =
                    draft.finish(wishes.rename.clone().unwrap_or(name), &wishes);
                summary.actions = summary.actions.saturating_add(actions.len());
                platforms.push(Platform { connector, authkit: wishes.authkit, actions });
            }
            Outcome::Closed { licence, .. } => {
                if wishes != Override::default() {
                    closed_wishes.push(name);
                }
                summary.skipped.push((path, Reason::Licence(licence)));
            }
            Outcome::Nothing(reason) => summary.skipped.push((path, reason)),
        }
    }
    let absent: Vec<String> = absent.into_iter().map(|wishes| wishes.platform.clone()).collect();
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

/// Names that a note spells out.
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

/// Orders and numbers the platforms, and makes sure that each name stands once.
fn finish(platforms: &mut [Platform]) -> Result<()> {
    platforms.sort_by(|a, b| a.connector.key.cmp(&b.connector.key));
    let mut seen = std::collections::HashSet::new();
    if let Some(twice) =
        platforms.iter().find(|platform| !seen.insert(platform.connector.platform.as_str()))
    {
        bail!("catalog.toml: `rename` gives two platforms the name `{}`", twice.connector.platform);
    }
    connector::number(platforms.iter_mut().map(|platform| &mut platform.connector));
    Ok(())
}

/// Documents that would be called the same get the content that tells them apart.
fn tell_apart(outcomes: &mut [Outcome]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for naming in outcomes.iter().filter_map(Outcome::naming) {
        let count = counts.entry(naming.plain()).or_default();
        *count = count.saturating_add(1);
    }
    for outcome in outcomes {
        if let Outcome::Rows { naming, draft, .. } = outcome
            && counts.get(&naming.plain()).is_some_and(|count| *count > 1)
        {
            naming.content = draft.content();
        }
    }
}

/// Of documents that say the same, only the first in order of path stays.
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
}

impl Outcome {
    const fn naming(&self) -> Option<&Naming> {
        match self {
            Self::Rows { naming, .. } | Self::Closed { naming, .. } => Some(naming),
            Self::Nothing(_) => None,
        }
    }
}

/// Reading may stop when the licence rules a document out and its name is known.
struct Stop(Wanted);

impl Enough for Stop {
    fn enough<F>(&self, document: &Document<F>) -> bool {
        let Some(info) =
            document.info.as_ref().filter(|_| self.0 == Wanted::Open && document.dialect.is_some())
        else {
            return false;
        };
        let is_named = info.provider.filled().is_some() || document.host.is_some();
        is_named && !licence::is_open(info.license.as_ref())
    }
}

fn outcome(bytes: &[u8], wanted: Wanted) -> Outcome {
    match read::read(bytes, &Stop(wanted)) {
        Ok(Parsed::Json(document)) => rows(&document, wanted),
        Ok(Parsed::Yaml(document)) => rows(&document, wanted),
        Err(refusal) => Outcome::Nothing(Reason::Refused(refusal)),
    }
}

fn rows<F>(document: &Document<F>, wanted: Wanted) -> Outcome {
    let info = document.info.as_ref();
    let licence = info.and_then(|info| info.license.as_ref());
    let provider = info.and_then(|info| info.provider.filled());
    let service = info.and_then(|info| info.service.filled());
    let title = info.map_or("", |info| info.title.as_str());
    let version = info.map_or("", |info| info.version.as_str());
    let naming = Naming::new(provider, service, document.host.as_deref(), title, version);
    if wanted == Wanted::Open && !licence::is_open(licence) {
        return Outcome::Closed { naming, licence: licence::described(licence) };
    }
    let (actions, unresolved) = action::of(document);
    Outcome::Rows { naming, draft: Draft::of(document, actions), unresolved }
}
