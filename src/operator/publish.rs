//! `catalog publish`: makes the service serve the version in a catalog folder.
//!
//! Writes the segments first, which are named by their content, then the version's manifest, and
//! last the record that selects the served version. If a publish is interrupted, the old version
//! remains served, and the next publish writes only what is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde::Deserialize;

use crate::catalog::format::stored::{CURRENT_KEY, SegmentId};
use crate::importer::check::OpenCatalog;
use crate::importer::report::format_count;

use super::folder::Folder;
use super::kv::{Kv, Metadata, Pair};
use super::project::Project;
use super::storage::Storage;
use super::storage_target::StorageTarget;
use super::time::Moment;

/// The maximum number of times that a publish uploads disappeared segments again.
const MAX_REPAIRS: u8 = 3;

#[derive(Debug, Clone, Args)]
pub struct Publish {
    #[command(flatten)]
    storage_target: StorageTarget,
    /// The catalog folder
    #[arg(long, value_name = "DIR", default_value = ".catalog")]
    catalog: PathBuf,
    /// Publish only these platforms of the catalog; the others are no longer served
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    only: Vec<String>,
    /// Upload every segment again, even if storage has it; repairs damaged storage
    #[arg(long)]
    force: bool,
    /// Only print how many values a publish would write
    #[arg(long)]
    dry_run: bool,
    /// `npm start` made the catalog: do not replace a catalog of the operator that has other platforms
    #[arg(long, hide = true, conflicts_with_all = ["only", "remote"])]
    sample: bool,
}

/// The folder in local storage with a catalog that every local publish adds. It contains the demo
/// platform of `npm start`. It is separate from `.catalog`, so that it can't be published to
/// Cloudflare.
const LOCAL_CATALOG: &str = "v3/local-catalog";

impl Publish {
    /// The version to publish.
    fn folder(&self) -> Result<Folder> {
        if !self.only.is_empty() {
            return Folder::open_with_platforms(&self.catalog, &self.only);
        }
        if !self.storage_target.remote {
            let local = self.storage_target.folder(&Project::find()?)?.join(LOCAL_CATALOG);
            if local.join("current.json").exists() {
                return Folder::open_merged(&self.catalog, &local);
            }
        }
        Folder::open(&self.catalog)
    }
}

/// The daily limit of writes in the free plan of Workers KV.
const FREE_WRITES_PER_DAY: usize = 1_000;

pub fn publish(args: &Publish) -> Result<()> {
    let start = Instant::now();
    let folder = args.folder()?;
    let storage = Storage::open(&args.storage_target)?;
    let kv = Kv(&storage);
    let (present, served) = state(&kv)?;

    let missing: Vec<SegmentId> = folder
        .segments()
        .into_iter()
        .filter(|id| args.force || !present.contains_key(&id.key()))
        .collect();
    let version = folder.manifest.version;
    let version_key = version.version_key();
    let is_served = served == Some(version);
    let is_sample_served = present.get(CURRENT_KEY).is_some_and(|metadata| metadata.sample);
    let is_new_sample = args.sample && !is_sample_served;
    if is_new_sample
        && let lost = platforms_only_served(&kv, &folder)?
        && !lost.is_empty()
    {
        // `npm start` shows this.
        print!("{}", refusal_to_replace(&lost, &args.catalog));
        return Ok(());
    }
    if missing.is_empty() && is_served && !is_new_sample && present.contains_key(&version_key) {
        eprintln!(
            "This catalog is already served {}: {}. Nothing to do.",
            args.storage_target.name(),
            summary(&folder)
        );
        return Ok(());
    }

    let total = missing.len();
    eprintln!("{}", announcement(total, folder.segments().len(), args.storage_target.remote));
    if args.dry_run {
        return Ok(());
    }
    // Cloudflare's list of keys may not contain recent writes. The local list is always current.
    let written: BTreeSet<SegmentId> = if args.storage_target.remote {
        missing.iter().copied().collect()
    } else {
        BTreeSet::new()
    };
    let pairs = missing.into_iter().map(|id| pair(&folder, id));
    kv.put_all(pairs, |done| {
        if start.elapsed() > Duration::from_secs(2) {
            eprintln!("  {done} of {total} segments uploaded ({} s)", start.elapsed().as_secs());
        }
    })
    .map_err(|error| error.context(interruption_message(args.storage_target.remote)))?;

    let published_at = Some(Moment::now().to_string());
    let metadata = Some(Metadata { published_at, ..Metadata::default() });
    let manifest = serde_json::to_vec(&folder.manifest)?;
    kv.put_all([Ok(Pair { key: version_key, value: manifest, metadata })], |_| {})?;
    ensure_complete(
        &folder.segments().difference(&written).copied().collect(),
        args.storage_target.remote,
        || kv.keys(),
        |vanished| kv.put_all(vanished.iter().map(|id| pair(&folder, *id)), |_| {}),
    )?;
    let is_sample = args.sample || is_served && is_sample_served;
    let metadata =
        Some(Metadata { version: Some(version), sample: is_sample, ..Metadata::default() });
    let record = Pair { key: CURRENT_KEY.into(), value: folder.current.clone(), metadata };
    kv.put_all([Ok(record)], |_| {})?;
    eprintln!(
        "Published {}: {}; {total} of {} segments were new ({:.1} s).{}",
        args.storage_target.name(),
        summary(&folder),
        folder.segments().len(),
        start.elapsed().as_secs_f32(),
        if args.storage_target.remote { " All locations serve it within 90 seconds." } else { "" },
    );
    Ok(())
}

/// The platforms that the served catalog has and this one lacks. Empty if no catalog is served, or one that the service
/// can't read.
fn platforms_only_served(kv: &Kv<'_>, folder: &Folder) -> Result<Vec<String>> {
    let Some(record) = kv.bytes(CURRENT_KEY)? else { return Ok(Vec::new()) };
    let read_segment = |id: SegmentId| {
        kv.bytes(&id.key())?.with_context(|| format!("the segment {id} is missing"))
    };
    let opened = OpenCatalog::from_record(record, read_segment);
    let Ok(served) = opened.and_then(|opened| opened.connectors()) else { return Ok(Vec::new()) };
    let own = folder.platforms()?;
    let served = served.into_iter().map(|entry| entry.connector.platform);
    Ok(served.filter(|platform| !own.contains(platform)).collect())
}

/// The maximum number of platforms in a message.
const MAX_PLATFORMS_SHOWN: usize = 5;

/// The message if the sample catalog does not replace the served one.
fn refusal_to_replace(lost: &[String], catalog: &Path) -> String {
    let catalog = catalog.display();
    let mut names = lost.iter().take(MAX_PLATFORMS_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if let Some(more) = lost.len().checked_sub(MAX_PLATFORMS_SHOWN).filter(|more| *more > 0) {
        let _ = write!(names, " and {more} more");
    }
    format!(
        "The served catalog was not replaced, because it has {} that the sample catalog in {catalog} lacks: {names}.\n\
         To change it again, put your own {catalog} back, or import or add your documents, then start again.\n\
         To serve the sample catalog instead: npm run catalog -- publish\n",
        format_count(lost.len(), "connector"),
    )
}

/// Announces what a publish will write: missing segments, the version's manifest, and the record
/// that selects the version.
fn announcement(missing: usize, segments: usize, is_remote: bool) -> String {
    let writes = missing.saturating_add(2);
    let mut text = format!("Writes {writes} values: {missing} of {segments} segments are new.");
    if is_remote && writes > FREE_WRITES_PER_DAY {
        let days = writes.div_ceil(FREE_WRITES_PER_DAY);
        let _ = write!(
            text,
            " The free plan of Workers KV allows {FREE_WRITES_PER_DAY} writes a day: there, it takes {days} days, \
             with one run on each."
        );
    }
    text
}

/// The error message after an interrupted upload, with advice.
fn interruption_message(is_remote: bool) -> String {
    let limit = format!(
        "; if the free plan's limit of {FREE_WRITES_PER_DAY} writes a day was reached, run it again after \
         00:00 UTC"
    );
    format!(
        "the upload stopped: the previous catalog is still served, and the next run continues where \
         this one stopped{}",
        if is_remote { limit.as_str() } else { "" }
    )
}

fn pair(folder: &Folder, id: SegmentId) -> Result<Pair> {
    Ok(Pair { key: id.key(), value: folder.read(id)?, metadata: None })
}

/// Checks just before the switch that storage still has all segments, and uploads missing ones
/// again. With `trust_upload`, does not check the segments that this run has uploaded.
fn ensure_complete(
    needed: &BTreeSet<SegmentId>,
    trust_upload: bool,
    mut keys: impl FnMut() -> Result<BTreeMap<String, Metadata>>,
    mut upload: impl FnMut(&[SegmentId]) -> Result<()>,
) -> Result<()> {
    for _ in 0..MAX_REPAIRS {
        let present = keys()?;
        let vanished: Vec<SegmentId> =
            needed.iter().filter(|id| !present.contains_key(&id.key())).copied().collect();
        if vanished.is_empty() {
            return Ok(());
        }
        eprintln!(
            "  {} segments disappeared in the meantime; uploading them again",
            vanished.len()
        );
        upload(&vanished)?;
        if trust_upload {
            return Ok(());
        }
    }
    bail!(
        "segments keep vanishing from storage: wait for `prune` to end, then publish again; \
         what was served before is still served"
    )
}

/// The record `current` in catalog format 1.
#[derive(Deserialize)]
struct Format1Current {
    connectors: SegmentId,
}

/// The keys in storage, and the served version.
pub(super) fn state(kv: &Kv<'_>) -> Result<(BTreeMap<String, Metadata>, Option<SegmentId>)> {
    let present = kv.keys()?;
    let served = match present.get(CURRENT_KEY).map(|metadata| metadata.version) {
        Some(None) => kv.get::<Format1Current>(CURRENT_KEY)?.map(|current| current.connectors),
        version => version.flatten(),
    };
    Ok((present, served))
}

fn summary(folder: &Folder) -> String {
    let rows = &folder.manifest;
    let connectors = format_count(rows.connector_rows as usize, "connector");
    let actions = format_count(rows.action_rows as usize, "action");
    format!("{connectors}, {actions}, version {}", rows.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announces_number_of_writes() {
        for (missing, segments, is_remote, needed) in [
            (3, 200, true, "Writes 5 values: 3 of 200 segments are new."),
            (998, 998, true, "Writes 1000 values: 998 of 998 segments are new."),
            (1_200, 1_200, false, "Writes 1202 values: 1200 of 1200 segments are new."),
        ] {
            assert_eq!(announcement(missing, segments, is_remote), needed);
        }
        assert!(announcement(1_200, 1_200, true).ends_with("takes 2 days, with one run on each."));
        assert!(
            interruption_message(true).contains("00:00 UTC")
                && !interruption_message(false).contains("UTC")
        );
    }

    #[test]
    fn names_the_connectors_that_a_sample_would_remove() {
        let names = |n: usize| (1..=n).map(|at| format!("p{at}")).collect::<Vec<_>>();
        let one = refusal_to_replace(&names(1), Path::new(".catalog"));
        assert!(
            one.contains("it has 1 connector that the sample catalog in .catalog lacks: p1.\n"),
            "{one}"
        );
        let many = refusal_to_replace(&names(7), Path::new(".catalog"));
        assert!(
            many.contains("has 7 connectors that")
                && many.contains(": p1, p2, p3, p4, p5 and 2 more.\n"),
            "{many}"
        );
    }

    #[test]
    fn uploads_missing_segments_before_the_switch() {
        let ids = [SegmentId([1; 16]), SegmentId([2; 16])];
        let needed = BTreeSet::from(ids);
        let stored = std::cell::RefCell::new(BTreeMap::from([(ids[0].key(), Metadata::default())]));
        let mut uploads = Vec::new();
        ensure_complete(
            &needed,
            false,
            || Ok(stored.borrow().clone()),
            |vanished| {
                uploads.extend_from_slice(vanished);
                stored
                    .borrow_mut()
                    .extend(vanished.iter().map(|id| (id.key(), Metadata::default())));
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(uploads, [ids[1]]);
    }

    #[test]
    fn does_not_serve_segments_that_keep_disappearing() {
        let needed = BTreeSet::from([SegmentId([1; 16])]);
        assert!(ensure_complete(&needed, false, || Ok(BTreeMap::new()), |_| Ok(())).is_err());
        assert!(ensure_complete(&needed, true, || Ok(BTreeMap::new()), |_| Ok(())).is_ok());
    }
}
