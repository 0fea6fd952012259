//! Requests and responses as plain structs.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use crate::auth::Shard;
use crate::ports::Blob;

/// The header with the code that the connect window exchanges for a token.
pub const CONNECT_CODE: &str = "x-connect-code";
/// `cache-control` of the catalog: caches must revalidate before each use.
pub const NO_CACHE: &str = "private, no-cache";
/// `cache-control` of all other responses.
pub const NO_STORE: &str = "private, no-store";

/// A request. `Debug` hides the body and the values of headers, which include the key.
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
    pub body: Body,
    /// The id of the MCP endpoint whose tool sends this request; `None` for requests from outside.
    pub endpoint: Option<String>,
}

#[derive(Clone, PartialEq, Eq)]
pub enum Body {
    /// The whole body, within the endpoint's size limit.
    Whole(Vec<u8>),
    /// The body exceeds the endpoint's size limit, so it was not read to its end.
    TooLarge,
    /// Not read: the Worker streams the body to the platform.
    Stream,
    /// The body did not arrive in time.
    TimedOut,
    /// Not read: the isolate or the caller has reserved too much memory for bodies.
    Refused,
}

/// The maximum size of a request body in bytes, unless the endpoint has its own.
pub const MAX_BODY: usize = 64 << 10;

/// The maximum size of an import in bytes.
pub const MAX_IMPORT: usize = 1 << 20;

/// The size in bytes up to which a forwarded body is buffered, so that it can be signed or sent
/// again.
pub const MAX_BUFFERED_BODY: usize = 1 << 20;

impl Default for Body {
    fn default() -> Self {
        Self::Whole(Vec::new())
    }
}

impl Request {
    /// The value of a header. `name` must be in lower case. Returns `None` when it was not sent.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether a browser prefetches the page, before the user opens it. Safari names the header
    /// `purpose`, and Firefox named it `x-moz`.
    /// <https://wicg.github.io/nav-speculation/prefetch.html#sec-purpose-header>
    pub fn is_prefetch(&self) -> bool {
        let mut values = ["sec-purpose", "purpose", "x-moz"].iter().map(|name| self.header(name));
        values.any(|value| value.is_some_and(|value| value.trim_start().starts_with("prefetch")))
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        write!(f, "{} {}?{} {names:?}", self.method, self.path, self.query)
    }
}

#[derive(Debug, Clone, Default)]
pub struct Response {
    pub status: u16,
    /// Header names in lower case, with their values.
    pub headers: Vec<(&'static str, String)>,
    /// The body; empty when `cached`, `is_asset` or `proxied` determines it.
    pub body: Vec<u8>,
    /// A body that the isolate caches.
    pub cached: Option<Rc<dyn Blob>>,
    /// Whether the body is the site's static file at the request's path.
    pub is_asset: bool,
    /// A response that is proxied from a platform.
    pub proxied: Option<ProxiedResponse>,
    /// Whether webhook deliveries are due. The Worker sends them after the response.
    pub has_deliveries: bool,
    /// A message for the operator's log.
    pub log: Option<String>,
    /// The database that the caller's account was moved to. The Worker then discards this response,
    /// and handles the request there.
    pub moved_to: Option<Shard>,
}

/// A response that is proxied from a platform.
#[derive(Debug, Clone)]
pub struct ProxiedResponse {
    /// The platform's headers, sent before this service's own: names in lower case, with their
    /// values.
    pub headers: Vec<(String, String)>,
    /// The platform's body, in a type that the Worker defines.
    pub body: Rc<dyn Any>,
}

impl Response {
    /// A response without a body.
    pub fn empty(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// The response to a change: 204, without a body.
    pub fn no_content() -> Self {
        let mut response = Self::empty(204);
        response.add("cache-control", NO_STORE);
        response
    }

    /// A redirect after which the browser sends `GET`. The URL may contain secrets, so browsers
    /// must neither cache it nor send it as a referrer.
    pub fn see_other(url: impl Into<String>) -> Self {
        let mut response = Self::empty(303);
        response.add("location", url);
        response.add("cache-control", NO_STORE);
        response.add("referrer-policy", "no-referrer");
        response
    }

    pub fn json(body: Vec<u8>, cache_control: &'static str) -> Self {
        let headers = vec![
            ("content-type", "application/json".into()),
            ("cache-control", cache_control.into()),
        ];
        Self { status: 200, headers, body, ..Self::default() }
    }

    /// The headers to add to a static file. If this response sets no content security policy, the
    /// file keeps the one in the site's `_headers`.
    pub fn asset_headers(&self) -> Vec<(&'static str, String)> {
        let has_policy = self.header("content-security-policy").is_some();
        let adds = |name| {
            let common = ["server-timing", "strict-transport-security", "vary", "x-request-id"];
            has_policy || common.contains(&name)
        };
        self.headers.iter().filter(|(name, _)| adds(*name)).cloned().collect()
    }

    /// Adds a header. `name` must be in lower case.
    pub fn add(&mut self, name: &'static str, value: impl Into<String>) {
        self.headers.push((name, value.into()));
    }

    /// Adds names to `vary`. The Worker sends each header once.
    pub(super) fn add_to_vary(&mut self, names: &str) {
        match self.headers.iter_mut().find(|(name, _)| *name == "vary") {
            Some((_, value)) => {
                value.push_str(", ");
                value.push_str(names);
            }
            None => self.add("vary", names),
        }
    }

    /// Drops the body, as required for `HEAD`, and states its length.
    pub(super) fn drop_body(&mut self) {
        let cached = self.cached.take().map(|body| body.size());
        let size = cached.unwrap_or(self.body.len());
        if size > 0 {
            self.add("content-length", size.to_string());
            self.body.clear();
        }
    }

    /// The value of a header. `name` must be in lower case. Returns `None` when the response has no such header.
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
            response.asset_headers().iter().map(|(name, _)| *name).collect::<Vec<_>>()
        };
        assert_eq!(names(&response), ["vary", "x-request-id"]);
        assert_eq!(response.asset_headers()[0].1, "origin");
        response.add("content-security-policy", "default-src 'none'");
        let all = ["vary", "referrer-policy", "x-request-id", "content-security-policy"];
        assert_eq!(names(&response), all);
    }
}
