//! Entity tags of catalog reads (RFC 9110, section 8.8.3). A response depends only on a segment and the query, so its tag can
//! be computed without rendering it.

use crate::catalog::format::stored::SegmentId;
use crate::http::condition::Condition;

/// The build's id, set by the build script. Part of each tag, because another build may render the
/// same rows differently.
const BUILD: &str = match option_env!("CONNECTOR_VAULT_BUILD") {
    Some(build) => build,
    None => env!("CARGO_PKG_VERSION"),
};

/// The strong tag of this build's response to `query` on a segment. `visible_part` identifies the visible part of the
/// segment; it is empty when all of it is visible.
pub fn for_query(segment: SegmentId, query: &str, visible_part: &str) -> String {
    let mut hasher = crate::util::crc32::crc32_of_pieces();
    hasher.update(BUILD.as_bytes());
    hasher.update(query.as_bytes());
    let sum = hasher.finalize();
    if visible_part.is_empty() {
        return format!("\"{segment}-{sum:08x}\"");
    }
    let part_id = SegmentId::from_content(visible_part.as_bytes());
    format!("\"{segment}-{sum:08x}-{part_id}\"")
}

/// Whether an `If-None-Match` value contains `tag`. Weak tags match too, as RFC 9110 requires for
/// this header. An invalid value matches nothing: at worst, the caller downloads the same response
/// again.
pub fn matches(if_none_match: &str, tag: &str) -> bool {
    match Condition::parse(if_none_match) {
        Some(Condition::Any) => true,
        Some(Condition::OneOf(tags)) => tags.iter().any(|sent_tag| sent_tag.opaque == tag),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn if_none_match_is_compared_weakly() {
        for (value, expected) in [
            ("\"a\"", true),
            ("W/\"a\"", true),
            ("\"x\", W/\"a\"", true),
            ("*", true),
            ("\"b\"", false),
            ("\"x,\"a\"", false),
            ("a", false),
            ("", false),
        ] {
            assert_eq!(matches(value, "\"a\""), expected, "{value}");
        }
    }
}
