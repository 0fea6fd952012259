//! The logos that are files of the service's own site. A stored row has the path, a response the absolute URL.

use memchr::memmem;

use crate::util::json;

/// How a row's `image` is written that is such a path. Quotes in a text are escaped, so no text contains this.
const MEMBER: &[u8] = br#""image":"/logos/"#;
/// Where the path begins in it.
const PATH: usize = br#""image":""#.len();

/// Where the paths of these logos begin.
pub const FOLDER: &str = "/logos/";

/// The path of the logo with this name, which the build of the site writes.
#[must_use]
pub fn path(slug: &str) -> String {
    format!("/logos/{slug}.svg")
}

/// Puts the service's origin before each such path in rows as JSON.
#[must_use]
pub fn absolute(json: Vec<u8>, origin: &str) -> Vec<u8> {
    let begins: Vec<usize> =
        memmem::find_iter(&json, MEMBER).map(|at| at.saturating_add(PATH)).collect();
    if begins.is_empty() {
        return json;
    }
    // A host may contain a quote.
    let quoted = json::text(&origin);
    let origin = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    let more = begins.len().saturating_mul(origin.len());
    let mut absolute = Vec::with_capacity(json.len().saturating_add(more));
    let mut from = 0;
    for at in begins {
        absolute.extend_from_slice(json.get(from..at).unwrap_or_default());
        absolute.extend_from_slice(origin.as_bytes());
        from = at;
    }
    absolute.extend_from_slice(json.get(from..).unwrap_or_default());
    absolute
}
