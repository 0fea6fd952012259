//! Which actions match a question, and how well.
//!
//! Each word of the question that an action or its platform has adds its rarity times its weight there; a word that is
//! missing takes a part of its rarity away. An action counts when the words that it has make up [`ENOUGH`] of the
//! question. Then come what the action does, how much of its title and key was asked for, how well its platform is known,
//! and how special the action is. Everything is a whole number, so the Worker and the tests agree.

use super::index::{Mark, Platform, Platforms, Traits, Words};
use super::meaning::deed;
use super::question::{Question, Term};
use crate::catalog::filter::Wish;
use crate::ports::StorageError;
use crate::terms::Method;

/// Rarity times weight: what a word adds that is rare by a factor of e and says as much as it can.
const POINT: i32 = 1024;
/// The most rows that are kept; one more than are counted.
pub const MOST: usize = 10_001;
/// The part of the question, in percent, that the words of an action must make up; rare words count for more.
const ENOUGH: u32 = 40;
/// How many of the words that begin like the last one are looked at, and how well they stand for it, in sixteenths.
const BEGINNINGS: usize = 8;
const AS_BEGINNING: u8 = 8;

/// What one word of the question adds to a row, at most.
#[derive(Debug, Clone, Copy, Default)]
struct Best {
    weight: u8,
    places: u8,
}

/// What the words of the question add to a row.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    score: i32,
    /// The rarities of the words that it has, in sixteenths.
    has: u16,
    /// How many words of its title and of its key were asked for.
    title: u8,
    key: u8,
}

/// The filters of a search over all actions.
pub struct Filter<'a> {
    /// The method.
    pub method: Wish<Method>,
    /// For each platform, whether its actions are wanted; `None` when all are.
    pub platforms: Option<&'a [bool]>,
}

/// Finds the rows that match a question, best first, the first [`MOST`] of them.
///
/// # Errors
/// When a part is damaged.
pub fn rank(
    question: &Question,
    words: &Words<'_>,
    platforms: &Platforms<'_>,
    rows: usize,
    filter: &Filter<'_>,
) -> Result<Vec<u32>, StorageError> {
    let mut sums = Sums::new(rows, platforms);
    let last = question.terms.len().saturating_sub(1);
    for (nth, term) in question.terms.iter().enumerate() {
        let beginning = question.beginning.as_deref().filter(|_| nth == last);
        sums.add(term, beginning, words)?;
    }
    let mut found = sums.found(question, platforms, filter)?;
    if found.len() > MOST {
        found.select_nth_unstable(MOST);
        found.truncate(MOST);
    }
    found.sort_unstable();
    Ok(found.into_iter().map(Place::row).collect())
}

/// A row with its score, as one number that sorts better rows first, and of equal ones that with the lower number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place(u64);

impl Place {
    const fn new(score: i32, row: u32) -> Self {
        // Flipping all bits but the sign makes a greater signed number a lower unsigned one.
        let worse = (score ^ i32::MAX).cast_unsigned();
        Self((worse as u64) << 32 | row as u64)
    }

    const fn row(self) -> u32 {
        (self.0 & 0xffff_ffff) as u32
    }
}

struct Sums {
    platforms: Vec<Platform>,
    rows: Vec<Tally>,
    /// For each platform, how many words of its display name were asked for.
    named: Vec<u8>,
    /// The rarities of all words, in sixteenths, and of one that no action has.
    all: u16,
    unknown: u8,
    /// What the word at hand adds, and to which rows; empty between two words.
    best: Vec<Best>,
    touched: Vec<u32>,
}

impl Sums {
    fn new(rows: usize, platforms: &Platforms<'_>) -> Self {
        Self {
            platforms: (0..platforms.len()).map(|nth| platforms.get(nth)).collect(),
            rows: vec![Tally::default(); rows],
            named: vec![0; platforms.len()],
            all: 0,
            unknown: platforms.unknown(),
            best: vec![Best::default(); rows],
            touched: Vec::new(),
        }
    }

    /// Adds a word of the question.
    fn add(
        &mut self,
        term: &Term,
        beginning: Option<&str>,
        words: &Words<'_>,
    ) -> Result<(), StorageError> {
        let mut platforms = vec![Best::default(); self.platforms.len()];
        // A word that the catalog does not have is as rare as the rarest that stands for it.
        let (mut own, mut other) = (None, None);
        let mut take = |postings: super::index::Postings<'_>, worth: u8| {
            let improve = |best: &mut Best, mark: Mark| {
                let weight = u16::from(mark.weight()).saturating_mul(u16::from(worth)) / 16;
                let weight = u8::try_from(weight).unwrap_or(Mark::MOST).max(1);
                best.weight = best.weight.max(weight);
                best.places |= mark.places();
            };
            let (rows, touched) = (&mut self.best, &mut self.touched);
            postings.each(
                |nth, mark| {
                    if let Some(best) = platforms.get_mut(nth) {
                        improve(best, mark);
                    }
                },
                |row, mark| {
                    if let Some(best) = rows.get_mut(row) {
                        if best.weight == 0 {
                            touched.push(u32::try_from(row).unwrap_or(u32::MAX));
                        }
                        improve(best, mark);
                    }
                },
            );
        };
        for (nth, (stem, worth)) in term.stems.iter().enumerate() {
            if let Some(postings) = words.get(stem)? {
                let rarity = if nth == 0 { &mut own } else { &mut other };
                *rarity = (*rarity).max(Some(postings.rarity));
                take(postings, *worth);
            }
        }
        if let Some(beginning) = beginning {
            for postings in words.like(beginning, BEGINNINGS)? {
                other = other.max(Some(postings.rarity));
                take(postings, AS_BEGINNING);
            }
        }
        let rarity = u16::from(own.or(other).unwrap_or(self.unknown));
        let rarity = if term.is_common { rarity.saturating_mul(6) / 16 } else { rarity };
        self.all = self.all.saturating_add(rarity);
        self.settle(&platforms, rarity, term);
        Ok(())
    }

    /// Adds what the word at hand adds to each row.
    fn settle(&mut self, platforms: &[Best], rarity: u16, term: &Term) {
        let worth = i32::from(rarity);
        for ((platform, own), named) in self.platforms.iter().zip(platforms).zip(&mut self.named) {
            if own.weight == 0 {
                continue;
            }
            let is_name = own.places & Mark::NAMED != 0;
            *named = named.saturating_add(u8::from(is_name));
            let rows = platform.first..platform.end;
            let tallies = self.rows.get_mut(rows.clone()).unwrap_or_default();
            let bests = self.best.get_mut(rows).unwrap_or_default();
            for (tally, best) in tallies.iter_mut().zip(bests) {
                let (more, less) = (own.weight.max(best.weight), own.weight.min(best.weight));
                // A word that both have says a little more than one of them.
                let weight = i32::from(more).saturating_add(i32::from(less) / 5);
                tally.take(worth.saturating_mul(weight), rarity, *best, !is_name, term);
                *best = Best::default();
            }
        }
        for row in self.touched.drain(..) {
            let row = row as usize;
            let (Some(tally), Some(best)) = (self.rows.get_mut(row), self.best.get_mut(row)) else {
                continue;
            };
            if best.weight > 0 {
                let score = worth.saturating_mul(i32::from(best.weight));
                tally.take(score, rarity, *best, true, term);
                *best = Best::default();
            }
        }
    }

    /// The rows that match, in no order.
    fn found(
        &self,
        question: &Question,
        platforms: &Platforms<'_>,
        filter: &Filter<'_>,
    ) -> Result<Vec<Place>, StorageError> {
        let least = u32::from(self.all).saturating_mul(ENOUGH).div_ceil(100).max(1);
        let mut found = Vec::new();
        for (nth, (platform, named)) in self.platforms.iter().zip(&self.named).enumerate() {
            if filter.platforms.is_some_and(|wanted| wanted.get(nth) != Some(&true)) {
                continue;
            }
            let bonus = of_platform(platform, *named);
            let tallies = self.rows.get(platform.first..platform.end).unwrap_or_default();
            for (row, tally) in (platform.first..).zip(tallies) {
                if u32::from(tally.has) < least {
                    continue;
                }
                let traits = platforms.traits(row)?;
                let is_wanted = match filter.method {
                    Wish::Any => true,
                    Wish::Only(method) => traits.has(method),
                    Wish::Unknown => false,
                };
                if is_wanted {
                    let missing = i32::from(self.all.saturating_sub(tally.has));
                    let score = tally.score.saturating_add(bonus);
                    let score = score.saturating_sub(missing.saturating_mul(MISSING));
                    let score = score.saturating_add(of_traits(traits, *tally, question));
                    found.push(Place::new(score, u32::try_from(row).unwrap_or(u32::MAX)));
                }
            }
        }
        Ok(found)
    }
}

impl Tally {
    /// Takes what a word adds. `says` is whether its places count, which they don't for a word of the platform's name.
    const fn take(&mut self, score: i32, rarity: u16, best: Best, says: bool, term: &Term) {
        self.score = self.score.saturating_add(score);
        self.has = self.has.saturating_add(rarity);
        if term.is_special && best.places != 0 {
            self.score = self.score.saturating_add(SPECIAL);
        }
        if says && !term.is_common {
            self.title = self.title.saturating_add(best.places & Mark::NAMED);
            self.key = self.key.saturating_add((best.places & Mark::IN_KEY) >> 1);
        }
    }
}

/// What a missing word takes away, in 64ths of its rarity.
const MISSING: i32 = 29;
/// What an action of a well-known platform has ahead.
const KNOWN: i32 = POINT * 5 / 2;
/// What it adds that a platform's whole name was asked for, and what it adds besides for a well-known one.
const WHOLE_NAME: i32 = POINT * 2;
const WHOLE_KNOWN_NAME: i32 = POINT * 3 / 4;
/// What it adds that all words of a title, or of a key, were asked for.
const WHOLE_TITLE: i32 = POINT * 9 / 16;
const WHOLE_KEY: i32 = POINT;
/// What it adds that an action does what was asked, and that it reads when the question has no verb.
const DOES: i32 = POINT * 39 / 16;
const READS: i32 = POINT * 11 / 16;
/// What it takes away that an action removes something that nobody asked to remove.
const REMOVES: i32 = POINT * 5 / 16;
/// What an action that is rarely meant gets back when it was asked for.
const SPECIAL: i32 = POINT * 11 / 16;

fn of_platform(platform: &Platform, named: u8) -> i32 {
    let known = if platform.is_known { KNOWN } else { 0 };
    let is_whole = named > 0 && named >= platform.name_words;
    let whole = if platform.is_known && is_whole { WHOLE_KNOWN_NAME } else { 0 };
    known.saturating_add(whole).saturating_add(share(named, platform.name_words, WHOLE_NAME))
}

fn of_traits(traits: Traits, tally: Tally, question: &Question) -> i32 {
    let mut score = share(tally.title, traits.title(), WHOLE_TITLE);
    score = score.saturating_add(share(tally.key, traits.key(), WHOLE_KEY));
    score = score.saturating_sub(i32::from(traits.remoteness()).saturating_mul(POINT / 32));
    if question.wants(traits.does()) {
        score = score.saturating_add(if question.deeds == 0 { READS } else { DOES });
    }
    if traits.has(Method::Delete) && question.deeds & deed::REMOVES == 0 {
        score = score.saturating_sub(REMOVES);
    }
    score
}

/// The part of `most` for this many of all words, which falls with the square of those that are missing.
fn share(some: u8, all: u8, most: i32) -> i32 {
    let (some, all) = (i32::from(some.min(all)), i32::from(all));
    let squares = most.saturating_mul(some).saturating_mul(some);
    squares.checked_div(all.saturating_mul(all)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn the_best_row_comes_first_and_of_equal_ones_the_first() {
        let best = [(i32::MAX, 9), (7, 0), (1, 3), (0, 1), (0, u32::MAX), (-1, 0), (i32::MIN, 5)];
        let mut places = best.map(|(score, row)| Place::new(score, row));
        places.reverse();
        places.sort_unstable();
        assert_eq!(places.map(Place::row), best.map(|(_, row)| row));
    }
}
