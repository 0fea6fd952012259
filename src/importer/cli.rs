//! `npm run catalog -- import | check | diff | export | find | show`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::export::{Sample, export};
use super::fetched::cache::Cache;
use super::fetched::list::SourceList;
use super::fetched::{self, DEFAULT_LIST, FetchedDocument};
use super::folder::Folder;
use super::import_output::{print_named_without_licence, print_nothing_imported, print_outcome};
use super::licence::LicenceFilter;
use super::oauth_list::OAuthList;
use super::overrides::Overrides;
use super::progress::Progress;
use super::providers::Providers;
use super::report::{Summary, format_count};
use super::shipped_files::shipped_path;
use super::source::local_path;
use super::{Import, add, check, diff, find, import, instance, lost_actions, show};

/// The default catalog folder.
pub(super) const DEFAULT_OUT: &str = ".catalog";
/// The default file of overrides, which is read if it exists.
const DEFAULT_CONFIG: &str = "catalog.toml";
/// The default file of facts about platforms, which is read if it exists.
const DEFAULT_PROVIDERS: &str = "providers.toml";

/// Create a catalog from OpenAPI documents (2.0 and 3.0 to 3.2, JSON or YAML)
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
pub struct ImportArgs {
    /// Documents, or folders of documents
    #[arg(required_unless_present = "also", value_name = "FILE|DIR", value_parser = local_path)]
    pub(super) sources: Vec<PathBuf>,
    /// Which documents to import: only those with an open licence in `info.license`, or all
    #[arg(long, value_enum, default_value_t = LicenceArg::Open)]
    licence: LicenceArg,
    /// A document or folder to import regardless of its licence; repeat it for more
    #[arg(long, value_name = "FILE|DIR", value_parser = local_path)]
    pub(super) also: Vec<PathBuf>,
    /// A document, or a folder of documents, that replaces other documents about the same
    /// platforms; repeat it for more
    #[arg(long, value_name = "FILE|DIR", value_parser = local_path)]
    pub(super) newer: Vec<PathBuf>,
    /// A list of OAuth endpoints, for platforms without OAuth endpoints in their document and in
    /// the file of `--providers`: config/oauth.json of the npm package grant
    #[arg(long, value_name = "FILE")]
    oauth_list: Option<PathBuf>,
    /// A file that overrides the documents [default: catalog.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A file with facts about well-known platforms; each entry becomes a connector [default: providers.toml, if it
    /// exists]
    #[arg(long, value_name = "FILE", conflicts_with = "no_providers")]
    providers: Option<PathBuf>,
    /// Import documents only
    #[arg(long)]
    no_providers: bool,
    /// Also import the documents that `npm run catalog -- fetch` has downloaded into this folder; they replace any
    /// others about the same platforms
    #[arg(long, value_name = "DIR")]
    #[serde(default)]
    fetched: Option<PathBuf>,
    /// With --fetched: the file that lists these documents [default: sources.toml]
    #[arg(long, value_name = "FILE", requires = "fetched")]
    #[serde(default)]
    list: Option<PathBuf>,
    /// Import these documents regardless of their licence; `catalog add --fetched` sets this.
    #[arg(skip)]
    #[serde(default)]
    takes_any_fetched: bool,
    /// Descriptions of instances, by platform; `import-instance` adds them.
    #[arg(skip)]
    #[serde(default)]
    instances: BTreeMap<String, PathBuf>,
    /// The catalog folder to write
    #[arg(long, value_name = "DIR", default_value = DEFAULT_OUT)]
    pub(super) out: PathBuf,
    /// Print why each skipped file was skipped
    #[arg(long, short)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum, Serialize, Deserialize)]
enum LicenceArg {
    Open,
    Any,
}

/// The maximum number of platforms that are listed by name after an import.
const MAX_NAMES_SHOWN: usize = 20;

impl ImportArgs {
    pub fn run(&self) -> Result<ExitCode> {
        let job = self.job()?;
        let folder = Folder(self.out.clone());
        let progress = Progress::default();
        let summary = import(&job, &folder, &progress);
        progress.done();
        let summary = summary?;
        print_outcome(&summary, &folder.report(), self.verbose);
        if summary.connectors == 0 {
            print_nothing_imported(&summary, &folder);
            return Ok(ExitCode::FAILURE);
        }
        print_named_without_licence(&summary, &job.sources);
        add::record_arguments(&self.absolute()?, &folder)?;
        self.print_size(summary.connectors, summary.actions);
        self.print_names(&summary);
        Ok(ExitCode::SUCCESS)
    }

    /// Makes all paths absolute, so that the import can be repeated from any folder.
    fn absolute(&self) -> Result<Self> {
        let all = |paths: &[PathBuf]| paths.iter().map(absolute).collect::<Result<Vec<_>>>();
        Ok(Self {
            sources: all(&self.sources)?,
            also: all(&self.also)?,
            newer: all(&self.newer)?,
            oauth_list: self.oauth_list.as_ref().map(absolute).transpose()?,
            config: self.config.as_ref().map(absolute).transpose()?,
            providers: self.providers.as_ref().map(absolute).transpose()?,
            fetched: self.fetched.as_ref().map(absolute).transpose()?,
            list: self.list.as_ref().map(absolute).transpose()?,
            ..self.clone()
        })
    }

    /// Whether the import can be repeated: all of its files and folders still exist.
    pub(super) fn is_repeatable(&self) -> bool {
        let documents = self.sources.iter().chain(&self.also).chain(&self.newer);
        let others = self.oauth_list.iter().chain(&self.fetched).chain(self.instances.values());
        documents.chain(others).all(|path| resolve_from_caller_folder(path).exists())
    }

    /// Removes the documents from the arguments.
    pub(super) fn without_documents(&self) -> Self {
        Self {
            sources: Vec::new(),
            also: Vec::new(),
            newer: Vec::new(),
            oauth_list: None,
            fetched: None,
            ..self.clone()
        }
    }

    /// Removes all documents from the arguments except the documents of the cache.
    pub(super) fn only_fetched(&self) -> Self {
        Self { fetched: self.fetched.clone(), ..self.without_documents() }
    }

    /// Adds all documents of a cache, regardless of their licence. `cache` is an absolute path.
    pub(super) fn take_fetched(&mut self, cache: PathBuf) {
        self.fetched = Some(cache);
        self.takes_any_fetched = true;
    }

    /// Adds the description of an instance of a platform. `path` is absolute.
    pub(super) fn add_instance(&mut self, platform: &str, path: PathBuf) {
        self.instances.insert(platform.to_owned(), path);
    }

    /// Creates an import job from the arguments.
    pub(super) fn job(&self) -> Result<Import> {
        let given_or_default = |given: Option<&Path>, default: &str| {
            let default = || Some(shipped_path(Path::new(default))).filter(|path| path.exists());
            given.map(resolve_from_caller_folder).or_else(default)
        };
        let config = given_or_default(self.config.as_deref(), DEFAULT_CONFIG);
        let overrides = config.as_deref().map(Overrides::read).transpose()?.unwrap_or_default();
        let providers = given_or_default(self.providers.as_deref(), DEFAULT_PROVIDERS);
        let providers = providers.filter(|_| !self.no_providers);
        let providers = providers.as_deref().map(Providers::read).transpose()?.unwrap_or_default();
        let licence = match self.licence {
            LicenceArg::Open => LicenceFilter::Open,
            LicenceArg::Any => LicenceFilter::Any,
        };
        let paths =
            |paths: &[PathBuf]| paths.iter().map(|path| resolve_from_caller_folder(path)).collect();
        let (sources, also) = (paths(&self.sources), paths(&self.also));
        let newer = paths(&self.newer);
        let list = self.oauth_list.as_deref().map(resolve_from_caller_folder);
        let oauth_list = list.as_deref().map(OAuthList::read).transpose()?.unwrap_or_default();
        let (mut fetched, missing) = self.fetched()?;
        for document in &mut fetched {
            document.accepts_any_licence = self.takes_any_fetched;
        }
        fetched.retain(|document| !self.instances.contains_key(&document.platform));
        for (platform, path) in &self.instances {
            fetched.push(instance::document(platform, path)?);
        }
        Ok(Import {
            sources,
            licence,
            also,
            newer,
            fetched,
            missing,
            oauth_list,
            providers,
            overrides,
        })
    }

    /// The documents of the list, and the platforms whose document has not been downloaded. Without
    /// `--fetched`, only this project's documents, and only if its `providers.toml` is used.
    fn fetched(&self) -> Result<(Vec<FetchedDocument>, Vec<String>)> {
        let list = self.list.as_deref().map(resolve_from_caller_folder);
        let list = list.unwrap_or_else(|| shipped_path(Path::new(DEFAULT_LIST)));
        let cache = self.fetched.as_deref().map(resolve_from_caller_folder).map(Cache);
        if cache.is_none() && (self.no_providers || self.providers.is_some() || !list.exists()) {
            return Ok((Vec::new(), Vec::new()));
        }
        fetched::available(&SourceList::read(&list)?, cache.as_ref())
    }

    pub(super) fn print_size(&self, connectors: usize, actions: usize) {
        let (connectors, actions) =
            (format_count(connectors, "connector"), format_count(actions, "action"));
        print(&format!("{connectors}, {actions} in {}\n", self.out.display()));
    }

    /// Prints the names of the platforms if there are only a few, since users can't predict them.
    fn print_names(&self, summary: &Summary) {
        let Some((first, _)) =
            summary.platforms.first().filter(|_| summary.platforms.len() <= MAX_NAMES_SHOWN)
        else {
            return;
        };
        let width = summary.platforms.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        let mut text = String::new();
        for (name, actions) in &summary.platforms {
            let _ = writeln!(text, "  {name:<width$}  {}", format_count(*actions, "action"));
        }
        let _ = write!(text, "look at one: npm run catalog -- show {first}");
        if self.out != Path::new(DEFAULT_OUT) {
            let _ = write!(text, " --catalog {}", self.out.display());
        }
        print(&format!("{text}\n"));
    }
}

/// Validate a catalog folder: every segment is present, undamaged and consistent with the others
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The catalog folder
    #[arg(value_name = "DIR", default_value = DEFAULT_OUT)]
    folder: PathBuf,
    /// Also fail if a platform of providers.toml has fewer actions than in this older catalog
    #[arg(long, value_name = "DIR")]
    former: Option<PathBuf>,
    /// With --former: a platform that may have fewer actions; repeat it for more
    #[arg(long, value_name = "PLATFORM", requires = "former")]
    fewer: Vec<String>,
}

impl CheckArgs {
    /// Prints every fault. Returns success if there are none.
    pub fn run(&self) -> Result<ExitCode> {
        let folder = Folder(self.folder.clone());
        let mut faults = check::faults(&folder);
        if let Some(former) = &self.former
            && faults.is_empty()
        {
            let former = check::connectors(&Folder(resolve_from_caller_folder(former)))?;
            let providers = Providers::read(&shipped_path(Path::new(DEFAULT_PROVIDERS)))?;
            let lost = lost_actions::faults(&former, &check::connectors(&folder)?, &providers);
            let is_fault = |(platform, _): &(String, String)| !self.fewer.contains(platform);
            faults.extend(lost.into_iter().filter(is_fault).map(|(_, fault)| fault));
        }
        for fault in &faults {
            eprintln!("error: {fault}");
        }
        if !faults.is_empty() {
            eprintln!("{} in {}", format_count(faults.len(), "fault"), self.folder.display());
            return Ok(ExitCode::FAILURE);
        }
        let entries = check::connectors(&folder)?;
        let tools = entries.iter().map(|entry| entry.connector.tools);
        let actions = tools.fold(0, u32::saturating_add).try_into().unwrap_or(usize::MAX);
        let (connectors, actions) =
            (format_count(entries.len(), "connector"), format_count(actions, "action"));
        print(&format!("{connectors}, {actions} in {}: no faults\n", self.folder.display()));
        Ok(ExitCode::SUCCESS)
    }
}

/// Find platforms in the catalog by words of their names, and documents that were skipped for their licence
#[derive(Debug, Args)]
pub struct FindArgs {
    /// Words that the name must contain; without words, lists every platform
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// List only platforms without actions, and their number
    #[arg(long)]
    without_actions: bool,
    /// The catalog folder
    #[arg(long, value_name = "DIR", default_value = DEFAULT_OUT)]
    catalog: PathBuf,
}

impl FindArgs {
    /// Prints the results. Returns failure if there are none.
    pub fn run(&self) -> Result<ExitCode> {
        let folder = Folder(self.catalog.clone());
        let report = std::fs::read_to_string(folder.report()).unwrap_or_default();
        let entries = check::connectors(&folder)?;
        if self.without_actions {
            print(&find::without_actions(&self.words, &entries));
            return Ok(ExitCode::SUCCESS);
        }
        let found = find::find(&self.words, &entries, &report);
        print(&found.text(&self.words, &self.catalog.display().to_string()));
        let is_nothing = found.platforms.is_empty() && found.skipped_parts.is_empty();
        Ok(if is_nothing { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// Report how a catalog differs from an older one
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The folder of the old catalog
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The folder of the new catalog
    #[arg(value_name = "NEW", default_value = DEFAULT_OUT)]
    new: PathBuf,
}

impl DiffArgs {
    /// Prints a line for each platform that differs.
    pub fn run(&self) -> Result<ExitCode> {
        let (old, new) = (Folder(self.old.clone()), Folder(self.new.clone()));
        print(&diff::diff(&check::OpenCatalog::new(&old)?, &check::OpenCatalog::new(&new)?)?);
        Ok(ExitCode::SUCCESS)
    }
}

/// Print a platform of the catalog, or one of its actions
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The name of the platform, such as `github`
    platform: String,
    /// The key of an action, to print the detail of the action as JSON
    #[arg(value_name = "ACTION")]
    action: Option<String>,
    /// The catalog folder
    #[arg(long, value_name = "DIR", default_value = DEFAULT_OUT)]
    catalog: PathBuf,
}

impl ShowArgs {
    pub fn run(&self) -> Result<ExitCode> {
        let folder = Folder(self.catalog.clone());
        let opened = check::OpenCatalog::new(&folder)?;
        let entries = opened.connectors()?;
        let mut details = opened.details()?;
        let requested = check::resolve(&entries, &details, std::slice::from_ref(&self.platform))?;
        let is_requested =
            |entry: &&check::ConnectorEntry| requested.contains(&entry.connector.platform);
        let Some(entry) = entries.iter().find(is_requested) else { return Ok(ExitCode::FAILURE) };
        let platform = &entry.connector.platform;
        let check::StoredPlatform { detail, aliases, units } = details.take(platform);
        if let Some(key) = &self.action {
            let Some(json) = opened.action(platform, key, &detail, &units)? else {
                let actions = opened.actions(platform)?;
                let suggestion =
                    check::did_you_mean(key, actions.iter().map(|one| one.key.as_str()));
                eprintln!(
                    "error: {platform} has no action `{key}`{suggestion}\nTo list its actions: npm run catalog -- show {platform}"
                );
                return Ok(ExitCode::FAILURE);
            };
            print(&format!("{json}\n"));
            return Ok(ExitCode::SUCCESS);
        }
        print(&show::platform(entry, &detail, &aliases, &opened.actions(platform)?));
        Ok(ExitCode::SUCCESS)
    }
}

/// Print the catalog as lines of JSON: each connector, followed by the inputs of its actions
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The platforms to export; by default, all
    #[arg(value_name = "NAME")]
    platforms: Vec<String>,
    /// Print at most this many actions of each platform, chosen at random
    #[arg(long, value_name = "COUNT")]
    sample: Option<usize>,
    /// The seed of the random choice: the same seed chooses the same actions
    #[arg(long, value_name = "TEXT", default_value = "", requires = "sample")]
    seed: String,
    /// The catalog folder
    #[arg(long, value_name = "DIR", default_value = DEFAULT_OUT)]
    catalog: PathBuf,
}

impl ExportArgs {
    pub fn run(&self) -> Result<ExitCode> {
        let folder = Folder(self.catalog.clone());
        let opened = check::OpenCatalog::new(&folder)?;
        let requested = check::resolve(&opened.connectors()?, &opened.details()?, &self.platforms)?;
        let is_requested = |platform: &str| requested.is_empty() || requested.contains(platform);
        let sample = self.sample.map(|max| Sample { max, seed: &self.seed });
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        export(&opened, &is_requested, sample, &mut out)?;
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Resolves a path relative to the folder from which `npm run catalog` was called: npm runs scripts
/// in the package's folder and passes the caller's folder in `INIT_CWD`.
pub(super) fn resolve_from_caller_folder(path: &Path) -> PathBuf {
    let is_catalog_script =
        std::env::var_os("npm_lifecycle_event").is_some_and(|event| event == "catalog");
    let called = std::env::var_os("INIT_CWD").filter(|_| is_catalog_script).map(PathBuf::from);
    let caller_folder =
        called.filter(|called| std::env::current_dir().is_ok_and(|here| here != *called));
    caller_folder.map_or_else(|| path.to_owned(), |called| called.join(path))
}

/// Resolves a path like [`resolve_from_caller_folder`], and makes it absolute.
pub(super) fn absolute(path: impl AsRef<Path>) -> Result<PathBuf> {
    let path = resolve_from_caller_folder(path.as_ref());
    std::path::absolute(&path).with_context(|| path.display().to_string())
}

/// Prints to stdout. A reader that stops early (`… | head`) is not an error.
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}
