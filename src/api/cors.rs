//! Cross-origin requests: which pages may call, and what they may read.

use super::config::Config;
use super::message::{NO_STORE, Request, Response};

/// Response headers that a page may read.
const EXPOSED: &str = "ETag, Link, Retry-After, Server-Timing, x-request-id";
/// Seconds for which a browser may remember a preflight; browsers cap it themselves.
const PREFLIGHT_AGE: &str = "86400";

/// The headers that make a cache keep one caller's answer from another.
#[must_use]
pub fn vary(config: &Config) -> String {
    let mut vary = config.secret_headers.join(", ");
    vary.push_str(", origin");
    vary
}

/// Adds what lets the request's page read the response, when it may.
pub fn expose(config: &Config, request: &Request, response: &mut Response) {
    if let Some(origin) = request.header("origin").filter(|origin| config.allows(origin)) {
        response.add("access-control-allow-origin", origin.to_owned());
        response.add("access-control-expose-headers", EXPOSED);
    }
}

/// The answer to OPTIONS: what a page may send, when it may call at all.
#[must_use]
pub fn preflight(config: &Config, request: &Request, allow: &'static str) -> Response {
    let mut response = Response::empty(204);
    response.add("allow", allow);
    response.add("cache-control", NO_STORE);
    if request.header("origin").is_some_and(|origin| config.allows(origin)) {
        let headers = config.secret_headers.join(", ") + ", content-type, if-match, if-none-match";
        response.add("access-control-allow-methods", allow);
        response.add("access-control-allow-headers", headers);
        response.add("access-control-max-age", PREFLIGHT_AGE);
    }
    response
}
