//! `OpenAPI` documents → a catalog folder.
//!
//! [`source`] finds the files, [`read`] turns each into a `document` that holds only what rows need, and
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

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};

use connector::Draft;
use document::{Document, Info};
use folder::{Folder, Platform};
use licence::Wanted;
use overrides::{Override, Overrides};
use platform::Naming;
use read::Parsed;
use report::{Reason, Summary};
use scalar::Format;
use source::Sources;

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
    Rows { naming: Naming, draft: Draft, warnings: Vec<String> },
    /// Only what its name is made from: its licence is not an open one.
    Closed { naming: Naming, content: u64, licence: Option<String> },
    /// Nothing.
    Nothing(Reason),
}

/// Imports; the catalog in the folder is replaced when there is at least one connector.
///
/// # Errors
/// When a source does not exist, when `catalog.toml` does not fit, or when the folder cannot be written.
pub fn import(job: &Import, folder: &Folder, watch: &dyn Watch) -> Result<Summary> {
    let sources = source::find(&job.sources)?;
    // Before the reading, which takes long: an import that has to give way should know at once.
    let _lock = folder.lock()?;
    let (summary, platforms) = read_all(job, sources, watch)?;
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
    read_all(job, source::find(&job.sources)?, watch)
}

fn read_all(job: &Import, sources: Sources, watch: &dyn Watch) -> Result<(Summary, Vec<Platform>)> {
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
    summary.platforms = platforms
        .iter()
        .map(|platform| (platform.connector.platform.clone(), platform.actions.len()))
        .collect();
    Ok((summary, platforms))
}

/// Names what was read and applies the operator's wishes. Documents whose licence is not open are named with the
/// others, by all that the others are named by, so that a platform is called the same, and `catalog.toml` fits,
/// with any `--licence`.
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
            Outcome::Rows { draft, warnings, .. } => {
                summary.warnings.extend(
                    warnings.iter().map(|warning| format!("{}: {warning}", path.display())),
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
    let mut seen = HashSet::new();
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

/// Of documents that say the same one stays: the first in order of path that gives rows, else the first one.
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
}

fn outcome(bytes: &[u8], wanted: Wanted) -> Outcome {
    match read::read(bytes) {
        Ok(Parsed::Json(document)) => rows(&document, wanted),
        Ok(Parsed::Yaml(document)) => rows(&document, wanted),
        Err(refusal) => Outcome::Nothing(Reason::Refused(refusal)),
    }
}

fn rows<F: Format>(document: &Document<F>, wanted: Wanted) -> Outcome {
    let untitled = Info::default();
    let info = document.info.as_ref().unwrap_or(&untitled);
    let naming = Naming::new(
        info.provider.filled(),
        info.service.filled(),
        document.server(),
        info.title.as_str(),
        info.version.as_str(),
    );
    let (actions, mut warnings) = action::of(document);
    let draft = Draft::of(document, actions);
    if wanted == Wanted::Open && !licence::is_open(&info.license) {
        let content = draft.content();
        return Outcome::Closed { naming, content, licence: licence::described(&info.license) };
    }
    warnings.extend(
        document
            .left_out()
            .map(|name| format!("`{name}` is not what it should be and was left out")),
    );
    Outcome::Rows { naming, draft, warnings }
}
