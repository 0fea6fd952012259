//! Scores the actions that match a query.
//!
//! A word of the query that occurs in an action or its platform adds its rarity times its weight; a
//! missing word subtracts a part of its rarity. An action matches if its words make up
//! [`MIN_COVERAGE_PERCENT`] of the query. Bonuses and penalties depend on the action's intent, on
//! how much of its title and key the query contains, on whether its platform is well known, and on
//! whether users rarely mean the action. All numbers are integers, so that the Worker and the tests
//! compute equal scores.

use super::index::{Platform, Platforms, PostingFlags, Postings, StaticFeatures, Vocabulary};
use super::intent::Intent;
use super::query::{ActionQuery, Term};
use super::ranking::ScoredRow;
use crate::catalog::filter::Constraint;
use crate::ports::StorageError;
use crate::terms::Method;

/// One point of score: a word of full weight adds one point per unit of its rarity, which is a
/// natural logarithm.
const POINT: i32 = 1024;

/// The minimum share of the query that an action must match, weighted by rarity.
const MIN_COVERAGE_PERCENT: u32 = 40;

/// The maximum number of completions of the query's last word.
const MAX_PREFIX_MATCHES: usize = 8;

/// The weight of a completion of the query's last word, in sixteenths.
const PREFIX_WEIGHT: u8 = 10;

/// The best match of one word of the query in a row or a platform.
#[derive(Debug, Clone, Copy, Default)]
struct TermMatch {
    weight: u8,
    positions: u8,
}

impl TermMatch {
    /// Merges a posting into the match: the larger weight, and the positions of both. `relative_weight` is
    /// the weight of the posting's word as a synonym or completion, in sixteenths.
    #[expect(
        clippy::inline_always,
        reason = "once for each posting, and the Worker is built for size"
    )]
    #[inline(always)]
    fn improve(&mut self, flags: PostingFlags, relative_weight: u8) {
        let weight = u16::from(flags.weight()).saturating_mul(u16::from(relative_weight)) / 16;
        let weight = u8::try_from(weight).unwrap_or(PostingFlags::MAX_WEIGHT).max(1);
        self.weight = self.weight.max(weight);
        self.positions |= flags.positions();
    }
}

/// The score that the query's words add to a row, not including the platform's score.
#[derive(Debug, Clone, Copy, Default)]
struct RowScore {
    score: i32,
    /// The sum of the rarities of the query's words that occur in the row but not in its platform,
    /// in sixteenths.
    matched_rarity: u16,
    /// The number of words of the action's title that the query contains.
    title: u8,
    key: u8,
}

/// The score that the query's words add to every row of a platform.
#[derive(Debug, Clone, Copy, Default)]
struct PlatformScore {
    score: i32,
    /// The sum of the rarities of the query's words that occur in the platform, in sixteenths.
    matched_rarity: u16,
    /// The number of words of the display name that the query contains.
    matched_name_words: u8,
}

/// A row that contains a word of the query.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    row: u32,
    platform: u32,
    row_score: RowScore,
    /// The match of the current word. Empty between words.
    best: TermMatch,
}

pub struct Filter<'a> {
    pub method: Constraint<Method>,
    /// For each platform, whether its actions are requested. `None` for all platforms.
    pub platforms: Option<&'a [bool]>,
    /// For each platform, whether the caller's identity has connected it. `None` if the identity
    /// has no connection.
    pub connected: Option<&'a [bool]>,
}

type AddMatch<'a> =
    dyn FnMut(u32, usize, (&Platform, &PlatformScore), RowScore) -> Result<(), StorageError> + 'a;

/// A matching row whose features have not been read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Match {
    /// The score of the row if it had the best possible features.
    pub(super) upper_bound: ScoredRow,
    /// The number of words of the action's title that the query contains.
    pub(super) title: u8,
    pub(super) key: u8,
}

impl Match {
    fn new(score: i32, row: u32, row_score: RowScore, query: &ActionQuery) -> Self {
        let RowScore { title, key, .. } = row_score;
        let score = score.saturating_add(max_feature_score(title, key, query));
        Self { upper_bound: ScoredRow::new(score, row), title, key }
    }

    fn add_bonus(&mut self, bonus: i32) {
        let score = self.upper_bound.score().saturating_add(bonus);
        self.upper_bound = ScoredRow::new(score, self.upper_bound.row());
    }

    pub(super) const fn row(&self) -> usize {
        self.upper_bound.row() as usize
    }

    /// The score of the row with its features.
    pub(super) fn scored(&self, features: StaticFeatures, query: &ActionQuery) -> ScoredRow {
        let Self { upper_bound, title, key } = *self;
        let score = upper_bound.score().saturating_sub(max_feature_score(title, key, query));
        let score = score.saturating_add(feature_score(features, title, key, query));
        ScoredRow::new(score, upper_bound.row())
    }
}

/// Computes the scores of a query. A word of a platform is counted once for all of its rows. Rows
/// without a word of the query are visited only if their platform alone matches, so that most
/// queries visit few rows.
pub(super) struct Scorer {
    platforms: Vec<Platform>,
    platform_scores: Vec<PlatformScore>,
    /// The rows that contain a word of the query, unsorted.
    candidates: Vec<Candidate>,
    /// For each row, its index in `candidates` plus one, or 0 if the row contains no word of the
    /// query.
    candidate_indexes: Vec<u32>,
    /// The sum of the rarities of the query's words, in sixteenths.
    query_rarity: u16,
    /// The rarity of a word that no action has, in sixteenths.
    unknown_rarity: u8,
    /// The indexes in `candidates` of the rows that contain the current word.
    candidates_with_term: Vec<u32>,
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
            candidates_with_term: Vec::new(),
        }
    }

    pub(super) fn add_term(
        &mut self,
        term: &Term,
        prefix: Option<&str>,
        vocabulary: &Vocabulary<'_>,
    ) -> Result<(), StorageError> {
        let mut platform_matches = vec![TermMatch::default(); self.platforms.len()];
        // If the catalog does not contain the word, use the rarity of its rarest synonym.
        let (mut first_rarity, mut other_rarity) = (None, None);
        for (index, (stem, relative_weight)) in term.stems.iter().enumerate() {
            if let Some(postings) = vocabulary.get(stem)? {
                let rarity = if index == 0 { &mut first_rarity } else { &mut other_rarity };
                *rarity = (*rarity).max(Some(postings.rarity));
                self.add_postings(&postings, *relative_weight, &mut platform_matches);
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

    /// Adds the postings of the current word, a synonym or a completion, whose weight is `relative_weight`
    /// sixteenths.
    fn add_postings(
        &mut self,
        postings: &Postings<'_>,
        relative_weight: u8,
        platform_matches: &mut [TermMatch],
    ) {
        let Self { platforms, candidates, candidate_indexes, candidates_with_term, .. } = self;
        let mut platform = 0_usize;
        postings.for_each(
            |index, flags| {
                if let Some(platform_match) = platform_matches.get_mut(index) {
                    platform_match.improve(flags, relative_weight);
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
                        candidates_with_term.push(candidate_index);
                    }
                    best.improve(flags, relative_weight);
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
        for candidate_index in self.candidates_with_term.drain(..) {
            let Some(candidate) = self.candidates.get_mut(candidate_index as usize) else {
                continue;
            };
            let best = std::mem::take(&mut candidate.best);
            let platform_match =
                platform_matches.get(candidate.platform as usize).copied().unwrap_or_default();
            let (more, less) =
                (platform_match.weight.max(best.weight), platform_match.weight.min(best.weight));
            // A word that occurs in both the row and its platform counts a little more.
            let weight = i32::from(more).saturating_add(i32::from(less) / 5);
            let weight = weight.saturating_sub(i32::from(platform_match.weight));
            let rarity = if platform_match.weight == 0 { rarity } else { 0 };
            // Words of the platform's name count for all of its actions, so they don't distinguish
            // titles.
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
        let has_coverage =
            |platform_score: &PlatformScore| u32::from(platform_score.matched_rarity) >= min_rarity;
        let is_requested =
            |index: usize| filter.platforms.is_none_or(|allowed| allowed.get(index) == Some(&true));
        let preferred = self.preferred(query, platforms, filter);
        // The rarity sum of each match, or 0 if its platform is not preferred, and the maximum over
        // all matches.
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
        // Dynamic dispatch, so that the closure is not inlined into both loops.
        let add: &mut AddMatch<'_> = &mut add;
        for (index, (platform, platform_score)) in
            self.platforms.iter().zip(&self.platform_scores).enumerate()
        {
            if !has_coverage(platform_score) || !is_requested(index) {
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
            if matched_rarity >= min_rarity && !has_coverage(platform_score) && is_requested(index)
            {
                add(candidate.row, index, (platform, platform_score), candidate.row_score)?;
            }
        }
        for (matched, rarity) in matches.iter_mut().zip(preferred_rarities) {
            let percent = u32::from(rarity).saturating_mul(100).checked_div(u32::from(max_rarity));
            let percent = u8::try_from(percent.unwrap_or(0)).unwrap_or(100);
            matched.add_bonus(quadratic_share(percent, 100, CONNECTED_BONUS));
        }
        Ok(matches)
    }

    /// For each platform, whether its matches rank first: the caller's identity has connected it,
    /// or the query contains its name. Empty if the identity has no connection.
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

/// Converts the number of a row, platform or candidate, which always fits into 32 bits.
fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl RowScore {
    /// Adds the match of a word. `counts_for_title` is false for words of the platform's name,
    /// which don't count as words of the title or the key.
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

/// Added if the query contains all words of a platform's name; reduced by [`quadratic_share`] if it
/// contains only some.
const FULL_NAME_BONUS: i32 = POINT * 2;

/// Added to [`FULL_NAME_BONUS`] if the platform is well known.
const KNOWN_FULL_NAME_BONUS: i32 = POINT * 3 / 4;

/// Added if the query contains all words of a title; reduced by [`quadratic_share`] if it contains
/// only some.
const FULL_TITLE_BONUS: i32 = POINT * 15 / 32;

/// Added if the query contains all words of a key; reduced by [`quadratic_share`] if it contains
/// only some.
const FULL_KEY_BONUS: i32 = POINT;

/// Added if the action has the query's intent.
const INTENT_BONUS: i32 = POINT * 39 / 16;

/// Added if the action reads and the query does not start with a verb.
const DEFAULT_READ_BONUS: i32 = POINT * 13 / 16;

/// Subtracted if the action deletes and the query does not ask for a deletion.
const UNREQUESTED_DELETE_PENALTY: i32 = POINT * 5 / 16;

/// Added if the query contains a word of a rarely meant action, such as "beta"; offsets the
/// action's rank penalty.
const SPECIAL_BONUS: i32 = POINT * 11 / 16;

/// Added to matches from a preferred platform; exceeds the sum of all other bonuses. Reduced if
/// other matches contain more words of the query.
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

/// The score of a row's features. `title` and `key` are the numbers of their words that the query
/// contains.
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

/// The share of `limit` for `matched` of `total` words, proportional to the square of the matched
/// fraction.
fn quadratic_share(matched: u8, total: u8, limit: i32) -> i32 {
    let (matched, total) = (i32::from(matched.min(total)), i32::from(total));
    let squares = limit.saturating_mul(matched).saturating_mul(matched);
    squares.checked_div(total.saturating_mul(total)).unwrap_or(0)
}

#[cfg(test)]
pub(super) mod tests;
