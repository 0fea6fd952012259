//! Limits of tokens: calls outside the limits are refused before a request reaches the platform,
//! and the error names the limit. Lists contain only what the token may use.

use connector_vault::http::{Request, Response};
use serde_json::{Value, json};

use super::*;
use crate::agents::{self, Agent};
use crate::connect::token;
use crate::support::{ORIGIN, action, anonymous, as_secret, column, units, with_body};
use crate::vault::code;
use connector_vault::terms::Method;

fn stored(key: &str, method: &str) -> Value {
    json!({
        "title": key, "key": key, "method": method, "modelName": "Thing", "facts": {"path": format!("/{key}")},
        "parameters": [], "responses": [],
    })
}

/// Returns a service whose platform `acme` has actions with several methods, and the paths of two
/// connections of ann.
fn api() -> (Api, String, String) {
    let all = [
        stored("getThing", "GET"),
        stored("listThing", "GET"),
        stored("makeThing", "POST"),
        stored("things/remove", "DELETE"),
    ];
    let api = api_with_platforms(&[], units(json!({}), &all, &[]));
    platform(&api, |_| Ok(platform_response(200, &[("content-type", "application/json")], "{}")));
    let (one, other) =
        (acme(&api), connection_with(&api, "bearer", &json!({"type": "bearer", "token": "t"})));
    sent(&api);
    (api, one, other)
}

/// Creates a token of ann with all scopes and these limits.
fn limited_token(api: &Api, limits: &Value) -> String {
    let mut input = json!({"identity": "ann", "scopes": [
        "catalog:read", "connections:read", "connections:write", "connections:connect", "connections:call",
    ]});
    for (name, value) in limits.as_object().unwrap() {
        input[name] = value.clone();
    }
    token(api, &input)
}

fn run(api: &Api, token: &str, path: &str, key: &str) -> Response {
    let key = connector_vault::util::percent::encode(key);
    api.send(&with_body(as_secret(token, "POST", &format!("{path}/actions/{key}")), "{}"))
}

fn call_proxy(api: &Api, token: &str, method: &str, path: &str) -> Response {
    api.send(&as_secret(token, method, &format!("{path}/proxy/x")))
}

/// A request that sends a message to `/mcp` with a token.
fn mcp(token: &str, method: &str, params: &Value) -> Request {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let request = with_body(anonymous("POST", "/mcp"), &message.to_string());
    with_header(request, "authorization", &format!("Bearer {token}"))
}

#[test]
fn rejects_calls_outside_a_tokens_limits_and_names_the_limit() {
    let (api, path, _) = api();
    let actions = ["getThing", "listThing", "makeThing", "things/remove"];
    for (limits, allowed, methods, missing) in [
        (json!({}), &actions[..], &["GET", "HEAD", "POST", "DELETE"][..], ""),
        (json!({"access": "write"}), &actions, &["GET", "HEAD", "POST", "DELETE"], ""),
        (json!({"access": "read"}), &actions[..2], &["GET", "HEAD"], "the access `write`"),
        (json!({"actions": ["acme/makeThing"]}), &actions[2..3], &[], "limited to `actions`"),
        (json!({"actions": ["ACME/things/*"]}), &actions[3..], &[], "limited to `actions`"),
        (json!({"actions": ["acme/*"]}), &actions, &[], "limited to `actions`"),
        (
            json!({"actions": ["bearer/*", "acme/getThing"]}),
            &actions[..1],
            &[],
            "limited to `actions`",
        ),
    ] {
        let token = limited_token(&api, &limits);
        for key in actions {
            let response = run(&api, &token, &path, key);
            let is_allowed = allowed.contains(&key);
            assert_eq!(response.status == 200, is_allowed, "{limits} {key} {}", text(&response));
            assert_eq!(sent(&api).len(), usize::from(is_allowed), "{limits} {key}");
            if !is_allowed {
                assert_eq!(
                    (response.status, code(&response).as_str()),
                    (403, "insufficient_scope")
                );
                assert!(body(&response)["detail"].as_str().unwrap().contains(missing), "{limits}");
            }
        }
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
            let response = call_proxy(&api, &token, method, &path);
            let is_allowed = methods.contains(&method)
                || methods.contains(&"DELETE") && matches!(method, "PUT" | "PATCH");
            assert_eq!(response.status == 200, is_allowed, "{limits} {method}");
            assert_eq!(sent(&api).len(), usize::from(is_allowed), "{limits} {method}");
            assert!(is_allowed || response.status == 403);
        }
        // Agents get the same list.
        for key in actions {
            let id = path.rsplit('/').next().unwrap();
            let params = json!({"name": "run_action", "arguments": {"connection": id, "key": key}});
            let result = &body(&api.send(&mcp(&token, "tools/call", &params)))["result"];
            let is_allowed = allowed.contains(&key);
            assert_eq!(result["isError"], !is_allowed, "{limits} {key} {result}");
            assert_eq!(sent(&api).len(), usize::from(is_allowed));
            if !is_allowed {
                assert!(result["content"][0]["text"].as_str().unwrap().contains(missing));
            }
        }
    }
}

#[test]
fn a_token_for_some_connections_cannot_see_or_create_others() {
    let (api, path, other) = api();
    let id = path.rsplit('/').next().unwrap().to_owned();
    let token = limited_token(&api, &json!({"connections": [id.to_uppercase()]}));
    let get = |path: &str| api.send(&as_secret(&token, "GET", path));
    for list in [
        "/v1/vault/connections",
        "/v1/vault/connections?active=true&limit=1",
        "/v1/vault/connections?q=a",
        "/v1/vault/connections?identity=ann",
        "/v1/vault/connections?key=test::acme::default::ann,test::bearer::default::ann",
    ] {
        let response = get(list);
        assert_eq!(
            (column(&response, "id"), body(&response)["total"].clone()),
            (vec![id.clone()], json!(1)),
            "{list}"
        );
    }
    assert_eq!(body(&get("/v1/vault/connections?platform=bearer"))["total"], 0);
    assert_eq!(body(&get("/v1/vault/summary"))["total"], 1);
    assert_eq!(get(&path).status, 200);
    assert_eq!(get(&other).status, 404);
    assert_eq!(call_proxy(&api, &token, "GET", &path).status, 200);
    for method in ["GET", "DELETE"] {
        assert_eq!(code(&call_proxy(&api, &token, method, &other)), "connection_not_found");
    }
    assert_eq!(api.send(&as_secret(&token, "DELETE", &other)).status, 404);
    let new = json!({"platform": "basic", "identity": "ann", "identityType": "user"});
    for at in ["/v1/vault/connections", "/v1/vault/connect"] {
        let response = api.send(&with_body(as_secret(&token, "POST", at), &new.to_string()));
        assert_eq!(
            (response.status, code(&response).as_str()),
            (403, "insufficient_scope"),
            "{at}"
        );
        assert!(text(&response).contains("`connections`"), "{}", text(&response));
    }
    // The token can reconnect its own connection, and no other token sees the attempt.
    let reconnect_body = json!({"connection": id}).to_string();
    let started =
        api.send(&with_body(as_secret(&token, "POST", "/v1/vault/connect"), &reconnect_body));
    assert_eq!(started.status, 202, "{}", text(&started));
    let attempt = format!("/v1/vault/connect/{}", body(&started)["id"].as_str().unwrap());
    assert_eq!(get(&attempt).status, 200);
    let other = limited_token(&api, &json!({"connections": [other.rsplit('/').next().unwrap()]}));
    assert_eq!(api.send(&as_secret(&other, "GET", &attempt)).status, 404);
    assert_eq!(body(&api.send(&as_secret(&other, "GET", "/v1/vault/connect")))["rows"], json!([]));
}

#[test]
fn whoami_returns_a_tokens_limits() {
    let (api, path, _) = api();
    let id = path.rsplit('/').next().unwrap();
    let input =
        json!({"access": "read", "actions": ["Acme/get*", "bearer/x"], "connections": [id]});
    let token = limited_token(&api, &input);
    let whoami = body(&api.send(&as_secret(&token, "GET", "/v1/whoami")));
    assert_eq!(whoami["access"], "read");
    assert_eq!(whoami["actions"], json!(["acme/get*", "bearer/x"]));
    assert_eq!(whoami["platforms"], json!(["acme", "bearer"]));
    assert_eq!(whoami["connections"], json!([id]));
    let free = body(&api.send(&as_secret(&limited_token(&api, &json!({})), "GET", "/v1/whoami")));
    for (name, value) in
        [("access", json!("write")), ("actions", json!(null)), ("connections", json!(null))]
    {
        assert_eq!(free[name], value, "{name}");
    }
}

#[test]
fn rejects_contradictory_limits() {
    let (api, ..) = api();
    let too_many_actions: Vec<String> = (0..101).map(|index| format!("acme/a{index}")).collect();
    let ids: Vec<String> =
        (0..21).map(|index| format!("00000000-0000-4000-8000-{index:012}")).collect();
    for (input, pointer) in [
        (json!({"access": "all"}), "/access"),
        (json!({"access": null}), "/access"),
        (json!({"actions": []}), "/actions"),
        (json!({"actions": "acme/a"}), "/actions"),
        (json!({"actions": ["acme"]}), "/actions/0"),
        (json!({"actions": ["acme/a", "*"]}), "/actions/1"),
        (json!({"actions": ["acme/a*b"]}), "/actions/0"),
        (json!({"actions": ["acme/a,b"]}), "/actions/0"),
        (json!({"actions": ["acme/a", "acme/a"]}), "/actions/1"),
        (json!({"actions": ["unknown/a"]}), "/actions/0"),
        (json!({"actions": ["basic/a"], "platforms": ["acme"]}), "/actions/0"),
        (json!({"actions": too_many_actions}), "/actions"),
        (json!({"connections": []}), "/connections"),
        (json!({"connections": ["x"]}), "/connections/0"),
        (json!({"connections": ids}), "/connections"),
    ] {
        let mut payload = json!({"identity": "ann"});
        for (name, value) in input.as_object().unwrap() {
            payload[name] = value.clone();
        }
        let response = send(&api, "POST", "/v1/sessions", &payload);
        assert_eq!(response.status, 400, "{input}");
        assert_eq!(body(&response)["errors"][0]["pointer"], pointer, "{input}");
    }
    // A hundred actions whose keys have typical lengths.
    let typical_actions: Vec<String> =
        (0..100).map(|index| format!("acme/repos-list-for-authenticated-user-{index}")).collect();
    assert_eq!(
        send(&api, "POST", "/v1/sessions", &json!({"identity": "ann", "actions": typical_actions}))
            .status,
        201
    );
    let long_actions: Vec<String> = (0..100).map(|index| format!("acme/{index:0>200}")).collect();
    let response =
        send(&api, "POST", "/v1/sessions", &json!({"identity": "ann", "actions": long_actions}));
    assert_eq!(body(&response)["errors"][0]["pointer"], "/actions");
}

#[test]
fn lists_and_tools_contain_only_what_a_token_may_use() {
    let api = Api::with_sessions(crate::sessions::SECRET, "");
    let mut catalog = crate::support::small_catalog();
    let platform = catalog[0].0.platform.clone();
    catalog[0].2 = vec![
        action(&platform, "Get a widget", "widgets-get", Method::Get),
        action(&platform, "List widgets", "widgets-list", Method::Get),
        action(&platform, "Create a widget", "widgets-create", Method::Post),
        action(&platform, "Delete a gadget", "gadgets-delete", Method::Delete),
        action(&platform, "Get a gadget", "gadgets-get", Method::Get),
    ];
    catalog[0].0.tools = 5;
    api.env.publish(catalog);
    let list = format!("/v1/available-actions/{platform}");
    let all = ["widgets-create", "gadgets-delete", "gadgets-get", "widgets-get", "widgets-list"];
    let entry = |key: &str| format!("{platform}/{key}");
    for (limits, shown) in [
        (json!({}), &all[..]),
        (json!({"access": "read"}), &all[2..]),
        (
            json!({"actions": [entry("widgets-*")]}),
            &["widgets-create", "widgets-get", "widgets-list"],
        ),
        (
            json!({"actions": [entry("widgets-*")], "access": "read"}),
            &["widgets-get", "widgets-list"],
        ),
        (json!({"actions": [entry("gadgets-delete"), entry("none")]}), &["gadgets-delete"]),
        (json!({"actions": [entry("gadgets-delete")], "access": "read"}), &[]),
    ] {
        let token = limited_token(&api, &limits);
        let get = |path: &str| api.send(&as_secret(&token, "GET", path));
        let response = get(&list);
        assert_eq!(column(&response, "key"), shown, "{limits}");
        assert_eq!(body(&response)["total"], shown.len(), "{limits}");
        // All pages together equal the full list, and the token gets no response that is cached for
        // another token.
        let pages = (1..=all.len())
            .flat_map(|page| column(&get(&format!("{list}?limit=1&page={page}")), "key"));
        assert_eq!(pages.collect::<Vec<_>>(), shown, "{limits}");
        for q in ["widget", "gadget", "delete a gadget"] {
            for key in column(
                &get(&format!("/v1/available-actions?q={q}&limit=50").replace(' ', "%20")),
                "key",
            ) {
                assert!(shown.contains(&key.as_str()), "{limits} {q} {key}");
            }
        }
        for key in shown {
            let found = column(&get(&format!("/v1/available-actions?q={key}&limit=50")), "key");
            assert!(found.iter().any(|found| found == key), "{limits} {key} {found:?}");
        }
        let tag = response.header("etag").unwrap().to_owned();
        let other = limited_token(&api, &json!({"access": "read", "actions": [entry("nothing")]}));
        let cached = with_header(as_secret(&other, "GET", &list), "if-none-match", &tag);
        assert_eq!(api.send(&cached).status, 200, "{limits}");
        // The annotations of a tool depend on the limits.
        let tools =
            body(&api.send(&mcp(&token, "tools/list", &json!({}))))["result"]["tools"].clone();
        let run =
            tools.as_array().unwrap().iter().find(|tool| tool["name"] == "run_action").unwrap();
        let only_reads = limits["access"] == "read";
        assert_eq!(run["annotations"]["readOnlyHint"], only_reads);
        assert_eq!(run["annotations"]["destructiveHint"], !only_reads);
        assert_eq!(run["description"].as_str().unwrap().contains("You may only read"), only_reads);
    }
    // A tool whose scope the token lacks is not listed.
    let reader = token(&api, &json!({"identity": "ann", "scopes": ["catalog:read"]}));
    let tools = body(&api.send(&mcp(&reader, "tools/list", &json!({}))))["result"]["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["search_actions", "describe_action"]);
}

#[test]
fn an_action_outside_the_limits_is_not_returned() {
    let (api, ..) = api();
    let token = limited_token(&api, &json!({"access": "read"}));
    let get = |key: &str| {
        api.send(&as_secret(&token, "GET", &format!("/v1/available-actions/acme/{key}")))
    };
    assert_eq!(get("getThing").status, 200);
    assert_eq!(
        (get("makeThing").status, code(&get("makeThing"))),
        (403, "insufficient_scope".to_owned())
    );
    assert_eq!(get("none").status, 404);
}

#[test]
fn method_overrides_are_removed() {
    let (api, path, _) = api();
    let key = api.key.reveal().to_owned();
    for secret in [key.clone(), limited_token(&api, &json!({"access": "read"}))] {
        for (query, expected) in [
            ("_method=DELETE&a=1", "a=1"),
            ("a=1&%5Fmethod=DELETE", "a=1"),
            ("_HttpMethod=PATCH", ""),
            ("method=delete&a=1", "a=1"),
            ("a=1;_method=DELETE", "a=1"),
            ("a=1;method=delete;b=2", "a=1;b=2"),
            ("a=1;b=2&c=%3B_method=DELETE", "a=1;b=2&c=%3B_method=DELETE"),
            ("method=flickr.photos.search", "method=flickr.photos.search"),
            ("X-HTTP-Method-Override=PUT", ""),
            ("payment_method=DELETE", "payment_method=DELETE"),
        ] {
            let mut request = as_secret(&secret, "GET", &format!("{path}/proxy/x?{query}"));
            for name in [
                "x-http-method-override",
                "x-http-method",
                "x-method-override",
                "x_http_method_override",
                "_method",
                "x-method",
                "x-http-verb",
                "x-request-method",
                "x-original-method",
                "x-override-url",
                "x-proxy-url",
                "x-original-uri",
                "x-accel-redirect",
            ] {
                request = with_header(request, name, "DELETE");
            }
            assert_eq!(api.send(&request).status, 200);
            let [request] = sent(&api).try_into().unwrap();
            let found = request.url.split_once('?').map_or("", |(_, query)| query);
            assert_eq!((request.method.as_str(), found), ("GET", expected), "{query}");
            let overrides = request.headers.iter().filter(|(_, value)| value == "DELETE");
            assert_eq!(overrides.count(), 0, "{:?}", request.headers);
        }
    }
}

/// Returns a service with three actions of `acme`: one declares `method` in its body, one in its
/// query, and one declares no members.
fn overriding_api(settings: &[(&str, &str)]) -> Api {
    let mut watch = stored("watch", "POST");
    watch["requestBody"] = json!({
        "required": true, "contentTypes": ["application/json"],
        "schema": {"type": "object", "properties": {"method": {"type": "string"}}},
    });
    let mut find = stored("find", "GET");
    find["parameters"] = json!([{
        "name": "method", "in": "query", "required": false, "schema": {"type": "string"}, "style": "form",
        "explode": true, "contentType": null,
    }]);
    let mut make = stored("make", "POST");
    make["requestBody"] = json!({
        "required": true, "contentTypes": ["application/x-www-form-urlencoded"], "schema": {"type": "object"},
    });
    let api = api_with_platforms(settings, units(json!({}), &[find, make, watch], &[]));
    platform(&api, |_| Ok(platform_response(200, &[("content-type", "application/json")], "{}")));
    api
}

#[test]
fn a_token_cannot_override_the_method_by_its_input() {
    struct Case {
        limits: Value,
        key: &'static str,
        input: Value,
        status: u16,
    }
    let any = || json!({"actions": ["acme/*"]});
    let read = || json!({"access": "read"});
    let query = |method: &str| json!({"query": {"method": method}});
    let body_of = |method: &str| json!({"body": {"a": 1, "method": method}});
    let cases = [
        Case { limits: any(), key: "make", input: body_of("delete"), status: 400 },
        Case { limits: any(), key: "make", input: body_of("visa"), status: 200 },
        Case {
            limits: any(),
            key: "watch",
            input: json!({"body": {"_method": "PUT"}}),
            status: 400,
        },
        Case { limits: any(), key: "watch", input: body_of("DELETE"), status: 200 },
        Case { limits: read(), key: "find", input: query("delete"), status: 403 },
        Case { limits: read(), key: "find", input: query(" Post "), status: 403 },
        Case { limits: read(), key: "find", input: query("get"), status: 200 },
        Case { limits: read(), key: "find", input: query("exact"), status: 200 },
    ];
    let api = overriding_api(&[]);
    let path = acme(&api);
    sent(&api);
    for Case { limits, key, input, status } in cases {
        let token = limited_token(&api, &limits);
        let request = as_secret(&token, "POST", &format!("{path}/actions/{key}"));
        let response = api.send(&with_body(request, &input.to_string()));
        assert_eq!(response.status, status, "{limits} {key} {input} {}", text(&response));
        assert_eq!(sent(&api).len(), usize::from(status == 200), "{limits} {key} {input}");
    }
}

#[test]
fn a_declared_member_that_overrides_the_method_needs_the_approval_of_that_method() {
    let api = overriding_api(&[("BASE_URL", ORIGIN), ("APP_NAME", "Sample App")]);
    let response =
        send(&api, "PUT", "/v1/agent-sign-in", &json!({"type": "app", "url": agents::APP}));
    let id = agents::id_of(&body(&response));
    let path = acme(&api);
    let connection = path.rsplit('/').next().unwrap();
    for (confirm, key, place, method, needs_approval) in [
        ("destructive", "watch", "body", "delete", true),
        ("destructive", "watch", "body", "post", false),
        ("destructive", "watch", "body", "exact", false),
        ("destructive", "find", "query", "DELETE", true),
        ("write", "find", "query", "post", true),
        ("write", "find", "query", "get", false),
    ] {
        let agent = Agent::new(&api, &id, &[&agents::ALL[..], &[("confirm", confirm)]].concat());
        sent(&api);
        let input = json!({place: {"method": method}});
        let arguments = json!({"connection": connection, "key": key, "input": input});
        let response = agent.call(&api, &id, "run_action", &arguments);
        let returned = body(&response)["result"]["content"][0]["text"].clone();
        let returned: Value = serde_json::from_str(returned.as_str().unwrap()).unwrap();
        assert_eq!(
            returned["approval"]["status"] == "pending",
            needs_approval,
            "{confirm} {key} {method} {returned}"
        );
        assert_eq!(sent(&api).len(), usize::from(!needs_approval), "{confirm} {key} {method}");
    }
}

#[test]
fn older_releases_reject_tokens_with_limits() {
    let (api, ..) = api();
    let claims = |token: &str| -> Value {
        use base64ct::{Base64UrlUnpadded, Encoding as _};
        let text = token.rsplit('_').next().unwrap();
        let text = token.split_once("st_test_").map_or(text, |(_, rest)| rest);
        let claims = text.split('.').next().unwrap();
        serde_json::from_slice(&Base64UrlUnpadded::decode_vec(claims).unwrap()).unwrap()
    };
    assert_eq!(claims(&limited_token(&api, &json!({})))["v"], 1);
    assert_eq!(claims(&limited_token(&api, &json!({"access": "write"})))["v"], 1);
    for limits in [
        json!({"access": "read"}),
        json!({"actions": ["acme/a"]}),
        json!({"connections": ["00000000-0000-4000-8000-000000000000"]}),
    ] {
        assert_eq!(claims(&limited_token(&api, &limits))["v"], 2, "{limits}");
    }
    // Prefilled values are not limits, so older releases may ignore them.
    let host = json!({"host": "my.example"});
    for (member, version) in [("fields", 1), ("fixedFields", 5)] {
        let payload = json!({"platforms": ["hosted"], member: host});
        assert_eq!(claims(&limited_token(&api, &payload))["v"], version, "{payload}");
    }
}

#[test]
fn an_agents_errors_say_how_its_user_can_allow_more() {
    let action = stored("makeThing", "POST");
    let settings = [("BASE_URL", ORIGIN)];
    let api = api_with_platforms(&settings, units(json!({}), &[action], &[]));
    let configured =
        send(&api, "PUT", "/v1/agent-sign-in", &json!({"type": "app", "url": agents::APP}));
    let id = agents::id_of(&body(&configured));
    let path = acme(&api);
    let connection = path.rsplit('/').next().unwrap();
    let how = format!("To allow more, its user ends its access at {ORIGIN}/mcp/{id}/grants");
    let called = |agent: &Agent, tool: &str, arguments: &Value| {
        let response = agent.call(&api, &id, tool, arguments);
        body(&response)["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    };

    let some = [("access", "write"), ("accounts", "some"), ("platform", "bearer")];
    let agent = Agent::new(&api, &id, &some);
    let limit = "limited to the platforms `bearer`";
    for (tool, arguments) in [
        ("run_action", json!({"connection": "acme", "key": "makeThing"})),
        ("describe_action", json!({"platform": "ACME", "key": "makeThing"})),
        ("search_actions", json!({"query": "make thing", "platform": "acme"})),
        ("search_actions", json!({"query": "make thing"})),
        ("call_platform", json!({"connection": "acme", "method": "GET", "path": "x"})),
        ("list_connections", json!({"platform": "acme"})),
        ("start_connect", json!({"platform": "acme"})),
    ] {
        let returned = called(&agent, tool, &arguments);
        assert!(returned.contains(limit) && returned.contains(&how), "{tool}: {returned}");
        let names_hidden = returned.contains("which do not include `acme`");
        assert_eq!(names_hidden, arguments != json!({"query": "make thing"}), "{returned}");
        assert!(!returned.contains("whoami"), "{tool}: {returned}");
    }
    // A list of what the agent may use would look complete.
    let reader = Agent::new(&api, &id, &[("access", "read"), ("accounts", "all")]);
    for query in ["make thing", "nothing at all"] {
        let found = called(&reader, "search_actions", &json!({"query": query}));
        assert!(found.contains("actions that write are not shown") && found.contains(&how));
    }
    let run = json!({"connection": "bearer", "key": "makeThing"});
    let none = called(&reader, "call_platform", &json!({"connection": "bearer", "path": "x"}));
    assert!(none.contains("No account of `bearer` is connected"), "{none}");
    assert!(called(&reader, "run_action", &run).contains("The platform `bearer` has no action"));
    let unknown = called(&agent, "describe_action", &json!({"platform": "acmee", "key": "x"}));
    assert!(unknown.contains("The catalog has no platform `acmee`"), "{unknown}");

    // Only the app limits actions and connections.
    let limited = |limits: &Value| {
        let client = agents::register(&api, &id);
        let (browser, page) = agents::open_consent_page(&api, &id, &client, limits);
        let grant = agents::hidden_field(&page, "grant");
        let own = [("grant", grant.as_str()), ("decision", "allow")];
        let decided = browser.decide(&api, &id, &[&own[..], &agents::ALL].concat());
        let (_, back) = agents::redirect_target(&decided);
        let code = crate::connect::value_of(&back, "code").unwrap();
        let tokens = body(&agents::exchange(&api, &id, &client, &code));
        let access = tokens["access_token"].as_str().unwrap().to_owned();
        Agent { client, access, refresh: String::new() }
    };
    let by_app = "Only the app that set this limit can allow more.";
    let agent = limited(&json!({"actions": ["acme/listThing"]}));
    for (tool, arguments) in [
        ("run_action", json!({"connection": connection, "key": "makeThing"})),
        ("describe_action", json!({"platform": "acme", "key": "makeThing"})),
        ("search_actions", json!({"query": "make thing"})),
    ] {
        let returned = called(&agent, tool, &arguments);
        assert!(returned.contains("limited to the actions `acme/listThing`"), "{tool}: {returned}");
        assert!(returned.contains(by_app) && !returned.contains(&how), "{tool}: {returned}");
        assert!(!returned.contains("whoami"), "{tool}: {returned}");
    }
    let other = "0b9af7c6-7a0b-4f60-a3ad-60a2a9b5b3a1";
    let agent = limited(&json!({"connections": [other]}));
    for (tool, arguments) in [
        ("run_action", json!({"connection": connection, "key": "makeThing"})),
        ("start_connect", json!({"platform": "acme"})),
    ] {
        let returned = called(&agent, tool, &arguments);
        assert!(returned.contains("limited to some connections"), "{tool}: {returned}");
        assert!(returned.contains(by_app) && !returned.contains("whoami"), "{tool}: {returned}");
    }
}
