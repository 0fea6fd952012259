//! `connector-vault catalog import | check | show`.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::folder::Folder;
use super::licence::Wanted;
use super::overrides::Overrides;
use super::report::{Reason, Summary, counted};
use super::{Import, Watch, check, import, show};
use crate::fold::fold;
use crate::nearest::nearest;

/// The catalog folder.
const DEFAULT_OUT: &str = ".catalog";
/// The file of overrides that is read when it is there.
const DEFAULT_CONFIG: &str = "catalog.toml";

/// Make a catalog from `OpenAPI` documents: 2.0, 3.0 and 3.1, JSON and YAML
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Documents, and folders of documents
    #[arg(required = true, value_name = "FILE|DIR")]
    sources: Vec<PathBuf>,
    /// Which documents to take: those whose own `info.license` is an open one, or any
    #[arg(long, value_enum, default_value_t = LicenceArg::Open)]
    licence: LicenceArg,
    /// What should be otherwise than the documents say [default: catalog.toml, when it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The catalog folder to write
    #[arg(long, value_name = "DIR", default_value = DEFAULT_OUT)]
    out: PathBuf,
    /// Say of each file that was skipped why
    #[arg(long, short)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LicenceArg {
    Open,
    Any,
}

/// Up to so many platforms are told by name.
const NAMES_SHOWN: usize = 20;

/// Faults that are told one by one without `--verbose`.
const FAULTS_SHOWN: usize = 20;

impl ImportArgs {
    /// Imports and tells what came of it.
    ///
    /// # Errors
    /// When nothing could be written.
    pub fn run(&self) -> Result<ExitCode> {
        let config = self
            .config
            .as_deref()
            .map(from_where_npm_was_called)
            .or_else(|| Some(PathBuf::from(DEFAULT_CONFIG)).filter(|path| path.exists()));
        let overrides = config.as_deref().map(Overrides::read).transpose()?.unwrap_or_default();
        let licence = match self.licence {
            LicenceArg::Open => Wanted::Open,
            LicenceArg::Any => Wanted::Any,
        };
        let sources = self.sources.iter().map(|path| from_where_npm_was_called(path)).collect();
        let job = Import { sources, licence, overrides };
        let folder = Folder(self.out.clone());
        let progress = Progress::default();
        let summary = import(&job, &folder, &progress);
        progress.done();
        let summary = summary?;
        self.tell(&summary, &folder.report());
        if summary.connectors == 0 {
            Self::tell_nothing(&summary, &folder);
            return Ok(ExitCode::FAILURE);
        }
        let connectors = counted(summary.connectors, "connector");
        let actions = counted(summary.actions, "action");
        say(&format!("{connectors}, {actions} in {}\n", self.out.display()));
        self.tell_names(&summary);
        Ok(ExitCode::SUCCESS)
    }

    /// What a few platforms are called, as nobody can know it beforehand.
    fn tell_names(&self, summary: &Summary) {
        let Some((first, _)) =
            summary.platforms.first().filter(|_| summary.platforms.len() <= NAMES_SHOWN)
        else {
            return;
        };
        let width = summary.platforms.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        let mut text = String::new();
        for (name, actions) in &summary.platforms {
            let _ = writeln!(text, "  {name:<width$}  {}", counted(*actions, "action"));
        }
        let _ = write!(text, "look at one: npm run catalog -- show {first}");
        if self.out != Path::new(DEFAULT_OUT) {
            let _ = write!(text, " --catalog {}", self.out.display());
        }
        say(&format!("{text}\n"));
    }

    fn tell_nothing(summary: &Summary, folder: &Folder) {
        let closed =
            summary.skipped.iter().filter(|(_, reason)| matches!(reason, Reason::Licence(_)));
        let closed = closed.count();
        let kept = if folder.current().exists() { "; the catalog stays as it was" } else { "" };
        eprintln!("nothing was imported{kept}");
        if closed > 0 {
            let documents = counted(closed, "document");
            eprintln!("`--licence any` would take {documents} whose licence is not an open one");
        }
    }

    fn tell(&self, summary: &Summary, report: &Path) {
        let faults: Vec<String> = summary
            .skipped
            .iter()
            .filter(|(_, reason)| reason.is_fault())
            .map(|(path, reason)| reason.line(path))
            .collect();
        let shown = if self.verbose { usize::MAX } else { FAULTS_SHOWN };
        faults.iter().take(shown).for_each(|line| eprintln!("error: {line}"));
        if faults.len() > shown {
            eprintln!(
                "error: … and {} more, all in {}",
                faults.len().saturating_sub(shown),
                report.display()
            );
        }
        summary.warnings.iter().take(shown).for_each(|line| eprintln!("warning: {line}"));
        if summary.warnings.len() > shown {
            eprintln!(
                "warning: … and {} more, all in {}",
                summary.warnings.len().saturating_sub(shown),
                report.display()
            );
        }
        summary.notes.iter().for_each(|line| eprintln!("note: {line}"));
        if self.verbose {
            let rest = summary.skipped.iter().filter(|(_, reason)| !reason.is_fault());
            rest.for_each(|(path, reason)| eprintln!("skipped: {}", reason.line(path)));
        }
        if !summary.skipped.is_empty() {
            let counts: Vec<String> = summary
                .counts()
                .into_iter()
                .map(|(kind, count)| format!("{count} {kind}"))
                .collect();
            eprintln!(
                "skipped {} of {} files: {} (each one is in {})",
                summary.skipped.len(),
                summary.files,
                counts.join(", "),
                report.display()
            );
        }
    }
}

/// Validate a catalog folder: every segment there, whole, and in agreement with the others
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The catalog folder
    #[arg(value_name = "DIR", default_value = DEFAULT_OUT)]
    folder: PathBuf,
}

impl CheckArgs {
    /// Names every fault; success when there is none.
    ///
    /// # Errors
    /// When the folder has no catalog.
    pub fn run(&self) -> Result<ExitCode> {
        let folder = Folder(self.folder.clone());
        let faults = check::faults(&folder);
        for fault in &faults {
            eprintln!("error: {fault}");
        }
        if !faults.is_empty() {
            eprintln!("{} in {}", counted(faults.len(), "fault"), self.folder.display());
            return Ok(ExitCode::FAILURE);
        }
        let entries = check::connectors(&folder)?;
        let tools = entries.iter().map(|entry| entry.connector.tools);
        let actions = tools.fold(0, u32::saturating_add).try_into().unwrap_or(usize::MAX);
        let (connectors, actions) =
            (counted(entries.len(), "connector"), counted(actions, "action"));
        say(&format!("{connectors}, {actions} in {}: no faults\n", self.folder.display()));
        Ok(ExitCode::SUCCESS)
    }
}

/// Print a platform of the catalog
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Its name, such as `github`
    platform: String,
    /// The catalog folder
    #[arg(long, value_name = "DIR", default_value = DEFAULT_OUT)]
    catalog: PathBuf,
}

impl ShowArgs {
    /// Prints the platform.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn run(&self) -> Result<ExitCode> {
        let folder = Folder(self.catalog.clone());
        let entries = check::connectors(&folder)?;
        let wanted = fold(&self.platform);
        let Some(entry) = entries.iter().find(|entry| entry.connector.platform == wanted) else {
            let known = entries.iter().map(|entry| entry.connector.platform.as_str());
            eprintln!(
                "error: no platform `{}`; the nearest are {}",
                self.platform,
                nearest(&wanted, known, 3).join(", ")
            );
            return Ok(ExitCode::FAILURE);
        };
        say(&show::platform(entry, &check::actions(&folder, entry.actions)?));
        Ok(ExitCode::SUCCESS)
    }
}

/// A path as the one who typed `npm run catalog` means it: npm runs its scripts in the package's folder, and says in
/// `INIT_CWD` where it was called.
fn from_where_npm_was_called(path: &Path) -> PathBuf {
    let is_ours = std::env::var_os("npm_lifecycle_event").is_some_and(|event| event == "catalog");
    let called = std::env::var_os("INIT_CWD").filter(|_| is_ours).map(PathBuf::from);
    let elsewhere =
        called.filter(|called| std::env::current_dir().is_ok_and(|here| here != *called));
    elsewhere.map_or_else(|| path.to_owned(), |called| called.join(path))
}

/// Prints to standard output; that nobody reads on (`… | head`) is no fault.
fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// A bar on a terminal, a line now and then elsewhere.
#[derive(Default)]
struct Progress(Mutex<State>);

#[derive(Default)]
struct State {
    bar: Option<indicatif::ProgressBar>,
    total: u64,
    read: u64,
    told: Option<Instant>,
}

/// How often a line is written where there is no terminal.
const TELL_EVERY: Duration = Duration::from_secs(5);

impl Progress {
    fn with(&self, act: impl FnOnce(&mut State)) {
        act(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }

    fn done(&self) {
        self.with(|state| {
            if let Some(bar) = &state.bar {
                bar.finish_and_clear();
            }
        });
    }
}

impl Watch for Progress {
    fn found(&self, files: usize, bytes: u64) {
        self.with(|state| {
            state.total = bytes;
            state.told = Some(Instant::now());
            if std::io::stderr().is_terminal() {
                let bar = indicatif::ProgressBar::new(bytes).with_message(format!("{files} files"));
                if let Ok(style) = indicatif::ProgressStyle::with_template(
                    "{msg} {wide_bar} {bytes} of {total_bytes}",
                ) {
                    bar.set_style(style);
                }
                state.bar = Some(bar);
            }
        });
    }

    fn read(&self, bytes: u64) {
        self.with(|state| {
            state.read = state.read.saturating_add(bytes);
            if let Some(bar) = &state.bar {
                bar.inc(bytes);
            } else if state.told.is_some_and(|told| told.elapsed() >= TELL_EVERY) {
                state.told = Some(Instant::now());
                eprintln!("read {} of {} MB", state.read / 1_000_000, state.total / 1_000_000);
            }
        });
    }
}
