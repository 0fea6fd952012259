//! The stored parts of the search index over all actions.
//!
//! **Words.** The words are stemmed, sorted and split into blocks. A block is a [`StringTable`] of
//! two [`StringTable`]s: the words and their postings. The rest of the part's head is a
//! [`StringTable`] with the first word of each block. The postings of a word:
//!
//! | bytes | meaning |
//! |---|---|
//! | 1 | its rarity in sixteenths: the logarithm of the number of all actions divided by those with the word |
//! | varint | number of platforms with the word |
//! | varint and 1 for each | difference to the previous platform's number; its [`PostingFlags`] |
//! | varint and 1 for each | the same for the actions, up to the end |
//!
//! **Features.** Three blocks about the platforms, then the static features of the rows. The rest of the part's head is
//! one byte: the rarity of a word that no action has.
//!
//! | block | meaning |
//! |---|---|
//! | 0 | [`StringTable`]: the platforms, well-known platforms first |
//! | 1 | 8 bytes per platform: its first row, the number of words in its display name, whether it is well known, 2 bytes of 0 |
//! | 2 | [`StringTable`] of two: former names of platforms, and the number of the platform of each name |
//! | … | [`FEATURE_BYTES`] bytes for each of [`BLOCK_ROWS`] rows: see [`StaticFeatures`] |

use std::slice;

use super::intent::Intent;
use super::stem::stem;
use crate::catalog::format::layout::{StringTable, first_where, read_number};
use crate::catalog::format::section::Section;
use crate::ports::StorageError;
use crate::terms::Method;
use crate::util::name_set::Names;
use crate::util::nearest::typo_ratio;
use crate::util::sort::sort_by;

/// The size of a row's features, in bytes.
pub const FEATURE_BYTES: usize = 3;
/// Rows per block of features.
pub const BLOCK_ROWS: usize = 4096;
/// The index of the first block of features. The preceding blocks describe the platforms.
pub const FEATURE_BLOCKS_START: usize = 3;
/// The size of a platform's entry, in bytes.
const PLATFORM_ENTRY_BYTES: usize = 8;

/// The weight of a word for a platform or an action, and the positions where it occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostingFlags(pub u8);

impl PostingFlags {
    /// The largest value of [`Self::weight`].
    pub const MAX_WEIGHT: u8 = 63;
    /// The word occurs in the title of an action, or in the display name of a platform.
    pub const IN_NAME: u8 = 1;
    /// The word occurs in the key of an action.
    pub const IN_KEY: u8 = 2;

    /// The weight of the word, from 1 to [`Self::MAX_WEIGHT`].
    pub const fn weight(self) -> u8 {
        self.0 >> 2
    }

    /// The bits [`Self::IN_NAME`] and [`Self::IN_KEY`].
    pub const fn positions(self) -> u8 {
        self.0 & 3
    }
}

/// The part of an action's score that does not depend on the query.
#[derive(Debug, Clone, Copy)]
pub struct StaticFeatures([u8; FEATURE_BYTES]);

impl StaticFeatures {
    pub const fn new(bytes: [u8; FEATURE_BYTES]) -> Self {
        Self(bytes)
    }

    pub const fn intents(self) -> Intent {
        Intent::from_bits(self.0[0])
    }

    pub const fn has_method(self, method: Method) -> bool {
        self.0[0] >> 4 == method as u8
    }

    /// The penalty for actions that users rarely want, in 32nds of a point.
    pub const fn rank_penalty(self) -> u8 {
        self.0[1]
    }

    /// The number of distinctive words in the action's title, at most 15.
    pub const fn title_words(self) -> u8 {
        self.0[2] & 15
    }

    /// The number of distinctive words in the action's key, at most 15.
    pub const fn key_words(self) -> u8 {
        self.0[2] >> 4
    }
}

/// The platforms and actions that contain a word.
#[derive(Debug, Clone, Copy)]
pub struct Postings<'a> {
    /// The rarity of the word, in sixteenths.
    pub rarity: u8,
    /// The number of platform postings, which precede the row postings.
    platforms: usize,
    bytes: &'a [u8],
}

impl<'a> Postings<'a> {
    fn open(bytes: &'a [u8]) -> Option<Self> {
        let (rarity, mut bytes) = bytes.split_first()?;
        let platforms = varint(&mut bytes)?;
        Some(Self { rarity: *rarity, platforms, bytes })
    }

    pub fn platforms(&self) -> impl Iterator<Item = (usize, PostingFlags)> {
        let (mut bytes, mut number) = (self.bytes, 0_usize);
        (0..self.platforms).map_while(move |_| {
            let flags = next(&mut bytes, &mut number)?;
            Some((number, flags))
        })
    }

    /// Visits each platform and each row that contains the word.
    pub fn for_each(
        &self,
        mut platform: impl FnMut(usize, PostingFlags),
        mut row: impl FnMut(usize, PostingFlags),
    ) {
        let (mut bytes, mut number) = (self.bytes, 0_usize);
        for _ in 0..self.platforms {
            let Some(flags) = next(&mut bytes, &mut number) else { return };
            platform(number, flags);
        }
        number = 0;
        while let Some(flags) = next(&mut bytes, &mut number) {
            row(number, flags);
        }
    }
}

#[expect(clippy::inline_always, reason = "once for each posting, and the Worker is built for size")]
#[inline(always)]
fn next(bytes: &mut &[u8], number: &mut usize) -> Option<PostingFlags> {
    *number = number.saturating_add(varint(bytes)?);
    let (flags, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(PostingFlags(*flags))
}

/// Reads a variable-length integer: seven bits per byte, lowest first; all bytes but the last have the eighth bit set.
#[expect(clippy::inline_always, reason = "once for each posting, and the Worker is built for size")]
#[inline(always)]
fn varint(bytes: &mut &[u8]) -> Option<usize> {
    let (first, rest) = bytes.split_first()?;
    // Fast path: nearly all numbers fit into one byte.
    if *first < 0x80 {
        *bytes = rest;
        return Some(usize::from(*first));
    }
    long_varint(bytes)
}

fn long_varint(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0_usize;
    for shift in (0..28).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Serializes a number for [`varint`].
#[cfg(not(target_arch = "wasm32"))]
pub fn write_varint(mut number: usize, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7f).unwrap_or_default() | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).unwrap_or_default());
}

/// The parts of the index with words that a request has loaded.
pub struct Vocabulary<'a>(pub Vec<&'a Section>);

impl<'a> Vocabulary<'a> {
    /// The postings of a stem. Returns `None` if no action contains the stem, or if its part is not
    /// loaded.
    pub fn get(&self, stem: &str) -> Result<Option<Postings<'a>>, StorageError> {
        let Some((section, index, _)) = self.find_block(stem)? else { return Ok(None) };
        let block = Block::open(section, index)?;
        let index = block.lower_bound(stem);
        let is_match = block.words.get(index) == stem.as_bytes();
        Ok(is_match.then(|| Postings::open(block.postings.get(index))).flatten())
    }

    /// The postings of up to `limit` stems with this prefix, longest postings first. Searches only
    /// one part.
    pub fn with_prefix(
        &self,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<Postings<'a>>, StorageError> {
        let Some((section, first, first_words)) = self.find_block(prefix)? else {
            return Ok(Vec::new());
        };
        let has_prefix = |word: &[u8]| word.starts_with(prefix.as_bytes());
        let mut candidates: Vec<&[u8]> = Vec::new();
        for index in first..first_words.len() {
            if index > first && !has_prefix(first_words.get(index)) {
                break;
            }
            let block = Block::open(section, index)?;
            let words = block.lower_bound(prefix)..block.words.len();
            let words = words.take_while(|index| has_prefix(block.words.get(*index)));
            candidates.extend(words.map(|index| block.postings.get(index)));
        }
        sort_by(&mut candidates, |a, b| b.len().cmp(&a.len()));
        Ok(candidates.into_iter().take(limit).filter_map(Postings::open).collect())
    }

    /// Up to `limit` spelling corrections of a word: the most similar stems, then the most frequent
    /// ones. Considers only stems with the same first letter, since users rarely mistype it.
    pub fn corrections(&self, word: &str, limit: usize) -> Result<Vec<String>, StorageError> {
        let Some(first) = word.chars().next() else { return Ok(Vec::new()) };
        let mut letter = [0; 4];
        let letter = first.encode_utf8(&mut letter).as_bytes();
        let stemmed = stem(word);
        let mut candidates: Vec<(usize, usize, &[u8])> = Vec::new();
        for section in &self.0 {
            let first_words = StringTable::open(section.rest());
            let first_words =
                first_words.ok_or_else(|| section.damaged("its words are cut short"))?;
            let from = first_where(first_words.len(), |index| first_words.get(index) >= letter);
            for index in from.saturating_sub(1)..first_words.len() {
                let has_first_letter = |word: &[u8]| word.starts_with(letter);
                if index >= from && !has_first_letter(first_words.get(index)) {
                    break;
                }
                let block = Block::open(section, index)?;
                let from = first_where(block.words.len(), |index| block.words.get(index) >= letter);
                for index in from..block.words.len() {
                    let indexed_word = block.words.get(index);
                    if !has_first_letter(indexed_word) {
                        break;
                    }
                    let Ok(text) = std::str::from_utf8(indexed_word) else { continue };
                    let ratio = [word, stemmed.as_str()].map(|word| typo_ratio(word, text));
                    if let Some(ratio) = ratio.into_iter().flatten().max() {
                        candidates.push((ratio, block.postings.get(index).len(), indexed_word));
                    }
                }
            }
        }
        sort_by(&mut candidates, |a, b| b.cmp(a));
        let texts =
            candidates.into_iter().take(limit).map(|(.., indexed_word)| indexed_word.to_vec());
        Ok(texts.filter_map(|indexed_word| String::from_utf8(indexed_word).ok()).collect())
    }

    /// The block that would contain a stem: its part, its index in the part, and the first word of
    /// each block of the part.
    fn find_block(
        &self,
        stem: &str,
    ) -> Result<Option<(&'a Section, usize, StringTable<'a>)>, StorageError> {
        let stem = stem.as_bytes();
        let mut last_match = None;
        for section in &self.0 {
            let first_words = StringTable::open(section.rest());
            let first_words =
                first_words.ok_or_else(|| section.damaged("its words are cut short"))?;
            if !first_words.is_empty() && (last_match.is_none() || first_words.get(0) <= stem) {
                last_match = Some((*section, first_words));
            }
        }
        Ok(last_match.map(|(section, first_words)| {
            let after = first_where(first_words.len(), |index| first_words.get(index) > stem);
            (section, after.saturating_sub(1), first_words)
        }))
    }
}

struct Block<'a> {
    words: StringTable<'a>,
    postings: StringTable<'a>,
}

impl<'a> Block<'a> {
    fn open(section: &'a Section, index: usize) -> Result<Self, StorageError> {
        let cut_short_error = || section.damaged("a block of words is cut short");
        let texts = StringTable::open(section.block(index)?).ok_or_else(cut_short_error)?;
        let words = StringTable::open(texts.get(0)).ok_or_else(cut_short_error)?;
        let postings = StringTable::open(texts.get(1)).ok_or_else(cut_short_error)?;
        Ok(Self { words, postings })
    }

    /// The index of the first word in the block that is not less than `stem`.
    fn lower_bound(&self, stem: &str) -> usize {
        first_where(self.words.len(), |index| self.words.get(index) >= stem.as_bytes())
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Platform {
    pub first: usize,
    pub end: usize,
    pub name_words: u8,
    /// Whether the platform is well known and so ranks higher.
    pub is_well_known: bool,
}

impl Platform {
    /// Whether the platform has no actions.
    pub const fn is_empty(&self) -> bool {
        self.first >= self.end
    }

    /// Whether a row is an action of the platform.
    pub fn has_row(&self, row: u32) -> bool {
        (self.first..self.end).contains(&(row as usize))
    }
}

/// The part of the index with the platforms and features.
pub struct Platforms<'a> {
    section: &'a Section,
    names: StringTable<'a>,
    entries: &'a [u8],
    rows: usize,
}

impl<'a> Platforms<'a> {
    /// Opens the part. `rows` is the number of rows in the list.
    pub fn open(section: &'a Section, rows: usize) -> Result<Self, StorageError> {
        let names = StringTable::open(section.block(0)?);
        let names = names.ok_or_else(|| section.damaged("its names are cut short"))?;
        let entries = section.block(1)?;
        if entries.len() != names.len().saturating_mul(PLATFORM_ENTRY_BYTES) {
            return Err(section.damaged("platform entries are missing"));
        }
        Ok(Self { section, names, entries, rows })
    }

    /// The rarity of a word that no action has, in sixteenths.
    pub fn unknown_rarity(&self) -> u8 {
        self.section.rest().first().copied().unwrap_or_default()
    }

    pub const fn len(&self) -> usize {
        self.names.len()
    }

    pub const fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub fn all(&self) -> Vec<Platform> {
        let entries = self.entries.as_chunks::<PLATFORM_ENTRY_BYTES>().0;
        let first = |[a, b, c, d, ..]: &[u8; PLATFORM_ENTRY_BYTES]| {
            u32::from_le_bytes([*a, *b, *c, *d]) as usize
        };
        let ends = entries.iter().skip(1).map(first).chain([self.rows]);
        let platform = |(entry, end): (&[u8; PLATFORM_ENTRY_BYTES], usize)| {
            let [.., name_words, is_well_known, _, _] = *entry;
            Platform { first: first(entry), end, name_words, is_well_known: is_well_known != 0 }
        };
        entries.iter().zip(ends).map(platform).collect()
    }

    /// The number of the platform with this current or former name.
    pub fn find(&self, name: &str) -> Result<Option<usize>, StorageError> {
        let is_match = |index: &usize| self.names.get(*index) == name.as_bytes();
        if let Some(index) = (0..self.len()).find(is_match) {
            return Ok(Some(index));
        }
        let matches = self.with_names(&Names::new(slice::from_ref(&name.to_owned())))?;
        Ok(matches.iter().position(|is_match| *is_match))
    }

    pub fn name(&self, index: usize) -> &str {
        std::str::from_utf8(self.names.get(index)).unwrap_or_default()
    }

    /// For each platform, whether `names` contains its current name or a former one.
    pub fn with_names(&self, names: &Names) -> Result<Vec<bool>, StorageError> {
        let requested = names.all();
        let is_requested =
            |name: &[u8]| requested.iter().any(|requested| requested.as_bytes() == name);
        let mut is_named: Vec<bool> =
            (0..self.len()).map(|index| is_requested(self.names.get(index))).collect();
        let cut_short_error = || self.section.damaged("its former names are cut short");
        let former_names = StringTable::open(self.section.block(2)?).ok_or_else(cut_short_error)?;
        let aliases = StringTable::open(former_names.get(0)).ok_or_else(cut_short_error)?;
        for index in (0..aliases.len()).filter(|index| is_requested(aliases.get(*index))) {
            let platform = read_number(former_names.get(1), index.saturating_mul(4))
                .ok_or_else(cut_short_error)?;
            if let Some(entry) = is_named.get_mut(platform) {
                *entry = true;
            }
        }
        Ok(is_named)
    }

    pub fn features(&self, row: usize) -> Result<StaticFeatures, StorageError> {
        let block = (row / BLOCK_ROWS).saturating_add(FEATURE_BLOCKS_START);
        let offset = row.checked_rem(BLOCK_ROWS).unwrap_or(0).saturating_mul(FEATURE_BYTES);
        let bytes = self.section.block(block)?.get(offset..).and_then(|rest| rest.first_chunk());
        let bytes = bytes.ok_or_else(|| self.section.damaged("a row has no features"))?;
        Ok(StaticFeatures::new(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::{Platforms, Vocabulary, varint, write_varint};
    use crate::catalog::format::layout::write_string_table;
    use crate::catalog::format::section::{Section, SectionWriter};

    #[test]
    fn varints_round_trip() {
        for number in [0, 1, 127, 128, 300, 16_383, 16_384, 2_097_151, 2_097_152, (1 << 28) - 1] {
            let mut bytes = Vec::new();
            write_varint(number, &mut bytes);
            let mut rest = &bytes[..];
            assert_eq!((varint(&mut rest), rest), (Some(number), &[][..]));
            let mut cut = &bytes[..bytes.len() - 1];
            assert_eq!(varint(&mut cut), None, "{number}");
        }
        assert_eq!(varint(&mut &[0x80; 5][..]), None);
    }

    #[test]
    fn platforms_round_trip() {
        let entries = [[0, 0, 0, 0, 2, 1, 0, 0], [4, 1, 0, 0, 1, 0, 0, 0]].concat();
        let blocks = vec![write_string_table(["a", "b"].iter()), entries];
        let section = SectionWriter { blocks, rest: vec![9] }.opened();
        let platforms = Platforms::open(&section, 300).unwrap();
        assert_eq!((platforms.len(), platforms.unknown_rarity()), (2, 9));
        let all = platforms.all().into_iter();
        let all = all.map(|one| (one.first, one.end, one.name_words, one.is_well_known));
        assert_eq!(all.collect::<Vec<_>>(), [(0, 260, 2, true), (260, 300, 1, false)]);
    }

    /// A part with these blocks of words.
    fn part(blocks: &[&[&str]]) -> Section {
        let block = |words: &&[&str]| {
            // The postings are a rarity of 7 and zero platforms.
            let postings = vec![[7, 0]; words.len()];
            write_string_table(
                [write_string_table(words.iter()), write_string_table(postings.iter())].iter(),
            )
        };
        let rest = write_string_table(blocks.iter().map(|words| words[0]));
        SectionWriter { blocks: blocks.iter().map(block).collect(), rest }.opened()
    }

    #[test]
    fn finds_words_in_parts_and_by_prefix() {
        let parts = [part(&[&["ab", "ac"], &["ad", "b"]]), part(&[&["m", "n"]]), part(&[])];
        let words = Vocabulary(parts.iter().collect());
        for (word, is_indexed, candidates) in [
            ("a", false, 3),
            ("ab", true, 1),
            ("ad", true, 1),
            ("b", true, 1),
            ("c", false, 0),
            ("m", true, 1),
            ("n", true, 1),
            ("z", false, 0),
        ] {
            assert_eq!(words.get(word).unwrap().is_some(), is_indexed, "{word}");
            assert_eq!(words.with_prefix(word, 9).unwrap().len(), candidates, "{word}");
        }
        assert_eq!(words.with_prefix("a", 2).unwrap().len(), 2);
        assert!(Vocabulary(Vec::new()).get("a").unwrap().is_none());
    }
}
