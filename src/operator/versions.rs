//! `catalog list` and `catalog prune`: list and remove catalog versions in storage.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;

use crate::catalog::format::stored::{FORMAT, Manifest, SegmentId};
use crate::importer::fetched::coverage;
use crate::importer::folder::Folder;
use crate::importer::report::format_count;

use super::keys::arguments;
use super::kv::{Kv, Metadata};
use super::publish::state;
use super::storage::Storage;
use super::storage_target::StorageTarget;
use super::time::Moment;

#[derive(Debug, Clone, Args)]
pub struct List {
    #[command(flatten)]
    storage_target: StorageTarget,
    /// Print JSON
    #[arg(long, conflicts_with = "coverage")]
    json: bool,
    /// For each platform of providers.toml, print how users connect, whether credentials can be checked, its number of
    /// actions, and where they come from. Reads the folder of --catalog instead of storage
    #[arg(long)]
    coverage: bool,
    /// The catalog folder
    #[arg(long, value_name = "DIR", default_value = ".catalog", requires = "coverage")]
    catalog: PathBuf,
}

/// How long a replaced version is kept, in milliseconds. Isolates cache `current` for 30 s, and KV
/// caches it for 60 s.
const GRACE_MS: i64 = 120_000;

#[derive(Debug, Clone, Args)]
pub struct Prune {
    #[command(flatten)]
    storage_target: StorageTarget,
    /// How many versions to keep, including the one that is served
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = arguments::number::<u16>(1, 65_535))]
    keep: u16,
    /// Also remove segments that belong to no version, which interrupted uploads leave behind. Only when no publish is
    /// running
    #[arg(long)]
    orphans: bool,
    /// Remove the versions; without this option, only print what would be removed
    #[arg(long)]
    yes: bool,
}

/// The JSON representation of a version in storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    id: String,
    current: bool,
    format: Option<u32>,
    /// `None`, like the other details, if the manifest can't be read.
    connectors: Option<u32>,
    actions: Option<u32>,
    published_at: Option<String>,
    #[serde(skip)]
    segments: BTreeSet<String>,
}

/// All versions and keys in storage.
struct StoredVersions {
    versions: Vec<Version>,
    keys: BTreeMap<String, Metadata>,
}

/// Reads all versions: first the served one, then the others in descending order of their
/// publication.
fn read(kv: &Kv<'_>) -> Result<StoredVersions> {
    let (keys, served) = state(kv)?;
    let names: Vec<String> =
        keys.keys().filter(|key| key.starts_with("version:")).cloned().collect();
    let manifests: BTreeMap<String, Manifest> = kv.get_all(&names)?;
    let versions = versions(&manifests, &keys, served);
    for version in versions.iter().filter(|version| !version.is_readable()) {
        eprintln!("warning: version {} cannot be read: damaged, or of another format", version.id);
    }
    Ok(StoredVersions { versions, keys })
}

impl Version {
    const fn is_readable(&self) -> bool {
        self.connectors.is_some()
    }

    const fn note(&self) -> &'static str {
        match (self.current, self.is_readable()) {
            (true, true) => "served",
            (true, false) => "current, but unreadable: import and publish again",
            (false, _) => "",
        }
    }
}

fn versions(
    manifests: &BTreeMap<String, Manifest>,
    keys: &BTreeMap<String, Metadata>,
    served: Option<SegmentId>,
) -> Vec<Version> {
    let mut versions: Vec<Version> = keys
        .iter()
        .filter_map(|(key, metadata)| {
            let id = key.strip_prefix("version:")?;
            let is_readable = |manifest: &&Manifest| {
                manifest.format == FORMAT && manifest.version.to_string() == id
            };
            let rows = manifests.get(key).filter(is_readable);
            Some(Version {
                id: id.to_owned(),
                current: served.is_some_and(|served| served.to_string() == id),
                format: rows.map(|manifest| manifest.format),
                connectors: rows.map(|manifest| manifest.connector_rows),
                actions: rows.map(|manifest| manifest.action_rows),
                published_at: metadata.published_at.clone(),
                segments: rows
                    .into_iter()
                    .flat_map(|manifest| manifest.segments.iter().map(SegmentId::key))
                    .collect(),
            })
        })
        .collect();
    versions.sort_by(|a, b| {
        (b.current, &b.published_at, &b.id).cmp(&(a.current, &a.published_at, &a.id))
    });
    versions
}

pub fn list(args: &List) -> Result<()> {
    if args.coverage {
        print!("{}", coverage::report(&Folder(args.catalog.clone()))?);
        return Ok(());
    }
    let storage = Storage::open(&args.storage_target)?;
    let stored = read(&Kv(&storage))?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&stored.versions)?);
        return Ok(());
    }
    if stored.versions.is_empty() {
        println!("No catalog is published {}.", args.storage_target.name());
        return Ok(());
    }
    let count = |rows: Option<u32>| rows.map_or_else(|| "unreadable".into(), |n| n.to_string());
    println!("{:32}  {:>10}  {:>10}  {:24}", "VERSION", "CONNECTORS", "ACTIONS", "PUBLISHED");
    for version in &stored.versions {
        println!(
            "{:32}  {:>10}  {:>10}  {:24}  {}",
            version.id,
            count(version.connectors),
            count(version.actions),
            version.published_at.as_deref().unwrap_or("?"),
            version.note(),
        );
    }
    Ok(())
}

/// The keys to delete so that only the first `keep` readable versions remain: manifests, and
/// segments that no remaining version uses. With `orphans`, also segments that no version uses.
fn keys_to_delete(
    stored: &StoredVersions,
    keep: usize,
    orphans: bool,
    now: Moment,
) -> (Vec<String>, Vec<String>) {
    let mut readable = 0_usize;
    let (kept, removed): (Vec<&Version>, Vec<&Version>) =
        stored.versions.iter().partition(|version| {
            readable = readable.saturating_add(usize::from(version.is_readable()));
            version.current
                || version.is_readable() && readable <= keep
                || was_served_recently(version, &stored.versions, now)
        });
    let named = |versions: &[&Version]| -> BTreeSet<String> {
        versions.iter().flat_map(|version| version.segments.iter().cloned()).collect()
    };
    let (needed, unneeded) = (named(&kept), named(&removed));
    let manifests = removed.iter().map(|version| format!("version:{}", version.id)).collect();
    let segments = stored
        .keys
        .keys()
        .filter(|key| key.starts_with("segment:") && !needed.contains(*key))
        .filter(|key| orphans || unneeded.contains(*key))
        .cloned()
        .collect();
    (manifests, segments)
}

/// Whether a version was published or replaced within the last [`GRACE_MS`].
fn was_served_recently(version: &Version, all: &[Version], now: Moment) -> bool {
    let Some(published) = version.published_at.as_deref().and_then(millis) else { return false };
    let next = all
        .iter()
        .filter_map(|other| other.published_at.as_deref().and_then(millis))
        .filter(|other| *other > published)
        .min();
    now.millis().saturating_sub(next.unwrap_or(published)) < GRACE_MS
}

fn millis(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

/// Removes old versions, and reports the removed ones on stderr.
pub fn prune(args: &Prune) -> Result<()> {
    let storage = Storage::open(&args.storage_target)?;
    let kv = Kv(&storage);
    let stored = read(&kv)?;
    stored.versions.first().filter(|first| first.current && first.is_readable()).context(
        "no complete version is served, so none is safe to remove: run `publish --force` first",
    )?;
    let (manifests, segments) =
        keys_to_delete(&stored, usize::from(args.keep), args.orphans, Moment::now());
    let is_kept = |version: &&Version| !manifests.contains(&format!("version:{}", version.id));
    if args.orphans && stored.versions.iter().filter(is_kept).any(|version| !version.is_readable())
    {
        bail!(
            "a version that was just published, or a part of it, cannot be read: wait two minutes"
        );
    }
    if manifests.is_empty() && segments.is_empty() {
        let versions = format_count(stored.versions.len(), "version");
        eprintln!("Nothing to remove: {versions} {}.", args.storage_target.name());
        return Ok(());
    }
    let what = format!(
        "{} and {} {}",
        format_count(manifests.len(), "version"),
        format_count(segments.len(), "segment"),
        args.storage_target.name()
    );
    if !args.yes {
        for key in &manifests {
            eprintln!("  {key}");
        }
        eprintln!("Would remove {what}. Run it again with --yes to do so.");
        return Ok(());
    }
    // Deletes manifests first, so that no listed version lacks segments.
    kv.delete_all(&manifests)?;
    kv.delete_all(&segments)?;
    eprintln!("Removed {what}.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::format::stored::{FORMAT, SegmentId};

    fn id(byte: u8) -> SegmentId {
        SegmentId([byte; 16])
    }

    fn manifest(version: u8, segments: Vec<SegmentId>) -> Manifest {
        Manifest {
            format: FORMAT,
            version: id(version),
            segments,
            connector_rows: 1,
            action_rows: 2,
        }
    }

    /// Versions 1, 2 and 3, published in this order. Each has its own segment, and all share
    /// another one.
    fn stored(served: u8) -> StoredVersions {
        let mut keys = BTreeMap::new();
        let mut manifests = BTreeMap::new();
        for (byte, own) in [(1, 17), (2, 18), (3, 19)] {
            let segments = vec![id(0), id(byte), id(own)];
            keys.extend(segments.iter().map(|id| (id.key(), Metadata::default())));
            let published_at = Some(format!("2026-01-0{byte}T00:00:00.000Z"));
            let metadata = Metadata { published_at, ..Metadata::default() };
            keys.insert(id(byte).version_key(), metadata);
            manifests.insert(id(byte).version_key(), manifest(byte, segments));
        }
        keys.insert(id(99).key(), Metadata::default());
        keys.insert("current".into(), Metadata::default());
        StoredVersions { versions: versions(&manifests, &keys, Some(id(served))), keys }
    }

    fn order(served: u8) -> Vec<String> {
        stored(served).versions.into_iter().map(|version| version.id).collect()
    }

    #[test]
    fn lists_served_version_first_then_newest() {
        assert_eq!(order(3), [3, 2, 1].map(|byte| id(byte).to_string()));
        assert_eq!(order(1), [1, 3, 2].map(|byte| id(byte).to_string()));
    }

    fn at(moment: &str) -> Moment {
        Moment::from_millis(millis(moment).unwrap())
    }

    #[test]
    fn the_list_notes_a_current_version_of_another_format() {
        assert_eq!(stored(3).versions[0].note(), "served");
        let stored = stored(3);
        let other = Manifest { format: FORMAT + 1, ..manifest(3, Vec::new()) };
        let manifests = BTreeMap::from([(id(3).version_key(), other)]);
        let versions = versions(&manifests, &stored.keys, Some(id(3)));
        assert_eq!(versions[0].note(), "current, but unreadable: import and publish again");
    }

    #[test]
    fn prune_keeps_segments_of_kept_versions() {
        let now = at("2026-02-01T00:00:00Z");
        let (manifests, segments) = keys_to_delete(&stored(1), 2, false, now);
        assert_eq!(manifests, [id(2).version_key()]);
        assert_eq!(segments, [2, 18].map(|byte| id(byte).key()));
        let (manifests, segments) = keys_to_delete(&stored(1), 9, false, now);
        assert!(manifests.is_empty() && segments.is_empty());
        let (_, segments) = keys_to_delete(&stored(1), 9, true, now);
        assert_eq!(segments, [id(99).key()]);
    }

    #[test]
    fn prune_keeps_recently_served_versions() {
        let removed = |moment: &str| keys_to_delete(&stored(3), 1, false, at(moment)).0;
        assert_eq!(removed("2026-01-03T00:01:59Z"), [id(1).version_key()]);
        assert_eq!(removed("2026-01-03T00:02:00Z"), [2, 1].map(|byte| id(byte).version_key()));
    }

    #[test]
    fn an_unreadable_version_is_listed_and_removed() {
        let mut stored = stored(3);
        stored.keys.insert(id(7).version_key(), Metadata::default());
        stored.versions = versions(&BTreeMap::new(), &stored.keys, Some(id(3)));
        assert!(stored.versions.iter().all(|version| !version.is_readable()));
        let (manifests, segments) = keys_to_delete(&stored, 2, false, at("2026-02-01T00:00:00Z"));
        assert_eq!(manifests, [2, 1, 7].map(|byte| id(byte).version_key()));
        assert!(segments.is_empty());
    }
}
