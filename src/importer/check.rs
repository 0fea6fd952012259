//! A catalog folder, read back: whether all of it is there and fits together.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::de::DeserializeOwned;

use super::folder::Folder;
use super::platform;
use crate::catalog::key::ConnectorKey;
use crate::catalog::model::{Action, Connector};
use crate::catalog::segment::{
    ActionList, ConnectorEntry, ConnectorList, List, write_actions, write_connectors,
};
use crate::catalog::stored::{FORMAT, Manifest, SegmentId};

/// The connectors of a folder's current version.
///
/// # Errors
/// When the folder has none, or they cannot be read.
pub fn connectors(folder: &Folder) -> Result<Vec<ConnectorEntry>> {
    let current = folder.read_current()?;
    let path = folder.segment(current.connectors);
    let bytes = folder.read_segment(current.connectors)?;
    let list =
        ConnectorList::open(bytes).with_context(|| format!("cannot open {}", path.display()))?;
    let rows: Vec<Connector> = rows(&list.list, &path)?;
    let entry = |(row, connector)| {
        let actions = list
            .actions_of(row)
            .with_context(|| format!("{}: row {row} names no actions", path.display()))?;
        Ok(ConnectorEntry { connector, authkit: list.has_authkit(row), actions })
    };
    let entries: Vec<ConnectorEntry> =
        rows.into_iter().enumerate().map(entry).collect::<Result<_>>()?;
    if write_connectors(entries.clone()) != list.list.bytes {
        bail!("{}: its order or its columns are not those of its rows", path.display());
    }
    Ok(entries)
}

/// The actions of a platform.
///
/// # Errors
/// When they cannot be read.
pub fn actions(folder: &Folder, id: SegmentId) -> Result<Vec<Action>> {
    let path = folder.segment(id);
    let list = ActionList::open(folder.read_segment(id)?)
        .with_context(|| format!("cannot open {}", path.display()))?;
    let rows: Vec<Action> = rows(&list.list, &path)?;
    if write_actions(rows.clone()) != list.list.bytes {
        bail!("{}: its order or its columns are not those of its rows", path.display());
    }
    Ok(rows)
}

/// Everything that is wrong with the folder's current version.
#[must_use]
pub fn faults(folder: &Folder) -> Vec<String> {
    let entries = match connectors(folder) {
        Ok(entries) => entries,
        Err(e) => return vec![format!("{e:#}")],
    };
    let mut faults = Vec::new();
    if let Err(e) = manifest(folder, &entries) {
        faults.push(format!("{e:#}"));
    }
    let mut seen = HashSet::new();
    for ConnectorEntry { connector, actions: id, .. } in &entries {
        let name = &connector.key;
        let mut fault = |what: &str| faults.push(format!("{name}: {what}"));
        for (what, value) in [
            ("id", connector.id.to_string()),
            ("key", connector.key.clone()),
            ("platform", connector.platform.clone()),
        ] {
            if !seen.insert((what, value)) {
                fault(&format!("another connector has the same {what}"));
            }
        }
        let Connector { platform, platform_version, .. } = connector;
        if connector.key != (ConnectorKey { platform, platform_version }).to_string() {
            fault("the key is not api::<platform>::<platformVersion>");
        }
        if !platform::is_valid(&connector.platform) {
            fault("the platform is not 1–64 of a-z, 0-9 and -");
        }
        if connector.id == 0 || connector.id >= 1 << 53 {
            fault("the id is not a positive integer below 2^53");
        }
        match actions(folder, *id) {
            Ok(rows) => action_faults(connector, &rows).into_iter().for_each(|what| fault(&what)),
            Err(e) => fault(&format!("{e:#}")),
        }
    }
    faults
}

fn action_faults(connector: &Connector, rows: &[Action]) -> Vec<String> {
    let mut faults = Vec::new();
    if usize::try_from(connector.tools) != Ok(rows.len()) {
        faults.push(format!("tools is {}, but there are {} actions", connector.tools, rows.len()));
    }
    let mut seen = HashSet::new();
    for row in rows {
        if !seen.insert(row.key.as_str()) {
            faults.push(format!("two actions have the key {}", row.key));
        }
        if row.platform != connector.platform {
            faults.push(format!("the action {} is of the platform {}", row.key, row.platform));
        }
    }
    faults
}

/// Whether the manifest says what the connectors say.
fn manifest(folder: &Folder, entries: &[ConnectorEntry]) -> Result<()> {
    let current = folder.read_current()?;
    let manifest = folder.read_version(current.connectors)?;
    let actions: BTreeSet<SegmentId> = entries.iter().map(|entry| entry.actions).collect();
    let expected = Manifest {
        format: FORMAT,
        connectors: current.connectors,
        actions: actions.into_iter().collect(),
        connector_rows: u32::try_from(entries.len())?,
        action_rows: entries.iter().map(|entry| entry.connector.tools).fold(0, u32::saturating_add),
    };
    if manifest != expected {
        bail!(
            "{}: it is not the manifest of the connectors",
            folder.version(current.connectors).display()
        );
    }
    Ok(())
}

fn rows<T: DeserializeOwned>(list: &List, path: &Path) -> Result<Vec<T>> {
    let array = [&b"["[..], list.json(0..list.len), b"]"].concat();
    let rows: Vec<T> = serde_json::from_slice(&array)
        .with_context(|| format!("{}: a row is not what it should be", path.display()))?;
    if rows.len() != list.len {
        bail!("{}: it has {} rows and says {}", path.display(), rows.len(), list.len);
    }
    Ok(rows)
}
