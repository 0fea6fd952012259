//! Normalizes media types, and chooses the media type that the catalog describes.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::definitions::Definitions;
use crate::catalog::action::stored::Encoding;
use crate::importer::scalar::StringList;
use crate::importer::text;
use crate::util::media_type::{essence, is_json};

/// The maximum number of media types of a body.
pub const MAX_TYPES: usize = 50;
/// The maximum length of a media type, in characters.
const MAX_TYPE: usize = 100;

/// Normalizes a media type.
pub fn normalize(media: &str) -> String {
    text::verbatim(media, MAX_TYPE)
}

/// The preference rank of a media type: JSON, then forms, then all others.
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

/// The media types of the first non-empty list, preferred first.
pub fn first_listed(lists: &[&StringList]) -> Vec<String> {
    let given = lists.iter().find(|texts| !texts.0.is_empty());
    let mut media: Vec<String> =
        given.iter().flat_map(|texts| &texts.0).map(|one| normalize(one)).collect();
    media.sort_by_key(|media| rank(media));
    media
}

/// The rank of a form whose members are serialized like parameters.
const FORM: u8 = 2;
/// The rank of a multipart form.
const MULTIPART: u8 = 3;
/// The maximum number of headers of a part.
const MAX_HEADERS: usize = 50;
/// The serialization styles for the members of a form.
const STYLES: [&str; 4] = ["form", "spaceDelimited", "pipeDelimited", "deepObject"];

/// The declared serialization of a form's members, if the preferred media type is a form.
pub fn encoding(content: &Map<String, Value>) -> BTreeMap<String, Encoding> {
    let preferred = content.iter().min_by_key(|(media, _)| rank(media));
    let in_parts = preferred.is_some_and(|(media, _)| rank(media) == MULTIPART);
    let form = preferred.filter(|(media, _)| in_parts || rank(media) == FORM);
    let members = form.and_then(|(_, form)| form.get("encoding")?.as_object());
    let one = |(name, given): (&String, &Value)| {
        let style = given.get("style").and_then(Value::as_str);
        let explode = given.get("explode").and_then(Value::as_bool);
        let allow_reserved = given.get("allowReserved").and_then(Value::as_bool);
        let is_styled = style.is_some() || explode.is_some() || allow_reserved.is_some();
        let style = style.unwrap_or("form");
        let explode = explode.unwrap_or(style == "form");
        // A member outside a multipart form has a media type only if it is serialized as JSON.
        let content_type = given.get("contentType").and_then(Value::as_str).map(normalize);
        let content_type =
            content_type.filter(|media| in_parts || (!is_styled && is_json(&essence(media))));
        let headers = given.get("headers").and_then(Value::as_object).filter(|_| in_parts);
        let headers = headers.into_iter().flat_map(Map::keys);
        // `contentType` already specifies the header `Content-Type`.
        let headers =
            headers.filter(|name| is_token(name) && !name.eq_ignore_ascii_case("content-type"));
        let headers: Vec<String> = headers.take(MAX_HEADERS).cloned().collect();
        let encoding = Encoding {
            style: style.to_owned(),
            explode,
            allow_reserved: allow_reserved == Some(true),
            content_type,
            headers,
        };
        let is_declared =
            is_styled || encoding.content_type.is_some() || !encoding.headers.is_empty();
        (is_declared && STYLES.contains(&style)).then(|| (name.clone(), encoding))
    };
    members.into_iter().flatten().filter_map(one).collect()
}

/// Whether the name is a valid header name (RFC 9110, section 5.6.2).
fn is_token(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=100).contains(&name.len()) && name.bytes().all(is_plain)
}

/// Whether the preferred media type is a multipart form.
pub fn is_multipart(content_types: &[String]) -> bool {
    content_types.first().is_some_and(|media| rank(media) == MULTIPART)
}

/// Resolves the references in a `content`. Since OpenAPI 3.2, media types can be references.
pub fn resolved<F>(
    content: &Map<String, Value>,
    definitions: &mut Definitions<'_, F>,
) -> Map<String, Value> {
    let mut resolved = Map::new();
    for (media, given) in content {
        let known = definitions.resolved(given.clone()).unwrap_or_default();
        if known.contains_key("itemSchema") && !known.contains_key("schema") {
            definitions.skipped.insert("`itemSchema`");
        }
        resolved.insert(media.clone(), Value::Object(known));
    }
    resolved
}

/// The media types of a `content`, preferred first, and the schema of the first type.
pub fn content(content: &Map<String, Value>) -> (Vec<String>, Option<&Value>) {
    let mut media: Vec<(&String, &Value)> = content.iter().collect();
    media.sort_by_key(|(media, _)| rank(media));
    let schema = media.first().and_then(|(_, first)| first.get("schema"));
    (media.iter().take(MAX_TYPES).map(|(media, _)| normalize(media)).collect(), schema)
}
