//! `catalog list` and `catalog prune`: the versions that storage holds.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;

use crate::catalog::stored::{Current, Manifest};

use super::folder::segments_of;
use super::kv::{Kv, Metadata};
use super::publish::state;
use super::wrangler::{Place, Wrangler};

/// `catalog list`
#[derive(Debug, Clone, Args)]
pub struct List {
    #[command(flatten)]
    place: Place,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// `catalog prune`
#[derive(Debug, Clone, Args)]
pub struct Prune {
    #[command(flatten)]
    place: Place,
    /// How many versions to keep, the served one among them
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    keep: u16,
    /// Remove; without it, only say what would be removed
    #[arg(long)]
    yes: bool,
}

/// A version in storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    id: String,
    current: bool,
    connectors: u32,
    actions: u32,
    published_at: Option<String>,
    #[serde(skip)]
    segments: BTreeSet<String>,
}

/// Everything in storage.
struct Stored {
    versions: Vec<Version>,
    keys: BTreeMap<String, Metadata>,
}

/// Reads all versions: the served one first, then the latest published first.
fn read(kv: &Kv<'_>) -> Result<Stored> {
    let (keys, served) = state(kv)?;
    let names: Vec<String> =
        keys.keys().filter(|key| key.starts_with("version:")).cloned().collect();
    let manifests: BTreeMap<String, Manifest> = kv.get_all(&names)?;
    if let Some(unread) = names.iter().find(|name| !manifests.contains_key(*name)) {
        bail!("`{unread}` in storage cannot be read: publish the catalog again with --force");
    }
    Ok(Stored { versions: versions(&manifests, &keys, served), keys })
}

fn versions(
    manifests: &BTreeMap<String, Manifest>,
    keys: &BTreeMap<String, Metadata>,
    served: Option<Current>,
) -> Vec<Version> {
    let mut versions: Vec<Version> = manifests
        .iter()
        .map(|(key, manifest)| Version {
            id: manifest.connectors.to_string(),
            current: served.is_some_and(|served| served.connectors == manifest.connectors),
            connectors: manifest.connector_rows,
            actions: manifest.action_rows,
            published_at: keys.get(key).and_then(|metadata| metadata.published_at.clone()),
            segments: segments_of(manifest).map(|id| id.key()).collect(),
        })
        .collect();
    versions.sort_by(|a, b| {
        (b.current, &b.published_at, &b.id).cmp(&(a.current, &a.published_at, &a.id))
    });
    versions
}

/// Lists the versions in storage on stdout.
///
/// # Errors
/// When wrangler fails.
pub fn list(args: &List) -> Result<()> {
    let wrangler = Wrangler::new(&args.place)?;
    let stored = read(&Kv(&wrangler))?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&stored.versions)?);
        return Ok(());
    }
    if stored.versions.is_empty() {
        println!("No catalog is published {}.", args.place.name());
        return Ok(());
    }
    println!("{:32}  {:>10}  {:>8}  {:24}", "VERSION", "CONNECTORS", "ACTIONS", "PUBLISHED");
    for version in &stored.versions {
        println!(
            "{:32}  {:>10}  {:>8}  {:24}  {}",
            version.id,
            version.connectors,
            version.actions,
            version.published_at.as_deref().unwrap_or("?"),
            if version.current { "served" } else { "" }
        );
    }
    Ok(())
}

/// What to remove so that only the first `keep` versions remain: manifests, then segments nobody refers to.
fn superfluous(stored: &Stored, keep: usize) -> (Vec<String>, Vec<String>) {
    let kept: BTreeSet<&String> =
        stored.versions.iter().take(keep).flat_map(|version| &version.segments).collect();
    let manifests = stored
        .versions
        .iter()
        .skip(keep)
        .map(|version| format!("version:{}", version.id))
        .collect();
    let orphans = stored
        .keys
        .keys()
        .filter(|key| key.starts_with("segment:") && !kept.contains(key))
        .cloned()
        .collect();
    (manifests, orphans)
}

/// Removes old versions and says on stderr what it did.
///
/// # Errors
/// When no version is served, or wrangler fails.
pub fn prune(args: &Prune) -> Result<()> {
    let wrangler = Wrangler::new(&args.place)?;
    let kv = Kv(&wrangler);
    let stored = read(&kv)?;
    stored
        .versions
        .first()
        .filter(|first| first.current)
        .context("no whole version is served, so none is safe to remove: publish first")?;
    let (manifests, segments) = superfluous(&stored, usize::from(args.keep));
    if manifests.is_empty() && segments.is_empty() {
        eprintln!("Nothing to remove: {} version(s) {}.", stored.versions.len(), args.place.name());
        return Ok(());
    }
    let what = format!(
        "{} version(s) and {} segment(s) {}",
        manifests.len(),
        segments.len(),
        args.place.name()
    );
    if !args.yes {
        for key in &manifests {
            eprintln!("  {key}");
        }
        eprintln!("Would remove {what}. Run it again with --yes to do so.");
        return Ok(());
    }
    // A version must never be listed whose segments are gone, so the manifests go first.
    kv.delete_all(&manifests)?;
    kv.delete_all(&segments)?;
    eprintln!("Removed {what}.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::stored::{FORMAT, SegmentId};

    fn id(byte: u8) -> SegmentId {
        SegmentId([byte; 16])
    }

    /// Versions 1, 2 and 3, published in this order, each with a segment of its own and one that all share.
    fn stored(served: u8) -> Stored {
        let mut keys = BTreeMap::new();
        let mut manifests = BTreeMap::new();
        for (byte, own) in [(1, 17), (2, 18), (3, 19)] {
            let manifest = Manifest {
                format: FORMAT,
                connectors: id(byte),
                actions: vec![id(0), id(own)],
                connector_rows: 1,
                action_rows: 2,
            };
            keys.extend(segments_of(&manifest).map(|id| (id.key(), Metadata::default())));
            let published_at = Some(format!("2026-01-0{byte}T00:00:00.000Z"));
            keys.insert(id(byte).version_key(), Metadata { published_at });
            manifests.insert(id(byte).version_key(), manifest);
        }
        keys.insert(id(99).key(), Metadata::default());
        keys.insert("current".into(), Metadata::default());
        let current = Current { format: FORMAT, connectors: id(served) };
        Stored { versions: versions(&manifests, &keys, Some(current)), keys }
    }

    fn order(served: u8) -> Vec<String> {
        stored(served).versions.into_iter().map(|version| version.id).collect()
    }

    #[test]
    fn the_served_version_comes_first_then_the_latest() {
        assert_eq!(order(3), [3, 2, 1].map(|byte| id(byte).to_string()));
        assert_eq!(order(1), [1, 3, 2].map(|byte| id(byte).to_string()));
    }

    #[test]
    fn pruning_spares_what_a_kept_version_refers_to() {
        let (manifests, segments) = superfluous(&stored(1), 2);
        assert_eq!(manifests, [id(2).version_key()]);
        assert_eq!(segments, [2, 18, 99].map(|byte| id(byte).key()));
        let (manifests, segments) = superfluous(&stored(1), 9);
        assert!(manifests.is_empty());
        assert_eq!(segments, [id(99).key()]);
    }
}
