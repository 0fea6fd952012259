//! The service under test: `handle()` in this process, or the built Worker on the real runtime.

use std::cell::{Cell, RefCell};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::rc::Rc;
use std::slice;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use connector_vault::catalog::write::{Platform, Sizes};
use connector_vault::http::message::Body;
use connector_vault::http::{Request, Response};
use connector_vault::ports::HttpRequest;
use connector_vault::terms::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::standin::Standin;
use crate::support::{Api, ORIGIN, as_secret, config};

/// The settings that enable all features.
pub const SETTINGS: [(&str, &str); 2] = [
    ("VAULT_KEYS", "one:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="),
    ("SESSION_SECRET", "0123456789abcdef0123456789abcdef"),
];

/// The maximum wait for the real runtime.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The service under test.
pub trait Service {
    /// The service's address for users.
    fn origin(&self) -> &str;
    /// The API key of the app.
    fn key(&self) -> &str;
    fn send(&self, request: &Request) -> Response;
    /// Advances the clock of the service and of the platform.
    fn wait(&self, milliseconds: u64);
    /// Waits until the service has finished its work after a response.
    fn settle(&self, is_done: &dyn Fn() -> bool);

    fn request(&self, method: &str, path_and_query: &str) -> Request {
        as_secret(self.key(), method, path_and_query)
    }

    fn get(&self, path_and_query: &str) -> Response {
        self.send(&self.request("GET", path_and_query))
    }
}

/// Runs `handle()` with its own storage. Its catalog contains only one platform.
pub struct NativeService {
    api: Api,
    now: Rc<Cell<u64>>,
}

impl NativeService {
    pub fn new(platform: &Platform, standin: &Rc<RefCell<Standin>>, now: Rc<Cell<u64>>) -> Self {
        let api = Api::new(config(&SETTINGS));
        api.env.publish_platforms(Sizes::PUBLISHED, slice::from_ref(platform));
        now.set(api.env.now.get());
        let standin = Rc::clone(standin);
        *api.env.platform.borrow_mut() =
            Box::new(move |request| Ok(standin.borrow_mut().response(request)));
        Self { api, now }
    }
}

impl Service for NativeService {
    fn origin(&self) -> &str {
        ORIGIN
    }

    fn key(&self) -> &str {
        self.api.key.reveal()
    }

    fn send(&self, request: &Request) -> Response {
        self.api.send(request)
    }

    fn wait(&self, milliseconds: u64) {
        self.api.env.wait(milliseconds);
        self.now.set(self.api.env.now.get());
    }

    fn settle(&self, _: &dyn Fn() -> bool) {}
}

/// The process that runs the Worker and forwards its requests to platforms. Each message is a line
/// of JSON.
pub struct Runtime {
    stream: BufReader<TcpStream>,
    origin: String,
    /// The API keys, one for each journey, each of another account.
    keys: Vec<String>,
    /// How far the Worker's clock is ahead of the real time, in milliseconds.
    ahead: u64,
}

/// A message from the process.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Message {
    /// The first message: the service is ready.
    Ready { origin: String, keys: Vec<String> },
    /// The Worker sends a request to a platform.
    Asked { id: u64, method: String, url: String, headers: Vec<(String, String)>, body: String },
    /// The Worker has responded.
    Answered { status: u16, headers: Vec<(String, String)>, body: String },
}

impl Runtime {
    /// Connects to the process, which listens at this port.
    pub fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(MAX_WAIT)).unwrap();
        let mut runtime = Self {
            stream: BufReader::new(stream),
            origin: String::new(),
            keys: Vec::new(),
            ahead: 0,
        };
        let Message::Ready { origin, keys } = runtime.next() else {
            panic!("the first message is not `Ready`")
        };
        (runtime.origin, runtime.keys) = (origin, keys);
        runtime
    }

    fn next(&mut self) -> Message {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    pub fn send_message(&mut self, message: &Value) {
        let stream = self.stream.get_mut();
        stream.write_all(format!("{message}\n").as_bytes()).unwrap();
    }
}

/// The Worker on the real runtime, used by one account.
pub struct RealService {
    runtime: Rc<RefCell<Runtime>>,
    standin: Rc<RefCell<Standin>>,
    now: Rc<Cell<u64>>,
    origin: String,
    key: String,
}

impl RealService {
    pub fn new(
        runtime: &Rc<RefCell<Runtime>>,
        standin: &Rc<RefCell<Standin>>,
        now: Rc<Cell<u64>>,
    ) -> Self {
        let key = runtime.borrow_mut().keys.pop().unwrap();
        let origin = runtime.borrow().origin.clone();
        Self { runtime: Rc::clone(runtime), standin: Rc::clone(standin), now, origin, key }
    }

    /// Responds for the platform until the Worker has responded.
    fn await_response(&self) -> Response {
        loop {
            if let Some(response) = self.next_response() {
                return response;
            }
        }
    }

    /// Handles the next message: responds for the platform, or returns the Worker's response.
    fn next_response(&self) -> Option<Response> {
        let message = self.runtime.borrow_mut().next();
        match message {
            Message::Asked { id, method, url, headers, body } => {
                let method: Method = method.parse().unwrap();
                let request = HttpRequest { method, url, headers, body: body.into_bytes() };
                let ahead = self.runtime.borrow().ahead;
                let today = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
                self.now.set(u64::try_from(today).unwrap() + ahead);
                let response = self.standin.borrow_mut().response(&request);
                self.runtime.borrow_mut().send_message(&json!({
                    "id": id, "status": response.status, "headers": response.headers,
                    "body": String::from_utf8(response.body).unwrap(),
                }));
                None
            }
            Message::Answered { status, headers, body } => {
                let header_names = ["location", "set-cookie"];
                let known = |(name, value)| {
                    let name = header_names.iter().find(|known| **known == name)?;
                    Some((*name, value))
                };
                Some(Response {
                    status,
                    headers: headers.into_iter().filter_map(known).collect(),
                    body: body.into_bytes(),
                    ..Response::default()
                })
            }
            Message::Ready { .. } => panic!("`Ready` was sent twice"),
        }
    }
}

impl Service for RealService {
    fn origin(&self) -> &str {
        &self.origin
    }

    fn key(&self) -> &str {
        &self.key
    }

    fn send(&self, request: &Request) -> Response {
        let Body::Whole(body) = &request.body else { panic!("{request:?} has no whole body") };
        let query =
            if request.query.is_empty() { String::new() } else { format!("?{}", request.query) };
        self.runtime.borrow_mut().send_message(&json!({
            "method": request.method, "path": format!("{}{query}", request.path),
            "headers": request.headers, "body": std::str::from_utf8(body).unwrap(),
        }));
        self.await_response()
    }

    fn wait(&self, milliseconds: u64) {
        self.runtime.borrow_mut().ahead += milliseconds;
        self.runtime.borrow_mut().send_message(&json!({"wait": milliseconds}));
        assert_eq!(self.await_response().status, 204);
    }

    fn settle(&self, is_done: &dyn Fn() -> bool) {
        while !is_done() {
            assert!(self.next_response().is_none(), "an unexpected response");
        }
    }
}
