//! A stored segment: the rendered rows of one list in list order, plus the columns that filters and search need.
//!
//! Texts that ignore case are stored folded, so that a request folds its own text only. A searchable field holds one
//! or more values, each ended by a line feed: no match reaches from one value into the next.

use std::ops::Range;

use serde::Serialize;

use super::layout::{DamagedError, Kind, Reader, Texts, Writer, read_number};
use super::model::{Action, Connector, Method};
use super::stored::SegmentId;
use crate::fold::fold;

/// A connector with what its row does not show.
#[derive(Debug, Clone)]
pub struct ConnectorEntry {
    /// The row.
    pub connector: Connector,
    /// Whether the operator enabled it for hosted authorization.
    pub authkit: bool,
    /// The segment that holds its platform's actions.
    pub actions: SegmentId,
}

/// Lays out the connector list; sorts it into list order first.
#[must_use]
pub fn write_connectors(mut entries: Vec<ConnectorEntry>) -> Vec<u8> {
    entries
        .sort_by_cached_key(|entry| (values([&entry.connector.name]), entry.connector.key.clone()));
    let mut writer = Writer::new(Kind::Connectors, entries.len());
    let rows = || entries.iter().map(|entry| &entry.connector);
    write_list(&mut writer, rows(), |row| row.key.as_str());
    writer.texts(rows().map(|row| values([&row.name])));
    writer.texts(rows().map(|row| values([&row.key])));
    writer.texts(rows().map(|row| values([&row.platform])));
    writer.texts(rows().map(|row| values([&row.category])));
    writer.texts(rows().map(|row| values(&row.tags)));
    writer.texts(rows().map(|row| values([&row.description])));
    writer.section(&entries.iter().map(|entry| u8::from(entry.authkit)).collect::<Vec<_>>());
    writer.section(&entries.iter().flat_map(|entry| entry.actions.0).collect::<Vec<_>>());
    writer.finish()
}

/// Lays out one platform's action list; sorts it into list order first.
#[must_use]
pub fn write_actions(mut actions: Vec<Action>) -> Vec<u8> {
    actions.sort_by_cached_key(|action| (values([&action.title]), action.key.clone()));
    let mut writer = Writer::new(Kind::Actions, actions.len());
    write_list(&mut writer, actions.iter(), |row| row.key.as_str());
    writer.texts(actions.iter().map(|row| values([&row.title])));
    writer.texts(actions.iter().map(|row| values([&row.key])));
    writer
        .section(actions.first().map(|row| values([&row.platform])).unwrap_or_default().as_bytes());
    writer.section(&actions.iter().map(|row| row.method as u8).collect::<Vec<_>>());
    writer.finish()
}

/// Writes what every list has: rows, keys, and the row numbers in the order of the keys.
fn write_list<'a, R: Serialize + 'a>(
    writer: &mut Writer,
    rows: impl Iterator<Item = &'a R> + Clone,
    key: fn(&R) -> &str,
) {
    writer.texts(rows.clone().map(|row| {
        // Strings, numbers and booleans only: serialization has nothing to fail on.
        let mut json = serde_json::to_vec(row).unwrap_or_default();
        json.push(b',');
        json
    }));
    writer.texts(rows.clone().map(key));
    let keys: Vec<&str> = rows.map(key).collect();
    let mut by_key: Vec<usize> = (0..keys.len()).collect();
    by_key.sort_by_key(|row| keys.get(*row));
    writer.row_numbers(by_key);
}

/// A searchable field: its values folded, each ended by a line feed.
fn values<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    texts.into_iter().map(|text| fold(text.as_ref()).replace('\n', " ") + "\n").collect()
}

/// What every opened segment has.
#[derive(Debug)]
pub struct List {
    /// The whole segment.
    pub bytes: Vec<u8>,
    /// Number of rows.
    pub len: usize,
    /// The searchable fields; the first one orders the list.
    pub fields: Vec<Texts>,
    rows: Texts,
    keys: Texts,
    by_key: Range<usize>,
}

impl List {
    /// Reads what every list has, with this many searchable fields.
    fn open(reader: &mut Reader<'_>, fields: usize) -> Result<Self, DamagedError> {
        let (rows, keys, by_key) = (reader.texts()?, reader.texts()?, reader.cells(4)?);
        let fields = (0..fields).map(|_| reader.texts()).collect::<Result<_, _>>()?;
        Ok(Self { bytes: Vec::new(), len: reader.rows(), fields, rows, keys, by_key })
    }

    /// The JSON of neighbouring rows, joined by commas.
    #[must_use]
    pub fn json(&self, rows: Range<usize>) -> &[u8] {
        let slice = self.rows.slice(&self.bytes, rows);
        slice.strip_suffix(b",").unwrap_or(slice)
    }

    /// The rows whose key equals `key` or, with `prefix`, begins with it; in list order.
    #[must_use]
    pub fn with_key(&self, key: &str, prefix: bool) -> Vec<u32> {
        let compared = |nth: usize| {
            let found = self.keys.get(&self.bytes, self.nth_by_key(nth));
            let found = if prefix { found.get(..key.len()).unwrap_or(found) } else { found };
            found.cmp(key.as_bytes())
        };
        let start = first_where(self.len, |nth| compared(nth).is_ge());
        let end = first_where(self.len, |nth| compared(nth).is_gt());
        ascending((start..end).filter_map(|nth| u32::try_from(self.nth_by_key(nth)).ok()))
    }

    fn nth_by_key(&self, nth: usize) -> usize {
        let place = self.bytes.get(self.by_key.clone()).unwrap_or_default();
        nth.checked_mul(4).and_then(|at| read_number(place, at)).unwrap_or(usize::MAX)
    }

    /// A row's text of a searchable field, without the line feed behind its last value.
    fn field(&self, nth: usize, row: usize) -> &[u8] {
        let text =
            self.fields.get(nth).map(|field| field.get(&self.bytes, row)).unwrap_or_default();
        text.strip_suffix(b"\n").unwrap_or(text)
    }

    /// The neighbouring rows whose name or title, by which the list is ordered, equals `folded`.
    #[must_use]
    pub fn with_title(&self, folded: &str) -> Range<usize> {
        let compared = |row: usize| self.field(TITLE, row).cmp(folded.as_bytes());
        first_where(self.len, |row| compared(row).is_ge())..first_where(self.len, |row| {
            compared(row).is_gt()
        })
    }
}

/// A few rows in list order: putting each in its place takes less code than a sort, and for so few no more time.
#[must_use]
pub fn ascending(rows: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut sorted: Vec<u32> = Vec::new();
    for row in rows {
        let at = sorted.partition_point(|other| *other < row);
        sorted.insert(at, row);
    }
    sorted
}

/// The first of `0..len` for which `holds` is true, when it is false before and true after; `len` when never.
fn first_where(len: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle.saturating_add(1);
        }
    }
    low
}

/// The place of the name or title among the searchable fields of either list.
const TITLE: usize = 0;
/// The place of the platform among the connectors' searchable fields.
const PLATFORM: usize = 2;
/// The place of the category among the connectors' searchable fields.
const CATEGORY: usize = 3;

/// The opened connector list. Its searchable fields: name, key, platform, category, tags, description.
#[derive(Debug)]
pub struct ConnectorList {
    /// Rows, keys and fields.
    pub list: List,
    authkit: Range<usize>,
    actions: Range<usize>,
}

impl ConnectorList {
    /// Opens a segment.
    ///
    /// # Errors
    /// When the bytes are not a whole connector segment.
    pub fn open(bytes: Vec<u8>) -> Result<Self, DamagedError> {
        let mut reader = Reader::open(&bytes, Kind::Connectors)?;
        let mut list = List::open(&mut reader, 6)?;
        let (authkit, actions) = (reader.cells(1)?, reader.cells(16)?);
        list.bytes = bytes;
        Ok(Self { list, authkit, actions })
    }

    /// Whether the row's category is this folded one.
    #[must_use]
    pub fn has_category(&self, row: usize, folded: &str) -> bool {
        self.list.field(CATEGORY, row) == folded.as_bytes()
    }

    /// Whether the operator enabled the row for hosted authorization.
    #[must_use]
    pub fn has_authkit(&self, row: usize) -> bool {
        self.list.bytes.get(self.authkit.clone()).and_then(|flags| flags.get(row)) == Some(&1)
    }

    /// The segment with the row's actions.
    #[must_use]
    pub fn actions_of(&self, row: usize) -> Option<SegmentId> {
        let ids = self.list.bytes.get(self.actions.clone())?;
        ids.as_chunks::<16>().0.get(row).copied().map(SegmentId)
    }

    /// The rows of a platform.
    #[must_use]
    pub fn with_platform(&self, folded: &str) -> Vec<u32> {
        self.list.with_key(&format!("api::{folded}::"), true)
    }

    /// All platforms, in list order.
    pub fn platforms(&self) -> impl Iterator<Item = &str> {
        (0..self.list.len)
            .filter_map(|row| std::str::from_utf8(self.list.field(PLATFORM, row)).ok())
    }
}

/// One platform's opened action list. Its searchable fields: title, key.
#[derive(Debug)]
pub struct ActionList {
    /// Rows, keys and fields.
    pub list: List,
    platform: Range<usize>,
    methods: Range<usize>,
}

impl ActionList {
    /// Opens a segment.
    ///
    /// # Errors
    /// When the bytes are not a whole action segment.
    pub fn open(bytes: Vec<u8>) -> Result<Self, DamagedError> {
        let mut reader = Reader::open(&bytes, Kind::Actions)?;
        let mut list = List::open(&mut reader, 2)?;
        let (platform, methods) = (reader.section()?, reader.cells(1)?);
        list.bytes = bytes;
        Ok(Self { list, platform, methods })
    }

    /// The platform, which every row shares: a searchable field of one value.
    #[must_use]
    pub fn platform(&self) -> &[u8] {
        self.list.bytes.get(self.platform.clone()).unwrap_or_default()
    }

    /// Whether the row has this method.
    #[must_use]
    pub fn has_method(&self, row: usize, method: Method) -> bool {
        self.list.bytes.get(self.methods.clone()).and_then(|methods| methods.get(row))
            == Some(&(method as u8))
    }
}
