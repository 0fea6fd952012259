//! Converts requests and responses between the Workers API and the core.

use std::cell::RefCell;

use js_sys::futures::JsFuture;
use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use super::buffer::Buffer;
use crate::console::endpoints::browser::ACCESS_HEADER;
use crate::http::message::{Body, CONNECT_CODE, MAX_BUFFERED_BODY};
use crate::http::service::RequestParts;
use crate::http::{Config, Request, Response};
use crate::platform_calls::headers::RETRIES;
use crate::storage::read_replica::BOOKMARK;
use crate::traces::context::{TRACEPARENT, TRACESTATE};

/// The request headers that the core reads, in addition to those with a secret.
const READ_HEADERS: &[&str] = &[
    "accept",
    "accept-language",
    "origin",
    "sec-fetch-site",
    "if-none-match",
    "if-match",
    "content-type",
    "cookie",
    CONNECT_CODE,
    ACCESS_HEADER,
    BOOKMARK,
    RETRIES,
];

#[wasm_bindgen(module = "/src/edge/glue.js")]
extern "C" {
    fn read(request: &web_sys::Request, names: &Array) -> String;
    #[wasm_bindgen(catch)]
    fn respond(status: u16, head: &str, body: &[u8]) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_name = "respondCached")]
    fn respond_cached(status: u16, head: &str, body: &Uint8Array) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch)]
    fn file(request: &web_sys::Request, env: &JsValue, head: &str) -> Result<Promise, JsValue>;
    /// Resolves to the body of a request or response; to null if it is longer than `max` bytes, or
    /// if `grow` returns false for the size so far; to undefined if the body arrives too slowly.
    /// `grow` may be undefined.
    #[wasm_bindgen(catch)]
    pub fn bytes(message: &JsValue, max: u32, grow: &JsValue) -> Result<Promise, JsValue>;
    /// Serializes all headers of a request or response.
    pub fn lines(message: &JsValue) -> String;
    #[wasm_bindgen(catch, js_name = "respondProxied")]
    fn respond_proxied(status: u16, head: &str, response: &JsValue) -> Result<JsValue, JsValue>;
    /// Cancels the body of a response.
    pub fn discard(response: &JsValue);
    /// Sends a request. Resolves as soon as the response begins.
    #[wasm_bindgen(catch)]
    pub fn open(
        method: &str,
        url: &str,
        head: &str,
        body: Option<&[u8]>,
        request: &JsValue,
        timeout_ms: u32,
    ) -> Result<Promise, JsValue>;
    /// Sends a request. Resolves when the whole response has been read.
    #[wasm_bindgen(catch)]
    pub fn send(
        method: &str,
        url: &str,
        head: &str,
        body: &[u8],
        timeout_ms: u32,
        max: u32,
    ) -> Result<Promise, JsValue>;
    /// Runs statements, a JSON array, in one transaction. Resolves to an array with a string for
    /// each result. With `since`, the first string is the new bookmark of the session that starts
    /// there.
    #[wasm_bindgen(catch)]
    pub fn batch(
        database: &JsValue,
        statements: &str,
        since: Option<&str>,
    ) -> Result<Promise, JsValue>;
    /// Sends messages to the queue, to be delivered after `seconds`. Resolves to false if no queue
    /// is configured.
    #[wasm_bindgen(catch)]
    pub fn enqueue(env: &JsValue, messages: &Array, seconds: u32) -> Result<Promise, JsValue>;
    /// Writes data points to the dataset, if one is configured.
    #[wasm_bindgen(catch, js_name = "writePoints")]
    pub fn write_points(env: &JsValue, points: &str) -> Result<(), JsValue>;
    /// Resolves to the decompressed bytes, or to null if `bytes` are corrupt.
    #[wasm_bindgen(catch)]
    pub fn inflate(bytes: &[u8], env: &JsValue) -> Result<Promise, JsValue>;
    /// Decodes bytes in a charset. Returns `None` if the charset is unknown or the bytes are
    /// invalid.
    pub fn decode(charset: &str, bytes: &[u8]) -> Option<String>;
    /// Resolves to whether the signature of a message is valid for a public key.
    #[wasm_bindgen(catch)]
    pub fn verify(
        algorithm: &str,
        key: &str,
        message: &[u8],
        signature: &[u8],
    ) -> Result<Promise, JsValue>;
    /// Resolves to the signature of a message with a private key, or to null if the key is invalid.
    #[wasm_bindgen(catch)]
    pub fn sign(algorithm: &str, key: &str, message: &[u8]) -> Result<Promise, JsValue>;
    #[wasm_bindgen(js_name = "isMatch")]
    pub fn is_match(pattern: &str, text: &str) -> bool;
    type Pause;
    #[wasm_bindgen(catch)]
    fn pause(milliseconds: u32) -> Result<Pause, JsValue>;
    #[wasm_bindgen(method, getter)]
    fn over(this: &Pause) -> Promise;
    #[wasm_bindgen(method)]
    fn end(this: &Pause);
}

/// Ends the pause when its future is dropped.
struct PauseGuard(Pause);

impl Drop for PauseGuard {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Waits for this many milliseconds. Returns `false` immediately if the runtime has no timers.
pub async fn sleep(milliseconds: u32) -> bool {
    let Ok(pause) = pause(milliseconds).map(PauseGuard) else { return false };
    JsFuture::from(pause.0.over()).await.is_ok()
}

/// Reads the remaining headers and the body, which [`request`] has not read.
pub async fn read_rest(
    request: &mut Request,
    parts: RequestParts,
    sent: &web_sys::Request,
) -> Result<(), JsValue> {
    match parts {
        RequestParts::Nothing => {}
        RequestParts::Body(max) => {
            // Requests to the MCP endpoint already have all headers.
            if request.header(TRACEPARENT).is_none() {
                request.headers.append(&mut trace_headers(sent));
            }
            request.body = read_body(sent, max).await?;
        }
        RequestParts::All => {
            request.headers = headers(&lines(sent));
            request.body = forwarded_body(sent, &request.headers).await?;
        }
    }
    Ok(())
}

/// Reads the body of a request up to `max` bytes. Fails if the caller disconnects while sending it.
async fn read_body(request: &web_sys::Request, max: usize) -> Result<Body, JsValue> {
    let max = u32::try_from(max).unwrap_or(u32::MAX);
    let bytes = JsFuture::from(bytes(request, max, &JsValue::UNDEFINED)?).await?;
    if bytes.is_undefined() {
        return Ok(Body::TimedOut);
    }
    Ok(bytes.dyn_ref::<Uint8Array>().map_or(Body::TooLarge, |bytes| Body::Whole(bytes.to_vec())))
}

/// The body of a request to forward. Short bodies are read; long ones, and those without a declared
/// length, are streamed.
async fn forwarded_body(
    request: &web_sys::Request,
    headers: &[(String, String)],
) -> Result<Body, JsValue> {
    if matches!(request.method().as_str(), "GET" | "HEAD") && request.body().is_some() {
        // With these methods, no body is forwarded; the core only checks whether there is one.
        return read_body(request, 0).await;
    }
    let has_body = request.body().is_some();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: Option<usize> = length.and_then(|(_, value)| value.parse().ok());
    match length {
        _ if !has_body => Ok(Body::default()),
        Some(length) if length <= MAX_BUFFERED_BODY => read_body(request, MAX_BUFFERED_BODY).await,
        _ => Ok(Body::Stream),
    }
}

/// The response of another service. Dropping it cancels the transfer, unless the response has been
/// passed on to the caller.
#[derive(Debug)]
pub struct PlatformBody(pub RefCell<Option<JsValue>>);

impl Drop for PlatformBody {
    fn drop(&mut self) {
        if let Some(response) = self.0.take() {
            discard(&response);
        }
    }
}

/// Returns the static file for a request, with additional headers. Fails if the Worker has no
/// static files, or if the runtime fails.
pub async fn site_file(
    request: &web_sys::Request,
    env: &JsValue,
    headers: &[(&str, String)],
) -> Result<JsValue, JsValue> {
    JsFuture::from(file(request, env, &head(headers))?).await
}

/// Serializes headers as lines `name:value`.
pub fn head<N: AsRef<str>>(headers: &[(N, String)]) -> String {
    let mut head = String::with_capacity(512);
    for (name, value) in headers {
        if !head.is_empty() {
            head.push('\n');
        }
        head.push_str(name.as_ref());
        head.push(':');
        head.push_str(value);
    }
    head
}

/// The names of the request headers that the core reads.
pub fn names(config: &Config) -> Array {
    config
        .secret_headers
        .iter()
        .map(String::as_str)
        .chain(READ_HEADERS.iter().copied())
        .map(JsValue::from_str)
        .collect()
}

/// Parses headers from lines `name:value`.
pub fn headers(lines: &str) -> Vec<(String, String)> {
    let headers = lines.split('\n').filter_map(|line| line.split_once(':'));
    headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The trace context headers of a request. Only requests that may call a platform need them.
fn trace_headers(request: &web_sys::Request) -> Vec<(String, String)> {
    let mut headers = headers(&lines(request));
    headers.retain(|(name, _)| name == TRACEPARENT || name == TRACESTATE);
    headers
}

/// Reads the method, URL and headers that the core needs from a request.
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
        endpoint: None,
    }
}

/// Splits an absolute URL into origin, path and query, without the `?` and the fragment.
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

/// Converts a response to a `Response` of the Workers API.
pub fn response(response: &Response) -> Result<JsValue, JsValue> {
    let own_headers = head(&response.headers);
    if let Some(proxied) = &response.proxied {
        let reply = proxied.body.downcast_ref::<PlatformBody>().and_then(|reply| reply.0.take());
        // If several headers have the same name, the last one is sent.
        let all = head(&proxied.headers) + "\n" + &own_headers;
        return respond_proxied(response.status, &all, &reply.unwrap_or_default());
    }
    let head = own_headers;
    match response.cached.as_ref().and_then(|buffer| buffer.as_any().downcast_ref::<Buffer>()) {
        Some(Buffer(buffer)) => respond_cached(response.status, &head, buffer),
        None => respond(response.status, &head, &response.body),
    }
}
