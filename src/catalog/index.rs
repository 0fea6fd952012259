//! The search index of a large list: the places at which a match can begin, sorted by the text that begins there.
//!
//! All places of a word are neighbours in that order, so two binary searches find and count them. An entry says
//! everything that a rank needs, so only those searches read texts. An entry is a number of four bytes; from its lowest
//! bit on:
//!
//! | bits | meaning |
//! |---|---|
//! | 3 | how the place begins: the rank of a match there, minus 2. A match that is the whole value ranks 2 better |
//! | `offset_bits` | its offset in the row's searchable text |
//! | the rest | the row |
//!
//! The rest of a part's head is a number: the entries in each block of the list's index except the last.

use std::cell::RefCell;
use std::ops::Range;

use super::layout::{first_where, read_number};
use super::list::{List, Role};
use super::search::{ABSENT, Search, Word, apart, in_order};
use super::section::Section;
use crate::ports::StorageError;

/// Bits that say how a place begins.
const HIT_BITS: u32 = 3;
/// Below one row in this many, sorting the rows is faster than looking at the ranks of all.
const SPARSE: usize = 32;
/// How many places can be looked at in the time that one text takes.
const PLACES_A_TEXT: usize = 48;
/// How many places can be looked at in the time that finding a word's places takes.
const PLACES_A_SEARCH: usize = 5_000;

/// A place at which a match can begin.
#[derive(Debug, Clone, Copy)]
struct Hit {
    row: usize,
    offset: usize,
}

/// The index of a list.
pub struct Index<'a> {
    list: &'a List,
    parts: Vec<(usize, &'a Section)>,
    /// Entries per block.
    in_block: usize,
}

impl Search {
    /// The rows of a list that contain all words, best first.
    ///
    /// # Errors
    /// When a part of the list is not loaded, or is damaged.
    pub fn run(&self, list: &List) -> Result<Vec<u32>, StorageError> {
        match Index::of(list) {
            Some(index) => index.search(self),
            None => self.scan(list).map(in_order),
        }
    }
}

impl<'a> Index<'a> {
    /// The index of a list. Returns `None` when the list has none or it is not loaded.
    #[must_use]
    pub fn of(list: &'a List) -> Option<Self> {
        let parts: Vec<_> = list.parts(Role::Index).collect();
        let in_block = read_number(parts.first()?.1.rest(), 0).filter(|entries| *entries > 0)?;
        Some(Self { list, parts, in_block })
    }

    /// The rows that contain all words, best first.
    ///
    /// # Errors
    /// When a part of the list is damaged.
    pub fn search(&self, search: &Search) -> Result<Vec<u32>, StorageError> {
        let mut found = Vec::with_capacity(search.words.len());
        for word in &search.words {
            let places = self.places(&word.text)?;
            if places.is_empty() && word.everywhere == ABSENT {
                return Ok(Vec::new());
            }
            found.push((word, places));
        }
        // The rarest word first. A word shared by all rows comes last.
        found.sort_by_key(|(word, places)| (word.everywhere != ABSENT, places.len()));
        let mut found = found.into_iter();
        let Some((word, rarest)) = found.next() else { return Ok(Vec::new()) };
        let mut rows = self.rows(word.everywhere, &rarest)?;
        for (word, places) in found {
            let ranks = self.ranks(word, Some(places), &rows)?;
            for ((_, rank), other) in rows.iter_mut().zip(ranks) {
                *rank = other.max(*rank);
            }
            rows.retain(|(_, rank)| *rank != ABSENT);
        }
        if let Some(phrase) = &search.phrase {
            let ranks = self.ranks(phrase, None, &rows)?;
            for ((_, rank), together) in rows.iter_mut().zip(ranks) {
                *rank = if together == ABSENT { apart(*rank) } else { together };
            }
        }
        Ok(in_order(rows))
    }

    /// The rank of a word in each of these rows, found through their texts or through all its places, whichever is
    /// faster.
    fn ranks(
        &self,
        word: &Word,
        places: Option<Places>,
        rows: &[(u32, u8)],
    ) -> Result<Vec<u8>, StorageError> {
        let few = rows.len().saturating_mul(PLACES_A_TEXT);
        let most = places.as_ref().map_or(PLACES_A_SEARCH, Places::len);
        if few < most {
            let texts = rows.iter().map(|(row, _)| self.list.text(*row as usize));
            return texts.map(|text| Ok(word.rank(text?))).collect();
        }
        let places = places.map_or_else(|| self.places(&word.text), Ok)?;
        let mut column = vec![word.everywhere; self.list.at.rows];
        self.improve(&mut column, &places)?;
        let rank = |row: u32| column.get(row as usize).copied().unwrap_or(ABSENT);
        Ok(rows.iter().map(|(row, _)| rank(*row)).collect())
    }

    /// The rows that contain a word, each with its rank, in list order.
    fn rows(&self, everywhere: u8, places: &Places) -> Result<Vec<(u32, u8)>, StorageError> {
        let mut column = vec![everywhere; self.list.at.rows];
        self.improve(&mut column, places)?;
        if everywhere != ABSENT || places.len() >= column.len() / SPARSE {
            let ranks = (0_u32..).zip(column);
            return Ok(ranks.filter(|(_, rank)| *rank != ABSENT).collect());
        }
        let mut rows = Vec::with_capacity(places.len());
        self.each(places.all.clone(), |entry| {
            let row = self.hit(entry).row;
            let rank = column.get(row).copied().unwrap_or(ABSENT);
            rows.push((u32::try_from(row).unwrap_or(u32::MAX), rank));
        })?;
        rows.sort_unstable();
        rows.dedup();
        Ok(rows)
    }

    /// The entries whose text begins with `word`.
    fn places(&self, word: &str) -> Result<Places, StorageError> {
        let whole = format!("{word}\n");
        let end = Self::after(word);
        let all = self.first_from(word.as_bytes(), 0..self.list.at.entries)?;
        let all = all..self.first_from(&end, all..self.list.at.entries)?;
        let start = self.first_from(whole.as_bytes(), all.clone())?;
        let whole = start..self.first_from(&Self::after(&whole), start..all.end)?;
        Ok(Places { all, whole })
    }

    /// The smallest byte string after all that begin with `word`: no byte of UTF-8 is 255.
    fn after(word: &str) -> Vec<u8> {
        [word.as_bytes(), &[u8::MAX]].concat()
    }

    /// The first entry whose text is not less than `text`.
    fn first_from(&self, text: &[u8], within: Range<usize>) -> Result<usize, StorageError> {
        let failure = RefCell::new(None);
        let first = first_where(within.len(), |nth| {
            let at = within.start.saturating_add(nth);
            match self.text(at) {
                Ok(here) => here >= text,
                Err(error) => {
                    failure.replace(Some(error));
                    true
                }
            }
        });
        failure.into_inner().map_or_else(|| Ok(within.start.saturating_add(first)), Err)
    }

    fn text(&self, nth: usize) -> Result<&[u8], StorageError> {
        let hit = self.hit(self.entry(nth)?);
        Ok(self.list.text(hit.row)?.get(hit.offset..).unwrap_or_default())
    }

    fn hit(&self, entry: u32) -> Hit {
        let rest = entry >> HIT_BITS;
        let bits = self.list.at.offset_bits;
        let row = rest.checked_shr(bits).unwrap_or_default() as usize;
        let above =
            rest.checked_shr(bits).and_then(|row| row.checked_shl(bits)).unwrap_or_default();
        Hit { row, offset: (rest ^ above) as usize }
    }

    /// The block that contains an entry, and the entry's position in it.
    fn block(&self, nth: usize) -> Result<(&[[u8; 4]], usize), StorageError> {
        let part = self.parts.partition_point(|(first, _)| *first <= nth).saturating_sub(1);
        let missing = || StorageError::new("the search index has no part");
        let (first, section) = *self.parts.get(part).ok_or_else(missing)?;
        let nth = nth.saturating_sub(first);
        let block = nth.checked_div(self.in_block).ok_or_else(missing)?;
        let at = nth.checked_rem(self.in_block).ok_or_else(missing)?;
        Ok((section.block(block)?.as_chunks().0, at))
    }

    fn entry(&self, nth: usize) -> Result<u32, StorageError> {
        let (block, at) = self.block(nth)?;
        let missing = || StorageError::new("the search index has fewer entries than it should");
        block.get(at).map(|entry| u32::from_le_bytes(*entry)).ok_or_else(missing)
    }

    /// Calls `look` with each entry of a range.
    fn each(&self, range: Range<usize>, mut look: impl FnMut(u32)) -> Result<(), StorageError> {
        let mut nth = range.start;
        while nth < range.end {
            let (block, from) = self.block(nth)?;
            let until = from.saturating_add(range.end.saturating_sub(nth)).min(block.len());
            let entries = block.get(from..until).unwrap_or_default();
            if entries.is_empty() {
                return Err(StorageError::new("the search index has fewer entries than it should"));
            }
            for entry in entries {
                look(u32::from_le_bytes(*entry));
            }
            nth = nth.saturating_add(entries.len());
        }
        Ok(())
    }

    /// Sets each row's rank to that of its best place, where that is better.
    fn improve(&self, ranks: &mut [u8], places: &Places) -> Result<(), StorageError> {
        // A place at the beginning of a value has 0 or 1: only there can the match be the whole value.
        const PART: [u8; 8] = [2, 3, 4, 5, 6, 7, ABSENT, ABSENT];
        const WHOLE: [u8; 8] = [0, 1, 4, 5, 6, 7, ABSENT, ABSENT];
        let shift = self.list.at.offset_bits.saturating_add(HIT_BITS);
        let mut improve = |range, rank_of: [u8; 8]| {
            self.each(range, |entry| {
                let rank = rank_of.get((entry & 7) as usize).copied().unwrap_or(ABSENT);
                if let Some(best) = ranks.get_mut(entry.wrapping_shr(shift) as usize) {
                    *best = rank.min(*best);
                }
            })
        };
        improve(places.all.start..places.whole.start, PART)?;
        improve(places.whole.clone(), WHOLE)?;
        improve(places.whole.end..places.all.end, PART)
    }
}

/// Entries whose text begins with a word.
#[derive(Debug, Clone)]
struct Places {
    all: Range<usize>,
    /// Those at which the word is the rest of the value.
    whole: Range<usize>,
}

impl Places {
    fn len(&self) -> usize {
        self.all.len()
    }

    fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// Builds the index of these texts: its entries in order, and how many bits of an entry are the offset.
///
/// Returns `None` when an entry would not fit into its number; searches then look at every row.
#[cfg(not(target_arch = "wasm32"))]
#[must_use]
pub fn write_index(texts: &[&str]) -> Option<(Vec<u32>, u32)> {
    use super::search::{RANKS, beginning};
    let longest = texts.iter().map(|text| text.len()).max()?;
    let offset_bits = usize::BITS.saturating_sub(longest.leading_zeros());
    let row_bits = usize::BITS.saturating_sub(texts.len().leading_zeros());
    if offset_bits.saturating_add(row_bits).saturating_add(HIT_BITS) > u32::BITS {
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
        let rank = beginning(text, offset).saturating_add(u8::from(!in_title)).saturating_sub(2);
        let offset = u32::try_from(offset).ok()?;
        Some(((row << offset_bits | offset) << HIT_BITS) | u32::from(rank.min(RANKS)))
    };
    Some((order.iter().filter_map(entry).collect(), offset_bits))
}

#[cfg(test)]
mod tests {
    use super::write_index;

    #[test]
    fn an_index_is_as_large_as_its_entries_allow() {
        // 16 bits of an entry are the offset, and three the rank: 13 are left for the row.
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
