//! Requests and responses as plain structs.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use crate::auth::Shard;
use crate::ports::Blob;

/// `cache-control` of the catalog: a cache must revalidate before each use.
pub const NO_CACHE: &str = "private, no-cache";
/// `cache-control` of everything else.
pub const NO_STORE: &str = "private, no-store";

/// A request's parts, as they were sent. `Debug` shows no header values, since one of them is a key, and no body.
#[derive(Clone, Default)]
pub struct Request {
    /// The method, case-sensitive.
    pub method: String,
    /// Scheme, host and port of the service: `https://vault.example`.
    pub origin: String,
    /// The path, percent-encoded.
    pub path: String,
    /// The query without its `?`.
    pub query: String,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Body,
    /// The id of the MCP endpoint whose tool sends this request to the API itself; `None` for every request that arrives.
    pub endpoint: Option<String>,
}

/// The body of a request.
#[derive(Clone, PartialEq, Eq)]
pub enum Body {
    /// All of it, at most [`MAX_BODY`] bytes.
    Whole(Vec<u8>),
    /// More than [`MAX_BODY`] bytes; the rest was not read.
    TooLarge,
    /// Not read: the platform code holds it as a stream.
    Arriving,
}

/// The most bytes that a request body may have.
pub const MAX_BODY: usize = 64 << 10;

/// The most bytes of a request that is passed on which are held, so that they can be signed or sent again.
pub const MAX_HELD: usize = 1 << 20;

impl Default for Body {
    fn default() -> Self {
        Self::Whole(Vec::new())
    }
}

impl Request {
    /// The value of a header. `name` must be in lower case. Returns `None` when it was not sent.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        write!(f, "{} {}?{} {names:?}", self.method, self.path, self.query)
    }
}

/// A response's parts.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// Header names in lower case, with their values.
    pub headers: Vec<(&'static str, String)>,
    /// The body; empty when there is none or when `kept` holds it.
    pub body: Vec<u8>,
    /// The body, when the isolate keeps it to send it again; `body` is then empty.
    pub kept: Option<Rc<dyn Blob>>,
    /// Whether the platform answers with the site's static file at the request's path instead.
    pub is_file: bool,
    /// What a platform answered, when that is passed on; `body` and `kept` are then empty.
    pub passed: Option<Passed>,
    /// Whether deliveries to webhooks are due, which whoever sends the response has sent after it.
    pub has_deliveries: bool,
    /// A message for the operator's log.
    pub log: Option<String>,
    /// The database that the caller's account was moved to: the request is to be answered there, and this response is not
    /// sent.
    pub moved_to: Option<Shard>,
}

/// A platform's answer that is passed on.
#[derive(Debug, Clone)]
pub struct Passed {
    /// Its headers, which come before this service's own: names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// Its body, for the platform code.
    pub body: Rc<dyn Any>,
}

impl Response {
    /// A response without a body.
    #[must_use]
    pub fn empty(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// The response to a change that leaves nothing to be shown.
    #[must_use]
    pub fn no_content() -> Self {
        let mut response = Self::empty(204);
        response.add("cache-control", NO_STORE);
        response
    }

    /// A JSON response.
    #[must_use]
    pub fn json(body: Vec<u8>, cache_control: &'static str) -> Self {
        let headers = vec![
            ("content-type", "application/json".into()),
            ("cache-control", cache_control.into()),
        ];
        Self { status: 200, headers, body, ..Self::default() }
    }

    /// The headers that a static file gets besides its own. A file without a policy of this service keeps what the site's
    /// `_headers` say.
    #[must_use]
    pub fn file_headers(&self) -> Vec<(&'static str, String)> {
        let has_policy = self.header("content-security-policy").is_some();
        let adds = |name| {
            let of_all = ["server-timing", "strict-transport-security", "vary", "x-request-id"];
            has_policy || of_all.contains(&name)
        };
        self.headers.iter().filter(|(name, _)| adds(*name)).cloned().collect()
    }

    /// Adds a header. `name` must be in lower case.
    pub fn add(&mut self, name: &'static str, value: impl Into<String>) {
        self.headers.push((name, value.into()));
    }

    /// Drops the body, as a response to `HEAD` must, and states its length.
    pub(super) fn drop_body(&mut self) {
        let kept = self.kept.take().map(|body| body.size());
        let size = kept.unwrap_or(self.body.len());
        if size > 0 {
            self.add("content-length", size.to_string());
            self.body.clear();
        }
    }

    /// The value of a header. `name` must be in lower case. Returns `None` when the response has no such header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::{Request, Response};

    #[test]
    fn a_request_in_a_log_shows_no_secret() {
        let request = Request {
            method: "GET".into(),
            path: "/v1/whoami".into(),
            query: "a=b".into(),
            headers: vec![("authorization".into(), "Bearer secret".into())],
            ..Request::default()
        };
        assert_eq!(format!("{request:?}"), "GET /v1/whoami?a=b [\"authorization\"]");
    }

    #[test]
    fn a_file_without_a_policy_keeps_its_own_headers() {
        let mut response = Response::empty(200);
        response.add("vary", "origin");
        response.add("referrer-policy", "no-referrer");
        response.add("x-request-id", "r");
        let names = |response: &Response| {
            response.file_headers().iter().map(|(name, _)| *name).collect::<Vec<_>>()
        };
        assert_eq!(names(&response), ["vary", "x-request-id"]);
        assert_eq!(response.file_headers()[0].1, "origin");
        response.add("content-security-policy", "default-src 'none'");
        let all = ["vary", "referrer-policy", "x-request-id", "content-security-policy"];
        assert_eq!(names(&response), all);
    }
}
