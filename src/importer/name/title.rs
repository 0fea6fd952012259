//! Removes words that are common in titles of APIs: `GitHub v3 REST API` → `GitHub`.

/// Words at the end of a title that don't identify a product.
#[rustfmt::skip]
const NOISE_WORDS: &[&str] = &[
    "api", "apis", "rest", "restful", "swagger", "openapi", "oas", "oas2", "oas3", "documentation", "doc", "docs", "reference",
    "specification", "spec", "schema", "definition", "endpoint", "endpoints", "version", "deprecated",
];
/// Words before "API" that describe the type of API: `Slack Web API`.
#[rustfmt::skip]
const API_TYPES: &[&str] = &["public", "web", "http", "https", "json", "rest", "restful", "private", "open"];
/// Words after "API" without information: `Exude API Service`.
#[rustfmt::skip]
const API_SUFFIXES: &[&str] = &["service", "services", "server", "suite", "application", "client", "console", "interface", "explorer"];
/// Words that don't identify a product on their own.
#[rustfmt::skip]
const GENERIC_WORDS: &[&str] = &[
    "a", "active", "and", "beta", "alpha", "data", "default", "defaulttitle", "developer", "developers", "fastapi", "for",
    "gateway", "interactive", "live", "net", "of", "plan", "platform", "premium", "preview", "prod", "production", "public",
    "quick", "stable", "start", "the", "ui", "unofficial", "user", "web", "with", "your",
];

/// Splits a title into parts without noise, such as `Api2Pdf` and `PDF Generation`. Empty if the
/// title doesn't identify a product. `own` are the spellings of the provider's name in lower-case
/// letters and digits. Noise that is part of this name stays, as in `PDF Generator API` of
/// `pdfgeneratorapi.com`.
pub fn parts(title: &str, own: &[String]) -> Vec<String> {
    let title = without_remarks(title);
    let mut parts = vec![String::new()];
    for token in title.split_whitespace() {
        if matches!(token, "-" | "–" | "—" | "|") {
            parts.push(String::new());
            continue;
        }
        let ends = token.ends_with(':') && token.len() > 1;
        let token = if ends { token.trim_end_matches(':') } else { token };
        if let Some(part) = parts.last_mut() {
            if !part.is_empty() {
                part.push(' ');
            }
            part.push_str(token);
        }
        if ends {
            parts.push(String::new());
        }
    }
    parts.iter().filter_map(|part| clean(part, own)).collect()
}

/// Removes everything except letters and digits, and converts to lower case.
pub fn letters_and_digits(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a word is a version: `v3`, `V2.0`, `1.0.0`.
pub fn is_version(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let number = word.strip_prefix(['v', 'V']);
    let digits = number.unwrap_or(word);
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'x'));
    is_number && (number.is_some() || digits.contains('.'))
}

/// Whether every word is noise, or too generic to identify a product.
fn is_empty(text: &str) -> bool {
    text.split(|c: char| c.is_whitespace() || matches!(c, ':' | '/' | '-' | ',')).all(|word| {
        let squashed = letters_and_digits(word);
        squashed.is_empty()
            || is_version(word)
            || NOISE_WORDS.contains(&squashed.as_str())
            || GENERIC_WORDS.contains(&squashed.as_str())
    })
}

/// Removes brackets and parentheses that contain noise, such as `(Deprecated)`, `[v2]`, `(1.0.0)`
/// or a URL.
fn without_remarks(title: &str) -> String {
    let mut result = String::new();
    let mut rest = title;
    while let Some(start) = rest.find(['(', '[', '{']) {
        let (before, from) = rest.split_at_checked(start).unwrap_or((rest, ""));
        result.push_str(before);
        let Some((inner, after)) = from.split_once([')', ']', '}']) else {
            rest = from;
            break;
        };
        let content = inner.get(1..).unwrap_or_default();
        if !is_empty(content) && !content.contains("://") {
            result.push_str(from.strip_suffix(after).unwrap_or(from));
        }
        rest = after;
    }
    result.push_str(rest);
    result
}

/// Removes the noise from a part. Returns `None` if the rest doesn't identify a product.
fn clean(part: &str, own: &[String]) -> Option<String> {
    let is_own = |words: &[&str]| own.contains(&letters_and_digits(&words.concat()));
    let all: Vec<&str> = part.split_whitespace().map(without_host_parts).collect();
    let words = without_inner_noise(&all);
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let starts_own = |word: &str| own.iter().any(|own| own.starts_with(&letters_and_digits(word)));
    while let [first, rest @ ..] = words.as_slice()
        && !rest.is_empty()
        && !is_own(&words)
        && !starts_own(first)
        && (matches!(letters_and_digits(first).as_str(), "the" | "swagger" | "openapi")
            || (letters_and_digits(first) == "api" && is_own(rest)))
    {
        words.remove(0);
    }
    while let Some(last) = words.pop() {
        let before = words.last().map(|word| letters_and_digits(word)).unwrap_or_default();
        let with_last = [words.as_slice(), &[last]].concat();
        let squashed = letters_and_digits(last);
        let is_form = matches!(before.as_str(), "api" | "apis" | "rest")
            && API_SUFFIXES.contains(&squashed.as_str());
        let is_number = before == "version" && squashed.chars().all(|c| c.is_ascii_digit());
        let is_noise =
            (NOISE_WORDS.contains(&squashed.as_str()) || is_version(last) || is_form || is_number)
                && last.contains('(') == last.contains(')');
        if !is_noise || is_own(&with_last) {
            words.push(last);
            break;
        }
        if matches!(squashed.as_str(), "api" | "apis") {
            while words.len() > 1
                && !is_own(&words)
                && words
                    .last()
                    .is_some_and(|word| API_TYPES.contains(&letters_and_digits(word).as_str()))
            {
                words.pop();
            }
        }
    }
    let name = words.join(" ");
    let name = name.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, ',' | ':' | '-' | '–' | '|' | ';')
    });
    let name = name.strip_suffix('.').unwrap_or(name);
    let lower = name.to_lowercase();
    let end = ["-api", "_api", ".api"].iter().find(|end| lower.ends_with(*end) && !is_own(&[name]));
    let name = end.and_then(|end| name.get(..name.len().saturating_sub(end.len()))).unwrap_or(name);
    (!name.is_empty() && (is_own(&[name]) || !is_empty(name))).then(|| name.to_owned())
}

/// Removes labels such as `api` from a host: `api.clarify.io` → `clarify.io`. `api.video` stays,
/// because it is a product name.
fn without_host_parts(word: &str) -> &str {
    let host = word.split_once(':').filter(|(host, port)| {
        host.contains('.') && !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())
    });
    let word = host.map_or(word, |(host, _)| host);
    let rest = word.strip_prefix("api.").or_else(|| word.strip_prefix("www."));
    rest.filter(|rest| rest.contains('.')).unwrap_or(word)
}

/// Removes repeated words, versions after a `v`, and "API" with the purpose that follows it:
/// `PandaScore REST API for All Videogames` → `PandaScore REST`, `LetMC Api V2, Basic` → `LetMC,
/// Basic`.
fn without_inner_noise(all: &[&str]) -> Vec<String> {
    let mut words: Vec<String> = Vec::with_capacity(all.len());
    let mut rest = all;
    while let [word, after @ ..] = rest {
        rest = after;
        let next = after.first().copied().unwrap_or_default();
        let is_api = matches!(letters_and_digits(word).as_str(), "api" | "apis");
        if is_api && matches!(next, "for" | "with" | "by" | "to") {
            if !words.is_empty() {
                break;
            }
            rest = after.get(1..).unwrap_or_default();
            continue;
        }
        let is_dropped = (is_api && (is_version(next) || next.starts_with('(')))
            || (word.starts_with(['v', 'V']) && is_version(word));
        match words.last_mut() {
            Some(last) if is_dropped && word.ends_with(',') => last.push(','),
            Some(last) if last == word => {}
            _ if is_dropped => {}
            _ => words.push((*word).to_owned()),
        }
    }
    words
}
