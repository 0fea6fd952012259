//! Entity tags of catalog reads (RFC 9110, part 8.8.3). An answer follows from a segment and the query, so its tag
//! costs no look at the answer.

use crate::catalog::stored::SegmentId;
use crate::names::Names;

/// Another build may render the same rows in another way: its tags must differ. The build script says which it is.
const BUILD: &str = match option_env!("CONNECTOR_VAULT_BUILD") {
    Some(build) => build,
    None => env!("CARGO_PKG_VERSION"),
};

/// The strong tag of the answer to `query` on a segment, by this version of the code; of an answer that shows no more than
/// `platforms`, when given.
#[must_use]
pub fn of_query(segment: SegmentId, query: &str, platforms: Option<&Names>) -> String {
    let mut hasher = crate::crc32::crc32_of_pieces();
    hasher.update(BUILD.as_bytes());
    hasher.update(query.as_bytes());
    let sum = hasher.finalize();
    match platforms {
        None => format!("\"{segment}-{sum:08x}\""),
        Some(platforms) => {
            let shown = SegmentId::of(platforms.as_str().as_bytes());
            format!("\"{segment}-{sum:08x}-{shown}\"")
        }
    }
}

/// Whether an `If-None-Match` value names `tag`. Weak tags match too, as RFC 9110 says for this header.
#[must_use]
pub fn matches(if_none_match: &str, tag: &str) -> bool {
    if_none_match
        .split(',')
        .map(str::trim)
        .any(|given| given == "*" || given.strip_prefix("W/").unwrap_or(given) == tag)
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
            ("a", false),
            ("", false),
        ] {
            assert_eq!(matches(value, "\"a\""), expected, "{value}");
        }
    }
}
