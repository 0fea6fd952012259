//! `catalog fetch`: downloads the documents of `sources.toml` and compares them with the pinned
//! versions. Changed documents are used only after the operator accepts them.
//! `scripts/sources/download.mjs` sends the requests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::cache::{Cache, DEFAULT_CACHE, Record, Records};
use super::describe::{Description, describe};
use super::list::{Pin, Source, SourceList, is_own};
use super::{DEFAULT_LIST, pin};
use crate::importer::cli::resolve_from_caller_folder;
use crate::importer::folder::replace;
use crate::importer::paths::PathFilter;
use crate::importer::read::Rejection;
use crate::importer::report::format_count;
use crate::importer::shipped_files::{shipped_path, start_script};
use crate::importer::{hash, source, text};

/// The script that downloads documents.
const SCRIPT: &str = "scripts/sources/download.mjs";
/// The maximum number of added or removed operations that are listed.
const MAX_SHOWN: usize = 10;

/// Download the documents that sources.toml names
///
/// Documents that exist locally are not downloaded again. A document that differs from the one in sources.toml is
/// reported, and used only once you accept it, which records it in sources.toml. Without a network, the command reports
/// which documents are missing.
#[derive(Debug, Args)]
pub struct FetchArgs {
    /// The platforms to fetch; by default, all
    #[arg(value_name = "PLATFORM")]
    platforms: Vec<String>,
    /// Accept the last reported document of this platform; repeat it for more
    #[arg(long, value_name = "PLATFORM")]
    accept: Vec<String>,
    /// With --accept: accept a document of this platform even if its servers, authorization or
    /// token endpoints have new hosts
    #[arg(long, value_name = "PLATFORM")]
    accept_hosts: Vec<String>,
    /// Stop downloading after this many seconds; the next run continues
    #[arg(long, value_name = "SECONDS")]
    within: Option<u32>,
    /// The file of sources
    #[arg(long, value_name = "FILE", default_value = DEFAULT_LIST)]
    list: PathBuf,
    /// The folder with the documents
    #[arg(long, value_name = "DIR", default_value = DEFAULT_CACHE)]
    cache: PathBuf,
}

/// The input of the downloader.
#[derive(Serialize)]
struct Request<'a> {
    cache: &'a Path,
    within: Option<u32>,
    /// The hashes of the documents that must stay in the cache.
    keep: BTreeSet<&'a str>,
    addresses: BTreeSet<&'a str>,
}

/// The downloader's result for an address, printed as soon as it is available.
#[derive(Deserialize)]
struct FetchResult {
    address: String,
    sha256: Option<String>,
    error: Option<String>,
}

/// Maps the address of a document to its platforms and their sources.
type ByAddress<'a> = BTreeMap<&'a str, Vec<(&'a str, &'a Source)>>;

enum Outcome {
    /// The document equals the pinned version.
    Same,
    /// The document differs from the pinned version. Contains the hash of the new document.
    Other(String),
    Failed(String),
}

impl FetchArgs {
    pub fn run(&self) -> Result<ExitCode> {
        let list_file = resolve_from_caller_folder(&self.list);
        let path = shipped_path(&list_file);
        let cache = Cache(resolve_from_caller_folder(&self.cache));
        let list = SourceList::read(&path)?;
        if let Some(name) = self.accept_hosts.iter().find(|name| !self.accept.contains(name)) {
            bail!("--accept-hosts {name} needs --accept {name}, too");
        }
        list.select(&self.accept)?;
        let mut reported = cache.read_reported()?;
        let (list, accepted) = self.accept(&path, &list_file, list, &cache, &mut reported)?;
        // With only `--accept`, nothing needs to be downloaded once all of these documents are
        // accepted.
        let is_done = self.platforms.is_empty() && !self.accept.is_empty();
        if is_done && accepted.len() == self.accept.len() {
            return Ok(ExitCode::SUCCESS);
        }
        let mut names = self.platforms.clone();
        if is_done {
            names.extend(self.accept.iter().filter(|name| !accepted.contains(*name)).cloned());
        }
        let mut by_address = ByAddress::new();
        for (name, source) in list.select(&names)? {
            by_address.entry(&source.address).or_default().push((name, source));
        }
        let outcomes = self.download(&list, &by_address, &cache, &reported)?;
        let mut report = Report::default();
        for (address, sources) in &by_address {
            let failed = Outcome::Failed("the download did not begin".to_owned());
            let outcome = outcomes.get(*address).unwrap_or(&failed);
            report.add(address, sources, outcome, &cache, &mut reported)?;
        }
        cache.write_reported(&reported)?;
        print!("{}", report.text());
        std::io::stdout().flush()?;
        Ok(if report.missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Accepts the documents of `--accept` whose changes an earlier run has reported, and pins them
    /// in the file `list_file`. Returns the updated list, and the platforms whose document was accepted.
    fn accept(
        &self,
        path: &Path,
        list_file: &Path,
        list: SourceList,
        cache: &Cache,
        reported: &mut Records,
    ) -> Result<(SourceList, BTreeSet<String>)> {
        let mut accepted = BTreeSet::new();
        let mut done = BTreeSet::new();
        let mut text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
        for name in &self.accept {
            let Some(source) = list.0.get(name) else { continue };
            if done.contains(&source.address) {
                continue;
            }
            let Some(record) = reported.get(&source.address) else { continue };
            let Ok(bytes) = source::bytes(&cache.document(&record.sha256)) else { continue };
            ensure!(
                hash::sha256(&bytes) == record.sha256,
                "the document of {name} in the cache is damaged: download it again"
            );
            // Platforms that share a document accept it together.
            let shared = list.0.iter().filter(|(_, other)| other.address == source.address);
            for (platform, source) in shared {
                let Description { operations, hosts } =
                    describe(&bytes, &source.paths, source.endpoint.as_deref()).map_err(
                        |refusal| anyhow::anyhow!("{platform}: {}", refusal_reason(&refusal)),
                    )?;
                let known = source.pin.as_ref().map(|pin| &pin.hosts);
                if known != Some(&hosts) && !self.accept_hosts.contains(name) {
                    bail!(
                        "{platform}: the document names other hosts than the one that was checked: to accept these hosts too, add --accept-hosts {name}"
                    );
                }
                let pin = Pin {
                    sha256: record.sha256.clone(),
                    operations: operations.len(),
                    read: today,
                    hosts,
                };
                text = pin::set_pin(&text, platform, &pin).with_context(|| {
                    format!("{} has no line [platforms.{platform}]", path.display())
                })?;
                eprintln!("accepted for {platform}: {}", format_count(pin.operations, "operation"));
                accepted.insert(platform.clone());
            }
            done.insert(source.address.clone());
        }
        if done.is_empty() {
            return Ok((list, BTreeSet::new()));
        }
        let list = SourceList::parse(&path.display().to_string(), &text)?;
        replace(list_file, text.as_bytes())?;
        reported.retain(|address, _| !done.contains(address));
        cache.write_reported(reported)?;
        accepted.retain(|name| self.accept.contains(name));
        Ok((list, accepted))
    }

    /// Downloads the documents at these addresses. Returns the outcome for each address.
    fn download(
        &self,
        list: &SourceList,
        by_address: &ByAddress<'_>,
        cache: &Cache,
        reported: &Records,
    ) -> Result<BTreeMap<String, Outcome>> {
        let mut outcomes = BTreeMap::new();
        let mut addresses = BTreeSet::new();
        for (address, sources) in by_address {
            if is_own(Path::new(address)) {
                outcomes.insert((*address).to_owned(), Outcome::Same);
                continue;
            }
            let pin = sources.first().and_then(|(_, source)| source.pin.as_ref());
            let is_immutable = is_immutable(address);
            if is_immutable && pin.is_some_and(|pin| cache.document(&pin.sha256).is_file()) {
                outcomes.insert((*address).to_owned(), Outcome::Same);
            } else {
                addresses.insert(*address);
            }
        }
        if addresses.is_empty() {
            return Ok(outcomes);
        }
        let pins = list.0.values().filter_map(|source| source.pin.as_ref());
        let keep = pins.map(|pin| pin.sha256.as_str());
        let keep = keep.chain(reported.values().map(|record| record.sha256.as_str())).collect();
        let request = Request { cache: &cache.0, within: self.within, keep, addresses };
        let mut child = start_script(SCRIPT, &request)?;
        let stdout = child.stdout.take().context("its output")?;
        for line in BufReader::new(stdout).lines() {
            let FetchResult { address, sha256, error } = serde_json::from_str(&line?)?;
            let known = by_address.get(address.as_str()).and_then(|sources| sources.first());
            let pin = known.and_then(|(_, source)| source.pin.as_ref());
            let outcome = match sha256 {
                Some(sha256) if pin.is_some_and(|pin| pin.sha256 == sha256) => Outcome::Same,
                Some(sha256) => Outcome::Other(sha256),
                None => Outcome::Failed(error.unwrap_or_default()),
            };
            outcomes.insert(address, outcome);
        }
        ensure!(child.wait()?.success(), "{SCRIPT} failed");
        Ok(outcomes)
    }
}

#[derive(Default)]
struct Report {
    same: usize,
    cached: usize,
    changed: String,
    failed: String,
    /// Platforms whose pinned document is not in the cache.
    missing: Vec<String>,
}

impl Report {
    fn add(
        &mut self,
        address: &str,
        sources: &[(&str, &Source)],
        outcome: &Outcome,
        cache: &Cache,
        reported: &mut Records,
    ) -> Result<()> {
        let names = text::format_list(sources.iter().map(|(name, _)| *name), MAX_SHOWN);
        let pin = sources.first().and_then(|(_, source)| source.pin.as_ref());
        let is_cached = is_own(Path::new(address))
            || pin.is_some_and(|pin| cache.document(&pin.sha256).is_file());
        if !is_cached {
            self.missing.extend(sources.iter().map(|(name, _)| (*name).to_owned()));
        }
        let rest = if is_cached { "the one in the cache is used" } else { "it is missing" };
        match outcome {
            Outcome::Same => {
                self.same = self.same.saturating_add(sources.len());
                reported.remove(address);
            }
            Outcome::Failed(error) => {
                if is_cached {
                    self.cached = self.cached.saturating_add(sources.len());
                }
                let _ = writeln!(self.failed, "{names}: {address}: {error}; {rest}");
            }
            Outcome::Other(sha256) => {
                let bytes = source::bytes(&cache.document(sha256))?;
                let what = if pin.is_some() { "another document" } else { "a new document" };
                let _ = writeln!(self.changed, "{names}: {what} at {address}; {rest}");
                let endpoint = sources.first().and_then(|(_, source)| source.endpoint.as_deref());
                if let Err(refusal) = describe(&bytes, &PathFilter::default(), endpoint) {
                    let _ = writeln!(
                        self.changed,
                        "  which cannot be used: {}",
                        refusal_reason(&refusal)
                    );
                    return Ok(());
                }
                let mut has_new_hosts = false;
                for (name, source) in sources {
                    has_new_hosts |= self.compare(name, source, &bytes, cache);
                }
                let first = sources.first().map_or("", |(name, _)| name);
                let hosts =
                    if has_new_hosts { format!(" --accept-hosts {first}") } else { String::new() };
                let _ = writeln!(
                    self.changed,
                    "  to use it: npm run catalog -- fetch --accept {first}{hosts}"
                );
                reported.insert(address.to_owned(), Record { sha256: sha256.clone() });
            }
        }
        Ok(())
    }

    /// Reports what a new document changes for a platform. Returns whether its hosts differ.
    fn compare(&mut self, name: &str, source: &Source, bytes: &[u8], cache: &Cache) -> bool {
        let describe = |bytes: &[u8]| describe(bytes, &source.paths, source.endpoint.as_deref());
        let new = describe(bytes).unwrap_or_default();
        let pin = source.pin.as_ref();
        let old = pin.and_then(|pin| source::bytes(&cache.document(&pin.sha256)).ok());
        let old = old.and_then(|bytes| describe(&bytes).ok());
        let text = &mut self.changed;
        match (&old, pin) {
            (Some(old), _) => {
                let unchanged = old.operations.intersection(&new.operations).count();
                let added: Vec<_> = new.operations.difference(&old.operations).collect();
                let removed: Vec<_> = old.operations.difference(&new.operations).collect();
                let _ = writeln!(
                    text,
                    "  {name}: operations: {unchanged} unchanged, {} added, {} removed",
                    added.len(),
                    removed.len()
                );
                for (sign, operations) in [('+', added), ('-', removed)] {
                    for operation in operations.iter().take(MAX_SHOWN) {
                        let _ = writeln!(text, "    {sign} {}", text::verbatim(operation, 200));
                    }
                    if let Some(more) =
                        operations.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0)
                    {
                        let _ = writeln!(text, "    {sign} … and {more} more");
                    }
                }
            }
            (None, Some(pin)) => {
                let _ = writeln!(
                    text,
                    "  {name}: operations: {}, instead of {}",
                    new.operations.len(),
                    pin.operations
                );
            }
            (None, None) => {
                let _ =
                    writeln!(text, "  {name}: {}", format_count(new.operations.len(), "operation"));
            }
        }
        let none = BTreeSet::new();
        let known = pin.map_or(&none, |pin| &pin.hosts);
        for (sign, hosts) in
            [('+', new.hosts.difference(known)), ('-', known.difference(&new.hosts))]
        {
            for host in hosts {
                let _ = writeln!(text, "    host {sign} {}", text::verbatim(host, 200));
            }
        }
        new.hosts != *known || pin.is_none()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        text += &self.changed;
        text += &self.failed;
        let sources = format_count(self.same.saturating_add(self.cached), "document");
        let _ = write!(text, "{sources} ready");
        if self.cached > 0 {
            let _ = write!(text, ", {} of them from the cache alone", self.cached);
        }
        let _ = writeln!(text);
        if !self.missing.is_empty() {
            let missing = text::format_list(self.missing.iter().map(String::as_str), MAX_SHOWN);
            let _ = writeln!(text, "{} missing: {missing}", self.missing.len());
        }
        text
    }
}

/// Whether the content at an address is immutable: a version of a package, or a commit.
fn is_immutable(address: &str) -> bool {
    let is_commit =
        |part: &str| part.len() == 40 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    !address.starts_with("http") || address.split('/').any(is_commit)
}

/// Why a document can't be parsed, for messages.
fn refusal_reason(refusal: &Rejection) -> String {
    match refusal {
        Rejection::NotOpenApi => "it is not an API description in a known format".to_owned(),
        Rejection::Dialect(version) => format!("OpenAPI {version} is not supported"),
        Rejection::Broken(fault) => fault.to_string(),
    }
}
