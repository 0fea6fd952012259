//! Category and tags, from what the document says of itself.

use std::collections::HashSet;

use super::document::Info;
use super::text;

/// The category of a document that names none.
pub const UNKNOWN: &str = "Other";
/// Tags that a connector has at most.
pub const MAX_TAGS: usize = 20;
/// Characters of a category or a tag.
pub const MAX_CHARS: usize = 64;

/// The first category in words, and the other ones with the document's tags.
#[must_use]
pub fn of<F>(info: &Info<F>) -> (String, Vec<String>) {
    // A list of single letters is a word that was taken for a list.
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
