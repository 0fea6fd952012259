//! The search index of a large list: a suffix array. Its entries are the positions where a match
//! can begin, sorted by the text that follows.
//!
//! All occurrences of a word are adjacent in this order, so two binary searches find and count
//! them. Only the binary searches read texts; ranking needs only the entries. An entry has four
//! bytes, from the lowest bit on:
//!
//! | bits | meaning |
//! |---|---|
//! | 3 | the rank of a match at this position, minus 2. A match of the whole value is 2 ranks better |
//! | `offset_bits` | the offset in the row's searchable text |
//! | the rest | the row |
//!
//! The rest of a part's head is a number: the entries per block. The last block of the list may
//! have fewer.

use std::cell::RefCell;
use std::ops::Range;

use super::{ABSENT, Search, Word, sort_by_rank, without_phrase};
use crate::catalog::format::layout::{first_where, read_number};
use crate::catalog::format::list::{List, Role};
use crate::catalog::format::section::Section;
use crate::ports::StorageError;
use crate::util::sort::sort_by;

/// The size of the rank in an entry, in bits.
const RANK_BITS: u32 = 3;
/// If a word occurs less often than once per this number of rows, sorting its rows is faster than
/// scanning the ranks of all rows.
const ROWS_PER_OCCURRENCE: usize = 32;
/// The cost of reading one text, in visited occurrences.
const OCCURRENCES_PER_TEXT: usize = 48;
/// The cost of finding the occurrences of a word, in visited occurrences.
const OCCURRENCES_PER_SEARCH: usize = 5_000;

/// A position in a searchable text where a match can begin.
#[derive(Debug, Clone, Copy)]
struct IndexEntry {
    row: usize,
    offset: usize,
}

pub struct Index<'a> {
    list: &'a List,
    parts: Vec<(usize, &'a Section)>,
    /// The number of entries per block, except the last one.
    entries_per_block: usize,
}

impl Search {
    /// The rows of a list that contain all words, best first.
    pub fn run(&self, list: &List) -> Result<Vec<u32>, StorageError> {
        match Index::open(list) {
            Some(index) => index.search(self),
            None => self.scan(list).map(sort_by_rank),
        }
    }
}

impl<'a> Index<'a> {
    /// Returns `None` if the list has no index, or if the index is not loaded.
    pub fn open(list: &'a List) -> Option<Self> {
        let parts: Vec<_> = list.parts(Role::Index).collect();
        let entries_per_block =
            read_number(parts.first()?.1.rest(), 0).filter(|entries| *entries > 0)?;
        Some(Self { list, parts, entries_per_block })
    }

    /// The rows that contain all words, best first.
    pub fn search(&self, search: &Search) -> Result<Vec<u32>, StorageError> {
        let mut words = Vec::with_capacity(search.words.len());
        for word in &search.words {
            let occurrences = self.occurrences(&word.text)?;
            if occurrences.is_empty() && word.shared_rank == ABSENT {
                return Ok(Vec::new());
            }
            words.push((word, occurrences));
        }
        // Rarest word first. Words of the field that all rows share come last.
        sort_by(&mut words, |(word, occurrences), (other, others)| {
            let is_shared = |word: &Word| word.shared_rank != ABSENT;
            is_shared(word).cmp(&is_shared(other)).then(occurrences.len().cmp(&others.len()))
        });
        let mut words = words.into_iter();
        let Some((word, rarest)) = words.next() else { return Ok(Vec::new()) };
        let mut rows = self.rows(word.shared_rank, &rarest)?;
        for (word, occurrences) in words {
            let ranks = self.ranks(word, Some(occurrences), &rows)?;
            for ((_, rank), other) in rows.iter_mut().zip(ranks) {
                *rank = other.max(*rank);
            }
            rows.retain(|(_, rank)| *rank != ABSENT);
        }
        if let Some(phrase) = &search.phrase {
            let ranks = self.ranks(phrase, None, &rows)?;
            for ((_, rank), phrase_rank) in rows.iter_mut().zip(ranks) {
                *rank = if phrase_rank == ABSENT { without_phrase(*rank) } else { phrase_rank };
            }
        }
        Ok(sort_by_rank(rows))
    }

    /// The rank of a word in each of these rows. Either reads the rows' texts or visits all
    /// occurrences of the word, whichever is faster.
    fn ranks(
        &self,
        word: &Word,
        occurrences: Option<Occurrences>,
        rows: &[(u32, u8)],
    ) -> Result<Vec<u8>, StorageError> {
        let text_cost = rows.len().saturating_mul(OCCURRENCES_PER_TEXT);
        let visit_cost = occurrences.as_ref().map_or(OCCURRENCES_PER_SEARCH, Occurrences::len);
        if text_cost < visit_cost {
            let texts = rows.iter().map(|(row, _)| self.list.text(*row as usize));
            return texts.map(|text| Ok(word.rank(text?))).collect();
        }
        let occurrences = occurrences.map_or_else(|| self.occurrences(&word.text), Ok)?;
        let mut column = vec![word.shared_rank; self.list.list_ref.rows];
        self.improve(&mut column, &occurrences)?;
        let rank = |row: u32| column.get(row as usize).copied().unwrap_or(ABSENT);
        Ok(rows.iter().map(|(row, _)| rank(*row)).collect())
    }

    /// The rows that contain a word, each with its rank, in list order.
    fn rows(
        &self,
        shared_rank: u8,
        occurrences: &Occurrences,
    ) -> Result<Vec<(u32, u8)>, StorageError> {
        let mut column = vec![shared_rank; self.list.list_ref.rows];
        self.improve(&mut column, occurrences)?;
        if shared_rank != ABSENT || occurrences.len() >= column.len() / ROWS_PER_OCCURRENCE {
            let ranks = (0_u32..).zip(column);
            return Ok(ranks.filter(|(_, rank)| *rank != ABSENT).collect());
        }
        let mut rows = Vec::with_capacity(occurrences.len());
        self.for_each(occurrences.all.clone(), |entry| {
            let row = self.decode(entry).row;
            let rank = column.get(row).copied().unwrap_or(ABSENT);
            rows.push((u32::try_from(row).unwrap_or(u32::MAX), rank));
        })?;
        rows.sort_unstable();
        rows.dedup();
        Ok(rows)
    }

    /// The entries whose text begins with `word`.
    fn occurrences(&self, word: &str) -> Result<Occurrences, StorageError> {
        let whole_value = format!("{word}\n");
        let end = Self::upper_bound(word);
        let all = self.lower_bound(word.as_bytes(), 0..self.list.list_ref.entries)?;
        let all = all..self.lower_bound(&end, all..self.list.list_ref.entries)?;
        let start = self.lower_bound(whole_value.as_bytes(), all.clone())?;
        let whole = start..self.lower_bound(&Self::upper_bound(&whole_value), start..all.end)?;
        Ok(Occurrences { all, whole })
    }

    /// The smallest byte string greater than all UTF-8 strings that begin with `word`. UTF-8
    /// contains no byte 255.
    fn upper_bound(word: &str) -> Vec<u8> {
        [word.as_bytes(), &[u8::MAX]].concat()
    }

    /// The index of the first entry whose text is not less than `text`.
    fn lower_bound(&self, text: &[u8], within: Range<usize>) -> Result<usize, StorageError> {
        let failure = RefCell::new(None);
        let first = first_where(within.len(), |index| {
            let at = within.start.saturating_add(index);
            match self.text(at) {
                Ok(entry_text) => entry_text >= text,
                Err(error) => {
                    failure.replace(Some(error));
                    true
                }
            }
        });
        failure.into_inner().map_or_else(|| Ok(within.start.saturating_add(first)), Err)
    }

    fn text(&self, index: usize) -> Result<&[u8], StorageError> {
        let entry = self.decode(self.entry(index)?);
        Ok(self.list.text(entry.row)?.get(entry.offset..).unwrap_or_default())
    }

    fn decode(&self, entry: u32) -> IndexEntry {
        let rest = entry >> RANK_BITS;
        let bits = self.list.list_ref.offset_bits;
        let row = rest.checked_shr(bits).unwrap_or_default() as usize;
        let row_bits =
            rest.checked_shr(bits).and_then(|row| row.checked_shl(bits)).unwrap_or_default();
        IndexEntry { row, offset: (rest ^ row_bits) as usize }
    }

    /// The block that contains an entry, and the position of the entry in the block.
    fn block(&self, index: usize) -> Result<(&[[u8; 4]], usize), StorageError> {
        let part = self.parts.partition_point(|(first, _)| *first <= index).saturating_sub(1);
        let missing_error = || StorageError::new("the search index has no part");
        let (first, section) = *self.parts.get(part).ok_or_else(missing_error)?;
        let index = index.saturating_sub(first);
        let block = index.checked_div(self.entries_per_block).ok_or_else(missing_error)?;
        let at = index.checked_rem(self.entries_per_block).ok_or_else(missing_error)?;
        Ok((section.block(block)?.as_chunks().0, at))
    }

    fn entry(&self, index: usize) -> Result<u32, StorageError> {
        let (block, at) = self.block(index)?;
        let too_few_error =
            || StorageError::new("the search index has fewer entries than it should");
        block.get(at).map(|entry| u32::from_le_bytes(*entry)).ok_or_else(too_few_error)
    }

    fn for_each(
        &self,
        range: Range<usize>,
        mut visit: impl FnMut(u32),
    ) -> Result<(), StorageError> {
        let mut index = range.start;
        while index < range.end {
            let (block, from) = self.block(index)?;
            let until = from.saturating_add(range.end.saturating_sub(index)).min(block.len());
            let entries = block.get(from..until).unwrap_or_default();
            if entries.is_empty() {
                return Err(StorageError::new("the search index has fewer entries than it should"));
            }
            for entry in entries {
                visit(u32::from_le_bytes(*entry));
            }
            index = index.saturating_add(entries.len());
        }
        Ok(())
    }

    /// Improves the rank of each row to the rank of its best occurrence.
    fn improve(&self, ranks: &mut [u8], occurrences: &Occurrences) -> Result<(), StorageError> {
        // The stored rank is 0 or 1 at the start of a value, the only position where a match can be
        // the whole value.
        const PART: [u8; 8] = [2, 3, 4, 5, 6, 7, ABSENT, ABSENT];
        const WHOLE: [u8; 8] = [0, 1, 4, 5, 6, 7, ABSENT, ABSENT];
        let shift = self.list.list_ref.offset_bits.saturating_add(RANK_BITS);
        let mut improve = |range, rank_of: [u8; 8]| {
            self.for_each(range, |entry| {
                let rank = rank_of.get((entry & 7) as usize).copied().unwrap_or(ABSENT);
                if let Some(best) = ranks.get_mut(entry.wrapping_shr(shift) as usize) {
                    *best = rank.min(*best);
                }
            })
        };
        improve(occurrences.all.start..occurrences.whole.start, PART)?;
        improve(occurrences.whole.clone(), WHOLE)?;
        improve(occurrences.whole.end..occurrences.all.end, PART)
    }
}

/// The entries whose text begins with a word.
#[derive(Debug, Clone)]
struct Occurrences {
    all: Range<usize>,
    /// The occurrences where the word extends to the end of the value.
    whole: Range<usize>,
}

impl Occurrences {
    fn len(&self) -> usize {
        self.all.len()
    }

    fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// Builds the index of these texts: the sorted entries, and the size of an entry's offset in bits.
/// Returns `None` if an entry would exceed 32 bits; searches then scan all rows.
#[cfg(not(target_arch = "wasm32"))]
pub fn write_index(texts: &[&str]) -> Option<(Vec<u32>, u32)> {
    use super::{RANKS, start_rank};
    let longest = texts.iter().map(|text| text.len()).max()?;
    let offset_bits = usize::BITS.saturating_sub(longest.leading_zeros());
    let row_bits = usize::BITS.saturating_sub(texts.len().leading_zeros());
    if offset_bits.saturating_add(row_bits).saturating_add(RANK_BITS) > u32::BITS {
        return None;
    }
    let joined = texts.concat();
    let starts: Vec<usize> = texts
        .iter()
        .scan(0_usize, |end, text| {
            let start = *end;
            *end = end.saturating_add(text.len());
            Some(start)
        })
        .collect();
    let mut row_of = Vec::with_capacity(joined.len());
    for (row, text) in texts.iter().enumerate() {
        row_of.extend(std::iter::repeat_n(u32::try_from(row).unwrap_or_default(), text.len()));
    }
    let mut order = vec![0_i32; joined.len()];
    if !joined.is_empty() {
        divsufsort::sort_in_place(joined.as_bytes(), &mut order);
    }
    let entry = |at: &i32| {
        let at = usize::try_from(*at).ok()?;
        if !joined.is_char_boundary(at) || matches!(joined.as_bytes().get(at)?, b' ' | b'\n') {
            return None;
        }
        let row = *row_of.get(at)?;
        let offset = at.saturating_sub(*starts.get(row as usize)?);
        let text = texts.get(row as usize)?.as_bytes();
        let in_title = memchr::memchr(b'\n', text).is_none_or(|title| offset < title);
        let rank = start_rank(text, offset).saturating_add(u8::from(!in_title)).saturating_sub(2);
        let offset = u32::try_from(offset).ok()?;
        Some(((row << offset_bits | offset) << RANK_BITS) | u32::from(rank.min(RANKS)))
    };
    Some((order.iter().filter_map(entry).collect(), offset_bits))
}

#[cfg(test)]
mod tests {
    use super::write_index;

    #[test]
    fn writes_no_index_if_an_entry_exceeds_32_bits() {
        // The offset takes 16 bits and the rank takes 3, which leaves 13 bits for the row.
        let long = "a".repeat(32_768);
        let mut texts = vec![""; 8190];
        texts.push(&long);
        assert!(
            write_index(&texts)
                .is_some_and(|(entries, bits)| (entries.len(), bits) == (32_768, 16))
        );
        texts.push("");
        assert_eq!(write_index(&texts), None);
    }
}
