//! The implementation of the core's ports with Cloudflare's services.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use js_sys::futures::{JsFuture, future_to_promise};
use js_sys::{Array, ArrayBuffer, Promise, Reflect, Uint8Array};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize, Serializer};
use wasm_bindgen::prelude::{Closure, wasm_bindgen};
use wasm_bindgen::{JsCast, JsValue};
use worker::Env;

use super::buffer::Buffer;
use super::{Context, http};
use crate::auth::Shard;
use crate::ports::{
    Algorithm, Background, Blob, Blobs, Clock, Dataset, Db, Http, HttpError, HttpRequest,
    HttpResponse, MAX_RESPONSE, Param, Patterns, Payload, Queue, Random, RateLimit, ResultSet,
    RetryAfter, Signatures, Statement, StorageError, StreamingRequest, StreamingResponse,
};
use crate::util::json;

/// The binding of the Workers KV namespace with the catalog.
const CATALOG: &str = "CATALOG";
/// The `Retry-After` of the rate limit, in seconds. Rate-limit bindings do not return a time, so
/// this is the longer of the two periods that they support.
const RATE_PERIOD: RetryAfter = RetryAfter(60);

/// The ports of a request or of a job.
#[derive(Debug)]
pub struct EdgePorts<'a> {
    /// The Worker's bindings.
    pub env: &'a Env,
    /// The shard whose database is used.
    pub shard: Shard,
    /// Whether the request was forwarded to this shard because the account has moved.
    pub was_forwarded: bool,
    /// `None` for jobs.
    pub request: Option<&'a web_sys::Request>,
    /// The execution context, which keeps the isolate alive after the response. `None` for jobs.
    pub context: Option<&'a Context>,
}

impl<'a> EdgePorts<'a> {
    pub const fn for_jobs(env: &'a Env, shard: Shard) -> Self {
        Self { env, shard, was_forwarded: false, request: None, context: None }
    }
}

#[wasm_bindgen]
extern "C" {
    type KvNamespace;
    #[wasm_bindgen(method, catch)]
    fn get(this: &KvNamespace, key: &str, kind: &str) -> Result<Promise, JsValue>;

    type Bindings;
    #[wasm_bindgen(method, getter, js_name = "RATE_LIMITER")]
    fn rate_limiter(this: &Bindings) -> Option<RateLimiter>;

    /// A rate-limit binding, which is optional.
    type RateLimiter;
    #[wasm_bindgen(method, catch)]
    fn limit(this: &RateLimiter, options: &JsValue) -> Result<Promise, JsValue>;
}

/// Returns a binding by name. Fails if it is missing.
fn binding(env: &Env, name: &str) -> Result<JsValue, JsValue> {
    let value = Reflect::get(env, &name.into())?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(format!("the binding `{name}` is missing").into())
    }
}

/// Whether the shard's database has a binding.
pub fn is_bound(env: &Env, shard: Shard) -> bool {
    shard == Shard::FIRST || binding(env, &shard.binding()).is_ok()
}

impl Blobs for EdgePorts<'_> {
    async fn get(&self, key: &str) -> Result<Option<Rc<dyn Blob>>, StorageError> {
        read(self.env, key)
            .await
            .map_err(|error| StorageError::new(format!("KV, `{key}`: {}", describe(&error))))
    }

    async fn inflate(&self, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, StorageError> {
        let inflated = async { JsFuture::from(http::inflate(&bytes, self.env)?).await };
        match inflated.await {
            Ok(inflated) => Ok(inflated.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec)),
            Err(error) => Err(StorageError::new(format!("inflate: {}", describe(&error)))),
        }
    }

    fn keep(&self, bytes: Vec<u8>) -> Rc<dyn Blob> {
        Rc::new(Buffer(Uint8Array::from(bytes.as_slice())))
    }
}

async fn read(env: &Env, key: &str) -> Result<Option<Rc<dyn Blob>>, JsValue> {
    let store: KvNamespace = binding(env, CATALOG)?.unchecked_into();
    let value = JsFuture::from(store.get(key, "arrayBuffer")?).await?;
    let buffer = value.dyn_ref::<ArrayBuffer>();
    Ok(buffer.map(|buffer| Rc::new(Buffer(Uint8Array::new(buffer))) as Rc<dyn Blob>))
}

impl Db for EdgePorts<'_> {
    fn number(&self) -> u16 {
        self.shard.number()
    }

    fn was_forwarded(&self) -> bool {
        self.was_forwarded
    }

    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        let response = batch(self.env, self.shard, &statements, None).await;
        response.map(|(sets, _)| sets).map_err(|error| StorageError::from_d1(&describe(&error)))
    }

    async fn batch_since(
        &self,
        statements: Vec<Statement>,
        since: &str,
    ) -> Result<(Vec<ResultSet>, Option<String>), StorageError> {
        let response = batch(self.env, self.shard, &statements, Some(since)).await;
        response.map_err(|error| StorageError::from_d1(&describe(&error)))
    }
}

impl Background for EdgePorts<'_> {
    fn run_in_background(&self, statement: Statement) {
        let (env, shard) = (self.env.clone(), self.shard);
        let work = future_to_promise(async move {
            if let Err(error) = batch(&env, shard, &[statement], None).await {
                worker::console_error!("D1, after the response: {}", describe(&error));
            }
            Ok(JsValue::UNDEFINED)
        });
        self.wait_for(&work);
    }

    fn send_in_background(&self, request: HttpRequest, timeout_ms: u32) {
        let work = future_to_promise(async move {
            if let Err(error) = send(&request, timeout_ms).await {
                let origin = crate::targets::origin(&request.url).unwrap_or_default();
                worker::console_error!("{origin}, after the response: {error:?}");
            }
            Ok(JsValue::UNDEFINED)
        });
        self.wait_for(&work);
    }
}

impl EdgePorts<'_> {
    /// Keeps the isolate alive until the promise has settled.
    fn wait_for(&self, work: &Promise) {
        if let Some(context) = self.context {
            let _ = context.wait_until(work);
        }
    }
}

/// Runs statements in one transaction. With `since`, runs them in a session and returns its new
/// bookmark.
async fn batch(
    env: &Env,
    shard: Shard,
    statements: &[Statement],
    since: Option<&str>,
) -> Result<(Vec<ResultSet>, Option<String>), JsValue> {
    let database = binding(env, &shard.binding())?;
    let statements: Vec<WireStatement<'_>> = statements.iter().map(WireStatement).collect();
    let response = http::batch(&database, &json::text(&statements), since)?;
    let response = JsFuture::from(response).await?.unchecked_into::<Array>();
    let mut results = response.iter().filter_map(|result| result.as_string());
    let bookmark = since.and_then(|_| results.next()).filter(|bookmark| !bookmark.is_empty());
    Ok((results.map(result_set).collect(), bookmark))
}

/// Serializes a statement as an array: its SQL, followed by its parameters.
struct WireStatement<'a>(&'a Statement);

impl Serialize for WireStatement<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Statement { sql, params } = self.0;
        let mut list = serializer.serialize_seq(None)?;
        list.serialize_element(sql)?;
        for param in params {
            match param {
                Param::Integer(number) => list.serialize_element(number)?,
                Param::Text(text) => list.serialize_element(text)?,
                Param::Null => list.serialize_element(&())?,
            }
        }
        list.end()
    }
}

/// Parses the result of a statement: three numbers and the rows, separated by spaces.
fn result_set(mut json: String) -> ResultSet {
    let mut parts = json.splitn(4, ' ');
    let mut number = || parts.next().and_then(|text| text.parse().ok()).unwrap_or_default();
    let (rows_read, rows_written, size_after) = (number(), number(), number());
    // Reuses the allocation, because the rows can have several megabytes.
    let rows = parts.next().map_or(0, str::len);
    json.drain(..json.len().saturating_sub(rows));
    ResultSet { json, rows_read, rows_written, size_after }
}

/// The messages of a thrown value and of its cause. Never panics, even if the value is not an
/// `Error`.
fn describe(thrown: &JsValue) -> String {
    let text = |value: &JsValue| {
        Reflect::get(value, &"message".into())
            .ok()
            .and_then(|message| message.as_string())
            .or_else(|| value.as_string())
    };
    let cause = Reflect::get(thrown, &"cause".into()).ok().as_ref().and_then(text);
    [text(thrown), cause].into_iter().flatten().collect::<Vec<_>>().join(": ")
}

/// Sends a request to another service and reads the whole response.
async fn send(request: &HttpRequest, timeout_ms: u32) -> Result<HttpResponse, HttpError> {
    let max = u32::try_from(MAX_RESPONSE).unwrap_or(u32::MAX);
    let (method, head) = (request.method.as_str(), http::head(&request.headers));
    let sent = http::send(method, &request.url, &head, &request.body, timeout_ms, max);
    let response = async { JsFuture::from(sent?).await };
    let response = response.await.map_err(|_| HttpError::Unreachable)?;
    let Some(parts) = response.dyn_ref::<Array>() else {
        return Err(match response.as_f64() {
            Some(2.0) => HttpError::TimedOut,
            Some(3.0) => HttpError::TooLarge,
            _ => HttpError::Unreachable,
        });
    };
    let head = parts.get(1).as_string().unwrap_or_default();
    let headers = head.lines().filter_map(|line| line.split_once(':'));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the platform's statuses have three digits"
    )]
    let status = parts.get(0).as_f64().unwrap_or_default() as u16;
    Ok(HttpResponse {
        status,
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        body: parts.get(2).dyn_ref::<Uint8Array>().map(Uint8Array::to_vec).unwrap_or_default(),
    })
}

impl Http for EdgePorts<'_> {
    async fn send(&self, request: HttpRequest, timeout_ms: u32) -> Result<HttpResponse, HttpError> {
        send(&request, timeout_ms).await
    }

    async fn open(
        &self,
        request: StreamingRequest<'_>,
        timeout_ms: u32,
    ) -> Result<StreamingResponse, HttpError> {
        self.open_stream(request, timeout_ms).await
    }

    async fn read(&self, body: Rc<dyn Any>, max: usize) -> Result<Vec<u8>, HttpError> {
        read_body(body, max, &JsValue::UNDEFINED).await
    }

    async fn read_within(
        &self,
        body: Rc<dyn Any>,
        max: usize,
        grow: Rc<dyn Fn(usize) -> bool>,
    ) -> Result<Vec<u8>, HttpError> {
        let grow = Closure::<dyn Fn(u32) -> bool>::new(move |size| {
            grow(usize::try_from(size).unwrap_or(usize::MAX))
        });
        read_body(body, max, grow.as_ref()).await
    }

    fn copy(&self, body: &Rc<dyn Any>) -> Option<Rc<dyn Any>> {
        let response = body.downcast_ref::<http::PlatformBody>()?.0.borrow();
        let copy = response.as_ref()?.dyn_ref::<web_sys::Response>()?.clone().ok()?;
        Some(Rc::new(http::PlatformBody(RefCell::new(Some(copy.into())))))
    }

    fn decode(&self, charset: &str, bytes: &[u8]) -> Option<String> {
        http::decode(charset, bytes)
    }
}

/// Reads the body of a platform's response. `grow` is undefined, or a function that JavaScript
/// calls with the size so far; if it returns false, reading stops.
async fn read_body(body: Rc<dyn Any>, max: usize, grow: &JsValue) -> Result<Vec<u8>, HttpError> {
    let response = body.downcast_ref::<http::PlatformBody>().and_then(|response| response.0.take());
    let response = response.unwrap_or_default();
    let bytes = http::bytes(&response, u32::try_from(max).unwrap_or(u32::MAX), grow);
    let bytes = async { JsFuture::from(bytes?).await };
    let bytes = bytes.await.map_err(|_| HttpError::Unreachable)?;
    if bytes.is_undefined() {
        return Err(HttpError::TimedOut);
    }
    bytes.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec).ok_or(HttpError::TooLarge)
}

impl EdgePorts<'_> {
    async fn open_stream(
        &self,
        request: StreamingRequest<'_>,
        timeout_ms: u32,
    ) -> Result<StreamingResponse, HttpError> {
        let head = http::head(request.headers);
        let bytes = match request.payload {
            Payload::Bytes(bytes) => Some(bytes),
            Payload::Stream => None,
        };
        let caller_request = self.request.map_or(JsValue::UNDEFINED, JsValue::from);
        let sent =
            http::open(request.method, request.url, &head, bytes, &caller_request, timeout_ms);
        let reply = async { JsFuture::from(sent?).await };
        let reply = reply.await.map_err(|_| HttpError::Unreachable)?;
        let Some(response) = reply.dyn_ref::<web_sys::Response>() else {
            return Err(match reply.as_f64() {
                Some(2.0) => HttpError::TimedOut,
                Some(4.0) => HttpError::CallerDisconnected,
                _ => HttpError::Unreachable,
            });
        };
        Ok(StreamingResponse {
            status: response.status(),
            headers: http::headers(&http::lines(&reply)),
            body: Rc::new(http::PlatformBody(RefCell::new(Some(reply)))),
        })
    }
}

impl Dataset for EdgePorts<'_> {
    fn has_dataset(&self) -> bool {
        binding(self.env, "USAGE").is_ok()
    }

    fn write_points(&self, points: &str) {
        if let Err(error) = http::write_points(self.env, points) {
            worker::console_error!("usage: {}", describe(&error));
        }
    }
}

impl Queue for EdgePorts<'_> {
    async fn enqueue(&self, messages: Vec<String>, delay: Duration) -> Result<bool, StorageError> {
        let delivery = async {
            let marked_messages =
                messages.into_iter().map(|text| JsValue::from(self.shard.mark(text)));
            let messages: Array = marked_messages.collect();
            let seconds = u32::try_from(delay.as_secs()).unwrap_or(u32::MAX);
            JsFuture::from(http::enqueue(self.env, &messages, seconds)?).await
        };
        match delivery.await {
            Ok(has_queue) => Ok(has_queue.as_bool().unwrap_or(false)),
            Err(error) => Err(StorageError::new(format!("queue: {}", describe(&error)))),
        }
    }
}

impl Patterns for EdgePorts<'_> {
    fn is_match(&self, pattern: &str, text: &str) -> bool {
        http::is_match(pattern, text)
    }
}

impl Signatures for EdgePorts<'_> {
    async fn verify(
        &self,
        algorithm: Algorithm,
        key: &str,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let name = algorithm.as_str();
        let verified = async { JsFuture::from(http::verify(name, key, message, signature)?).await };
        verified.await.is_ok_and(|verified| verified.as_bool() == Some(true))
    }

    async fn sign(&self, algorithm: Algorithm, key: &str, message: &[u8]) -> Option<Vec<u8>> {
        let name = algorithm.as_str();
        let signature = async { JsFuture::from(http::sign(name, key, message)?).await };
        signature.await.ok()?.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec)
    }
}

impl Clock for EdgePorts<'_> {
    fn now(&self) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and positive since 1970"
        )]
        let now = js_sys::Date::now() as u64;
        now
    }

    async fn sleep(&self, milliseconds: u32) -> bool {
        http::sleep(milliseconds).await
    }
}

impl Random for EdgePorts<'_> {
    fn fill(&self, bytes: &mut [u8]) {
        // `crypto.getRandomValues` fails only for more than 64 KiB at once.
        let _ = getrandom::fill(bytes);
    }
}

impl RateLimit for EdgePorts<'_> {
    async fn allow(&self, caller: &str) -> Result<(), RetryAfter> {
        let bindings: &Bindings = self.env.unchecked_ref();
        let Some(limiter) = bindings.rate_limiter() else { return Ok(()) };
        match is_allowed(&limiter, caller).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(RATE_PERIOD),
            // The service must remain available if the rate limiter fails.
            Err(error) => {
                worker::console_error!("rate limiter: {}", describe(&error));
                Ok(())
            }
        }
    }
}

#[derive(Serialize)]
struct RateLimitRequest<'a> {
    key: &'a str,
}

#[derive(Deserialize)]
struct RateLimitResponse {
    success: bool,
}

async fn is_allowed(limiter: &RateLimiter, key: &str) -> Result<bool, JsValue> {
    let message = serde_wasm_bindgen::to_value(&RateLimitRequest { key })?;
    let outcome = JsFuture::from(limiter.limit(&message)?).await?;
    let RateLimitResponse { success } = serde_wasm_bindgen::from_value(outcome)?;
    Ok(success)
}
