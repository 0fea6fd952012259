//! Cloudflare's storage behind the core's ports.

use js_sys::futures::JsFuture;
use js_sys::{Array, ArrayBuffer, JSON, Promise, Reflect, Uint8Array};
use memchr::memmem::Finder;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use worker::Env;
use worker::worker_sys::types::D1Database;

use super::http;
use crate::access::key::KeyHash;
use crate::ports::{
    Blobs, Clock, Db, Param, Random, RateLimit, ResultSet, RetryAfter, Statement, StorageError,
};

/// The Workers KV namespace with the catalog.
const CATALOG: &str = "CATALOG";
/// The D1 database with keys and connections.
const VAULT: &str = "VAULT";
/// Seconds: the longer one of the two periods that the rate-limit binding knows. It tells no more than yes or no.
const RATE_PERIOD: RetryAfter = RetryAfter(60);

/// The Worker's bindings.
#[derive(Debug)]
pub struct EdgePorts<'a> {
    /// The bindings as the platform gives them.
    pub env: &'a Env,
}

#[wasm_bindgen]
extern "C" {
    /// A Workers KV namespace.
    type KvNamespace;
    #[wasm_bindgen(method, catch)]
    fn get(this: &KvNamespace, key: &str, kind: &str) -> Result<Promise, JsValue>;

    /// The bindings that are looked at in every request.
    type Bindings;
    #[wasm_bindgen(method, getter, js_name = "RATE_LIMITER")]
    fn rate_limiter(this: &Bindings) -> Option<RateLimiter>;

    /// A rate-limit binding; optional.
    type RateLimiter;
    #[wasm_bindgen(method, catch)]
    fn limit(this: &RateLimiter, options: &JsValue) -> Result<Promise, JsValue>;
}

/// The binding of this name; a missing one is an error, never a trap.
fn binding(env: &Env, name: &str) -> Result<JsValue, JsValue> {
    let value = Reflect::get(env, &name.into())?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(format!("the binding `{name}` is missing").into())
    }
}

impl Blobs for EdgePorts<'_> {
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StorageError> {
        read(self.env, key)
            .await
            .map_err(|error| StorageError::new(format!("KV, `{key}`: {}", describe(&error))))
    }
}

async fn read(env: &Env, key: &str) -> Result<Option<Vec<u8>>, JsValue> {
    let store: KvNamespace = binding(env, CATALOG)?.unchecked_into();
    let value = JsFuture::from(store.get(key, "arrayBuffer")?).await?;
    Ok(value.dyn_ref::<ArrayBuffer>().map(|buffer| Uint8Array::new(buffer).to_vec()))
}

impl Db for EdgePorts<'_> {
    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        batch(self.env, &statements).await.map_err(|error| {
            let cause = describe(&error);
            StorageError {
                lost: LOST.iter().any(|text| Finder::new(text).find(cause.as_bytes()).is_some()),
                cause: format!("D1: {cause}"),
            }
        })
    }
}

/// What D1 says when a statement's fate is unknown, or it was not run at all, and it may be run again.
const LOST: [&str; 3] = [
    "Network connection lost",
    "storage caused object to be reset",
    "reset because its code was updated",
];

async fn batch(env: &Env, statements: &[Statement]) -> Result<Vec<ResultSet>, JsValue> {
    let database: D1Database = binding(env, VAULT)?.unchecked_into();
    let prepared = Array::new();
    for statement in statements {
        let params: Array = statement.params.iter().map(to_js).collect();
        let bound = database.prepare(&statement.sql)?.bind(params)?;
        prepared.push(bound.as_ref());
    }
    let results: Array = JsFuture::from(database.batch(prepared)?).await?.dyn_into()?;
    results.iter().map(|result| result_set(&result)).collect()
}

fn to_js(param: &Param) -> JsValue {
    match param {
        // D1 knows JavaScript's numbers only; the port promises that no integer is too large for one.
        #[expect(clippy::cast_precision_loss, reason = "below 2^53 by the port's contract")]
        Param::Integer(value) => JsValue::from_f64(*value as f64),
        Param::Text(text) => JsValue::from_str(text),
        Param::Null => JsValue::NULL,
    }
}

fn result_set(result: &JsValue) -> Result<ResultSet, JsValue> {
    let meta = Reflect::get(result, &"meta".into())?;
    let rows = Reflect::get(result, &"results".into())?;
    Ok(ResultSet {
        json: JSON::stringify(&rows)?.into(),
        rows_read: count(&meta, "rows_read"),
        rows_written: count(&meta, "rows_written"),
    })
}

fn count(meta: &JsValue, name: &str) -> u64 {
    let value =
        Reflect::get(meta, &name.into()).ok().and_then(|value| value.as_f64()).unwrap_or(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates, and a count is whole"
    )]
    let value = value as u64;
    value
}

/// The message of a thrown value and of its cause; never traps, whatever was thrown.
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

    async fn sleep(&self, milliseconds: u32) {
        // Without timers there is no waiting, and no harm.
        if let Ok(promise) = http::sleep(milliseconds) {
            let _ = JsFuture::from(promise).await;
        }
    }
}

impl Random for EdgePorts<'_> {
    fn fill(&self, bytes: &mut [u8]) {
        // The platform's `crypto.getRandomValues` fails for more than 64 KiB at once only.
        let _ = getrandom::fill(bytes);
    }
}

impl RateLimit for EdgePorts<'_> {
    async fn allow(&self, key: &KeyHash) -> Result<(), RetryAfter> {
        let bindings: &Bindings = self.env.unchecked_ref();
        let Some(limiter) = bindings.rate_limiter() else { return Ok(()) };
        match is_allowed(&limiter, &key.to_string()).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(RATE_PERIOD),
            // A limiter out of order must not put the service out of order.
            Err(error) => {
                worker::console_error!("rate limiter: {}", describe(&error));
                Ok(())
            }
        }
    }
}

async fn is_allowed(limiter: &RateLimiter, key: &str) -> Result<bool, JsValue> {
    let options = js_sys::Object::new();
    Reflect::set(&options, &"key".into(), &key.into())?;
    let outcome = JsFuture::from(limiter.limit(&options)?).await?;
    Ok(Reflect::get(&outcome, &"success".into())?.is_truthy())
}
