//! Requests and responses between the platform's form and the core's.

use js_sys::Uint8Array;
use wasm_bindgen::JsValue;

use crate::api::{Config, Request, Response};

/// Headers that the core reads, besides those that carry the key.
const READ: [&str; 2] = ["origin", "if-none-match"];

/// The parts of a request that the core reads.
pub fn request(request: &web_sys::Request, config: &Config) -> Request {
    let url = request.url();
    let (origin, path, query) = split(&url);
    let sent = request.headers();
    let names = config.secret_headers.iter().map(String::as_str).chain(READ);
    let headers = names.filter_map(|name| Some((name.to_owned(), sent.get(name).ok()??))).collect();
    Request {
        method: request.method(),
        origin: origin.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers,
    }
}

/// Origin, path and query of an absolute URL.
fn split(url: &str) -> (&str, &str, &str) {
    let without_fragment = url.split('#').next().unwrap_or_default();
    let (address, query) = without_fragment.split_once('?').unwrap_or((without_fragment, ""));
    let authority = address.find("://").map_or(0, |at| at.saturating_add(3));
    let path = address
        .get(authority..)
        .and_then(|rest| rest.find('/'))
        .map(|at| at.saturating_add(authority));
    let (origin, path) =
        address.split_at_checked(path.unwrap_or(address.len())).unwrap_or((address, ""));
    (origin, path, query)
}

/// The platform's form of a response.
pub fn response(response: &Response) -> Result<web_sys::Response, JsValue> {
    let headers = web_sys::Headers::new()?;
    for (name, value) in &response.headers {
        headers.append(name, value)?;
    }
    let init = web_sys::ResponseInit::new();
    init.set_status(response.status);
    init.set_headers(&headers);
    if response.body.is_empty() {
        return web_sys::Response::new_with_opt_str_and_init(None, &init);
    }
    // A copy: the body outlives this call, and a view into the wasm memory would not.
    let body = Uint8Array::from(response.body.as_slice());
    web_sys::Response::new_with_opt_js_u8_array_and_init(Some(&body), &init)
}
