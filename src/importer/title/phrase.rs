//! Cleans up phrases for titles.

use super::verb;
use crate::importer::text;

/// Openings of descriptions before the operation's verb. Compared case-insensitively.
const OPENINGS: [&str; 34] = [
    "use this method to ",
    "use this endpoint to ",
    "use this api to ",
    "use this operation to ",
    "use this call to ",
    "use this request to ",
    "use this resource to ",
    "use this to ",
    "this method ",
    "this endpoint ",
    "this api ",
    "this operation ",
    "this call ",
    "this request ",
    "this resource ",
    "this function ",
    "this action ",
    "this service ",
    "this will ",
    "an endpoint to ",
    "an endpoint for ",
    "endpoint to ",
    "endpoint for ",
    "api to ",
    "api for ",
    "method to ",
    "operation to ",
    "allows you to ",
    "allows users to ",
    "allows to ",
    "allow to ",
    "lets you ",
    "used to ",
    "request to ",
];

/// Phrases that may follow an opening: "This endpoint *is used to* …".
const LINKING_PHRASES: [&str; 14] = [
    "is used to ",
    "can be used to ",
    "is designed to ",
    "is for ",
    "allows you to ",
    "allows users to ",
    "allows the user to ",
    "allows to ",
    "allows for ",
    "allows ",
    "enables you to ",
    "lets you ",
    "will ",
    "can ",
];

/// Adverbs and markers before the verb.
const MARKERS: [&str; 11] = [
    "(deprecated) ",
    "[deprecated] ",
    "deprecated: ",
    "deprecated. ",
    "deprecated - ",
    "[beta] ",
    "(beta) ",
    "beta: ",
    "optionally ",
    "asynchronously ",
    "permanently ",
];

/// Words about data models that titles omit, as in "Delete navigation property members for groups".
const RELATIONS: [&str; 4] =
    ["new navigation property to ", "the navigation property ", "navigation property ", "ref of "];

/// Removes a phrase's final full stop, code notation and openings without information.
pub fn clean(phrase: &str) -> String {
    let mut phrase = without_ending(phrase);
    loop {
        let shorter = strip_opening(phrase, &MARKERS).or_else(|| {
            let rest = strip_opening(phrase, &OPENINGS)?;
            Some(strip_opening(rest, &LINKING_PHRASES).unwrap_or(rest))
        });
        match shorter {
            Some(shorter) if !shorter.is_empty() => phrase = shorter,
            _ => break,
        }
    }
    let phrase = strip_opening(phrase, &["invoke action ", "invoke function "]).unwrap_or(phrase);
    let phrase =
        RELATIONS.iter().fold(phrase.to_owned(), |phrase, words| phrase.replace(words, ""));
    split_identifiers(&without_brackets(&phrase))
}

fn without_ending(phrase: &str) -> &str {
    let phrase = phrase.trim().trim_end_matches([':', ';', ',', '!']);
    phrase.strip_suffix('.').filter(|rest| !rest.ends_with('.')).map_or(phrase, str::trim_end)
}

/// Removes the first of these beginnings that matches. Returns `None` if none of them matches.
fn strip_opening<'a>(phrase: &'a str, beginnings: &[&str]) -> Option<&'a str> {
    beginnings.iter().find_map(|beginning| {
        let (head, rest) = phrase.split_at_checked(beginning.len())?;
        head.eq_ignore_ascii_case(beginning).then(|| rest.trim_start())
    })
}

/// Removes parentheses and brackets with their content. Keeps the content of braces and quotes.
fn without_brackets(phrase: &str) -> String {
    let mut out = String::with_capacity(phrase.len());
    let mut inside = String::new();
    let mut depth = 0_u32;
    for c in phrase.chars() {
        match c {
            '(' | '[' => depth = depth.saturating_add(1),
            ')' | ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    push_parenthesized(&mut out, &std::mem::take(&mut inside));
                }
            }
            '{' | '}' | '`' | '"' | '“' | '”' | '<' | '>' => {}
            _ if depth > 0 => inside.push(c),
            _ => out.push(c),
        }
    }
    if depth > 0 {
        push_parenthesized(&mut out, &inside);
    }
    let words: Vec<&str> = out.split_whitespace().collect();
    words.join(" ").replace(" ,", ",").replace(" .", ".")
}

/// Appends the content of parentheses if it can distinguish actions: "archive (zip)" → "archive,
/// zip". Drops empty parentheses, as in `addCards()`. Appends the `(s)` of a plural unchanged.
fn push_parenthesized(out: &mut String, inside: &str) {
    let inside = inside.trim();
    let is_word = inside.chars().all(|c| c.is_alphanumeric() || c == ' ' || c == '-');
    match inside {
        "s" | "es" => out.push_str(inside),
        "" => {}
        // Drop "(deprecated)": actions have a separate member for it.
        _ if inside.eq_ignore_ascii_case("deprecated") => {}
        _ if is_word && inside.split(' ').count() <= 3 => {
            out.truncate(out.trim_end().len());
            out.push_str(", ");
            out.push_str(inside);
        }
        _ => {}
    }
}

/// Splits the identifiers in a phrase into words: `Get timeCard` → "Get time card", `GET
/// /pets/{id}` → "Get pets id".
fn split_identifiers(phrase: &str) -> String {
    let words: Vec<String> =
        phrase.split(' ').map(split_identifier).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Splits a word of a phrase if it is an identifier. Names of types and products (`ReplicaSet`,
/// `GitHub`, `iPhone`) stay unchanged.
fn split_identifier(word: &str) -> String {
    const NAMESPACE: &str = "microsoft.graph.";
    let name = word.trim_matches(|c: char| !c.is_alphanumeric());
    let name = name.strip_prefix(NAMESPACE).unwrap_or(name);
    let has_three = |separator: char| name.split(separator).count() > 2;
    let is_address = word.starts_with('/') || has_three('/') && !name.contains("://");
    if is_address || has_three('.') || name.contains('_') || is_lower_camel(name) {
        let comma = if word.ends_with(',') { "," } else { "" };
        return format!("{}{comma}", join_words(&text::words(name)));
    }
    word.replace(NAMESPACE, "")
}

/// Whether a word is an identifier such as `timeCard`, and not a name such as `iPhone`, `eBay` or
/// `macOS`.
fn is_lower_camel(word: &str) -> bool {
    let head = word.chars().take_while(|c| c.is_lowercase()).count();
    let is_brand = head == 1 || matches!(word, "macOS" | "iOS" | "tvOS" | "watchOS" | "visionOS");
    head > 0 && !is_brand && word.chars().any(char::is_uppercase)
}

/// Joins words for use in a sentence: in lower case, except acronyms.
pub fn join_words(words: &[String]) -> String {
    let lower = |word: &String| {
        let capitals = word.chars().filter(|c| c.is_uppercase()).count();
        let rest = word.strip_suffix('s').unwrap_or(word);
        let is_acronym =
            (2..=5).contains(&capitals) && rest.chars().all(|c| c.is_uppercase() || c.is_numeric());
        if is_acronym { word.clone() } else { word.to_lowercase() }
    };
    words.iter().map(lower).collect::<Vec<_>>().join(" ")
}

/// The text up to the first full stop that ends a sentence.
pub fn first_sentence(text: &str) -> &str {
    let ends = text.match_indices(". ").find(|(at, _)| {
        let before = text.get(..*at).unwrap_or_default();
        !["e.g", "i.e", "etc", "vs", "incl"].iter().any(|short| before.ends_with(short))
    });
    ends.and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// Whether the first word is a verb, in the imperative or another form.
pub fn starts_with_verb(phrase: &str) -> bool {
    let word = first_word(phrase);
    verb::base(word).is_some()
}

/// The first word, or its first part if the part is a verb, as in "bulk-delete". "re-run" is a verb
/// as a whole.
fn first_word(phrase: &str) -> &str {
    let word = phrase.split([' ', '/', ',']).next().unwrap_or_default();
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let part = word.split('-').next().unwrap_or_default();
    if verb::base(part).is_some() { part } else { word }
}

/// Converts the first verb to the imperative: "Lists snapshots and tags them" → "List snapshots and
/// tags them".
pub fn imperative(phrase: &str) -> String {
    let word = first_word(phrase);
    let rest = phrase.strip_prefix(word);
    match (verb::base(word), rest) {
        // Change only the ending, to preserve British spelling.
        (Some(base), Some(rest)) if !word.eq_ignore_ascii_case(&base) => {
            let plain = ["s", "es"].iter().find_map(|end| {
                let stem = word.strip_suffix(end)?;
                (verb::base(stem)? == base && base.len() == stem.len()).then_some(stem)
            });
            let verb = plain.map_or(base.clone(), str::to_owned);
            let mut words: Vec<String> = rest.split(' ').map(str::to_owned).collect();
            // Also convert the second verb: "Creates or updates a rule" → "Create or update a rule"
            if let [_, or, second, ..] = words.as_mut_slice()
                && matches!(or.as_str(), "or" | "and")
                && second.ends_with('s')
                && let Some(base) = verb::base(second)
            {
                *second = base;
            }
            format!("{verb}{}", words.join(" "))
        }
        _ => phrase.to_owned(),
    }
}

/// Removes "the", "a" or "an" from the start of a phrase.
pub fn without_article(phrase: &str) -> &str {
    strip_opening(phrase, &["the ", "a ", "an "]).unwrap_or(phrase)
}

/// Capitalizes the first letter of a phrase. A verb in capitals is converted to lower case after
/// the first letter.
pub fn capitalize(phrase: &str) -> String {
    let word = first_word(phrase);
    let is_upper_case = word.chars().nth(1).is_some() && !word.chars().any(char::is_lowercase);
    let phrase = match phrase.strip_prefix(word) {
        Some(rest) if is_upper_case && verb::base(word).is_some() => {
            format!("{}{rest}", word.to_lowercase())
        }
        _ => phrase.to_owned(),
    };
    let mut chars = phrase.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}

/// Converts the first letter of a phrase to lower case, unless the first word is an acronym or a
/// name.
pub fn uncapitalize(phrase: &str) -> String {
    let first = first_word(phrase);
    let is_plain = first.chars().skip(1).all(char::is_lowercase) && first.chars().nth(1).is_some();
    if !is_plain {
        return phrase.to_owned();
    }
    let mut chars = phrase.chars();
    chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect()
}

/// The literal parts of a path, split into words, without versions and file extensions.
pub fn segments(path: &str) -> Vec<String> {
    let path = path.split('?').next().unwrap_or_default();
    let parts = path
        .split(['/', ':', '#', '='])
        .filter(|part| !part.contains(['{', '}']) || part.contains('('));
    let words = parts.map(|part| {
        let part = part.split(['(', ',']).next().unwrap_or_default().trim_start_matches('$');
        let part = part.strip_prefix("microsoft.graph.").unwrap_or(part);
        let part = part.strip_suffix(".json").or_else(|| part.strip_suffix(".xml")).unwrap_or(part);
        join_words(&text::words(part))
    });
    words.filter(|words| !words.is_empty() && !is_version(words) && words != "api").collect()
}

fn is_version(word: &str) -> bool {
    let digits = word.strip_prefix('v').unwrap_or(word);
    digits.chars().all(|c| c.is_ascii_digit() || c == ' ') || digits.starts_with("1 ")
}

pub fn is_plural(words: &str) -> bool {
    words.ends_with('s')
        && !["ss", "us", "is", "status", "news"].iter().any(|end| words.ends_with(end))
}

/// Converts the last word to the singular: "time cards" → "time card".
pub fn singular(words: &str) -> String {
    let replaced =
        |end: &str, instead: &str| words.strip_suffix(end).map(|stem| format!("{stem}{instead}"));
    if !is_plural(words) || words.ends_with("series") {
        return words.to_owned();
    }
    replaced("ies", "y")
        .or_else(|| replaced("sses", "ss"))
        .or_else(|| replaced("xes", "x"))
        .or_else(|| replaced("ches", "ch"))
        .or_else(|| replaced("shes", "sh"))
        .or_else(|| replaced("s", ""))
        .unwrap_or_else(|| words.to_owned())
}
