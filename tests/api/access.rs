//! Access control of the vault endpoints: scopes, invalid keys, methods, the order of checks, and
//! one database call per request.

use connector_vault::auth::key::ApiKey;
use connector_vault::http::message::Body;
use connector_vault::http::{Request, Response};
use connector_vault::terms::{Environment, Scope};
use serde_json::json;

use crate::support::{Api, anonymous, as_key, body, with_body, with_header};
use crate::vault::{CONNECTIONS, SUMMARY, UNKNOWN_ID, at, code, comparable, minimal, name, state};

/// Returns one request to each vault endpoint for this connection, with the scope that it needs.
fn requests(key: &ApiKey, id: &str) -> Vec<(Request, Scope)> {
    let (read, write) = (Scope::ConnectionsRead, Scope::ConnectionsWrite);
    let changed = |method: &str, path: &str, sent: &str| with_body(as_key(key, method, path), sent);
    vec![
        (as_key(key, "GET", CONNECTIONS), read),
        (as_key(key, "HEAD", CONNECTIONS), read),
        (as_key(key, "GET", &format!("{CONNECTIONS}?q=a&tags=b&key=c&page=7")), read),
        (as_key(key, "GET", &at(id)), read),
        (as_key(key, "HEAD", &at(id)), read),
        (as_key(key, "GET", SUMMARY), read),
        (as_key(key, "HEAD", SUMMARY), read),
        (changed("POST", CONNECTIONS, &minimal("new").to_string()), write),
        (changed("PATCH", &at(id), r#"{"tags":["new"]}"#), write),
        (changed("PATCH", &at(id), "{}"), write),
        (changed("PUT", &state(id), r#"{"state":"failed"}"#), write),
        (changed("PUT", &name(id), r#"{"name":"Ann"}"#), write),
        (changed("DELETE", &at(id), ""), write),
    ]
}

fn id_of(api: &Api) -> String {
    api.create(&minimal("ann"))["id"].as_str().unwrap().to_owned()
}

#[test]
fn rejects_keys_without_the_required_scope() {
    let api = Api::with_catalog();
    let id = id_of(&api);
    for scopes in [
        vec![],
        vec![Scope::CatalogRead],
        vec![Scope::ConnectionsRead],
        vec![Scope::ConnectionsWrite, Scope::CatalogRead],
    ] {
        let key = api.env.key("acme", Environment::Test, &scopes, None);
        api.mark_key_used(&key);
        let before = api.env.dump();
        for (request, scope) in requests(&key, &id) {
            if scopes.contains(&scope) {
                continue;
            }
            let calls = api.env.db_calls.get();
            let response = api.send(&request);
            assert_eq!((response.status, api.env.db_calls.get() - calls), (403, 1), "{request:?}");
            if request.method != "HEAD" {
                let detail = format!("This API key lacks the scope `{}`.", scope.as_str());
                assert_eq!(
                    (code(&response), &body(&response)["detail"]),
                    ("insufficient_scope".into(), &json!(detail))
                );
            }
            // The responses for an existing and an unknown id are the same.
            let unknown =
                Request { path: request.path.replace(&id, UNKNOWN_ID), ..request.clone() };
            assert_eq!(comparable(&response), comparable(&api.send(&unknown)));
            assert_eq!(api.env.dump(), before, "{request:?}");
        }
    }
    // A key with only the required scope can send each request.
    for (index, _) in requests(&api.key, "").iter().enumerate() {
        let id = api.create(&minimal(&format!("id-{index}")))["id"].as_str().unwrap().to_owned();
        let scope = requests(&api.key, &id)[index].1;
        let key = api.env.key("acme", Environment::Test, &[scope], None);
        let response = api.send(&requests(&key, &id)[index].0);
        assert!(response.status < 300, "{index} {}", response.status);
    }
}

#[test]
fn invalid_keys_read_and_write_nothing() {
    let api = Api::with_catalog();
    let id = id_of(&api);
    let expired = api.env.key("acme", Environment::Test, &Scope::ALL, Some(api.env.now.get()));
    let revoked = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    api.env.revoke(&revoked);
    let unknown = api.env.unknown_key(Environment::Test);
    let misfiled = api.env.key("acme", Environment::Live, &Scope::ALL, None);
    api.env
        .database
        .execute(
            "UPDATE api_keys SET environment = 'test' WHERE hash = ?1",
            [misfiled.hash().to_string()],
        )
        .unwrap();
    let before = api.env.dump();
    let responses = |key: &ApiKey| -> Vec<_> {
        let reply = |(request, _): &(Request, Scope)| {
            let calls = api.env.db_calls.get();
            let response = api.send(request);
            assert_eq!((response.status, api.env.db_calls.get() - calls), (401, 1), "{request:?}");
            assert_eq!(response.header("www-authenticate"), Some("ApiKey"));
            assert_eq!(api.env.dump(), before, "{request:?}");
            // Ignores `server-timing`, which counts the rows that were read for the key.
            let (status, headers, text) = comparable(&response);
            (
                status,
                headers
                    .into_iter()
                    .filter(|(name, _)| *name != "server-timing")
                    .collect::<Vec<_>>(),
                text,
            )
        };
        requests(key, &id).iter().map(reply).collect()
    };
    let expected = responses(&unknown);
    for key in [&expired, &revoked, &misfiled] {
        assert_eq!(responses(key), expected);
    }
    assert!(expected[0].2.contains("\"code\":\"invalid_key\""));
}

#[test]
fn revocation_and_expiry_take_effect_in_the_same_batch() {
    let api = Api::with_catalog();
    let id = id_of(&api);
    let end = api.env.now.get() + 1000;
    let expiring = api.env.key("acme", Environment::Test, &Scope::ALL, Some(end));
    let revoked = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let send_request = |key: &ApiKey| api.send(&requests(key, &id)[3].0).status;
    assert_eq!((send_request(&expiring), send_request(&revoked)), (200, 200));
    // Make the isolate cache both keys: cached keys must not delay revocation or expiry.
    for key in [&expiring, &revoked] {
        assert_eq!(api.send(&as_key(key, "GET", "/v1/available-connectors")).status, 200);
    }
    api.env.revoke(&revoked);
    api.env.wait(999);
    assert_eq!((send_request(&expiring), send_request(&revoked)), (200, 401));
    api.env.wait(1);
    assert_eq!(send_request(&expiring), 401);
    let before = api.env.dump();
    for (request, _) in requests(&expiring, &id).into_iter().chain(requests(&revoked, &id)) {
        assert_eq!(api.send(&request).status, 401, "{request:?}");
    }
    assert_eq!(api.env.dump(), before);
}

#[test]
fn malformed_keys_never_reach_storage() {
    let api = Api::with_catalog();
    let valid_secret = api.key.reveal().to_owned();
    api.env.db_fails.set(true);
    for secret in [
        valid_secret.get(1..).unwrap(),
        &valid_secret.replace("test", "live"),
        "x",
        "",
        &format!("{valid_secret}0"),
    ] {
        for (mut request, _) in requests(&api.key, UNKNOWN_ID) {
            request.headers[0].1 = secret.into();
            let response = api.send(&request);
            assert_eq!(response.status, 401, "{secret} {request:?}");
            let cost = "d1;desc=\"calls=0 rows_read=0 rows_written=0\", kv;desc=\"reads=0\"";
            assert_eq!(response.header("server-timing"), Some(cost));
        }
    }
    assert_eq!((api.env.db_calls.get(), api.env.blob_reads.borrow().len()), (0, 0));
}

#[test]
fn rejects_unsupported_methods() {
    let api = Api::with_catalog();
    let id = id_of(&api);
    let before = api.env.dump();
    for (path, allow) in [
        (CONNECTIONS.to_owned(), "GET, HEAD, POST, OPTIONS"),
        (at(&id), "GET, HEAD, PATCH, DELETE, OPTIONS"),
        (at("x"), "GET, HEAD, PATCH, DELETE, OPTIONS"),
        (state(&id), "PUT, OPTIONS"),
        (name("x"), "PUT, OPTIONS"),
        (SUMMARY.to_owned(), "GET, HEAD, OPTIONS"),
    ] {
        for method in [
            "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "PURGE", "PROPFIND", "QUERY", "TRACE",
            "get", "patch", "Delete", "put", "",
        ] {
            if allow.split(", ").any(|allowed| allowed == method) {
                continue;
            }
            for override_ in ["GET", "DELETE", "PATCH"] {
                let request =
                    with_header(api.request(method, &path), "x-http-method-override", override_);
                let response = api.send(&with_body(request, r#"{"tags":["x"]}"#));
                let expected = if method == "HEAD" { "" } else { "method_not_allowed" };
                let code = if method == "HEAD" { String::new() } else { code(&response) };
                assert_eq!((response.status, code.as_str()), (405, expected), "{method} {path}");
                assert_eq!(response.header("allow"), Some(allow), "{method} {path}");
            }
        }
        let preflight = api.send(&anonymous("OPTIONS", &path));
        assert_eq!((preflight.status, preflight.header("allow")), (204, Some(allow)), "{path}");
    }
    let overridden = with_header(api.request("GET", &at(&id)), "x-http-method-override", "DELETE");
    assert_eq!(api.send(&overridden).status, 200);
    assert_eq!(api.env.dump(), before);
}

#[test]
fn head_returns_the_get_headers_without_a_body() {
    let api = Api::with_catalog();
    let id = id_of(&api);
    foreign_connection_id(&api);
    for path in [
        CONNECTIONS.to_owned(),
        format!("{CONNECTIONS}?limit=1"),
        format!("{CONNECTIONS}?limit=0"),
        at(&id),
        at("x"),
        SUMMARY.to_owned(),
        format!("{SUMMARY}?x=1"),
    ] {
        let (get, head) = (api.get(&path), api.send(&api.request("HEAD", &path)));
        let plain = |response: &Response| {
            let (status, headers, _) = comparable(response);
            (
                status,
                headers
                    .into_iter()
                    .filter(|(name, _)| *name != "content-length")
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(plain(&head), plain(&get), "{path}");
        assert!(head.body.is_empty() && !get.body.is_empty(), "{path}");
        assert_eq!(
            head.header("content-length"),
            Some(get.body.len().to_string().as_str()),
            "{path}"
        );
    }
}

fn foreign_connection_id(api: &Api) -> String {
    api.create(&minimal("bob"))["id"].as_str().unwrap().to_owned()
}

#[test]
fn checks_have_a_fixed_order() {
    let api = Api::with_catalog();
    let id = id_of(&api);
    let foreign = api.env.key("beta", Environment::Test, &Scope::ALL, None);
    let foreign = api.create_as(&foreign, &minimal("ann"))["id"].as_str().unwrap().to_owned();
    let key_without_scope = api.env.key("acme", Environment::Test, &[Scope::CatalogRead], None);
    api.mark_key_used(&key_without_scope);
    let before = api.env.dump();
    let stale = |request: Request| with_header(request, "if-match", "\"x\"");
    let as_json = |request: Request| with_header(request, "content-type", "application/json");
    let oversized = |request: Request| Request { body: Body::TooLarge, ..request };
    let patch = |path: &str| api.request("PATCH", path);
    let unscoped = |method: &str, path: &str| as_key(&key_without_scope, method, path);
    for (request, limited, status, expected) in [
        // 401 comes before 404, 405 and all other errors.
        (anonymous("GET", "/v1/vault"), true, 401, "missing_key"),
        (anonymous("PUT", CONNECTIONS), true, 401, "missing_key"),
        (stale(anonymous("PATCH", &format!("{}?x", at(&id)))), true, 401, "missing_key"),
        (oversized(anonymous("POST", CONNECTIONS)), true, 401, "missing_key"),
        // 404 (unknown route) and 405 come before 403.
        (unscoped("GET", "/v1/vault?x"), true, 404, "route_not_found"),
        (unscoped("GET", &format!("{}/", at(&id))), true, 404, "route_not_found"),
        (unscoped("GET", "/v1/vault/connections/a%00"), true, 404, "route_not_found"),
        (unscoped("PUT", &format!("{}?x", at(&id))), true, 405, "method_not_allowed"),
        // A missing scope (403) is reported before the rate limit (429).
        (
            stale(oversized(unscoped("PATCH", &format!("{}?x", at(&id))))),
            true,
            403,
            "insufficient_scope",
        ),
        (unscoped("GET", &format!("{CONNECTIONS}?x")), true, 403, "insufficient_scope"),
        (oversized(unscoped("POST", CONNECTIONS)), true, 403, "insufficient_scope"),
        (unscoped("DELETE", &at("x")), true, 403, "insufficient_scope"),
        (unscoped("GET", SUMMARY), true, 403, "insufficient_scope"),
        // The rate limit (429) is reported before errors of the request (400).
        (stale(oversized(patch(&format!("{}?x", at(&id))))), true, 429, "too_many_requests"),
        (api.request("GET", &format!("{CONNECTIONS}?x")), true, 429, "too_many_requests"),
        (api.request("POST", CONNECTIONS), true, 429, "too_many_requests"),
        (api.request("DELETE", &at("x")), true, 429, "too_many_requests"),
        // Parameters are checked before the body.
        (stale(oversized(patch(&format!("{}?x", at(&id))))), false, 400, "unknown_parameter"),
        (
            oversized(api.request("POST", &format!("{CONNECTIONS}?limit=1"))),
            false,
            400,
            "unknown_parameter",
        ),
        (api.request("DELETE", &format!("{}?x=1", at("x"))), false, 400, "unknown_parameter"),
        (api.request("GET", &format!("{}?x=1", at("x"))), false, 400, "unknown_parameter"),
        // For the body: 415 comes before 413, and 413 before 400.
        (stale(oversized(patch(&at("x")))), false, 415, "unsupported_media_type"),
        (stale(oversized(as_json(patch(&at("x"))))), false, 413, "body_too_large"),
        (stale(with_body(patch(&at("x")), "{")), false, 400, "invalid_body"),
        (stale(with_body(patch(&at(&id)), "{\"tags\":[\"\"]}")), false, 400, "invalid_body"),
        // The body is checked before 404.
        (oversized(api.request("POST", CONNECTIONS)), false, 415, "unsupported_media_type"),
        (oversized(as_json(api.request("POST", CONNECTIONS))), false, 413, "body_too_large"),
        (with_body(patch(&at(&foreign)), "[]"), false, 400, "invalid_body"),
        // An unknown connection (404) is reported before a failed precondition (412).
        (stale(with_body(patch(&at(&foreign)), "{}")), false, 404, "connection_not_found"),
        (stale(api.request("DELETE", &at(&foreign))), false, 404, "connection_not_found"),
        (stale(with_body(patch(&at(&id)), "{}")), false, 412, "precondition_failed"),
        (stale(api.request("DELETE", &at(&id))), false, 412, "precondition_failed"),
    ] {
        api.env.limited.set(limited);
        let calls = api.env.db_calls.get();
        let response = api.send(&request);
        assert_eq!((response.status, code(&response).as_str()), (status, expected), "{request:?}");
        assert_eq!(response.header("retry-after"), (status == 429).then_some("60"), "{request:?}");
        let call_count = api.env.db_calls.get() - calls;
        assert!(
            call_count == 1 || (call_count == 0 && (status == 401 || status == 404)),
            "{request:?} {call_count}"
        );
        assert_eq!(api.env.dump(), before, "{request:?}");
    }
}
