//! Patterns of the catalog's documents, which nobody has written with hostile inputs in mind: the engine that matches them
//! tries all ways in which a text may match, and for some patterns and texts there are more than can be tried.

use crate::ports::Patterns;

/// The longest text, in bytes, that is matched with a pattern in which a repeated group can match in several ways: each
/// letter may double the work.
const NESTED: usize = 20;
/// The longest texts, in bytes, for patterns with no more than one, with two, and with more parts of any length: each such
/// part multiplies the work by the length.
const FLAT: [usize; 3] = [3000, 300, 100];

/// Whether some part of a text matches a pattern. Returns `true` for a text so long that finding out might take too long.
pub fn is_match(patterns: &impl Patterns, pattern: &str, text: &str) -> bool {
    // The port wants the whole text to match.
    text.len() > longest(pattern)
        || patterns.is_match(&format!("[\\s\\S]*(?:{pattern})[\\s\\S]*"), text)
}

/// The longest text that a pattern is matched with.
fn longest(pattern: &str) -> usize {
    let mut letters = pattern.chars().peekable();
    // Whether each open group can match in several ways.
    let mut groups = vec![false];
    let (mut after_varied, mut unbounded) = (false, 0_usize);
    while let Some(letter) = letters.next() {
        let mut varies = false;
        let mut is_varied = false;
        match letter {
            '\\' => drop(letters.next()),
            '[' => skip_class(&mut letters),
            '(' => {
                // `(?:` and the like.
                letters.next_if_eq(&'?');
                groups.push(false);
            }
            ')' => {
                is_varied = groups.pop().unwrap_or_default();
                varies = is_varied;
            }
            '|' | '?' => varies = true,
            '*' | '+' | '{' => {
                let count: String = match letter {
                    '{' => letters.by_ref().take_while(|letter| *letter != '}').collect(),
                    _ => ",".to_owned(),
                };
                let repeats = !matches!(count.as_str(), "0" | "1" | "0,1");
                if after_varied && repeats {
                    return NESTED;
                }
                varies = count.contains(',');
                unbounded = unbounded.saturating_add(usize::from(varies));
            }
            _ => {}
        }
        after_varied = is_varied;
        if let Some(group) = groups.last_mut() {
            *group |= varies;
        }
    }
    let [one, two, more] = FLAT;
    match unbounded {
        0 | 1 => one,
        2 => two,
        _ => more,
    }
}

/// Skips the rest of a class of characters, and the classes in it.
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
    use super::{FLAT, NESTED, is_match, longest};
    use crate::ports::Patterns;

    #[test]
    fn patterns_that_can_take_for_ever_are_told() {
        let [one, two, more] = FLAT;
        for (pattern, expected) in [
            ("^abc$", one),
            ("^[a-z]+$", one),
            ("^[a-z]{1,64}$", one),
            ("^(abc)+$", one),
            ("^(?:[a-z]\\d){3}$", one),
            ("^(?<name>x)*$", one),
            ("[(a+)+]*", one),
            ("^[\\](a+)+]$", one),
            ("^[[a](b+)+]$", one),
            ("\\(a+\\)+", two),
            ("^[a-z]+-[a-z]+$", two),
            ("^a+@b+\\.c+$", more),
            ("^(a+)?$", one),
            ("^(a+){1}$", one),
            ("^a{3}b{3}$", one),
            ("^a{2,}b+$", two),
            ("^(a+){0,1}b+$", more),
            ("^(a+)+$", NESTED),
            ("^(a*)*$", NESTED),
            ("^(a|aa)+$", NESTED),
            ("^(a?){30}$", NESTED),
            ("^([a-z]+\\.?){2,}$", NESTED),
            ("^(?:(a+))+$", NESTED),
            ("^(https?:.*/)*x$", NESTED),
        ] {
            assert_eq!(longest(pattern), expected, "{pattern}");
        }
        // What is no pattern restricts nothing, and breaks nothing.
        for pattern in ["(", ")", "[", "{", "\\", "*", "a{", "(?", "((((", "))))+", ""] {
            assert!(longest(pattern) >= NESTED, "{pattern}");
        }
    }

    struct Never;

    impl Patterns for Never {
        fn is_match(&self, _: &str, _: &str) -> bool {
            false
        }
    }

    #[test]
    fn longer_texts_are_left_to_the_platform() {
        for (length, expected) in [(20, false), (21, true)] {
            assert_eq!(is_match(&Never, "^(a+)+$", &"a".repeat(length)), expected);
        }
    }
}
