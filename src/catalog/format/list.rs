//! A list of rows in list order: the locations of its parts, and the parts that have been loaded.
//!
//! A part is a [`Section`]. A small list is one part with the role [`Role::Whole`]. A large list
//! has a part or several for each of the other roles, so that a request reads only the parts that
//! it needs. The rows are divided into groups. A group has two blocks, both a [`StringTable`]: the
//! JSON of its rows, each followed by a comma, and their searchable texts.
//!
//! The rest of the head of a part with role `Whole` or `Rows`:
//!
//! | bytes | meaning |
//! |---|---|
//! | 4 | number of the first row, within the list |
//! | 4 | number of rows |
//! | 4 | number of groups |
//! | 4 per group | number of the first row, within the list |
//! | … | [`StringTable`]: the folded title of the first row of each group |

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use super::layout::{DamagedError, StringTable, first_where, read_number};
pub use super::list_ref::{ListRef, PartRef, Role, bucket_index};
use super::section::Section;
use crate::catalog::row::{RowFields, RowKind};
use crate::ports::StorageError;
use crate::util::crc32::crc32;

/// A list with the parts that a request has loaded.
#[derive(Debug)]
pub struct List {
    /// The locations of all parts.
    pub list_ref: ListRef,
    pub kind: RowKind,
    /// The loaded parts with rows, each with the number of the part's first row.
    rows: Vec<(usize, Rc<Section>)>,
    /// The loaded parts without rows.
    parts: Vec<(PartRef, Rc<Section>)>,
}

#[derive(Debug, Clone, Copy)]
pub struct Group<'a> {
    section: &'a Section,
    index: usize,
    /// The number of the group's first row.
    pub first: usize,
}

impl<'a> Group<'a> {
    pub fn rows(&self) -> Result<StringTable<'a>, StorageError> {
        self.string_table(0)
    }

    pub fn texts(&self) -> Result<StringTable<'a>, StorageError> {
        self.string_table(1)
    }

    fn string_table(&self, block_index: usize) -> Result<StringTable<'a>, StorageError> {
        let block = self.section.block(self.index.saturating_mul(2).saturating_add(block_index))?;
        StringTable::open(block).ok_or_else(|| self.section.damaged("texts are cut short"))
    }
}

#[derive(Debug, Clone, Copy)]
struct RowsHead<'a> {
    section: &'a Section,
    first: usize,
    rows: usize,
    groups: usize,
}

impl<'a> RowsHead<'a> {
    fn read(section: &'a Section) -> Result<Self, StorageError> {
        let field = |index| {
            let cut_short_error = || section.damaged("its head is cut short");
            read_number(section.rest(), index).ok_or_else(cut_short_error)
        };
        Ok(Self { section, first: field(0)?, rows: field(4)?, groups: field(8)? })
    }

    fn end(&self) -> usize {
        self.first.saturating_add(self.rows)
    }

    fn group(&self, index: usize) -> Group<'a> {
        let at = index.saturating_mul(4).saturating_add(12);
        let first = read_number(self.section.rest(), at).unwrap_or(self.first);
        Group { section: self.section, index, first }
    }

    fn group_with_row(&self, row: usize) -> Group<'a> {
        let after = first_where(self.groups, |index| self.group(index).first > row);
        self.group(after.saturating_sub(1))
    }

    fn titles(&self) -> Option<StringTable<'a>> {
        let at = self.groups.saturating_mul(4).saturating_add(12);
        self.section.rest().get(at..).and_then(StringTable::open)
    }
}

impl List {
    pub fn new(list_ref: ListRef, kind: RowKind, parts: Vec<(PartRef, Rc<Section>)>) -> Self {
        let has_rows = |(part, _): &(PartRef, _)| matches!(part.role, Role::Whole | Role::Rows);
        let (rows, parts): (Vec<_>, Vec<_>) = parts.into_iter().partition(has_rows);
        let rows = rows.into_iter().map(|(part, section)| (part.first, section)).collect();
        Self { list_ref, kind, rows, parts }
    }

    /// The loaded parts of a role, each with the number of the part's first item.
    pub fn parts(&self, role: Role) -> impl Iterator<Item = (usize, &Section)> {
        let parts = self.parts.iter().filter(move |(part, _)| part.role == role);
        parts.map(|(part, section)| (part.first, section.as_ref()))
    }

    fn with_rows(&self) -> impl Iterator<Item = &Section> {
        self.rows.iter().map(|(_, section)| section.as_ref())
    }

    /// The only part of a small list. Returns `None` for a large list.
    fn whole(&self) -> Option<&Section> {
        let is_whole = self.list_ref.parts.first().is_some_and(|part| part.role == Role::Whole);
        self.with_rows().next().filter(|_| is_whole)
    }

    /// The group that contains a row. Returns an error if no loaded part contains the row.
    pub fn group_with_row(&self, row: usize) -> Result<Group<'_>, StorageError> {
        let after = self.rows.partition_point(|(first, _)| *first <= row);
        let missing_error = || self.missing("a row");
        let (_, section) = self.rows.get(after.saturating_sub(1)).ok_or_else(missing_error)?;
        let head = RowsHead::read(section)?;
        if (head.first..head.end()).contains(&row) {
            Ok(head.group_with_row(row))
        } else {
            Err(missing_error())
        }
    }

    /// The groups of all loaded parts.
    pub fn groups(&self) -> Result<Vec<Group<'_>>, StorageError> {
        let heads = self.with_rows().map(RowsHead::read);
        let heads: Vec<RowsHead<'_>> = heads.collect::<Result<_, _>>()?;
        Ok(heads.iter().flat_map(|head| (0..head.groups).map(|index| head.group(index))).collect())
    }

    fn missing(&self, item: &str) -> StorageError {
        StorageError::new(format!("the list {} is missing {item}", self.list_ref.id))
    }

    pub fn row(&self, row: usize) -> Result<&[u8], StorageError> {
        let group = self.group_with_row(row)?;
        let json = group.rows()?.get(row.saturating_sub(group.first));
        json.strip_suffix(b",").ok_or_else(|| self.missing("a row"))
    }

    pub fn text(&self, row: usize) -> Result<&[u8], StorageError> {
        let group = self.group_with_row(row)?;
        Ok(group.texts()?.get(row.saturating_sub(group.first)))
    }

    /// The JSON of consecutive rows, joined by commas.
    pub fn json(&self, rows: Range<usize>) -> Result<Cow<'_, [u8]>, StorageError> {
        let mut joined: Cow<'_, [u8]> = Cow::Borrowed(&[]);
        let mut row = rows.start;
        while row < rows.end {
            let group = self.group_with_row(row)?;
            let texts = group.rows()?;
            let (start, end) =
                (row.saturating_sub(group.first), rows.end.saturating_sub(group.first));
            let slice = texts.slice(start..end);
            if joined.is_empty() {
                joined = Cow::Borrowed(slice);
            } else {
                joined.to_mut().extend_from_slice(slice);
            }
            let next = group.first.saturating_add(texts.len());
            if next <= row {
                return Err(self.missing("a row"));
            }
            row = next;
        }
        Ok(match joined {
            Cow::Borrowed(slice) => Cow::Borrowed(slice.strip_suffix(b",").unwrap_or(slice)),
            Cow::Owned(mut bytes) => {
                bytes.pop();
                Cow::Owned(bytes)
            }
        })
    }

    /// The range of rows with this folded title.
    pub fn with_title(&self, folded: &str) -> Result<Range<usize>, StorageError> {
        let folded = folded.as_bytes();
        let (mut start, mut end) = (None, 0);
        for section in self.with_rows() {
            let head = RowsHead::read(section)?;
            let titles =
                head.titles().ok_or_else(|| section.damaged("its titles are cut short"))?;
            // Rows with the title may start in the group before the first group whose first title
            // is not less.
            let from = first_where(titles.len(), |index| titles.get(index) >= folded);
            for index in from.saturating_sub(1)..head.groups {
                if titles.get(index) > folded {
                    break;
                }
                let group = head.group(index);
                let texts = group.texts()?;
                let title = |index| folded_title(texts.get(index));
                let low = first_where(texts.len(), |index| title(index) >= folded);
                let high = first_where(texts.len(), |index| title(index) > folded);
                if low < high {
                    start.get_or_insert(group.first.saturating_add(low));
                    end = group.first.saturating_add(high);
                }
            }
        }
        Ok(start.unwrap_or(end)..end)
    }

    /// The JSON of the row with this key.
    pub fn with_key(&self, key: &str) -> Result<Option<&[u8]>, StorageError> {
        match self.list_ref.bucket(key) {
            Some(bucket) => self.find_in_bucket(key, bucket),
            None => self.find_in_single_part(key),
        }
    }

    /// Looks up a key in its bucket, which has two [`StringTable`]s: the sorted keys and their
    /// rows.
    fn find_in_bucket(&self, key: &str, bucket: usize) -> Result<Option<&[u8]>, StorageError> {
        let mut parts = self.parts(Role::Keys);
        let (first, part) = parts.next().ok_or_else(|| self.missing("the keys"))?;
        let block = part.block(bucket.saturating_sub(first))?;
        let cut_short_error = || part.damaged("keys are cut short");
        let rows_offset = read_number(block, 0).ok_or_else(cut_short_error)?;
        let keys =
            block.get(4..rows_offset).and_then(StringTable::open).ok_or_else(cut_short_error)?;
        let rows =
            block.get(rows_offset..).and_then(StringTable::open).ok_or_else(cut_short_error)?;
        let index = first_where(keys.len(), |index| keys.get(index) >= key.as_bytes());
        let is_found = index < keys.len() && keys.get(index) == key.as_bytes();
        Ok(is_found.then(|| rows.get(index)))
    }

    /// Looks up a key in the only part of a small list, which has the CRC-32 and the row number of each key, sorted.
    fn find_in_single_part(&self, key: &str) -> Result<Option<&[u8]>, StorageError> {
        let part = self.whole().ok_or_else(|| self.missing("the keys"))?;
        let entries = part.block(part.len().saturating_sub(1))?.as_chunks::<8>().0;
        let checksum = crc32(key.as_bytes()) as usize;
        let checksum_at = |index: usize| entries.get(index).and_then(|entry| read_number(entry, 0));
        let start = first_where(entries.len(), |index| checksum_at(index) >= Some(checksum));
        for entry in entries.get(start..).unwrap_or_default() {
            if read_number(entry, 0) != Some(checksum) {
                break;
            }
            let row = self.row(read_number(entry, 4).unwrap_or(usize::MAX))?;
            if RowFields::read(self.kind, row, 0).is_some_and(|fields| fields.key == key) {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// The columns that filters scan.
    pub fn columns(&self) -> Result<Columns<'_>, StorageError> {
        let (section, index) = if let Some(only_part) = self.whole() {
            (only_part, only_part.len().saturating_sub(2))
        } else {
            let mut parts = self.parts(Role::Columns);
            (parts.next().ok_or_else(|| self.missing("the columns"))?.1, 0)
        };
        Columns::open(section.block(index)?, self.list_ref.rows)
            .map_err(|DamagedError(damage)| section.damaged(damage))
    }
}

/// The folded title of a row: the first line of its searchable text.
pub fn folded_title(text: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// The columns that filters scan: the attributes, one byte per row; the group number, two bytes per
/// row; and the names of the groups, as a [`StringTable`].
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    pub attributes: &'a [u8],
    groups: &'a [[u8; 2]],
    names: StringTable<'a>,
}

impl<'a> Columns<'a> {
    fn open(block: &'a [u8], rows: usize) -> Result<Self, DamagedError> {
        let cut_short_error = DamagedError("its columns are cut short");
        let (attributes, rest) = block.split_at_checked(rows).ok_or(cut_short_error)?;
        let (groups, names) =
            rest.split_at_checked(rows.saturating_mul(2)).ok_or(cut_short_error)?;
        Ok(Self {
            attributes,
            groups: groups.as_chunks().0,
            names: StringTable::open(names).ok_or(cut_short_error)?,
        })
    }

    /// The number of a group. Returns `None` if the list has no row in the group.
    pub fn group(&self, name: &str) -> Option<u16> {
        let index =
            (0..self.names.len()).find(|index| self.names.get(*index) == name.as_bytes())?;
        u16::try_from(index).ok()
    }

    pub fn is_in(&self, row: usize, group: u16) -> bool {
        self.groups.get(row).is_some_and(|number| u16::from_le_bytes(*number) == group)
    }
}
