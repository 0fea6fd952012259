//! Derives the schemas of strings from the service's rules, which are functions, by sampling them.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Value, json};

use super::json::Members as _;
use crate::catalog::key::platform_version;
use crate::http::body::Rule;
use crate::http::message::MAX_BODY;

/// Up to this length, a rule is sampled with strings of every length.
const EXHAUSTIVE_LENGTH: usize = 1024;
/// The longest string that a rule is sampled with.
const LONGEST: usize = MAX_BODY;

/// The schema of the strings that a rule accepts. The rule may depend on length and characters only, with special rules
/// for the first and last ones.
pub fn text(rule: Rule) -> Value {
    thread_local! {
        // A rule is sampled with hundreds of thousands of strings, and a few rules apply to most fields.
        static SCHEMAS: RefCell<HashMap<usize, Value>> = RefCell::default();
    }
    let known = SCHEMAS.with_borrow(|schemas| schemas.get(&(rule as usize)).cloned());
    known.unwrap_or_else(|| {
        let schema = schema_of(rule);
        SCHEMAS.with_borrow_mut(|schemas| schemas.insert(rule as usize, schema.clone()));
        schema
    })
}

fn schema_of(rule: Rule) -> Value {
    let takes = |text: &str| rule(text).is_none();
    // Characters that join or vary their neighbours are accepted between some of them, and a pattern can't express
    // normalization form C. So the pattern may accept more than the service, never less.
    let mut buffer = String::new();
    let mut takes_between = |before: &str, letter: char, after: &str| {
        buffer.clear();
        buffer.push_str(before);
        buffer.push(letter);
        buffer.push_str(after);
        takes(&buffer)
    };
    let between: Vec<bool> = plane()
        .map(|letter| {
            [("x", "x"), ("👩", "👩"), ("❤", "x"), ("ب", "ب")]
                .iter()
                .any(|(before, after)| takes_between(before, letter, after))
        })
        .collect();
    let is_ascii = plane().zip(&between).all(|(letter, taken)| letter.is_ascii() || !taken);
    let is_composed = |letter: char| is_ascii || unicode_normalization::is_nfc(&letter.to_string());
    let inside = Letters::new(|at, letter| between[at] || !is_composed(letter));
    let alone = Letters::new(|_, letter| {
        takes_between("", letter, "") || takes_between("❤", letter, "") || !is_composed(letter)
    });
    let pattern = if inside.0 == alone.0 {
        format!("^{}+$", inside.class())
    } else {
        format!("^{0}({1}*{0})?$", alone.class(), inside.class())
    };
    assert!(!takes(""), "an empty text is never taken");
    let longest = longest(|count| takes(&"x".repeat(count)));
    json!({"type": "string", "minLength": 1, "maxLength": longest, "pattern": pattern})
}

/// A schema with a description in front.
pub fn described(description: &str, schema: Value) -> Value {
    json!({"description": description}).with(schema)
}

pub fn version() -> Value {
    let longest = longest(|count| platform_version(&format!("v{}", "1".repeat(count))).is_none());
    json!({"type": "string", "pattern": format!("^v[0-9]{{1,{longest}}}$")})
}

/// The maximum length that is accepted.
pub fn longest(takes: impl Fn(usize) -> bool) -> u64 {
    let longest = (1..=EXHAUSTIVE_LENGTH).filter(|count| takes(*count)).max().unwrap();
    if longest < EXHAUSTIVE_LENGTH {
        return u64::try_from(longest).unwrap();
    }
    assert!(!takes(LONGEST), "a rule without a limit");
    // Above the maximum length, all lengths are rejected.
    let (mut good, mut bad) = (EXHAUSTIVE_LENGTH, LONGEST);
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        if takes(middle) { good = middle } else { bad = middle }
    }
    u64::try_from(good).unwrap()
}

/// Ranges of characters of the basic plane: the first one, the last one, and whether they are accepted.
struct Letters(Vec<(char, char, bool)>);

fn plane() -> impl Iterator<Item = char> {
    '\0'..='\u{ffff}'
}

impl Letters {
    /// `takes` gets each character with its position in the plane.
    fn new(mut takes: impl FnMut(usize, char) -> bool) -> Self {
        let mut ranges: Vec<(char, char, bool)> = Vec::new();
        for (at, letter) in plane().enumerate() {
            let good = takes(at, letter);
            match ranges.last_mut() {
                Some((_, last, same)) if *same == good => *last = letter,
                _ => ranges.push((letter, letter, good)),
            }
        }
        Self(ranges)
    }

    /// The accepted characters, as a character class.
    fn class(&self) -> String {
        // The other planes are treated like the last character of this one.
        let open = self.0.last().is_some_and(|(_, _, taken)| *taken);
        let named = self.0.iter().filter(|(_, _, taken)| *taken != open);
        let ranges = named.map(|(first, last, _)| match (first, last) {
            (first, last) if first == last => escaped(*first),
            (first, last) => format!("{}-{}", escaped(*first), escaped(*last)),
        });
        format!("[{}{}]", if open { "^" } else { "" }, ranges.collect::<String>())
    }
}

fn escaped(letter: char) -> String {
    match letter {
        '-' => "\\-".into(),
        ',' | '0'..='9' | 'a'..='z' | 'A'..='Z' => letter.into(),
        _ => format!("\\u{:04X}", u32::from(letter)),
    }
}
