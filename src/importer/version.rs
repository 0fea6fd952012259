//! Derives the version and the maturity of a connector from its document.

use super::document::Info;
use crate::catalog::model::Status;

/// The version in a document. Restores YAML dates that a JavaScript tool has reformatted.
pub fn stated_version(version: &str) -> String {
    // Matches `Wed Oct 15 2025 13:53:19 GMT+0000 (Coordinated Universal Time)`.
    let date: Vec<&str> = version.split_whitespace().take(4).collect();
    jiff::civil::Date::strptime("%a %b %d %Y", date.join(" "))
        .map_or_else(|_| version.to_owned(), |date| date.to_string())
}

/// The platform version, `v<number>`: the number after a `v`, or the first number, or the year of a
/// date. Without a number: `v1`.
pub fn platform_version(version: &str) -> String {
    let lower = version.to_ascii_lowercase();
    let mut boundary = true;
    let mut behind_v = None;
    let mut rest = lower.chars();
    while let Some(c) = rest.next() {
        if boundary && c == 'v' && rest.as_str().starts_with(|c: char| c.is_ascii_digit()) {
            behind_v = Some(rest.as_str());
            break;
        }
        boundary = !c.is_alphanumeric();
    }
    let digits = |text: &str| -> String { text.chars().take_while(char::is_ascii_digit).collect() };
    let number = behind_v.map_or_else(
        || {
            lower
                .split(|c: char| !c.is_alphanumeric())
                .find(|word| is_number_with_suffix(word))
                .map(digits)
        },
        |text| Some(digits(text)),
    );
    // Eight digits are a date (20240131). More than nine digits are a build number or a hash.
    let number = number
        .filter(|number| number.len() <= 9)
        .and_then(|number| number.parse().ok())
        .unwrap_or(1_u32);
    let is_day = (19_000_101..=21_001_231).contains(&number);
    format!("v{}", if is_day { number.checked_div(10_000).unwrap_or(number) } else { number })
}

/// Whether a word is a number, possibly with a suffix: `2`, `2beta`, `2rc1`. A word that begins
/// with a letter is a name, and a word with more alternations of digits and letters is a hash.
fn is_number_with_suffix(word: &str) -> bool {
    let name = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = name.trim_start_matches(char::is_alphabetic);
    name.len() < word.len() && rest.chars().all(char::is_numeric)
}

/// The maturity of a connector, from the extensions, the version and the title of its document.
pub fn status<F>(info: &Info<F>) -> Status {
    let is_true = |text: &str| text.trim().eq_ignore_ascii_case("true");
    let any_is_true = |texts: &[String]| texts.iter().any(|text| is_true(text));
    let title = info.title.as_str().to_lowercase();
    let stability: Vec<String> = info.stability().map(|text| text.trim().to_lowercase()).collect();
    let has_stability =
        |words: &[&str]| stability.iter().any(|text| words.contains(&text.as_str()));
    let title_says = |word: &str| {
        title.split(|c: char| !c.is_alphanumeric()).any(|title_word| title_word == word)
    };
    let version = info.version.as_str();
    if info.deprecated().any(is_true)
        || title_says("deprecated")
        || has_stability(&["deprecated", "retired", "removed", "sunset"])
    {
        Status::NotAvailable
    } else if any_is_true(&info.alpha.0)
        || has_stability(&["alpha", "experimental", "draft"])
        || version_contains(version, &["alpha", "prealpha", "experimental", "draft"])
    {
        Status::Alpha
    } else if any_is_true(&info.beta.0)
        || has_stability(&["beta", "preview", "rc"])
        || version_contains(
            version,
            &["beta", "preview", "privatepreview", "publicpreview", "rc", "pre", "snapshot", "dev"],
        )
        || ["beta", "preview"].into_iter().any(title_says)
    {
        Status::Beta
    } else if title.ends_with("(alpha)") {
        Status::Alpha
    } else {
        Status::GenerallyAvailable
    }
}

/// Whether the version contains one of these words, such as "beta" in `v1beta2` or "preview" in
/// `2019-05-01-preview`.
fn version_contains(version: &str, words: &[&str]) -> bool {
    version.to_lowercase().split(|c: char| !c.is_alphabetic()).any(|word| {
        words.contains(&word.strip_prefix('v').filter(|w| !w.is_empty()).unwrap_or(word))
    })
}
