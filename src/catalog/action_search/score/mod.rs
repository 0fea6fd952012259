//! Scores the actions that match a query.
//!
//! Each word of the query that an action or its platform has adds its rarity times its weight there; a missing word
//! subtracts a part of its rarity. An action matches when the words that it has make up [`MIN_COVERAGE_PERCENT`] of the
//! query. Further points depend on the action's intent, on how much of its title and key the query contains, on how well
//! its platform is known, and on whether people rarely mean it. All numbers are integers, so that the Worker and the tests
//! agree.

use super::index::{Platform, Platforms, PostingFlags, Postings, StaticFeatures, Vocabulary};
use super::intent::Intent;
use super::query::{ActionQuery, Term};
use super::ranking::ScoredRow;
use crate::catalog::filter::Constraint;
use crate::ports::StorageError;
use crate::terms::Method;

/// The score that a word of full weight adds for each factor of e by which it is rarer.
const POINT: i32 = 1024;

/// The share of the query, weighted by rarity, that the words of an action must make up.
const MIN_COVERAGE_PERCENT: u32 = 40;

/// The maximum number of words that are considered as completions of the query's last word.
const MAX_PREFIX_MATCHES: usize = 8;

/// The weight of a completion, in sixteenths of the weight of the query's word.
const PREFIX_WEIGHT: u8 = 10;

/// The best match of one word of the query in a row or a platform.
#[derive(Debug, Clone, Copy, Default)]
struct TermMatch {
    weight: u8,
    positions: u8,
}

impl TermMatch {
    /// Adds the posting of a word that counts as `worth` sixteenths of the query's word.
    #[expect(
        clippy::inline_always,
        reason = "once for each posting, and the Worker is built for size"
    )]
    #[inline(always)]
    fn improve(&mut self, flags: PostingFlags, worth: u8) {
        let weight = u16::from(flags.weight()).saturating_mul(u16::from(worth)) / 16;
        let weight = u8::try_from(weight).unwrap_or(PostingFlags::MAX_WEIGHT).max(1);
        self.weight = self.weight.max(weight);
        self.positions |= flags.positions();
    }
}

/// The score that the words of the query add to a row, in addition to its platform's score.
#[derive(Debug, Clone, Copy, Default)]
struct RowScore {
    score: i32,
    /// The rarities of the words that the row has and its platform does not, in sixteenths.
    matched_rarity: u16,
    /// How many words of its title and of its key the query contains.
    title: u8,
    key: u8,
}

/// The score that the words of the query add to all rows of a platform.
#[derive(Debug, Clone, Copy, Default)]
struct PlatformScore {
    score: i32,
    /// The rarities of the words that it has, in sixteenths.
    matched_rarity: u16,
    /// How many words of its display name the query contains.
    matched_name_words: u8,
}

/// A row that has a word of the query.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    row: u32,
    platform: u32,
    row_score: RowScore,
    /// The match of the current word; empty between two words.
    best: TermMatch,
}

pub struct Filter<'a> {
    pub method: Constraint<Method>,
    /// For each platform, whether its actions are requested; `None` when all are.
    pub platforms: Option<&'a [bool]>,
    /// For each platform, whether the caller's identity has connected it; `None` when it has connected none.
    pub connected: Option<&'a [bool]>,
}

type AddMatch<'a> =
    dyn FnMut(u32, usize, (&Platform, &PlatformScore), RowScore) -> Result<(), StorageError> + 'a;

/// A matching row whose features have not been read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Match {
    /// Its score with the best possible features.
    pub(super) upper_bound: ScoredRow,
    /// How many words of its title and of its key the query contains.
    pub(super) title: u8,
    pub(super) key: u8,
}

impl Match {
    fn new(score: i32, row: u32, row_score: RowScore, query: &ActionQuery) -> Self {
        let RowScore { title, key, .. } = row_score;
        let score = score.saturating_add(max_feature_score(title, key, query));
        Self { upper_bound: ScoredRow::new(score, row), title, key }
    }

    fn raise(&mut self, bonus: i32) {
        let score = self.upper_bound.score().saturating_add(bonus);
        self.upper_bound = ScoredRow::new(score, self.upper_bound.row());
    }

    pub(super) const fn row(&self) -> usize {
        self.upper_bound.row() as usize
    }

    /// Its score with its own features.
    pub(super) fn scored(&self, features: StaticFeatures, query: &ActionQuery) -> ScoredRow {
        let Self { upper_bound, title, key } = *self;
        let score = upper_bound.score().saturating_sub(max_feature_score(title, key, query));
        let score = score.saturating_add(feature_score(features, title, key, query));
        ScoredRow::new(score, upper_bound.row())
    }
}

/// Adds up the scores of a query. A word of a platform counts for all of its rows at once. Rows without words of their
/// own are visited only when their platform alone matches: most queries touch few rows.
pub(super) struct Scorer {
    platforms: Vec<Platform>,
    platform_scores: Vec<PlatformScore>,
    /// The rows that have a word of the query, in order of discovery.
    candidates: Vec<Candidate>,
    /// For each row, its index in `candidates` plus one; 0 when it has no word.
    candidate_indexes: Vec<u32>,
    /// The sum of the rarities of the query's words, in sixteenths.
    query_rarity: u16,
    /// The rarity of a word that no action has, in sixteenths.
    unknown_rarity: u8,
    /// The indexes in `candidates` of the rows that have the current word.
    with_term: Vec<u32>,
}

impl Scorer {
    pub(super) fn new(rows: usize, platforms: &Platforms<'_>) -> Self {
        Self {
            platforms: platforms.all(),
            platform_scores: vec![PlatformScore::default(); platforms.len()],
            candidates: Vec::new(),
            candidate_indexes: vec![0; rows],
            query_rarity: 0,
            unknown_rarity: platforms.unknown_rarity(),
            with_term: Vec::new(),
        }
    }

    pub(super) fn add_term(
        &mut self,
        term: &Term,
        prefix: Option<&str>,
        vocabulary: &Vocabulary<'_>,
    ) -> Result<(), StorageError> {
        let mut platform_matches = vec![TermMatch::default(); self.platforms.len()];
        // A word that the catalog does not have is as rare as the rarest of its synonyms.
        let (mut first_rarity, mut other_rarity) = (None, None);
        for (index, (stem, worth)) in term.stems.iter().enumerate() {
            if let Some(postings) = vocabulary.get(stem)? {
                let rarity = if index == 0 { &mut first_rarity } else { &mut other_rarity };
                *rarity = (*rarity).max(Some(postings.rarity));
                self.add_postings(&postings, *worth, &mut platform_matches);
            }
        }
        if let Some(prefix) = prefix {
            for postings in vocabulary.with_prefix(prefix, MAX_PREFIX_MATCHES)? {
                other_rarity = other_rarity.max(Some(postings.rarity));
                self.add_postings(&postings, PREFIX_WEIGHT, &mut platform_matches);
            }
        }
        let rarity = u16::from(first_rarity.or(other_rarity).unwrap_or(self.unknown_rarity));
        let rarity = if term.is_common { rarity.saturating_mul(3) / 16 } else { rarity };
        self.query_rarity = self.query_rarity.saturating_add(rarity);
        self.finish_term(&platform_matches, rarity, term);
        Ok(())
    }

    /// Adds the postings of a word that counts as `worth` sixteenths of the current one.
    fn add_postings(
        &mut self,
        postings: &Postings<'_>,
        worth: u8,
        platform_matches: &mut [TermMatch],
    ) {
        let Self { platforms, candidates, candidate_indexes, with_term, .. } = self;
        let mut platform = 0_usize;
        postings.for_each(
            |index, flags| {
                if let Some(platform_match) = platform_matches.get_mut(index) {
                    platform_match.improve(flags, worth);
                }
            },
            |row, flags| {
                let Some(candidate_index) = candidate_indexes.get_mut(row) else { return };
                if *candidate_index == 0 {
                    // Postings are sorted by row, and therefore by platform.
                    while platforms.get(platform).is_some_and(|platform| platform.end <= row) {
                        platform = platform.saturating_add(1);
                    }
                    let (row, platform) = (number(row), number(platform));
                    let (row_score, best) = (RowScore::default(), TermMatch::default());
                    candidates.push(Candidate { row, platform, row_score, best });
                    *candidate_index = number(candidates.len());
                }
                let candidate_index = candidate_index.saturating_sub(1);
                if let Some(Candidate { best, .. }) = candidates.get_mut(candidate_index as usize) {
                    if best.weight == 0 {
                        with_term.push(candidate_index);
                    }
                    best.improve(flags, worth);
                }
            },
        );
    }

    /// Adds the matches of the current word to the scores of platforms and rows.
    fn finish_term(&mut self, platform_matches: &[TermMatch], rarity: u16, term: &Term) {
        let term_rarity = i32::from(rarity);
        for (platform_score, platform_match) in
            self.platform_scores.iter_mut().zip(platform_matches)
        {
            if platform_match.weight > 0 {
                platform_score.score = platform_score
                    .score
                    .saturating_add(term_rarity.saturating_mul(i32::from(platform_match.weight)));
                platform_score.matched_rarity =
                    platform_score.matched_rarity.saturating_add(rarity);
                platform_score.matched_name_words = platform_score
                    .matched_name_words
                    .saturating_add(platform_match.positions & PostingFlags::IN_NAME);
            }
        }
        for candidate_index in self.with_term.drain(..) {
            let Some(candidate) = self.candidates.get_mut(candidate_index as usize) else {
                continue;
            };
            let best = std::mem::take(&mut candidate.best);
            let platform_match =
                platform_matches.get(candidate.platform as usize).copied().unwrap_or_default();
            let (more, less) =
                (platform_match.weight.max(best.weight), platform_match.weight.min(best.weight));
            // A word that the row and its platform have counts a little more than a word that only one of them has.
            let weight = i32::from(more).saturating_add(i32::from(less) / 5);
            let weight = weight.saturating_sub(i32::from(platform_match.weight));
            let rarity = if platform_match.weight == 0 { rarity } else { 0 };
            // A word of the platform's name is in the titles of all of its actions.
            let is_own_word = platform_match.positions & PostingFlags::IN_NAME == 0;
            candidate.row_score.add_match(
                term_rarity.saturating_mul(weight),
                rarity,
                best,
                is_own_word,
                term,
            );
        }
    }

    /// All matching rows, unordered.
    pub(super) fn matches(
        &self,
        query: &ActionQuery,
        platforms: &Platforms<'_>,
        filter: &Filter<'_>,
    ) -> Result<Vec<Match>, StorageError> {
        let min_rarity =
            u32::from(self.query_rarity).saturating_mul(MIN_COVERAGE_PERCENT).div_ceil(100).max(1);
        let covers_enough =
            |platform_score: &PlatformScore| u32::from(platform_score.matched_rarity) >= min_rarity;
        let is_requested =
            |index: usize| filter.platforms.is_none_or(|allowed| allowed.get(index) == Some(&true));
        let preferred = self.preferred(query, platforms, filter);
        // For each match, the rarities of its words, or 0 if its platform is not preferred; and the largest sum of all matches.
        let (mut preferred_rarities, mut max_rarity) = (Vec::new(), 1);
        let mut matches = Vec::new();
        let mut add = |row: u32,
                       index: usize,
                       (platform, platform_score): (&Platform, &PlatformScore),
                       row_score: RowScore| {
            let is_requested = match filter.method {
                Constraint::Any => true,
                Constraint::Equals(method) => platforms.features(row as usize)?.has_method(method),
                Constraint::Never => false,
            };
            if is_requested {
                let matched_rarity =
                    platform_score.matched_rarity.saturating_add(row_score.matched_rarity);
                let missing_rarity = i32::from(self.query_rarity.saturating_sub(matched_rarity));
                let bonus = platform_bonus(platform, platform_score.matched_name_words);
                let score =
                    platform_score.score.saturating_add(row_score.score).saturating_add(bonus);
                let score = score.saturating_sub(missing_rarity.saturating_mul(MISSING_PENALTY));
                max_rarity = max_rarity.max(matched_rarity);
                let is_preferred = preferred.get(index) == Some(&true);
                preferred_rarities.push(if is_preferred { matched_rarity } else { 0 });
                matches.push(Match::new(score, row, row_score, query));
            }
            Ok(())
        };
        // Behind a pointer, the closure is compiled once instead of into each of the two loops.
        let add: &mut AddMatch<'_> = &mut add;
        for (index, (platform, platform_score)) in
            self.platforms.iter().zip(&self.platform_scores).enumerate()
        {
            if !covers_enough(platform_score) || !is_requested(index) {
                continue;
            }
            for row in platform.first..platform.end {
                let candidate_index =
                    self.candidate_indexes.get(row).copied().unwrap_or(0).checked_sub(1);
                let candidate = candidate_index
                    .and_then(|candidate_index| self.candidates.get(candidate_index as usize));
                let row_score = candidate.map(|candidate| candidate.row_score).unwrap_or_default();
                add(number(row), index, (platform, platform_score), row_score)?;
            }
        }
        for candidate in &self.candidates {
            let index = candidate.platform as usize;
            let Some((platform, platform_score)) =
                self.platforms.get(index).zip(self.platform_scores.get(index))
            else {
                continue;
            };
            let matched_rarity = u32::from(
                platform_score.matched_rarity.saturating_add(candidate.row_score.matched_rarity),
            );
            if matched_rarity >= min_rarity && !covers_enough(platform_score) && is_requested(index)
            {
                add(candidate.row, index, (platform, platform_score), candidate.row_score)?;
            }
        }
        for (matched, rarity) in matches.iter_mut().zip(preferred_rarities) {
            let percent = u32::from(rarity).saturating_mul(100).checked_div(u32::from(max_rarity));
            let percent = u8::try_from(percent.unwrap_or(0)).unwrap_or(100);
            matched.raise(quadratic_share(percent, 100, CONNECTED_BONUS));
        }
        Ok(matches)
    }

    /// For each platform, whether its matches come first: the caller's identity has connected it, or the query contains its name.
    /// Empty if the identity has connected no platform.
    fn preferred(
        &self,
        query: &ActionQuery,
        platforms: &Platforms<'_>,
        filter: &Filter<'_>,
    ) -> Vec<bool> {
        let Some(connected) = filter.connected else { return Vec::new() };
        let scored = self.platforms.iter().zip(&self.platform_scores).enumerate();
        let is_preferred = |(index, (platform, score)): (usize, (&Platform, &PlatformScore))| {
            connected.get(index) == Some(&true)
                || has_full_name(platform, score.matched_name_words)
                || query.has_name(platforms.name(index))
        };
        scored.map(is_preferred).collect()
    }
}

/// Row, platform and candidate numbers fit into 32 bits.
fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl RowScore {
    /// Adds the match of a word. `counts_for_title` is false for words of the platform's name: these do not count as words
    /// of the title or the key.
    const fn add_match(
        &mut self,
        score: i32,
        rarity: u16,
        best: TermMatch,
        counts_for_title: bool,
        term: &Term,
    ) {
        self.score = self.score.saturating_add(score);
        self.matched_rarity = self.matched_rarity.saturating_add(rarity);
        if term.is_special && best.positions != 0 {
            self.score = self.score.saturating_add(SPECIAL_BONUS);
        }
        if counts_for_title && !term.is_common {
            self.title = self.title.saturating_add(best.positions & PostingFlags::IN_NAME);
            self.key = self.key.saturating_add((best.positions & PostingFlags::IN_KEY) >> 1);
        }
    }
}

/// The penalty for a missing word, in 64ths of its rarity.
const MISSING_PENALTY: i32 = 29;

const KNOWN_PLATFORM_BONUS: i32 = POINT * 7 / 2;

/// Added if the query contains all words of a platform's name. For some of them, [`quadratic_share`] reduces it.
const FULL_NAME_BONUS: i32 = POINT * 2;

/// Added as well if the query contains the whole name of a well-known platform.
const KNOWN_FULL_NAME_BONUS: i32 = POINT * 3 / 4;

/// Added if the query contains all words of a title. For some of them, [`quadratic_share`] reduces it.
const FULL_TITLE_BONUS: i32 = POINT * 15 / 32;

/// Added if the query contains all words of a key, and reduced like [`FULL_TITLE_BONUS`].
const FULL_KEY_BONUS: i32 = POINT;

/// Added if the action has the query's intent.
const INTENT_BONUS: i32 = POINT * 39 / 16;

/// Added if the action reads and the query has no verb.
const DEFAULT_READ_BONUS: i32 = POINT * 13 / 16;

/// Subtracted if the action deletes, unless the query asks for that.
const UNREQUESTED_DELETE_PENALTY: i32 = POINT * 5 / 16;

/// Compensates for the penalty of a rarely meant action if the query contains the action's special word.
const SPECIAL_BONUS: i32 = POINT * 11 / 16;

/// The bonus of a match from a preferred platform: more than all other bonuses together. It is less for a match that lacks words
/// of the query that other matches have.
const CONNECTED_BONUS: i32 = POINT * 8;

/// Whether the query contains all words of the platform's display name.
const fn has_full_name(platform: &Platform, matched_name_words: u8) -> bool {
    matched_name_words > 0 && matched_name_words >= platform.name_words
}

fn platform_bonus(platform: &Platform, matched_name_words: u8) -> i32 {
    let known_bonus = if platform.is_well_known { KNOWN_PLATFORM_BONUS } else { 0 };
    let has_full_name = has_full_name(platform, matched_name_words);
    let full_name_bonus =
        if platform.is_well_known && has_full_name { KNOWN_FULL_NAME_BONUS } else { 0 };
    known_bonus.saturating_add(full_name_bonus).saturating_add(quadratic_share(
        matched_name_words,
        platform.name_words,
        FULL_NAME_BONUS,
    ))
}

/// The score of a row's features, given how many words of its title and key the query contains.
fn feature_score(features: StaticFeatures, title: u8, key: u8, query: &ActionQuery) -> i32 {
    let mut score = quadratic_share(title, features.title_words(), FULL_TITLE_BONUS);
    score = score.saturating_add(quadratic_share(key, features.key_words(), FULL_KEY_BONUS));
    score = score.saturating_sub(i32::from(features.rank_penalty()).saturating_mul(POINT / 32));
    if query.matches_intent(features.intents()) {
        score = score.saturating_add(intent_bonus(query));
    }
    if features.has_method(Method::Delete) && !query.intents.intersects(Intent::DELETE) {
        score = score.saturating_sub(UNREQUESTED_DELETE_PENALTY);
    }
    score
}

/// The upper bound of [`feature_score`].
const fn max_feature_score(title: u8, key: u8, query: &ActionQuery) -> i32 {
    let title_bonus = if title > 0 { FULL_TITLE_BONUS } else { 0 };
    let key_bonus = if key > 0 { FULL_KEY_BONUS } else { 0 };
    title_bonus.saturating_add(key_bonus).saturating_add(intent_bonus(query))
}

const fn intent_bonus(query: &ActionQuery) -> i32 {
    if query.intents.is_empty() { DEFAULT_READ_BONUS } else { INTENT_BONUS }
}

/// The part of `limit` for `matched` of `total` words: it grows with the square of the matched fraction.
fn quadratic_share(matched: u8, total: u8, limit: i32) -> i32 {
    let (matched, total) = (i32::from(matched.min(total)), i32::from(total));
    let squares = limit.saturating_mul(matched).saturating_mul(matched);
    squares.checked_div(total.saturating_mul(total)).unwrap_or(0)
}

#[cfg(test)]
pub(super) mod tests;
