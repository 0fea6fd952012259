//! Ranked search: every word must occur somewhere in a row, and better places rank first.
//!
//! From best to worst, a word matches a whole value, the beginning of a value, the beginning of a word, or the inside
//! of a word. A match in the name or title ranks before a match of the same kind in another field. A row ranks like its
//! worst word. Rows that contain the phrase as typed come before all others, ranked by where the phrase stands. Rows of
//! equal rank stay in list order.

use std::iter;

use memchr::memmem::Finder;

use super::list::{List, title_of};
use crate::ports::StorageError;
use crate::util::case_fold::fold;

/// The longest search text, in characters.
pub const MAX_CHARS: usize = 100;

/// The rank of a row that does not contain the word.
pub const ABSENT: u8 = u8::MAX;
/// The number of ranks of a word: twice the place within a value, plus one outside the first field.
pub const RANKS: u8 = 8;

/// What is searched for, as folded words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Query {
    words: Vec<String>,
}

impl Query {
    /// Splits a search text into words. Returns `None` when it has none, or more than [`MAX_CHARS`] characters.
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

    /// The words, each once, longest first.
    fn distinct(&self) -> Vec<&str> {
        let mut words: Vec<&str> = Vec::new();
        for word in &self.words {
            if !words.contains(&word.as_str()) {
                let at = words.partition_point(|other| other.len() >= word.len());
                words.insert(at, word);
            }
        }
        words
    }
}

/// A word of a search.
pub struct Word {
    /// The word, folded.
    pub text: String,
    finder: Finder<'static>,
    /// Its rank in every row, from the field that all rows share; [`ABSENT`] when it is not there.
    pub everywhere: u8,
}

impl Word {
    /// A word to search for in rows that share a field, given as `shared` in the form of a searchable text.
    fn new(text: &str, shared: &str) -> Self {
        let finder = Finder::new(text).into_owned();
        let mut word = Self { text: text.to_owned(), finder, everywhere: ABSENT };
        // The shared field is not the title.
        word.everywhere = word.rank_in(shared.as_bytes(), 0);
        word
    }

    /// The best rank in a row's searchable text or in the field that all rows share.
    #[must_use]
    pub fn rank(&self, text: &[u8]) -> u8 {
        self.rank_in(text, title_of(text).len()).min(self.everywhere)
    }

    /// The best rank in a text whose first field has `title` bytes.
    fn rank_in(&self, text: &[u8], title: usize) -> u8 {
        let rank = |at| place(text, at, self.text.len()).saturating_add(u8::from(at >= title));
        self.positions(text).map(rank).min().unwrap_or(ABSENT)
    }

    /// The positions of the word, overlapping ones included.
    fn positions<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        let mut from = 0_usize;
        iter::from_fn(move || {
            let at = from.saturating_add(self.finder.find(text.get(from..)?)?);
            from = at.saturating_add(1);
            Some(at)
        })
    }
}

/// A search in the rows of one list.
pub struct Search {
    /// The words, each once, longest first.
    pub words: Vec<Word>,
    /// The phrase as typed; `None` when it is a single word.
    pub phrase: Option<Word>,
}

impl Search {
    /// A search in rows that share a field, given as `shared` in the form of a searchable text; possibly empty.
    #[must_use]
    pub fn new(query: &Query, shared: &str) -> Self {
        let words = query.distinct().into_iter().map(|word| Word::new(word, shared)).collect();
        let phrase = (query.words.len() > 1).then(|| Word::new(&query.phrase(), ""));
        Self { words, phrase }
    }

    /// The rank of a row, from its searchable text. Returns `None` when a word is missing.
    #[must_use]
    pub fn rank(&self, text: &[u8]) -> Option<u8> {
        let title = title_of(text).len();
        let mut worst = 0;
        for word in &self.words {
            worst = word.rank_in(text, title).min(word.everywhere).max(worst);
            if worst == ABSENT {
                return None;
            }
        }
        let Some(phrase) = &self.phrase else { return Some(worst) };
        let together = phrase.rank_in(text, title);
        Some(if together == ABSENT { apart(worst) } else { together })
    }

    /// The rows that contain all words, each with its rank, in list order. Scans all rows for the longest word.
    ///
    /// # Errors
    /// When a part of the list is not loaded, or is damaged.
    pub fn scan(&self, list: &List) -> Result<Vec<(u32, u8)>, StorageError> {
        let mut found = Vec::new();
        let Some(longest) = self.words.first() else { return Ok(found) };
        for group in list.groups()? {
            let texts = group.texts()?;
            let mut row = 0_usize;
            while row < texts.len() {
                if longest.everywhere == ABSENT {
                    let start = texts.start(row);
                    let rest = texts.joined().get(start..).unwrap_or_default();
                    let Some(at) = longest.finder.find(rest) else { break };
                    row = texts.at(start.saturating_add(at));
                }
                let number = u32::try_from(group.first.saturating_add(row)).unwrap_or(u32::MAX);
                found.extend(self.rank(texts.get(row)).map(|rank| (number, rank)));
                row = row.saturating_add(1);
            }
        }
        Ok(found)
    }
}

/// The rank of a row that does not contain the phrase, from the rank of its worst word.
#[must_use]
pub const fn apart(worst: u8) -> u8 {
    worst.saturating_add(RANKS)
}

/// The rows sorted by rank; rows of equal rank keep their order.
#[must_use]
pub fn in_order(rows: Vec<(u32, u8)>) -> Vec<u32> {
    let mut buckets: [Vec<u32>; 2 * RANKS as usize] = Default::default();
    for (row, rank) in rows {
        if let Some(bucket) = buckets.get_mut(usize::from(rank)) {
            bucket.push(row);
        }
    }
    buckets.concat()
}

/// The place of a match in its value: 0 whole, 2 beginning, 4 beginning of a word, 6 inside a word.
fn place(text: &[u8], at: usize, length: usize) -> u8 {
    match beginning(text, at) {
        2 if matches!(text.get(at.saturating_add(length)), None | Some(b'\n')) => 0,
        place => place,
    }
}

/// As `place`, without regard to where the match ends: 2, 4 or 6.
#[must_use]
pub fn beginning(text: &[u8], at: usize) -> u8 {
    let before = text.get(..at).unwrap_or_default();
    let is_inside = match before.last() {
        None | Some(b'\n') => return 2,
        Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric(),
        Some(_) => last_char(before).is_some_and(char::is_alphanumeric),
    };
    if is_inside { 6 } else { 4 }
}

fn last_char(text: &[u8]) -> Option<char> {
    let start = text.iter().rposition(|byte| byte & 0xC0 != 0x80)?;
    std::str::from_utf8(text.get(start..)?).ok()?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::{ABSENT, MAX_CHARS, Query, Search, beginning};

    #[test]
    fn a_search_text_has_at_most_a_hundred_characters() {
        for (text, is_good) in [
            ("é".repeat(MAX_CHARS), true),
            ("é".repeat(MAX_CHARS + 1), false),
            (" ".to_owned(), false),
        ] {
            assert_eq!(Query::parse(&text).is_some(), is_good, "{text}");
        }
    }

    #[test]
    fn the_field_that_all_rows_share_is_no_title() {
        for (text, everywhere) in [("alpha", 1), ("alp", 3), ("beta", ABSENT)] {
            let search = Search::new(&Query::parse(text).unwrap(), "alpha\n");
            assert_eq!(search.words[0].everywhere, everywhere, "{text}");
        }
        // A single word that all rows share ranks them alike.
        let search = Search::new(&Query::parse("alpha").unwrap(), "alpha\n");
        for text in ["beta\n", "alphabet\n"] {
            assert_eq!(search.rank(text.as_bytes()), Some(1), "{text}");
        }
    }

    #[test]
    fn a_word_ranks_by_its_best_place() {
        let search = Search::new(&Query::parse("alpha").unwrap(), "");
        for (text, expected) in [
            ("alpha\n", 0),
            ("x\nalpha\n", 1),
            ("alphabet\n", 2),
            ("x\nalphabet\n", 3),
            ("an alpha\nalphas\n", 3),
            ("an alpha\n", 4),
            ("an xalpha\n", 6),
            ("x\nxalpha\n", 7),
            ("beta\n", ABSENT),
        ] {
            assert_eq!(search.words[0].rank(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_phrase_ranks_before_its_words_apart() {
        let search = Search::new(&Query::parse("a b").unwrap(), "");
        for (text, rank) in [("a b\n", Some(0)), ("b a\n", Some(12)), ("a c\n", None)] {
            assert_eq!(search.rank(text.as_bytes()), rank, "{text}");
        }
    }

    #[test]
    fn a_match_begins_a_value_or_a_word_or_stands_inside_one() {
        for (before, expected) in [
            ("", 2),
            ("a\n", 2),
            ("a ", 4),
            ("a-", 4),
            ("–", 4),
            ("a", 6),
            ("7", 6),
            ("é", 6),
            ("名", 6),
        ] {
            let text = format!("{before}x");
            assert_eq!(beginning(text.as_bytes(), before.len()), expected, "{text}");
        }
    }
}
