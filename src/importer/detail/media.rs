//! Media types, and which of several the catalog describes.

use serde_json::{Map, Value};

use crate::importer::scalar::Texts;
use crate::importer::text;

/// The most media types of a body.
const MAX_TYPES: usize = 50;
/// The longest media type, in characters.
const MAX_TYPE: usize = 100;

/// A media type as it is shown.
#[must_use]
pub fn clean(media: &str) -> String {
    text::verbatim(media, MAX_TYPE)
}

/// What a caller would rather write or read: JSON, then forms, then anything else.
fn rank(media: &str) -> u8 {
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match media.as_str() {
        "application/json" => 0,
        media if media.ends_with("+json") || media.ends_with("/json") => 1,
        "application/x-www-form-urlencoded" => 2,
        "multipart/form-data" => 3,
        "*/*" => 5,
        _ => 4,
    }
}

/// The media types of the first of these lists that has any, the preferred one first.
#[must_use]
pub fn listed(lists: &[&Texts]) -> Vec<String> {
    let given = lists.iter().find(|texts| !texts.0.is_empty());
    let mut media: Vec<String> =
        given.iter().flat_map(|texts| &texts.0).map(|one| clean(one)).collect();
    media.sort_by_key(|media| rank(media));
    media
}

/// The media types of a `content`, the preferred one first, and its schema.
#[must_use]
pub fn content(content: &Map<String, Value>) -> (Vec<String>, Option<&Value>) {
    let mut media: Vec<(&String, &Value)> = content.iter().collect();
    media.sort_by_key(|(media, _)| rank(media));
    let schema = media.first().and_then(|(_, first)| first.get("schema"));
    (media.iter().take(MAX_TYPES).map(|(media, _)| clean(media)).collect(), schema)
}
