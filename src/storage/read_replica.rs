//! Read replicas: a replica may run a read if it is at least as recent as the caller's bookmark.
//!
//! Without a bookmark, reads go to the primary. Writes, and everything that uses credentials,
//! always go to the primary.

use crate::auth::Shard;
use crate::http::endpoint::Keyed;
use crate::http::message::Request;
use crate::http::problem::{Code, Fault, Location, Problem};

/// The header with which a caller allows replicas and receives a bookmark.
pub const BOOKMARK: &str = "x-vault-bookmark";
/// D1's constraint that allows any replica, regardless of its age.
pub const FIRST_UNCONSTRAINED: &str = "first-unconstrained";
/// D1's constraint that starts at the primary.
pub const FIRST_PRIMARY: &str = "first-primary";
/// The maximum length of a bookmark with its shard, in characters. D1's bookmarks have 59.
pub const MAX_BOOKMARK: usize = 200;

/// The D1 session that runs a request's batches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicaSession {
    /// A bookmark of the database, [`FIRST_UNCONSTRAINED`] or [`FIRST_PRIMARY`].
    pub since: String,
    /// Whether replicas may run statements. If not, the session only provides a bookmark.
    pub allows_replica: bool,
}

/// The session of a request. Returns `None` if the request has no bookmark header, or if the
/// endpoint does not use the vault's database. Fails if the header is malformed.
pub fn session(
    request: &Request,
    endpoint: Keyed,
    shard: u16,
) -> Result<Option<ReplicaSession>, Problem> {
    let Some(value) = request.header(BOOKMARK) else { return Ok(None) };
    if !endpoint.supports_bookmark() {
        return Ok(None);
    }
    let (digits, bookmark) = match value.split_once('.') {
        Some((digits, bookmark)) => (Some(digits), bookmark),
        None => (None, value),
    };
    let is_prefix =
        |digits: &str| digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_bookmark = !bookmark.is_empty()
        && value.len() <= MAX_BOOKMARK
        && digits.is_none_or(is_prefix)
        && bookmark.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !is_bookmark {
        return Err(malformed());
    }
    let database = digits.map_or(Some(Shard::FIRST), Shard::from_digits);
    let is_of_shard = database.is_some_and(|database| database.number() == shard);
    // A bookmark is valid only in its own database. If it belongs to a different database, the
    // account has moved since.
    let since = if is_of_shard || [FIRST_UNCONSTRAINED, FIRST_PRIMARY].contains(&value) {
        bookmark
    } else {
        FIRST_PRIMARY
    };
    Ok(Some(ReplicaSession { since: since.to_owned(), allows_replica: endpoint.allows_replica() }))
}

/// The header's value for a bookmark of this shard.
pub fn header_value(bookmark: &str, shard: u16) -> String {
    match Shard::new(shard) {
        Some(shard) if shard != Shard::FIRST => format!("{}.{bookmark}", shard.digits()),
        _ => bookmark.to_owned(),
    }
}

fn malformed() -> Problem {
    let detail = format!(
        "`{BOOKMARK}` must be `{FIRST_UNCONSTRAINED}`, `{FIRST_PRIMARY}`, or the value of this header in an earlier response"
    );
    let location = Location::Parameter(BOOKMARK.into());
    Problem::from_fault(Fault { code: Code::InvalidParameter, location, detail, suggestion: None })
}

#[cfg(test)]
mod tests {
    use super::{BOOKMARK, FIRST_PRIMARY, FIRST_UNCONSTRAINED, MAX_BOOKMARK, session};
    use crate::http::endpoint::Keyed;
    use crate::http::message::Request;

    #[test]
    fn bookmark_is_valid_only_in_its_own_database() {
        let longest = "a".repeat(MAX_BOOKMARK);
        let too_long = "a".repeat(MAX_BOOKMARK + 1);
        for (sent, shard, since) in [
            ("abc-1", 0, Some("abc-1")),
            ("abc-1", 1, Some(FIRST_PRIMARY)),
            ("01.abc-1", 1, Some("abc-1")),
            ("01.abc-1", 2, Some(FIRST_PRIMARY)),
            ("01.abc-1", 0, Some(FIRST_PRIMARY)),
            (FIRST_UNCONSTRAINED, 0, Some(FIRST_UNCONSTRAINED)),
            (FIRST_UNCONSTRAINED, 1, Some(FIRST_UNCONSTRAINED)),
            (FIRST_PRIMARY, 1, Some(FIRST_PRIMARY)),
            (longest.as_str(), 0, Some(longest.as_str())),
            (too_long.as_str(), 0, None),
            ("", 0, None),
            ("01.", 1, None),
            ("!!.abc", 1, None),
            ("001.abc", 1, None),
            ("a b", 0, None),
        ] {
            let headers = vec![(BOOKMARK.to_owned(), sent.to_owned())];
            let request = Request { headers, ..Request::default() };
            let found = session(&request, Keyed::ListConnections, shard);
            let found = found.ok().map(|session| session.unwrap().since);
            assert_eq!(found.as_deref(), since, "{sent} {shard}");
        }
    }
}
