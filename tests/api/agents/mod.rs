//! Agents' sign-in: the OAuth endpoints over real `SQLite`, with a scripted OpenID provider.

mod attacks;
mod clients;
mod connecting;
mod consent;
mod grants;
mod metadata;
pub mod provider;
mod random;
mod reports;
mod sign_in;
mod tokens;
mod user_grants;

use std::cell::RefCell;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use connector_vault::http::{Request, Response};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::connect::{self, text, value_of};
use crate::support::{Api, ORIGIN, anonymous, body, with_body, with_header};

/// The redirect URI of agents.
pub const CALLBACK: &str = "http://localhost:3334/oauth/callback";
/// The PKCE verifier of every agent.
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// The page where the account's app authenticates users.
pub const APP: &str = "https://app.example/agents";

/// The settings that enable sign-in for agents.
pub fn settings() -> Vec<(&'static str, &'static str)> {
    [&connect::SETTINGS[..], &[("BASE_URL", ORIGIN)]].concat()
}

/// Returns a service where the account's own app authenticates users, and the id of its MCP endpoint.
pub fn app() -> (Api, String) {
    let api = connect::api_with(&settings());
    let payload = json!({"type": "app", "url": APP});
    let response = connect::send(&api, "PUT", "/v1/agent-sign-in", &payload);
    assert_eq!(response.status, 201, "{}", text(&response));
    let id = id_of(&body(&response));
    (api, id)
}

/// The MCP endpoint's id in a sign-in configuration.
pub fn id_of(sign_in: &Value) -> String {
    let address = sign_in["endpoint"].as_str().unwrap();
    address.strip_prefix(&format!("{ORIGIN}/mcp/")).unwrap().to_owned()
}

/// Registers a client and returns its id.
pub fn register(api: &Api, id: &str) -> String {
    let metadata = json!({
        "client_name": "Sample Agent", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none",
    });
    let request = anonymous("POST", &format!("/mcp/{id}/register"));
    let response = api.send(&with_body(request, &metadata.to_string()));
    assert_eq!(response.status, 201, "{}", text(&response));
    body(&response)["client_id"].as_str().unwrap().to_owned()
}

pub fn encode(text: &str) -> String {
    connector_vault::util::percent::encode(text)
}

pub fn form(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={}", encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

pub fn challenge() -> String {
    Base64UrlUnpadded::encode_string(&Sha256::digest(VERIFIER.as_bytes()))
}

/// The parameters of an authorization request. Later parameters replace earlier ones; an empty value removes one.
pub fn authorization_query(client: &str, extra: &[(&str, &str)]) -> String {
    let challenge = challenge();
    let mut all = vec![
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", CALLBACK),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("state", "st&te"),
        ("scope", "read write"),
    ];
    for (name, value) in extra {
        all.retain(|(known, _)| known != name);
        if !value.is_empty() {
            all.push((name, value));
        }
    }
    form(&all)
}

/// A browser that stores the service's cookie.
#[derive(Default)]
pub struct Browser {
    pub cookie: RefCell<Option<String>>,
}

impl Browser {
    pub fn request(&self, method: &str, url: &str) -> Request {
        let request = anonymous(method, url.strip_prefix(ORIGIN).unwrap_or(url));
        match self.cookie.borrow().as_ref() {
            Some(cookie) => with_header(request, "cookie", cookie),
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

    /// Opens the authorization endpoint.
    pub fn authorize(&self, api: &Api, id: &str, query: &str) -> Response {
        self.get(api, &format!("/mcp/{id}/authorize?{query}"))
    }

    /// Opens a link that starts a sign-in.
    pub fn get(&self, api: &Api, url: &str) -> Response {
        let response = api.send(&self.request("GET", url));
        self.store_cookie(&response);
        response
    }

    /// Opens a link, signs in as `identity` at the app, and continues.
    pub fn sign_in(&self, api: &Api, link: &str, identity: &str) -> Response {
        let response = self.get(api, link);
        let (address, query) = redirect_target(&response);
        assert_eq!((address.as_str(), response.body.len()), (APP, 0));
        let payload = json!({"request": value_of(&query, "request"), "identity": identity});
        let response = connect::send(api, "POST", "/v1/agent-grants", &payload);
        if response.status != 201 {
            return response;
        }
        self.open(api, body(&response)["continueUrl"].as_str().unwrap())
    }

    /// Returns the request that submits the form for ending the first grant on the user's page.
    pub fn end_first_grant(&self, id: &str, page: &Response) -> Request {
        let fields = [("user", hidden_field(page, "user")), ("end", hidden_field(page, "end"))];
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        let request = self.request("POST", &format!("/mcp/{id}/grants"));
        let request = with_header(request, "origin", ORIGIN);
        with_form(with_header(request, "sec-fetch-site", "same-origin"), &form(&fields))
    }

    /// Follows a link whose response sets no cookie.
    pub fn open(&self, api: &Api, url: &str) -> Response {
        let response = api.send(&self.request("GET", url));
        assert_eq!(response.header("set-cookie"), None);
        response
    }

    /// Returns the request that submits the consent page's form with these fields.
    pub fn decision(&self, id: &str, fields: &[(&str, &str)]) -> Request {
        let request = self.request("POST", &format!("/mcp/{id}/consent"));
        let request = with_header(request, "origin", ORIGIN);
        let request = with_header(request, "sec-fetch-site", "same-origin");
        with_form(request, &form(fields))
    }

    /// Submits the consent page's form.
    pub fn decide(&self, api: &Api, id: &str, fields: &[(&str, &str)]) -> Response {
        let response = api.send(&self.decision(id, fields));
        assert_eq!(response.header("set-cookie"), None);
        response
    }
}

/// A request with a form as its body.
pub fn with_form(request: Request, form: &str) -> Request {
    let request = with_body(request, form);
    let mut headers = request.headers;
    headers.retain(|(name, _)| name != "content-type");
    headers.push(("content-type".into(), "application/x-www-form-urlencoded".into()));
    Request { headers, ..request }
}

/// The `Location` of a redirect without its query, and the query parameters.
pub fn redirect_target(response: &Response) -> (String, Vec<(String, String)>) {
    assert_eq!(response.status, 303, "{}", text(response));
    let location = response.header("location").unwrap();
    let (address, query) = location.split_once('?').unwrap();
    (address.to_owned(), pairs(query))
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

/// The value of a hidden form field on a page.
pub fn hidden_field(page: &Response, name: &str) -> String {
    let html = text(page);
    let start = format!("name=\"{name}\" value=\"");
    let rest = html.split_once(&start).unwrap_or_else(|| panic!("no {name} in {html}")).1;
    rest.split('"').next().unwrap().to_owned()
}

/// An agent opens the authorization endpoint in a browser. Returns the request id that the app receives.
pub fn start_app_sign_in(api: &Api, id: &str, browser: &Browser, client: &str) -> String {
    let (address, query) =
        redirect_target(&browser.authorize(api, id, &authorization_query(client, &[])));
    assert_eq!(address, APP);
    value_of(&query, "request").unwrap()
}

/// The app reports who the user is. Returns `continueUrl`.
pub fn authenticate_user(api: &Api, request: &str, extra: &Value) -> String {
    let mut payload = json!({"request": request, "identity": "ann"});
    for (name, value) in extra.as_object().unwrap() {
        payload[name] = value.clone();
    }
    let response = connect::send(api, "POST", "/v1/agent-grants", &payload);
    assert_eq!(response.status, 201, "{}", text(&response));
    body(&response)["continueUrl"].as_str().unwrap().to_owned()
}

/// Signs in as `identity` in a new browser. Returns the browser, and the page that lists the user's
/// grants.
pub fn open_grants_page(api: &Api, id: &str, identity: &str) -> (Browser, Response) {
    let browser = Browser::default();
    let page = browser.sign_in(api, &format!("/mcp/{id}/grants"), identity);
    assert_eq!(page.status, 200, "{}", text(&page));
    (browser, page)
}

/// Opens an agent's link in a new browser and signs in as `identity` at the app. Returns the
/// response.
pub fn sign_in_from_link(api: &Api, link: &str, identity: &str) -> Response {
    Browser::default().sign_in(api, link, identity)
}

/// Opens the consent page in a new browser. Returns the browser, and the grant id on the page.
pub fn open_consent_page(api: &Api, id: &str, client: &str, extra: &Value) -> (Browser, Response) {
    let browser = Browser::default();
    let request = start_app_sign_in(api, id, &browser, client);
    let page = browser.open(api, &authenticate_user(api, &request, extra));
    assert_eq!(page.status, 200, "{}", text(&page));
    (browser, page)
}

/// Submits the consent form as the user, with `fields` added. Returns the authorization code.
pub fn consent_code(api: &Api, id: &str, client: &str, fields: &[(&str, &str)]) -> String {
    let (browser, page) = open_consent_page(api, id, client, &json!({}));
    let grant = hidden_field(&page, "grant");
    let all = [("grant", grant.as_str()), ("decision", "allow")];
    let (address, back) = redirect_target(&browser.decide(api, id, &[&all[..], fields].concat()));
    assert_eq!(address, CALLBACK);
    assert_eq!(value_of(&back, "state").as_deref(), Some("st&te"));
    assert_eq!(value_of(&back, "iss").unwrap(), format!("{ORIGIN}/mcp/{id}"));
    value_of(&back, "code").unwrap()
}

/// The consent form's fields that grant full access.
pub const ALL: [(&str, &str); 2] = [("access", "write"), ("accounts", "all")];

/// Sends a request to the token endpoint.
pub fn request_token(api: &Api, id: &str, fields: &[(&str, &str)]) -> Response {
    api.send(&with_form(anonymous("POST", &format!("/mcp/{id}/token")), &form(fields)))
}

/// Exchanges a code for tokens.
pub fn exchange(api: &Api, id: &str, client: &str, code: &str) -> Response {
    api.send(&exchange_request(id, client, code))
}

pub fn exchange_request(id: &str, client: &str, code: &str) -> Request {
    let fields = [
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("code", code),
        ("code_verifier", VERIFIER),
        ("redirect_uri", CALLBACK),
    ];
    with_form(anonymous("POST", &format!("/mcp/{id}/token")), &form(&fields))
}

pub fn refresh(api: &Api, id: &str, client: &str, token: &str) -> Response {
    let fields = [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
    request_token(api, id, &fields)
}

/// The tokens of an agent whose user has consented.
pub struct Agent {
    pub client: String,
    pub access: String,
    pub refresh: String,
}

impl Agent {
    pub fn new(api: &Api, id: &str, fields: &[(&str, &str)]) -> Self {
        let client = register(api, id);
        let code = consent_code(api, id, &client, fields);
        let response = exchange(api, id, &client, &code);
        assert_eq!(response.status, 200, "{}", text(&response));
        let tokens = body(&response);
        let [access, refresh] =
            ["access_token", "refresh_token"].map(|name| tokens[name].as_str().unwrap().to_owned());
        Self { client, access, refresh }
    }

    pub fn call(&self, api: &Api, id: &str, tool: &str, arguments: &Value) -> Response {
        call(api, &format!("/mcp/{id}"), &self.access, tool, arguments)
    }

    /// The request that calls a tool.
    pub fn request(&self, id: &str, tool: &str, arguments: &Value) -> Request {
        call_request(&format!("/mcp/{id}"), &self.access, tool, arguments)
    }
}

pub fn call(api: &Api, path: &str, token: &str, tool: &str, arguments: &Value) -> Response {
    api.send(&call_request(path, token, tool, arguments))
}

/// The request that calls a tool with a token.
fn call_request(path: &str, token: &str, tool: &str, arguments: &Value) -> Request {
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments},
    });
    let request = with_body(anonymous("POST", path), &message.to_string());
    with_header(request, "authorization", &format!("Bearer {token}"))
}

/// The status and the code of an OAuth error.
pub fn error(response: &Response) -> (u16, String) {
    (response.status, body(response)["error"].as_str().unwrap_or_default().to_owned())
}
