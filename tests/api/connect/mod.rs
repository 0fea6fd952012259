//! The connect flow, over real `SQLite` and with a scripted platform.

mod access;
mod accounts;
mod attempts;
mod branding;
mod check;
mod clients;
mod crash;
mod crashes;
mod credentials;
mod direct_methods;
mod events;
mod forged_links;
mod histories;
mod import;
mod languages;
mod late_tokens;
mod limits;
pub mod maintenance;
mod named_clients;
mod oauth;
mod offered_platforms;
mod private_key;
mod quirks;
mod random;
mod reconnecting;
mod redirects;
mod refresh;
mod refresh_errors;
mod refused_calls;
mod return_links;
mod schedule;
mod starting;
mod value_locations;
pub mod window_links;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Write as _;

use connector_vault::catalog::action::unit::Units;
use connector_vault::catalog::write::{Platform, Sizes};
use connector_vault::http::{Request, Response};
use connector_vault::ports::{HttpError, HttpResponse};
use serde_json::{Value, json};

use crate::support::{
    Api, ORIGIN, anonymous, as_secret, body, config, connector, with_body, with_header,
};

/// One vault key of 32 bytes.
pub const KEYS: &str = "one:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/// The settings that enable all features.
pub const SETTINGS: [(&str, &str); 4] = [
    ("VAULT_KEYS", KEYS),
    ("SESSION_SECRET", "0123456789abcdef0123456789abcdef"),
    ("ALLOWED_ORIGINS", "https://app.example"),
    ("APP_NAME", "Sample App"),
];

/// An OAuth 2.0 auth method. `more` adds members to the usual ones or replaces them.
fn oauth(id: &str, more: &Value) -> Value {
    let mut method = json!({
        "id": id, "type": "oauth2", "grant": "authorization_code", "issuer": null,
        "authorizationUrl": "https://id.acme.example/authorize", "tokenUrl": "https://id.acme.example/token",
        "refreshUrl": null, "revocationUrl": null, "scopes": [], "scopeSeparator": " ", "pkce": "S256",
        "tokenAuth": "client_secret_basic", "authorizationParameters": {}, "tokenParameters": {}, "tokenBody": "form",
        "tokenPointer": null, "tokenMembers": [], "fields": [],
    });
    for (name, value) in more.as_object().unwrap() {
        method[name] = value.clone();
    }
    method
}

fn field(name: &str, secret: bool) -> Value {
    json!({"name": name, "label": name, "secret": secret, "required": true})
}

fn api_key(fields: &[Value]) -> Value {
    let fields = [&[field("apiKey", true)], fields].concat();
    json!({"id": "key", "type": "api_key", "in": "header", "name": "X-Key", "prefix": "", "fields": fields})
}

/// Returns a service whose catalog has these platforms, each with a name and a detail.
fn api_of(platforms: &[(&str, Value)]) -> Api {
    let api = Api::new(config(&SETTINGS));
    publish(&api, platforms);
    for (name, _) in platforms {
        set_client(&api, name);
    }
    api
}

/// Publishes a catalog with these platforms, each with a name and a detail.
fn publish(api: &Api, platforms: &[(&str, Value)]) {
    let platform = |(name, detail): &(&str, Value)| {
        let mut all = json!({
            "authMethods": [], "servers": [], "documentationUrl": null, "license": null, "verify": null, "account": null,
        });
        for (name, value) in detail.as_object().unwrap() {
            all[name] = value.clone();
        }
        Platform {
            connector: connector(name, &format!("The {name}"), "Email", 0),
            detail: serde_json::from_value(all).unwrap(),
            authkit: true,
            aliases: Vec::new(),
            actions: Vec::new(),
            units: Units::default(),
        }
    };
    let platforms: Vec<Platform> = platforms.iter().map(platform).collect();
    api.env.publish_platforms(Sizes::PUBLISHED, &platforms);
}

/// Returns a service whose catalog has a platform of `providers.toml`.
#[cfg(feature = "cli")]
fn api_of_provider(name: &str) -> Api {
    use connector_vault::importer::providers::Providers;
    let providers = Providers::read(std::path::Path::new("providers.toml")).unwrap();
    api_of(&[(name, json!(providers.0[name].detail))])
}

/// A server in a connector's detail.
fn server(url: &str) -> Value {
    json!({"url": url, "description": null})
}

/// Returns a service whose catalog has a platform for each type of connect flow.
pub fn api_with(settings: &[(&str, &str)]) -> Api {
    let api = Api::new(config(settings));
    let platform = |name: &str, methods: Value, verify: Value, account: Value| Platform {
        connector: connector(name, &format!("The {name}"), "Email", 0),
        detail: serde_json::from_value(json!({
            "authMethods": methods,
            "servers": [{"url": format!("https://api.{name}.example"), "description": null}],
            "documentationUrl": null, "license": null, "verify": verify, "account": account,
        }))
        .unwrap(),
        authkit: true,
        aliases: vec![format!("old-{name}")],
        actions: Vec::new(),
        units: Units::default(),
    };
    let me = json!({"method": "GET", "path": "/me"});
    let account = json!({"method": "GET", "path": "/me", "id": "/id", "name": null});
    let elsewhere = json!({"method": "GET", "path": "https://login.elsewhere.example/me"});
    let basic = json!({
        "id": "basic", "type": "basic", "usernameLabel": "User", "passwordLabel": "Password",
        "fields": [field("username", false), field("password", true)],
    });
    let amazon = json!({
        "id": "aws", "type": "aws_sigv4", "service": "s3", "regions": ["eu-central-1"],
        "fields": [field("accessKeyId", false), field("secretAccessKey", true), field("region", false)],
    });
    let shop = json!({"name": "shop", "label": "Shop", "required": true, "pattern": "^[a-z.]+$"});
    let app = json!({"grant": "client_credentials", "authorizationUrl": null});
    api.env.publish_platforms(
        Sizes::PUBLISHED,
        &[
            platform("acme", json!([oauth("oauth", &json!({}))]), Value::Null, account.clone()),
            platform("keyed", json!([api_key(&[])]), me.clone(), account),
            platform("plain", json!([basic, oauth("sign-in", &json!({"pkce": "none"}))]), Value::Null, Value::Null),
            platform("amazon", json!([amazon]), me.clone(), Value::Null),
            platform("watched", json!([oauth("oauth", &json!({"tokenMembers": ["instance_url"]}))]), me.clone(), Value::Null),
            platform("elsewhere", json!([api_key(&[])]), elsewhere, Value::Null),
            platform("app", json!([oauth("app", &app)]), me, Value::Null),
            platform(
                "shops",
                json!([oauth("oauth", &json!({
                    "authorizationUrl": "https://{shop}.shops.example/authorize",
                    "tokenUrl": "https://{shop}.shops.example/token", "fields": [shop],
                }))]),
                Value::Null,
                Value::Null,
            ),
            platform(
                "hosted",
                json!([oauth("oauth", &json!({
                    "authorizationUrl": "https://{host}/authorize", "tokenUrl": "https://{host}/token",
                    "fields": [field("host", false)],
                }))]),
                Value::Null,
                Value::Null,
            ),
            platform(
                "standard",
                json!([oauth("oauth", &json!({
                    "authorizationUrl": "https://{host}/authorize", "tokenUrl": "https://{host}/token",
                    "fields": [{"name": "host", "label": "Host", "default": "id.standard.example"}],
                }))]),
                Value::Null,
                Value::Null,
            ),
            platform(
                "regional",
                json!([oauth("oauth", &json!({
                    "tokenUrl": "https://{host}/token",
                    "fields": [{"name": "host", "label": "Host", "enum": ["eu.regional.example", "us.regional.example"]}],
                })), oauth("app", &json!({"tokenUrl": "https://id.regional.example/token"}))]),
                Value::Null,
                Value::Null,
            ),
            platform(
                "companies",
                json!([oauth("oauth", &json!({"fields": [
                    {"name": "realmId", "label": "Company", "pattern": "^[0-9]+$"},
                    {"name": "region", "label": "Region", "enum": ["eu", "us"]},
                ]}))]),
                Value::Null,
                Value::Null,
            ),
            platform(
                "revoked",
                json!([oauth("oauth", &json!({"revocationUrl": "https://id.acme.example/revoke"}))]),
                Value::Null,
                Value::Null,
            ),
            platform("nothing", json!([]), Value::Null, Value::Null),
        ],
    );
    api
}

pub fn api() -> Api {
    api_with(&SETTINGS)
}

/// Makes another request hold the leases of all credentials for this many milliseconds.
fn lease_to_other_request(api: &Api, milliseconds: u64) {
    let until = i64::try_from(api.env.now.get() + milliseconds).unwrap();
    let sql = "UPDATE credentials SET lease = 'another', lease_until = ?1";
    api.env.database.execute(sql, [until]).unwrap();
}

/// Sends a JSON body with the key.
pub fn send(api: &Api, method: &str, path: &str, sent: &Value) -> Response {
    api.send(&with_body(api.request(method, path), &sent.to_string()))
}

pub fn connect(api: &Api, sent: &Value) -> Response {
    send(api, "POST", "/v1/vault/connect", sent)
}

/// Sets the OAuth client of a platform.
pub fn set_client(api: &Api, platform: &str) {
    let sent = json!({"clientId": "an id", "clientSecret": "a:secret", "scopes": ["read"]});
    let response = send(api, "PUT", &format!("/v1/oauth-clients/{platform}"), &sent);
    assert_eq!(response.status, 201, "{}", body(&response));
}

/// The body of a request that connects an account of ann.
pub fn ann_connect_body(platform: &str) -> Value {
    json!({"platform": platform, "identity": "ann", "identityType": "user"})
}

/// A response of another service.
#[expect(clippy::unnecessary_wraps, reason = "it stands beside services that can't be reached")]
pub fn response(status: u16, document: &Value) -> Result<HttpResponse, HttpError> {
    Ok(HttpResponse {
        status,
        headers: vec![("content-type".into(), "application/json".into())],
        body: document.to_string().into_bytes(),
    })
}

/// Makes other services return these statuses and documents, one per request. Returns the requests
/// that they receive.
pub fn script(api: &Api, responses: &[(u16, Value)]) {
    let mut responses = VecDeque::from(responses.to_vec());
    *api.env.platform.borrow_mut() = Box::new(move |request| {
        let (status, document) =
            responses.pop_front().unwrap_or_else(|| panic!("one too many: {request:?}"));
        match status {
            0 => Err(HttpError::Unreachable),
            1 => Err(HttpError::TimedOut),
            status => response(status, &document),
        }
    });
}

/// The form fields of the nth request to a platform.
fn form(api: &Api, index: usize) -> Vec<(String, String)> {
    let sent = api.env.sent.borrow();
    let text = String::from_utf8(sent[index].body.clone()).unwrap();
    pairs(&text)
}

pub fn pairs(query: &str) -> Vec<(String, String)> {
    let decode =
        |text: &str| connector_vault::util::percent::decode_form(text).unwrap().into_owned();
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(name), decode(value))
    };
    query.split('&').map(pair).collect()
}

pub fn value_of(pairs: &[(String, String)], name: &str) -> Option<String> {
    pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}

/// A browser with its cookie, which follows the link of an attempt.
#[derive(Default)]
pub struct Browser {
    cookie: RefCell<Option<String>>,
}

impl Browser {
    pub fn request(&self, method: &str, url: &str) -> Request {
        let path = url.strip_prefix(ORIGIN).unwrap_or(url);
        let request = anonymous(method, path);
        let request = with_header(request, "accept", "text/html");
        match self.cookie.borrow().as_ref() {
            Some(cookie) => with_header(request, "cookie", &format!("a=b; {cookie}")),
            None => request,
        }
    }

    fn store_cookie(&self, response: &Response) {
        if let Some(cookie) = response.header("set-cookie") {
            for part in ["Path=/", "Secure", "HttpOnly", "SameSite=Lax"] {
                assert!(cookie.split("; ").any(|found| found == part), "{cookie}");
            }
            assert!(cookie.starts_with("__Host-"), "{cookie}");
            *self.cookie.borrow_mut() = Some(cookie.split(';').next().unwrap().to_owned());
        }
    }

    fn get(&self, api: &Api, url: &str) -> Response {
        let response = api.send(&self.request("GET", url));
        self.store_cookie(&response);
        response
    }

    /// Opens a link and confirms that this user started the attempt.
    pub fn confirm_link(&self, api: &Api, url: &str) -> Response {
        let request = with_header(self.request("POST", url), "origin", ORIGIN);
        let response = api.send(&with_header(request, "sec-fetch-site", "same-origin"));
        self.store_cookie(&response);
        response
    }

    /// Follows the link to the platform. Returns the parameters of the authorization request.
    pub fn follow(&self, api: &Api, url: &str) -> (String, Vec<(String, String)>) {
        let response = self.confirm_link(api, url);
        assert_eq!(response.status, 303, "{}", text(&response));
        let location = response.header("location").unwrap();
        let (address, query) = location.split_once('?').unwrap();
        (address.to_owned(), pairs(query))
    }

    /// Opens the callback as the platform's redirect does.
    fn back(&self, api: &Api, query: &str) -> Response {
        self.get(api, &format!("/connect/callback?{query}"))
    }
}

pub fn text(response: &Response) -> String {
    String::from_utf8(response.body.clone()).unwrap()
}

/// Starts an attempt. Returns its id and its link.
pub fn start_attempt(api: &Api, sent: &Value) -> (String, String) {
    let response = connect(api, sent);
    assert_eq!(response.status, 202, "{}", body(&response));
    let started = body(&response);
    assert_eq!(started["status"], "pending");
    let text = |name: &str| started[name].as_str().unwrap().to_owned();
    (text("id"), text("authorizationUrl"))
}

/// Starts an attempt and follows its link to the platform. Returns the attempt's id, the browser
/// and the `state`.
fn start_and_follow_attempt(api: &Api, sent: &Value) -> (String, Browser, String) {
    let (id, link) = start_attempt(api, sent);
    let (browser, state) = follow(api, &link);
    (id, browser, state)
}

/// Follows a link to the platform. Returns the browser and the `state`.
fn follow(api: &Api, link: &str) -> (Browser, String) {
    let browser = Browser::default();
    let (_, query) = browser.follow(api, link);
    (browser, value_of(&query, "state").unwrap())
}

/// Follows a link and consents at the platform, which returns these tokens.
pub fn consent_at_platform(api: &Api, link: &str, tokens: &Value) {
    let (browser, state) = follow(api, link);
    script(api, &[(200, tokens.clone()), (404, json!({}))]);
    let response = browser.back(api, &format!("code=c&state={state}"));
    assert_eq!(response.status, 200, "{}", text(&response));
}

/// Follows a link to the platform, which redirects back with an error.
pub fn decline_at_platform(api: &Api, link: &str, error: &str) {
    let (browser, state) = follow(api, link);
    let response = browser.back(api, &format!("error={error}&state={state}"));
    assert_eq!(response.status, 200, "{}", text(&response));
}

/// Starts an attempt and consents at the platform, which returns these tokens. Returns the
/// connection's id.
pub fn connected(api: &Api, sent: &Value, tokens: &Value) -> String {
    let (id, link) = start_attempt(api, sent);
    consent_at_platform(api, &link, tokens);
    let status = attempt(api, &id);
    assert_eq!(status["status"], "succeeded", "{status}");
    status["connection"]["id"].as_str().unwrap().to_owned()
}

fn attempt(api: &Api, id: &str) -> Value {
    body(&api.get(&format!("/v1/vault/connect/{id}")))
}

pub fn token(api: &Api, sent: &Value) -> String {
    let response = send(api, "POST", "/v1/sessions", sent);
    assert_eq!(response.status, 201, "{}", body(&response));
    body(&response)["token"].as_str().unwrap().to_owned()
}

pub fn as_token(token: &str, method: &str, path: &str, sent: &Value) -> Request {
    with_body(as_secret(token, method, path), &sent.to_string())
}

/// Creates a session. Returns the code in its link.
pub fn code(api: &Api, sent: &Value) -> String {
    let response = send(api, "POST", "/v1/sessions", sent);
    let url = body(&response)["connectUrl"].as_str().unwrap().to_owned();
    url.strip_prefix(&format!("{ORIGIN}/connect#code=")).unwrap().to_owned()
}

/// The request with which the connect window exchanges a code.
pub fn exchange(code: &str) -> Request {
    let request = with_header(anonymous("POST", "/connect/token"), "x-connect-code", code);
    with_header(with_header(request, "origin", ORIGIN), "sec-fetch-site", "same-origin")
}

/// Counts the rows of a table.
pub fn rows(api: &Api, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    api.env.database.query_row(&sql, [], |row| row.get(0)).unwrap()
}

/// Waits until the next attempt of the only credentials is due.
fn wait_for_next_attempt(api: &Api) {
    let sql = "SELECT next_attempt_at FROM credentials";
    let next: i64 = api.env.database.query_row(sql, [], |row| row.get(0)).unwrap();
    api.env.now.set(next.try_into().unwrap());
}

/// The contents of all tables, as one string.
fn dump_all_tables(api: &Api) -> String {
    let mut all = String::new();
    for table in ["oauth_clients", "credentials", "revocations", "connect_attempts", "connections"]
    {
        let mut statement = api.env.database.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for at in 0..columns {
                write!(all, "{:?} ", row.get_ref(at).unwrap()).unwrap();
            }
        }
    }
    all
}
