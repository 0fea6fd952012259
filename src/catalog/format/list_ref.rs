//! The record of a list: the locations of its parts. Selects the parts that a query needs.

use std::ops::Range;

use super::layout::{StringTable, read_number};
use super::section::{REF_BYTES, SectionRef};
use super::stored::SegmentId;
use crate::util::crc32::crc32;
use crate::util::sort::sort;

/// The content of a part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// The whole list: groups of rows, then the columns, then the row numbers by key.
    Whole = 0,
    Rows = 1,
    /// A copy of the rows, by key, so that the lookup of a key reads one part.
    Keys = 2,
    Columns = 3,
    /// The search index: see [`index`](crate::catalog::list_search::index).
    Index = 4,
    /// Only in the list of all actions: words and their postings. See
    /// [`action_search`](crate::catalog::action_search).
    Words = 5,
    /// Only in the list of all actions: the platforms, and the part of each action's score that
    /// does not depend on the query.
    Features = 6,
}

impl Role {
    const ALL: [Self; 7] = [
        Self::Whole,
        Self::Rows,
        Self::Keys,
        Self::Columns,
        Self::Index,
        Self::Words,
        Self::Features,
    ];
}

#[derive(Debug, Clone, Copy)]
pub struct PartRef {
    pub role: Role,
    pub location: SectionRef,
    /// The number of the part's first row, bucket of keys or index entry.
    pub first: usize,
}

/// A list, and the locations of its parts.
#[derive(Debug, Clone)]
pub struct ListRef {
    /// Derived from the content: lists with the same id have the same rows.
    pub id: SegmentId,
    pub rows: usize,
    pub buckets: usize,
    /// The number of entries of the search index; 0 without an index.
    pub entries: usize,
    /// The size of the offset within an index entry, in bits. The offset points into the row's
    /// searchable text.
    pub offset_bits: u32,
    /// The parts, in list order within each role.
    pub parts: Vec<PartRef>,
    /// The folded title of the first row of each part with rows. In the list of all actions: the
    /// first word of each part with words.
    titles: Vec<Box<[u8]>>,
}

/// The size of a list's record without its parts, in bytes.
const LIST_BYTES: usize = 36;

/// The size of a part's record, in bytes: its [`SectionRef`], the number of its first item, and its
/// role.
const PART_BYTES: usize = REF_BYTES + 8;

impl ListRef {
    /// A list with a single part.
    pub fn whole(id: SegmentId, rows: usize, location: SectionRef) -> Self {
        let parts = vec![PartRef { role: Role::Whole, location, first: 0 }];
        let titles = vec![Box::default()];
        Self { id, rows, buckets: 0, entries: 0, offset_bits: 0, parts, titles }
    }

    /// Parses a list's record. Returns `None` if the bytes are truncated.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let id = SegmentId(*bytes.first_chunk()?);
        let field = |index: usize| read_number(bytes, index.checked_mul(4)?.checked_add(16)?);
        let count = field(4)?;
        let titles_offset = count.checked_mul(PART_BYTES)?.checked_add(LIST_BYTES)?;
        let titles = StringTable::open(bytes.get(titles_offset..)?)?;
        let part = |index: usize| {
            let at = index.checked_mul(PART_BYTES)?.checked_add(LIST_BYTES)?;
            let location = SectionRef::read(bytes, at)?;
            let first = read_number(bytes, at.checked_add(REF_BYTES)?)?;
            let role = *Role::ALL.get(read_number(bytes, at.checked_add(REF_BYTES + 4)?)?)?;
            Some(PartRef { role, location, first })
        };
        Some(Self {
            id,
            rows: field(0)?,
            buckets: field(1)?,
            entries: field(2)?,
            offset_bits: u32::try_from(field(3)?).ok()?,
            parts: (0..count).map(part).collect::<Option<_>>()?,
            titles: (0..titles.len()).map(|index| titles.get(index).into()).collect(),
        })
    }

    /// Serializes the list's record for `current`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn write(&self) -> Vec<u8> {
        use super::layout::{number, write_string_table};
        let mut bytes = self.id.0.to_vec();
        let fields =
            [self.rows, self.buckets, self.entries, self.offset_bits as usize, self.parts.len()];
        bytes.extend(fields.into_iter().flat_map(number));
        for part in &self.parts {
            bytes.extend(part.location.segment.0);
            bytes.extend(number(part.location.head));
            bytes.extend(part.location.crc.to_le_bytes());
            bytes.extend(number(part.first));
            bytes.extend(number(part.role as usize));
        }
        bytes.extend(write_string_table(self.titles.iter()));
        bytes
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub fn with_titles(mut self, titles: Vec<Box<[u8]>>) -> Self {
        self.titles = titles;
        self
    }

    /// All parts with these roles, and the parts with rows at these indexes.
    fn select_parts(&self, roles: &[Role], rows: Range<usize>) -> Vec<PartRef> {
        let mut nth_part_with_rows = 0_usize;
        let is_selected = |part: &&PartRef| match part.role {
            Role::Whole | Role::Rows => {
                let index = nth_part_with_rows;
                nth_part_with_rows = index.saturating_add(1);
                rows.contains(&index)
            }
            role => roles.contains(&role),
        };
        self.parts.iter().filter(is_selected).copied().collect()
    }

    fn first_rows(&self) -> Vec<usize> {
        let with_rows = |part: &&PartRef| matches!(part.role, Role::Whole | Role::Rows);
        self.parts.iter().filter(with_rows).map(|part| part.first).collect()
    }

    pub fn parts_for_rows(&self, rows: impl IntoIterator<Item = usize>) -> Vec<PartRef> {
        let first_rows = self.first_rows();
        let mut part_indexes: Vec<usize> = Vec::new();
        for row in rows {
            let index = first_rows.partition_point(|first| *first <= row).saturating_sub(1);
            if !part_indexes.contains(&index) {
                part_indexes.push(index);
            }
        }
        sort(&mut part_indexes);
        part_indexes
            .iter()
            .flat_map(|index| self.select_parts(&[], *index..index.saturating_add(1)))
            .collect()
    }

    pub fn parts_for_title(&self, folded: &str) -> Vec<PartRef> {
        let before = |title: &[u8]| title < folded.as_bytes();
        let start = self.titles.partition_point(|title| before(title)).saturating_sub(1);
        let end = self.titles.partition_point(|title| **title <= *folded.as_bytes());
        self.select_parts(&[Role::Columns], start..end.max(1))
    }

    /// The parts that would contain these words, and the part with features.
    pub fn parts_for_words<'a>(&self, words: impl Iterator<Item = &'a str>) -> Vec<PartRef> {
        let index = |word: &str| {
            let after = self.titles.partition_point(|first| **first <= *word.as_bytes());
            after.saturating_sub(1)
        };
        let word_indexes: Vec<usize> = words.map(index).collect();
        let with_words = self.parts.iter().filter(|part| part.role == Role::Words).enumerate();
        let with_words =
            with_words.filter(|(index, _)| word_indexes.contains(index)).map(|(_, part)| *part);
        with_words.chain(self.select_parts(&[Role::Features], 0..0)).collect()
    }

    /// The parts that would contain words that begin with one of these letters.
    pub fn parts_for_letters(&self, letters: &[char]) -> Vec<PartRef> {
        let holds = |index: usize| {
            letters.iter().any(|letter| {
                let (from, end) = (letter.to_string(), format!("{letter}{}", char::MAX));
                let starts = self.titles.get(index).is_none_or(|first| **first <= *end.as_bytes());
                let next = self.titles.get(index.saturating_add(1));
                starts && next.is_none_or(|next| **next > *from.as_bytes())
            })
        };
        let with_words = self.parts.iter().filter(|part| part.role == Role::Words).enumerate();
        with_words.filter(|(index, _)| holds(*index)).map(|(_, part)| *part).collect()
    }

    pub fn parts_for_key(&self, key: &str) -> Vec<PartRef> {
        let Some(bucket) = self.bucket(key) else { return self.select_parts(&[], 0..1) };
        let holds = |part: &&PartRef| part.role == Role::Keys && part.first <= bucket;
        self.parts.iter().rfind(holds).copied().into_iter().collect()
    }

    /// The bucket of a key. Returns `None` if the list is a single part, which contains its keys.
    pub fn bucket(&self, key: &str) -> Option<usize> {
        bucket_index(key, self.buckets)
    }

    /// The parts that a scan of all rows needs.
    pub fn parts_for_scan(&self, with_index: bool) -> Vec<PartRef> {
        let roles = [Role::Columns, Role::Index];
        let roles = if with_index { &roles[..] } else { roles.get(..1).unwrap_or_default() };
        self.select_parts(roles, 0..usize::MAX)
    }
}

/// The bucket of a key. Returns `None` if `buckets` is 0.
pub fn bucket_index(key: &str, buckets: usize) -> Option<usize> {
    (crc32(key.as_bytes()) as usize).checked_rem(buckets)
}

#[cfg(test)]
mod tests {
    use super::{ListRef, PartRef, Role, SectionRef};
    use crate::catalog::format::stored::SegmentId;

    #[test]
    fn selects_part_that_contains_word() {
        let location = SectionRef { segment: SegmentId([0; 16]), base: 0, head: 0, crc: 0 };
        let titles = ["b", "m"].map(|first| first.as_bytes().into()).into();
        let mut list = ListRef::whole(location.segment, 1, location).with_titles(titles);
        list.parts = [(Role::Words, 0), (Role::Words, 1), (Role::Features, 7)]
            .map(|(role, first)| PartRef { role, location, first })
            .into();
        for (words, expected) in [
            (&["a"][..], &[0, 7][..]),
            (&["b"], &[0, 7]),
            (&["l", "m"], &[0, 1, 7]),
            (&["z"], &[1, 7]),
        ] {
            let parts = list.parts_for_words(words.iter().copied());
            let firsts: Vec<usize> = parts.iter().map(|part| part.first).collect();
            assert_eq!(firsts, expected, "{words:?}");
        }
    }
}
