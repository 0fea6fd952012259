//! Logos that the site serves. Stored rows contain their paths; responses contain absolute URLs.

use memchr::memmem;

use crate::util::json;

/// The beginning of the member `image` in the JSON of a row. Quotes in strings are escaped, so that
/// no string value contains this sequence.
const IMAGE_PREFIX: &[u8] = br#""image":"/logos/"#;
/// The offset of the path in [`IMAGE_PREFIX`].
const PATH_OFFSET: usize = br#""image":""#.len();

pub const LOGO_FOLDER: &str = "/logos/";

/// The path of a logo, as the build of the site writes it.
pub fn path(slug: &str) -> String {
    format!("/logos/{slug}.svg")
}

/// Prefixes the paths of logos in JSON rows with the service's origin.
pub fn absolute(json: Vec<u8>, origin: &str) -> Vec<u8> {
    let offsets: Vec<usize> =
        memmem::find_iter(&json, IMAGE_PREFIX).map(|at| at.saturating_add(PATH_OFFSET)).collect();
    if offsets.is_empty() {
        return json;
    }
    // The origin may contain a quotation mark.
    let quoted = json::text(&origin);
    let origin = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    let added_bytes = offsets.len().saturating_mul(origin.len());
    let mut absolute = Vec::with_capacity(json.len().saturating_add(added_bytes));
    let mut from = 0;
    for at in offsets {
        absolute.extend_from_slice(json.get(from..at).unwrap_or_default());
        absolute.extend_from_slice(origin.as_bytes());
        from = at;
    }
    absolute.extend_from_slice(json.get(from..).unwrap_or_default());
    absolute
}
