//! Display names of clients on pages and in lists. Clients choose their own names, which must not
//! be able to imitate the surrounding text.

use crate::util::invisible::visible;

/// The maximum length of a client's name, in characters.
pub const MAX_NAME: usize = 60;

/// Whether a character could make a name look like text of the page, because it starts a new line
/// or closes the quotation in one of the page's languages. These are control characters, the
/// characters with the Unicode property `Quotation_Mark` except apostrophes, and their lookalikes:
/// primes, accents, ornaments, and Hebrew, Japanese and modifier marks.
fn breaks_quotation(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '"' | '`' | '«' | '»' | '\u{a8}' | '\u{b4}' | '\u{2b5}'..='\u{2bb}' | '\u{2bd}'..='\u{2bf}' | '\u{2ca}' | '\u{2cb}'
            | '\u{2dd}' | '\u{2ee}' | '\u{2f4}'..='\u{2f6}' | '\u{5f3}' | '\u{5f4}' | '\u{201a}'..='\u{201f}' | '\u{2018}'
            | '\u{2028}' | '\u{2029}' | '\u{2032}'..='\u{203a}' | '\u{2057}' | '\u{275b}'..='\u{2760}' | '\u{276e}' | '\u{276f}'
            | '\u{2e42}' | '\u{3003}' | '\u{300c}'..='\u{300f}' | '\u{301d}'..='\u{301f}' | '\u{fe41}'..='\u{fe44}'
            | '\u{ff02}' | '\u{ff40}' | '\u{ff62}' | '\u{ff63}' | '\u{1f676}'..='\u{1f678}')
}

const fn is_apostrophe(letter: char) -> bool {
    matches!(letter, '\'' | '\u{2bc}' | '\u{2019}' | '\u{ff07}')
}

/// Removes invisible characters and quotation marks from a name. An apostrophe is kept only between
/// two letters, because two apostrophes look like a quotation mark.
pub fn display_name(name: &str) -> String {
    let mut displayed = String::new();
    let mut letters = visible(name).filter(|letter| !breaks_quotation(*letter)).peekable();
    while let Some(letter) = letters.next() {
        let is_between = displayed.ends_with(char::is_alphanumeric)
            && letters.peek().is_some_and(|next| next.is_alphanumeric());
        if !is_apostrophe(letter) || is_between {
            displayed.push(letter);
        }
    }
    let displayed: String = displayed.trim().chars().take(MAX_NAME).collect();
    displayed
        .trim_end_matches(|letter: char| is_apostrophe(letter) || letter.is_whitespace())
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::display_name;

    #[test]
    fn a_displayed_name_has_no_quotation_marks() {
        for (name, displayed) in [
            ("Claude\" (this name is verified) \"", "Claude (this name is verified)"),
            ("Claude\u{275e} ok \u{275d}", "Claude ok"),
            ("Claude\u{ff02} ok \u{ff02}", "Claude ok"),
            ("Claude\u{2033} ok \u{2033}", "Claude ok"),
            ("Claude’’ ok ’’", "Claude ok"),
            ("Claude'' ok", "Claude ok"),
            ("Claude〞 ok 〟", "Claude ok"),
            ("«„“App”»", "App"),
            ("Bob’s agent 'n co", "Bob’s agent n co"),
            ("l'app d’Ann", "l'app d’Ann"),
            ("''", ""),
        ] {
            assert_eq!(display_name(name), displayed, "{name}");
        }
    }
}
