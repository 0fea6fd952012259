//! People's sign-in to the console, over real `SQLite` and with a scripted OpenID provider.

mod attacks;
mod configuration;
mod sessions;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::LazyLock;

use connector_vault::http::config::SECRET_HEADER;
use connector_vault::http::{Request, Response};
use connector_vault::ports::HttpRequest;
use serde_json::{Value, json};

use crate::agents::provider::{ISSUER, Signer, claims, key, serve, serve_id_token};
use crate::agents::{Browser, form, redirect_target, settings};
use crate::connect::{api_with, response as platform_response, send, text, value_of};
use crate::support::{Api, ORIGIN, anonymous, as_secret, body, with_body, with_header};

pub const SIGN_IN: &str = "/v1/console-sign-in";
pub const SESSIONS: &str = "/v1/console-sessions";
/// The provider's key, which the service caches.
static SIGNER: LazyLock<Signer> = LazyLock::new(Signer::ec);
/// The domain of a Cloudflare Access team.
const TEAM_DOMAIN: &str = "acme.cloudflareaccess.com";

/// A sign-in configuration with two roles.
pub fn oidc(extra: &Value) -> Value {
    let mut payload = json!({
        "type": "oidc", "issuer": ISSUER, "clientId": "vault", "clientSecret": "a:secret", "claim": "groups",
        "roles": {"support": ["connections:read"], "admins": ["catalog:read", "connections:read",
            "connections:write", "keys:read", "keys:write", "audit:read", "console:read", "console:write"]},
    });
    for (name, value) in extra.as_object().unwrap() {
        payload[name] = value.clone();
    }
    payload
}

/// Configures a sign-in. Returns its id.
pub fn configure(api: &Api, payload: &Value) -> String {
    serve(api);
    let response = send(api, "PUT", SIGN_IN, payload);
    assert!(matches!(response.status, 200 | 201), "{}", text(&response));
    id_of(&body(&response))
}

/// Makes the provider that the documentation's example names serve its metadata.
pub fn serve_example(api: &Api) {
    *api.env.platform.borrow_mut() = Box::new(|request| match request.url.as_str() {
        "https://id.example.com/.well-known/openid-configuration" => {
            let at = |path: &str| format!("https://id.example.com/{path}");
            let discovery = json!({
                "issuer": "https://id.example.com", "authorization_endpoint": at("authorize"),
                "token_endpoint": at("token"), "jwks_uri": at("keys"),
            });
            platform_response(200, &discovery)
        }
        other => panic!("no server for {other}"),
    });
}

pub fn id_of(sign_in: &Value) -> String {
    let address = sign_in["signInUrl"].as_str().unwrap();
    address.strip_prefix(&format!("{ORIGIN}/sign-in/")).unwrap().to_owned()
}

/// Returns a service with a configured sign-in, and the sign-in's id.
pub fn console(extra: &Value) -> (Api, String) {
    let api = api_with(&settings());
    let id = configure(&api, &oidc(extra));
    (api, id)
}

/// The request that the button on the sign-in page sends.
pub fn start(browser: &Browser, id: &str) -> Request {
    let request = with_header(browser.request("POST", &format!("/sign-in/{id}")), "origin", ORIGIN);
    with_header(request, "sec-fetch-site", "same-origin")
}

/// Stores the cookie that a response sets.
fn store_cookie(browser: &Browser, response: &Response) {
    let cookie = response.header("set-cookie").unwrap();
    for part in ["Path=/", "Secure", "HttpOnly", "SameSite=Lax"] {
        assert!(cookie.split("; ").any(|found| found == part), "{cookie}");
    }
    assert!(cookie.starts_with("__Host-console="), "{cookie}");
    *browser.cookie.borrow_mut() = Some(cookie.split(';').next().unwrap().to_owned());
}

/// Starts a sign-in. Returns the browser, and the parameters of the redirect to the provider.
pub fn at_provider(api: &Api, id: &str) -> (Browser, Vec<(String, String)>) {
    let browser = Browser::default();
    let response = api.send(&start(&browser, id));
    store_cookie(&browser, &response);
    let (address, parameters) = redirect_target(&response);
    assert_eq!(address, "https://id.example/authorize");
    (browser, parameters)
}

/// Makes the provider authenticate a person with these claims. Returns the requests that it
/// receives.
pub fn authenticate(
    api: &Api,
    parameters: &[(String, String)],
    extra: &Value,
) -> Rc<RefCell<Vec<HttpRequest>>> {
    let mut all = claims(api, parameters);
    for (name, value) in extra.as_object().unwrap() {
        all[name] = value.clone();
    }
    let token = SIGNER.sign(&json!({"alg": "ES256", "kid": "k"}), &all);
    serve_id_token(api, &token, &[key("k", &SIGNER)])
}

pub fn callback(id: &str, parameters: &[(String, String)]) -> String {
    let state = value_of(parameters, "state").unwrap();
    format!("/sign-in/{id}/callback?{}", form(&[("code", "c"), ("state", &state)]))
}

/// The code in the fragment of the redirect to the console.
pub fn code_in(response: &Response, id: &str) -> String {
    assert_eq!(response.status, 303, "{}", text(response));
    let location = response.header("location").unwrap();
    let code = location.strip_prefix(&format!("{ORIGIN}/#sign-in={id}.")).unwrap();
    code.to_owned()
}

/// The request with which the console exchanges a code.
pub fn exchange(browser: &Browser, id: &str, code: &str) -> Request {
    let request =
        with_header(browser.request("POST", &format!("/sign-in/{id}/token")), "origin", ORIGIN);
    let request = with_header(request, "sec-fetch-site", "same-origin");
    with_body(request, &json!({"code": code}).to_string())
}

/// Completes a sign-in. Returns the browser, and the code in the redirect to the console.
pub fn with_code(api: &Api, id: &str, extra: &Value) -> (Browser, String) {
    let (browser, parameters) = at_provider(api, id);
    authenticate(api, &parameters, extra);
    let code = code_in(&browser.open(api, &callback(id, &parameters)), id);
    (browser, code)
}

/// Signs in a person. Returns the session's token.
pub fn token(api: &Api, id: &str, extra: &Value) -> String {
    let (browser, code) = with_code(api, id, extra);
    let response = api.send(&exchange(&browser, id, &code));
    assert_eq!(response.status, 200, "{}", text(&response));
    body(&response)["token"].as_str().unwrap().to_owned()
}

/// Signs in a person with the role `admins`. Returns the session's token.
pub fn admin(api: &Api, id: &str) -> String {
    token(api, id, &json!({"groups": ["admins"]}))
}

pub fn send_as(api: &Api, token: &str, method: &str, path: &str, payload: &Value) -> Response {
    let request = as_secret(token, method, path);
    api.send(&if payload.is_null() { request } else { with_body(request, &payload.to_string()) })
}

pub fn status(api: &Api, token: &str) -> u16 {
    send_as(api, token, "GET", "/v1/whoami", &Value::Null).status
}

/// The status and the heading of a page.
pub fn heading(response: &Response) -> (u16, String) {
    let html = text(response);
    let rest = html.split_once("<h1>").unwrap_or_else(|| panic!("no page: {html}")).1;
    (response.status, rest.split_once("</h1>").unwrap().0.to_owned())
}

/// Returns a service that Cloudflare Access protects, the id of its sign-in, and the signer of the
/// Access header.
fn access() -> (Api, String, Signer) {
    let api = api_with(&settings());
    let signer = Signer::ec();
    let keys = json!({"keys": [key("k", &signer)]});
    *api.env.platform.borrow_mut() = Box::new(move |request| match request.url.as_str() {
        "https://acme.cloudflareaccess.com/cdn-cgi/access/certs" => platform_response(200, &keys),
        other => panic!("no server for {other}"),
    });
    let payload = json!({
        "type": "access", "teamDomain": TEAM_DOMAIN, "audience": "aud-tag", "claim": "email",
        "roles": {"ann@example.com": ["connections:read"]},
    });
    let response = send(&api, "PUT", SIGN_IN, &payload);
    assert_eq!(response.status, 201, "{}", text(&response));
    let id = id_of(&body(&response));
    (api, id, signer)
}

#[test]
fn an_unknown_key_in_the_header_of_access_fetches_the_keys_once_a_minute() {
    let (api, id, signer) = access();
    let fetched = Rc::new(Cell::new(0));
    let (counter, keys) = (Rc::clone(&fetched), json!({"keys": [key("k", &signer)]}));
    *api.env.platform.borrow_mut() = Box::new(move |_| {
        counter.set(counter.get() + 1);
        platform_response(200, &keys)
    });
    let send = |kid: &str| {
        let now = api.env.now.get() / 1000;
        let claims = json!({
            "iss": format!("https://{TEAM_DOMAIN}"), "aud": ["aud-tag"], "sub": "7335d417", "email": "ann@example.com",
            "iat": now, "exp": now + 300, "type": "app",
        });
        let assertion = signer.sign(&json!({"alg": "ES256", "kid": kid}), &claims);
        let request = start(&Browser::default(), &id);
        api.send(&with_header(request, "cf-access-jwt-assertion", &assertion)).status
    };
    // The service fetches the keys for the first known id, and for the first unknown id, because
    // the team may have rotated its keys.
    assert_eq!((send("k"), send("unknown")), (303, 403));
    assert_eq!(fetched.get(), 2);
    for kid in ["unknown", "another", "unknown"] {
        assert_eq!((send(kid), fetched.get()), (403, 2));
    }
    api.env.wait(60_001);
    assert_eq!((send("unknown"), fetched.get()), (403, 3));
    assert_eq!((send("another"), send("k"), fetched.get()), (403, 303, 3));
}

#[test]
fn a_person_signs_in_and_is_the_actor_of_changes() {
    let (api, id) = console(&json!({}));
    let token = token(&api, &id, &json!({"groups": ["x", "admins", "support"]}));
    let whoami = body(&send_as(&api, &token, "GET", "/v1/whoami", &Value::Null));
    assert_eq!(
        (&whoami["person"], &whoami["account"]),
        (&json!("ann@example.com"), &json!("acme"))
    );
    let scopes: Vec<&str> =
        whoami["scopes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(
        scopes,
        [
            "catalog:read",
            "connections:read",
            "connections:write",
            "keys:read",
            "keys:write",
            "audit:read",
            "console:read",
            "console:write",
        ]
    );
    assert!(whoami["identity"].is_null() && whoami["expiresAt"].is_string());

    let payload = json!({"scopes": ["connections:read"]});
    let created = send_as(&api, &token, "POST", "/v1/keys", &payload);
    assert_eq!(created.status, 201, "{}", text(&created));
    let entries =
        body(&send_as(&api, &token, "GET", "/v1/audit?actions=key.created", &Value::Null));
    let actor = &entries["rows"][0]["actor"];
    assert_eq!((&actor["type"], &actor["id"]), (&json!("person"), &json!("ann@example.com")));
    let entries = api.get("/v1/audit?actions=console_session.created,console_sign_in.updated");
    let actions: Vec<Value> = body(&entries)["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["actor"]["type"].clone())
        .collect();
    assert_eq!(actions, ["person", "key"]);
}

#[test]
fn the_request_to_the_provider_is_complete() {
    for (extra, scope) in [
        (json!({}), "openid profile email"),
        (json!({"scopes": ["openid", "groups"]}), "openid groups"),
    ] {
        let (api, id) = console(&extra);
        let (_, parameters) = at_provider(&api, &id);
        let uri = format!("{ORIGIN}/sign-in/{id}/callback");
        for (name, value) in [
            ("response_type", "code"),
            ("client_id", "vault"),
            ("scope", scope),
            ("code_challenge_method", "S256"),
            ("redirect_uri", &uri),
        ] {
            assert_eq!(value_of(&parameters, name).as_deref(), Some(value), "{name}");
        }
        for name in ["nonce", "state", "code_challenge"] {
            assert!(value_of(&parameters, name).is_some_and(|value| value.len() >= 43), "{name}");
        }
    }
}

#[test]
fn a_person_without_a_role_gets_an_error_page() {
    for (claim, extra) in [
        ("groups", json!({"groups": ["others"]})),
        ("groups", json!({})),
        ("email", json!({"email": "admins", "email_verified": false})),
    ] {
        let (api, id) = console(&json!({"claim": claim}));
        let (browser, parameters) = at_provider(&api, &id);
        authenticate(&api, &parameters, &extra);
        let page = browser.open(&api, &callback(&id, &parameters));
        assert_eq!(heading(&page), (403, "You have no access".to_owned()), "{claim} {extra}");
        assert_eq!(crate::connect::rows(&api, "console_sessions"), 0);
    }
}

#[test]
fn a_sign_in_link_asks_for_confirmation() {
    let (api, id) = console(&json!({}));
    let path = format!("/sign-in/{id}");
    let with_site = |site: &str| with_header(anonymous("GET", &path), "sec-fetch-site", site);
    // Even a link on the same host asks first, because an agent's consent page redirects to a URL
    // that anyone can register.
    let sites = ["none", "cross-site", "same-origin"].map(with_site);
    for request in sites.into_iter().chain([anonymous("GET", &path)]) {
        let page = api.send(&request);
        assert_eq!(heading(&page), (200, "Sign in to acme".to_owned()));
        assert!(text(&page).contains("Sign in with id.example"), "{}", text(&page));
        assert_eq!(page.header("set-cookie"), None);
    }
    // A page of another site can't press the button.
    let cross_site_request =
        with_header(anonymous("POST", &path), "origin", "https://evil.example");
    let page = api.send(&with_header(cross_site_request, "sec-fetch-site", "cross-site"));
    assert_eq!((page.status, page.header("set-cookie")), (200, None));
    let request_at_other_host =
        Request { origin: "https://other.example".into(), ..anonymous("GET", &path) };
    let response = api.send(&request_at_other_host);
    assert_eq!(response.header("location"), Some(format!("{ORIGIN}{path}").as_str()));
}

#[test]
fn cloudflare_access_signs_people_in() {
    let valid_claims = |now: u64| {
        json!({
            "iss": format!("https://{TEAM_DOMAIN}"), "aud": ["aud-tag"], "sub": "7335d417", "email": "ann@example.com",
            "iat": now, "nbf": now, "exp": now + 300, "type": "app",
        })
    };
    let failed = (403, "You are not signed in".to_owned());
    for (change, expected) in [
        (json!({}), None),
        (json!({"aud": ["other"]}), Some(failed.clone())),
        (json!({"iss": "https://evil.cloudflareaccess.com"}), Some(failed.clone())),
        (json!({"exp": 1}), Some(failed.clone())),
        (json!({"email": "bob@example.com"}), Some((403, "You have no access".to_owned()))),
        // A service token, which has no person.
        (
            json!({"email": null, "sub": "", "common_name": "ci"}),
            Some((503, "You can&#39;t sign in at the moment".to_owned())),
        ),
    ] {
        let (api, id, signer) = access();
        let mut claims = valid_claims(api.env.now.get() / 1000);
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let assertion = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims);
        let browser = Browser::default();
        let request = with_header(start(&browser, &id), "cf-access-jwt-assertion", &assertion);
        let response = api.send(&request);
        if let Some(expected) = expected {
            assert_eq!(heading(&response), expected, "{change}");
            continue;
        }
        store_cookie(&browser, &response);
        let code = code_in(&response, &id);
        let token = body(&api.send(&exchange(&browser, &id, &code)))["token"].clone();
        let whoami = send_as(&api, token.as_str().unwrap(), "GET", "/v1/whoami", &Value::Null);
        assert_eq!(body(&whoami)["person"], "ann@example.com");
    }
    // Rejects a missing header, and a forged signature.
    let (api, id, _) = access();
    let now = api.env.now.get() / 1000;
    let forged = Signer::ec().sign(&json!({"alg": "ES256", "kid": "k"}), &valid_claims(now));
    let browser = Browser::default();
    let request = start(&browser, &id);
    assert_eq!(heading(&api.send(&request)), failed);
    let request = with_header(request, "cf-access-jwt-assertion", &forged);
    assert_eq!(heading(&api.send(&request)), failed);
    // Access never redirects to the callback, so there is no sign-in to complete.
    let page = api.send(&anonymous("GET", &format!("/sign-in/{id}/callback?code=c&state=s")));
    assert_eq!(page.status, 410);
}

/// Returns a service, and a request to one of its browser endpoints.
pub fn open_request(open: connector_vault::http::endpoint::Open) -> Option<(Api, Request)> {
    use connector_vault::http::endpoint::Open;
    let (api, id) = console(&json!({}));
    let request = match open {
        Open::SignInPage => anonymous("GET", &format!("/sign-in/{id}")),
        Open::SignInStart => start(&Browser::default(), &id),
        Open::SignInCallback => {
            let (browser, parameters) = at_provider(&api, &id);
            authenticate(&api, &parameters, &json!({"groups": ["support"]}));
            browser.request("GET", &callback(&id, &parameters))
        }
        Open::SignInToken => {
            let (browser, code) = with_code(&api, &id, &json!({"groups": ["support"]}));
            exchange(&browser, &id, &code)
        }
        _ => return None,
    };
    Some((api, request))
}

/// Returns the same request from another browser, which has no cookie.
fn other_browser(request: &Request) -> Request {
    let headers = request.headers.iter().filter(|(name, _)| name != "cookie").cloned().collect();
    Request { headers, ..request.clone() }
}

/// Returns the browser of a person who has signed in before.
fn browser_with_other_cookie() -> Browser {
    Browser { cookie: RefCell::new(Some(format!("__Host-console={}", "o".repeat(43)))) }
}

/// Returns the request with another secret.
pub fn with_secret(mut request: Request, secret: &str) -> Request {
    request.headers.retain(|(name, _)| name != SECRET_HEADER);
    with_header(request, SECRET_HEADER, secret)
}
