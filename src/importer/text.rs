//! Cleans and shortens lines for rows, and splits texts into words for names.

use super::markup;
use crate::util::invisible::visible;

/// The maximum length of a title, in characters. A longer title is cut between words.
pub const MAX_TITLE: usize = 200;
/// The maximum length of a name, in characters.
pub const MAX_NAME: usize = 120;
/// The maximum length of a description, in characters. A longer description is cut between words.
pub const MAX_DESCRIPTION: usize = 500;

/// The maximum number of bytes of a text that are processed, more than any row shows.
const MAX_READ: usize = 16 * 1024;

/// Converts a text with markup to one line of at most `max` characters. A longer line is cut
/// between words and ends with `…`.
pub fn line(text: &str, max: usize) -> String {
    cut(&one_line(&markup::plain(head(text, MAX_READ))), max)
}

/// Converts a text to one line of at most `max` characters, including its markup.
pub fn verbatim(text: &str, max: usize) -> String {
    cut(&one_line(head(text, MAX_READ)), max)
}

/// Formats up to `max` strings and the number of others: `` `a`, `b` and 3 more ``.
pub fn format_list<'t>(texts: impl ExactSizeIterator<Item = &'t str>, max: usize) -> String {
    let more = texts.len().saturating_sub(max);
    let quoted: Vec<String> =
        texts.take(max).map(|text| format!("`{}`", verbatim(text, 100))).collect();
    let quoted = quoted.join(", ");
    if more > 0 { format!("{quoted} and {more} more") } else { quoted }
}

/// The first `max` bytes, or fewer to end at a character boundary.
pub fn head(text: &str, max: usize) -> &str {
    (0..=max.min(text.len())).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

/// Replaces runs of white space with single spaces, and drops invisible characters.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        // U+FFFD replaces an undecodable character.
        let seen = visible(word).filter(|c| *c != '\u{fffd}');
        let before = line.len();
        if !line.is_empty() {
            line.push(' ');
        }
        let start = line.len();
        line.extend(seen);
        if line.len() == start {
            line.truncate(before);
        }
    }
    line
}

/// Shortens a text to `max` characters. Cuts between words if possible, and appends `…`.
fn cut(text: &str, max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(max) else {
        return text.to_owned();
    };
    let prefix = head(text, end);
    // Leave room for the ellipsis.
    let prefix = prefix.char_indices().next_back().map_or("", |(last, _)| head(prefix, last));
    let ends_between_words = text.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(' '));
    let shortened = match prefix.rsplit_once(' ') {
        _ if ends_between_words => prefix,
        // Cut between words only if at least half of the line remains.
        Some((words, _)) if words.len() >= prefix.len() / 2 => words,
        _ => prefix,
    };
    format!("{}…", shortened.trim_end_matches([' ', ',', ';', ':', '.', '-', '–', '—', '(']))
}

/// Splits an identifier into words: at camel case, and at characters other than letters and digits.
pub fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in text.split(|c: char| !c.is_alphanumeric()) {
        let mut word = String::new();
        let mut previous = None::<char>;
        let mut rest = part.chars();
        while let Some(c) = rest.next() {
            if previous.is_some_and(|previous| starts_word(previous, c, rest.as_str())) {
                words.push(std::mem::take(&mut word));
            }
            word.push(c);
            previous = Some(c);
        }
        if !word.is_empty() {
            words.push(word);
        }
    }
    words
}

/// Whether `c`, between `previous` and `rest`, begins a word.
fn starts_word(previous: char, c: char, rest: &str) -> bool {
    if !c.is_uppercase() || (previous == 'O' && rest.starts_with("uth")) {
        return false;
    }
    let mut rest = rest.chars();
    match (rest.next(), rest.next()) {
        _ if previous.is_lowercase() || previous.is_numeric() => true,
        // The `s` is a plural ending, as in `listAPIs`, and doesn't make `Is` a word.
        (Some('s'), after) => after.is_some_and(char::is_lowercase),
        (Some(next), _) => next.is_lowercase(),
        (None, _) => false,
    }
}

/// Converts to camel case: `repos/list-for-user` → `reposListForUser`, `GetAPIKey` → `getAPIKey`,
/// `APIKey` → `apiKey`.
pub fn camel_case(text: &str) -> String {
    let mut parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let mut key = String::with_capacity(text.len());
    if let Some(first) = parts.next() {
        let mut first_words = words(first).into_iter();
        if let Some(word) = first_words.next() {
            if word.chars().nth(1).is_none_or(char::is_lowercase) {
                let mut chars = word.chars();
                key.extend(chars.next().into_iter().flat_map(char::to_lowercase));
                key.push_str(chars.as_str());
            } else {
                key.push_str(&word.to_lowercase());
            }
        }
        key.extend(first_words);
    }
    parts.for_each(|part| push_capitalized(&mut key, part));
    key
}

/// Converts to Pascal case: `pets & dogs` → `PetsDogs`. Changes only the case of first letters.
pub fn pascal_case(text: &str) -> String {
    let mut name = String::new();
    text.split(|c: char| !c.is_alphanumeric()).for_each(|part| push_capitalized(&mut name, part));
    name
}

/// Converts to title case: `developer_tools` → `Developer Tools`.
pub fn title_case(text: &str) -> String {
    let mut title = String::new();
    for word in text
        .split(|c: char| c == '_' || c == '-' || c.is_whitespace())
        .filter(|word| !word.is_empty())
    {
        if !title.is_empty() {
            title.push(' ');
        }
        match word.to_ascii_lowercase().as_str() {
            "iot" => title.push_str("IoT"),
            "ai" | "api" | "crm" | "erp" | "hr" | "it" | "seo" | "sms" | "ui" => {
                title.push_str(&word.to_ascii_uppercase());
            }
            "and" | "of" => title.push_str(&word.to_ascii_lowercase()),
            _ => push_capitalized(&mut title, word),
        }
    }
    title
}

fn push_capitalized(to: &mut String, word: &str) {
    let mut chars = word.chars();
    to.extend(chars.next().into_iter().flat_map(char::to_uppercase));
    to.push_str(chars.as_str());
}

/// Whether the text is a clean single line of 1 to `max` characters.
pub fn is_line(text: &str, max: usize) -> bool {
    !text.is_empty()
        && text.trim() == text
        && !text.contains(char::is_control)
        && text.chars().nth(max).is_none()
}
