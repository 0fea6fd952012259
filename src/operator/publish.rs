//! `catalog publish`: a catalog folder becomes what the service serves.
//!
//! Values that are named by their content go first, the version's manifest next, and the record that names the
//! served version last, on its own. So whatever interrupts it, the old version is served until the new one is
//! whole, and the next run has only the rest to do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;

use crate::catalog::stored::{CURRENT_KEY, Current, SegmentId};

use super::folder::Folder;
use super::kv::{Kv, Metadata, Pair};
use super::when::Moment;
use super::wrangler::{Place, Wrangler};

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
    let pairs = missing
        .into_iter()
        .map(|id| Ok(Pair { key: id.key(), value: folder.read(id)?, metadata: None }));
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

/// The keys that are there and the version that is served.
pub(super) fn state(kv: &Kv<'_>) -> Result<(BTreeMap<String, Metadata>, Option<Current>)> {
    let present = kv.keys()?;
    let served = if present.contains_key(CURRENT_KEY) { kv.get(CURRENT_KEY)? } else { None };
    Ok((present, served))
}

fn summary(folder: &Folder) -> String {
    format!(
        "{} connectors, {} actions, version {}",
        folder.manifest.connector_rows, folder.manifest.action_rows, folder.current.connectors
    )
}
