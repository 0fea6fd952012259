//! Media types, and which of several the catalog describes.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::catalog::action::stored::Encoding;
use crate::importer::scalar::Texts;
use crate::importer::text;

/// The most media types of a body.
pub const MAX_TYPES: usize = 50;
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

/// The rank of a form whose members are written like parameters.
const FORM: u8 = 2;
/// The styles in which the members of a form can be written.
const STYLES: [&str; 4] = ["form", "spaceDelimited", "pipeDelimited", "deepObject"];

/// How the members of the preferred media type are written, if that is a form, as far as the document says so.
#[must_use]
pub fn encoding(content: &Map<String, Value>) -> BTreeMap<String, Encoding> {
    let preferred = content.iter().min_by_key(|(media, _)| rank(media));
    let form = preferred.filter(|(media, _)| rank(media) == FORM);
    let members = form.and_then(|(_, form)| form.get("encoding")?.as_object());
    let one = |(name, given): (&String, &Value)| {
        let style = given.get("style").and_then(Value::as_str);
        let explode = given.get("explode").and_then(Value::as_bool);
        style.map(|_| ()).or(explode.map(|_| ()))?;
        let style = style.unwrap_or("form");
        let explode = explode.unwrap_or(style == "form");
        let encoding = Encoding { style: style.to_owned(), explode };
        STYLES.contains(&style).then(|| (name.clone(), encoding))
    };
    members.into_iter().flatten().filter_map(one).collect()
}

/// The media types of a `content`, the preferred one first, and its schema.
#[must_use]
pub fn content(content: &Map<String, Value>) -> (Vec<String>, Option<&Value>) {
    let mut media: Vec<(&String, &Value)> = content.iter().collect();
    media.sort_by_key(|(media, _)| rank(media));
    let schema = media.first().and_then(|(_, first)| first.get("schema"));
    (media.iter().take(MAX_TYPES).map(|(media, _)| clean(media)).collect(), schema)
}
