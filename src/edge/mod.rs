//! The Cloudflare Worker: the only code that names the platform. It converts, and decides nothing.

mod http;
mod ports;

use std::cell::OnceCell;
use std::rc::Rc;
use std::task::{self, Poll, Waker};

use js_sys::futures::future_to_promise;
use js_sys::{Array, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;

use crate::api::{Config, Service, handle};
use ports::EdgePorts;

/// What the isolate keeps from request to request.
struct Isolate {
    service: Service,
    /// The headers that are read from a request.
    header_names: Array,
}

thread_local! {
    static ISOLATE: OnceCell<Rc<Isolate>> = const { OnceCell::new() };
}

/// This isolate, made from the Worker's variables on the first request.
fn isolate(env: &Env) -> Rc<Isolate> {
    ISOLATE.with(|cell| Rc::clone(cell.get_or_init(|| Rc::new(Isolate::new(env)))))
}

impl Isolate {
    fn new(env: &Env) -> Self {
        let variable =
            |name: &str| Reflect::get(env, &name.into()).ok().and_then(|value| value.as_string());
        let (headers, origins) = (variable("SECRET_HEADERS"), variable("ALLOWED_ORIGINS"));
        let bytes = variable("SEGMENT_CACHE_BYTES");
        let (secret, previous) = (variable("SESSION_SECRET"), variable("SESSION_SECRET_PREVIOUS"));
        let config =
            Config::from_variables(headers.as_deref(), origins.as_deref(), bytes.as_deref())
                .with_sessions(secret.as_deref(), previous.as_deref());
        let header_names = http::names(&config);
        Self { service: Service::new(config), header_names }
    }
}

/// Answers a request: with a `Response` when nothing had to be waited for, as most catalog reads, else with a promise
/// of one. A promise from here costs a warm request about as much as all the rest.
///
/// # Errors
/// When the platform refuses the response's parts; nothing that a request holds makes it do so.
#[wasm_bindgen]
pub fn fetch(request: &web_sys::Request, env: Env, _context: JsValue) -> Result<JsValue, JsValue> {
    let mut answer = Box::pin(answer(request, env));
    match answer.as_mut().poll(&mut task::Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => response,
        // The promise's task polls again, with a waker of its own.
        Poll::Pending => Ok(future_to_promise(answer).into()),
    }
}

fn answer(
    sent: &web_sys::Request,
    env: Env,
) -> impl Future<Output = Result<JsValue, JsValue>> + use<> {
    let isolate = isolate(&env);
    let mut request = http::request(sent, &isolate.header_names);
    let body = isolate.service.reads_body(&request).then(|| Clone::clone(sent));
    async move {
        if let Some(sent) = body {
            request.body = http::read_body(&sent).await?;
        }
        let mut response = handle(&isolate.service, &EdgePorts { env: &env }, &request).await;
        if let Some(cause) = response.log.take() {
            worker::console_error!("{cause}");
        }
        http::response(&response)
    }
}
