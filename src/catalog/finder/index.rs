//! The parts of the index, as they are stored.
//!
//! **Words.** The words are stemmed and sorted. A block of a part has some of them: [`Texts`] of two [`Texts`], the words
//! and their postings. The rest of the part's head is [`Texts`]: the first word of each block. The postings of a word:
//!
//! | bytes | meaning |
//! |---|---|
//! | 1 | how rare it is, in sixteenths: the logarithm of all actions by those that have it |
//! | varint | number of platforms that have it |
//! | varint and 1 for each | how far its number is from the one before; its [mark](Mark) |
//! | varint and 1 for each | the same for the actions, up to the end |
//!
//! **Traits.** A part of three blocks and the rows' traits. The rest of its head is a byte: how rare a word is that no
//! action has.
//!
//! | block | meaning |
//! |---|---|
//! | 0 | [`Texts`]: the platforms, well-known ones first |
//! | 1 | 8 bytes per platform: its first row, how many words its display name has, whether it is well known, 2 bytes of 0 |
//! | 2 | [`Texts`] of two: former names of platforms, and for each the number of its platform |
//! | … | [`TRAITS`] bytes for each of [`BLOCK_ROWS`] rows: see [`Traits`] |

use std::slice;

use super::words::stem;
use crate::catalog::layout::{Texts, first_where, read_number};
use crate::catalog::section::Section;
use crate::ports::StorageError;
use crate::terms::Method;
use crate::util::name_set::Names;
use crate::util::nearest::mistyped;

/// The bytes of a row's traits.
pub const TRAITS: usize = 3;
/// The rows of a block of traits.
pub const BLOCK_ROWS: usize = 4096;
/// The blocks of the part with traits that come before those of rows.
pub const BEFORE_ROWS: usize = 3;
/// The bytes of a platform's entry.
const PLATFORM: usize = 8;

/// How much a word says about a platform or an action, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(pub u8);

impl Mark {
    /// The most that [`Self::weight`] can be.
    pub const MOST: u8 = 63;
    /// In the title of an action; in the display name of a platform.
    pub const NAMED: u8 = 1;
    /// In the key of an action.
    pub const IN_KEY: u8 = 2;

    /// From 1 to 63.
    #[must_use]
    pub const fn weight(self) -> u8 {
        self.0 >> 2
    }

    /// [`Self::NAMED`] and [`Self::IN_KEY`].
    #[must_use]
    pub const fn places(self) -> u8 {
        self.0 & 3
    }
}

/// What ranks an action whatever is asked.
#[derive(Debug, Clone, Copy)]
pub struct Traits([u8; TRAITS]);

impl Traits {
    /// From what is stored.
    #[must_use]
    pub const fn new(bytes: [u8; TRAITS]) -> Self {
        Self(bytes)
    }

    /// What it does: [`deed`](super::meaning::deed)s.
    #[must_use]
    pub const fn does(self) -> u8 {
        self.0[0] & 15
    }

    /// Whether it has this method.
    #[must_use]
    pub const fn has(self, method: Method) -> bool {
        self.0[0] >> 4 == method as u8
    }

    /// How far it is from what people usually want, in 32nds of a point.
    #[must_use]
    pub const fn remoteness(self) -> u8 {
        self.0[1]
    }

    /// How many words of its title say something, at most 15.
    #[must_use]
    pub const fn title(self) -> u8 {
        self.0[2] & 15
    }

    /// How many words of its key say something, at most 15.
    #[must_use]
    pub const fn key(self) -> u8 {
        self.0[2] >> 4
    }
}

/// What is stored of a word.
#[derive(Debug, Clone, Copy)]
pub struct Postings<'a> {
    /// How rare it is, in sixteenths.
    pub rarity: u8,
    /// The platforms, then the rows.
    platforms: usize,
    bytes: &'a [u8],
}

impl<'a> Postings<'a> {
    fn open(bytes: &'a [u8]) -> Option<Self> {
        let (rarity, mut bytes) = bytes.split_first()?;
        let platforms = varint(&mut bytes)?;
        Some(Self { rarity: *rarity, platforms, bytes })
    }

    /// The platforms that have the word.
    pub fn platforms(&self) -> impl Iterator<Item = (usize, Mark)> {
        let (mut bytes, mut number) = (self.bytes, 0_usize);
        (0..self.platforms).map_while(move |_| {
            let mark = next(&mut bytes, &mut number)?;
            Some((number, mark))
        })
    }

    /// Calls `platform` with each platform that has the word, and `row` with each row.
    pub fn each(&self, mut platform: impl FnMut(usize, Mark), mut row: impl FnMut(usize, Mark)) {
        let (mut bytes, mut number) = (self.bytes, 0_usize);
        for _ in 0..self.platforms {
            let Some(mark) = next(&mut bytes, &mut number) else { return };
            platform(number, mark);
        }
        number = 0;
        while let Some(mark) = next(&mut bytes, &mut number) {
            row(number, mark);
        }
    }
}

#[expect(clippy::inline_always, reason = "once for each posting, and the Worker is built for size")]
#[inline(always)]
fn next(bytes: &mut &[u8], number: &mut usize) -> Option<Mark> {
    *number = number.saturating_add(varint(bytes)?);
    let (mark, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(Mark(*mark))
}

/// Reads a number of which each byte has seven bits, the lowest first; all but the last have the eighth bit.
#[expect(clippy::inline_always, reason = "once for each posting, and the Worker is built for size")]
#[inline(always)]
fn varint(bytes: &mut &[u8]) -> Option<usize> {
    let (first, rest) = bytes.split_first()?;
    // Nearly all of them.
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

/// Writes a number in the form that [`varint`] reads.
#[cfg(not(target_arch = "wasm32"))]
pub fn write_varint(mut number: usize, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7f).unwrap_or_default() | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).unwrap_or_default());
}

/// The loaded parts with words.
pub struct Words<'a>(pub Vec<&'a Section>);

impl<'a> Words<'a> {
    /// What is stored of a stem. Returns `None` when no action has it, or its part is not loaded.
    ///
    /// # Errors
    /// When a part is damaged.
    pub fn get(&self, stem: &str) -> Result<Option<Postings<'a>>, StorageError> {
        let Some((section, nth, _)) = self.block_of(stem)? else { return Ok(None) };
        let block = Block::open(section, nth)?;
        let nth = block.first_from(stem);
        let is_it = block.words.get(nth) == stem.as_bytes();
        Ok(is_it.then(|| Postings::open(block.postings.get(nth))).flatten())
    }

    /// What is stored of the stems that begin like this, `most` of them, those of most bytes first. Looks in one part
    /// only.
    ///
    /// # Errors
    /// When a part is damaged.
    pub fn like(&self, start: &str, most: usize) -> Result<Vec<Postings<'a>>, StorageError> {
        let Some((section, first, firsts)) = self.block_of(start)? else { return Ok(Vec::new()) };
        let begins = |word: &[u8]| word.starts_with(start.as_bytes());
        let mut alike: Vec<&[u8]> = Vec::new();
        for nth in first..firsts.len() {
            if nth > first && !begins(firsts.get(nth)) {
                break;
            }
            let block = Block::open(section, nth)?;
            let words = block.first_from(start)..block.words.len();
            let words = words.take_while(|nth| begins(block.words.get(*nth)));
            alike.extend(words.map(|nth| block.postings.get(nth)));
        }
        alike.sort_by_key(|postings| std::cmp::Reverse(postings.len()));
        Ok(alike.into_iter().take(most).filter_map(Postings::open).collect())
    }

    /// The stems that a mistyped word may have been meant to be, `most` of them: those with the fewest mistakes, and of
    /// these the most frequent. Few people mistype the first letter, so only stems that begin with it are looked at.
    ///
    /// # Errors
    /// When a part is damaged.
    pub fn nearest(&self, word: &str, most: usize) -> Result<Vec<String>, StorageError> {
        let Some(first) = word.chars().next() else { return Ok(Vec::new()) };
        let mut letter = [0; 4];
        let letter = first.encode_utf8(&mut letter).as_bytes();
        let own = stem(word);
        let mut alike: Vec<(usize, usize, &[u8])> = Vec::new();
        for section in &self.0 {
            let firsts = Texts::open(section.rest());
            let firsts = firsts.ok_or_else(|| section.damaged("its words are cut short"))?;
            let from = first_where(firsts.len(), |nth| firsts.get(nth) >= letter);
            for nth in from.saturating_sub(1)..firsts.len() {
                let begins = |word: &[u8]| word.starts_with(letter);
                if nth >= from && !begins(firsts.get(nth)) {
                    break;
                }
                let block = Block::open(section, nth)?;
                let from = first_where(block.words.len(), |nth| block.words.get(nth) >= letter);
                for nth in from..block.words.len() {
                    let known = block.words.get(nth);
                    if !begins(known) {
                        break;
                    }
                    let Ok(text) = std::str::from_utf8(known) else { continue };
                    let right = [word, own.as_str()].map(|word| mistyped(word, text));
                    if let Some(right) = right.into_iter().flatten().max() {
                        alike.push((right, block.postings.get(nth).len(), known));
                    }
                }
            }
        }
        alike.sort_unstable_by(|a, b| b.cmp(a));
        let texts = alike.into_iter().take(most).map(|(.., known)| known.to_vec());
        Ok(texts.filter_map(|known| String::from_utf8(known).ok()).collect())
    }

    /// The block that would have a stem: its part, its number there, and the first word of each block.
    fn block_of(
        &self,
        stem: &str,
    ) -> Result<Option<(&'a Section, usize, Texts<'a>)>, StorageError> {
        let stem = stem.as_bytes();
        let mut found = None;
        for section in &self.0 {
            let firsts = Texts::open(section.rest());
            let firsts = firsts.ok_or_else(|| section.damaged("its words are cut short"))?;
            if !firsts.is_empty() && (found.is_none() || firsts.get(0) <= stem) {
                found = Some((*section, firsts));
            }
        }
        Ok(found.map(|(section, firsts)| {
            let after = first_where(firsts.len(), |nth| firsts.get(nth) > stem);
            (section, after.saturating_sub(1), firsts)
        }))
    }
}

/// A block of words.
struct Block<'a> {
    words: Texts<'a>,
    postings: Texts<'a>,
}

impl<'a> Block<'a> {
    fn open(section: &'a Section, nth: usize) -> Result<Self, StorageError> {
        let cut = || section.damaged("a block of words is cut short");
        let both = Texts::open(section.block(nth)?).ok_or_else(cut)?;
        let words = Texts::open(both.get(0)).ok_or_else(cut)?;
        let postings = Texts::open(both.get(1)).ok_or_else(cut)?;
        Ok(Self { words, postings })
    }

    /// The number of the first word that is not less.
    fn first_from(&self, stem: &str) -> usize {
        first_where(self.words.len(), |nth| self.words.get(nth) >= stem.as_bytes())
    }
}

/// A platform, as the index knows it.
#[derive(Debug, Clone, Copy)]
pub struct Platform {
    /// Its first row.
    pub first: usize,
    /// The row after its last one.
    pub end: usize,
    /// How many words its display name has.
    pub name_words: u8,
    /// Whether it is well known.
    pub is_known: bool,
}

impl Platform {
    /// Whether it has no actions.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.first >= self.end
    }
}

/// The loaded part with platforms and traits.
pub struct Platforms<'a> {
    section: &'a Section,
    names: Texts<'a>,
    entries: &'a [u8],
    rows: usize,
}

impl<'a> Platforms<'a> {
    /// Opens it; the list has `rows` rows.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn open(section: &'a Section, rows: usize) -> Result<Self, StorageError> {
        let names = Texts::open(section.block(0)?);
        let names = names.ok_or_else(|| section.damaged("its names are cut short"))?;
        let entries = section.block(1)?;
        if entries.len() != names.len().saturating_mul(PLATFORM) {
            return Err(section.damaged("it has not an entry for each platform"));
        }
        Ok(Self { section, names, entries, rows })
    }

    /// How rare a word is that no action has, in sixteenths.
    #[must_use]
    pub fn unknown(&self) -> u8 {
        self.section.rest().first().copied().unwrap_or_default()
    }

    /// The number of platforms.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no platforms.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// All platforms.
    #[must_use]
    pub fn all(&self) -> Vec<Platform> {
        let entries = self.entries.as_chunks::<PLATFORM>().0;
        let first =
            |[a, b, c, d, ..]: &[u8; PLATFORM]| u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        let ends = entries.iter().skip(1).map(first).chain([self.rows]);
        let platform = |(entry, end): (&[u8; PLATFORM], usize)| {
            let [.., name_words, is_known, _, _] = *entry;
            Platform { first: first(entry), end, name_words, is_known: is_known != 0 }
        };
        entries.iter().zip(ends).map(platform).collect()
    }

    /// The number of the platform with this name, or that had it formerly. Returns `None` when there is none.
    ///
    /// # Errors
    /// When the part is damaged.
    pub fn find(&self, name: &str) -> Result<Option<usize>, StorageError> {
        let is_it = |nth: &usize| self.names.get(*nth) == name.as_bytes();
        if let Some(found) = (0..self.len()).find(is_it) {
            return Ok(Some(found));
        }
        let found = self.named(&Names::new(slice::from_ref(&name.to_owned())))?;
        Ok(found.iter().position(|is_it| *is_it))
    }

    /// The name of the platform with this number.
    #[must_use]
    pub fn name(&self, nth: usize) -> &str {
        std::str::from_utf8(self.names.get(nth)).unwrap_or_default()
    }

    /// Which platforms have these names, or had them formerly: one `bool` for each.
    ///
    /// # Errors
    /// When the part is damaged.
    pub fn named(&self, names: &Names) -> Result<Vec<bool>, StorageError> {
        let wanted = names.all();
        let is_wanted = |name: &[u8]| wanted.iter().any(|wanted| wanted.as_bytes() == name);
        let mut found: Vec<bool> =
            (0..self.len()).map(|nth| is_wanted(self.names.get(nth))).collect();
        let cut = || self.section.damaged("its former names are cut short");
        let former = Texts::open(self.section.block(2)?).ok_or_else(cut)?;
        let aliases = Texts::open(former.get(0)).ok_or_else(cut)?;
        for nth in (0..aliases.len()).filter(|nth| is_wanted(aliases.get(*nth))) {
            let platform = read_number(former.get(1), nth.saturating_mul(4)).ok_or_else(cut)?;
            if let Some(found) = found.get_mut(platform) {
                *found = true;
            }
        }
        Ok(found)
    }

    /// The traits of a row.
    ///
    /// # Errors
    /// When they are damaged.
    pub fn traits(&self, row: usize) -> Result<Traits, StorageError> {
        let block = (row / BLOCK_ROWS).saturating_add(BEFORE_ROWS);
        let at = row.checked_rem(BLOCK_ROWS).unwrap_or(0).saturating_mul(TRAITS);
        let bytes = self.section.block(block)?.get(at..).and_then(|rest| rest.first_chunk());
        let bytes = bytes.ok_or_else(|| self.section.damaged("a row has no traits"))?;
        Ok(Traits::new(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::{Platforms, Words, varint, write_varint};
    use crate::catalog::layout::write_texts;
    use crate::catalog::section::{Section, SectionWriter};

    #[test]
    fn numbers_are_read_as_they_were_written() {
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
    fn platforms_are_read_as_they_were_written() {
        let entries = [[0, 0, 0, 0, 2, 1, 0, 0], [4, 1, 0, 0, 1, 0, 0, 0]].concat();
        let blocks = vec![write_texts(["a", "b"].iter()), entries];
        let section = SectionWriter { blocks, rest: vec![9] }.opened();
        let platforms = Platforms::open(&section, 300).unwrap();
        assert_eq!((platforms.len(), platforms.unknown()), (2, 9));
        let all = platforms.all().into_iter();
        let all = all.map(|one| (one.first, one.end, one.name_words, one.is_known));
        assert_eq!(all.collect::<Vec<_>>(), [(0, 260, 2, true), (260, 300, 1, false)]);
    }

    /// A part with these words in blocks.
    fn part(blocks: &[&[&str]]) -> Section {
        let block = |words: &&[&str]| {
            // Its rarity, and no platforms.
            let postings = vec![[7, 0]; words.len()];
            write_texts([write_texts(words.iter()), write_texts(postings.iter())].iter())
        };
        let rest = write_texts(blocks.iter().map(|words| words[0]));
        SectionWriter { blocks: blocks.iter().map(block).collect(), rest }.opened()
    }

    #[test]
    fn words_are_found_in_their_parts_and_by_their_beginnings() {
        let parts = [part(&[&["ab", "ac"], &["ad", "b"]]), part(&[&["m", "n"]]), part(&[])];
        let words = Words(parts.iter().collect());
        for (word, is_there, alike) in [
            ("a", false, 3),
            ("ab", true, 1),
            ("ad", true, 1),
            ("b", true, 1),
            ("c", false, 0),
            ("m", true, 1),
            ("n", true, 1),
            ("z", false, 0),
        ] {
            assert_eq!(words.get(word).unwrap().is_some(), is_there, "{word}");
            assert_eq!(words.like(word, 9).unwrap().len(), alike, "{word}");
        }
        assert_eq!(words.like("a", 2).unwrap().len(), 2);
        assert!(Words(Vec::new()).get("a").unwrap().is_none());
    }
}
