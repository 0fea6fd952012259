//! Derives the category and the tags of a connector from its document. [`service`] overrides the
//! category for three large providers.

pub mod service;

use std::collections::HashSet;

use super::document::Info;
use super::text;

/// The category of a document without a category.
pub const UNKNOWN: &str = "Other";
/// The maximum number of tags of a connector.
pub const MAX_TAGS: usize = 20;
/// The maximum length of a category or a tag.
pub const MAX_CHARS: usize = 64;

/// Returns the category, which is the first one of the document, and the tags: the other categories
/// and the tags of the document.
pub fn classify<F>(info: &Info<F>) -> (String, Vec<String>) {
    // Skip single letters, which result from a word that was parsed as a list.
    let mut categories = info
        .categories
        .0
        .iter()
        .filter(|category| category.chars().nth(1).is_some())
        .map(|text| text::title_case(text));
    let category = categories
        .next()
        .map_or_else(|| UNKNOWN.to_owned(), |category| text::verbatim(&category, MAX_CHARS));
    let others =
        categories.chain(info.tags.0.iter().map(|tag| tag.trim_start_matches('#').to_owned()));
    let mut seen = HashSet::from([category.to_lowercase()]);
    let tags = others
        .map(|tag| text::verbatim(&tag, MAX_CHARS))
        .filter(|tag| !tag.is_empty() && seen.insert(tag.to_lowercase()))
        .take(MAX_TAGS)
        .collect();
    (category, tags)
}
