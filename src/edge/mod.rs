//! The Cloudflare Worker, and the only code that uses the Workers API. It only converts between
//! that API and the core.

mod buffer;
mod http;
mod ports;

use std::cell::OnceCell;
use std::rc::Rc;
use std::task::{self, Poll, Waker};

use js_sys::futures::future_to_promise;
use js_sys::{Array, Promise};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;

use crate::auth::Shard;
use crate::http::config::Variables;
use crate::http::handle::{MAX_FORWARDS, handle};
use crate::http::message::{MAX_BODY, MAX_BUFFERED_BODY};
use crate::http::problem::Problem;
use crate::http::service::RequestParts;
use crate::http::{Config, Service};
use crate::jobs;
use crate::ports::Clock as _;
use crate::usage;
use ports::{EdgePorts, is_bound};

#[wasm_bindgen]
extern "C" {
    /// The execution context that the runtime passes with each request.
    #[derive(Debug, Clone)]
    pub type Context;
    /// Keeps the isolate alive until the promise has settled.
    #[wasm_bindgen(method, catch, js_name = "waitUntil")]
    fn wait_until(this: &Context, promise: &Promise) -> Result<(), JsValue>;
}

/// The state of an isolate, which all of its requests share.
struct Isolate {
    service: Service,
    /// The names of the request headers to read.
    header_names: Array,
}

thread_local! {
    static ISOLATE: OnceCell<Rc<Isolate>> = const { OnceCell::new() };
}

/// Returns this isolate's state. The first call creates it from the Worker's variables.
fn isolate(env: &Env) -> Rc<Isolate> {
    ISOLATE.with(|cell| Rc::clone(cell.get_or_init(|| Rc::new(Isolate::new(env)))))
}

impl Isolate {
    fn new(env: &Env) -> Self {
        // Invalid variables are treated as absent, so that no configuration prevents the Worker
        // from starting.
        let variables: Variables =
            serde_wasm_bindgen::from_value(env.clone().into()).unwrap_or_default();
        let config = Config::from(&variables);
        for fault in &config.faults {
            worker::console_error!("{fault}");
        }
        let header_names = http::names(&config);
        Self { service: Service::new(config), header_names }
    }
}

/// Handles a request. If nothing had to be awaited, as for most catalog reads, returns a `Response`
/// instead of a promise: for a warm request, creating a promise takes about as long as everything
/// else. Fails only if the runtime rejects the parts of the response, which no request can cause.
#[wasm_bindgen]
pub fn fetch(request: &web_sys::Request, env: Env, context: Context) -> Result<JsValue, JsValue> {
    respond_or_promise(isolate(&env), request, env, Some(context))
}

/// Handles a request like `fetch`, but with its own isolate state. Used by `rehearsal.js`. Also
/// fails if the isolate is still starting, because no response can be created then.
#[wasm_bindgen]
pub fn rehearse(request: &web_sys::Request, env: Env) -> Result<JsValue, JsValue> {
    respond_or_promise(Rc::new(Isolate::new(&env)), request, env, None)
}

/// Runs the due jobs of a shard. The Cron Trigger calls this every minute. The promise is rejected
/// if storage is unavailable.
#[wasm_bindgen]
pub fn scheduled(number: u16, env: Env) -> Promise {
    let isolate = isolate(&env);
    future_to_promise(async move {
        let shard = Shard::new(number).unwrap_or_default();
        let ports = EdgePorts::for_jobs(&env, shard);
        log(shard, jobs::run_minute(&isolate.service, &ports).await)
    })
}

/// Processes a queue message. On failure, logs the cause and rejects the promise, so that the queue
/// retries the message.
#[wasm_bindgen]
pub fn consume(message: String, env: Env) -> Promise {
    let isolate = isolate(&env);
    future_to_promise(async move {
        let (shard, message) = Shard::from_message(&message);
        let ports = EdgePorts::for_jobs(&env, shard);
        log(shard, jobs::consume(&isolate.service, &ports, message).await)
    })
}

/// Sends webhook deliveries after the response that made them due. The promise is rejected if
/// storage is unavailable; unsent deliveries remain due.
fn deliver(isolate: Rc<Isolate>, env: Env, shard: Shard) -> Promise {
    future_to_promise(async move {
        let ports = EdgePorts::for_jobs(&env, shard);
        log(shard, jobs::deliver_due(&isolate.service, &ports).await)
    })
}

/// Writes the request counts after the response was sent.
fn flush_usage(
    isolate: &Rc<Isolate>,
    env: &Env,
    context: Option<&Context>,
    shard: Shard,
    delay_ms: u32,
) -> Result<(), JsValue> {
    let Some(context) = context else { return Ok(()) };
    let (isolate, env) = (Rc::clone(isolate), env.clone());
    let work = future_to_promise(async move {
        let ports = EdgePorts::for_jobs(&env, shard);
        if let Err(error) = usage::flush(&isolate.service, &ports, delay_ms).await {
            worker::console_error!("usage: {error}");
        }
        Ok(JsValue::UNDEFINED)
    });
    context.wait_until(&work)
}

fn log(shard: Shard, outcome: Result<Vec<String>, Problem>) -> Result<JsValue, JsValue> {
    // Most deployments have only the first shard, so its name is omitted.
    let with_shard = |text: &str| match shard {
        Shard::FIRST => text.to_owned(),
        other => other.binding() + ": " + text,
    };
    match outcome {
        Ok(faults) => {
            for fault in faults {
                worker::console_error!("{}", with_shard(&fault));
            }
            Ok(JsValue::UNDEFINED)
        }
        Err(problem) => Err(JsValue::from_str(&with_shard(&problem.cause.unwrap_or_default()))),
    }
}

fn respond_or_promise(
    isolate: Rc<Isolate>,
    request: &web_sys::Request,
    env: Env,
    context: Option<Context>,
) -> Result<JsValue, JsValue> {
    let may_outlive_caller = request.body().is_some() || calls_platform(request);
    let context_of_call = context.clone().filter(|_| may_outlive_caller);
    let mut response = Box::pin(respond(isolate, request, env, context));
    match response.as_mut().poll(&mut task::Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => response,
        // The promise's task polls the future again, with its own waker.
        Poll::Pending => {
            let promise = future_to_promise(response);
            // If the caller disconnects, the runtime abandons the request and never drops its
            // future, which leaks everything that the future owns. With `waitUntil`, only
            // `request.signal` fires, and the call ends on its own. Also, if a user approves a call
            // and closes the page, the result must still be stored.
            if let Some(context) = context_of_call {
                context.wait_until(&promise)?;
            }
            Ok(promise.into())
        }
    }
}

/// The number of bytes to read if a body may be large: it is longer than [`MAX_BODY`], or its
/// length is unknown.
fn large_body(request: &web_sys::Request, parts: &RequestParts) -> Option<usize> {
    let max = match parts {
        RequestParts::Nothing => return None,
        RequestParts::Body(max) => *max,
        RequestParts::All => MAX_BUFFERED_BODY,
    };
    request.body()?;
    let declared_length = request.headers().get("content-length").ok().flatten();
    match declared_length.and_then(|length| length.parse::<usize>().ok()) {
        // Such a body is streamed, or rejected because of its length.
        Some(length) if length > max => None,
        None if matches!(parts, RequestParts::All) => None,
        length => Some(length.unwrap_or(max)).filter(|length| *length > MAX_BODY),
    }
}

fn calls_platform(request: &web_sys::Request) -> bool {
    let url = request.url();
    ["/actions/", "/proxy", "/mcp"].iter().any(|part| url.contains(part))
}

fn respond(
    isolate: Rc<Isolate>,
    sent: &web_sys::Request,
    env: Env,
    context: Option<Context>,
) -> impl Future<Output = Result<JsValue, JsValue>> + use<> {
    let mut request = http::request(sent, &isolate.header_names);
    // Pages and MCP endpoints read more headers than the API.
    if !request.path.starts_with("/v1/") {
        request.headers = http::headers(&http::lines(sent));
    }
    let mut needed = isolate.service.parts_to_read(&request);
    // If the shard in a secret has no binding, the first shard is queried, where the secret is
    // unknown.
    let shard = Some(isolate.service.shard(&request)).filter(|shard| is_bound(&env, *shard));
    let shard = shard.unwrap_or_default();
    let sent = Clone::clone(sent);
    async move {
        let mut ports = EdgePorts {
            env: &env,
            shard,
            was_forwarded: false,
            request: Some(&sent),
            context: context.as_ref(),
        };
        // Reserves memory for a large body before reading it, until the response is complete.
        let _reservation = match large_body(&sent, &needed) {
            None => None,
            Some(bytes) => {
                let now = ports.now();
                match isolate.service.reserve_body(&ports, &request, bytes, now).await {
                    Ok(reservation) => Some(reservation),
                    Err(body) => {
                        request.body = body;
                        needed = RequestParts::Nothing;
                        None
                    }
                }
            }
        };
        http::read_rest(&mut request, needed, &sent).await?;
        let mut response = handle(&isolate.service, &ports, &request).await;
        for _ in 0..MAX_FORWARDS {
            let Some(shard) = response.moved_to.filter(|shard| is_bound(&env, *shard)) else {
                break;
            };
            (ports.shard, ports.was_forwarded) = (shard, true);
            response = handle(&isolate.service, &ports, &request).await;
        }
        let shard = ports.shard;
        if let Some(cause) = response.log.take() {
            worker::console_error!("{cause}");
        }
        if let Some(context) = context.as_ref().filter(|_| response.has_deliveries) {
            context.wait_until(&deliver(Rc::clone(&isolate), env.clone(), shard))?;
        }
        if let Some(delay_ms) = isolate.service.usage().due_flush(shard.number(), ports.now()) {
            flush_usage(&isolate, &env, context.as_ref(), shard, delay_ms)?;
        }
        if response.is_asset {
            return http::site_file(&sent, &env, &response.asset_headers()).await;
        }
        http::response(&response)
    }
}
