use super::{
    ActionQuery, Candidate, DEFAULT_READ_BONUS, FULL_NAME_BONUS, Filter, INTENT_BONUS, Intent,
    KNOWN_FULL_NAME_BONUS, KNOWN_PLATFORM_BONUS, Match, POINT, Platform, Platforms, PostingFlags,
    RowScore, Scorer, StaticFeatures, Term, TermMatch, UNREQUESTED_DELETE_PENALTY, Vocabulary,
    feature_score, platform_bonus,
};
use crate::catalog::action_search::index::FEATURE_BYTES;
use crate::catalog::filter::Constraint;
use crate::catalog::format::layout::{number, write_string_table};
use crate::catalog::format::section::{Section, SectionWriter};
use crate::terms::Method;

/// Platforms with two rows each, without features.
pub fn section(platforms: usize) -> Section {
    let names = write_string_table(vec!["name"; platforms].iter());
    let entry = |index: usize| [number(index.saturating_mul(2)), [1, 0, 0, 0]].concat();
    let entries = (0..platforms).flat_map(entry).collect();
    let features = vec![0; platforms.saturating_mul(2).saturating_mul(FEATURE_BYTES)];
    let blocks = vec![names, entries, Vec::new(), features];
    SectionWriter { blocks, rest: vec![9] }.opened()
}

#[test]
fn synonym_weighs_less() {
    for (weight, relative_weight, expected) in [(63, 16, 63), (32, 8, 16), (32, 11, 22), (1, 1, 1)]
    {
        let mut best = TermMatch::default();
        best.improve(PostingFlags(weight << 2), relative_weight);
        assert_eq!(best.weight, expected, "{weight} {relative_weight}");
    }
}

#[test]
fn rarity_comes_from_word_or_rarest_synonym() {
    let section = section(1);
    let platforms = Platforms::open(&section, 2).unwrap();
    // The postings are a rarity and zero platforms.
    let texts = [
        write_string_table(["a", "b", "c"].iter()),
        write_string_table([[30, 0], [50, 0], [40, 0]].iter()),
    ];
    let blocks = vec![write_string_table(texts.iter())];
    let part = SectionWriter { blocks, rest: write_string_table(["a"].iter()) }.opened();
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
        let mut scorer = Scorer::new(2, &platforms);
        scorer.add_term(&term, None, &Vocabulary(vec![&part])).unwrap();
        assert_eq!(scorer.query_rarity, expected, "{term:?}");
    }
}

#[test]
fn word_of_platform_and_row_counts_slightly_more() {
    let section = section(1);
    let platforms = Platforms::open(&section, 2).unwrap();
    let term = &ActionQuery::read("widget").terms[0];
    let term_match = |weight, positions| TermMatch { weight, positions };
    for (platform_match, best, platform_bonus, row_match) in [
        (term_match(0, 0), term_match(20, PostingFlags::IN_NAME), (0, 0, 0), (60, 3, 1)),
        (term_match(10, 0), term_match(20, PostingFlags::IN_NAME), (30, 3, 0), (36, 0, 1)),
        (term_match(20, 0), term_match(10, PostingFlags::IN_NAME), (60, 3, 0), (6, 0, 1)),
        (
            term_match(10, PostingFlags::IN_NAME),
            term_match(20, PostingFlags::IN_NAME),
            (30, 3, 1),
            (36, 0, 0),
        ),
    ] {
        let mut scorer = Scorer::new(2, &platforms);
        scorer.candidates.push(Candidate {
            row: 0,
            platform: 0,
            row_score: RowScore::default(),
            best,
        });
        scorer.candidates_with_term.push(0);
        scorer.finish_term(&[platform_match], 3, term);
        let (platform_score, row_score) =
            (scorer.platform_scores[0], scorer.candidates[0].row_score);
        assert_eq!(
            (
                platform_score.score,
                platform_score.matched_rarity,
                platform_score.matched_name_words
            ),
            platform_bonus,
            "{platform_match:?} {best:?}"
        );
        assert_eq!(
            (row_score.score, row_score.matched_rarity, row_score.title),
            row_match,
            "{platform_match:?} {best:?}"
        );
    }
}

#[test]
fn rows_with_enough_coverage_match_once() {
    let section = section(2);
    let platforms = Platforms::open(&section, 4).unwrap();
    let mut scorer = Scorer::new(4, &platforms);
    // The coverage of 40 percent is a rarity of 2.
    scorer.query_rarity = 5;
    (scorer.platform_scores[0].matched_rarity, scorer.platform_scores[1].matched_rarity) = (2, 1);
    for (index, (row, platform, matched_rarity)) in
        [(0, 0, 1), (2, 1, 1), (3, 1, 0)].into_iter().enumerate()
    {
        let row_score = RowScore { matched_rarity, ..RowScore::default() };
        scorer.candidates.push(Candidate { row, platform, row_score, best: TermMatch::default() });
        scorer.candidate_indexes[row as usize] = u32::try_from(index + 1).unwrap();
    }
    let query = ActionQuery::read("widget");
    for (requested, expected) in [
        (None, &[0, 1, 2][..]),
        (Some([true, true]), &[0, 1, 2]),
        (Some([true, false]), &[0, 1]),
        (Some([false, true]), &[2]),
        (Some([false, false]), &[]),
    ] {
        let filter = Filter {
            connected: None,
            method: Constraint::Any,
            platforms: requested.as_ref().map(<[bool; 2]>::as_slice),
        };
        let matches = scorer.matches(&query, &platforms, &filter).unwrap();
        let mut rows: Vec<usize> = matches.iter().map(Match::row).collect();
        rows.sort_unstable();
        assert_eq!(rows, expected, "{requested:?}");
    }
}

#[test]
fn platform_bonus_grows_with_the_matched_name() {
    for (is_well_known, matched_name_words, name_words, expected) in [
        (false, 0, 2, 0),
        (false, 1, 2, FULL_NAME_BONUS / 4),
        (false, 2, 2, FULL_NAME_BONUS),
        (true, 0, 0, KNOWN_PLATFORM_BONUS),
        (true, 0, 2, KNOWN_PLATFORM_BONUS),
        (true, 1, 2, KNOWN_PLATFORM_BONUS + FULL_NAME_BONUS / 4),
        (true, 2, 2, KNOWN_PLATFORM_BONUS + FULL_NAME_BONUS + KNOWN_FULL_NAME_BONUS),
    ] {
        let platform = Platform { first: 0, end: 1, name_words, is_well_known };
        assert_eq!(
            platform_bonus(&platform, matched_name_words),
            expected,
            "{is_well_known} {matched_name_words}"
        );
    }
}

#[test]
fn intent_changes_the_score() {
    let (get, delete) = ((Intent::READ, Method::Get), (Intent::DELETE, Method::Delete));
    for ((intents, method), rank_penalty, query, expected) in [
        (get, 0, "file", DEFAULT_READ_BONUS),
        (get, 32, "file", DEFAULT_READ_BONUS - POINT),
        (get, 0, "delete file", 0),
        (delete, 0, "file", -UNREQUESTED_DELETE_PENALTY),
        (delete, 0, "delete file", INTENT_BONUS),
    ] {
        let features = StaticFeatures::new([intents.bits() | (method as u8) << 4, rank_penalty, 0]);
        assert_eq!(feature_score(features, 0, 0, &ActionQuery::read(query)), expected, "{query}");
    }
}
