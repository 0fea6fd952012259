//! `catalog publish`: a catalog folder becomes what the service serves.
//!
//! Values that are named by their content go first, the version's manifest next, and the record that names the
//! served version last, on its own. So whatever interrupts it, the old version is served until the new one is
//! whole, and the next run has only the rest to do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::catalog::stored::{CURRENT_KEY, Current, SegmentId};
use crate::importer::report::counted;

use super::folder::Folder;
use super::kv::{Kv, Metadata, Pair};
use super::when::Moment;
use super::wrangler::{Place, Wrangler};

/// How often what vanished from storage meanwhile is uploaded again.
const WHOLE_ATTEMPTS: u8 = 3;

/// `catalog publish`
#[derive(Debug, Clone, Args)]
pub struct Publish {
    #[command(flatten)]
    place: Place,
    /// The catalog folder
    #[arg(long, value_name = "DIR", default_value = ".catalog")]
    catalog: PathBuf,
    /// Upload every segment again, also those that are there: repairs damaged storage
    #[arg(long)]
    force: bool,
}

/// Publishes a catalog folder and says on stderr what it did.
///
/// # Errors
/// When the folder holds no whole catalog, or wrangler fails. The version served before is then still served.
pub fn publish(args: &Publish) -> Result<()> {
    let start = Instant::now();
    let folder = Folder::open(&args.catalog)?;
    let wrangler = Wrangler::new(&args.place)?;
    let kv = Kv(&wrangler);
    let (present, served) = state(&kv)?;

    let missing: Vec<SegmentId> = folder
        .segments()
        .into_iter()
        .filter(|id| args.force || !present.contains_key(&id.key()))
        .collect();
    let version_key = folder.current.connectors.version_key();
    let is_served = served == Some(folder.current);
    if missing.is_empty() && is_served && present.contains_key(&version_key) {
        eprintln!(
            "This catalog is already served {}: {}. Nothing to do.",
            args.place.name(),
            summary(&folder)
        );
        return Ok(());
    }

    let total = missing.len();
    // A listing at Cloudflare may not show yet what was written just now; one on this machine shows all there is.
    let written: BTreeSet<SegmentId> =
        if args.place.remote { missing.iter().copied().collect() } else { BTreeSet::new() };
    let pairs = missing.into_iter().map(|id| pair(&folder, id));
    kv.put_all(pairs, |done| {
        if start.elapsed() > Duration::from_secs(2) {
            eprintln!("  {done} of {total} segments uploaded ({} s)", start.elapsed().as_secs());
        }
    })
    .context(
        "the upload stopped; what was served before is still served, and another run continues",
    )?;

    let metadata = Some(Metadata { published_at: Some(Moment::now().to_string()) });
    let manifest = serde_json::to_vec(&folder.manifest)?;
    kv.put_all([Ok(Pair { key: version_key, value: manifest, metadata })], |_| {})?;
    ensure_whole(
        &folder.segments().difference(&written).copied().collect(),
        args.place.remote,
        || kv.keys(),
        |vanished| kv.put_all(vanished.iter().map(|id| pair(&folder, *id)), |_| {}),
    )?;
    let current = serde_json::to_vec(&folder.current)?;
    kv.put_all([Ok(Pair { key: CURRENT_KEY.into(), value: current, metadata: None })], |_| {})?;
    eprintln!(
        "Published {}: {}; {total} of {} segments were new ({:.1} s).{}",
        args.place.name(),
        summary(&folder),
        folder.segments().len(),
        start.elapsed().as_secs_f32(),
        if args.place.remote { " It is seen everywhere within 90 seconds." } else { "" },
    );
    Ok(())
}

fn pair(folder: &Folder, id: SegmentId) -> Result<Pair> {
    Ok(Pair { key: id.key(), value: folder.read(id)?, metadata: None })
}

/// Makes sure, just before a version is served, that storage still has what was found there before.
///
/// With `trust_upload`, what is uploaded here is not looked for again.
fn ensure_whole(
    wanted: &BTreeSet<SegmentId>,
    trust_upload: bool,
    mut keys: impl FnMut() -> Result<BTreeMap<String, Metadata>>,
    mut upload: impl FnMut(&[SegmentId]) -> Result<()>,
) -> Result<()> {
    for _ in 0..WHOLE_ATTEMPTS {
        let present = keys()?;
        let vanished: Vec<SegmentId> =
            wanted.iter().filter(|id| !present.contains_key(&id.key())).copied().collect();
        if vanished.is_empty() {
            return Ok(());
        }
        eprintln!("  {} segments went missing meanwhile; uploading them again", vanished.len());
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

/// The keys that are there and the version that is served.
pub(super) fn state(kv: &Kv<'_>) -> Result<(BTreeMap<String, Metadata>, Option<Current>)> {
    let present = kv.keys()?;
    let served = if present.contains_key(CURRENT_KEY) { kv.get(CURRENT_KEY)? } else { None };
    Ok((present, served))
}

fn summary(folder: &Folder) -> String {
    let rows = &folder.manifest;
    let connectors = counted(rows.connector_rows as usize, "connector");
    let actions = counted(rows.action_rows as usize, "action");
    format!("{connectors}, {actions}, version {}", folder.current.connectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_vanished_is_uploaded_before_the_switch() {
        let ids = [SegmentId([1; 16]), SegmentId([2; 16])];
        let wanted = BTreeSet::from(ids);
        let stored = std::cell::RefCell::new(BTreeMap::from([(ids[0].key(), Metadata::default())]));
        let mut uploads = Vec::new();
        ensure_whole(
            &wanted,
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
    fn what_keeps_vanishing_is_not_served() {
        let wanted = BTreeSet::from([SegmentId([1; 16])]);
        assert!(ensure_whole(&wanted, false, || Ok(BTreeMap::new()), |_| Ok(())).is_err());
        assert!(ensure_whole(&wanted, true, || Ok(BTreeMap::new()), |_| Ok(())).is_ok());
    }
}
