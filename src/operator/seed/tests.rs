//! Tests that generated connections are valid in the API, look realistic, and are all stored and
//! counted.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;
use uuid::{Uuid, Version};

use super::generate::{GeneratedConnection, Generator};
use super::platforms::Platforms;
use super::statements::{SeedTarget, StateBefore, before, insert};
use super::words::{DOMAINS, LABELS, LANGUAGES, SLUGS, TAGS};
use super::*;
use crate::operator::schema::database;
use crate::util::case_fold::fold;

const NOW: i64 = 1_790_000_000_123;
const TWO_YEARS: i64 = 2 * 365 * 24 * 60 * 60 * 1_000;

fn rows(platforms: &Platforms, seed: u64, number: u64, count: u64) -> Vec<GeneratedConnection<'_>> {
    Generator::new(platforms, seed, number, count, Moment::from_millis(NOW)).collect()
}

fn key(row: &GeneratedConnection<'_>) -> (String, &'static str, String) {
    (row.platform.platform.clone(), row.label, row.identity.clone())
}

/// Whether the API accepts this string: at most `max` characters, without control characters.
fn is_text(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.chars().count()) && !text.contains(char::is_control)
}

#[test]
fn every_row_is_valid() {
    let platforms = Platforms::numbered(50);
    let mut ids = HashSet::new();
    let mut oldest = 0;
    for row in rows(&platforms, 1, 1, 20_000) {
        assert_eq!(row.id.get_version(), Some(Version::Random), "{row:?}");
        assert!(ids.insert(row.id), "{row:?}");
        assert!(is_text(&row.identity, 256) && !row.identity.contains(','), "{row:?}");
        assert!(row.name.as_deref().is_none_or(|name| is_text(name, 128)), "{row:?}");
        let label = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!((1..=64).contains(&row.label.len()) && row.label.chars().all(label), "{row:?}");
        let version = row.platform_version.strip_prefix('v').unwrap();
        assert!(version.bytes().all(|byte| byte.is_ascii_digit()) && !version.is_empty());
        let tags: HashSet<_> = row.tags.iter().collect();
        assert!(row.tags.len() <= 6 && tags.len() == row.tags.len(), "{row:?}");
        assert!((NOW - TWO_YEARS..=NOW).contains(&row.created_at), "{row:?}");
        assert!(row.created_at >= oldest, "older than the previous row: {row:?}");
        oldest = row.created_at;
    }
}

#[test]
fn every_word_is_valid_in_every_position() {
    let names = LANGUAGES.iter().flat_map(|language| language.given.iter().chain(language.family));
    for (name, plain) in names {
        assert!(!name.ends_with(char::is_numeric) && !name.is_empty(), "{name}");
        let letter = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(plain.chars().all(letter) && !plain.is_empty(), "{plain}");
    }
    let others =
        LANGUAGES.iter().flat_map(|language| language.topics.iter().chain(language.places));
    let names = names_of_people();
    for word in others.chain(TAGS).chain(LABELS).chain(DOMAINS).chain(SLUGS).chain(&names) {
        assert!(is_text(word, 128) && !word.contains(',') && word.trim() == *word, "{word}");
    }
    for list in [TAGS, LABELS, DOMAINS, SLUGS] {
        assert_eq!(list.iter().collect::<HashSet<_>>().len(), list.len(), "a word occurs twice");
    }
}

fn names_of_people() -> Vec<&'static str> {
    let names = |language: &'static words::Language| language.given.iter().chain(language.family);
    LANGUAGES.iter().flat_map(names).map(|(name, _)| *name).collect()
}

/// The percentage of rows with each value.
fn shares<'a>(
    rows: &[GeneratedConnection<'a>],
    value: impl Fn(&GeneratedConnection<'a>) -> String,
) -> HashMap<String, usize> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for row in rows {
        let count = counts.entry(value(row)).or_default();
        *count = count.saturating_add(1);
    }
    let share = |count: usize| count.saturating_mul(100).checked_div(rows.len()).unwrap();
    counts.into_iter().map(|(value, count)| (value, share(count))).collect()
}

#[test]
fn generates_every_kind_of_value() {
    let platforms = Platforms::numbered(50);
    let rows = rows(&platforms, 2, 1, 20_000);
    let share = |value: &dyn Fn(&GeneratedConnection<'_>) -> String,
                 expected: &str,
                 range: std::ops::RangeInclusive<usize>| {
        let shares = shares(&rows, value);
        assert!(
            shares.get(expected).is_some_and(|share| range.contains(share)),
            "{expected}: {shares:?}"
        );
    };
    let state = |row: &GeneratedConnection<'_>| row.state.to_owned();
    share(&state, "operational", 80..=95);
    for expected in ["degraded", "failed", "unknown"] {
        share(&state, expected, 2..=10);
    }
    let identity_type = |row: &GeneratedConnection<'_>| row.identity_type.to_owned();
    share(&identity_type, "user", 40..=70);
    for expected in ["team", "organization", "project"] {
        share(&identity_type, expected, 5..=30);
    }
    share(&|row| row.active.to_string(), "false", 1..=3);
    share(&|row| row.label.to_owned(), "default", 80..=95);
    share(&|row| row.name.is_none().to_string(), "true", 8..=16);
    share(&|row| (row.platform_version == row.platform.version).to_string(), "true", 90..=98);
    for count in 0..=6 {
        share(&|row| row.tags.len().to_string(), &count.to_string(), 0..=40);
    }
    let tagged: HashSet<_> = rows.iter().flat_map(|row| &row.tags).collect();
    assert_eq!(tagged.len(), TAGS.len(), "every tag occurs");
    let named: String = rows.iter().filter_map(|row| row.name.as_deref()).collect();
    for letter in ['É', 'ł', 'Σ', 'ж', 'ن', 'ו', 'र', 'ส', '部', 'さ', '팀', '𠮷'] {
        assert!(named.contains(letter), "{letter}");
    }
    assert!(rows.iter().any(|row| fold(&row.identity) != row.identity));
    assert!(rows.iter().any(|row| !row.identity.is_ascii()));
    let identities: HashSet<_> = rows.iter().map(|row| &row.identity).collect();
    assert!(
        (5_000..15_000).contains(&identities.len()),
        "two or three connections each: {} identities",
        identities.len()
    );
}

#[test]
fn connection_keys_are_unique_across_runs() {
    for platforms in [1, 3, 50] {
        let platforms = Platforms::numbered(platforms);
        let mut keys = HashSet::new();
        for (seed, number) in [(7, 1), (7, 3_001), (8, 6_001), (7, 9_001)] {
            let rows = rows(&platforms, seed, number, 3_000);
            assert_eq!(rows.len(), 3_000);
            for row in rows {
                assert!(keys.insert(key(&row)), "{row:?}");
            }
        }
    }
}

#[test]
fn same_seed_gives_the_same_rows() {
    let platforms = Platforms::numbered(50);
    let made = rows(&platforms, 3, 1, 500);
    assert_eq!(made, rows(&platforms, 3, 1, 500));
    let ids =
        |rows: &[GeneratedConnection<'_>]| rows.iter().map(|row| row.id).collect::<HashSet<_>>();
    for (seed, number) in [(4, 1), (3, 501)] {
        let others = rows(&platforms, seed, number, 500);
        assert!(ids(&made).is_disjoint(&ids(&others)), "{seed} from {number} on");
    }
}

#[test]
fn a_few_platforms_have_most_connections() {
    let platforms = Platforms::numbered(900);
    let mut counts: Vec<_> =
        shares(&rows(&platforms, 5, 1, 20_000), |row| row.platform.platform.clone())
            .into_iter()
            .collect();
    assert!(counts.len() > 700, "a long tail: {}", counts.len());
    counts.sort_by_key(|(_, share)| std::cmp::Reverse(*share));
    assert_eq!(counts[0].0, "platform-1");
    assert!((10..=18).contains(&counts[0].1), "{:?}", counts[0]);
}

fn read(db: &Connection, account: &str) -> StateBefore {
    db.query_row(&before(account, Environment::Live), [], |row| {
        let number = |column| row.get::<_, u32>(column).map(u64::from);
        Ok(StateBefore { connections: number(0)?, last: number(1)? })
    })
    .unwrap()
}

#[test]
fn stores_exactly_the_generated_rows() {
    let db = database();
    let platforms = Platforms::numbered(20);
    assert_eq!(read(&db, "acme"), StateBefore { connections: 0, last: 0 });
    let mut made = Vec::new();
    for account in ["acme", "other"] {
        let written_by = Uuid::from_u128(9);
        let owner = SeedTarget { account, environment: Environment::Live, written_by };
        let rows = rows(&platforms, 6, read(&db, account).last.saturating_add(1), 2_000);
        for statement in insert(rows.clone(), owner) {
            assert!(statement.len() < 100_000, "longer than D1 accepts");
            db.execute_batch(&statement).unwrap();
        }
        made.extend(rows);
    }
    assert_eq!(read(&db, "acme"), StateBefore { connections: 2_000, last: 4_000 });
    assert_eq!(read(&db, "nobody"), StateBefore { connections: 0, last: 4_000 });
    let mut statement = db.prepare("SELECT * FROM connections ORDER BY seq").unwrap();
    let mut stored = statement.query([]).unwrap();
    for row in made {
        let is = stored.next().unwrap().unwrap();
        let text = |column: &str| is.get::<_, Option<String>>(column).unwrap();
        let number = |column: &str| is.get::<_, i64>(column).unwrap();
        assert_eq!(text("id").unwrap(), row.id.to_string());
        assert_eq!(text("environment").unwrap(), "live");
        assert_eq!(number("active"), i64::from(row.active));
        assert_eq!(text("platform").unwrap(), row.platform.platform);
        assert_eq!(text("platform_version").unwrap(), row.platform_version);
        assert_eq!(text("label").unwrap(), row.label);
        assert_eq!(text("identity").unwrap(), row.identity);
        assert_eq!(text("identity_folded").unwrap(), fold(&row.identity));
        assert_eq!(text("identity_type").unwrap(), row.identity_type);
        assert_eq!(text("name"), row.name);
        assert_eq!(text("name_folded"), row.name.as_deref().map(fold));
        assert_eq!(text("description").unwrap(), row.platform.description);
        assert_eq!(text("state").unwrap(), row.state);
        assert_eq!(serde_json::from_str::<Vec<String>>(&text("tags").unwrap()).unwrap(), row.tags);
        assert_eq!((number("version"), number("created_at")), (1, row.created_at));
        assert_eq!(text("written_by").unwrap(), Uuid::from_u128(9).to_string());
    }
    assert!(stored.next().unwrap().is_none());
}

#[test]
fn parses_options() {
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        seed: Seed,
    }
    let parse = |line: &str| {
        Cli::try_parse_from(std::iter::once("seed").chain(line.split_whitespace()))
            .map(|cli| cli.seed)
    };
    let seed = parse("--account demo --connections 10000000 --environment live --seed 7").unwrap();
    assert_eq!(
        (seed.connections, seed.environment, seed.start),
        (10_000_000, Environment::Live, Some(7))
    );
    assert_eq!(parse("--account demo --connections 1").unwrap().environment, Environment::Test);
    for wrong in [
        "",
        "--account demo",
        "--connections 5",
        "--account demo --connections 0",
        "--account demo --connections 10000001",
        "--account demo --connections -5",
        "--account demo --connections 1.5",
        "--account demo --connections many",
        "--account d'emo --connections 5",
        "--account demo --connections 5 --environment prod",
        "--account demo --connections 5 --local --remote",
        "--account demo --connections 5 --remote --persist-to x",
        "--account demo --connections 5 --rows 6",
    ] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}
