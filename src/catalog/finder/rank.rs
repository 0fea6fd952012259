//! Which actions match a question, and how well.
//!
//! Each word of the question that an action or its platform has adds its rarity times its weight there; a word that is
//! missing takes a part of its rarity away. An action counts when the words that it has make up [`ENOUGH`] of the
//! question. Then come what the action does, how much of its title and key was asked for, how well its platform is known,
//! and how special the action is. Everything is a whole number, so the Worker and the tests agree.

use std::cell::RefCell;
use std::ops::Range;

use super::index::{Mark, Platform, Platforms, Postings, Traits, Words};
use super::meaning::deed;
use super::question::{Question, Term};
use crate::catalog::filter::Wish;
use crate::ports::StorageError;
use crate::terms::Method;

/// Rarity times weight: what a word adds that is rare by a factor of e and says as much as it can.
const POINT: i32 = 1024;
/// The most rows that are kept; one more than are counted.
pub const MOST: usize = 10_001;
/// How many times the rows that are kept have their traits read before any other row has: the more, the fewer others may
/// still be among the best.
const AHEAD: usize = 4;
/// The part of the question, in percent, that the words of an action must make up; rare words count for more.
const ENOUGH: u32 = 40;
/// How many of the words that begin like the last one are looked at, and how well they stand for it, in sixteenths.
const BEGINNINGS: usize = 8;
const AS_BEGINNING: u8 = 10;

/// What one word of the question adds to a row or a platform, at most.
#[derive(Debug, Clone, Copy, Default)]
struct Best {
    weight: u8,
    places: u8,
}

impl Best {
    /// Takes a word that stands for the one of the question by `worth` sixteenths.
    #[expect(
        clippy::inline_always,
        reason = "once for each posting, and the Worker is built for size"
    )]
    #[inline(always)]
    fn improve(&mut self, mark: Mark, worth: u8) {
        let weight = u16::from(mark.weight()).saturating_mul(u16::from(worth)) / 16;
        let weight = u8::try_from(weight).unwrap_or(Mark::MOST).max(1);
        self.weight = self.weight.max(weight);
        self.places |= mark.places();
    }
}

/// What the words of the question add to a row besides what they add to its whole platform.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    score: i32,
    /// The rarities of the words that it has and its platform has not, in sixteenths.
    has: u16,
    /// How many words of its title and of its key were asked for.
    title: u8,
    key: u8,
}

/// What the words of the question add to all rows of a platform.
#[derive(Debug, Clone, Copy, Default)]
struct Base {
    score: i32,
    /// The rarities of the words that it has, in sixteenths.
    has: u16,
    /// How many words of its display name were asked for.
    named: u8,
}

/// A row that has a word of the question.
#[derive(Debug, Clone, Copy)]
struct Touched {
    row: u32,
    platform: u32,
    tally: Tally,
    /// What the word at hand adds; nothing between two words.
    best: Best,
}

/// The filters of a search over all actions.
pub struct Filter<'a> {
    /// The method.
    pub method: Wish<Method>,
    /// For each platform, whether its actions are wanted; `None` when all are.
    pub platforms: Option<&'a [bool]>,
}

/// Finds the rows that match a question, and keeps the best `most` of them, which are [`MOST`] or fewer.
///
/// # Errors
/// When a part is damaged.
pub fn rank(
    question: &Question,
    words: &Words<'_>,
    platforms: &Platforms<'_>,
    rows: usize,
    filter: &Filter<'_>,
    most: usize,
) -> Result<Ranking, StorageError> {
    let mut sums = Sums::new(rows, platforms);
    let last = question.terms.len().saturating_sub(1);
    for (nth, term) in question.terms.iter().enumerate() {
        let beginning = question.beginning.as_deref().filter(|_| nth == last);
        sums.add(term, beginning, words)?;
    }
    let found = sums.found(question, platforms, filter)?;
    let len = found.len().min(MOST);
    Ok(Ranking::of(len, best(found, question, platforms, most)?))
}

/// The platforms without actions that a question names, wholly, by their numbers.
///
/// # Errors
/// When a part is damaged.
pub fn named_without_actions(
    question: &Question,
    words: &Words<'_>,
    platforms: &Platforms<'_>,
) -> Result<Vec<usize>, StorageError> {
    let mut named = vec![0_u8; platforms.len()];
    for term in &question.terms {
        let Some((stem, _)) = term.stems.first() else { continue };
        let Some(postings) = words.get(stem)? else { continue };
        for (nth, mark) in postings.platforms() {
            if let Some(named) = named.get_mut(nth) {
                *named = named.saturating_add(mark.places() & Mark::NAMED);
            }
        }
    }
    let all = platforms.all().into_iter().zip(named).enumerate();
    let is_named = |(nth, (platform, named)): &(usize, (Platform, u8))| {
        let is_whole = *named > 0 && *named >= platform.name_words;
        platform.is_empty() && (is_whole || question.has_name(platforms.name(*nth)))
    };
    Ok(all.filter(is_named).map(|(nth, _)| nth).collect())
}

/// The best `most` of the rows that were found, in no order. Traits are stored apart, and reading those of many rows costs
/// more than all else: they are read for rows that may be among the best only.
fn best(
    mut found: Vec<Match>,
    question: &Question,
    platforms: &Platforms<'_>,
    most: usize,
) -> Result<Vec<Place>, StorageError> {
    let ahead = most.saturating_mul(AHEAD);
    if found.len() > ahead {
        found.select_nth_unstable(ahead);
    }
    let (first, others) = found.split_at(ahead.min(found.len()));
    let place = |one: &Match| Ok(one.place(platforms.traits(one.row())?, question));
    let mut places: Vec<Place> = first.iter().map(place).collect::<Result<_, _>>()?;
    if !others.is_empty() && most > 0 {
        let (_, worst, _) = places.select_nth_unstable(most.saturating_sub(1));
        let worst = *worst;
        let others = others.iter().filter(|one| one.at_best <= worst);
        places.extend(others.map(place).collect::<Result<Vec<_>, _>>()?);
    }
    if places.len() > most {
        places.select_nth_unstable(most);
        places.truncate(most);
    }
    Ok(places)
}

/// What a search over all actions should say of platforms.
#[derive(Debug, Clone, Default)]
pub struct Asides {
    /// Those of the filter that do not exist.
    pub unknown: Vec<String>,
    /// Those that are asked for and have no actions.
    pub empty: Vec<String>,
}

/// The rows that match a question, of which the best are kept. They are sorted as far as somebody looks: most people see
/// the first page only.
#[derive(Debug)]
pub struct Ranking {
    /// What the question says of platforms besides.
    pub asides: Asides,
    len: usize,
    kept: usize,
    /// Those that are kept, and how many are in order, which are the best ones.
    places: RefCell<(Vec<Place>, usize)>,
}

impl Ranking {
    /// The size of a row, in bytes.
    pub const ROW_BYTES: usize = size_of::<Place>();

    const fn of(len: usize, places: Vec<Place>) -> Self {
        let asides = Asides { unknown: Vec::new(), empty: Vec::new() };
        Self { asides, len, kept: places.len(), places: RefCell::new((places, 0)) }
    }

    /// The size of what is kept, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let names = self.asides.unknown.iter().chain(&self.asides.empty).map(String::len);
        let rows = self.kept.saturating_mul(Self::ROW_BYTES);
        names.fold(rows, usize::saturating_add)
    }

    /// The number of rows that match, at most [`MOST`].
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// The number of rows that are kept.
    #[must_use]
    pub const fn kept(&self) -> usize {
        self.kept
    }

    /// Whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The rows at these positions, best first; only those that are kept.
    #[must_use]
    pub fn page(&self, positions: Range<usize>) -> Vec<u32> {
        let Ok(mut places) = self.places.try_borrow_mut() else { return Vec::new() };
        let (places, sorted) = &mut *places;
        let end = positions.end.min(self.kept);
        if let Some(more) = end.checked_sub(*sorted).filter(|more| *more > 0) {
            let others = places.get_mut(*sorted..).unwrap_or_default();
            if more < others.len() {
                others.select_nth_unstable(more);
            }
            others.get_mut(..more).unwrap_or_default().sort_unstable();
            *sorted = end;
        }
        let page = places.get(positions.start.min(end)..end).unwrap_or_default();
        page.iter().map(|place| place.row()).collect()
    }
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

    const fn score(self) -> i32 {
        ((self.0 >> 32) as u32).cast_signed() ^ i32::MAX
    }
}

/// A row that matches, before its traits are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    /// Its place if its traits are the best that a row can have.
    at_best: Place,
    /// How many words of its title and of its key were asked for.
    title: u8,
    key: u8,
}

impl Match {
    fn new(score: i32, row: u32, tally: Tally, question: &Question) -> Self {
        let Tally { title, key, .. } = tally;
        let score = score.saturating_add(most_of_traits(title, key, question));
        Self { at_best: Place::new(score, row), title, key }
    }

    const fn row(&self) -> usize {
        self.at_best.row() as usize
    }

    /// Its place with the traits that it has.
    fn place(&self, traits: Traits, question: &Question) -> Place {
        let Self { at_best, title, key } = *self;
        let score = at_best.score().saturating_sub(most_of_traits(title, key, question));
        let score = score.saturating_add(of_traits(traits, title, key, question));
        Place::new(score, at_best.row())
    }
}

/// The sums of a question. A word of a platform adds to all of its rows at once, and rows without a word of their own are
/// not looked at before it is known which platforms have enough without them: most questions touch few of all rows.
struct Sums {
    platforms: Vec<Platform>,
    bases: Vec<Base>,
    /// The rows that have a word, in the order in which they were found.
    touched: Vec<Touched>,
    /// For each row, its place in `touched` plus one; 0 when it has no word.
    places: Vec<u32>,
    /// The rarities of all words, in sixteenths, and of one that no action has.
    all: u16,
    unknown: u8,
    /// The places in `touched` that have the word at hand.
    with_word: Vec<u32>,
}

impl Sums {
    fn new(rows: usize, platforms: &Platforms<'_>) -> Self {
        Self {
            platforms: platforms.all(),
            bases: vec![Base::default(); platforms.len()],
            touched: Vec::new(),
            places: vec![0; rows],
            all: 0,
            unknown: platforms.unknown(),
            with_word: Vec::new(),
        }
    }

    /// Adds a word of the question.
    fn add(
        &mut self,
        term: &Term,
        beginning: Option<&str>,
        words: &Words<'_>,
    ) -> Result<(), StorageError> {
        let mut owns = vec![Best::default(); self.platforms.len()];
        // A word that the catalog does not have is as rare as the rarest that stands for it.
        let (mut own, mut other) = (None, None);
        for (nth, (stem, worth)) in term.stems.iter().enumerate() {
            if let Some(postings) = words.get(stem)? {
                let rarity = if nth == 0 { &mut own } else { &mut other };
                *rarity = (*rarity).max(Some(postings.rarity));
                self.take(&postings, *worth, &mut owns);
            }
        }
        if let Some(beginning) = beginning {
            for postings in words.like(beginning, BEGINNINGS)? {
                other = other.max(Some(postings.rarity));
                self.take(&postings, AS_BEGINNING, &mut owns);
            }
        }
        let rarity = u16::from(own.or(other).unwrap_or(self.unknown));
        let rarity = if term.is_common { rarity.saturating_mul(3) / 16 } else { rarity };
        self.all = self.all.saturating_add(rarity);
        self.settle(&owns, rarity, term);
        Ok(())
    }

    /// Takes what is stored of a word that stands for the one at hand by `worth` sixteenths.
    fn take(&mut self, postings: &Postings<'_>, worth: u8, owns: &mut [Best]) {
        let Self { platforms, touched, places, with_word, .. } = self;
        let mut platform = 0_usize;
        postings.each(
            |nth, mark| {
                if let Some(own) = owns.get_mut(nth) {
                    own.improve(mark, worth);
                }
            },
            |row, mark| {
                let Some(place) = places.get_mut(row) else { return };
                if *place == 0 {
                    // Postings are in the order of their rows, and so of their platforms.
                    while platforms.get(platform).is_some_and(|platform| platform.end <= row) {
                        platform = platform.saturating_add(1);
                    }
                    let (row, platform) = (number(row), number(platform));
                    let (tally, best) = (Tally::default(), Best::default());
                    touched.push(Touched { row, platform, tally, best });
                    *place = number(touched.len());
                }
                let place = place.saturating_sub(1);
                if let Some(Touched { best, .. }) = touched.get_mut(place as usize) {
                    if best.weight == 0 {
                        with_word.push(place);
                    }
                    best.improve(mark, worth);
                }
            },
        );
    }

    /// Adds what the word at hand adds to each platform and each row.
    fn settle(&mut self, owns: &[Best], rarity: u16, term: &Term) {
        let worth = i32::from(rarity);
        for (base, own) in self.bases.iter_mut().zip(owns) {
            if own.weight > 0 {
                base.score = base.score.saturating_add(worth.saturating_mul(i32::from(own.weight)));
                base.has = base.has.saturating_add(rarity);
                base.named = base.named.saturating_add(own.places & Mark::NAMED);
            }
        }
        for place in self.with_word.drain(..) {
            let Some(touched) = self.touched.get_mut(place as usize) else { continue };
            let best = std::mem::take(&mut touched.best);
            let own = owns.get(touched.platform as usize).copied().unwrap_or_default();
            let (more, less) = (own.weight.max(best.weight), own.weight.min(best.weight));
            // A word that both have says a little more than one of them.
            let weight = i32::from(more).saturating_add(i32::from(less) / 5);
            let weight = weight.saturating_sub(i32::from(own.weight));
            let rarity = if own.weight == 0 { rarity } else { 0 };
            // A word of the platform's name is in the titles of all of its actions.
            let says = own.places & Mark::NAMED == 0;
            touched.tally.take(worth.saturating_mul(weight), rarity, best, says, term);
        }
    }

    /// The rows that match, in no order, before their traits are known.
    fn found(
        &self,
        question: &Question,
        platforms: &Platforms<'_>,
        filter: &Filter<'_>,
    ) -> Result<Vec<Match>, StorageError> {
        let least = u32::from(self.all).saturating_mul(ENOUGH).div_ceil(100).max(1);
        let has_enough = |base: &Base| u32::from(base.has) >= least;
        let is_wanted =
            |nth: usize| filter.platforms.is_none_or(|wanted| wanted.get(nth) == Some(&true));
        let mut found = Vec::new();
        let mut take = |row: u32, base: &Base, bonus: i32, tally: Tally| {
            let is_wanted = match filter.method {
                Wish::Any => true,
                Wish::Only(method) => platforms.traits(row as usize)?.has(method),
                Wish::Unknown => false,
            };
            if is_wanted {
                let has = base.has.saturating_add(tally.has);
                let missing = i32::from(self.all.saturating_sub(has));
                let score = base.score.saturating_add(tally.score).saturating_add(bonus);
                let score = score.saturating_sub(missing.saturating_mul(MISSING));
                found.push(Match::new(score, row, tally, question));
            }
            Ok(())
        };
        for (nth, (platform, base)) in self.platforms.iter().zip(&self.bases).enumerate() {
            if !has_enough(base) || !is_wanted(nth) {
                continue;
            }
            let bonus = of_platform(platform, base.named);
            for row in platform.first..platform.end {
                let place = self.places.get(row).copied().unwrap_or(0).checked_sub(1);
                let touched = place.and_then(|place| self.touched.get(place as usize));
                let tally = touched.map(|touched| touched.tally).unwrap_or_default();
                take(number(row), base, bonus, tally)?;
            }
        }
        for touched in &self.touched {
            let nth = touched.platform as usize;
            let Some((platform, base)) = self.platforms.get(nth).zip(self.bases.get(nth)) else {
                continue;
            };
            let has = u32::from(base.has.saturating_add(touched.tally.has));
            if has >= least && !has_enough(base) && is_wanted(nth) {
                take(touched.row, base, of_platform(platform, base.named), touched.tally)?;
            }
        }
        Ok(found)
    }
}

/// A number of a row, a platform or a place, which all fit.
fn number(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
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
const KNOWN: i32 = POINT * 7 / 2;
/// What it adds that a platform's whole name was asked for, and what it adds besides for a well-known one.
const WHOLE_NAME: i32 = POINT * 2;
const WHOLE_KNOWN_NAME: i32 = POINT * 3 / 4;
/// What it adds that all words of a title, or of a key, were asked for.
const WHOLE_TITLE: i32 = POINT * 15 / 32;
const WHOLE_KEY: i32 = POINT;
/// What it adds that an action does what was asked, and that it reads when the question has no verb.
const DOES: i32 = POINT * 39 / 16;
const READS: i32 = POINT * 13 / 16;
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

/// What the traits of a row add, of whose title and key so many words were asked for.
fn of_traits(traits: Traits, title: u8, key: u8, question: &Question) -> i32 {
    let mut score = share(title, traits.title(), WHOLE_TITLE);
    score = score.saturating_add(share(key, traits.key(), WHOLE_KEY));
    score = score.saturating_sub(i32::from(traits.remoteness()).saturating_mul(POINT / 32));
    if question.wants(traits.does()) {
        score = score.saturating_add(of_deed(question));
    }
    if traits.has(Method::Delete) && question.deeds & deed::REMOVES == 0 {
        score = score.saturating_sub(REMOVES);
    }
    score
}

/// The most that [`of_traits`] can be.
const fn most_of_traits(title: u8, key: u8, question: &Question) -> i32 {
    let of_title = if title > 0 { WHOLE_TITLE } else { 0 };
    let of_key = if key > 0 { WHOLE_KEY } else { 0 };
    of_title.saturating_add(of_key).saturating_add(of_deed(question))
}

/// What it adds that an action does what was asked.
const fn of_deed(question: &Question) -> i32 {
    if question.deeds == 0 { READS } else { DOES }
}

/// The part of `most` for this many of all words, which falls with the square of those that are missing.
fn share(some: u8, all: u8, most: i32) -> i32 {
    let (some, all) = (i32::from(some.min(all)), i32::from(all));
    let squares = most.saturating_mul(some).saturating_mul(some);
    squares.checked_div(all.saturating_mul(all)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{
        Best, DOES, Filter, KNOWN, Mark, Match, POINT, Place, Platform, Platforms, Question, READS,
        REMOVES, Ranking, Sums, Tally, Term, Touched, Traits, WHOLE_KNOWN_NAME, WHOLE_NAME, Words,
        best, deed, of_platform, of_traits,
    };
    use std::rc::Rc;

    use crate::catalog::filter::{Selection, Wish};
    use crate::catalog::finder::index::TRAITS;
    use crate::catalog::layout::{number, write_texts};
    use crate::catalog::section::{Section, SectionWriter};
    use crate::terms::Method;

    /// Platforms with two rows each, without traits.
    fn section(platforms: usize) -> Section {
        let names = write_texts(vec!["name"; platforms].iter());
        let entry = |nth: usize| [number(nth.saturating_mul(2)), [1, 0, 0, 0]].concat();
        let entries = (0..platforms).flat_map(entry).collect();
        let traits = vec![0; platforms.saturating_mul(2).saturating_mul(TRAITS)];
        let blocks = vec![names, entries, Vec::new(), traits];
        SectionWriter { blocks, rest: vec![9] }.opened()
    }

    #[test]
    fn the_best_are_kept_however_many_match() {
        let section = section(5);
        let platforms = Platforms::open(&section, 10).unwrap();
        let question = Question::read("widget");
        for (rows, most, expected) in [
            (0, 1, &[][..]),
            (9, 0, &[]),
            (3, 5, &[2, 1, 0]),
            (2, 2, &[1, 0]),
            (4, 1, &[3]),
            (5, 1, &[4]),
            (10, 2, &[9, 8]),
        ] {
            let one =
                |row: u32| Match { at_best: Place::new(row.cast_signed(), row), title: 0, key: 0 };
            let found = (0..rows).map(one).collect();
            let kept = best(found, &question, &platforms, most).unwrap();
            assert_eq!(Ranking::of(10, kept).page(0..10), expected, "{rows} {most}");
        }
    }

    #[test]
    fn rows_that_were_not_kept_are_not_known() {
        for (len, kept, end, expected) in
            [(5, 2, 2, true), (5, 2, 3, false), (2, 2, 9, true), (0, 0, 9, true)]
        {
            let places = (0..kept).map(|row| Place::new(0, row)).collect();
            let selection = Selection::Ranked(Rc::new(Ranking::of(len, places)));
            assert_eq!(selection.reaches(end), expected, "{len} {kept} {end}");
            assert_eq!(selection.bytes(), kept as usize * size_of::<Place>());
        }
        assert!(Selection::Range(2..2).is_empty() && !Selection::Range(2..3).is_empty());
        let rows = |nth| Selection::Rows(vec![0; nth].into());
        assert_eq!([Selection::Range(0..3), rows(0), rows(3)].map(|one| one.bytes()), [0, 0, 12]);
        assert!(Selection::Range(0..3).reaches(9) && Selection::Rows(Rc::new([1])).reaches(9));
    }

    #[test]
    fn a_word_that_stands_for_another_weighs_less() {
        for (weight, worth, expected) in [(63, 16, 63), (32, 8, 16), (32, 11, 22), (1, 1, 1)] {
            let mut best = Best::default();
            best.improve(Mark(weight << 2), worth);
            assert_eq!(best.weight, expected, "{weight} {worth}");
        }
    }

    #[test]
    fn a_word_is_as_rare_as_itself_or_else_as_what_stands_for_it() {
        let section = section(1);
        let platforms = Platforms::open(&section, 2).unwrap();
        // Each with its rarity, and in no platform.
        let texts =
            [write_texts(["a", "b", "c"].iter()), write_texts([[30, 0], [50, 0], [40, 0]].iter())];
        let blocks = vec![write_texts(texts.iter())];
        let part = SectionWriter { blocks, rest: write_texts(["a"].iter()) }.opened();
        for (stems, is_common, expected) in [
            (&["a"][..], false, 30),
            (&["a", "b"], false, 30),
            (&["x", "a", "b", "c"], false, 50),
            (&["x"], false, 9),
            (&["a"], true, 5),
        ] {
            let stems = stems.iter().map(|stem| ((*stem).to_owned(), 16)).collect();
            let word = "word".to_owned();
            let term = Term { word, stems, is_common, is_special: false };
            let mut sums = Sums::new(2, &platforms);
            sums.add(&term, None, &Words(vec![&part])).unwrap();
            assert_eq!(sums.all, expected, "{term:?}");
        }
    }

    #[test]
    fn a_word_that_a_platform_and_its_row_have_counts_little_more() {
        let section = section(1);
        let platforms = Platforms::open(&section, 2).unwrap();
        let term = &Question::read("widget").terms[0];
        let has = |weight, places| Best { weight, places };
        for (own, best, of_platform, of_row) in [
            (has(0, 0), has(20, Mark::NAMED), (0, 0, 0), (60, 3, 1)),
            (has(10, 0), has(20, Mark::NAMED), (30, 3, 0), (36, 0, 1)),
            (has(20, 0), has(10, Mark::NAMED), (60, 3, 0), (6, 0, 1)),
            (has(10, Mark::NAMED), has(20, Mark::NAMED), (30, 3, 1), (36, 0, 0)),
        ] {
            let mut sums = Sums::new(2, &platforms);
            sums.touched.push(Touched { row: 0, platform: 0, tally: Tally::default(), best });
            sums.with_word.push(0);
            sums.settle(&[own], 3, term);
            let (base, tally) = (sums.bases[0], sums.touched[0].tally);
            assert_eq!((base.score, base.has, base.named), of_platform, "{own:?} {best:?}");
            assert_eq!((tally.score, tally.has, tally.title), of_row, "{own:?} {best:?}");
        }
    }

    #[test]
    fn rows_match_that_have_enough_of_the_question_each_once() {
        let section = section(2);
        let platforms = Platforms::open(&section, 4).unwrap();
        let mut sums = Sums::new(4, &platforms);
        // 40 percent of that is 2.
        sums.all = 5;
        (sums.bases[0].has, sums.bases[1].has) = (2, 1);
        for (place, (row, platform, has)) in
            [(0, 0, 1), (2, 1, 1), (3, 1, 0)].into_iter().enumerate()
        {
            let tally = Tally { has, ..Tally::default() };
            sums.touched.push(Touched { row, platform, tally, best: Best::default() });
            sums.places[row as usize] = u32::try_from(place + 1).unwrap();
        }
        let question = Question::read("widget");
        for (wanted, expected) in [
            (None, &[0, 1, 2][..]),
            (Some([true, true]), &[0, 1, 2]),
            (Some([true, false]), &[0, 1]),
            (Some([false, true]), &[2]),
            (Some([false, false]), &[]),
        ] {
            let filter =
                Filter { method: Wish::Any, platforms: wanted.as_ref().map(<[bool; 2]>::as_slice) };
            let found = sums.found(&question, &platforms, &filter).unwrap();
            let mut rows: Vec<usize> = found.iter().map(Match::row).collect();
            rows.sort_unstable();
            assert_eq!(rows, expected, "{wanted:?}");
        }
    }

    #[test]
    fn a_platform_adds_that_it_is_known_and_how_much_of_its_name_was_asked_for() {
        for (is_known, named, name_words, expected) in [
            (false, 0, 2, 0),
            (false, 1, 2, WHOLE_NAME / 4),
            (false, 2, 2, WHOLE_NAME),
            (true, 0, 0, KNOWN),
            (true, 0, 2, KNOWN),
            (true, 1, 2, KNOWN + WHOLE_NAME / 4),
            (true, 2, 2, KNOWN + WHOLE_NAME + WHOLE_KNOWN_NAME),
        ] {
            let platform = Platform { first: 0, end: 1, name_words, is_known };
            assert_eq!(of_platform(&platform, named), expected, "{is_known} {named}");
        }
    }

    #[test]
    fn what_an_action_does_adds_to_its_score() {
        let (get, delete) = ((deed::READS, Method::Get), (deed::REMOVES, Method::Delete));
        for ((does, method), remoteness, question, expected) in [
            (get, 0, "file", READS),
            (get, 32, "file", READS - POINT),
            (get, 0, "delete file", 0),
            (delete, 0, "file", -REMOVES),
            (delete, 0, "delete file", DOES),
        ] {
            let traits = Traits::new([does | (method as u8) << 4, remoteness, 0]);
            assert_eq!(of_traits(traits, 0, 0, &Question::read(question)), expected, "{question}");
        }
    }

    fn ranking(places: impl IntoIterator<Item = (i32, u32)>) -> Ranking {
        let places: Vec<Place> =
            places.into_iter().map(|(score, row)| Place::new(score, row)).collect();
        Ranking::of(places.len(), places)
    }

    #[test]
    fn the_best_row_comes_first_and_of_equal_ones_the_first() {
        let best = [(i32::MAX, 9), (7, 0), (1, 3), (0, 1), (0, u32::MAX), (-1, 0), (i32::MIN, 5)];
        let ranking = ranking(best.into_iter().rev());
        assert_eq!(ranking.page(0..7), best.map(|(_, row)| row));
    }

    #[test]
    fn pages_are_the_same_in_whatever_order_they_are_asked_for() {
        let score = |row: u32| i32::try_from(row.wrapping_mul(2_654_435_761) % 97).unwrap();
        let places: Vec<(i32, u32)> = (0..1000).map(|row| (score(row), row)).collect();
        let all = ranking(places.clone()).page(0..1000);
        for order in [[0, 1, 9, 5], [9, 0, 5, 1], [5, 9, 1, 0]] {
            let ranking = ranking(places.clone());
            for page in order {
                let positions = page * 100..(page + 1) * 100;
                assert_eq!(ranking.page(positions.clone()), all[positions]);
            }
            assert_eq!(ranking.page(990..2000), all[990..]);
            assert_eq!(ranking.page(2000..2100), [0_u32; 0]);
        }
    }
}
