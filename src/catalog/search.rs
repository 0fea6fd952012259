//! Ranked search: every word must occur somewhere in a row, and better places come first.
//!
//! A word's place in a value is, from best to worst: the whole value, its beginning, the beginning of a word, inside a
//! word. Places of the same kind in the name or title come before those in other fields. A row is as good as its
//! worst word; rows in which the words stand together, as they were typed, come before the others, by the place of
//! the whole phrase. Equal rows stay in list order.

use std::iter;

use memchr::memmem::Finder;

use super::layout::Texts;
use super::segment::List;
use crate::fold::fold;

/// Longest search text, in characters.
pub const MAX_CHARS: usize = 100;

/// A row without the word.
const ABSENT: u8 = u8::MAX;
/// Places within a value, times two, plus one outside the first field.
const PLACES: u8 = 8;

/// What is searched for: folded words.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Query {
    words: Vec<String>,
}

impl Query {
    /// Takes a search text apart; none when it has no word or more than [`MAX_CHARS`] characters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.chars().count() > MAX_CHARS {
            return None;
        }
        let words: Vec<String> = fold(text).split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(Self { words })
    }

    /// The words, folded, joined by single spaces.
    #[must_use]
    pub fn phrase(&self) -> String {
        self.words.join(" ")
    }
}

/// What is searched through.
#[derive(Debug, Clone, Copy)]
pub struct Searched<'a> {
    /// The list with its fields.
    pub list: &'a List,
    /// A field that all rows share, in the form of a searchable field; may be empty.
    pub shared: &'a [u8],
}

/// The rows that hold all words, best first.
///
/// All rows are searched for the longest word, likely the rarest; for the others, only the rows that are left.
#[must_use]
pub fn search(searched: Searched<'_>, query: &Query) -> Vec<u32> {
    let Some(longest) = query.words.iter().max_by_key(|word| word.len()) else {
        return Vec::new();
    };
    let mut words: Vec<&String> = Vec::new();
    for word in &query.words {
        if word != longest && !words.contains(&word) {
            words.push(word);
        }
    }
    let mut ranks = searched.ranks(longest);
    for word in words.into_iter().map(|word| Word::new(word)) {
        let everywhere = searched.rank_everywhere(&word);
        for (row, rank) in ranks.iter_mut().enumerate().filter(|(_, rank)| **rank != ABSENT) {
            *rank = (*rank).max(searched.rank(&word, row).min(everywhere));
        }
    }
    if query.words.len() > 1 {
        let phrase = Word::new(&query.phrase());
        for (row, rank) in ranks.iter_mut().enumerate().filter(|(_, rank)| **rank != ABSENT) {
            let together = searched.rank(&phrase, row);
            *rank = if together == ABSENT { rank.saturating_add(PLACES) } else { together };
        }
    }
    in_order(&ranks)
}

/// The rows by rank, those of one rank in list order.
fn in_order(ranks: &[u8]) -> Vec<u32> {
    let mut buckets: [Vec<u32>; 2 * PLACES as usize] = Default::default();
    for (row, rank) in (0_u32..).zip(ranks) {
        if let Some(bucket) = buckets.get_mut(usize::from(*rank)) {
            bucket.push(row);
        }
    }
    buckets.concat()
}

/// A word, ready to be looked for.
struct Word {
    finder: Finder<'static>,
    length: usize,
}

impl Word {
    fn new(word: &str) -> Self {
        Self { finder: Finder::new(word).into_owned(), length: word.len() }
    }

    /// The positions of the word, also where it overlaps itself.
    fn positions<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        let mut from = 0_usize;
        iter::from_fn(move || {
            let at = from.saturating_add(self.finder.find(text.get(from..)?)?);
            from = at.saturating_add(1);
            Some(at)
        })
    }

    /// The rank of a match in the `nth` field.
    fn rank(&self, text: &[u8], at: usize, nth: usize) -> u8 {
        place(text, at, self.length).saturating_add(u8::from(nth > 0))
    }
}

impl Searched<'_> {
    /// The best rank of `word` in each row.
    fn ranks(&self, word: &str) -> Vec<u8> {
        let word = Word::new(word);
        let mut ranks = vec![self.rank_everywhere(&word); self.list.len];
        for (nth, field) in self.list.fields.iter().enumerate() {
            let joined = field.joined(&self.list.bytes);
            let (mut row, mut end) = (0, field.start(&self.list.bytes, 1));
            for at in word.positions(joined) {
                if at >= end {
                    row = self.row_at(field, at, row);
                    end = field.start(&self.list.bytes, row.saturating_add(1));
                }
                if let Some(best) = ranks.get_mut(row) {
                    *best = word.rank(joined, at, nth).min(*best);
                }
            }
        }
        ranks
    }

    /// The best rank of `word` in the fields of one row.
    fn rank(&self, word: &Word, row: usize) -> u8 {
        let fields = self.list.fields.iter().enumerate();
        let ranks = fields.filter_map(|(nth, field)| {
            let text = field.get(&self.list.bytes, row);
            word.positions(text).map(|at| word.rank(text, at, nth)).min()
        });
        ranks.min().unwrap_or(ABSENT)
    }

    /// The rank that `word` has in every row, by the field that all share.
    fn rank_everywhere(&self, word: &Word) -> u8 {
        let text = self.shared;
        word.positions(text).map(|at| word.rank(text, at, 1)).min().unwrap_or(ABSENT)
    }

    /// The row of a position: the last one that begins at or before it. Looks forward from `row`, first nearby.
    fn row_at(&self, field: &Texts, at: usize, row: usize) -> usize {
        let begins_after = |row: usize| field.start(&self.list.bytes, row) > at;
        let mut step = 1_usize;
        let mut low = row;
        while low.saturating_add(step) < self.list.len && !begins_after(low.saturating_add(step)) {
            low = low.saturating_add(step);
            step = step.saturating_mul(2);
        }
        let mut high = low.saturating_add(step).min(self.list.len);
        while high.saturating_sub(low) > 1 {
            let middle = low.midpoint(high);
            if begins_after(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        low
    }
}

/// The place of a match in its value: 0 whole, 2 beginning, 4 beginning of a word, 6 inside a word.
fn place(joined: &[u8], at: usize, length: usize) -> u8 {
    let before = joined.get(..at).unwrap_or_default();
    match before.last() {
        None | Some(b'\n') => match joined.get(at.saturating_add(length)) {
            None | Some(b'\n') => 0,
            Some(_) => 2,
        },
        Some(byte) if byte.is_ascii() => {
            if byte.is_ascii_alphanumeric() {
                6
            } else {
                4
            }
        }
        Some(_) => {
            if last_char(before).is_some_and(char::is_alphanumeric) {
                6
            } else {
                4
            }
        }
    }
}

fn last_char(text: &[u8]) -> Option<char> {
    let start = text.iter().rposition(|byte| byte & 0xC0 != 0x80)?;
    std::str::from_utf8(text.get(start..)?).ok()?.chars().next()
}
