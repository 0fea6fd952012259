//! Invalid proxy calls, action runs and agent messages, in the documented order of checks, with
//! their exact responses. No request reaches a platform.

use connector_vault::auth::key::ApiKey;
use connector_vault::http::Request;
use connector_vault::http::message::Body;
use connector_vault::ports::HttpError;
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use super::*;
use crate::support::{anonymous, as_key, units, with_body};
use crate::vault::UNKNOWN_ID;

/// A request with its expected status and code. An empty code means that the platform's response is
/// returned.
type Case = (Request, u16, &'static str);

fn api() -> Api {
    let get = json!({
        "title": "Get a thing", "key": "getThing", "method": "GET", "modelName": "Thing",
        "facts": {"path": "/things/{id}"}, "responses": [],
        "parameters": [{
            "name": "id", "in": "path", "required": true, "schema": {"type": "integer"}, "style": "simple",
            "explode": false, "contentType": null,
        }],
    });
    let api = api_with_platforms(&[], units(json!({}), &[get], &[]));
    platform(&api, |_| Ok(platform_response(200, &[], "")));
    api
}

/// One request for each type of caller, with the expected response. `ask` completes the request.
fn cases_by_caller(
    api: &Api,
    ask: &dyn Fn(Request) -> Request,
    method: &str,
    path: &str,
) -> Vec<Case> {
    let key = |account: &str, environment, scopes: &[Scope]| -> ApiKey {
        api.env.key(account, environment, scopes, None)
    };
    let with_key = |key: &ApiKey| ask(as_key(key, method, path));
    let revoked = key("acme", Environment::Test, &Scope::ALL);
    api.env.revoke(&revoked);
    let key_without_scope =
        key("acme", Environment::Test, &[Scope::ConnectionsRead, Scope::CatalogRead]);
    let live_key = key("acme", Environment::Live, &Scope::ALL);
    let other = key("beta", Environment::Test, &Scope::ALL);
    let unknown = api.env.unknown_key(Environment::Test);
    vec![
        (ask(anonymous(method, path)), 401, "missing_key"),
        (
            ask(with_header(anonymous(method, path), "x-service-secret", "sk_test_x")),
            401,
            "invalid_key",
        ),
        // `/mcp` accepts a key as a bearer token; these endpoints do not.
        (
            ask(with_header(
                anonymous(method, path),
                "authorization",
                &format!("Bearer {}", api.key.reveal()),
            )),
            401,
            "missing_key",
        ),
        (with_key(&unknown), 401, "invalid_key"),
        (with_key(&revoked), 401, "invalid_key"),
        (with_key(&key_without_scope), 403, "insufficient_scope"),
        (with_key(&live_key), 404, "connection_not_found"),
        (with_key(&other), 404, "connection_not_found"),
    ]
}

/// Checks the responses, and that no request reached a platform.
fn assert_refused(api: &Api, cases: Vec<Case>) {
    sent(api);
    for (request, status, code) in cases {
        let response = api.send(&request);
        assert_eq!(
            (response.status, &body(&response)["code"]),
            (status, &json!(code)),
            "{request:?}"
        );
        // A request to an unknown route does not reach a platform.
        let source = (code != "route_not_found").then_some("vault");
        assert_eq!(response.header("x-vault-source"), source, "{request:?}");
        assert_eq!(
            response.header("content-type"),
            Some("application/problem+json"),
            "{request:?}"
        );
        let challenge = (status == 401).then_some("ApiKey");
        assert_eq!(response.header("www-authenticate"), challenge, "{request:?}");
        assert_eq!(sent(api).len(), 0, "{request:?}");
    }
}

/// Connections that can't be called, with the expected status and code.
fn uncallable_connections(api: &Api) -> Vec<(String, u16, &'static str)> {
    let bare = json!({"platform": "bearer", "identity": "bare", "identityType": "user"});
    let bare = body(&send(api, "POST", "/v1/vault/connections", &bare))["id"].clone();
    let failed =
        connection_of(api, "acme", "failed", &json!({"type": "oauth2", "accessToken": "at"}));
    let id = failed.rsplit('/').next().unwrap();
    let sql = format!("UPDATE connections SET state = 'failed', active = 0 WHERE id = '{id}'");
    api.env.database.execute(&sql, []).unwrap();
    let path = |id: &str| format!("/v1/vault/connections/{id}");
    vec![
        (path(bare.as_str().unwrap()), 404, "credentials_not_found"),
        (failed, 409, "connection_failed"),
        (path(UNKNOWN_ID), 404, "connection_not_found"),
        (path("nothing"), 404, "connection_not_found"),
    ]
}

#[test]
fn rejects_invalid_proxy_calls() {
    let api = api();
    let path = acme(&api);
    let ask = format!("{path}/proxy/x");
    let get = |path: &str| api.request("GET", path);
    let mut cases = cases_by_caller(&api, &|request| request, "GET", &ask);
    cases.extend([
        (get(&format!("{path}/proxyx")), 404, "route_not_found"),
        (api.request("QUERY", &ask), 405, "method_not_allowed"),
        (api.request("TRACE", &ask), 405, "method_not_allowed"),
        (get(&format!("{path}/proxy/../x")), 400, "invalid_parameter"),
        (get(&format!("{path}/proxy/a%2f%2e%2e%2fx")), 400, "invalid_parameter"),
        (
            with_header(get(&ask), "x-vault-server", "https://evil.example"),
            400,
            "invalid_parameter",
        ),
        // The catalog declares the server, but the connection has no region.
        (
            with_header(get(&ask), "x-vault-server", "https://{region}.acme.example/unknown"),
            400,
            "invalid_parameter",
        ),
        // The path is checked before the connection.
        (
            get(&format!("/v1/vault/connections/{UNKNOWN_ID}/proxy/..%2fx")),
            400,
            "invalid_parameter",
        ),
    ]);
    for (path, status, code) in uncallable_connections(&api) {
        cases.push((get(&format!("{path}/proxy/x")), status, code));
    }
    let nowhere = connection_with(&api, "nowhere", &json!({"type": "bearer", "token": "t"}));
    cases.push((get(&format!("{nowhere}/proxy/x")), 502, "platform_unreachable"));
    let keys = json!({"type": "aws_sigv4", "accessKeyId": "AK", "secretAccessKey": "sk"});
    let lambda = connection_with(&api, "lambda", &keys);
    let mut long = api.request("PUT", &format!("{lambda}/proxy/x"));
    long.body = Body::Stream;
    cases.push((long, 413, "body_too_large"));
    assert_refused(&api, cases);
    api.env.limited.set(true);
    assert_refused(&api, vec![(get(&ask), 429, "too_many_requests")]);
}

#[test]
fn rejects_invalid_action_runs() {
    let api = api();
    let path = acme(&api);
    let run = |path: &str, key: &str| api.request("POST", &format!("{path}/actions/{key}"));
    let with_valid_body = |request: Request| with_body(request, r#"{"path":{"id":1}}"#);
    let large = |request: Request| Request { body: Body::TooLarge, ..request };
    let with_json_type =
        |request: Request| with_header(request, "content-type", "application/json");
    let ask = format!("{path}/actions/getThing");
    let mut cases = cases_by_caller(&api, &with_valid_body, "POST", &ask);
    cases.extend([
        (with_valid_body(run(&path, "")), 404, "route_not_found"),
        (api.request("GET", &ask), 405, "method_not_allowed"),
        (with_valid_body(api.request("PUT", &ask)), 405, "method_not_allowed"),
        // The order is: parameters, the body, the resources in the path, the input.
        (large(run(&path, "getThing?x=1")), 400, "unknown_parameter"),
        (large(run(&path, "getThing")), 415, "unsupported_media_type"),
        (large(with_json_type(run(&path, "getThing"))), 413, "body_too_large"),
        (with_body(run(UNKNOWN_ID, "x"), "{"), 404, "route_not_found"),
        (with_body(run(&path, "getThing"), ""), 400, "invalid_body"),
        (with_body(run(&path, "getThing"), "{"), 400, "invalid_body"),
        (with_body(run(&path, "getThing"), "[]"), 400, "invalid_body"),
        (with_body(run(&path, "getThing"), "{} {}"), 400, "invalid_body"),
        (with_body(run(&path, "getThing"), "\u{feff}{}"), 400, "invalid_body"),
        (
            with_body(run(&path, "getThing"), r#"{"path":{"id":1},"path":{"id":2}}"#),
            400,
            "invalid_body",
        ),
        (
            with_body(run(&path, "getThing"), r#"{"path":{"id":1},"body":"\ud800"}"#),
            400,
            "invalid_body",
        ),
        (with_body(run(&path, "getThing"), r#"{"path":{"id":1,"id":2}}"#), 400, "invalid_body"),
        (with_body(run(&path, "getThing"), "{}"), 400, "invalid_body"),
        (with_body(run(&path, "getThing"), r#"{"path":{"id":"1"}}"#), 400, "invalid_body"),
        (with_body(run(&path, "getThing"), r#"{"path":{"id":1},"more":1}"#), 400, "invalid_body"),
        (with_body(run(&path, "nothing"), "{}"), 404, "action_not_found"),
    ]);
    for (path, status, code) in uncallable_connections(&api) {
        let key = if code == "credentials_not_found" { continue } else { "getThing" };
        cases.push((with_valid_body(run(&path, key)), status, code));
    }
    // A connection of a platform without actions.
    let bearer = connection_with(&api, "bearer", &json!({"type": "bearer", "token": "t"}));
    cases.push((with_valid_body(run(&bearer, "getThing")), 404, "action_not_found"));
    assert_refused(&api, cases);
    api.env.limited.set(true);
    assert_refused(&api, vec![(with_valid_body(run(&path, "getThing")), 429, "too_many_requests")]);
}

#[test]
fn without_vault_keys_no_platform_is_called() {
    let api = api();
    let path = acme(&api);
    let id = path.rsplit('/').next().unwrap();
    let closed = api_with_platforms(&[("VAULT_KEYS", "")], Units::default());
    platform(&closed, |_| Ok(platform_response(200, &[], "")));
    let new = json!({"platform": "acme", "identity": "ann", "identityType": "user"});
    let other = body(&send(&closed, "POST", "/v1/vault/connections", &new))["id"].clone();
    for id in [id, other.as_str().unwrap()] {
        let run = closed.request("POST", &format!("/v1/vault/connections/{id}/actions/getThing"));
        let cases = vec![
            (
                closed.request("GET", &format!("/v1/vault/connections/{id}/proxy/x")),
                503,
                "unavailable",
            ),
            (with_body(run, "{}"), 503, "unavailable"),
        ];
        for (request, status, code) in cases {
            let response = closed.send(&request);
            assert_eq!((response.status, &body(&response)["code"]), (status, &json!(code)));
            assert!(text(&response).contains("VAULT_KEYS"), "{}", text(&response));
        }
    }
    assert_eq!(sent(&closed).len(), 0);
}

#[test]
fn a_platform_failure_during_an_action_returns_a_problem() {
    let api = api();
    let path = acme(&api);
    for (error, status, code) in [
        (HttpError::Unreachable, 502, "platform_unreachable"),
        (HttpError::TimedOut, 504, "platform_timeout"),
    ] {
        platform(&api, move |_| Err(error));
        let request = api.request("POST", &format!("{path}/actions/getThing"));
        let response = api.send(&with_body(request, r#"{"path":{"id":1}}"#));
        assert_eq!((response.status, &body(&response)["code"]), (status, &json!(code)));
        assert_eq!(response.header("x-vault-source"), Some("vault"));
    }
}

const LIMIT: &str = "`limit` must be a whole number from 1 to 50.";

#[test]
fn rejects_invalid_agent_messages() {
    let api = api();
    let own = ("x-service-secret", api.key.reveal());
    let post = |text: &str| with_header(with_body(anonymous("POST", "/mcp"), text), own.0, own.1);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let large = Request { body: Body::TooLarge, ..post("") };
    let plain = |media: &str| {
        let request = with_header(anonymous("POST", "/mcp"), "content-type", media);
        Request { body: Body::Whole(ping.into()), ..with_header(request, own.0, own.1) }
    };
    let versioned = |version: &str| with_header(post(ping), "mcp-protocol-version", version);
    for (request, status, code) in [
        (post(""), 400, -32700),
        (post("{"), 400, -32700),
        (post("\u{feff}{}"), 400, -32700),
        (post("[]"), 400, -32600),
        (post("1"), 400, -32600),
        (post(&format!("[{ping}]")), 400, -32600),
        (post(r#"{"jsonrpc":"2.0","id":[],"method":"ping"}"#), 400, -32600),
        (post(r#"{"jsonrpc":"2.0","id":1,"method":7}"#), 400, -32600),
        (post(r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#), 400, -32600),
        (post(r#"{"id":1,"method":"ping"}"#), 400, -32600),
        (post(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#), 400, -32600),
        (post(r#"{"jsonrpc":"2.0","id":1}"#), 400, -32600),
        (large, 413, -32600),
        (plain("text/plain"), 415, -32600),
        (plain("application/x-www-form-urlencoded"), 415, -32600),
        (versioned("2024-11-05"), 400, -32022),
        (versioned("nothing"), 400, -32022),
        (versioned("2026-07-28"), 400, -32602),
        (with_header(post(ping), "origin", "https://evil.example"), 403, -32600),
        (post(r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#), 200, -32601),
        (post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#), 200, -32602),
        (
            post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing"}}"#),
            200,
            -32602,
        ),
    ] {
        let response = api.send(&request);
        let outcome = (response.status, body(&response)["error"]["code"].clone());
        assert_eq!(outcome, (status, json!(code)), "{request:?}");
    }
    for method in ["GET", "PUT", "DELETE", "PATCH"] {
        let response = api.send(&api.request(method, "/mcp"));
        assert_eq!(response.status, 405, "{method}");
        assert_eq!(response.header("allow"), Some("POST, OPTIONS"));
    }
}

/// The agent gets all errors of a tool's arguments together.
#[test]
fn rejects_invalid_tool_arguments() {
    let api = api();
    let own = ("x-service-secret", api.key.reveal());
    let post = |text: &str| with_header(with_body(anonymous("POST", "/mcp"), text), own.0, own.1);
    let call = |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let response = api.send(&post(&message.to_string()));
        let result = body(&response)["result"].clone();
        assert_eq!((response.status, &result["isError"]), (200, &json!(true)), "{name}");
        let code = result["structuredContent"]["code"].as_str().unwrap_or_default().to_owned();
        (code, result["content"][0]["text"].as_str().unwrap().to_owned())
    };
    for (name, arguments, expected) in [
        ("search_actions", json!({}), "`query` is required."),
        ("search_actions", json!({"query": ""}), "`query` must not be empty."),
        ("search_actions", json!({"query": "  "}), "`query` must not be empty."),
        ("search_actions", json!({"query": 1}), "`query` must be a string."),
        ("search_actions", json!({"query": "x", "limit": -1}), LIMIT),
        ("search_actions", json!({"query": "x", "limit": 0}), LIMIT),
        ("search_actions", json!({"query": "x", "limit": 51}), LIMIT),
        ("search_actions", json!({"query": "x", "limit": 2.5}), LIMIT),
        ("search_actions", json!({"query": "x", "limit": "five"}), LIMIT),
        ("describe_action", json!([]), "`arguments` must be an object."),
        (
            "describe_action",
            json!({"platform": 1}),
            "`platform` must be a string. `key` is required.",
        ),
        (
            "run_action",
            json!({"connection": "c", "key": "k", "input": []}),
            "`input` must be an object.",
        ),
        ("list_connections", json!({"tags": "x"}), "`tags` is not an argument of this tool."),
    ] {
        assert_eq!(call(name, arguments), (String::new(), expected.to_owned()), "{name}");
    }
    for (name, arguments, code) in [
        ("describe_action", json!({"platform": "nothing", "key": "k"}), "platform_not_found"),
        ("describe_action", json!({"platform": "acme", "key": "nothing"}), "action_not_found"),
        (
            "run_action",
            json!({"connection": UNKNOWN_ID, "key": "getThing"}),
            "connection_not_found",
        ),
        ("run_action", json!({"connection": "../x", "key": "getThing"}), "connection_not_found"),
        (
            "start_connect",
            json!({"platform": "nothing", "identity": "a", "identityType": "user"}),
            "invalid_body",
        ),
        ("start_connect", json!({"platform": "acme"}), "invalid_body"),
        ("start_connect", json!({"connection": UNKNOWN_ID}), "connection_not_found"),
        (
            "start_connect",
            json!({"platform": "acme", "identity": "a", "identityType": "user"}),
            "oauth_client_missing",
        ),
    ] {
        assert_eq!(call(name, arguments).0, code, "{name}");
    }
    assert_eq!(sent(&api).len(), 0);
}

#[test]
fn a_key_sent_as_the_platforms_authorization_is_rejected_with_advice() {
    let api = api_with_platforms(&[], units(json!({}), &[], &[]));
    let bearer = format!("Bearer {}", api.key.reveal());
    let request = with_header(anonymous("GET", "/v1/whoami"), "authorization", &bearer);
    let refusal = api.send(&request);
    assert_eq!((refusal.status, &body(&refusal)["code"]), (401, &json!("missing_key")));
    let detail = body(&refusal)["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("`x-service-secret`, not in `Authorization`"), "{detail}");
    assert!(!detail.contains(api.key.reveal()));
}
