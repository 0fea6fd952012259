//! The logos that the site serves. A stored row contains the path, a response the absolute URL.

use memchr::memmem;

use crate::util::json;

/// The JSON of a row's `image` up to the folder of the logo. Quotes inside strings are escaped, so no string contains this.
const MEMBER: &[u8] = br#""image":"/logos/"#;
/// The offset of the path in [`MEMBER`].
const PATH_OFFSET: usize = br#""image":""#.len();

pub const FOLDER: &str = "/logos/";

/// The path of a logo that the site's build writes.
pub fn path(slug: &str) -> String {
    format!("/logos/{slug}.svg")
}

/// Prefixes the paths of logos in rows of JSON with the service's origin.
pub fn absolute(json: Vec<u8>, origin: &str) -> Vec<u8> {
    let offsets: Vec<usize> =
        memmem::find_iter(&json, MEMBER).map(|at| at.saturating_add(PATH_OFFSET)).collect();
    if offsets.is_empty() {
        return json;
    }
    // A host may contain a quote.
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
