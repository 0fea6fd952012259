//! Webhooks deliver each event at least once and signed, or report a failure.

mod delivery;
mod endpoints;

use std::cell::RefCell;
use std::rc::Rc;

use connector_vault::http::{Config, Response};
use connector_vault::jobs;
use connector_vault::ports::{HttpError, HttpRequest, HttpResponse};
use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::connect::{KEYS, send};
use crate::support::{Api, body, config, small_catalog};
use crate::vault::{CONNECTIONS, at, minimal};

const WEBHOOKS: &str = "/v1/webhooks";
const URL: &str = "https://app.example/hooks";
const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

fn settings() -> Config {
    let secret = ("SESSION_SECRET", "0123456789abcdef0123456789abcdef");
    config(&[("VAULT_KEYS", KEYS), secret])
}

fn api() -> Api {
    let api = Api::new(settings());
    api.env.publish(small_catalog());
    api
}

/// Creates a webhook. Returns its document, which contains its secret.
fn create(api: &Api, document: &Value) -> Value {
    let response = send(api, "POST", WEBHOOKS, document);
    assert_eq!(response.status, 201, "{}", body(&response));
    body(&response)
}

fn path(webhook: &Value, rest: &str) -> String {
    format!("{WEBHOOKS}/{}{rest}", webhook["id"].as_str().unwrap())
}

fn read(api: &Api, path: &str) -> Value {
    let response = api.get(path);
    assert_eq!(response.status, 200, "{}", body(&response));
    body(&response)
}

fn deliveries(api: &Api, webhook: &Value) -> Vec<Value> {
    let page = read(api, &path(webhook, "/deliveries?limit=500"));
    page["rows"].as_array().unwrap().clone()
}

/// A receiver's response to a request, or an error.
type Respond = Box<dyn FnMut(&HttpRequest) -> Result<HttpResponse, HttpError>>;

/// A receiver that records its requests.
#[derive(Default)]
struct Receiver {
    got: RefCell<Vec<HttpRequest>>,
    responses: RefCell<Option<Respond>>,
}

impl Receiver {
    /// A receiver that accepts everything.
    fn new(api: &Api) -> Rc<Self> {
        let receiver = Rc::new(Self::default());
        let shared = Rc::clone(&receiver);
        *api.env.platform.borrow_mut() = Box::new(move |request| {
            shared.got.borrow_mut().push(request.clone());
            match shared.responses.borrow_mut().as_mut() {
                Some(responses) => responses(request),
                None => status(204),
            }
        });
        receiver
    }

    fn respond(
        &self,
        responses: impl FnMut(&HttpRequest) -> Result<HttpResponse, HttpError> + 'static,
    ) {
        *self.responses.borrow_mut() = Some(Box::new(responses));
    }

    fn take(&self) -> Vec<HttpRequest> {
        self.got.take()
    }

    /// The types of the events that the receiver got since the last call.
    fn types(&self) -> Vec<String> {
        let events = self.take().into_iter().map(|request| event(&request));
        events.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }
}

#[expect(clippy::unnecessary_wraps, reason = "receivers may fail")]
fn status(status: u16) -> Result<HttpResponse, HttpError> {
    Ok(HttpResponse { status, ..HttpResponse::default() })
}

fn event(request: &HttpRequest) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> &'a str {
    let found = request.headers.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str()).unwrap()
}

/// Whether the Standard Webhooks library verifies one of the request's signatures.
fn is_signed(request: &HttpRequest, secret: &Value) -> bool {
    let webhook = Webhook::new(secret.as_str().unwrap()).unwrap();
    let seconds = header(request, "webhook-timestamp").parse().unwrap();
    let expected = webhook.sign(header(request, "webhook-id"), seconds, &request.body).unwrap();
    header(request, "webhook-signature").split(' ').any(|one| one == expected)
}

/// Sends due deliveries, as the Worker does after a response.
fn run_after_response(api: &Api, response: &Response) {
    if response.has_deliveries {
        deliver(api);
    }
}

fn deliver(api: &Api) {
    let done = jobs::deliver_due(&api.service, &api.env);
    assert_eq!(pollster::block_on(done).unwrap(), Vec::<String>::new());
    queue(api);
}

/// Runs the queue until it has no due messages.
fn queue(api: &Api) {
    loop {
        let messages = api.env.messages();
        if messages.is_empty() {
            return;
        }
        for message in messages {
            let done = jobs::consume(&api.service, &api.env, &message);
            assert_eq!(pollster::block_on(done).unwrap(), Vec::<String>::new());
        }
    }
}

/// Runs the schedule for one minute, then the queue until it has no due messages.
fn minute(api: &Api) {
    api.env.wait(MINUTE);
    let faults = pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap();
    assert_eq!(faults, Vec::<String>::new());
    queue(api);
}

/// Creates a connection. Returns its id.
fn connect(api: &Api, identity: &str) -> String {
    let response = send(api, "POST", CONNECTIONS, &minimal(identity));
    assert_eq!(response.status, 201, "{}", body(&response));
    run_after_response(api, &response);
    body(&response)["id"].as_str().unwrap().to_owned()
}

fn fail(api: &Api, id: &str) {
    let document = json!({"state": "failed", "active": false, "reason": "Revoked."});
    let response = send(api, "PUT", &format!("{}/state", at(id)), &document);
    assert_eq!(response.status, 200, "{}", body(&response));
    run_after_response(api, &response);
}
