//! Entity tags of catalog reads (RFC 9110, section 8.8.3). An answer depends only on a segment and the query, so its
//! tag can be computed without rendering it.

use crate::catalog::stored::SegmentId;
use crate::http::condition::Condition;

/// Identifies the build, set by the build script: another build may render the same rows differently, so its tags must
/// differ.
const BUILD: &str = match option_env!("CONNECTOR_VAULT_BUILD") {
    Some(build) => build,
    None => env!("CARGO_PKG_VERSION"),
};

/// The strong tag of this build's answer to `query` on a segment. What it shows of it depends on `shown`, which is empty when it
/// shows all.
#[must_use]
pub fn of_query(segment: SegmentId, query: &str, shown: &str) -> String {
    let mut hasher = crate::util::crc32::crc32_of_pieces();
    hasher.update(BUILD.as_bytes());
    hasher.update(query.as_bytes());
    let sum = hasher.finalize();
    if shown.is_empty() {
        return format!("\"{segment}-{sum:08x}\"");
    }
    let shown = SegmentId::of(shown.as_bytes());
    format!("\"{segment}-{sum:08x}-{shown}\"")
}

/// Whether an `If-None-Match` value names `tag`. Weak tags match too, as RFC 9110 says for this header. An invalid
/// value names nothing: at worst, the caller gets an answer that it has already.
#[must_use]
pub fn matches(if_none_match: &str, tag: &str) -> bool {
    match Condition::parse(if_none_match) {
        Some(Condition::Any) => true,
        Some(Condition::OneOf(tags)) => tags.iter().any(|given| given.opaque == tag),
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
