//! Decides whether a licence is open. `info.license` identifies a licence by SPDX identifier, name
//! or URL.

use super::document::Licence;
use super::scalar::FirstText;
use crate::catalog::detail::License;

/// Which documents an import includes, by their licence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LicenceFilter {
    /// Documents with an open licence in their `info.license`.
    #[default]
    Open,
    Any,
}

/// Phrases that rule out an open licence.
const CLOSED_PHRASES: [&str; 13] = [
    "noncommercial",
    "non commercial",
    " by nc ",
    " sa nc ",
    " nd ",
    "noderiv",
    "no derivatives",
    "proprietary",
    "no permission",
    "commons clause",
    "business source",
    " busl ",
    " bsl 1 1 ",
];

/// Phrases of open licences, in lower case and with single spaces instead of punctuation.
const OPEN_PHRASES: [&str; 42] = [
    " apache 2 ",
    " apache license ",
    " apache v2 ",
    " apache licence ",
    " apache2 ",
    " bsd ",
    " bsd3 ",
    " bsd2 ",
    " mozilla public ",
    " gpl ",
    " gplv2 ",
    " gplv3 ",
    " lgpl ",
    " lgplv2 ",
    " lgplv3 ",
    " agpl ",
    " agplv3 ",
    " gnu general public ",
    " gnu lesser general public ",
    " gnu affero general public ",
    // "Creative Commons" alone is not enough: some of these licences forbid changes or commercial
    // use.
    " cc0 ",
    " cc by ",
    " cc zero ",
    " creative commons zero ",
    " creative commons 0 ",
    " creative commons by ",
    " creative commons cc by ",
    " creative commons attribution ",
    " attribution sharealike ",
    " attribution share alike ",
    " creativecommons org licenses by ",
    " creativecommons org publicdomain ",
    " unlicense ",
    " public domain ",
    " eupl ",
    " eclipse public ",
    " boost software ",
    " bsl 1 0 ",
    " 0bsd ",
    " open government licence ",
    " open government license ",
    " mit no attribution ",
];

/// Short names of licences that can have other meanings. They count only in unambiguous strings.
const SHORT_NAMES: [&str; 5] = ["mit", "isc", "mpl", "epl", "zlib"];

/// Words that may surround a short name in an unambiguous string.
const FILLER_WORDS: [&str; 11] = [
    "the", "license", "licence", "licensed", "released", "under", "version", "and", "or", "only",
    "later",
];

/// Whether a licence allows everyone to use and redistribute the document.
pub fn is_open(licence: &Licence) -> bool {
    let texts =
        [&licence.identifier, &licence.name, &licence.url].map(|text| normalize(text.as_str()));
    let contains_any =
        |words: &[&str]| texts.iter().any(|text| words.iter().any(|word| text.contains(word)));
    (contains_any(&OPEN_PHRASES) || texts.iter().any(|text| is_short_name(text)))
        && !contains_any(&CLOSED_PHRASES)
}

pub fn is_open_name(name: &str) -> bool {
    is_open(&Licence { name: FirstText(Some(name.to_owned())), ..Licence::default() })
}

/// Whether a string unambiguously contains a short name: `MIT`, `the MIT license`,
/// `https://opensource.org/licenses/MIT`.
fn is_short_name(text: &str) -> bool {
    let is_number = |word: &str| {
        word.strip_prefix('v').unwrap_or(word).bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut words = text.split_whitespace();
    let is_all = words
        .all(|word| SHORT_NAMES.contains(&word) || FILLER_WORDS.contains(&word) || is_number(word));
    let is_url = text.starts_with(" http");
    SHORT_NAMES.iter().any(|name| {
        let has = |words: String| text.contains(&words);
        (is_all && has(format!(" {name} ")))
            || has(format!(" {name} license "))
            || has(format!(" {name} licence "))
            || (is_url && (has(format!(" licenses {name} ")) || has(format!(" license {name} "))))
    })
}

/// A description of the licence for messages. Returns `None` if the document has no licence.
pub fn describe(licence: &Licence) -> Option<String> {
    let text =
        licence.identifier.non_blank().or(licence.name.non_blank()).or(licence.url.non_blank())?;
    Some(super::text::verbatim(text, 80))
}

/// Converts the licence for the detail of a connector. Returns `None` if the document has no
/// licence.
pub fn to_license(licence: &Licence) -> Option<License> {
    let name = licence.identifier.non_blank().or_else(|| licence.name.non_blank());
    let url = super::image::https(licence.url.as_str());
    let name = name.map(|name| super::text::verbatim(name, 80));
    (name.is_some() || url.is_some()).then_some(License { name, url })
}

/// Normalizes a text to lower case, with single spaces instead of punctuation and a space at both
/// ends: `CC-BY 4.0` → ` cc by 4 0 `.
fn normalize(text: &str) -> String {
    let mut normalize = String::from(" ");
    for word in super::text::head(text, 500)
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        normalize.push_str(&word.to_lowercase());
        normalize.push(' ');
    }
    normalize
}
