//! A list of rows in list order: where its parts are, and the parts that have been loaded.
//!
//! A part is a [`Section`]. A small list is one [`Role::Whole`]. A large one has parts of the other roles, so that a
//! request reads only those that it needs. The rows form groups. A group has a block with its rows' JSON, each followed
//! by a comma, and a block with their searchable texts, both as [`Texts`].
//!
//! The rest of the head of a part with role `Whole` or `Rows`:
//!
//! | bytes | meaning |
//! |---|---|
//! | 4 | number, in the list, of its first row |
//! | 4 | number of rows |
//! | 4 | number of groups |
//! | 4 per group | number, in the list, of its first row |
//! | … | [`Texts`]: the folded titles of the groups' first rows |

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use super::layout::{DamagedError, Texts, first_where, read_number};
use super::row::{Facts, Kind};
use super::section::{REF_BYTES, Section, SectionRef};
use super::stored::SegmentId;
use crate::ports::StorageError;
use crate::util::crc32::crc32;

/// What a part of a list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// Everything: groups of rows, then the columns, then the rows' numbers by key.
    Whole = 0,
    /// Groups of rows.
    Rows = 1,
    /// A second copy of the rows, sorted by key, so that reading one part is enough.
    Keys = 2,
    /// The columns.
    Columns = 3,
    /// The search index: see [`index`](super::index).
    Index = 4,
    /// Of all actions: the words, and who has each. See [`finder`](super::finder).
    Words = 5,
    /// Of all actions: the platforms, and what ranks an action whatever is asked.
    Traits = 6,
}

impl Role {
    const ALL: [Self; 7] = [
        Self::Whole,
        Self::Rows,
        Self::Keys,
        Self::Columns,
        Self::Index,
        Self::Words,
        Self::Traits,
    ];
}

/// A part of a list.
#[derive(Debug, Clone, Copy)]
pub struct PartRef {
    /// What it holds.
    pub role: Role,
    /// Where it is.
    pub place: SectionRef,
    /// The number of its first row, bucket of keys or index entry.
    pub first: usize,
}

/// A list, and where its parts are.
#[derive(Debug, Clone)]
pub struct ListRef {
    /// Derived from the list's content: lists with the same id give the same answers.
    pub id: SegmentId,
    /// Number of rows.
    pub rows: usize,
    /// The number of buckets of keys.
    pub buckets: usize,
    /// The number of entries of the search index; 0 when there is none.
    pub entries: usize,
    /// How many bits of an entry are the offset in its row's text.
    pub offset_bits: u32,
    /// The parts, in order within each role.
    pub parts: Vec<PartRef>,
    /// The folded title of the first row of each part with rows; of all actions, the first word of each part with words.
    titles: Vec<Box<[u8]>>,
}

/// Bytes of a list's record before its parts.
const LIST_BYTES: usize = 36;
/// Bytes of a part's record: its [`SectionRef`], the number of its first item, and its role.
const PART_BYTES: usize = REF_BYTES + 8;

impl ListRef {
    /// A list of one part.
    #[must_use]
    pub fn whole(id: SegmentId, rows: usize, place: SectionRef) -> Self {
        let parts = vec![PartRef { role: Role::Whole, place, first: 0 }];
        let titles = vec![Box::default()];
        Self { id, rows, buckets: 0, entries: 0, offset_bits: 0, parts, titles }
    }

    /// Reads what [`Self::write`] wrote. Returns `None` when it is cut short.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let id = SegmentId(*bytes.first_chunk()?);
        let field = |nth: usize| read_number(bytes, nth.checked_mul(4)?.checked_add(16)?);
        let count = field(4)?;
        let titles_at = count.checked_mul(PART_BYTES)?.checked_add(LIST_BYTES)?;
        let titles = Texts::open(bytes.get(titles_at..)?)?;
        let part = |nth: usize| {
            let at = nth.checked_mul(PART_BYTES)?.checked_add(LIST_BYTES)?;
            let place = SectionRef::read(bytes, at)?;
            let first = read_number(bytes, at.checked_add(REF_BYTES)?)?;
            let role = *Role::ALL.get(read_number(bytes, at.checked_add(REF_BYTES + 4)?)?)?;
            Some(PartRef { role, place, first })
        };
        Some(Self {
            id,
            rows: field(0)?,
            buckets: field(1)?,
            entries: field(2)?,
            offset_bits: u32::try_from(field(3)?).ok()?,
            parts: (0..count).map(part).collect::<Option<_>>()?,
            titles: (0..titles.len()).map(|nth| titles.get(nth).into()).collect(),
        })
    }

    /// The list's record in `current`.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        use super::layout::{number, write_texts};
        let mut bytes = self.id.0.to_vec();
        let fields =
            [self.rows, self.buckets, self.entries, self.offset_bits as usize, self.parts.len()];
        bytes.extend(fields.into_iter().flat_map(number));
        for part in &self.parts {
            bytes.extend(part.place.segment.0);
            bytes.extend(number(part.place.head));
            bytes.extend(part.place.crc.to_le_bytes());
            bytes.extend(number(part.first));
            bytes.extend(number(part.role as usize));
        }
        bytes.extend(write_texts(self.titles.iter()));
        bytes
    }

    /// Sets the titles of the parts with rows.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub fn with_titles(mut self, titles: Vec<Box<[u8]>>) -> Self {
        self.titles = titles;
        self
    }

    /// The parts of these roles, and those parts with rows whose number among their kind is in `rows`.
    fn chosen(&self, roles: &[Role], rows: Range<usize>) -> Vec<PartRef> {
        let mut nth_with_rows = 0_usize;
        let is_chosen = |part: &&PartRef| match part.role {
            Role::Whole | Role::Rows => {
                let nth = nth_with_rows;
                nth_with_rows = nth.saturating_add(1);
                rows.contains(&nth)
            }
            role => roles.contains(&role),
        };
        self.parts.iter().filter(is_chosen).copied().collect()
    }

    fn firsts(&self) -> Vec<usize> {
        let with_rows = |part: &&PartRef| matches!(part.role, Role::Whole | Role::Rows);
        self.parts.iter().filter(with_rows).map(|part| part.first).collect()
    }

    /// The parts that contain these rows.
    #[must_use]
    pub fn parts_of_rows(&self, rows: impl IntoIterator<Item = usize>) -> Vec<PartRef> {
        let firsts = self.firsts();
        let mut chosen: Vec<usize> = Vec::new();
        for row in rows {
            let nth = firsts.partition_point(|first| *first <= row).saturating_sub(1);
            if !chosen.contains(&nth) {
                chosen.push(nth);
            }
        }
        chosen.sort_unstable();
        chosen.iter().flat_map(|nth| self.chosen(&[], *nth..nth.saturating_add(1))).collect()
    }

    /// The parts that contain the rows of a folded title, and the columns.
    #[must_use]
    pub fn parts_of_title(&self, folded: &str) -> Vec<PartRef> {
        let before = |title: &[u8]| title < folded.as_bytes();
        let start = self.titles.partition_point(|title| before(title)).saturating_sub(1);
        let end = self.titles.partition_point(|title| **title <= *folded.as_bytes());
        self.chosen(&[Role::Columns], start..end.max(1))
    }

    /// The parts that would contain these words, and the one with traits.
    #[must_use]
    pub fn parts_of_words<'a>(&self, words: impl Iterator<Item = &'a str>) -> Vec<PartRef> {
        let nth = |word: &str| {
            let after = self.titles.partition_point(|first| **first <= *word.as_bytes());
            after.saturating_sub(1)
        };
        let wanted: Vec<usize> = words.map(nth).collect();
        let with_words = self.parts.iter().filter(|part| part.role == Role::Words).enumerate();
        let with_words = with_words.filter(|(nth, _)| wanted.contains(nth)).map(|(_, part)| *part);
        with_words.chain(self.chosen(&[Role::Traits], 0..0)).collect()
    }

    /// The parts that would contain the words that begin with one of these letters.
    #[must_use]
    pub fn parts_of_letters(&self, letters: &[char]) -> Vec<PartRef> {
        let holds = |nth: usize| {
            letters.iter().any(|letter| {
                let (from, end) = (letter.to_string(), format!("{letter}{}", char::MAX));
                let starts = self.titles.get(nth).is_none_or(|first| **first <= *end.as_bytes());
                let next = self.titles.get(nth.saturating_add(1));
                starts && next.is_none_or(|next| **next > *from.as_bytes())
            })
        };
        let with_words = self.parts.iter().filter(|part| part.role == Role::Words).enumerate();
        with_words.filter(|(nth, _)| holds(*nth)).map(|(_, part)| *part).collect()
    }

    /// The part that contains the row of a key.
    #[must_use]
    pub fn parts_of_key(&self, key: &str) -> Vec<PartRef> {
        let Some(bucket) = self.bucket(key) else { return self.chosen(&[], 0..1) };
        let holds = |part: &&PartRef| part.role == Role::Keys && part.first <= bucket;
        self.parts.iter().rfind(holds).copied().into_iter().collect()
    }

    /// The bucket of a key. Returns `None` when the list is one part, which has its own keys.
    #[must_use]
    pub fn bucket(&self, key: &str) -> Option<usize> {
        bucket_of(key, self.buckets)
    }

    /// The parts needed to look at all rows.
    #[must_use]
    pub fn parts_of_scan(&self, searches: bool) -> Vec<PartRef> {
        let roles = [Role::Columns, Role::Index];
        let roles = if searches { &roles[..] } else { roles.get(..1).unwrap_or_default() };
        self.chosen(roles, 0..usize::MAX)
    }
}

/// The bucket of a key among `buckets`. Returns `None` when there are none.
#[must_use]
pub fn bucket_of(key: &str, buckets: usize) -> Option<usize> {
    (crc32(key.as_bytes()) as usize).checked_rem(buckets)
}

/// A list with the parts that a request has loaded.
#[derive(Debug)]
pub struct List {
    /// Where the list's parts are.
    pub at: ListRef,
    /// The kind of its rows.
    pub kind: Kind,
    /// The loaded parts with rows, each with the number of its first row.
    rows: Vec<(usize, Rc<Section>)>,
    /// The other loaded parts.
    parts: Vec<(PartRef, Rc<Section>)>,
}

/// A group of rows.
#[derive(Debug, Clone, Copy)]
pub struct Group<'a> {
    section: &'a Section,
    nth: usize,
    /// The number of its first row.
    pub first: usize,
}

impl<'a> Group<'a> {
    /// The rows' JSON.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn rows(&self) -> Result<Texts<'a>, StorageError> {
        self.texts_of(0)
    }

    /// The rows' searchable texts.
    ///
    /// # Errors
    /// When they are damaged.
    pub fn texts(&self) -> Result<Texts<'a>, StorageError> {
        self.texts_of(1)
    }

    fn texts_of(&self, which: usize) -> Result<Texts<'a>, StorageError> {
        let block = self.section.block(self.nth.saturating_mul(2).saturating_add(which))?;
        Texts::open(block).ok_or_else(|| self.section.damaged("texts are cut short"))
    }
}

/// The head of a part with rows.
#[derive(Debug, Clone, Copy)]
struct RowsHead<'a> {
    section: &'a Section,
    first: usize,
    rows: usize,
    groups: usize,
}

impl<'a> RowsHead<'a> {
    fn read(section: &'a Section) -> Result<Self, StorageError> {
        let field = |nth| {
            let cut = || section.damaged("its head is cut short");
            read_number(section.rest(), nth).ok_or_else(cut)
        };
        Ok(Self { section, first: field(0)?, rows: field(4)?, groups: field(8)? })
    }

    fn end(&self) -> usize {
        self.first.saturating_add(self.rows)
    }

    fn group(&self, nth: usize) -> Group<'a> {
        let at = nth.saturating_mul(4).saturating_add(12);
        let first = read_number(self.section.rest(), at).unwrap_or(self.first);
        Group { section: self.section, nth, first }
    }

    /// The group of a row.
    fn group_of(&self, row: usize) -> Group<'a> {
        let after = first_where(self.groups, |nth| self.group(nth).first > row);
        self.group(after.saturating_sub(1))
    }

    fn titles(&self) -> Option<Texts<'a>> {
        let at = self.groups.saturating_mul(4).saturating_add(12);
        self.section.rest().get(at..).and_then(Texts::open)
    }
}

impl List {
    /// A list with these parts loaded.
    #[must_use]
    pub fn new(at: ListRef, kind: Kind, parts: Vec<(PartRef, Rc<Section>)>) -> Self {
        let has_rows = |(part, _): &(PartRef, _)| matches!(part.role, Role::Whole | Role::Rows);
        let (rows, parts): (Vec<_>, Vec<_>) = parts.into_iter().partition(has_rows);
        let rows = rows.into_iter().map(|(part, section)| (part.first, section)).collect();
        Self { at, kind, rows, parts }
    }

    /// The loaded parts of a role, each with the number of its first item.
    pub fn parts(&self, role: Role) -> impl Iterator<Item = (usize, &Section)> {
        let parts = self.parts.iter().filter(move |(part, _)| part.role == role);
        parts.map(|(part, section)| (part.first, section.as_ref()))
    }

    fn with_rows(&self) -> impl Iterator<Item = &Section> {
        self.rows.iter().map(|(_, section)| section.as_ref())
    }

    /// The only part of a small list. Returns `None` for a large list.
    fn whole(&self) -> Option<&Section> {
        let is_whole = self.at.parts.first().is_some_and(|part| part.role == Role::Whole);
        self.with_rows().next().filter(|_| is_whole)
    }

    /// The group that contains a row.
    ///
    /// # Errors
    /// When no loaded part contains the row.
    pub fn group_of(&self, row: usize) -> Result<Group<'_>, StorageError> {
        let after = self.rows.partition_point(|(first, _)| *first <= row);
        let missing = || self.missing("a row");
        let (_, section) = self.rows.get(after.saturating_sub(1)).ok_or_else(missing)?;
        let head = RowsHead::read(section)?;
        if (head.first..head.end()).contains(&row) {
            Ok(head.group_of(row))
        } else {
            Err(missing())
        }
    }

    /// All groups of the loaded parts.
    ///
    /// # Errors
    /// When a part is damaged.
    pub fn groups(&self) -> Result<Vec<Group<'_>>, StorageError> {
        let heads = self.with_rows().map(RowsHead::read);
        let heads: Vec<RowsHead<'_>> = heads.collect::<Result<_, _>>()?;
        Ok(heads.iter().flat_map(|head| (0..head.groups).map(|nth| head.group(nth))).collect())
    }

    fn missing(&self, what: &str) -> StorageError {
        StorageError::new(format!("the list {} has not {what} that it should have", self.at.id))
    }

    /// The JSON of a row.
    ///
    /// # Errors
    /// When it is not loaded, or is damaged.
    pub fn row(&self, row: usize) -> Result<&[u8], StorageError> {
        let group = self.group_of(row)?;
        let json = group.rows()?.get(row.saturating_sub(group.first));
        json.strip_suffix(b",").ok_or_else(|| self.missing("a row"))
    }

    /// The searchable text of a row.
    ///
    /// # Errors
    /// When it is not loaded, or is damaged.
    pub fn text(&self, row: usize) -> Result<&[u8], StorageError> {
        let group = self.group_of(row)?;
        Ok(group.texts()?.get(row.saturating_sub(group.first)))
    }

    /// The JSON of consecutive rows, joined by commas.
    ///
    /// # Errors
    /// When a row is not loaded, or is damaged.
    pub fn json(&self, rows: Range<usize>) -> Result<Cow<'_, [u8]>, StorageError> {
        let mut joined: Cow<'_, [u8]> = Cow::Borrowed(&[]);
        let mut row = rows.start;
        while row < rows.end {
            let group = self.group_of(row)?;
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

    /// The consecutive rows that have a folded title.
    ///
    /// # Errors
    /// When a part is damaged.
    pub fn with_title(&self, folded: &str) -> Result<Range<usize>, StorageError> {
        let folded = folded.as_bytes();
        let (mut start, mut end) = (None, 0);
        for section in self.with_rows() {
            let head = RowsHead::read(section)?;
            let titles =
                head.titles().ok_or_else(|| section.damaged("its titles are cut short"))?;
            // The group before the first one that begins with the title, or after it, may end with it.
            let from = first_where(titles.len(), |nth| titles.get(nth) >= folded);
            for nth in from.saturating_sub(1)..head.groups {
                if titles.get(nth) > folded {
                    break;
                }
                let group = head.group(nth);
                let texts = group.texts()?;
                let title = |nth| title_of(texts.get(nth));
                let low = first_where(texts.len(), |nth| title(nth) >= folded);
                let high = first_where(texts.len(), |nth| title(nth) > folded);
                if low < high {
                    start.get_or_insert(group.first.saturating_add(low));
                    end = group.first.saturating_add(high);
                }
            }
        }
        Ok(start.unwrap_or(end)..end)
    }

    /// The JSON of the row with a key. Returns `None` when there is none.
    ///
    /// # Errors
    /// When the part with the keys is damaged.
    pub fn with_key(&self, key: &str) -> Result<Option<&[u8]>, StorageError> {
        match self.at.bucket(key) {
            Some(bucket) => self.in_bucket(key, bucket),
            None => self.in_whole(key),
        }
    }

    /// Looks a key up in its bucket: two [`Texts`], the sorted keys and their rows.
    fn in_bucket(&self, key: &str, bucket: usize) -> Result<Option<&[u8]>, StorageError> {
        let mut parts = self.parts(Role::Keys);
        let (first, part) = parts.next().ok_or_else(|| self.missing("the keys"))?;
        let block = part.block(bucket.saturating_sub(first))?;
        let cut = || part.damaged("keys are cut short");
        let rows_at = read_number(block, 0).ok_or_else(cut)?;
        let keys = block.get(4..rows_at).and_then(Texts::open).ok_or_else(cut)?;
        let rows = block.get(rows_at..).and_then(Texts::open).ok_or_else(cut)?;
        let nth = first_where(keys.len(), |nth| keys.get(nth) >= key.as_bytes());
        let is_found = nth < keys.len() && keys.get(nth) == key.as_bytes();
        Ok(is_found.then(|| rows.get(nth)))
    }

    /// Looks a key up in a `Whole`, which has the CRC-32 and the row's number of each key, in order.
    fn in_whole(&self, key: &str) -> Result<Option<&[u8]>, StorageError> {
        let part = self.whole().ok_or_else(|| self.missing("the keys"))?;
        let entries = part.block(part.len().saturating_sub(1))?.as_chunks::<8>().0;
        let sum = crc32(key.as_bytes()) as usize;
        let sum_of = |nth: usize| entries.get(nth).and_then(|entry| read_number(entry, 0));
        let start = first_where(entries.len(), |nth| sum_of(nth) >= Some(sum));
        for entry in entries.get(start..).unwrap_or_default() {
            if read_number(entry, 0) != Some(sum) {
                break;
            }
            let row = self.row(read_number(entry, 4).unwrap_or(usize::MAX))?;
            if Facts::read(self.kind, row, 0).is_some_and(|facts| facts.key == key) {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// The columns, which filters read.
    ///
    /// # Errors
    /// When they are not loaded, or are damaged.
    pub fn columns(&self) -> Result<Columns<'_>, StorageError> {
        let (section, nth) = if let Some(whole) = self.whole() {
            (whole, whole.len().saturating_sub(2))
        } else {
            let mut parts = self.parts(Role::Columns);
            (parts.next().ok_or_else(|| self.missing("the columns"))?.1, 0)
        };
        Columns::open(section.block(nth)?, self.at.rows)
            .map_err(|DamagedError(what)| section.damaged(what))
    }
}

/// The folded title of a row: the first line of its searchable text.
#[must_use]
pub fn title_of(text: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// What filters need of every row: the marks, one byte per row; the numbers of the rows' groups, two bytes per row; and
/// the groups' names, as [`Texts`].
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    /// The marks of the rows.
    pub marks: &'a [u8],
    groups: &'a [[u8; 2]],
    names: Texts<'a>,
}

impl<'a> Columns<'a> {
    fn open(block: &'a [u8], rows: usize) -> Result<Self, DamagedError> {
        let cut = DamagedError("its columns are cut short");
        let (marks, rest) = block.split_at_checked(rows).ok_or(cut)?;
        let (groups, names) = rest.split_at_checked(rows.saturating_mul(2)).ok_or(cut)?;
        Ok(Self { marks, groups: groups.as_chunks().0, names: Texts::open(names).ok_or(cut)? })
    }

    /// The number of a group. Returns `None` when no row is in it.
    #[must_use]
    pub fn group(&self, name: &str) -> Option<u16> {
        let nth = (0..self.names.len()).find(|nth| self.names.get(*nth) == name.as_bytes())?;
        u16::try_from(nth).ok()
    }

    /// Whether a row is in a group.
    #[must_use]
    pub fn is_in(&self, row: usize, group: u16) -> bool {
        self.groups.get(row).is_some_and(|number| u16::from_le_bytes(*number) == group)
    }
}

#[cfg(test)]
mod tests {
    use super::{ListRef, PartRef, Role, SectionRef};
    use crate::catalog::stored::SegmentId;

    #[test]
    fn a_word_is_in_the_last_part_that_does_not_begin_after_it() {
        let place = SectionRef { segment: SegmentId([0; 16]), base: 0, head: 0, crc: 0 };
        let titles = ["b", "m"].map(|first| first.as_bytes().into()).into();
        let mut list = ListRef::whole(place.segment, 1, place).with_titles(titles);
        list.parts = [(Role::Words, 0), (Role::Words, 1), (Role::Traits, 7)]
            .map(|(role, first)| PartRef { role, place, first })
            .into();
        for (words, expected) in [
            (&["a"][..], &[0, 7][..]),
            (&["b"], &[0, 7]),
            (&["l", "m"], &[0, 1, 7]),
            (&["z"], &[1, 7]),
        ] {
            let parts = list.parts_of_words(words.iter().copied());
            let firsts: Vec<usize> = parts.iter().map(|part| part.first).collect();
            assert_eq!(firsts, expected, "{words:?}");
        }
    }
}
