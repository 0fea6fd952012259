//! Requests and responses between the platform's form and the core's.

use js_sys::futures::JsFuture;
use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::api::message::{Body, MAX_BODY};
use crate::api::{Config, Request, Response};

/// Headers that the core reads, besides those that carry the secret.
const READ: [&str; 5] = ["origin", "sec-fetch-site", "if-none-match", "if-match", "content-type"];

#[wasm_bindgen(module = "/src/edge/glue.js")]
extern "C" {
    fn read(request: &web_sys::Request, names: &Array) -> String;
    #[wasm_bindgen(catch)]
    fn respond(status: u16, head: &str, body: &[u8]) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch)]
    fn body(request: &web_sys::Request, most: u32) -> Result<Promise, JsValue>;
    /// A promise that is kept after some time.
    #[wasm_bindgen(catch)]
    pub fn sleep(milliseconds: u32) -> Result<Promise, JsValue>;
}

/// The body of a request; of one that is too large no more is read than tells so.
///
/// # Errors
/// When the caller went away while sending it.
pub async fn read_body(request: &web_sys::Request) -> Result<Body, JsValue> {
    let most = u32::try_from(MAX_BODY).unwrap_or(u32::MAX);
    let bytes = JsFuture::from(body(request, most)?).await?;
    Ok(bytes.dyn_ref::<Uint8Array>().map_or(Body::TooLarge, |bytes| Body::Whole(bytes.to_vec())))
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
        body: Body::default(),
    }
}

/// Origin, path and query of an absolute URL.
fn split(url: &str) -> (&str, &str, &str) {
    let without_fragment = url.split('#').next().unwrap_or_default();
    let (address, query) = without_fragment.split_once('?').unwrap_or((without_fragment, ""));
    let authority = address.find(':').map_or(0, |at| at.saturating_add("://".len()));
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
