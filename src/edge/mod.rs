//! The Cloudflare Worker: the only code that names the platform. It converts, and decides nothing.

mod http;
mod ports;

use std::cell::OnceCell;
use std::rc::Rc;

use js_sys::Reflect;
use worker::{Context, Env, event};

use crate::api::{Config, Service, handle};
use ports::EdgePorts;

thread_local! {
    /// What the isolate keeps from request to request.
    static SERVICE: OnceCell<Rc<Service>> = const { OnceCell::new() };
}

/// The service of this isolate, made from the Worker's variables on the first request.
fn service(env: &Env) -> Rc<Service> {
    let variable =
        |name: &str| Reflect::get(env, &name.into()).ok().and_then(|value| value.as_string());
    SERVICE.with(|cell| {
        Rc::clone(cell.get_or_init(|| {
            let (headers, origins) = (variable("SECRET_HEADERS"), variable("ALLOWED_ORIGINS"));
            let bytes = variable("SEGMENT_CACHE_BYTES");
            Rc::new(Service::new(Config::from_variables(
                headers.as_deref(),
                origins.as_deref(),
                bytes.as_deref(),
            )))
        }))
    })
}

#[event(fetch)]
async fn fetch(
    request: web_sys::Request,
    env: Env,
    _context: Context,
) -> worker::Result<web_sys::Response> {
    let service = service(&env);
    let request = http::request(&request, service.config());
    let mut response = handle(&service, &EdgePorts { env: &env }, &request).await;
    if let Some(cause) = response.log.take() {
        worker::console_error!("{cause}");
    }
    // Building a response of known headers fails for nothing a request holds; were it to, the text stays constant.
    http::response(&response).map_err(|_| worker::Error::Infallible)
}
