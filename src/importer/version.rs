//! The platform's version and maturity, from the document's version and other fields.

use super::document::Info;
use crate::catalog::model::Status;

/// The version as a document states it. Restores a date in YAML that JavaScript has formatted.
pub fn stated_version(version: &str) -> String {
    // `Wed Oct 15 2025 13:53:19 GMT+0000 (Coordinated Universal Time)`
    let date: Vec<&str> = version.split_whitespace().take(4).collect();
    jiff::civil::Date::strptime("%a %b %d %Y", date.join(" "))
        .map_or_else(|_| version.to_owned(), |date| date.to_string())
}

/// `v<number>`: the number after a `v`, or else the first number. A date gives its year; without a number, it is `v1`.
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
        || lower.split(|c: char| !c.is_alphanumeric()).find(|word| is_numbered(word)).map(digits),
        |text| Some(digits(text)),
    );
    // A date (20240131) has eight digits; more than nine belong to a build number or a hash.
    let number = number
        .filter(|number| number.len() <= 9)
        .and_then(|number| number.parse().ok())
        .unwrap_or(1_u32);
    let is_day = (19_000_101..=21_001_231).contains(&number);
    format!("v{}", if is_day { number.checked_div(10_000).unwrap_or(number) } else { number })
}

/// Whether a word is a number, possibly followed by a name, as in `2`, `2beta`, `2rc1`. Digits after a letter are part
/// of a name, and a word in which digits and letters alternate more often is a hash.
fn is_numbered(word: &str) -> bool {
    let name = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = name.trim_start_matches(char::is_alphabetic);
    name.len() < word.len() && rest.chars().all(char::is_numeric)
}

/// The maturity of the connector, according to the document's extensions, its version and its title.
pub fn status<F>(info: &Info<F>) -> Status {
    let is_true = |text: &str| text.trim().eq_ignore_ascii_case("true");
    let any_is_true = |texts: &[String]| texts.iter().any(|text| is_true(text));
    let title = info.title.as_str().to_lowercase();
    let stability: Vec<String> = info.stability().map(|text| text.trim().to_lowercase()).collect();
    let has_stability =
        |words: &[&str]| stability.iter().any(|text| words.contains(&text.as_str()));
    let title_says =
        |word: &str| title.split(|c: char| !c.is_alphanumeric()).any(|given| given == word);
    let version = info.version.as_str();
    if info.deprecated().any(is_true)
        || title_says("deprecated")
        || has_stability(&["deprecated", "retired", "removed", "sunset"])
    {
        Status::NotAvailable
    } else if any_is_true(&info.alpha.0)
        || has_stability(&["alpha", "experimental", "draft"])
        || version_says(version, &["alpha", "prealpha", "experimental", "draft"])
    {
        Status::Alpha
    } else if any_is_true(&info.beta.0)
        || has_stability(&["beta", "preview", "rc"])
        || version_says(
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

/// Whether the version contains one of these words, as in `v1beta2`, `2.0-rc.1`, `2019-05-01-preview`.
fn version_says(version: &str, words: &[&str]) -> bool {
    version.to_lowercase().split(|c: char| !c.is_alphabetic()).any(|word| {
        words.contains(&word.strip_prefix('v').filter(|w| !w.is_empty()).unwrap_or(word))
    })
}
