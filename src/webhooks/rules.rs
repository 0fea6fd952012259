//! Validation of the fields of webhooks. Each function returns `None` for a valid value, otherwise
//! the fault, as the end of a sentence that begins with the field's name.

use crate::events::EventId;

/// The maximum length of a URL, in characters.
pub const MAX_URL: usize = 2048;
/// The maximum length of a description, in characters.
pub const MAX_DESCRIPTION: usize = 200;
/// The maximum number of webhooks per environment of an account.
pub const MAX_WEBHOOKS: u64 = 20;

/// Checks the length and the characters of a URL. Whether the service may send requests to it is
/// checked separately.
pub fn url(text: &str) -> Option<&'static str> {
    let is_valid =
        (1..=MAX_URL).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    (!is_valid).then_some("must be a URL of 1 to 2048 visible ASCII characters")
}

pub fn description(text: &str) -> Option<&'static str> {
    let is_valid = !text.is_empty()
        && text.chars().count() <= MAX_DESCRIPTION
        && !text.chars().any(char::is_control);
    (!is_valid).then_some("must be null or have 1 to 200 characters and no control character")
}

pub fn event(text: &str) -> Option<&'static str> {
    EventId::parse(text).is_none().then_some("must be the id of an event: `evt_` and 13 digits")
}

#[cfg(test)]
mod tests {
    use super::{MAX_DESCRIPTION, MAX_URL, description, url};

    #[test]
    fn limits_length_and_characters_of_fields() {
        let longest = "é".repeat(MAX_DESCRIPTION);
        for text in ["d", "two words", longest.as_str()] {
            assert_eq!(description(text), None, "{text}");
        }
        let longer = format!("{longest}x");
        for text in ["", "two\nlines", "\u{7f}", longer.as_str()] {
            assert!(description(text).is_some(), "{text:?}");
        }
        let longest = "u".repeat(MAX_URL);
        for text in ["u", "https://app.example/in?a=~!", longest.as_str()] {
            assert_eq!(url(text), None, "{text}");
        }
        let longer = format!("{longest}u");
        for text in ["", "https://app.example/a b", "https://é.example", "a\tb", longer.as_str()] {
            assert!(url(text).is_some(), "{text:?}");
        }
    }
}
