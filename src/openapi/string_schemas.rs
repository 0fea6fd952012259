//! Derives the schemas of strings by sampling the service's rules, which are functions.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Value, json};

use super::json::Members as _;
use crate::catalog::key::platform_version;
use crate::http::body::Rule;
use crate::http::message::MAX_BODY;

/// Rules are sampled with strings of every length up to this one.
const EXHAUSTIVE_LENGTH: usize = 1024;
/// The maximum length of a sampled string, in bytes.
const LONGEST: usize = MAX_BODY;

/// The schema of the strings that a rule accepts. The rule may depend only on the length and the
/// set of characters, which may differ at the start and the end.
pub fn text(rule: Rule) -> Value {
    thread_local! {
        // Cached, because sampling takes hundreds of thousands of calls, and a few rules apply to
        // most fields.
        static SCHEMAS: RefCell<HashMap<usize, Value>> = RefCell::default();
    }
    let known = SCHEMAS.with_borrow(|schemas| schemas.get(&(rule as usize)).cloned());
    known.unwrap_or_else(|| {
        let schema = sample_schema(rule);
        SCHEMAS.with_borrow_mut(|schemas| schemas.insert(rule as usize, schema.clone()));
        schema
    })
}

fn sample_schema(rule: Rule) -> Value {
    let accepts = |text: &str| rule(text).is_none();
    // Some characters, such as joiners and variation selectors, are valid only between certain
    // others. A pattern can express neither this nor normalization form C, so it may accept more
    // strings than the service, but never fewer.
    let mut buffer = String::new();
    let mut accepts_between = |before: &str, letter: char, after: &str| {
        buffer.clear();
        buffer.push_str(before);
        buffer.push(letter);
        buffer.push_str(after);
        accepts(&buffer)
    };
    let between: Vec<bool> = plane()
        .map(|letter| {
            [("x", "x"), ("👩", "👩"), ("❤", "x"), ("ب", "ب")]
                .iter()
                .any(|(before, after)| accepts_between(before, letter, after))
        })
        .collect();
    let is_ascii = plane().zip(&between).all(|(letter, taken)| letter.is_ascii() || !taken);
    let is_composed = |letter: char| is_ascii || unicode_normalization::is_nfc(&letter.to_string());
    let inside = Letters::new(|at, letter| between[at] || !is_composed(letter));
    let alone = Letters::new(|_, letter| {
        accepts_between("", letter, "") || accepts_between("❤", letter, "") || !is_composed(letter)
    });
    let pattern = if inside.0 == alone.0 {
        format!("^{}+$", inside.class())
    } else {
        format!("^{0}({1}*{0})?$", alone.class(), inside.class())
    };
    assert!(!accepts(""), "no rule accepts an empty string");
    let longest = longest(|count| accepts(&"x".repeat(count)));
    json!({"type": "string", "minLength": 1, "maxLength": longest, "pattern": pattern})
}

/// Adds a description as the first member of a schema.
pub fn described(description: &str, schema: Value) -> Value {
    json!({"description": description}).with(schema)
}

pub fn version() -> Value {
    let longest = longest(|count| platform_version(&format!("v{}", "1".repeat(count))).is_none());
    json!({"type": "string", "pattern": format!("^v[0-9]{{1,{longest}}}$")})
}

/// The maximum accepted length.
pub fn longest(accepts: impl Fn(usize) -> bool) -> u64 {
    let longest = (1..=EXHAUSTIVE_LENGTH).filter(|count| accepts(*count)).max().unwrap();
    if longest < EXHAUSTIVE_LENGTH {
        return u64::try_from(longest).unwrap();
    }
    assert!(!accepts(LONGEST), "a rule without a limit");
    // Binary search: all lengths above the maximum are rejected.
    let (mut accepted, mut rejected) = (EXHAUSTIVE_LENGTH, LONGEST);
    while rejected - accepted > 1 {
        let middle = accepted.midpoint(rejected);
        if accepts(middle) { accepted = middle } else { rejected = middle }
    }
    u64::try_from(accepted).unwrap()
}

/// Ranges of characters in the Basic Multilingual Plane: first and last character, and whether the
/// range is accepted.
struct Letters(Vec<(char, char, bool)>);

fn plane() -> impl Iterator<Item = char> {
    '\0'..='\u{ffff}'
}

impl Letters {
    /// Calls `accepts` with the index of each character in the plane, and the character.
    fn new(mut accepts: impl FnMut(usize, char) -> bool) -> Self {
        let mut ranges: Vec<(char, char, bool)> = Vec::new();
        for (at, letter) in plane().enumerate() {
            let is_accepted = accepts(at, letter);
            match ranges.last_mut() {
                Some((_, last, same)) if *same == is_accepted => *last = letter,
                _ => ranges.push((letter, letter, is_accepted)),
            }
        }
        Self(ranges)
    }

    /// Formats the accepted characters as a character class.
    fn class(&self) -> String {
        // Assume that the service treats characters of other planes like the last character of this
        // plane.
        let includes_other_planes = self.0.last().is_some_and(|(_, _, taken)| *taken);
        let listed = self.0.iter().filter(|(_, _, taken)| *taken != includes_other_planes);
        let ranges = listed.map(|(first, last, _)| match (first, last) {
            (first, last) if first == last => escaped(*first),
            (first, last) => format!("{}-{}", escaped(*first), escaped(*last)),
        });
        format!("[{}{}]", if includes_other_planes { "^" } else { "" }, ranges.collect::<String>())
    }
}

fn escaped(letter: char) -> String {
    match letter {
        '-' => "\\-".into(),
        ',' | '0'..='9' | 'a'..='z' | 'A'..='Z' => letter.into(),
        _ => format!("\\u{:04X}", u32::from(letter)),
    }
}
