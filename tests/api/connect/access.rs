//! Access to the connect endpoints: scopes, invalid keys, methods, and the order of checks.

use connector_vault::auth::key::ApiKey;
use connector_vault::terms::{Environment, Scope};

use super::*;
use crate::support::as_key;
use crate::vault::{UNKNOWN_ID, code, comparable};

/// Returns a service with an OAuth client, and the ids of a connection with credentials and of an
/// attempt.
fn fixture() -> (Api, String, String) {
    let api = api();
    set_client(&api, "acme");
    let mut sent = ann_connect_body("plain");
    sent["authMethod"] = json!("basic");
    sent["fields"] = json!({"username": "u", "password": "p"});
    let id = body(&connect(&api, &sent))["id"].as_str().unwrap().to_owned();
    let (attempt, _) = start_attempt(&api, &ann_connect_body("acme"));
    (api, id, attempt)
}

/// Returns one request to each connect endpoint, with the scope that it needs.
fn requests(key: &ApiKey, id: &str, attempt: &str) -> Vec<(Request, Scope)> {
    let get = |path: &str| as_key(key, "GET", path);
    let send = |method: &str, path: &str, sent: &Value| {
        with_body(as_key(key, method, path), &sent.to_string())
    };
    let connection = format!("/v1/vault/connections/{id}");
    let credentials = format!("{connection}/credentials");
    let basic = json!({"type": "basic", "username": "u", "password": "p"});
    let client = "/v1/oauth-clients/acme";
    let reconnect_body = json!({"connection": id, "fields": {"username": "u", "password": "p"}});
    vec![
        (get(&format!("{connection}/status")), Scope::ConnectionsRead),
        (as_key(key, "POST", &format!("{connection}/check")), Scope::ConnectionsWrite),
        (get(&credentials), Scope::CredentialsRead),
        (as_key(key, "HEAD", &credentials), Scope::CredentialsRead),
        (get(&format!("{credentials}?refresh=true")), Scope::CredentialsRead),
        (send("PUT", &credentials, &basic), Scope::CredentialsWrite),
        (send("POST", "/v1/vault/connect", &reconnect_body), Scope::ConnectionsConnect),
        (send("POST", "/v1/vault/connect", &ann_connect_body("acme")), Scope::ConnectionsConnect),
        (get("/v1/vault/connect"), Scope::ConnectionsRead),
        (get(&format!("/v1/vault/connect/{attempt}")), Scope::ConnectionsConnect),
        (get("/v1/oauth-clients"), Scope::ClientsRead),
        (get(client), Scope::ClientsRead),
        (send("PUT", client, &json!({"clientId": "an id"})), Scope::ClientsWrite),
        (as_key(key, "DELETE", client), Scope::ClientsWrite),
    ]
}

#[test]
fn each_endpoint_needs_exactly_its_scope() {
    let (api, id, attempt) = fixture();
    for (index, (_, scope)) in requests(&api.key, &id, &attempt).iter().enumerate() {
        let others: Vec<_> = Scope::ALL.into_iter().filter(|other| other != scope).collect();
        let without = api.env.key("acme", Environment::Test, &others, None);
        api.mark_key_used(&without);
        let before = api.env.dump();
        let request = &requests(&without, &id, &attempt)[index].0;
        let calls = api.env.db_calls.get();
        let response = api.send(request);
        assert_eq!((response.status, api.env.db_calls.get() - calls), (403, 1), "{request:?}");
        if request.method != "HEAD" {
            let detail = format!("This API key lacks the scope `{}`.", scope.as_str());
            assert_eq!(body(&response)["detail"], detail);
        }
        // The responses for existing and unknown ids are the same.
        let unknown = &requests(&without, UNKNOWN_ID, UNKNOWN_ID)[index].0;
        assert_eq!(comparable(&response), comparable(&api.send(unknown)));
        assert_eq!(api.env.dump(), before, "{request:?}");

        let only = api.env.key("acme", Environment::Test, &[*scope], None);
        let request = &requests(&only, &id, &attempt)[index].0;
        let response = api.send(request);
        // The platform has no request that checks a password, so that check ends with
        // `not_checkable`.
        let is_answered = response.status < 300 || text(&response).contains("\"not_checkable\"");
        assert!(is_answered, "{request:?}: {}", text(&response));
    }
    assert!(api.env.sent.borrow().is_empty());
}

#[test]
fn invalid_keys_read_and_write_nothing() {
    let (api, id, attempt) = fixture();
    let now = api.env.now.get();
    let expired = api.env.key("acme", Environment::Test, &Scope::ALL, Some(now));
    let revoked = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    api.env.revoke(&revoked);
    let before = api.env.dump();
    for key in [&expired, &revoked] {
        for (request, _) in requests(key, &id, &attempt) {
            let response = api.send(&request);
            assert_eq!(response.status, 401, "{request:?}");
            assert_eq!(response.header("www-authenticate"), Some("ApiKey"));
            assert_eq!(api.env.dump(), before, "{request:?}");
        }
    }
    for (mut request, _) in requests(&api.key, &id, &attempt) {
        request.headers.retain(|(name, _)| name != "x-service-secret");
        assert_eq!(api.send(&request).status, 401, "{request:?}");
    }
    assert!(api.env.sent.borrow().is_empty());
}

#[test]
fn rejects_unsupported_methods() {
    let (api, id, attempt) = fixture();
    let before = api.env.dump();
    for (path, allow) in [
        (format!("/v1/vault/connections/{id}/status"), "GET, HEAD, OPTIONS"),
        (format!("/v1/vault/connections/{id}/check"), "POST, OPTIONS"),
        (format!("/v1/vault/connections/{id}/credentials"), "GET, HEAD, PUT, OPTIONS"),
        ("/v1/vault/connect".to_owned(), "GET, HEAD, POST, OPTIONS"),
        (format!("/v1/vault/connect/{attempt}"), "GET, HEAD, OPTIONS"),
        ("/v1/oauth-clients".to_owned(), "GET, HEAD, OPTIONS"),
        ("/v1/oauth-clients/acme".to_owned(), "GET, HEAD, PUT, DELETE, OPTIONS"),
    ] {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "QUERY", "get", ""] {
            if allow.split(", ").any(|allowed| allowed == method) {
                continue;
            }
            let response = api.send(&with_body(api.request(method, &path), "{}"));
            assert_eq!(
                (response.status, code(&response).as_str()),
                (405, "method_not_allowed"),
                "{method} {path}"
            );
            assert_eq!(response.header("allow"), Some(allow), "{method} {path}");
        }
        let preflight = api.send(&anonymous("OPTIONS", &path));
        assert_eq!((preflight.status, preflight.header("allow")), (204, Some(allow)), "{path}");
    }
    assert_eq!(api.env.dump(), before);
}

#[test]
fn checks_have_a_fixed_order() {
    let (api, id, _) = fixture();
    let key_without_scope = api.env.key("acme", Environment::Test, &[Scope::CatalogRead], None);
    api.mark_key_used(&key_without_scope);
    let before = api.env.dump();
    let credentials = format!("/v1/vault/connections/{id}/credentials");
    for (path, method) in [
        (credentials.as_str(), "PUT"),
        ("/v1/vault/connect", "POST"),
        ("/v1/oauth-clients/acme", "PUT"),
    ] {
        let requested = format!("{path}?x");
        let with_invalid_body = |request: Request| with_body(request, "{");
        for (request, limited, status) in [
            (with_invalid_body(anonymous(method, &requested)), true, 401),
            (with_invalid_body(as_key(&key_without_scope, method, &format!("{path}/"))), true, 404),
            (with_invalid_body(as_key(&key_without_scope, "PATCH", &requested)), true, 405),
            (with_invalid_body(as_key(&key_without_scope, method, &requested)), true, 403),
            (with_invalid_body(api.request(method, &requested)), true, 429),
            (with_invalid_body(api.request(method, &requested)), false, 400),
            (api.request(method, path), false, 415),
            (with_invalid_body(api.request(method, path)), false, 400),
        ] {
            api.env.limited.set(limited);
            let response = api.send(&request);
            assert_eq!(response.status, status, "{request:?}: {}", text(&response));
        }
    }
    api.env.limited.set(false);
    assert_eq!(api.env.dump(), before);
}

#[test]
fn links_and_window_codes_end_with_the_key_that_created_them() {
    let api = api();
    set_client(&api, "acme");
    for is_expired in [false, true] {
        let expires_at = is_expired.then(|| api.env.now.get() + 60_000);
        let key = api.env.key("acme", Environment::Test, &Scope::ALL, expires_at);
        let post = |path: &str, sent: &Value, member: &str| {
            let response = api.send(&with_body(as_key(&key, "POST", path), &sent.to_string()));
            body(&response)[member].as_str().unwrap().to_owned()
        };
        let start_attempt =
            || post("/v1/vault/connect", &ann_connect_body("acme"), "authorizationUrl");
        let (link, bound) = (start_attempt(), start_attempt());
        let browser = Browser::default();
        assert_eq!(browser.get(&api, &link).status, 200);
        let (follower, _) = follow(&api, &bound);
        let scopes = ["catalog:read", "connections:read", "connections:connect"];
        let session = json!({"identity": "ann", "scopes": scopes});
        let url = post("/v1/sessions", &session, "connectUrl");
        let code = url.strip_prefix(&format!("{ORIGIN}/connect#code=")).unwrap();
        if is_expired {
            api.env.now.set(api.env.now.get() + 60_000);
        } else {
            api.env.revoke(&key);
        }
        assert_eq!(browser.get(&api, &link).status, 410);
        assert_eq!(browser.confirm_link(&api, &link).status, 410);
        assert_eq!(follower.get(&api, &bound).status, 410);
        assert_eq!(api.send(&exchange(code)).status, 401);
        assert_eq!(rows(&api, "used_codes"), 0);
    }
    assert!(api.env.sent.borrow().is_empty());
}
