//! Ranked search in one list: every word must occur somewhere in a row.
//!
//! From best to worst, a word matches a whole value, the start of a value, the start of a word, or
//! the inside of a word. A match in the name or title ranks before the same match in another field.
//! The rank of a row is the rank of its worst word. Rows that contain the phrase as typed rank
//! before all other rows, ordered by the match of the phrase. Rows of equal rank stay in list
//! order.

pub mod index;

use std::iter;

use memchr::memmem::Finder;

use crate::catalog::format::list::{List, folded_title};
use crate::ports::StorageError;
use crate::util::case_fold::fold;

/// The maximum length of a search string, in characters.
pub const MAX_CHARS: usize = 100;

/// The rank of a row that does not contain the word.
pub const ABSENT: u8 = u8::MAX;
/// The number of ranks of a word: four types of match, each in the first field or in another field.
pub const RANKS: u8 = 8;

/// The words of a search, case-folded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Query {
    words: Vec<String>,
}

impl Query {
    /// Returns `None` if the text has no words, or more than [`MAX_CHARS`] characters.
    pub fn parse(text: &str) -> Option<Self> {
        if text.chars().count() > MAX_CHARS {
            return None;
        }
        let words: Vec<String> = fold(text).split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(Self { words })
    }

    /// The words, folded, joined by single spaces.
    pub fn phrase(&self) -> String {
        self.words.join(" ")
    }

    /// The distinct words, longest first.
    fn distinct_words(&self) -> Vec<&str> {
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

pub struct Word {
    /// Case-folded.
    pub text: String,
    finder: Finder<'static>,
    /// The rank of the word in the field that all rows share, or [`ABSENT`].
    pub shared_rank: u8,
}

impl Word {
    /// `shared` is the searchable text that all rows share.
    fn new(text: &str, shared: &str) -> Self {
        let finder = Finder::new(text).into_owned();
        let mut word = Self { text: text.to_owned(), finder, shared_rank: ABSENT };
        // The shared text is not the title, so no title match can occur.
        word.shared_rank = word.rank_in(shared.as_bytes(), 0);
        word
    }

    /// The best rank of the word in a row's searchable text or in the shared text.
    pub fn rank(&self, text: &[u8]) -> u8 {
        self.rank_in(text, folded_title(text).len()).min(self.shared_rank)
    }

    /// The best rank of the word in a text. `title` is the length of the text's first field, in
    /// bytes.
    fn rank_in(&self, text: &[u8], title: usize) -> u8 {
        let rank = |at| match_rank(text, at, self.text.len()).saturating_add(u8::from(at >= title));
        self.positions(text).map(rank).min().unwrap_or(ABSENT)
    }

    /// The positions of the word, including overlapping ones.
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
    /// The distinct words, longest first.
    pub words: Vec<Word>,
    /// The phrase as typed; `None` for a single word.
    pub phrase: Option<Word>,
}

impl Search {
    /// `shared` is the searchable text that all rows share, possibly empty.
    pub fn new(query: &Query, shared: &str) -> Self {
        let words =
            query.distinct_words().into_iter().map(|word| Word::new(word, shared)).collect();
        let phrase = (query.words.len() > 1).then(|| Word::new(&query.phrase(), ""));
        Self { words, phrase }
    }

    /// The rank of a row, given its searchable text. Returns `None` if a word is missing.
    pub fn rank(&self, text: &[u8]) -> Option<u8> {
        let title = folded_title(text).len();
        let mut worst = 0;
        for word in &self.words {
            worst = word.rank_in(text, title).min(word.shared_rank).max(worst);
            if worst == ABSENT {
                return None;
            }
        }
        let Some(phrase) = &self.phrase else { return Some(worst) };
        let phrase_rank = phrase.rank_in(text, title);
        Some(if phrase_rank == ABSENT { without_phrase(worst) } else { phrase_rank })
    }

    /// The rows that contain all words, with their ranks, in list order. Scans the rows for the
    /// longest word first, since it is likely the rarest.
    pub fn scan(&self, list: &List) -> Result<Vec<(u32, u8)>, StorageError> {
        let mut ranked_rows = Vec::new();
        let Some(longest) = self.words.first() else { return Ok(ranked_rows) };
        for group in list.groups()? {
            let texts = group.texts()?;
            let mut row = 0_usize;
            while row < texts.len() {
                if longest.shared_rank == ABSENT {
                    let start = texts.start(row);
                    let rest = texts.joined().get(start..).unwrap_or_default();
                    let Some(at) = longest.finder.find(rest) else { break };
                    row = texts.index_at(start.saturating_add(at));
                }
                let number = u32::try_from(group.first.saturating_add(row)).unwrap_or(u32::MAX);
                ranked_rows.extend(self.rank(texts.get(row)).map(|rank| (number, rank)));
                row = row.saturating_add(1);
            }
        }
        Ok(ranked_rows)
    }
}

/// The rank of a row that does not contain the phrase, given the rank of its worst word.
pub const fn without_phrase(worst: u8) -> u8 {
    worst.saturating_add(RANKS)
}

/// Sorts rows by rank. Rows of equal rank keep their order.
pub fn sort_by_rank(rows: Vec<(u32, u8)>) -> Vec<u32> {
    let mut buckets: [Vec<u32>; 2 * RANKS as usize] = Default::default();
    for (row, rank) in rows {
        if let Some(bucket) = buckets.get_mut(usize::from(rank)) {
            bucket.push(row);
        }
    }
    buckets.concat()
}

/// 0 for a match of the whole value, 2 at the start of the value, 4 at the start of a word, 6
/// inside a word.
fn match_rank(text: &[u8], at: usize, length: usize) -> u8 {
    match start_rank(text, at) {
        2 if matches!(text.get(at.saturating_add(length)), None | Some(b'\n')) => 0,
        match_rank => match_rank,
    }
}

/// The rank of a match by its start: 2 at the start of a value, 4 at the start of a word, 6 inside
/// a word.
pub fn start_rank(text: &[u8], at: usize) -> u8 {
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
    use super::{ABSENT, MAX_CHARS, Query, Search, start_rank};

    #[test]
    fn rejects_more_than_a_hundred_characters() {
        for (text, is_valid) in [
            ("é".repeat(MAX_CHARS), true),
            ("é".repeat(MAX_CHARS + 1), false),
            (" ".to_owned(), false),
        ] {
            assert_eq!(Query::parse(&text).is_some(), is_valid, "{text}");
        }
    }

    #[test]
    fn shared_field_is_not_the_title() {
        for (text, shared_rank) in [("alpha", 1), ("alp", 3), ("beta", ABSENT)] {
            let search = Search::new(&Query::parse(text).unwrap(), "alpha\n");
            assert_eq!(search.words[0].shared_rank, shared_rank, "{text}");
        }
        // A single word of the shared text ranks all rows equally.
        let search = Search::new(&Query::parse("alpha").unwrap(), "alpha\n");
        for text in ["beta\n", "alphabet\n"] {
            assert_eq!(search.rank(text.as_bytes()), Some(1), "{text}");
        }
    }

    #[test]
    fn a_word_ranks_by_its_best_match() {
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
    fn phrase_ranks_before_separate_words() {
        let search = Search::new(&Query::parse("a b").unwrap(), "");
        for (text, rank) in [("a b\n", Some(0)), ("b a\n", Some(12)), ("a c\n", None)] {
            assert_eq!(search.rank(text.as_bytes()), rank, "{text}");
        }
    }

    #[test]
    fn ranks_match_by_its_start() {
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
            assert_eq!(start_rank(text.as_bytes(), before.len()), expected, "{text}");
        }
    }
}
