//! The id and the name of a connected account. Both come from the platform and are untrusted.

use serde_json::Value;

use crate::util::invisible::visible;

/// The maximum length of an id, in bytes.
const MAX_ACCOUNT_ID_BYTES: usize = 255;
/// The maximum length of a name, in characters. Longer names are truncated.
const MAX_NAME: usize = 200;

/// Whether an account id can be stored and displayed.
pub fn is_valid_account_id(text: &str) -> bool {
    (1..=MAX_ACCOUNT_ID_BYTES).contains(&text.len())
        && !text.contains(char::is_control)
        && visible(text).eq(text.chars())
}

/// Normalizes a name to a single line without invisible characters and changes of the writing
/// direction.
pub fn name(text: &str) -> Option<String> {
    let plain: String =
        visible(text).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let name: String = words.join(" ").chars().take(MAX_NAME).collect();
    let name = name.trim_end();
    (!name.is_empty()).then(|| name.to_owned())
}

/// The account's name in the claims of an ID token. Prefers the claim that best distinguishes two
/// accounts of a person (`OpenID` Connect Core, 5.1).
pub fn name_from_claims(claims: &Value) -> Option<String> {
    let claim = |claim: &str| claims.get(claim).and_then(Value::as_str).and_then(name);
    ["email", "preferred_username", "name"].into_iter().find_map(claim)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{is_valid_account_id, name, name_from_claims};

    #[test]
    fn names_are_one_visible_line() {
        for (text, expected) in [
            ("Ann", Some("Ann")),
            ("  Ann \t\r\n Lee ", Some("Ann Lee")),
            ("evil\u{202e}moc.elpmaxe", Some("evilmoc.elpmaxe")),
            ("a\u{0}b\u{7f}c", Some("a b c")),
            ("\u{200b}\u{2066}", None),
            ("", None),
            ("علی\u{200c}رضا", Some("علی\u{200c}رضا")),
        ] {
            assert_eq!(name(text).as_deref(), expected, "{text:?}");
        }
        assert_eq!(name(&"é".repeat(201)), Some("é".repeat(200)));
        assert_eq!(name(&format!("{} b", "a".repeat(199))), Some("a".repeat(199)));
    }

    #[test]
    fn ids_are_short_and_visible() {
        for (text, expected) in
            [("7", true), ("a|b c", true), ("", false), ("a\nb", false), ("a\u{202e}b", false)]
        {
            assert_eq!(is_valid_account_id(text), expected, "{text:?}");
        }
        assert!(is_valid_account_id(&"a".repeat(255)) && !is_valid_account_id(&"a".repeat(256)));
    }

    #[test]
    fn prefers_most_distinguishing_claim() {
        for (claims, expected) in [
            (json!({"name": "Ann", "email": "ann@acme.example"}), Some("ann@acme.example")),
            (json!({"name": "Ann", "preferred_username": "ann"}), Some("ann")),
            (json!({"name": "Ann", "email": ""}), Some("Ann")),
            (json!({"name": 7}), None),
        ] {
            assert_eq!(name_from_claims(&claims).as_deref(), expected, "{claims}");
        }
    }
}
