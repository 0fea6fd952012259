//! Reading near the caller: a copy of the database may answer, which is at least as new as the bookmark that the caller sends.
//!
//! Whoever sends no bookmark reads what the primary has. Whatever writes, or decides by what it reads about credentials, runs
//! on the primary always.

use crate::auth::Shard;
use crate::http::endpoint::Keyed;
use crate::http::message::Request;
use crate::http::problem::{Code, Fault, Place, Problem};

/// The header that asks for copies, and that returns a bookmark.
pub const BOOKMARK: &str = "x-vault-bookmark";
/// Any copy, however old.
pub const ANY: &str = "first-unconstrained";
/// What the primary has now.
pub const PRIMARY: &str = "first-primary";
/// Characters of a bookmark, its database included; D1's have 59.
pub const MAX: usize = 200;

/// The session in which a request's statements run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// A bookmark of the database, [`ANY`] or [`PRIMARY`].
    pub since: String,
    /// Whether copies may answer. If not, the session only tells where it ended.
    pub is_near: bool,
}

/// The session that a request asks for. Returns `None` when it asks for none, or when the endpoint reads nothing in the
/// vault.
///
/// # Errors
/// When the header has another form than a bookmark.
pub fn session(request: &Request, endpoint: Keyed, shard: u16) -> Result<Option<Session>, Problem> {
    let Some(sent) = request.header(BOOKMARK) else { return Ok(None) };
    if !endpoint.takes_bookmark() {
        return Ok(None);
    }
    let (digits, bookmark) = match sent.split_once('.') {
        Some((digits, bookmark)) => (Some(digits), bookmark),
        None => (None, sent),
    };
    let is_prefix =
        |digits: &str| digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_bookmark = !bookmark.is_empty()
        && sent.len() <= MAX
        && digits.is_none_or(is_prefix)
        && bookmark.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !is_bookmark {
        return Err(malformed());
    }
    let database = digits.map_or(Some(Shard::FIRST), Shard::of_digits);
    let is_here = database.is_some_and(|database| database.number() == shard);
    // The account has moved since: its new database knows nothing of the old one's bookmarks.
    let since = if is_here || [ANY, PRIMARY].contains(&sent) { bookmark } else { PRIMARY };
    Ok(Some(Session { since: since.to_owned(), is_near: endpoint.may_be_near() }))
}

/// The header's value for a bookmark of the database of this number.
#[must_use]
pub fn marked(bookmark: &str, shard: u16) -> String {
    match Shard::new(shard) {
        Some(shard) if shard != Shard::FIRST => format!("{}.{bookmark}", shard.digits()),
        _ => bookmark.to_owned(),
    }
}

fn malformed() -> Problem {
    let detail = format!(
        "`{BOOKMARK}` must be `{ANY}`, `{PRIMARY}`, or what an earlier response returned in this header"
    );
    let place = Place::Parameter(BOOKMARK.into());
    Problem::of_fault(Fault { code: Code::InvalidParameter, place, detail, suggestion: None })
}

#[cfg(test)]
mod tests {
    use super::{ANY, BOOKMARK, MAX, PRIMARY, session};
    use crate::http::endpoint::Keyed;
    use crate::http::message::Request;

    #[test]
    fn a_bookmark_counts_in_its_own_database_only() {
        let longest = "a".repeat(MAX);
        let too_long = "a".repeat(MAX + 1);
        for (sent, shard, since) in [
            ("abc-1", 0, Some("abc-1")),
            ("abc-1", 1, Some(PRIMARY)),
            ("01.abc-1", 1, Some("abc-1")),
            ("01.abc-1", 2, Some(PRIMARY)),
            ("01.abc-1", 0, Some(PRIMARY)),
            (ANY, 0, Some(ANY)),
            (ANY, 1, Some(ANY)),
            (PRIMARY, 1, Some(PRIMARY)),
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
