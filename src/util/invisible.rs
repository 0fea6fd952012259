//! Invisible characters, which can make different strings look alike. The vault rejects them; the
//! importer removes them.

/// The visible characters of a string. Keeps joiners and variation selectors where they change the
/// appearance.
pub fn visible(text: &str) -> impl Iterator<Item = char> {
    let mut before = char::default();
    let mut letters = text.chars().peekable();
    std::iter::from_fn(move || {
        loop {
            let letter = letters.next()?;
            let is_visible = match letter {
                ZERO_WIDTH_JOINER | ZERO_WIDTH_NON_JOINER => {
                    joins(letter, (before, letters.peek().copied().unwrap_or_default()))
                }
                TEXT_STYLE | EMOJI_STYLE => is_pictograph(before) || is_keycap(before),
                _ => !is_invisible(letter),
            };
            if is_visible {
                before = letter;
                return Some(letter);
            }
        }
    })
}

const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const ZERO_WIDTH_JOINER: char = '\u{200d}';
const TEXT_STYLE: char = '\u{fe0e}';
const EMOJI_STYLE: char = '\u{fe0f}';

/// Whether a joiner between these two characters changes their appearance. A joiner combines emoji;
/// between letters of the scripts from Arabic to Mongolian, it selects their forms, which Persian
/// needs.
fn joins(joiner: char, (before, after): (char, char)) -> bool {
    let is_emoji = |letter| is_pictograph(letter) || letter == EMOJI_STYLE;
    let has_forms = |letter| matches!(letter, '\u{600}'..='\u{109f}' | '\u{1780}'..='\u{18af}');
    (joiner == ZERO_WIDTH_JOINER && is_emoji(before) && is_pictograph(after))
        || (has_forms(before) && has_forms(after))
}

/// Whether a character may be an emoji: symbols, dingbats and pictographs.
fn is_pictograph(letter: char) -> bool {
    matches!(letter,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{27bf}' | '\u{2900}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1fbff}')
}

/// Whether a character can be part of a keycap emoji.
fn is_keycap(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, '#' | '*')
}

/// Unicode's default-ignorable characters, including those that change the writing direction,
/// annotation characters, and a blank that Unicode classifies as a symbol.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn removes_invisible_characters() {
        for (text, shown) in [
            ("so\u{ad}ft \u{202e}evil\u{200b}", "soft evil"),
            ("a\u{200d}b", "ab"),
            ("a\u{fe0f} ⚠\u{fe0f}\u{fe0f}", "a ⚠\u{fe0f}"),
            ("👩\u{200d}👧\u{200d}", "👩\u{200d}👧"),
            ("علی\u{200c}رضا", "علی\u{200c}رضا"),
        ] {
            assert_eq!(visible(text).collect::<String>(), shown, "{text:?}");
        }
    }
}
