//! Replays publicly reported bugs of other projects against this one. Each report in `reports.toml`
//! has one of these types:
//!
//! - `token`: the platform responds to the exchange of a code with `response` or `text`. The token
//!   must last for `lasts` seconds.
//! - `refresh`: the platform responds to refreshes with `responses`. The requests must contain the
//!   refresh tokens `sends`, and the connection must end in `state`.
//! - `authorize`: the user connects with `scopes`. The authorization URL must contain `has`, and its
//!   state must not contain `lacks`.
//! - `token request`: the exchange with a platform of the catalog must contain `has`.
//! - `operation`: an operation with `parameters`, and with `shared` ones of its path, runs with
//!   `input`. The platform must get the decoded `url` and the `headers`.
//! - `agent operation`: an agent runs the operation with the input `text`.
//! - `message`: an agent sends `text`. The response must contain `has`.
//! - `wait`: the platform responds to a refresh with 429 and `retry_after`. The next attempt must be
//!   that many seconds later.
//! - `client`: the exchange and a refresh must have the `Authorization` header `header`. Their bodies
//!   must contain `has`, and must not contain `lacks`.
//! - `client token`: a client gets its own tokens, which are the `responses`. A call must send the
//!   last one in `header`.
//! - `callback`: the redirect has these parameters. The exchange must contain `has`, or the attempt
//!   must end with `error`.
//! - `key`: the user enters a key in `fields`, and the platform responds to its check with
//!   `response`. The service must refuse the key if `fails` is set; otherwise the connection must
//!   get the `state`.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::slice;

use connector_vault::catalog::action::unit::Units;
use connector_vault::catalog::detail::AuthMethod;
use connector_vault::catalog::write::{Platform, Sizes};
use connector_vault::http::Response;
use connector_vault::importer::licence::LicenceFilter;
use connector_vault::importer::{Import, gather};
use connector_vault::ports::{HttpRequest, HttpResponse};
use connector_vault::util::percent::decode_form;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::NoProgress;
use crate::service::SETTINGS;
use crate::standin::pairs;
use crate::support::{Api, ORIGIN, anonymous, body, config, connector, with_body, with_header};

const HOUR_MS: u64 = 3_600_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Report {
    address: String,
    /// What the report is about, if its URL does not show it.
    what: String,
    kind: String,
    /// Members of the auth method that differ from the standard method.
    method: Option<Value>,
    /// The id and secret of the OAuth client.
    client: Option<(String, String)>,
    response: Option<Value>,
    /// The HTTP status of `response`.
    status: Option<u16>,
    content_type: Option<String>,
    text: Option<String>,
    lasts: Option<Value>,
    /// The `scopes` that the connection must show as not granted.
    missing: Option<Vec<String>>,
    /// The `Authorization` header; empty if there must be none.
    header: Option<String>,
    fails: bool,
    first: Option<Value>,
    responses: Vec<Value>,
    /// The statuses of `responses`, if not all are 200.
    statuses: Vec<u16>,
    /// The number of hours before each response.
    hours: Option<u64>,
    sends: Vec<String>,
    state: String,
    scopes: Vec<String>,
    has: String,
    lacks: String,
    callback: String,
    error: String,
    least_state: usize,
    /// The platform's name in the catalog; by default, a platform that follows the standard.
    pub platform: String,
    fields: Option<Value>,
    server: Option<String>,
    path: String,
    shared: Vec<Value>,
    parameters: Vec<Value>,
    headers: BTreeMap<String, String>,
    body: Option<Value>,
    input: Option<Value>,
    url: String,
    slashes: Option<usize>,
    /// Whether the service refuses the input instead of sending it.
    refuses: bool,
    sent: Option<String>,
    retry_after: String,
    least: u64,
    max: u64,
    /// Why the report fails at present. Delete this field once the report passes.
    known: Option<String>,
}

impl Report {
    pub fn from_fields(fields: Value) -> Self {
        Self { fields: Some(fields), ..Self::default() }
    }
}

#[derive(Deserialize)]
struct ReportFile {
    report: Vec<Report>,
}

pub fn read_reports() -> Vec<Report> {
    let all: ReportFile = toml::from_str(include_str!("reports.toml")).unwrap();
    all.report
}

pub fn json_response(status: u16, document: &Value) -> HttpResponse {
    HttpResponse {
        status,
        headers: vec![("content-type".into(), "application/json".into())],
        body: document.to_string().into_bytes(),
    }
}

/// A platform that follows the OAuth 2.0 standard, except for the report's members.
pub fn standard_platform(report: &Report) -> Platform {
    let mut method = json!({
        "id": "oauth", "type": "oauth2", "grant": "authorization_code", "issuer": null, "fields": [],
        "authorizationUrl": "https://id.acme.example/authorize", "tokenUrl": "https://id.acme.example/token",
        "scopeSeparator": " ",
    });
    for (name, value) in report.method.iter().flat_map(|members| members.as_object().unwrap()) {
        method[name] = value.clone();
    }
    Platform {
        connector: connector("acme", "Acme", "Email", 0),
        detail: serde_json::from_value(json!({
            "authMethods": [method],
            "servers": [{"url": "https://api.acme.example", "description": null}],
            "documentationUrl": null, "license": null, "verify": null, "account": null,
        }))
        .unwrap(),
        authkit: true,
        aliases: Vec::new(),
        actions: Vec::new(),
        units: Units::default(),
    }
}

/// A service, the requests that it has sent, and the next responses of platforms.
pub struct Service {
    pub api: Api,
    platform: String,
    methods: Vec<AuthMethod>,
    /// The id of the auth method; the first one by default.
    pub method: String,
    /// The id and secret of the service's OAuth client.
    client: (String, String),
    pub variables: Value,
    /// The id of the connection to reconnect, or null for a new connection.
    pub reconnects: Value,
    /// The authorization URLs that users were redirected to.
    pub authorization_urls: RefCell<Vec<String>>,
    responses: Rc<RefCell<VecDeque<HttpResponse>>>,
}

impl Service {
    fn from_report(report: &Report) -> Self {
        let mut service = match report.platform.as_str() {
            "" => Self::new(&standard_platform(report)),
            name => Self::new(&crate::catalog()[name]),
        };
        if let Some(client) = &report.client {
            service.client = client.clone();
        }
        service
    }

    pub fn new(platform: &Platform) -> Self {
        let api = Api::new(config(&SETTINGS));
        api.env.publish_platforms(Sizes::PUBLISHED, slice::from_ref(platform));
        let responses: Rc<RefCell<VecDeque<HttpResponse>>> = Rc::default();
        let next = Rc::clone(&responses);
        *api.env.platform.borrow_mut() = Box::new(move |_| {
            let nothing = json_response(404, &json!({}));
            Ok(next.borrow_mut().pop_front().unwrap_or(nothing))
        });
        Self {
            api,
            platform: platform.connector.platform.clone(),
            method: platform.detail.auth_methods[0].id.clone(),
            methods: platform.detail.auth_methods.clone(),
            client: ("an-id".to_owned(), "a-secret".to_owned()),
            variables: Value::Null,
            reconnects: Value::Null,
            authorization_urls: RefCell::default(),
            responses,
        }
    }

    pub fn auth_method(&self) -> &AuthMethod {
        self.methods
            .iter()
            .find(|method| method.id == self.method)
            .unwrap_or_else(|| panic!("{} has no method {}", self.platform, self.method))
    }

    pub fn responses(&self, response: HttpResponse) {
        self.responses.borrow_mut().clear();
        self.responses.borrow_mut().push_back(response);
    }

    pub fn send(&self, method: &str, path: &str, sent: &Value) -> Response {
        self.api.send(&with_body(self.api.request(method, path), &sent.to_string()))
    }

    pub fn get(&self, path: &str) -> Response {
        self.api.get(path)
    }

    /// Sends an agent's message. Returns the response.
    fn message(&self, text: &str) -> Value {
        let request = with_body(self.api.request("POST", "/mcp"), text);
        body(&self.api.send(&request))
    }

    /// Stores the OAuth client and starts a connect attempt.
    pub fn begin(&self, scopes: &[String], fields: &Value) -> Response {
        if !self.reconnects.is_null() {
            let sent = json!({"connection": self.reconnects, "fields": fields});
            return self.send("POST", "/v1/vault/connect", &sent);
        }
        let (id, secret) = &self.client;
        let mut client = json!({"clientId": id, "clientSecret": secret, "scopes": scopes});
        if !self.variables.is_null() {
            client["variables"] = self.variables.clone();
        }
        if self.methods.iter().any(AuthMethod::is_oauth2) {
            let stored = self.send("PUT", &format!("/v1/oauth-clients/{}", self.platform), &client);
            assert_eq!(stored.status, 201, "{}", body(&stored));
        }
        let sent = json!({
            "platform": self.platform, "identity": "ann", "identityType": "user", "fields": fields,
            "authMethod": self.method,
        });
        self.send("POST", "/v1/vault/connect", &sent)
    }

    /// Redirects the user to the platform. Returns the attempt's id, the cookie and the URL.
    pub fn redirect_user(&self, scopes: &[String], fields: &Value) -> (String, String, String) {
        let start = self.begin(scopes, fields);
        assert_eq!(start.status, 202, "{}", body(&start));
        let started = body(&start);
        let link = started["authorizationUrl"].as_str().unwrap();
        let request = anonymous("POST", link.strip_prefix(ORIGIN).unwrap());
        let request = with_header(request, "accept", "text/html");
        let request = with_header(request, "origin", ORIGIN);
        let redirect = self.api.send(&with_header(request, "sec-fetch-site", "same-origin"));
        let cookie = redirect.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        self.authorization_urls.borrow_mut().push(redirect.header("location").unwrap().to_owned());
        (
            started["id"].as_str().unwrap().to_owned(),
            cookie,
            redirect.header("location").unwrap().to_owned(),
        )
    }

    /// Consents as the user; the platform responds to the exchange. Returns the attempt.
    pub fn exchange(&self, report: &Report, response: HttpResponse) -> Value {
        let read = vec!["read".to_owned()];
        let scopes = if report.scopes.is_empty() { &read } else { &report.scopes };
        let fields = report.fields.clone().unwrap_or_else(|| json!({}));
        let (attempt, cookie, location) = self.redirect_user(scopes, &fields);
        let requested = pairs(location.split_once('?').unwrap().1);
        let state = &requested.iter().find(|(name, _)| name == "state").unwrap().1;
        self.responses(response);
        self.api.env.sent.borrow_mut().clear();
        let usual = "code=c&state={state}";
        let callback = if report.callback.is_empty() { usual } else { &report.callback };
        let callback = callback.replace("{state}", state);
        let request = anonymous("GET", &format!("/connect/callback?{callback}"));
        let request = with_header(request, "accept", "text/html");
        self.api.send(&with_header(request, "cookie", &cookie));
        body(&self.get(&format!("/v1/vault/connect/{attempt}")))
    }

    /// Connects with a key. Returns the connection's id. The next request to the platform gets an
    /// empty response.
    pub fn with_key(&self, fields: &Value) -> String {
        let sent = json!({
            "platform": self.platform, "identity": "ann", "identityType": "user", "fields": fields,
        });
        let connected = self.send("POST", "/v1/vault/connect", &sent);
        assert_eq!(connected.status, 201, "{}", body(&connected));
        self.responses(json_response(200, &json!({})));
        self.api.env.sent.borrow_mut().clear();
        body(&connected)["id"].as_str().unwrap().to_owned()
    }

    /// Connects with these tokens. Returns the connection's path.
    pub fn connected(&self, report: &Report, tokens: &Value) -> String {
        let attempt = self.exchange(report, json_response(200, tokens));
        let id = attempt["connection"]["id"].as_str();
        format!("/v1/vault/connections/{}", id.unwrap_or_else(|| panic!("{attempt}")))
    }

    /// Calls the platform. Returns the `Authorization` header of the request.
    fn sent_authorization(&self, path: &str) -> String {
        self.responses(json_response(200, &json!({})));
        assert_eq!(self.get(&format!("{path}/proxy/me")).status, 200);
        authorization(self.api.env.sent.borrow().last().unwrap())
    }

    /// The number of seconds until a time in a response.
    fn seconds_until(&self, moment: &Value) -> Option<u64> {
        let moment: jiff::Timestamp = moment.as_str()?.parse().unwrap();
        let milliseconds = u64::try_from(moment.as_millisecond()).unwrap();
        Some(milliseconds.saturating_sub(self.api.env.now.get()) / 1000)
    }
}

fn sent_form(request: &HttpRequest) -> Vec<(String, String)> {
    pairs(std::str::from_utf8(&request.body).unwrap())
}

/// The `Authorization` header of a request, or an empty string.
fn authorization(request: &HttpRequest) -> String {
    let found = request.headers.iter().find(|(name, _)| name == "authorization");
    found.map(|(_, value)| value.clone()).unwrap_or_default()
}

fn token(report: &Report) {
    let service = Service::from_report(report);
    let status = report.status.unwrap_or(200);
    let mut response = json_response(status, report.response.as_ref().unwrap_or(&Value::Null));
    // A string contains JSON that TOML can't express, such as `null`.
    if let Some(Value::String(text)) = &report.response {
        response.body = text.clone().into_bytes();
    }
    if let (Some(content_type), Some(text)) = (&report.content_type, &report.text) {
        response.headers = vec![("content-type".into(), content_type.clone())];
        response.body = text.clone().into_bytes();
    }
    let attempt = service.exchange(report, response);
    if report.fails {
        assert_eq!(attempt["status"], "failed", "{attempt}");
        return;
    }
    assert_eq!(attempt["status"], "succeeded", "{attempt}");
    let id = attempt["connection"]["id"].as_str().unwrap();
    let path = format!("/v1/vault/connections/{id}");
    let credentials = body(&service.get(&format!("{path}/credentials")));
    let lasts = service.seconds_until(&credentials["expiresAt"]);
    assert_eq!(
        lasts.map_or(json!("unknown"), |seconds| json!(seconds)),
        report.lasts.clone().unwrap()
    );
    if let Some(missing) = &report.missing {
        let status = body(&service.get(&format!("{path}/status")));
        assert_eq!(status["missingScopes"], json!(missing));
    }
    if let Some(header) = &report.header {
        assert_eq!(&service.sent_authorization(&path), header);
    }
}

fn refresh(report: &Report) {
    let service = Service::from_report(report);
    let path = service.connected(report, report.first.as_ref().unwrap());
    service.api.env.sent.borrow_mut().clear();
    for (index, response) in report.responses.iter().enumerate() {
        service.api.env.wait(report.hours.unwrap_or(2) * HOUR_MS);
        service
            .responses(json_response(report.statuses.get(index).copied().unwrap_or(200), response));
        service.get(&format!("{path}/credentials?refresh=true"));
    }
    if report.responses.is_empty() {
        service.api.env.wait(2 * HOUR_MS);
        let given = service.get(&format!("{path}/credentials"));
        assert!(given.status >= 400, "{}", body(&given));
    }
    let carried: Vec<String> = service
        .api
        .env
        .sent
        .borrow()
        .iter()
        .filter_map(|request| {
            sent_form(request).into_iter().find(|(name, _)| name == "refresh_token")
        })
        .map(|(_, token)| token)
        .collect();
    assert_eq!(carried, report.sends);
    let state = body(&service.get(&path))["state"].as_str().unwrap().to_owned();
    match report.state.strip_prefix("not ") {
        Some(other) => assert_ne!(state, other),
        None => assert_eq!(state, report.state),
    }
}

fn authorize(report: &Report) {
    let service = Service::from_report(report);
    let (_, _, location) = service.redirect_user(&report.scopes, &json!({}));
    assert!(location.contains(&report.has), "{location}");
    let requested = pairs(location.split_once('?').unwrap().1);
    let state = &requested.iter().find(|(name, _)| name == "state").unwrap().1;
    assert!(state.len() >= report.least_state, "{state}");
    assert!(report.lacks.is_empty() || !state.contains(&report.lacks), "{state}");
}

fn token_request(report: &Report) {
    let service = Service::from_report(report);
    service.exchange(report, json_response(200, &json!({"access_token": "at-1"})));
    let sent = service.api.env.sent.borrow();
    let text = String::from_utf8(sent[0].body.clone()).unwrap();
    assert!(text.contains(&report.has), "{text}");
}

fn client(report: &Report) {
    let service = Service::from_report(report);
    let tokens = json!({"access_token": "at-1", "refresh_token": "rt-1", "expires_in": 3600});
    let path = service.connected(report, &tokens);
    service.api.env.wait(HOUR_MS);
    service.responses(json_response(200, &tokens));
    assert_eq!(service.get(&format!("{path}/credentials?refresh=true")).status, 200);
    // The service may also call the platform's API, to identify the account.
    let sent = service.api.env.sent.borrow();
    let text = |request: &HttpRequest| String::from_utf8(request.body.clone()).unwrap();
    let requests = sent.iter().filter(|request| text(request).contains("grant_type"));
    let requests: Vec<&HttpRequest> = requests.collect();
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert_eq!(&authorization(request), report.header.as_ref().unwrap());
        let text = text(request);
        assert!(text.contains(&report.has), "{text}");
        assert!(report.lacks.is_empty() || !text.contains(&report.lacks), "{text}");
    }
}

fn client_token(report: &Report) {
    let own = json!({"grant": "client_credentials", "authorizationUrl": null});
    let service = Service::from_report(&Report { method: Some(own), ..Report::default() });
    service.responses(json_response(200, &report.responses[0]));
    let started = service.begin(&["read".to_owned()], &json!({}));
    assert_eq!(started.status, 201, "{}", body(&started));
    let path = format!("/v1/vault/connections/{}", body(&started)["id"].as_str().unwrap());
    for response in &report.responses[1..] {
        service.api.env.wait(HOUR_MS);
        service.responses(json_response(200, response));
        service.responses.borrow_mut().push_back(json_response(200, &json!({})));
        assert_eq!(service.get(&format!("{path}/proxy/me")).status, 200);
    }
    let sent = service.api.env.sent.borrow();
    assert_eq!(&authorization(sent.last().unwrap()), report.header.as_ref().unwrap());
}

fn callback(report: &Report) {
    let service = Service::from_report(report);
    let attempt = service.exchange(report, json_response(200, &json!({"access_token": "at-1"})));
    if !report.error.is_empty() {
        assert_eq!(attempt["error"]["code"], json!(report.error), "{attempt}");
        return;
    }
    assert_eq!(attempt["status"], "succeeded", "{attempt}");
    let sent = service.api.env.sent.borrow();
    let text = std::str::from_utf8(&sent[0].body).unwrap();
    assert!(text.contains(&report.has), "{text}");
}

fn key(report: &Report) {
    let service = Service::from_report(report);
    let response = report.response.as_ref().unwrap();
    service.responses(json_response(report.status.unwrap_or(200), response));
    let connected = service.begin(&[], report.fields.as_ref().unwrap());
    let document = body(&connected);
    if report.fails {
        assert_eq!(connected.status, 422, "{document}");
        assert_eq!(document["code"], "credentials_rejected", "{document}");
        return;
    }
    assert_eq!(connected.status, 201, "{document}");
    assert_eq!(document["state"], json!(report.state), "{document}");
}

/// Imports a document with the report's operation. Returns the imported platform.
fn platform_with_operation(report: &Report, index: usize) -> Platform {
    let mut operation = json!({
        "operationId": "op", "summary": "Run it", "parameters": report.parameters,
        "responses": {"200": {"description": "Done"}},
    });
    if let Some(schema) = &report.body {
        operation["requestBody"] = json!({"content": {"application/json": {"schema": schema}}});
    }
    let verb = if report.body.is_some() { "post" } else { "get" };
    let server = report.server.as_deref().unwrap_or("https://api.example.com");
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Reports", "version": "1", "x-providerName": "reports", "license": {"name": "MIT"}},
        "servers": [{"url": server}],
        "security": [{"key": []}],
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
        "paths": {&report.path: {verb: operation, "parameters": report.shared}},
    });
    imported(&format!("report-{index}"), "reports.json", &document.to_string())
}

/// Imports a document. Returns the imported platform.
pub fn imported(name: &str, file: &str, document: &str) -> Platform {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("platforms-{name}"));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(file), document).unwrap();
    let job = Import { sources: vec![folder], licence: LicenceFilter::Any, ..Import::default() };
    let (summary, mut platforms) = gather(&job, &NoProgress).unwrap();
    assert_eq!(platforms.len(), 1, "{}", summary.full());
    platforms.remove(0)
}

/// Runs an operation of a document, through the API or as an agent.
fn operation(report: &Report, index: usize) {
    let platform = platform_with_operation(report, index);
    let service = Service::new(&platform);
    let id = service.with_key(&json!({"token": "t"}));
    let key = &platform.actions[0].key;
    if let Some(text) = &report.text {
        // The body is a string, because a parsed number would lose digits.
        let call = json!({"connection": id, "key": key, "input": "$"}).to_string();
        let call = call.replace("\"$\"", text);
        let params = format!(r#"{{"name":"run_action","arguments":{call}}}"#);
        let ran = service.message(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#
        ));
        assert_eq!(ran["result"]["isError"], false, "{ran}");
    } else {
        let path = format!("/v1/vault/connections/{id}/actions/{key}");
        let run = service.send("POST", &path, report.input.as_ref().unwrap());
        if report.refuses {
            assert_eq!(run.status, 400, "{}", body(&run));
            assert!(service.api.env.sent.borrow().is_empty());
            return;
        }
        assert_eq!(run.status, 200, "{}", body(&run));
    }
    let sent = service.api.env.sent.borrow();
    let url = &sent[0].url;
    assert_eq!(decode_form(url).unwrap(), report.url, "{url}");
    if let Some(slashes) = report.slashes {
        assert_eq!(url.matches('/').count(), slashes, "{url}");
    }
    for (name, value) in &report.headers {
        let found =
            sent[0].headers.iter().find(|(sent_name, _)| sent_name.eq_ignore_ascii_case(name));
        assert_eq!(found.map(|(_, value)| value), Some(value), "{name}");
    }
    if let Some(expected) = &report.sent {
        assert_eq!(std::str::from_utf8(&sent[0].body).unwrap(), expected);
    }
}

fn message(report: &Report) {
    let service = Service::from_report(report);
    let response = service.message(report.text.as_ref().unwrap()).to_string();
    assert!(response.contains(&report.has), "{response}");
}

fn wait(report: &Report) {
    let service = Service::from_report(report);
    let first = json!({"access_token": "at-1", "refresh_token": "rt-1", "expires_in": 60});
    let path = service.connected(report, &first);
    let mut response = json_response(429, &json!({}));
    response.headers.push(("retry-after".into(), report.retry_after.clone()));
    service.responses(response);
    service.get(&format!("{path}/credentials?refresh=true"));
    let status = body(&service.get(&format!("{path}/status")));
    let seconds = service.seconds_until(&status["nextAttemptAt"]);
    let seconds = seconds.unwrap_or_else(|| panic!("{status}"));
    assert!((report.least..=report.max).contains(&seconds), "{seconds}");
}

#[test]
fn reported_bugs_of_other_projects_do_not_occur() {
    let reports = read_reports();
    assert!(reports.len() >= 20);
    let mut failed = Vec::new();
    for (index, report) in reports.iter().enumerate() {
        let run = || match report.kind.as_str() {
            "token" => token(report),
            "refresh" => refresh(report),
            "authorize" => authorize(report),
            "token request" => token_request(report),
            "operation" | "agent operation" => operation(report, index),
            "message" => message(report),
            "wait" => wait(report),
            "client" => client(report),
            "client token" => client_token(report),
            "callback" => callback(report),
            "key" => key(report),
            other => panic!("there is no kind {other}"),
        };
        let holds = std::panic::catch_unwind(run).is_ok();
        if holds == report.known.is_some() {
            let what = if holds { "holds now: delete `known`" } else { "does not hold" };
            failed.push(format!("{} ({}) {what}", report.address, report.what));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
