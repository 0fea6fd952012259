//! Methods, paths, headers, the order of checks, and the format of problems.

use connector_vault::http::message::Body;
use connector_vault::http::{Config, Request};
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use crate::support::{
    Api, ORIGIN, TestEnv, anonymous, as_key, as_secret, body, config, with_body, with_header,
};

const CONNECTORS: &str = "/v1/available-connectors";

#[test]
fn unknown_paths_return_404() {
    let api = Api::with_catalog();
    for (path, status, code) in [
        (CONNECTORS, 200, None),
        ("/v1/available-actions/alpha", 200, None),
        ("/v1/available-actions/ALPHA", 200, None),
        ("/v1/available-actions/%61lpha", 200, None),
        ("/%761/available%2Dconnectors", 200, None),
        ("/v1/whoami", 200, None),
        ("/health", 200, None),
        ("/v1/available-connectors/", 404, Some("route_not_found")),
        ("/v1//available-connectors", 404, Some("route_not_found")),
        ("//v1/available-connectors", 404, Some("route_not_found")),
        ("/V1/available-connectors", 404, Some("route_not_found")),
        ("/v1/available-actions", 400, Some("invalid_parameter")),
        ("/v1/available-actions/", 404, Some("route_not_found")),
        ("/v1/available-actions/alpha/", 404, Some("route_not_found")),
        ("/v1/available-actions/%zz", 404, Some("route_not_found")),
        ("/v1/available-actions/%ff", 404, Some("route_not_found")),
        ("/v1/available-actions/alpha%00", 404, Some("route_not_found")),
        ("/v1/available-actions/%2561lpha", 404, Some("platform_not_found")),
        ("/v1/available-actions/al%2Fpha", 404, Some("platform_not_found")),
        ("/v1/available-actions/alph", 404, Some("platform_not_found")),
        ("/v1", 404, Some("route_not_found")),
        ("/", 404, Some("route_not_found")),
    ] {
        let response = api.get(path);
        let got = if status == 200 { Value::Null } else { body(&response)["code"].clone() };
        assert_eq!((response.status, got), (status, json!(code)), "{path}");
    }
}

#[test]
fn unknown_paths_name_the_path_that_they_resemble() {
    let api = Api::with_catalog();
    for (path, meant) in [
        ("/v1/vault/connection", Some("/v1/vault/connections")),
        ("/v1/vault/connections/", Some("/v1/vault/connections")),
        ("/v1//vault/connections", Some("/v1/vault/connections")),
        ("/vault/connections", Some("/v1/vault/connections")),
        ("/V1/vault/connections", Some("/v1/vault/connections")),
        ("/v1/connections", Some("/v1/vault/connections")),
        ("/connectors", Some("/v1/available-connectors")),
        ("/v1/available-connector/github", Some("/v1/available-connectors/{platform}")),
        ("/v1/vault/connections/x/credential", Some("/v1/vault/connections/{id}/credentials")),
        ("/v1/webhook", Some("/v1/webhooks")),
        ("/v1/vault/connections/%zz", None),
        ("/v1/nothere", None),
        ("/v1", None),
        ("/", None),
    ] {
        let detail = body(&api.get(path))["detail"].as_str().unwrap().to_owned();
        let expected = meant.map_or_else(
            || "The service has no such path.".to_owned(),
            |meant| format!("The service has no such path; did you mean `{meant}`?"),
        );
        assert_eq!(detail, expected, "{path}");
    }
}

#[test]
fn unknown_paths_show_readers_a_page_with_the_menu_of_the_console() {
    let api = Api::with_catalog();
    let console = include_str!("../../www/src/layout.tsx");
    let entry = |line: &'static str| {
        let entry = line.trim().strip_prefix("[\"")?.strip_suffix("\"],")?;
        entry.split_once("\", \"").filter(|(address, _)| address.starts_with('/'))
    };
    let menu: Vec<_> = console.lines().filter_map(entry).collect();
    assert!(menu.len() >= 10, "{menu:?}");
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for (method, path, accept, is_page) in [
        ("GET", "/nothere", browser, true),
        ("HEAD", "/nothere", browser, true),
        ("GET", "/connections/nothere", browser, true),
        ("GET", "/%zz", browser, true),
        ("GET", "/nothere", "*/*", false),
        ("GET", "/nothere", "application/json", false),
        ("POST", "/nothere", browser, false),
        ("DELETE", "/nothere", browser, false),
        ("GET", "/v1/nothere", browser, false),
        ("GET", "/v1", browser, false),
    ] {
        let response = api.send(&with_header(api.request(method, path), "accept", accept));
        let media_type = response.header("content-type").expect("a media type");
        let expected =
            if is_page { "text/html; charset=utf-8" } else { "application/problem+json" };
        assert_eq!((response.status, media_type), (404, expected), "{method} {path} {accept}");
        assert_eq!(response.header("cache-control"), Some("private, no-store"), "{path}");
        match (is_page, method) {
            (true, "HEAD") => assert!(response.body.is_empty()),
            (true, _) => {
                let page = String::from_utf8(response.body).expect("UTF-8");
                assert!(page.contains("This page does not exist"), "{page}");
                for (address, name) in &menu {
                    let entry = format!("<a href=\"{address}\">{name}</a>");
                    assert!(page.contains(&entry), "{entry} is not in {page}");
                }
            }
            (false, _) => assert_eq!(body(&response)["code"], "route_not_found", "{path}"),
        }
    }
}

#[test]
fn the_not_found_page_has_the_policy_of_the_site() {
    let site = include_str!("../../www/public/_headers");
    let policy =
        site.lines().find_map(|line| line.trim().strip_prefix("Content-Security-Policy: "));
    assert_eq!(policy, Some(connector_vault::http::page::CONTENT_SECURITY_POLICY));
    let api = Api::with_catalog();
    let response = api.send(&with_header(anonymous("GET", "/nothere"), "accept", "text/html"));
    assert_eq!(response.header("content-security-policy"), policy);
}

#[test]
fn rejects_unsupported_methods() {
    let api = Api::with_catalog();
    for path in [CONNECTORS, "/v1/available-actions/alpha", "/v1/whoami", "/health"] {
        for method in
            ["POST", "PUT", "PATCH", "DELETE", "PURGE", "PROPFIND", "QUERY", "TRACE", "get", ""]
        {
            let overridden =
                with_header(api.request(method, path), "x-http-method-override", "GET");
            let response = api.send(&overridden);
            assert_eq!(
                (response.status, &body(&response)["code"]),
                (405, &json!("method_not_allowed")),
                "{method} {path}"
            );
            assert_eq!(response.header("allow"), Some("GET, HEAD, OPTIONS"), "{method} {path}");
        }
    }
}

#[test]
fn head_returns_the_get_headers_without_a_body() {
    let api = Api::with_catalog();
    for path in [
        CONNECTORS,
        "/v1/available-actions/alpha?limit=1",
        "/v1/whoami",
        "/health",
        "/v1/nope",
        "/v1/available-actions/x",
        "/v1/whoami?x=1",
    ] {
        let (get, head) = (api.get(path), api.send(&api.request("HEAD", path)));
        let comparable = |response: &connector_vault::http::Response| {
            let headers = response.headers.iter().filter(|(name, _)| {
                !["x-request-id", "server-timing", "content-length"].contains(name)
            });
            (response.status, headers.cloned().collect::<Vec<_>>())
        };
        assert_eq!(comparable(&head), comparable(&get), "{path}");
        assert!(head.body.is_empty() && !get.body.is_empty(), "{path}");
        assert_eq!(
            head.header("content-length"),
            Some(get.body.len().to_string().as_str()),
            "{path}"
        );
    }
}

#[test]
fn every_response_has_the_common_headers() {
    let api = Api::with_catalog();
    let mut request_ids = Vec::new();
    for (request, status, cache_control) in [
        (api.request("GET", CONNECTORS), 200, "private, no-cache"),
        (api.request("GET", "/v1/available-actions/alpha"), 200, "private, no-cache"),
        (api.request("GET", "/v1/whoami"), 200, "private, no-store"),
        (api.request("OPTIONS", CONNECTORS), 204, "private, no-store"),
        (anonymous("GET", CONNECTORS), 401, "private, no-store"),
        (api.request("GET", "/v1/available-connectors?limit=0"), 400, "private, no-store"),
        (api.request("GET", "/nope"), 404, "private, no-store"),
        (anonymous("GET", "/health"), 200, "private, no-store"),
    ] {
        let response = api.send(&request);
        assert_eq!(response.status, status, "{request:?}");
        assert_eq!(response.header("cache-control"), Some(cache_control), "{request:?}");
        assert_eq!(response.header("vary"), Some("x-service-secret, origin"), "{request:?}");
        assert!(
            response
                .header("server-timing")
                .is_some_and(|value| value.starts_with("d1;desc=\"calls=")),
            "{request:?}"
        );
        assert_eq!(
            response.header("etag").is_some(),
            cache_control == "private, no-cache",
            "{request:?}"
        );
        request_ids.push(response.header("x-request-id").unwrap().to_owned());
    }
    request_ids.sort();
    request_ids.dedup();
    assert_eq!(request_ids.len(), 8, "each request has its own id");
}

#[test]
fn server_timing_shows_the_cost() {
    let api = Api::with_catalog();
    for (path, expected) in [
        // The first request with a key on each day writes the day of its last use.
        (CONNECTORS, "d1;desc=\"calls=1 rows_read=1 rows_written=1\", kv;desc=\"reads=2\""),
        (CONNECTORS, "d1;desc=\"calls=0 rows_read=0 rows_written=0\", kv;desc=\"reads=0\""),
        (
            "/v1/available-actions/alpha",
            "d1;desc=\"calls=0 rows_read=0 rows_written=0\", kv;desc=\"reads=1\"",
        ),
        (
            "/v1/available-actions/alpha",
            "d1;desc=\"calls=0 rows_read=0 rows_written=0\", kv;desc=\"reads=0\"",
        ),
        ("/v1/whoami", "d1;desc=\"calls=1 rows_read=1 rows_written=0\", kv;desc=\"reads=0\""),
    ] {
        assert_eq!(api.get(path).header("server-timing"), Some(expected), "{path}");
    }
}

#[test]
fn checks_have_a_fixed_order() {
    let api = Api::with_catalog();
    let key_without_scope = api.env.key("acme", Environment::Test, &[Scope::ConnectionsRead], None);
    let as_powerless = |method: &str, path: &str| {
        with_header(anonymous(method, path), "x-service-secret", key_without_scope.reveal())
    };
    for (request, limited, status, code) in [
        // 401 comes before 404, 405 and all other errors.
        (anonymous("GET", "/v1/nope"), true, 401, "missing_key"),
        (anonymous("POST", CONNECTORS), true, 401, "missing_key"),
        (anonymous("GET", "/v1/available-connectors?x"), true, 401, "missing_key"),
        (anonymous("GET", "/v1/openapi.json/x"), true, 401, "missing_key"),
        // 404 and 405 come before 403.
        (as_powerless("GET", "/v1/nope?x"), true, 404, "route_not_found"),
        (as_powerless("POST", "/v1/available-connectors?x"), true, 405, "method_not_allowed"),
        // A missing scope (403) is reported before the rate limit (429).
        (as_powerless("GET", "/v1/available-connectors?x"), true, 403, "insufficient_scope"),
        // The rate limit (429) is reported before errors of the request (400).
        (api.request("GET", "/v1/available-connectors?x"), true, 429, "too_many_requests"),
        // 400 comes before 404 of the resource.
        (api.request("GET", "/v1/available-actions/nope?x"), false, 400, "unknown_parameter"),
        (api.request("GET", "/v1/available-actions/nope"), false, 404, "platform_not_found"),
    ] {
        api.env.limited.set(limited);
        let response = api.send(&request);
        assert_eq!(
            (response.status, &body(&response)["code"]),
            (status, &json!(code)),
            "{request:?}"
        );
        assert_eq!(response.header("retry-after"), (status == 429).then_some("60"), "{request:?}");
    }
}

#[test]
fn problems_have_the_form_of_rfc_9457() {
    let api = Api::with_catalog();
    let response = api.get("/v1/available-connectors?lmit=5&page=0");
    assert_eq!(response.status, 400);
    assert_eq!(response.header("content-type"), Some("application/problem+json"));
    assert_eq!(
        body(&response),
        json!({
            "type": format!("{ORIGIN}/problems/unknown_parameter"),
            "title": "Unknown query parameter",
            "status": 400,
            "detail": "`lmit` is not a parameter of this endpoint; did you mean `limit`? (1 more in `errors`)",
            "code": "unknown_parameter",
            "requestId": response.header("x-request-id").unwrap(),
            "errors": [
                {"parameter": "lmit", "detail": "`lmit` is not a parameter of this endpoint; did you mean `limit`?", "suggestion": "limit"},
                {"parameter": "page", "detail": "`page` must be a whole number from 1 to 1000000000"}
            ]
        })
    );
    // All errors of one parameter are listed.
    let response = api.get("/v1/available-connectors?limit=&limit=5&limit=6");
    let faults = body(&response)["errors"].clone();
    let details: Vec<_> = faults.as_array().unwrap().iter().map(|fault| &fault["detail"]).collect();
    let empty = "`limit` is empty: give it a value, or leave it out";
    assert_eq!(details, [empty, "`limit` is given more than once"]);
    let response = api.get("/v1/available-actions/alhpa");
    assert_eq!(
        body(&response),
        json!({
            "type": format!("{ORIGIN}/problems/platform_not_found"),
            "title": "Platform not found",
            "status": 404,
            "detail": "The catalog has no platform `alhpa`; nearest: `alpha`, `alpha-two`.",
            "code": "platform_not_found",
            "requestId": response.header("x-request-id").unwrap(),
            "suggestions": ["alpha", "alpha-two"]
        })
    );
    let response = api.send(&anonymous("GET", CONNECTORS));
    assert_eq!((response.status, response.header("www-authenticate")), (401, Some("ApiKey")));
}

#[test]
fn allows_preflight_and_cross_origin_reads() {
    let api = Api::new(config(&[
        ("SECRET_HEADERS", "x-pica-secret"),
        ("ALLOWED_ORIGINS", "https://app.example, http://localhost:5173"),
    ]));
    let vary = "x-service-secret, x-pica-secret, origin";
    for (origin, allowed) in [
        (Some("https://app.example"), true),
        (Some("http://localhost:5173"), true),
        (Some("https://evil.example"), false),
        (None, false),
    ] {
        let from_origin = |mut request: Request| {
            request.headers.extend(origin.map(|origin| ("origin".to_owned(), origin.to_owned())));
            request
        };
        let usual = "content-type, if-match, if-none-match, x-vault-bookmark";
        let agents = "authorization, content-type, if-none-match, mcp-method, mcp-name, mcp-protocol-version";
        for (path, methods, others) in [
            (CONNECTORS, "GET, HEAD, OPTIONS", usual),
            ("/v1/nope", "GET, HEAD, OPTIONS", usual),
            ("/mcp", "POST, OPTIONS", agents),
            ("/mcp/x/register", "POST, OPTIONS", agents),
        ] {
            let preflight = api.send(&from_origin(anonymous("OPTIONS", path)));
            assert_eq!((preflight.status, preflight.body.len()), (204, 0));
            assert_eq!(preflight.header("access-control-allow-origin"), origin.filter(|_| allowed));
            assert_eq!(
                preflight.header("access-control-allow-methods"),
                allowed.then_some(methods)
            );
            let headers = format!("x-service-secret, x-pica-secret, {others}");
            assert_eq!(
                preflight.header("access-control-allow-headers"),
                allowed.then_some(headers.as_str())
            );
            assert_eq!(preflight.header("vary"), Some(vary));
        }
        for request in [api.request("GET", "/v1/whoami"), anonymous("GET", "/v1/whoami")] {
            let response = api.send(&from_origin(request));
            assert_eq!(response.header("access-control-allow-origin"), origin.filter(|_| allowed));
            let exposed = "ETag, Link, Retry-After, Server-Timing, x-request-id, x-vault-bookmark, x-vault-next, x-vault-retry-at, x-vault-source, WWW-Authenticate";
            assert_eq!(
                response.header("access-control-expose-headers"),
                allowed.then_some(exposed)
            );
            assert_eq!(response.header("access-control-allow-credentials"), None);
            assert_eq!(response.header("vary"), Some(vary));
        }
    }
}

#[test]
fn matching_entity_tags_get_304() {
    let api = Api::with_catalog();
    for path in [CONNECTORS, "/v1/available-actions/alpha?q=user"] {
        let tag = api.get(path).header("etag").unwrap().to_owned();
        assert!(tag.starts_with('"') && tag.ends_with('"'), "strong: {tag}");
        for (value, status) in [
            (tag.clone(), 304),
            (format!("W/{tag}"), 304),
            (format!("\"x\", {tag}"), 304),
            ("*".into(), 304),
            ("\"x\"".into(), 200),
        ] {
            let response =
                api.send(&with_header(api.request("GET", path), "if-none-match", &value));
            assert_eq!(
                (response.status, response.body.is_empty()),
                (status, status == 304),
                "{path} {value}"
            );
            assert_eq!(response.header("etag"), Some(tag.as_str()));
            assert_eq!(response.header("cache-control"), Some("private, no-cache"));
            assert_eq!(response.header("x-vault-source"), None, "no platform was called");
        }
        let head = api.send(&with_header(api.request("HEAD", path), "if-none-match", &tag));
        assert_eq!((head.status, head.header("content-length")), (304, None), "{path}");
        let wrong = api.send(&with_header(
            api.request(
                "GET",
                &format!("{path}{}limit=0", if path.contains('?') { '&' } else { '?' }),
            ),
            "if-none-match",
            "*",
        ));
        assert_eq!(wrong.status, 400, "a wrong request is never `not modified`");
    }
    // A new catalog has a new entity tag, which the isolate returns after it has read storage
    // again.
    let tag = api.get(CONNECTORS).header("etag").unwrap().to_owned();
    api.env.publish(vec![(crate::support::connector("new", "New", "Other", 0), false, Vec::new())]);
    api.env.wait(30_000);
    let response = api.send(&with_header(api.request("GET", CONNECTORS), "if-none-match", &tag));
    assert_eq!((response.status, &body(&response)["total"]), (200, &json!(1)));
}

#[test]
fn health_requires_no_key() {
    let env = TestEnv::new();
    env.db_fails.set(true);
    let service = connector_vault::http::Service::new(Config::default());
    let response = pollster::block_on(connector_vault::http::handle::handle(
        &service,
        &env,
        &anonymous("GET", "/health"),
    ));
    assert_eq!((response.status, body(&response)), (200, json!({"status": "ok"})));
    assert_eq!((env.db_calls.get(), env.blob_reads.borrow().len()), (0, 0));
}

#[test]
fn a_large_body_is_read_only_for_a_known_caller_within_its_share_of_memory() {
    const LARGE: usize = 1 << 20;
    let api = Api::with_sessions("0123456789abcdef0123456789abcdef", "");
    let path = "/v1/vault/connections/import";
    let reserve = |request: &Request| {
        let now = api.env.now.get();
        pollster::block_on(api.service.reserve_body(&api.env, request, LARGE, now))
    };
    let own = api.request("POST", path);
    let held: Vec<_> = (0..16).map(|_| reserve(&own).ok().unwrap()).collect();
    assert_eq!(api.service.bodies().held(), 16 * LARGE);
    assert!(reserve(&own).err() == Some(Body::Refused));
    // The bodies of a user's requests may use half of the memory for bodies, and those of other
    // callers the rest.
    let payload = json!({"identity": "ann", "scopes": ["connections:connect"]}).to_string();
    let session = api.send(&with_body(api.request("POST", "/v1/sessions"), &payload));
    let ann_connect_body = as_secret(body(&session)["token"].as_str().unwrap(), "POST", path);
    let of_user: Vec<_> = (0..8).map(|_| reserve(&ann_connect_body).ok().unwrap()).collect();
    assert!(reserve(&ann_connect_body).err() == Some(Body::Refused));
    drop((held, of_user));
    assert_eq!(api.service.bodies().held(), 0);
    for (unread, status, code) in [
        (Body::Refused, 503, "unavailable"),
        (Body::TimedOut, 400, "invalid_body"),
        (Body::TooLarge, 413, "body_too_large"),
    ] {
        let request = with_header(
            Request { body: unread, ..api.request("POST", path) },
            "content-type",
            "application/json",
        );
        let response = api.send(&request);
        assert_eq!((response.status, body(&response)["code"].as_str()), (status, Some(code)));
    }
    // Anyone can make a well-formed key, or a token with a wrong signature. The bodies of requests
    // with these are not read.
    let forged = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let forged = as_key(&forged, "POST", path);
    api.env.database.execute("DELETE FROM api_keys", []).unwrap();
    api.env.wait(61_000);
    assert!(reserve(&forged).err() == Some(Body::default()));
    assert_eq!(api.send(&forged).status, 401);
    assert_eq!(api.service.bodies().held(), 0);
}
