//! Which licences are open: `info.license` names one by SPDX identifier, name or URL.

use super::document::Licence;

/// Which documents an import takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wanted {
    /// Those whose own `info.license` is an open one.
    #[default]
    Open,
    /// All.
    Any,
}

/// Words that end openness, whatever else is said.
const CLOSED: [&str; 8] = [
    "noncommercial",
    "non commercial",
    "by nc",
    " nd ",
    "noderiv",
    "no derivatives",
    "proprietary",
    "no permission",
];

/// Words that name an open licence, in a text that is in lower case, with single spaces for punctuation.
const OPEN: [&str; 40] = [
    " apache 2 ",
    " apache license ",
    " apache v2 ",
    " apache licence ",
    " apache2 ",
    " mit ",
    " bsd ",
    " bsd3 ",
    " bsd2 ",
    " isc ",
    " mpl ",
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
    " cc0 ",
    " cc by ",
    " cc zero ",
    " creative commons ",
    " creativecommons org licenses by ",
    " creativecommons org publicdomain ",
    " unlicense ",
    " public domain ",
    " eupl ",
    " epl ",
    " eclipse public ",
    " zlib ",
    " boost software ",
    " bsl 1 ",
    " 0bsd ",
    " open government licence ",
    " open government license ",
];

/// Whether a licence lets anyone use and pass on the description.
#[must_use]
pub fn is_open(licence: &Licence) -> bool {
    let texts =
        [licence.identifier.as_str(), licence.name.as_str(), licence.url.as_str()].map(normal);
    let says =
        |words: &[&str]| texts.iter().any(|text| words.iter().any(|word| text.contains(word)));
    says(&OPEN) && !says(&CLOSED)
}

/// What a person calls the licence.
#[must_use]
pub fn described(licence: &Licence) -> Option<String> {
    let text = licence.identifier.filled().or(licence.name.filled()).or(licence.url.filled())?;
    Some(super::text::verbatim(text, 80))
}

/// Lower case, punctuation as single spaces, a space at both ends: `CC-BY 4.0` → ` cc by 4 0 `.
fn normal(text: &str) -> String {
    let mut normal = String::from(" ");
    for word in super::text::head(text, 500)
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        normal.push_str(&word.to_lowercase());
        normal.push(' ');
    }
    normal
}
