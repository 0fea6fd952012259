//! Matches strings with ECMAScript patterns from catalog documents, within a budget of steps.
//!
//! The runtime's regular expression engine backtracks: `^(a|a|a|aa)+$` takes 45 seconds for a
//! string of 20 letters. So it is used only if the estimated cost is within the budget. Otherwise
//! `regex-lite` is used, which takes linear time.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use regex_lite::{Regex, RegexBuilder};

use crate::ports::Patterns;

/// The budget of a [`Matcher`] in steps of the runtime's engine. They take less than 0.1 s.
const BUDGET: u64 = 4_000_000;
/// The maximum cost of a match with the runtime's engine. For higher costs, `regex-lite` is
/// preferred.
const MAX_BACKTRACKING: u64 = 20_000;
/// The cost of a `regex-lite` step, in steps of the runtime's engine.
const LINEAR_STEP: u64 = 8;
/// The maximum size of a compiled pattern, in bytes.
const MAX_COMPILED: usize = 256 * 1024;

/// Matches strings until the budget is exhausted.
pub struct Matcher<'p, P> {
    patterns: &'p P,
    remaining: Cell<u64>,
    compiled: RefCell<BTreeMap<String, Option<Regex>>>,
}

impl<'p, P: Patterns> Matcher<'p, P> {
    pub const fn new(patterns: &'p P) -> Self {
        let compiled = RefCell::new(BTreeMap::new());
        Self { patterns, remaining: Cell::new(BUDGET), compiled }
    }

    /// Whether the whole string matches. Returns `None` if the budget is too small to decide.
    pub fn is_match(&self, pattern: &str, text: &str) -> Option<bool> {
        self.decide(pattern, text, true)
    }

    /// Whether any part of the string matches. Returns `None` if the budget is too small to decide.
    pub fn contains_match(&self, pattern: &str, text: &str) -> Option<bool> {
        self.decide(pattern, text, false)
    }

    fn decide(&self, pattern: &str, text: &str, is_whole: bool) -> Option<bool> {
        let cost = Cost::new(pattern, text.len());
        if cost.backtracking > MAX_BACKTRACKING
            && has_same_meaning(pattern, text)
            && self.can_spend(cost.linear)
            && let Some(is_match) = self.is_match_linear(pattern, text, is_whole)
        {
            self.spend(cost.linear);
            return Some(is_match);
        }
        self.can_spend(cost.backtracking).then(|| {
            self.spend(cost.backtracking);
            if is_whole {
                return self.patterns.is_match(pattern, text);
            }
            // The port matches only whole strings.
            self.patterns.is_match(&format!("[\\s\\S]*(?:{pattern})[\\s\\S]*"), text)
        })
    }

    const fn can_spend(&self, cost: u64) -> bool {
        cost <= self.remaining.get()
    }

    fn spend(&self, cost: u64) {
        self.remaining.set(self.remaining.get().saturating_sub(cost));
    }

    /// Returns `None` for syntax that `regex-lite` does not support, such as `(?=a)` and `\p{L}`.
    fn is_match_linear(&self, pattern: &str, text: &str, is_whole: bool) -> Option<bool> {
        let mut compiled = self.compiled.borrow_mut();
        let pattern = if is_whole { &format!("^(?:{pattern})$") } else { pattern };
        if !compiled.contains_key(pattern) {
            // With `crlf`, `.` does not match carriage returns, as in ECMAScript.
            let regex = RegexBuilder::new(pattern).crlf(true).size_limit(MAX_COMPILED).build();
            compiled.insert(pattern.to_owned(), regex.ok());
        }
        compiled.get(pattern)?.as_ref().map(|regex| regex.is_match(text))
    }
}

/// Whether `regex-lite` interprets the pattern's character classes in the same way for this string.
/// Its `\s` matches only ASCII white space.
fn has_same_meaning(pattern: &str, text: &str) -> bool {
    text.is_ascii() || !(pattern.contains("\\s") || pattern.contains("\\S"))
}

/// Upper bounds for the number of steps that matching a string takes.
#[derive(Debug, PartialEq, Eq)]
struct Cost {
    backtracking: u64,
    linear: u64,
}

/// A group whose closing parenthesis has not been read yet.
#[derive(Default)]
struct Group {
    /// The number of ways in which the completed alternatives can match.
    other_ways: u64,
    /// The number of ways in which the current alternative can match, without its last part.
    ways: u64,
    /// The number of characters and classes in the group's automaton, without the last part.
    size: u64,
    /// The last part, to which a following quantifier applies.
    last: Part,
}

#[derive(Clone, Copy)]
struct Part {
    ways: u64,
    size: u64,
}

impl Default for Part {
    /// A part that matches the empty string, in one way.
    fn default() -> Self {
        Self { ways: 1, size: 0 }
    }
}

impl Group {
    fn new() -> Self {
        Self { ways: 1, ..Self::default() }
    }

    fn add(&mut self, part: Part) {
        let last = std::mem::replace(&mut self.last, part);
        self.ways = self.ways.saturating_mul(last.ways);
        self.size = self.size.saturating_add(last.size);
    }

    fn end_alternative(&mut self) {
        self.add(Part::default());
        self.other_ways = self.other_ways.saturating_add(self.ways);
        self.ways = 1;
    }

    fn end(mut self) -> Part {
        self.end_alternative();
        Part { ways: self.other_ways, size: self.size }
    }

    /// Applies a quantifier to the last part.
    fn repeat(&mut self, min: u64, max: Option<u64>, length: u64) {
        let last = &mut self.last;
        if max.is_some_and(|max| max <= 1) {
            last.ways = last.ways.saturating_add(u64::from(min == 0));
            return;
        }
        last.ways = match max {
            // Each repetition multiplies the number of ways.
            _ if last.ways > 1 => u64::MAX,
            Some(max) => max.saturating_sub(min).min(length).saturating_add(1),
            None => length.saturating_add(1),
        };
        last.size = last.size.saturating_mul(max.unwrap_or(min).max(1));
    }
}

impl Cost {
    /// Estimates the cost of matching a string with `length` bytes.
    fn new(pattern: &str, length: usize) -> Self {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        let mut letters = pattern.chars().peekable();
        let mut groups = Vec::new();
        let mut group = Group::new();
        while let Some(letter) = letters.next() {
            match letter {
                '(' => {
                    // Skips the `?` of groups such as `(?:`.
                    letters.next_if_eq(&'?');
                    groups.push(std::mem::replace(&mut group, Group::new()));
                }
                ')' => {
                    let outer = groups.pop().unwrap_or_else(Group::new);
                    let part = std::mem::replace(&mut group, outer).end();
                    group.add(part);
                }
                '|' => group.end_alternative(),
                '?' => group.repeat(0, Some(1), length),
                '*' => group.repeat(0, None, length),
                '+' => group.repeat(1, None, length),
                '{' => {
                    let count: String =
                        letters.by_ref().take_while(|letter| *letter != '}').collect();
                    let (min, max) = count.split_once(',').unwrap_or((&count, &count));
                    group.repeat(min.parse().unwrap_or(0), max.parse().ok(), length);
                }
                _ => {
                    match letter {
                        '\\' => {
                            // `\p{L}` and `\u{1F600}` match a single character.
                            let escaped = letters.next();
                            if matches!(escaped, Some('p' | 'P' | 'u'))
                                && letters.next_if_eq(&'{').is_some()
                            {
                                letters.by_ref().take_while(|letter| *letter != '}').for_each(drop);
                            }
                        }
                        '[' => skip_class(&mut letters),
                        _ => {}
                    }
                    group.add(Part { ways: 1, size: 1 });
                }
            }
        }
        let Part { ways, size } = group.end();
        // A match may start at any position of the string.
        let starts = length.saturating_add(1);
        Self {
            backtracking: starts.saturating_mul(ways),
            linear: starts.saturating_mul(size.saturating_add(8)).saturating_mul(LINEAR_STEP),
        }
    }
}

/// Skips the rest of a character class, including nested classes.
fn skip_class(letters: &mut impl Iterator<Item = char>) {
    let mut depth: usize = 1;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '[' => depth = depth.saturating_add(1),
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{BUDGET, Cost, Matcher};
    use crate::ports::Patterns;

    /// Counts the strings to match. Matches none of them.
    #[derive(Default)]
    struct Counting(Cell<u32>);

    impl Patterns for Counting {
        fn is_match(&self, _: &str, _: &str) -> bool {
            self.0.update(|count| count.saturating_add(1));
            false
        }
    }

    #[test]
    fn the_cost_of_backtracking_is_the_number_of_ways_to_match() {
        for (pattern, expected) in [
            ("^abc$", Some(1)),
            ("^[a-z]+$", Some(10)),
            ("^[a-z]{1,4}$", Some(4)),
            ("^[a-z]{1,64}$", Some(10)),
            ("^(abc)+$", Some(10)),
            ("^(?:[a-z]\\d){3}$", Some(1)),
            ("^(?<name>x)*$", Some(10)),
            ("[(a+)+]*", Some(10)),
            ("^[\\](a+)+]$", Some(1)),
            ("^[[a](b+)+]$", Some(1)),
            ("\\(a+\\)+", Some(100)),
            ("^[a-z]+-[a-z]+$", Some(100)),
            ("^a+@b+\\.c+$", Some(1000)),
            ("^(a+)?$", Some(11)),
            ("^(a+){1}$", Some(10)),
            ("^a{3}b{3}$", Some(1)),
            ("^a{2,}b+$", Some(100)),
            ("^(a+){0,1}b+$", Some(110)),
            ("^(?:a|b+|c)d*$", Some(120)),
            ("a?a?a?a?", Some(16)),
            ("^\\p{L}+\\u{1F600}$", Some(10)),
            ("^(a+)+$", None),
            ("^(a*)*$", None),
            ("^(a|aa)+$", None),
            ("^(a?){30}$", None),
            ("^([a-z]+\\.?){2,}$", None),
            ("^(?:(a+))+$", None),
            ("^(https?:.*/)*x$", None),
        ] {
            let expected = expected.map_or(u64::MAX, |ways| ways * 10);
            assert_eq!(Cost::new(pattern, 9).backtracking, expected, "{pattern}");
        }
        // Invalid patterns must have a cost, too.
        for pattern in ["(", ")", "[", "{", "\\", "*", "a{", "(?", "((((", "))))+", ""] {
            assert!(Cost::new(pattern, 9).linear > 0, "{pattern}");
        }
    }

    #[test]
    fn decides_ambiguous_patterns_without_backtracking() {
        let patterns = Counting::default();
        let matcher = Matcher::new(&patterns);
        let name = "^(?:[a-z0-9]+(?:[._-][a-z0-9]+)*/)*[a-z0-9]+(?:[._-][a-z0-9]+)*$";
        let good = "library/base.".repeat(50) + "a";
        for (pattern, text, expected) in [
            (name, good.as_str(), true),
            (name, &format!("{good}!"), false),
            ("^(a|a|a|aa)+$", &"a".repeat(1000), true),
            ("^(a?){30}$", &"a".repeat(31), false),
            ("(a+)+b", &format!("{}b and more", "a".repeat(500)), true),
            ("^(.+)+$", &format!("{}\r", "a".repeat(500)), false),
            ("^(\\s*a)*$", &" a".repeat(500), true),
        ] {
            assert_eq!(matcher.contains_match(pattern, text), Some(expected), "{pattern}");
        }
        assert_eq!(matcher.is_match("(a+)+", &"a".repeat(500)), Some(true));
        assert_eq!(matcher.is_match("(a+)+", &format!("{}b", "a".repeat(500))), Some(false));
        assert_eq!(patterns.0.get(), 0);
    }

    #[test]
    fn runtime_decides_unsupported_patterns_within_the_budget() {
        let patterns = Counting::default();
        let matcher = Matcher::new(&patterns);
        for (pattern, text, expected) in [
            ("^(?=a)[a-z]*$", "abc".to_owned(), Some(false)),
            ("^\\p{L}+$", "a".repeat(1000), Some(false)),
            ("^\\s+$", "\u{a0}".repeat(500), Some(false)),
            ("^(?=a)(a+)+$", "a".to_owned(), None),
            ("^(\\s*\u{a0})*$", "\u{a0}".to_owned(), None),
            ("^\\p{L}+\\p{N}+$", "a".repeat(1000), None),
        ] {
            assert_eq!(matcher.contains_match(pattern, &text), expected, "{pattern}");
        }
        assert_eq!(patterns.0.get(), 3);
    }

    #[test]
    fn stops_when_the_budget_is_exhausted() {
        let patterns = Counting::default();
        let matcher = Matcher::new(&patterns);
        let text = "a".repeat(99);
        let affordable = BUDGET / Cost::new("^(a+)+$", text.len()).linear;
        for index in 1..=affordable {
            assert_eq!(matcher.contains_match("^(a+)+$", &text), Some(true), "{index}");
        }
        assert_eq!(matcher.contains_match("^(a+)+$", &text), None);
        assert_eq!(matcher.contains_match("^a$", "a"), Some(false));
    }
}
