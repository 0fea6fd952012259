//! Rules for the strings of a connection. Each rule returns `None` for a valid value, otherwise the
//! error, as the end of a sentence that begins with the field's name.
//!
//! Different strings must not look alike: identities are looked up, tags are shown as chips, and
//! names are listed side by side. So strings must be in normalization form C, without white space
//! at the ends, invisible characters, or characters that change the writing direction. Values that
//! were stored before these rules can still be read.

use crate::catalog::key::platform;
use crate::util::invisible::visible;
use crate::util::nfc::is_nfc;

pub const DEFAULT_LABEL: &str = "default";

/// The maximum number of tags of a connection.
pub const MAX_TAGS: usize = 50;

/// The maximum length of a tag, in characters.
pub const MAX_TAG_LENGTH: usize = 128;
/// The maximum length of an identity, in characters.
pub const MAX_IDENTITY: usize = 256;
/// The maximum length of a name, in characters.
pub const MAX_NAME: usize = 128;
/// The maximum length of a reason, in characters.
pub const MAX_REASON: usize = 256;

/// Checks an identity.
pub fn identity(text: &str) -> Option<&'static str> {
    let is_valid = is_plain(text, MAX_IDENTITY, &[',']);
    (!is_valid)
        .then_some("must have 1 to 256 characters, no comma and no control character")
        .or_else(|| confusable_reason(text))
}

/// Whether an identity can be stored. Identities stored before the rules about look-alike strings
/// may violate them.
pub fn is_storable_identity(identity: &str) -> bool {
    is_plain(identity, MAX_IDENTITY, &[','])
}

/// Checks a display name.
pub fn name(text: &str) -> Option<&'static str> {
    let is_valid = is_plain(text, MAX_NAME, &[]);
    (!is_valid)
        .then_some("must be null or have 1 to 128 characters and no control character")
        .or_else(|| confusable_reason(text))
}

/// Checks the reason of a state.
pub fn reason(text: &str) -> Option<&'static str> {
    let is_valid = is_plain(text, MAX_REASON, &[]);
    (!is_valid)
        .then_some("must have 1 to 256 characters and no control character")
        .or_else(|| confusable_reason(text))
}

/// Checks a tag.
pub fn tag(text: &str) -> Option<&'static str> {
    let is_valid = is_plain(text, MAX_TAG_LENGTH, &[',']);
    (!is_valid)
        .then_some("must have 1 to 128 characters, no comma and no control character")
        .or_else(|| confusable_reason(text))
}

/// Whether a string has 1 to `max` characters, none of them a control character or one of `excluded`.
fn is_plain(text: &str, max: usize, excluded: &[char]) -> bool {
    let length = text.chars().take(max.saturating_add(1)).count();
    (1..=max).contains(&length)
        && !text.chars().any(|character| character.is_control() || excluded.contains(&character))
}

/// Returns why a string might be mistaken for another string, or might look empty.
fn confusable_reason(text: &str) -> Option<&'static str> {
    if text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace) {
        return Some("must not begin or end with white space");
    }
    if !visible(text).eq(text.chars()) {
        return Some(
            "must not contain invisible characters or characters that change the writing direction",
        );
    }
    (!is_nfc(text)).then_some("must be in Unicode's normalization form C (NFC)")
}

/// Checks a label, by the rule for platforms.
pub fn label(text: &str) -> Option<&'static str> {
    platform(text)
}

#[cfg(test)]
mod tests {
    type Rule = fn(&str) -> Option<&'static str>;

    #[test]
    fn stored_identities_may_look_alike() {
        for (identity, may_be) in
            [("ann", true), (" ann ", true), ("a\u{a0}", true), ("", false), ("a,b", false)]
        {
            assert_eq!(super::is_storable_identity(identity), may_be, "{identity:?}");
        }
        assert!(super::is_storable_identity(&"é".repeat(256)));
        assert!(!super::is_storable_identity(&"é".repeat(257)));
    }

    #[test]
    fn validates_strings_of_connections() {
        let x = |count: usize| "x".repeat(count);
        let cases: [(Rule, Vec<String>, Vec<String>); 4] = [
            (
                super::identity,
                vec!["a".into(), "a b".into(), "a::b".into(), "ü%_*\"'\\".into(), "é".repeat(256)],
                vec![
                    String::new(),
                    " ".into(),
                    "a,b".into(),
                    "a\nb".into(),
                    "a\u{85}".into(),
                    x(257),
                ],
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
    #[test]
    fn strings_must_not_look_alike() {
        let rules: [Rule; 4] = [super::identity, super::name, super::reason, super::tag];
        for text in [
            "a b",
            "a\u{a0}b",
            "é",
            "x\u{301}",
            "日本",
            "한국",
            "Ω",
            "‐",
            "u\u{2028}v",
            "\u{10ffff}",
            // Emoji sequences, keycaps, and Persian, which needs joiners.
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}",
            "☺\u{fe0e}",
            "🏳\u{fe0f}\u{200d}🌈",
            "1\u{fe0f}\u{20e3}",
            "👍🏽",
            "🇩🇪",
            "علی\u{200c}رضا",
            "क्\u{200d}ष",
            "©\u{fe0f}",
        ] {
            for rule in rules {
                assert_eq!(rule(text), None, "{text:?}");
            }
        }
        let nfc = "must be in Unicode's normalization form C (NFC)";
        let ends = "must not begin or end with white space";
        let invisible =
            "must not contain invisible characters or characters that change the writing direction";
        for (text, expected) in [
            ("e\u{301}", nfc),
            ("\u{212b}", nfc),
            ("\u{1112}\u{1161}", nfc),
            (" ", ends),
            ("\u{3000}", ends),
            (" a", ends),
            ("a ", ends),
            ("a\u{a0}", ends),
            ("\u{2003}a", ends),
            ("\u{2028}a", ends),
            ("\u{202e}evil", invisible),
            ("a\u{202a}b", invisible),
            ("\u{2066}a\u{2069}", invisible),
            ("a\u{200e}", invisible),
            ("\u{200b}", invisible),
            ("a\u{200b}b", invisible),
            ("\u{feff}a", invisible),
            ("a\u{2060}b", invisible),
            ("so\u{ad}ft", invisible),
            ("\u{3164}", invisible),
            ("\u{2800}", invisible),
            ("a\u{34f}b", invisible),
            ("\u{200d}", invisible),
            ("a\u{200d}b", invisible),
            ("a\u{200c}b", invisible),
            ("👩\u{200d}", invisible),
            ("\u{200d}👩", invisible),
            ("👩\u{200d}\u{200d}👧", invisible),
            ("👩\u{200c}👧", invisible),
            ("علی\u{200c}", invisible),
            ("\u{fe0f}", invisible),
            ("a\u{fe0f}", invisible),
            ("❤\u{fe0f}\u{fe0f}", invisible),
            ("葛\u{e0100}", invisible),
            ("🏴\u{e0067}\u{e007f}", invisible),
        ] {
            for rule in rules {
                assert_eq!(rule(text), Some(expected), "{text:?}");
            }
        }
    }
}
