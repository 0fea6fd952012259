//! `catalog add`: adds documents to an existing catalog. The command reports what the new documents
//! would change, then repeats the recorded import with them. If the documents of that import are
//! not available locally, as with the sample catalog of the npm package, the command adds the new
//! documents to the existing catalog instead.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use super::cli::{DEFAULT_OUT, ImportArgs, absolute};
use super::fetched::list::is_own;
use super::folder::{Folder, replace};
use super::report::{Summary, format_count};
use super::source::local_path;
use super::{Import, ProgressObserver, check, extend, gather};

/// The file of the catalog folder that records the arguments of the import.
const ARGUMENTS_FILE: &str = "import.json";

/// Add OpenAPI documents to the current catalog
///
/// First reports which platforms the documents become, which of their parts can't be imported, and which platforms the
/// catalog already has. Changes nothing if one of the documents can't be imported, or if the catalog has actions of its
/// platform and --replace is missing. To serve the new catalog, publish it afterwards, on this machine or with
/// --remote.
#[derive(Debug, Args)]
pub struct AddArgs {
    /// Documents, or folders of documents, to import regardless of their licence
    #[arg(required_unless_present = "fetched", value_name = "FILE|DIR", value_parser = local_path)]
    sources: Vec<PathBuf>,
    /// Add the documents that `catalog fetch` has downloaded into this folder, replacing documents
    /// about the same platforms
    #[arg(long, value_name = "DIR", conflicts_with = "sources")]
    fetched: Option<PathBuf>,
    /// Replace the documents about the same platforms
    #[arg(long)]
    replace: bool,
    /// Only report what would change
    #[arg(long)]
    dry_run: bool,
    /// The catalog folder
    #[arg(long, value_name = "DIR", default_value = DEFAULT_OUT)]
    catalog: PathBuf,
}

/// Records the arguments of an import.
pub fn record_arguments(import: &ImportArgs, folder: &Folder) -> Result<()> {
    replace(&folder.0.join(ARGUMENTS_FILE), &serde_json::to_vec_pretty(import)?)
}

/// Reads the arguments of the last import.
pub fn recorded_arguments(folder: &Folder) -> Result<ImportArgs> {
    let path = folder.0.join(ARGUMENTS_FILE);
    let json = fs::read(&path).with_context(|| {
        format!(
            "{} does not record how its catalog was imported: import it again with `npm run catalog -- import`",
            folder.0.display()
        )
    })?;
    serde_json::from_slice(&json).with_context(|| path.display().to_string())
}

/// A progress display that shows nothing, because only a few documents are imported.
struct NoProgress;

impl ProgressObserver for NoProgress {
    fn files_found(&self, _: usize, _: u64) {}
    fn file_read(&self, _: u64) {}
}

impl AddArgs {
    /// Adds the documents. Changes nothing if one of them can't be imported, or replaces actions without `--replace`.
    pub fn run(&self) -> Result<ExitCode> {
        let folder = Folder(self.catalog.clone());
        let existing = check::connectors(&folder)?;
        let mut import = recorded_arguments(&folder)?;
        import.out.clone_from(&self.catalog);
        let sources = self.sources.iter().map(absolute).collect::<Result<Vec<_>>>()?;

        // Import only the new documents, with the settings of the full import.
        let mut job = if let Some(cache) = &self.fetched {
            import.take_fetched(absolute(cache)?);
            import.only_fetched().job()?
        } else {
            Import {
                also: sources.clone(),
                fetched: Vec::new(),
                ..import.without_documents().job()?
            }
        };
        // catalog.toml can have entries for other platforms of the catalog.
        if !job.overrides.platforms.is_empty() {
            let details = check::OpenCatalog::new(&folder)?.details()?;
            job.overrides.accept_absent(|name| {
                existing.iter().any(|entry| entry.connector.platform == name)
                    || details.platform(name).is_some()
            });
        }
        job.missing.clear();
        job.fetched.retain(|document| !is_own(Path::new(&document.address)));
        if let Some(cache) = &self.fetched
            && job.fetched.iter().all(|document| document.is_instance)
        {
            bail!(
                "no document of sources.toml is in {}: run `npm run catalog -- fetch`",
                cache.display()
            );
        }
        let (summary, platforms) = gather(&job, &NoProgress)?;
        let has_conflict = self.report(&summary, &existing);
        if summary.documents.is_empty() || !summary.skipped.is_empty() {
            bail!("nothing was changed, because not every document can be imported");
        }
        if has_conflict && !self.replaces() {
            bail!(
                "nothing was changed: pass --replace to replace the actions that the catalog has"
            );
        }
        if self.dry_run {
            return Ok(ExitCode::SUCCESS);
        }
        let added = if self.replace { &mut import.newer } else { &mut import.also };
        added.extend(sources.into_iter().filter(|path| !added.contains(path)).collect::<Vec<_>>());
        let done = if import.is_repeatable() {
            import.run()?
        } else {
            let documents = platforms.into_iter().filter(|platform| {
                summary.documents.iter().any(|(_, name)| *name == platform.connector.platform)
            });
            let all = extend(&folder, documents.collect())?;
            record_arguments(&import, &folder)?;
            import.print_size(all.len(), all.iter().map(|platform| platform.actions.len()).sum());
            ExitCode::SUCCESS
        };
        eprintln!("To serve it: npm run catalog -- publish, with --remote for a deployment");
        Ok(done)
    }

    const fn replaces(&self) -> bool {
        self.replace || self.fetched.is_some()
    }

    /// Prints the outcome for the new documents. Returns whether the catalog already has actions of
    /// their platforms.
    fn report(&self, summary: &Summary, existing: &[check::ConnectorEntry]) -> bool {
        let mut has_conflict = false;
        for (path, name) in &summary.documents {
            let actions = summary.platforms.iter().find(|(known, _)| known == name);
            let actions = actions.map_or(0, |(_, actions)| *actions);
            println!("{}: {name}, {}", path.display(), format_count(actions, "action"));
            let is_same = |entry: &&check::ConnectorEntry| entry.connector.platform == *name;
            if let Some(entry) =
                existing.iter().find(is_same).filter(|entry| entry.connector.tools > 0)
            {
                has_conflict = true;
                let what = if self.replaces() { "are replaced" } else { "would be replaced" };
                let tools = format_count(entry.connector.tools as usize, "action");
                println!("  the catalog has {}: its {tools} {what}", entry.connector.platform);
            }
        }
        summary.warnings.iter().for_each(|line| println!("warning: {line}"));
        for (path, reason) in &summary.skipped {
            println!("not imported: {}", reason.line(path));
        }
        has_conflict
    }
}
