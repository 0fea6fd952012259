//! Cross-origin requests: which pages may call the API, and what they may read.

use super::config::Config;
use super::endpoint::{Endpoint, Keyed, Open};
use super::message::{NO_STORE, Request, Response};
use super::route::{READ_METHODS, Resource, Route};

/// Response headers that a page may read.
const EXPOSED_HEADERS: &str = "ETag, Link, Retry-After, Server-Timing, x-request-id, x-vault-bookmark, x-vault-next, x-vault-retry-at, x-vault-source, WWW-Authenticate";
/// The time that a browser may cache a preflight, in seconds; browsers apply lower limits of their
/// own.
const PREFLIGHT_AGE: &str = "86400";

/// The value of `vary`, which prevents caches from serving one caller's response to another.
pub fn vary(config: &Config) -> String {
    let mut vary = config.secret_headers.join(", ");
    vary.push_str(", origin");
    vary
}

/// Adds the headers that allow the requesting page to read the response, if its origin is allowed.
pub fn expose(config: &Config, request: &Request, response: &mut Response) {
    if let Some(origin) = allowed_origin(config, request) {
        response.add("access-control-allow-origin", origin.to_owned());
        let exposed = if response.proxied.is_some() { "*" } else { EXPOSED_HEADERS };
        response.add("access-control-expose-headers", exposed);
    }
}

/// The origin of the requesting page. Returns `None` when it is not allowed. Pages of every origin may read the `OpenAPI`
/// document.
fn allowed_origin<'a>(config: &Config, request: &'a Request) -> Option<&'a str> {
    let origin = request.header("origin")?;
    let is_document = || {
        matches!(Route::parse(&request.path), Route::Resource(resource)
            if resource.endpoint("GET") == Some(Endpoint::Open(Open::Document)))
    };
    (config.allows(origin) || is_document()).then_some(origin)
}

/// The response to `OPTIONS`. Only an allowed origin learns which headers it may send. `resource` is `None` for a path that
/// does not exist.
pub fn preflight(config: &Config, request: &Request, resource: Option<&Resource>) -> Response {
    let allow = resource.map_or_else(|| READ_METHODS.to_owned(), Resource::allow);
    let mut response = Response::empty(204);
    response.add("allow", allow.clone());
    response.add("cache-control", NO_STORE);
    if allowed_origin(config, request).is_some() {
        let headers = config.secret_headers.join(", ") + additional_headers(resource);
        response.add("access-control-allow-methods", allow);
        response.add("access-control-allow-headers", headers);
        response.add("access-control-max-age", PREFLIGHT_AGE);
    }
    response
}

/// The headers that a page may send in addition to those with the secret.
fn additional_headers(resource: Option<&Resource>) -> &'static str {
    match resource {
        // The request is forwarded to a platform, which may accept any header.
        Some(resource) if resource.has(Keyed::is_proxy) => ", *",
        // MCP clients send these headers, also during their sign-in.
        Some(resource) if resource.open().is_some() => {
            ", authorization, content-type, if-none-match, mcp-method, mcp-name, mcp-protocol-version"
        }
        _ => ", content-type, if-match, if-none-match, x-vault-bookmark",
    }
}
