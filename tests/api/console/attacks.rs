//! Attacks on the console's sign-in: forwarded links, stolen codes and cookies, and attempts to
//! gain scopes.

use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use super::{
    SESSIONS, SIGN_IN, admin, at_provider, authenticate, browser_with_other_cookie, callback,
    code_in, console, exchange, heading, oidc, other_browser, send_as, token, with_code,
};
use crate::agents::form;
use crate::agents::provider::serve_id_token;
use crate::connect::{rows, send, text, value_of};
use crate::support::{ORIGIN, anonymous, as_key, as_secret, body, with_body, with_header};

#[test]
fn the_callback_needs_the_browser_in_which_the_sign_in_started() {
    let expired = (410, "This sign-in is no longer valid".to_owned());
    let (api, id) = console(&json!({}));
    let (browser, parameters) = at_provider(&api, &id);
    authenticate(&api, &parameters, &json!({"groups": ["admins"]}));
    let request = browser.request("GET", &callback(&id, &parameters));
    // Login CSRF in either direction: a forwarded link in a browser that has never signed in, and
    // in one that has.
    assert_eq!(heading(&api.send(&other_browser(&request))), expired);
    let own = browser_with_other_cookie().request("GET", &callback(&id, &parameters));
    assert_eq!(heading(&api.send(&own)), expired);
    // The state of another sign-in in this browser is valid, but the nonce and the verifier belong
    // to the first.
    let state = value_of(&parameters, "state").unwrap();
    let changed = format!(
        "/sign-in/{id}/callback?{}",
        form(&[("code", "c"), ("state", &format!("{state}x"))])
    );
    assert_eq!(heading(&api.send(&browser.request("GET", &changed))), expired);
    let head = api.send(&browser.request("HEAD", &callback(&id, &parameters)));
    assert_eq!(head.status, 200);
    api.env.wait(10 * 60_000);
    assert_eq!(heading(&api.send(&request)), expired);
    assert_eq!(rows(&api, "console_sessions"), 0);
}

#[test]
fn a_repeated_callback_opens_no_second_session() {
    let expired = (410, "This sign-in is no longer valid".to_owned());
    let (api, id) = console(&json!({}));
    let (browser, parameters) = at_provider(&api, &id);
    // This provider accepts its code more than once.
    authenticate(&api, &parameters, &json!({"groups": ["admins"]}));
    let request = browser.request("GET", &callback(&id, &parameters));
    let code = code_in(&api.send(&request), &id);
    assert_eq!(heading(&api.send(&request)), expired);
    assert_eq!(api.send(&exchange(&browser, &id, &code)).status, 200);
    assert_eq!(heading(&api.send(&request)), expired);
    assert_eq!(rows(&api, "console_sessions"), 1);
}

#[test]
fn a_code_is_not_sent_to_a_provider_that_was_configured_later() {
    let (api, id) = console(&json!({}));
    let (browser, asked) = at_provider(&api, &id);
    api.env.wait(1);
    assert_eq!(send(&api, "PUT", SIGN_IN, &oidc(&json!({"clientId": "another"}))).status, 200);
    let received = serve_id_token(&api, "token", &[]);
    let page = browser.open(&api, &callback(&id, &asked));
    assert_eq!(heading(&page), (410, "This sign-in is no longer valid".to_owned()));
    assert!(text(&page).contains("the settings of the sign-in have changed"), "{}", text(&page));
    assert!(received.borrow().is_empty());
}

#[test]
fn an_injected_code_fails_by_its_nonce_and_its_verifier() {
    let (api, id) = console(&json!({}));
    let (_, first) = at_provider(&api, &id);
    let (browser, parameters) = at_provider(&api, &id);
    // The provider issued this ID token for the request of another browser.
    authenticate(&api, &first, &json!({"groups": ["admins"]}));
    let page = browser.open(&api, &callback(&id, &parameters));
    assert_eq!(heading(&page), (503, "You can&#39;t sign in at the moment".to_owned()));
    assert!(page.log.unwrap().contains("`nonce`"));
    assert_eq!(rows(&api, "console_sessions"), 0);
}

#[test]
fn errors_of_the_provider_are_shown_as_pages() {
    let (api, id) = console(&json!({}));
    let (browser, parameters) = at_provider(&api, &id);
    let state = value_of(&parameters, "state").unwrap();
    let query = form(&[("error", "access_denied"), ("state", &state)]);
    let page = browser.open(&api, &format!("/sign-in/{id}/callback?{query}"));
    assert_eq!(heading(&page), (403, "You are not signed in".to_owned()));
    assert!(text(&page).contains(&format!("href=\"{ORIGIN}/sign-in/{id}\"")), "{}", text(&page));
    for path in ["/sign-in/unknown", &format!("/sign-in/{}", "u".repeat(43))] {
        let page = api.send(&anonymous("GET", path));
        assert_eq!(heading(&page), (404, "This sign-in does not exist".to_owned()));
    }
    for more in [
        json!({"aud": "other"}),
        json!({"iss": "https://evil.example"}),
        json!({"exp": 1}),
        json!({"sub": null, "email": null}),
    ] {
        let (browser, parameters) = at_provider(&api, &id);
        authenticate(&api, &parameters, &more);
        let page = browser.open(&api, &callback(&id, &parameters));
        assert_eq!(page.status, 503, "{more}");
    }
    assert_eq!(rows(&api, "console_sessions"), 0);
}

#[test]
fn a_code_works_once_in_its_browser_and_for_a_minute() {
    let (api, id) = console(&json!({}));
    let role = json!({"groups": ["admins"]});
    let (browser, code) = with_code(&api, &id, &role);
    let request = exchange(&browser, &id, &code);
    // Session fixation: the code of an attacker's sign-in in another browser.
    assert_eq!(api.send(&other_browser(&request)).status, 401);
    assert_eq!(api.send(&exchange(&browser_with_other_cookie(), &id, &code)).status, 401);
    let foreign = anonymous("POST", &format!("/sign-in/{id}/token"));
    let cookie = browser.cookie.borrow().clone().unwrap();
    let foreign =
        with_header(with_header(foreign, "cookie", &cookie), "origin", "https://evil.example");
    let payload = json!({"code": code}).to_string();
    assert_eq!(api.send(&with_body(foreign, &payload)).status, 401);
    for bad in ["", "x", &format!("{code}x"), &code.replacen('.', "", 1)] {
        assert_eq!(api.send(&exchange(&browser, &id, bad)).status, 401, "{bad}");
    }
    assert_eq!(api.send(&request).status, 200);
    assert_eq!(api.send(&request).status, 401);
    let (browser, code) = with_code(&api, &id, &role);
    api.env.wait(60_000);
    assert_eq!(api.send(&exchange(&browser, &id, &code)).status, 401);
}

#[test]
fn only_the_token_authorizes_and_only_on_this_host() {
    let (api, id) = console(&json!({}));
    let (browser, code) = with_code(&api, &id, &json!({"groups": ["admins"]}));
    // Neither the cookie nor a session whose code was not exchanged authorizes a request.
    assert_eq!(api.send(&browser.request("GET", "/v1/whoami")).status, 401);
    let token =
        body(&api.send(&exchange(&browser, &id, &code)))["token"].as_str().unwrap().to_owned();
    assert!(token.starts_with("cs_test_"), "{token}");
    let request = || as_secret(&token, "GET", "/v1/whoami");
    assert_eq!(api.send(&with_header(request(), "origin", ORIGIN)).status, 200);
    assert_eq!(api.send(&with_header(request(), "origin", "https://evil.example")).status, 401);
    let changed = token.replacen("cs_", "st_", 1);
    assert_eq!(api.send(&as_secret(&changed, "GET", "/v1/whoami")).status, 401);
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    assert_eq!(api.send(&with_body(as_secret(&token, "POST", "/mcp"), &message)).status, 401);
}

#[test]
fn a_person_cannot_get_more_scopes_than_they_have() {
    let (api, id) = console(&json!({}));
    let admin = admin(&api, &id);
    let lacks = |response: connector_vault::http::Response, scope: &str| {
        assert_eq!(response.status, 403, "{}", text(&response));
        let detail = body(&response)["detail"].clone();
        assert_eq!(detail, format!("This sign-in lacks the scope `{scope}`."));
    };
    let before = rows(&api, "api_keys");
    let payload = json!({"scopes": ["connections:read", "credentials:read"]});
    lacks(send_as(&api, &admin, "POST", "/v1/keys", &payload), "credentials:read");
    // This key has scopes that the person lacks, but none that the sign-in's key lacks.
    let payload = json!({"scopes": ["sessions:create"]});
    let created = body(&send(&api, "POST", "/v1/keys", &payload));
    let path = format!("/v1/keys/{}/rotate", created["id"].as_str().unwrap());
    lacks(send_as(&api, &admin, "POST", &path, &Value::Null), "sessions:create");
    assert_eq!(rows(&api, "api_keys"), before + 1);
    let more = json!({"roles": {"admins": ["credentials:read"]}});
    lacks(send_as(&api, &admin, "PUT", SIGN_IN, &oidc(&more)), "credentials:read");

    // Configuring agents needs more scopes, because they act with the scopes of the key.
    let (api, id) = console(&json!({"roles": {"x": ["agents:write", "catalog:read"]}}));
    let person = token(&api, &id, &json!({"groups": "x"}));
    let payload = json!({"type": "app", "url": "https://app.example"});
    lacks(send_as(&api, &person, "PUT", "/v1/agent-sign-in", &payload), "connections:read");
    lacks(send_as(&api, &person, "GET", "/v1/vault/connections", &Value::Null), "connections:read");
}

#[test]
fn a_sign_in_gives_at_most_the_scopes_of_its_key() {
    let (api, _) = console(&json!({}));
    let scopes = [Scope::ConsoleWrite, Scope::ConnectionsRead];
    let key = api.env.key("acme", Environment::Test, &scopes, None);
    let put = |roles: Value| {
        let payload = oidc(&json!({ "roles": roles })).to_string();
        api.send(&with_body(as_key(&key, "PUT", SIGN_IN), &payload))
    };
    let refusal = put(json!({"x": ["catalog:read"]}));
    assert_eq!(body(&refusal)["detail"], "This API key lacks the scope `catalog:read`.");
    assert_eq!(put(json!({"x": ["connections:read"]})).status, 200);
}

#[test]
fn sessions_of_other_tenants_are_not_found() {
    let (api, id) = console(&json!({}));
    let person = admin(&api, &id);
    let session = body(&api.get(SESSIONS))["rows"][0]["id"].as_str().unwrap().to_owned();
    for (account, environment) in [("other", Environment::Test), ("acme", Environment::Live)] {
        let key = api.env.key(account, environment, &Scope::ALL, None);
        assert_eq!(body(&api.send(&as_key(&key, "GET", SESSIONS)))["rows"], json!([]));
        let delete = as_key(&key, "DELETE", &format!("{SESSIONS}/{session}"));
        assert_eq!(body(&api.send(&delete))["code"], "console_session_not_found");
        assert_eq!(
            body(&api.send(&as_key(&key, "GET", SIGN_IN)))["code"],
            "console_sign_in_not_found"
        );
        assert_eq!(api.send(&as_key(&key, "DELETE", SIGN_IN)).status, 404);
    }
    assert_eq!(super::status(&api, &person), 200);
}
