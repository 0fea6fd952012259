//! Requests and responses between the platform's form and the core's.

use js_sys::Array;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::api::{Config, Request, Response};

/// Headers that the core reads, besides those that carry the key.
const READ: [&str; 2] = ["origin", "if-none-match"];

#[wasm_bindgen(module = "/src/edge/glue.js")]
extern "C" {
    fn read(request: &web_sys::Request, names: &Array) -> String;
    #[wasm_bindgen(catch)]
    fn respond(status: u16, head: &str, body: &[u8]) -> Result<JsValue, JsValue>;
}

/// The names of the headers that the core reads.
pub fn names(config: &Config) -> Array {
    config.secret_headers.iter().map(String::as_str).chain(READ).map(JsValue::from_str).collect()
}

/// The parts of a request that the core reads.
pub fn request(request: &web_sys::Request, names: &Array) -> Request {
    let text = read(request, names);
    let mut lines = text.split('\n');
    let method = lines.next().unwrap_or_default();
    let (origin, path, query) = split(lines.next().unwrap_or_default());
    let headers = lines.filter_map(|line| line.split_once(':'));
    Request {
        method: method.to_owned(),
        origin: origin.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
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
pub fn response(response: &Response) -> Result<JsValue, JsValue> {
    let mut head = String::with_capacity(512);
    for (name, value) in &response.headers {
        if !head.is_empty() {
            head.push('\n');
        }
        head.push_str(name);
        head.push(':');
        head.push_str(value);
    }
    respond(response.status, &head, &response.body)
}
