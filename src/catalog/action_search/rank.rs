//! Finds and ranks the actions that match a query: see [`score`](super::score).

use super::index::{Platform, Platforms, PostingFlags, Vocabulary};
use super::query::ActionQuery;
use super::ranking::{Ranking, ScoredRow};
use super::score::{Filter, Match, Scorer};
use crate::ports::StorageError;

/// The maximum number of matches that are counted: one more than the largest exact total in a
/// response, to show that there are more.
pub const MAX_MATCHES: usize = 10_001;
/// Oversampling factor: the number of rows whose features are read first, as a multiple of the
/// requested rows.
const OVERSAMPLING: usize = 4;

/// Finds the rows that match a query. Returns the best `limit` rows, at most [`MAX_MATCHES`].
pub fn rank(
    query: &ActionQuery,
    vocabulary: &Vocabulary<'_>,
    platforms: &Platforms<'_>,
    rows: usize,
    filter: &Filter<'_>,
    limit: usize,
) -> Result<Ranking, StorageError> {
    let mut scorer = Scorer::new(rows, platforms);
    let last = query.terms.len().saturating_sub(1);
    for (index, term) in query.terms.iter().enumerate() {
        let prefix = query.prefix.as_deref().filter(|_| index == last);
        scorer.add_term(term, prefix, vocabulary)?;
    }
    let matches = scorer.matches(query, platforms, filter)?;
    let len = matches.len().min(MAX_MATCHES);
    Ok(Ranking::new(len, best(matches, query, platforms, limit)?))
}

/// The numbers of the platforms whose full names the query contains. Includes platforms with
/// actions only if they are well known.
pub fn fully_named_platforms(
    query: &ActionQuery,
    vocabulary: &Vocabulary<'_>,
    platforms: &Platforms<'_>,
) -> Result<Vec<usize>, StorageError> {
    let mut matched_words = vec![0_u8; platforms.len()];
    for term in &query.terms {
        let Some((stem, _)) = term.stems.first() else { continue };
        let Some(postings) = vocabulary.get(stem)? else { continue };
        for (index, flags) in postings.platforms() {
            if let Some(matched_words) = matched_words.get_mut(index) {
                *matched_words =
                    matched_words.saturating_add(flags.positions() & PostingFlags::IN_NAME);
            }
        }
    }
    let all = platforms.all().into_iter().zip(matched_words).enumerate();
    let is_named = |(index, (platform, matched_words)): &(usize, (Platform, u8))| {
        let is_full_name = *matched_words > 0 && *matched_words >= platform.name_words;
        let may_be_meant = platform.is_empty() || platform.is_well_known;
        may_be_meant && (is_full_name || query.has_name(platforms.name(*index)))
    };
    Ok(all.filter(is_named).map(|(index, _)| index).collect())
}

/// The best `limit` matches, unordered. Reading features dominates the cost of a search, so they
/// are read only for rows that can be among the best.
fn best(
    mut matches: Vec<Match>,
    query: &ActionQuery,
    platforms: &Platforms<'_>,
    limit: usize,
) -> Result<Vec<ScoredRow>, StorageError> {
    let sample_size = limit.saturating_mul(OVERSAMPLING);
    if matches.len() > sample_size {
        matches.select_nth_unstable(sample_size);
    }
    let (sample, others) = matches.split_at(sample_size.min(matches.len()));
    let score =
        |candidate: &Match| Ok(candidate.scored(platforms.features(candidate.row())?, query));
    let mut rows: Vec<ScoredRow> = sample.iter().map(score).collect::<Result<_, _>>()?;
    if !others.is_empty() && limit > 0 {
        let (_, worst, _) = rows.select_nth_unstable(limit.saturating_sub(1));
        let worst = *worst;
        let others = others.iter().filter(|candidate| candidate.upper_bound <= worst);
        rows.extend(others.map(score).collect::<Result<Vec<_>, _>>()?);
    }
    if rows.len() > limit {
        rows.select_nth_unstable(limit);
        rows.truncate(limit);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::{ActionQuery, Match, Platforms, Ranking, ScoredRow, best};
    use crate::catalog::action_search::score::tests::section;

    #[test]
    fn keeps_the_best_matches() {
        let section = section(5);
        let platforms = Platforms::open(&section, 10).unwrap();
        let query = ActionQuery::read("widget");
        for (rows, limit, expected) in [
            (0, 1, &[][..]),
            (9, 0, &[]),
            (3, 5, &[2, 1, 0]),
            (2, 2, &[1, 0]),
            (4, 1, &[3]),
            (5, 1, &[4]),
            (10, 2, &[9, 8]),
        ] {
            let one = |row: u32| Match {
                upper_bound: ScoredRow::new(row.cast_signed(), row),
                title: 0,
                key: 0,
            };
            let matches = (0..rows).map(one).collect();
            let kept = best(matches, &query, &platforms, limit).unwrap();
            assert_eq!(Ranking::new(10, kept).page(0..10), expected, "{rows} {limit}");
        }
    }
}
