//! What the fields of a connection may hold. Each rule gives none for a good value, else what a good one is like, as the
//! end of a sentence that begins with the field's name.

use crate::catalog::key::platform;

/// Most tags of a connection.
pub const MAX_TAGS: usize = 50;

/// A text without `also` and without control characters, of 1 to `max` characters.
fn is_plain(text: &str, max: usize, also: &[char]) -> bool {
    let length = text.chars().take(max.saturating_add(1)).count();
    (1..=max).contains(&length)
        && !text.chars().any(|character| character.is_control() || also.contains(&character))
}

/// An identity.
#[must_use]
pub fn identity(text: &str) -> Option<&'static str> {
    let good = is_plain(text, 256, &[',']);
    (!good).then_some("must have 1 to 256 characters, no comma and no control character")
}

/// A name.
#[must_use]
pub fn name(text: &str) -> Option<&'static str> {
    let good = is_plain(text, 128, &[]);
    (!good).then_some("must be null or have 1 to 128 characters and no control character")
}

/// A tag.
#[must_use]
pub fn tag(text: &str) -> Option<&'static str> {
    let good = is_plain(text, 128, &[','])
        && !text.chars().next().is_some_and(char::is_whitespace)
        && !text.chars().next_back().is_some_and(char::is_whitespace);
    (!good).then_some(
        "must have 1 to 128 characters, no comma, no control character and no white space at either end",
    )
}

/// A label: what a platform may be as well.
#[must_use]
pub fn label(text: &str) -> Option<&'static str> {
    platform(text)
}

#[cfg(test)]
mod tests {
    type Rule = fn(&str) -> Option<&'static str>;

    #[test]
    fn each_rule_takes_and_refuses() {
        let x = |count: usize| "x".repeat(count);
        let cases: [(Rule, Vec<String>, Vec<String>); 4] = [
            (
                super::identity,
                vec!["a".into(), " a ".into(), "a::b".into(), "ü%_*\"'\\".into(), "é".repeat(256)],
                vec![String::new(), "a,b".into(), "a\nb".into(), "a\u{85}".into(), x(257)],
            ),
            (
                super::name,
                vec!["Ann, Bob".into(), "名前".into(), "é".repeat(128)],
                vec![String::new(), "a\0".into(), x(129)],
            ),
            (
                super::tag,
                vec!["a b".into(), "🦀".repeat(128), "::".into()],
                vec![
                    String::new(),
                    " a".into(),
                    "a\u{a0}".into(),
                    "a,b".into(),
                    "\t".into(),
                    x(129),
                ],
            ),
            (
                super::label,
                vec!["default".into(), "a-1".into(), x(64)],
                vec![String::new(), "A".into(), "a_b".into(), "a::b".into(), "é".into(), x(65)],
            ),
        ];
        for (rule, good, bad) in cases {
            for text in good {
                assert_eq!(rule(&text), None, "{text}");
            }
            for text in bad {
                assert!(rule(&text).is_some(), "{text}");
            }
        }
    }
}
