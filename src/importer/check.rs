//! Reads a catalog folder and verifies that it is complete and consistent.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use anyhow::{Context as _, Result, anyhow, bail};
use serde::de::DeserializeOwned;

use super::folder::{Folder, serialize_platforms};
use super::{platform, server};
use crate::catalog::action::render::render;
use crate::catalog::action::unit::{
    DeflatedUnit, Unit, UnitRef, UnitTable, Units, compare, inflate,
};
use crate::catalog::detail::{AuthMethod, ConnectorDetail, urls, variables};
use crate::catalog::format::current::Current;
use crate::catalog::format::list::{List, ListRef};
use crate::catalog::format::pack::{self, NameEntry};
use crate::catalog::format::section::{Section, SectionRef};
use crate::catalog::format::stored::SegmentId;
use crate::catalog::key::ConnectorKey;
use crate::catalog::model::{Action, Connector};
use crate::catalog::row::{AUTHKIT, RowKind};
use crate::catalog::write::Platform;
use crate::ports::{Blob, StorageError};
use crate::util::case_fold::fold;
use crate::util::nearest::nearest;

/// A version of a catalog, opened for reading.
pub struct OpenCatalog<'a> {
    read_segment: Box<dyn Fn(SegmentId) -> Result<Vec<u8>> + 'a>,
    current: Current,
}

/// A connector, with the flag that its row does not contain.
#[derive(Debug, Clone)]
pub struct ConnectorEntry {
    pub connector: Connector,
    /// Whether the connector is enabled for hosted authorization.
    pub authkit: bool,
}

/// The stored data of all platforms, without the rows of their connectors.
#[derive(Debug, Default)]
pub struct Details(HashMap<String, StoredPlatform>);

/// The stored data of a platform, without the row of its connector.
#[derive(Debug, Default)]
pub struct StoredPlatform {
    pub detail: ConnectorDetail,
    /// The former names of the platform.
    pub aliases: Vec<String>,
    /// The locations of the details of the platform's actions.
    pub units: UnitTable,
}

impl Details {
    /// The current name of the platform that had this former name.
    pub fn platform(&self, name: &str) -> Option<&str> {
        let mut known = self.0.iter();
        let found = known.find(|(_, known)| known.aliases.iter().any(|alias| alias == name));
        found.map(|(platform, _)| platform.as_str())
    }

    /// Removes and returns the entry of a platform.
    pub fn take(&mut self, platform: &str) -> StoredPlatform {
        self.0.remove(platform).unwrap_or_default()
    }
}

impl<'a> OpenCatalog<'a> {
    /// Opens the current version of a folder.
    pub fn new(folder: &'a Folder) -> Result<Self> {
        let version = folder.read_current()?.version;
        let path = folder.record(version);
        let current = Current::open(folder.read_record(version)?)
            .with_context(|| format!("cannot open {}", path.display()))?;
        Ok(Self { read_segment: Box::new(|id| folder.read_segment(id)), current })
    }

    /// Opens a version that is not in a folder. `record` is the record of the version.
    pub fn from_record(
        record: Vec<u8>,
        read_segment: impl Fn(SegmentId) -> Result<Vec<u8>> + 'a,
    ) -> Result<Self> {
        let current = Current::open(record).context("the record of the version is damaged")?;
        Ok(Self { read_segment: Box::new(read_segment), current })
    }

    fn section(&self, place: SectionRef) -> Result<Rc<Section>> {
        let blob: Rc<dyn Blob> = Rc::new((self.read_segment)(place.segment)?);
        Section::open(&blob, place).map(Rc::new).map_err(storage_error)
    }

    fn list(&self, list: ListRef, kind: RowKind) -> Result<List> {
        let parts = list.parts_for_scan(true).into_iter();
        let parts = parts.map(|part| Ok((part, self.section(part.location)?)));
        Ok(List::new(list, kind, parts.collect::<Result<_>>()?))
    }

    fn rows<T: DeserializeOwned>(&self, list: ListRef, kind: RowKind) -> Result<Vec<T>> {
        let (id, len) = (list.id, list.rows);
        let list = self.list(list, kind)?;
        let array = [b"[", &*list.json(0..len).map_err(storage_error)?, b"]"].concat();
        let rows: Vec<T> = serde_json::from_slice(&array)
            .with_context(|| format!("the list {id}: a row is malformed"))?;
        if rows.len() != len {
            bail!("the list {id} has {} rows but states {len}", rows.len());
        }
        Ok(rows)
    }

    /// The connectors, in list order.
    pub fn connectors(&self) -> Result<Vec<ConnectorEntry>> {
        let list = self.current.connectors()?;
        let marks = self.list(list.clone(), RowKind::Connector)?;
        let marks = marks.columns().map_err(storage_error)?.attributes.to_vec();
        let rows: Vec<Connector> = self.rows(list, RowKind::Connector)?;
        let entry = |(connector, mark)| ConnectorEntry { connector, authkit: mark & AUTHKIT != 0 };
        Ok(rows.into_iter().zip(marks).map(entry).collect())
    }

    /// The actions of a platform, in list order.
    pub fn actions(&self, platform: &str) -> Result<Vec<Action>> {
        let list = match self.current.list(platform) {
            Some(list) => list,
            None => self.packed_list(platform)?,
        };
        self.rows(list, RowKind::Action)
    }

    fn packed_list(&self, platform: &str) -> Result<ListRef> {
        let missing = || anyhow!("the catalog does not have the platform {platform}");
        let place = self.current.pack(platform).ok_or_else(missing)?;
        let pack = self.section(place)?;
        match pack::find(&pack, place.segment, platform).map_err(storage_error)? {
            Some(NameEntry::Platform(found)) => found.actions.ok_or_else(missing),
            Some(NameEntry::Alias(_)) | None => Err(missing()),
        }
    }

    /// The details of all connectors, by platform.
    pub fn details(&self) -> Result<Details> {
        let mut details = Details::default();
        for place in self.current.packs() {
            let pack = self.section(place)?;
            let names = pack::names(&pack).map_err(storage_error)?;
            for index in 0..names.len() {
                let name = String::from_utf8_lossy(names.get(index)).into_owned();
                match pack::get(&pack, place.segment, index).map_err(storage_error)? {
                    NameEntry::Platform(found) => {
                        let detail = serde_json::from_slice(found.detail().map_err(storage_error)?)
                            .with_context(|| format!("{name}: its detail cannot be read"))?;
                        let units = found.units().map_err(storage_error)?;
                        let known = details.0.entry(name).or_default();
                        (known.detail, known.units) = (detail, units);
                    }
                    NameEntry::Alias(of) => {
                        details.0.entry(of.to_owned()).or_default().aliases.push(name);
                    }
                }
            }
        }
        Ok(details)
    }

    /// An action with its detail, as indented JSON.
    pub fn action(
        &self,
        platform: &str,
        key: &str,
        detail: &ConnectorDetail,
        table: &UnitTable,
    ) -> Result<Option<String>> {
        let Some(place) = table.unit(key) else { return Ok(None) };
        let segment = (self.read_segment)(place.segment)?;
        let inflated = place.read(&segment).and_then(|bytes| inflate(&bytes)).unwrap_or_default();
        let damaged = || anyhow!("the details from {} on are damaged", place.first);
        let unit = Unit::open(&inflated).ok_or_else(damaged)?;
        let Some(action) = unit.action(key) else { return Ok(None) };
        let connector = serde_json::from_value(serde_json::to_value(detail)?)?;
        let json = render(&unit, &action, platform, &connector, &table.schemes, true);
        let value: serde_json::Value = serde_json::from_slice(&json.map_err(|_| damaged())?)?;
        Ok(Some(serde_json::to_string_pretty(&value)?))
    }

    /// All stored data of the platforms with these names, in list order.
    pub fn platforms(&self, names: &[String]) -> Result<Vec<Platform>> {
        let (entries, details) = (self.connectors()?, self.details()?);
        let requested = resolve(&entries, &details, names)?;
        let is_requested = |entry: &ConnectorEntry| requested.contains(&entry.connector.platform);
        self.load(entries.into_iter().filter(is_requested), details)
    }

    /// All stored data of all platforms, in list order.
    pub fn all_platforms(&self) -> Result<Vec<Platform>> {
        self.load(self.connectors()?.into_iter(), self.details()?)
    }

    fn load(
        &self,
        entries: impl Iterator<Item = ConnectorEntry>,
        mut details: Details,
    ) -> Result<Vec<Platform>> {
        let platform = |ConnectorEntry { connector, authkit }: ConnectorEntry| {
            let StoredPlatform { detail, aliases, units } = details.take(&connector.platform);
            let actions = self.actions(&connector.platform)?;
            let units = self.units(units)?;
            Ok(Platform { connector, detail, authkit, aliases, actions, units })
        };
        entries.map(platform).collect()
    }

    /// The stored details of a platform's actions.
    pub fn units(&self, table: UnitTable) -> Result<Units> {
        let unit = |place: &UnitRef| {
            let segment = (self.read_segment)(place.segment)?;
            let bytes = place
                .read(&segment)
                .with_context(|| format!("the segment {} has no such unit", place.segment))?;
            Ok(DeflatedUnit { first: place.first.clone(), bytes })
        };
        let units = table.units.iter().map(unit).collect::<Result<_>>()?;
        Ok(Units { schemes: table.schemes, units })
    }
}

/// Resolves current or former names of platforms. The error for an unknown name suggests similar
/// names.
pub fn resolve(
    entries: &[ConnectorEntry],
    details: &Details,
    names: &[String],
) -> Result<HashSet<String>> {
    let known: HashSet<&str> =
        entries.iter().map(|entry| entry.connector.platform.as_str()).collect();
    let find = |name: &String| {
        let name = fold(name);
        let found = details.platform(&name).unwrap_or(&name);
        if known.contains(found) {
            return Ok(found.to_owned());
        }
        let did_you_mean = did_you_mean(&name, known.iter().copied());
        Err(anyhow!(
            "no platform `{name}`{did_you_mean}\nTo look for it: npm run catalog -- find {name}"
        ))
    };
    names.iter().map(find).collect()
}

/// The end of an error message that suggests the most similar names. Empty if no name is similar.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let nearest = nearest(name, known, 3).join(", ");
    if nearest.is_empty() { nearest } else { format!("; did you mean {nearest}?") }
}

fn storage_error(error: StorageError) -> anyhow::Error {
    anyhow!(error.cause)
}

/// The connectors of the current version of a folder.
pub fn connectors(folder: &Folder) -> Result<Vec<ConnectorEntry>> {
    OpenCatalog::new(folder)?.connectors()
}

/// All faults of the current version of a folder.
pub fn faults(folder: &Folder) -> Vec<String> {
    let opened = OpenCatalog::new(folder).and_then(|opened| {
        let (entries, details) = (opened.connectors()?, opened.details()?);
        Ok((opened, entries, details))
    });
    let (opened, entries, mut details) = match opened {
        Ok(opened) => opened,
        Err(e) => return vec![format!("{e:#}")],
    };
    let mut faults = Vec::new();
    let mut seen = HashSet::new();
    let mut platforms = Vec::with_capacity(entries.len());
    for ConnectorEntry { connector, authkit } in entries {
        let mut fault = |what: &str| faults.push(format!("{}: {what}", connector.key));
        for what in connector_faults(&connector, &mut seen) {
            fault(&what);
        }
        let actions = opened.actions(&connector.platform).unwrap_or_else(|e| {
            fault(&format!("{e:#}"));
            Vec::new()
        });
        for what in action_faults(&connector, &actions) {
            fault(&what);
        }
        let StoredPlatform { detail, aliases, units } = details.take(&connector.platform);
        for what in detail_faults(&connector, authkit, &detail) {
            fault(&what);
        }
        let units = opened.units(units).unwrap_or_else(|e| {
            fault(&format!("{e:#}"));
            Units::default()
        });
        for what in unit_faults(&actions, &detail, &units) {
            fault(&what);
        }
        platforms.push(Platform { connector, detail, authkit, aliases, actions, units });
    }
    if faults.is_empty()
        && let Err(e) = ensure_layout(folder, &opened, &platforms)
    {
        faults.push(format!("{e:#}"));
    }
    faults
}

/// Checks that the stored version equals the version that these rows produce. This verifies every
/// index and column.
fn ensure_layout(folder: &Folder, opened: &OpenCatalog<'_>, platforms: &[Platform]) -> Result<()> {
    let version = serialize_platforms(platforms, |id, _| folder.read_segment(id).map(drop))?;
    if version.current != opened.current.bytes() {
        bail!("its order or its columns do not match its rows: import again");
    }
    let manifest = folder.read_version(version.manifest.version)?;
    if manifest != version.manifest {
        let path = folder.version(manifest.version);
        bail!("{}: it is not the manifest of the connectors", path.display());
    }
    Ok(())
}

fn connector_faults(
    connector: &Connector,
    seen: &mut HashSet<(&'static str, String)>,
) -> Vec<String> {
    let mut faults = Vec::new();
    for (what, value) in [
        ("id", connector.id.to_string()),
        ("key", connector.key.clone()),
        ("platform", connector.platform.clone()),
    ] {
        if !seen.insert((what, value)) {
            faults.push(format!("another connector has the same {what}"));
        }
    }
    let Connector { platform, platform_version, .. } = connector;
    if connector.key != (ConnectorKey { platform, platform_version }).to_string() {
        faults.push("the key is not api::<platform>::<platformVersion>".into());
    }
    if !platform::is_valid(&connector.platform) {
        faults.push("the platform is not 1–64 of a-z, 0-9 and -".into());
    }
    if connector.id == 0 || connector.id >= 1 << 53 {
        faults.push("the id is not a positive integer below 2^53".into());
    }
    faults
}

/// The faults of a connector's detail that would prevent users from connecting.
fn detail_faults(connector: &Connector, authkit: bool, detail: &ConnectorDetail) -> Vec<String> {
    let mut faults = Vec::new();
    if connector.oauth != detail.auth_methods.iter().any(AuthMethod::is_oauth2) {
        faults.push("oauth does not say whether a method is OAuth".to_owned());
    }
    let mut ids = HashSet::new();
    if let Some(duplicate) = detail.auth_methods.iter().find(|method| !ids.insert(&method.id)) {
        faults.push(format!("two methods have the id `{}`", duplicate.id));
    }
    // Only enabled connectors must be complete, because many documents are not.
    if !authkit {
        return faults;
    }
    if detail.auth_methods.is_empty() {
        faults.push("it is enabled (`authkit`) without a usable auth method".to_owned());
    }
    for server in detail.servers.iter().filter(|server| !server::is_secure(server)) {
        faults
            .push(format!("it is enabled (`authkit`), and its server {} is not https", server.url));
    }
    for method in &detail.auth_methods {
        let has = |name: &str| method.fields.iter().any(|field| field.name == name);
        if !detail.servers.iter().any(|server| variables(&server.url).all(has)) {
            faults.push(format!("no server can be used with its method `{}`", method.id));
        }
        for url in urls(&method.kind) {
            if !url.starts_with("https://") {
                faults.push(format!("the URL {url} of its method `{}` is not https", method.id));
            }
            if let Some(name) = variables(url).find(|name| !has(name)) {
                faults.push(format!("no field of its method `{}` fills `{{{name}}}`", method.id));
            }
        }
    }
    faults
}

/// The faults of a platform's units that would make details of actions unreadable.
fn unit_faults(rows: &[Action], detail: &ConnectorDetail, units: &Units) -> Vec<String> {
    let mut faults = Vec::new();
    let facts = serde_json::to_value(detail).and_then(serde_json::from_value);
    let Ok(connector) = facts else { return vec!["its detail cannot be read".to_owned()] };
    let mut keys: Vec<&str> = rows.iter().map(|row| row.key.as_str()).collect();
    keys.sort_unstable_by(|a, b| compare(a, b));
    let mut missing = keys.into_iter();
    for stored in &units.units {
        let inflated = inflate(&stored.bytes).unwrap_or_default();
        let Some(unit) = Unit::open(&inflated) else {
            faults.push(format!("the details from {} on are damaged", stored.first));
            continue;
        };
        for index in 0..unit.keys.len() {
            let key = String::from_utf8_lossy(unit.keys.get(index)).into_owned();
            if missing.next() != Some(&*key) {
                faults.push(format!("the detail of {key} is not at the position of its row"));
            }
            let Some(action) = unit.action(&key) else {
                faults.push(format!("the detail of {key} cannot be read"));
                continue;
            };
            let schemes = &units.schemes;
            if render(&unit, &action, "", &connector, schemes, true).is_err() {
                faults.push(format!("a definition is missing in the detail of {key}"));
            }
        }
    }
    faults.extend(missing.map(|key| format!("the action {key} has no detail")));
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
