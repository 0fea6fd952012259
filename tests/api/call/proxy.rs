//! Calls through the proxy.

use std::rc::Rc;

use connector_vault::catalog::action::unit::Units;
use connector_vault::http::message::{Body, MAX_BODY};
use connector_vault::http::service::RequestParts;
use connector_vault::ports::HttpError;
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use super::*;
use crate::connect::{as_token, token};
use crate::support::{as_key, as_secret};

fn api() -> Api {
    api_with_platforms(&[], Units::default())
}

fn respond_ok(api: &Api) {
    platform(api, |_| Ok(platform_response(200, &[("content-type", "text/plain")], "fine")));
}

#[test]
fn a_proxy_call_forwards_request_and_response() {
    let api = api();
    let path = acme(&api);
    platform(&api, |_| {
        let headers = [
            ("content-type", "text/plain"),
            ("set-cookie", "a=b"),
            ("cache-control", "public, max-age=60"),
            ("x-request-id", "theirs"),
            ("etag", "\"1\""),
        ];
        Ok(platform_response(207, &headers, "fine"))
    });
    for (method, sent_body) in [
        ("GET", ""),
        ("HEAD", ""),
        ("POST", "one"),
        ("PUT", "two"),
        ("PATCH", "3"),
        ("DELETE", "4"),
    ] {
        sent(&api);
        api.env.db_calls.set(0);
        let mut request = api.request(method, &format!("{path}/proxy/users/a%2Fb?x=1&y=%20"));
        for (name, value) in [
            ("accept", "text/plain"),
            ("cookie", "c"),
            ("authorization", "mine"),
            ("x-forwarded-for", "1.2.3.4"),
            ("user-agent", "test"),
        ] {
            request = with_header(request, name, value);
        }
        request.body = Body::Whole(sent_body.into());
        let response = api.send(&request);
        assert_eq!((response.status, text(&response).as_str()), (207, "fine"), "{method}");
        assert_eq!(api.env.db_calls.get(), 1, "{method}");
        let sources = response.headers.iter().filter(|(name, _)| *name == "x-vault-source");
        assert_eq!(sources.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["platform"]);
        assert_eq!(response.header("cache-control"), Some("private, no-store"));
        assert_eq!(response.header("content-security-policy"), Some("default-src 'none'; sandbox"));
        assert!(response.header("x-request-id").is_some_and(|id| id.len() == 36));
        let names = &response.proxied.as_ref().unwrap().headers;
        let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["content-type", "x-platform-cache-control", "x-platform-request-id", "etag"]
        );
        let sent = sent(&api);
        assert_eq!(sent.len(), 1);
        assert_eq!(api.env.methods.borrow().last().map(String::as_str), Some(method));
        assert_eq!(sent[0].url, "https://api.acme.example/v2/users/a%2Fb?x=1&y=%20");
        assert_eq!(sent[0].body, sent_body.as_bytes());
        let mut headers: Vec<_> = sent[0].headers.clone();
        headers.sort();
        let expected =
            [("accept", "text/plain"), ("authorization", "Bearer at-1"), ("user-agent", "test")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(headers, expected, "{method}");
    }
}

#[test]
fn only_calls_read_bodies_beyond_the_limit() {
    let api = api();
    let path = acme(&api);
    for (method, rest, parts_to_read) in [
        ("POST", "/proxy/x", RequestParts::All),
        ("GET", "/proxy/x", RequestParts::All),
        ("PUT", "/credentials", RequestParts::Body(MAX_BODY)),
        ("GET", "", RequestParts::Nothing),
    ] {
        let path = format!("{path}{rest}");
        assert_eq!(
            api.service.parts_to_read(&api.request(method, &path)),
            parts_to_read,
            "{method} {path}"
        );
        let stranger = as_secret("x", method, &path);
        assert_eq!(api.service.parts_to_read(&stranger), RequestParts::Nothing, "{method} {path}");
    }
    assert_eq!(
        api.service.parts_to_read(&api.request("POST", "/mcp")),
        RequestParts::Body(MAX_BODY)
    );
    let import = api.request("POST", "/v1/vault/connections/import");
    assert_eq!(api.service.parts_to_read(&import), RequestParts::Body(1 << 20));
}

#[test]
fn a_proxy_body_may_have_any_length() {
    let api = api();
    let path = acme(&api);
    respond_ok(&api);
    let mut request = api.request("POST", &format!("{path}/proxy/files"));
    request.body = Body::Stream;
    *api.env.streamed_body.borrow_mut() = Some(b"a stream".to_vec());
    assert_eq!(api.send(&request).status, 200);
    assert_eq!(sent(&api)[0].body, b"a stream");
}

#[test]
fn credentials_are_sent_where_the_auth_method_declares() {
    let api = api();
    respond_ok(&api);
    for (platform, credentials, name, value, url) in [
        (
            "bearer",
            json!({"type": "bearer", "token": "t"}),
            "authorization",
            Some("Token t"),
            "/p?a=1",
        ),
        (
            "basic",
            json!({"type": "basic", "username": "u", "password": "p"}),
            "authorization",
            Some("Basic dTpw"),
            "/p?a=1",
        ),
        ("header", json!({"type": "api_key", "apiKey": "k"}), "x-key", Some("k"), "/p?a=1"),
        (
            "query",
            json!({"type": "api_key", "apiKey": "k&"}),
            "x-key",
            None,
            "/p?a=1&api%20key=k%26",
        ),
        ("cookie", json!({"type": "api_key", "apiKey": "k"}), "cookie", Some("sid=k"), "/p?a=1"),
    ] {
        let path = connection_with(&api, platform, &credentials);
        sent(&api);
        // The credentials replace the caller's values with the same names.
        let mut request = api.request("GET", &format!("{path}/proxy/p?a=1&api+key=mine&api%20key"));
        if platform != "query" {
            request.query = "a=1".into();
        }
        if let Some(value) = value.filter(|_| name == "x-key") {
            request = with_header(request, name, &format!("not {value}"));
        }
        assert_eq!(api.send(&request).status, 200);
        let sent = sent(&api);
        assert_eq!(header(&sent[0], name), value, "{platform}");
        assert_eq!(sent[0].url, format!("https://api.{platform}.example{url}"));
    }
}

#[test]
fn requests_to_amazon_are_signed() {
    let api = api();
    respond_ok(&api);
    let keys = json!({
        "type": "aws_sigv4", "accessKeyId": "AK", "secretAccessKey": "SK", "sessionToken": "ST", "region": "us-west-2",
    });
    let (s3, lambda) = (connection_with(&api, "s3", &keys), connection_with(&api, "lambda", &keys));
    sent(&api);
    assert_eq!(call(&api, "PUT", &format!("{s3}/proxy/bucket/a+b?x=1+2"), "body").status, 200);
    let request = &sent(&api)[0];
    assert_eq!(request.url, "https://api.s3.example/bucket/a%2Bb?x=1%2B2");
    let authorization = header(request, "authorization").unwrap();
    let start_attempt = "AWS4-HMAC-SHA256 Credential=AK/20270115/us-west-2/s3/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=";
    assert!(authorization.starts_with(start_attempt), "{authorization}");
    assert_eq!(header(request, "x-amz-security-token"), Some("ST"));
    let hash = "230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5";
    assert_eq!(header(request, "x-amz-content-sha256"), Some(hash));
    // Signing does not consume a streamed body.
    let streamed = |path: &str| {
        let mut request = api.request("PUT", path);
        request.body = Body::Stream;
        *api.env.streamed_body.borrow_mut() = Some(b"a stream".to_vec());
        api.send(&request)
    };
    assert_eq!(streamed(&format!("{s3}/proxy/bucket/key")).status, 200);
    assert_eq!(header(&sent(&api)[0], "x-amz-content-sha256"), Some("UNSIGNED-PAYLOAD"));
    let refusal = streamed(&format!("{lambda}/proxy/x"));
    assert_eq!((refusal.status, &body(&refusal)["code"]), (413, &json!("body_too_large")));
    assert_eq!(sent(&api).len(), 0);
}

#[test]
fn only_declared_servers_are_called() {
    let api = api();
    respond_ok(&api);
    let path = acme(&api);
    sent(&api);
    let ask = |server: &str| {
        let request = api.request("GET", &format!("{path}/proxy/x"));
        api.send(&with_header(request, "x-vault-server", server))
    };
    for (server, url) in [
        ("https://api.acme.example/v2", "https://api.acme.example/v2/x"),
        ("https://api.acme.example/v2/", "https://api.acme.example/v2/x"),
        ("https://files.acme.example:8443", "https://files.acme.example:8443/x"),
    ] {
        assert_eq!(ask(server).status, 200, "{server}");
        assert_eq!(sent(&api)[0].url, url);
    }
    for server in [
        "",
        "https://evil.example",
        "https://api.acme.example",
        "https://api.acme.example/v2/..",
        "http://api.acme.example/v2",
        "https://api.acme.example:444/v2",
        "https://user@api.acme.example/v2",
        "https://api.acme.example/v2?x",
        "127.0.0.1",
        "https://{region}.acme.example/unknown",
        "//files.acme.example:8443",
        "https://files.acme.example",
        "https://eu.acme.example/unknown",
    ] {
        let response = ask(server);
        assert_eq!(response.status, 400, "{server}");
        assert_eq!(body(&response)["errors"][0]["parameter"], "x-vault-server");
        assert_eq!(response.header("x-vault-source"), Some("vault"));
    }
    // Host names that users enter must be public.
    for host in [
        "localhost",
        "127.0.0.1",
        "10.0.0.1",
        "2130706433",
        "metadata.google.internal",
        "kubernetes.default.svc",
    ] {
        let path = connection_of(
            &api,
            "hosted",
            host,
            &json!({"type": "bearer", "token": "t", "fields": {"host": host}}),
        );
        let response = api.get(&format!("{path}/proxy/x"));
        let outcome = (response.status, body(&response)["code"].clone());
        assert_eq!(outcome, (502, json!("platform_unreachable")), "{host}");
    }
    let path = connection_of(
        &api,
        "hosted",
        "good",
        &json!({"type": "bearer", "token": "t", "fields": {"host": "my.example"}}),
    );
    assert_eq!(api.get(&format!("{path}/proxy/x")).status, 200);
    assert_eq!(sent(&api)[0].url, "https://my.example/api/x");
    // The host is fixed in the catalog, or comes from a value.
    for (server, status) in [
        ("https://{host}/api", 200),
        ("https://my.example/api/", 200),
        ("https://other.example/api", 400),
    ] {
        let request = api.request("GET", &format!("{path}/proxy/x"));
        let response = api.send(&with_header(request, "x-vault-server", server));
        assert_eq!(response.status, status, "{server}");
    }
    sent(&api);
    let path = connection_with(&api, "nowhere", &json!({"type": "bearer", "token": "t"}));
    assert_eq!(api.get(&format!("{path}/proxy/x")).status, 502);
    assert_eq!(sent(&api).len(), 0);
    // In development, the local machine can be called.
    let local = api_with_platforms(&[("LOCAL_TARGETS", "allow")], Units::default());
    respond_ok(&local);
    let path = connection_with(
        &local,
        "hosted",
        &json!({"type": "bearer", "token": "t", "fields": {"host": "localhost"}}),
    );
    assert_eq!(local.get(&format!("{path}/proxy/x")).status, 200);
}

#[test]
fn a_path_cannot_leave_the_servers_path() {
    let api = api();
    respond_ok(&api);
    let path = acme(&api);
    sent(&api);
    for rest in
        ["..", "../x", "a/%2e%2e/%2e%2e/x", "..%2f..%2fx", "%252e%252e/x", "a/..;/x", "..%5cx", "."]
    {
        let response = api.get(&format!("{path}/proxy/{rest}"));
        assert_eq!(response.status, 400, "{rest}");
        assert_eq!(body(&response)["errors"][0]["parameter"], "path");
        assert_eq!(body(&response)["code"], "invalid_parameter");
    }
    assert_eq!(sent(&api).len(), 0);
    for (rest, url) in [
        ("", "https://api.acme.example/v2/"),
        ("/evil.example/x", "https://api.acme.example/v2//evil.example/x"),
        ("%5c%5cevil.example", "https://api.acme.example/v2/%5c%5cevil.example"),
        ("%00%ff", "https://api.acme.example/v2/%00%ff"),
        ("@evil.example:1/", "https://api.acme.example/v2/@evil.example:1/"),
    ] {
        assert_eq!(api.get(&format!("{path}/proxy/{rest}")).status, 200, "{rest}");
        assert_eq!(sent(&api)[0].url, url);
    }
}

#[test]
fn redirects_to_other_origins_are_not_followed() {
    let api = api();
    let acme = acme(&api);
    let next = "/v2/next";
    for (status, method, location, expected) in [
        (301, "GET", next, Some("GET")),
        (302, "GET", "https://api.acme.example/v2/next", Some("GET")),
        (303, "GET", "//api.acme.example/v2/next", Some("GET")),
        (307, "GET", "next", Some("GET")),
        (308, "HEAD", next, Some("HEAD")),
        (301, "POST", next, Some("GET")),
        (302, "POST", next, Some("GET")),
        (302, "PUT", next, Some("PUT")),
        (303, "POST", next, Some("GET")),
        (303, "DELETE", next, Some("GET")),
        (303, "HEAD", next, Some("HEAD")),
        (307, "POST", next, Some("POST")),
        (308, "PATCH", next, Some("PATCH")),
        (300, "GET", next, None),
        (304, "GET", next, None),
        (302, "GET", "https://evil.example/", None),
        (302, "GET", "//evil.example/v2/next", None),
        (302, "GET", "http://api.acme.example/v2/next", None),
        (302, "GET", "https://api.acme.example:8443/v2/next", None),
        (302, "GET", "https://api.acme.example@evil.example/", None),
        (302, "GET", "https://files.acme.example:8443/", None),
        (302, "GET", "/\\evil.example", None),
        (302, "GET", "http://169.254.169.254/latest", None),
        // Redirects to this service's own endpoints are not followed.
        (307, "DELETE", "https://vault.example/v1/vault/connections", None),
    ] {
        sent(&api);
        let target = location.to_owned();
        platform(&api, move |request| {
            Ok(if request.url.ends_with("/next") {
                platform_response(200, &[], "there")
            } else {
                platform_response(status, &[("location", &target)], "moved")
            })
        });
        let sent_body = if matches!(method, "GET" | "HEAD") { "" } else { "body" };
        let response = call(&api, method, &format!("{acme}/proxy/first"), sent_body);
        let requests = sent(&api);
        match expected {
            None => {
                assert_eq!(
                    (response.status, requests.len()),
                    (status, 1),
                    "{status} {method} {location}"
                );
                // An HTTP client would follow `Location` and send the caller's key.
                assert_eq!(forwarded_header(&response, "location"), None);
                assert_eq!(forwarded_header(&response, "x-platform-location"), Some(location));
            }
            Some(expected) => {
                assert_eq!(
                    (response.status, requests.len()),
                    (200, 2),
                    "{status} {method} {location}"
                );
                assert_eq!(requests[1].url, "https://api.acme.example/v2/next");
                assert_eq!(api.env.methods.borrow().last().map(String::as_str), Some(expected));
                assert_eq!(header(&requests[1], "authorization"), Some("Bearer at-1"));
                let keeps_body = expected == method;
                assert_eq!(requests[1].body.is_empty(), !keeps_body || sent_body.is_empty());
                assert_eq!(header(&requests[1], "content-type").is_some(), keeps_body);
            }
        }
    }
    // A redirect loop ends, and a streamed body is not sent twice.
    platform(&api, |_| Ok(platform_response(307, &[("location", "/v2/next")], "")));
    let response = call(&api, "POST", &format!("{acme}/proxy/x"), "body");
    assert_eq!(response.status, 307);
    assert_eq!(forwarded_header(&response, "location"), None);
    assert_eq!(forwarded_header(&response, "x-platform-location"), Some("/v2/next"));
    assert_eq!(sent(&api).len(), 6);
    let mut request = api.request("POST", &format!("{acme}/proxy/x"));
    request.body = Body::Stream;
    *api.env.streamed_body.borrow_mut() = Some(b"a stream".to_vec());
    assert_eq!(api.send(&request).status, 307);
    assert_eq!(sent(&api).len(), 1);
    // A redirect that repeats the query does not leak the key in the query.
    let keyed = connection_with(&api, "query", &json!({"type": "api_key", "apiKey": "secret"}));
    platform(&api, |request| {
        let query = request.url.split_once('?').unwrap().1;
        Ok(platform_response(302, &[("location", &format!("https://evil.example/?{query}"))], ""))
    });
    let response = api.get(&format!("{keyed}/proxy/x?a=1"));
    let location = forwarded_header(&response, "x-platform-location");
    assert_eq!(location, Some("https://evil.example/?a=1"));
    // HTTP clients don't follow the `Location` of a 201, so the header is unchanged.
    platform(&api, |_| {
        Ok(platform_response(201, &[("location", "https://api.acme.example/v2/9")], ""))
    });
    let response = call(&api, "POST", &format!("{acme}/proxy/x"), "body");
    let location = forwarded_header(&response, "location");
    assert_eq!(location, Some("https://api.acme.example/v2/9"));
}

/// Makes the platform accept only this token, and the authorization server return `refresh`.
fn accept_only_token(api: &Api, token: &'static str, refresh: (u16, Value)) {
    platform(api, move |request| {
        if request.url == "https://id.acme.example/token" {
            let (status, document) = &refresh;
            return Ok(platform_response(
                *status,
                &[("content-type", "application/json")],
                &document.to_string(),
            ));
        }
        let is_good = header(request, "authorization") == Some(token);
        Ok(if is_good {
            platform_response(200, &[], "in")
        } else {
            platform_response(401, &[("www-authenticate", "Bearer")], "out")
        })
    });
}

#[test]
fn a_401_refreshes_the_credentials_once() {
    let new =
        || (200, json!({"access_token": "at-2", "refresh_token": "rt-2", "expires_in": 3600}));
    let urls = |api: &Api| sent(api).into_iter().map(|request| request.url).collect::<Vec<_>>();
    let (call_url, token_url) = ("https://api.acme.example/v2/x", "https://id.acme.example/token");
    // The platform revoked the token.
    let api = api();
    let path = acme(&api);
    api.env.wait(60_000);
    accept_only_token(&api, "Bearer at-2", new());
    let response = call(&api, "POST", &format!("{path}/proxy/x"), "body");
    assert_eq!((response.status, text(&response).as_str()), (200, "in"));
    let requests = sent(&api);
    assert_eq!(
        requests.iter().map(|r| r.url.as_str()).collect::<Vec<_>>(),
        [call_url, token_url, call_url]
    );
    assert_eq!(requests[2].body, b"body");
    // The next call uses the new token without a refresh.
    assert_eq!(call(&api, "GET", &format!("{path}/proxy/x"), "").status, 200);
    assert_eq!(urls(&api), [call_url]);
    // A token that still works is not refreshed, even if it is old.
    api.env.wait(60_000);
    assert_eq!(call(&api, "GET", &format!("{path}/proxy/x"), "").status, 200);
    assert_eq!(urls(&api), [call_url]);
    // If the platform rejects a token that was issued seconds ago, its response is returned.
    accept_only_token(&api, "nothing", new());
    api.env.wait(60_000);
    let response = call(&api, "GET", &format!("{path}/proxy/x"), "");
    assert_eq!(
        (response.status, forwarded_header(&response, "x-platform-www-authenticate")),
        (401, Some("Bearer"))
    );
    assert_eq!(urls(&api), [call_url, token_url, call_url]);
    for (wait, requests) in
        [(0, &[call_url][..]), (9_999, &[call_url]), (1, &[call_url, token_url, call_url])]
    {
        api.env.wait(wait);
        assert_eq!(call(&api, "GET", &format!("{path}/proxy/x"), "").status, 401);
        assert_eq!(urls(&api), requests, "{wait}");
    }
    // A streamed body can't be sent a second time.
    api.env.wait(60_000);
    let mut request = api.request("POST", &format!("{path}/proxy/x"));
    request.body = Body::Stream;
    *api.env.streamed_body.borrow_mut() = Some(b"a stream".to_vec());
    assert_eq!(api.send(&request).status, 401);
    assert_eq!(urls(&api), [call_url]);
    // If the refresh fails, the platform's response is returned.
    accept_only_token(&api, "nothing", (503, json!({})));
    assert_eq!(call(&api, "GET", &format!("{path}/proxy/x"), "").status, 401);
    assert_eq!(urls(&api), [call_url, token_url]);
    // A 401 for credentials that can't be refreshed sends no refresh request.
    let bearer = connection_with(&api, "bearer", &json!({"type": "bearer", "token": "t"}));
    accept_only_token(&api, "nothing", new());
    api.env.wait(60_000);
    assert_eq!(call(&api, "GET", &format!("{bearer}/proxy/x"), "").status, 401);
    assert_eq!(urls(&api).len(), 1);
    assert_eq!(body(&api.get(&format!("{bearer}/status")))["attempts"], 0);
}

#[test]
fn a_slow_401_refreshes_the_credentials_once() {
    let api = Rc::new(api());
    let path = acme(&api);
    let weak = Rc::downgrade(&api);
    platform(&api, move |request| {
        weak.upgrade().unwrap().env.wait(15_000);
        let is_refresh = request.url == "https://id.acme.example/token";
        let new = || platform_response(200, &[], r#"{"access_token":"at-2","expires_in":3600}"#);
        Ok(if is_refresh { new() } else { platform_response(401, &[], "out") })
    });
    assert_eq!(call(&api, "GET", &format!("{path}/proxy/x"), "").status, 401);
    assert_eq!(sent(&api).len(), 3);
}

/// Calls the platform 100 times, which rejects the token each time. Returns the number of token requests.
fn rejected_calls(api: &Api, path: &str, status: u16) -> usize {
    for _ in 0..100 {
        let response = call(api, "GET", &format!("{path}/proxy/x"), "");
        assert_eq!(
            (response.status, response.header("x-vault-source")),
            (status, Some("platform"))
        );
        assert_eq!(forwarded_header(&response, "x-mark"), Some("m"));
    }
    sent(api).iter().filter(|request| request.url == "https://id.acme.example/token").count()
}

#[test]
fn rejected_calls_send_no_token_request_until_the_next_attempt() {
    for (status, error) in [
        (401, "{}"),
        (400, r#"{"error":"invalid value: token expired"}"#),
        (403, r#"{"error":"token expired"}"#),
    ] {
        for (refusal, retry_after, refused) in [
            (429, "3600", json!({})),
            (500, "0", json!({})),
            (400, "0", json!({"error": "invalid_request"})),
            (400, "0", json!({"error": "invalid_grant"})),
            (400, "0", json!({"error": "unauthorized_client"})),
        ] {
            let api = api();
            let path = acme(&api);
            api.env.wait(60_000);
            platform(&api, move |request| {
                let kind = ("content-type", "application/json");
                Ok(if request.url == "https://id.acme.example/token" {
                    let headers = [kind, ("retry-after", retry_after)];
                    platform_response(refusal, &headers, &refused.to_string())
                } else {
                    platform_response(status, &[kind, ("x-mark", "m")], error)
                })
            });
            sent(&api);
            let state = || body(&api.get(&format!("{path}/status")));
            assert_eq!(rejected_calls(&api, &path, status), 1, "{status} {refusal}");
            let after = state();
            assert_eq!(after["attempts"], 1);
            // Calls shortly before the next attempt change nothing either.
            let next = "SELECT next_attempt_at FROM credentials";
            let next: i64 = api.env.database.query_row(next, [], |row| row.get(0)).unwrap();
            let next = u64::try_from(next).unwrap();
            if retry_after == "3600" {
                assert!(next >= api.env.now.get() + 3_600_000);
            }
            api.env.now.set(next - 1);
            assert_eq!(rejected_calls(&api, &path, status), 0, "{status} {refusal}");
            assert_eq!(state(), after);
            // From then on, a call refreshes the token again.
            api.env.now.set(next);
            accept_only_token(&api, "Bearer at-2", (200, json!({"access_token": "at-2"})));
            assert_eq!(call(&api, "GET", &format!("{path}/proxy/x"), "").status, 200);
            assert_eq!(sent(&api).len(), 3);
            assert_eq!(
                (&state()["state"], &state()["attempts"]),
                (&json!("operational"), &json!(0))
            );
        }
    }
}

#[test]
fn a_refresh_that_failed_during_the_call_is_not_repeated() {
    let api = Rc::new(api());
    let path = acme(&api);
    api.env.wait(60_000);
    let weak = Rc::downgrade(&api);
    platform(&api, move |_| {
        // Another call has received a 401, too, and its refresh has failed.
        let sql = "UPDATE credentials SET attempts = 1, reason_code = 'platform_unavailable', next_attempt_at = 9e15";
        weak.upgrade().unwrap().env.database.execute(sql, []).unwrap();
        Ok(platform_response(401, &[], "out"))
    });
    sent(&api);
    assert_eq!(call(&api, "GET", &format!("{path}/proxy/x"), "").status, 401);
    assert_eq!(sent(&api).len(), 1);
    assert_eq!(body(&api.get(&format!("{path}/status")))["attempts"], 1);
}

#[test]
fn a_call_fails_if_the_grant_has_ended() {
    let api = api();
    let path = acme(&api);
    accept_only_token(&api, "nothing", (400, json!({"error": "invalid_grant"})));
    for (status, source) in [(401, "platform"), (409, "vault")] {
        api.env.wait(72_000);
        let response = call(&api, "GET", &format!("{path}/proxy/x"), "");
        assert_eq!((response.status, response.header("x-vault-source")), (status, Some(source)));
    }
    assert_eq!(body(&api.get(&path))["state"], "failed");
}

#[test]
fn an_expired_token_is_refreshed_before_the_call() {
    let api = api();
    set_client(&api, "acme");
    let path = connection_with(
        &api,
        "acme",
        &json!({
            "type": "oauth2", "accessToken": "at-1", "refreshToken": "rt-1", "expiresAt": "2027-01-15T08:10:00Z",
        }),
    );
    api.env.wait(3_600_000);
    accept_only_token(
        &api,
        "Bearer at-2",
        (200, json!({"access_token": "at-2", "expires_in": 3600})),
    );
    assert_eq!(call(&api, "POST", &format!("{path}/proxy/x"), "body").status, 200);
    let urls: Vec<String> = sent(&api).into_iter().map(|request| request.url).collect();
    assert_eq!(urls, ["https://id.acme.example/token", "https://api.acme.example/v2/x"]);
}

#[test]
fn a_platform_that_does_not_respond_causes_a_problem() {
    let api = api();
    let path = acme(&api);
    for (error, status, code) in [
        (HttpError::Unreachable, 502, "platform_unreachable"),
        (HttpError::TimedOut, 504, "platform_timeout"),
    ] {
        platform(&api, move |_| Err(error));
        let response = api.get(&format!("{path}/proxy/x?token=s"));
        assert_eq!((response.status, &body(&response)["code"]), (status, &json!(code)));
        assert_eq!(response.header("x-vault-source"), Some("vault"));
        assert!(!text(&response).contains("token=s"), "{}", text(&response));
    }
    // The runtime can't send a status outside the range of HTTP.
    for (status, expected) in [(600, 502), (999, 502), (599, 599)] {
        platform(&api, move |_| Ok(platform_response(status, &[], "theirs")));
        let response = api.get(&format!("{path}/proxy/x"));
        assert_eq!(response.status, expected);
        let source = if expected == 502 { "vault" } else { "platform" };
        assert_eq!(response.header("x-vault-source"), Some(source), "{status}");
    }
    // A platform's 502 is not reported as an error of the vault.
    platform(&api, |_| Ok(platform_response(502, &[], "theirs")));
    let response = api.get(&format!("{path}/proxy/x"));
    assert_eq!((response.status, text(&response).as_str()), (502, "theirs"));
    assert_eq!(response.header("x-vault-source"), Some("platform"));
}

#[test]
fn an_unauthorized_call_does_not_reach_the_platform() {
    let api = api();
    respond_ok(&api);
    let path = acme(&api);
    let ask = format!("{path}/proxy/x");
    sent(&api);
    let key = |scopes: &[Scope]| api.env.key("acme", Environment::Test, scopes, None);
    let none = api.send(&as_key(&key(&[Scope::ConnectionsRead]), "GET", &ask));
    assert_eq!((none.status, &body(&none)["code"]), (403, &json!("insufficient_scope")));
    assert_eq!(none.header("x-vault-source"), Some("vault"));
    assert_eq!(api.send(&as_secret("", "GET", &ask)).status, 401);
    let other = api.env.key("other", Environment::Test, &Scope::ALL, None);
    assert_eq!(api.send(&as_key(&other, "GET", &ask)).status, 404);
    let live_key = api.env.key("acme", Environment::Live, &Scope::ALL, None);
    assert_eq!(api.send(&as_key(&live_key, "GET", &ask)).status, 404);
    let call = &["connections:call"];
    let own = |identity: &str, scopes: &[&str]| {
        token(&api, &json!({"identity": identity, "scopes": scopes}))
    };
    for (token, status) in
        [(own("ann", call), 200), (own("bob", call), 404), (own("ann", &["connections:read"]), 403)]
    {
        let request = as_token(&token, "GET", &ask, &json!({}));
        assert_eq!(
            api.send(&connector_vault::http::Request { body: Body::default(), ..request }).status,
            status
        );
    }
    assert_eq!(sent(&api).len(), 1);
    let bare = json!({"platform": "bearer", "identity": "eve", "identityType": "user"});
    let id = body(&send(&api, "POST", "/v1/vault/connections", &bare))["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let response = api.get(&format!("/v1/vault/connections/{id}/proxy/x"));
    assert_eq!((response.status, &body(&response)["code"]), (404, &json!("credentials_not_found")));
    let sql = "UPDATE connections SET state = 'failed', active = 0";
    api.env.database.execute(sql, []).unwrap();
    let response = api.get(&ask);
    assert_eq!((response.status, &body(&response)["code"]), (409, &json!("connection_failed")));
    let response = api.send(&api.request("QUERY", &ask));
    assert_eq!(response.status, 405);
    assert_eq!(response.header("allow"), Some("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"));
    assert_eq!(sent(&api).len(), 0);
}

#[test]
fn pages_of_allowed_origins_may_send_and_read_any_header() {
    let api = api_with_platforms(&[("ALLOWED_ORIGINS", "https://app.example")], Units::default());
    platform(&api, |_| {
        Ok(platform_response(200, &[("access-control-allow-origin", "*"), ("x-own", "1")], ""))
    });
    let path = format!("{}/proxy/x", acme(&api));
    let from = |method: &str, origin: &str| {
        api.send(&with_header(api.request(method, &path), "origin", origin))
    };
    let preflight = from("OPTIONS", "https://app.example");
    assert_eq!(preflight.header("access-control-allow-headers"), Some("x-service-secret, *"));
    let response = from("GET", "https://app.example");
    assert_eq!(response.header("access-control-allow-origin"), Some("https://app.example"));
    assert_eq!(response.header("access-control-expose-headers"), Some("*"));
    assert_eq!(forwarded_header(&response, "access-control-allow-origin"), None);
    let other = from("GET", "https://evil.example");
    assert_eq!(other.header("access-control-allow-origin"), None);
}
