//! The MCP endpoint and its tools.

use connector_vault::terms::Environment;
use serde_json::{Value, json};

use super::run::api_with;
use super::*;
use crate::connect::{ann_connect_body, token};
use crate::support::{ORIGIN, anonymous, units, with_body};

pub fn api() -> Api {
    let get = json!({
        "title": "Get a thing", "key": "getThing", "method": "GET", "modelName": "Thing", "facts": {"path": "/things/{id}"},
        "parameters": [{
            "name": "id", "in": "path", "required": true, "schema": {"type": "integer"}, "style": "simple", "explode": false,
            "contentType": null,
        }],
        "responses": [],
    });
    let settings = [("ALLOWED_ORIGINS", "https://app.example")];
    api_with_platforms(&settings, units(json!({}), &[get], &[]))
}

fn post(headers: &[(&str, &str)], message: &str) -> connector_vault::http::Request {
    let mut request = with_body(anonymous("POST", "/mcp"), message);
    for (name, value) in headers {
        request = with_header(request, name, value);
    }
    request
}

/// Sends a message of an earlier protocol version with the key. Returns the response.
fn send_message(api: &Api, method: &str, params: &Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let bearer = format!("Bearer {}", api.key.reveal());
    let response = api.send(&post(&[("authorization", &bearer)], &message.to_string()));
    assert_eq!(response.status, 200, "{}", text(&response));
    let reply = body(&response);
    assert_eq!((&reply["jsonrpc"], &reply["id"]), (&json!("2.0"), &json!(7)));
    reply
}

pub fn list_tools(api: &Api) -> Value {
    send_message(api, "tools/list", &json!({}))["result"]["tools"].clone()
}

pub fn tool(api: &Api, name: &str, arguments: &Value) -> Value {
    send_message(api, "tools/call", &json!({"name": name, "arguments": arguments}))["result"]
        .clone()
}

/// Parses the text content of a tool's result.
pub fn content(returned: &Value) -> Value {
    serde_json::from_str(returned["content"][0]["text"].as_str().unwrap()).unwrap()
}

/// Sends a message of the latest protocol version with the key.
fn send_latest_message(
    api: &Api,
    method: &str,
    mut params: Value,
    headers: &[(&str, &str)],
) -> Response {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message = json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": params});
    let secret = [("x-service-secret", api.key.reveal())];
    api.send(&post(&[&secret, headers].concat(), &message.to_string()))
}

/// Calls a tool in the latest version, as a client that declares these `capabilities`, with `more` parameters.
fn call_tool_latest(
    api: &Api,
    name: &str,
    arguments: &Value,
    capabilities: &Value,
    more: &Value,
) -> Value {
    let mut params = json!({
        "name": name, "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        },
    });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let own = ("x-service-secret", api.key.reveal());
    let headers = [own, LATEST, ("mcp-method", "tools/call"), ("mcp-name", name)];
    body(&api.send(&post(&headers, &message.to_string())))["result"].clone()
}

const LATEST: (&str, &str) = ("mcp-protocol-version", "2026-07-28");

#[test]
fn an_agent_finds_and_runs_an_action() {
    let api = api();
    let path = acme(&api);
    let id = path.rsplit('/').next().unwrap();
    let started = send_message(
        &api,
        "initialize",
        &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}),
    );
    assert_eq!(started["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(started["result"]["serverInfo"]["name"], "connector-vault");
    let newer = send_message(&api, "initialize", &json!({"protocolVersion": "2099-01-01"}));
    assert_eq!(newer["result"]["protocolVersion"], "2025-11-25");
    let list = send_message(&api, "tools/list", &json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "search_actions",
            "describe_action",
            "list_connections",
            "run_action",
            "call_platform",
            "start_connect"
        ]
    );
    for (tool, reads) in tools.iter().zip([true, true, true, false, false, false]) {
        assert_eq!(tool["annotations"]["readOnlyHint"], reads);
    }
    let described = tool(&api, "describe_action", &json!({"platform": "acme", "key": "getThing"}));
    assert_eq!(content(&described)["input"]["required"], json!(["path"]));
    assert_eq!(described.get("structuredContent"), None);
    let listed = tool(&api, "list_connections", &json!({"platform": "acme"}));
    assert_eq!(listed["structuredContent"]["rows"][0]["id"], id);
    assert_eq!(listed["isError"], false);
    platform(&api, |_| {
        Ok(platform_response(200, &[("content-type", "application/json")], "{\"name\":\"x\"}"))
    });
    let run = json!({"connection": id, "key": "getThing", "input": {"path": {"id": 5}}});
    let ran = tool(&api, "run_action", &run);
    assert_eq!((&ran["isError"], ran.get("structuredContent")), (&json!(false), None));
    assert_eq!(content(&ran)["body"]["name"], "x");
    assert_eq!(sent(&api).last().unwrap().url, "https://api.acme.example/v2/things/5");
    // The error goes to the agent, which can correct its arguments.
    let bad = tool(
        &api,
        "run_action",
        &json!({"connection": id, "key": "getThing", "input": {"path": {"id": "five"}}}),
    );
    assert_eq!(
        (&bad["isError"], &bad["structuredContent"]["errors"][0]["pointer"]),
        (&json!(true), &json!("/path/id"))
    );
    let bad = tool(&api, "run_action", &json!({"conection": id}));
    assert_eq!(
        (&bad["isError"], &bad["content"][0]["text"]),
        (
            &json!(true),
            &json!(
                "`connection` is required. `key` is required. `conection` is not an argument of this tool."
            )
        )
    );
    for limit in [json!(1), json!(1.0), json!(50)] {
        let found = tool(&api, "search_actions", &json!({"query": "get a thing", "limit": limit}));
        assert_eq!(found["structuredContent"]["page"], 1, "{limit}");
    }
    let schema = &tools[0]["inputSchema"]["properties"]["limit"];
    assert_eq!(
        (&schema["type"], &schema["minimum"], &schema["maximum"]),
        (&json!("integer"), &json!(1), &json!(50))
    );
    // If the user must first connect an account, the result is a link.
    let mut input = ann_connect_body("acme");
    input["identity"] = json!("bob");
    let started = tool(&api, "start_connect", &input);
    let link = started["structuredContent"]["authorizationUrl"].as_str().unwrap();
    assert!(link.starts_with("https://vault.example/connect/go/"), "{link}");
}

#[test]
fn the_latest_version_needs_no_session() {
    let api = api();
    let found = send_latest_message(
        &api,
        "server/discover",
        json!({}),
        &[LATEST, ("mcp-method", "server/discover")],
    );
    let result = body(&found)["result"].clone();
    assert_eq!(result["supportedVersions"], json!(["2026-07-28", "2025-11-25", "2025-06-18"]));
    assert_eq!(
        (&result["resultType"], &result["cacheScope"]),
        (&json!("complete"), &json!("public"))
    );
    let list = body(&send_latest_message(
        &api,
        "tools/list",
        json!({}),
        &[LATEST, ("mcp-method", "tools/list")],
    ));
    assert_eq!(
        (&list["result"]["resultType"], list["result"]["ttlMs"].is_u64()),
        (&json!("complete"), true)
    );
    let call = json!({"name": "list_connections", "arguments": {}});
    let headers = [LATEST, ("mcp-method", "tools/call"), ("mcp-name", "list_connections")];
    let called = body(&send_latest_message(&api, "tools/call", call.clone(), &headers));
    assert_eq!(
        (&called["result"]["resultType"], &called["result"]["structuredContent"]["total"]),
        (&json!("complete"), &json!(0))
    );
    for (method, params, headers, status, code) in [
        ("tools/list", json!({}), &[][..], 400, -32020),
        ("tools/list", json!({}), &[LATEST], 400, -32020),
        ("tools/list", json!({}), &[LATEST, ("mcp-method", "tools/call")], 400, -32020),
        (
            "tools/list",
            json!({}),
            &[("mcp-protocol-version", "2025-11-25"), ("mcp-method", "tools/list")],
            400,
            -32020,
        ),
        (
            "tools/call",
            call,
            &[LATEST, ("mcp-method", "tools/call"), ("mcp-name", "run_action")],
            400,
            -32020,
        ),
        ("initialize", json!({}), &[LATEST, ("mcp-method", "initialize")], 404, -32601),
        ("prompts/list", json!({}), &[LATEST, ("mcp-method", "prompts/list")], 404, -32601),
    ] {
        let response = send_latest_message(&api, method, params, headers);
        assert_eq!(
            (response.status, &body(&response)["error"]["code"]),
            (status, &json!(code)),
            "{method} {headers:?}"
        );
        assert_eq!(body(&response)["id"], "a");
    }
    // The latest version requires valid metadata in each request.
    for meta in [
        "{}",
        r#"{"_meta":{}}"#,
        r#"{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}"#,
        r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#,
        r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":1}}"#,
    ] {
        let message =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{meta}}}"#);
        let own = ("x-service-secret", api.key.reveal());
        let response = api.send(&post(&[own, LATEST, ("mcp-method", "tools/list")], &message));
        let code = &body(&response)["error"]["code"];
        assert_eq!((response.status, code), (400, &json!(-32602)), "{meta}");
    }
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}}"#;
    let headers = [("x-service-secret", api.key.reveal()), ("mcp-protocol-version", "1999-01-01")];
    let response = api.send(&post(&headers, message));
    assert_eq!((response.status, &body(&response)["error"]["code"]), (400, &json!(-32022)));
    assert_eq!(body(&response)["error"]["data"]["requested"], "1999-01-01");
}

#[test]
fn earlier_versions_ping_and_name_their_version_in_a_header() {
    let api = api();
    assert_eq!(send_message(&api, "ping", &json!({}))["result"], json!({}));
    let ping = send_latest_message(&api, "ping", json!({}), &[LATEST, ("mcp-method", "ping")]);
    assert_eq!((ping.status, &body(&ping)["error"]["code"]), (404, &json!(-32601)));
    let own = ("x-service-secret", api.key.reveal());
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"name":"x"}}"#;
    for (version, code) in [
        ("2025-11-25", None),
        ("2025-06-18", None),
        ("2025-03-26", None),
        ("2024-11-05", Some(-32022)),
        ("2026-07-28", Some(-32602)),
    ] {
        let response = api.send(&post(&[own, ("mcp-protocol-version", version)], list));
        let found = body(&response)["error"]["code"].as_i64();
        assert_eq!((response.status == 200, found), (code.is_none(), code), "{version}");
    }
    // Only tool calls repeat the tool's name in a header.
    let listed = send_latest_message(
        &api,
        "tools/list",
        json!({"name": "x"}),
        &[LATEST, ("mcp-method", "tools/list")],
    );
    assert_eq!(listed.status, 200);
}

#[test]
fn mcp_requires_a_key() {
    let api = api();
    let unknown = api.env.unknown_key(Environment::Test);
    let sends = |secret: &str, message: &str| {
        api.send(&post(&[("authorization", &format!("Bearer {secret}"))], message)).status
    };
    for message in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_action","arguments":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
    ] {
        assert_ne!(sends(api.key.reveal(), message), 401, "{message}");
        assert_eq!(sends(unknown.reveal(), message), 401, "{message}");
    }
    for message in [
        r#"{"jsonrpc":"2.0","id":true,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
    ] {
        assert_eq!(sends(api.key.reveal(), message), 400, "{message}");
    }
}

#[test]
fn a_401_says_how_agents_send_a_secret() {
    let api = api_with(&[("BASE_URL", ORIGIN)]);
    let session = token(&api, &json!({"identity": "ann"}));
    for (path, authorization, expected) in [
        ("/mcp", String::new(), "Send one as `Authorization: Bearer`"),
        ("/mcp", api.key.reveal().to_owned(), "Send one as `Authorization: Bearer`"),
        ("/mcp", "Bearer x".to_owned(), "The API key is malformed"),
        ("/mcp/x", String::new(), "Keys and session tokens are valid at `/mcp`"),
        ("/mcp/x", format!("Bearer {}", api.key.reveal()), "valid at `/mcp`"),
        ("/mcp/x", format!("Bearer {session}"), "valid at `/mcp`"),
    ] {
        let headers = [("authorization", authorization.as_str())];
        let headers = if authorization.is_empty() { &[][..] } else { &headers };
        let mut request = post(headers, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        request.path = path.to_owned();
        let response = api.send(&request);
        let detail = body(&response)["detail"].as_str().unwrap_or_default().to_owned();
        assert_eq!(response.status, 401, "{path} {detail}");
        assert!(detail.contains(expected), "{path} {authorization}: {detail}");
    }
}

#[test]
fn mcp_headers_are_not_forwarded_to_the_tool() {
    let api = api();
    let list =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_connections"}}"#;
    let own = ("x-service-secret", api.key.reveal());
    for header in [("if-none-match", "*"), ("if-match", "\"7\""), ("accept", "text/html")] {
        let response = body(&api.send(&post(&[own, header], list)));
        assert_eq!(response["result"]["structuredContent"]["total"], 0, "{header:?}");
    }
    let describe = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"describe_action","arguments":{"platform":"acme","key":"getThing"}}}"#;
    let response = body(&api.send(&post(&[own, ("if-none-match", "*")], describe)));
    assert_eq!(content(&response["result"])["key"], "getThing");
}

#[test]
fn a_client_that_opens_links_gets_the_connect_link() {
    let api = api();
    set_client(&api, "acme");
    let arguments = json!({"platform": "acme", "identity": "ann", "identityType": "user"});
    let start = |capabilities: Value, more: Value| {
        call_tool_latest(&api, "start_connect", &arguments, &capabilities, &more)
    };
    for capabilities in
        [json!({}), json!({"elicitation": {}}), json!({"elicitation": {"form": {}}})]
    {
        let plain = start(capabilities, json!({}));
        assert_eq!(plain["resultType"], "complete");
        assert!(plain["structuredContent"]["authorizationUrl"].is_string());
    }
    let capabilities = json!({"elicitation": {"url": {}}});
    // In earlier versions, the result contains the link.
    let mut params = json!({"name": "start_connect", "arguments": arguments});
    params["_meta"] = json!({"io.modelcontextprotocol/clientCapabilities": capabilities});
    let plain = send_message(&api, "tools/call", &params);
    assert!(plain["result"]["structuredContent"]["authorizationUrl"].is_string());
    let result = start(capabilities.clone(), json!({}));
    let request = &result["inputRequests"]["connect"];
    assert_eq!(
        (&result["resultType"], &request["method"], &request["params"]["mode"]),
        (&json!("input_required"), &json!("elicitation/create"), &json!("url"))
    );
    let url = request["params"]["url"].as_str().unwrap();
    assert!(url.starts_with("https://vault.example/connect/go/"), "{url}");
    let attempt = result["requestState"].clone();
    let resume_after = |state: &Value, action: &str| {
        let more =
            json!({"requestState": state, "inputResponses": {"connect": {"action": action}}});
        start(capabilities.clone(), more)
    };
    let opened = resume_after(&attempt, "accept");
    assert_eq!(
        (&opened["structuredContent"]["id"], &opened["structuredContent"]["status"]),
        (&attempt, &json!("pending"))
    );
    let declined = resume_after(&attempt, "decline");
    assert_eq!((&declined["isError"], declined.get("structuredContent")), (&json!(true), None));
    // A state with an unknown or malformed attempt id gets a 404.
    for state in [json!("00000000-0000-4000-8000-000000000000"), json!("../whoami?x=1#")] {
        assert_eq!(resume_after(&state, "accept")["structuredContent"]["status"], 404);
    }
}

#[test]
fn an_action_without_a_connection_returns_the_connect_link() {
    let api = api();
    set_client(&api, "acme");
    let mut new = ann_connect_body("acme");
    new["identity"] = json!("cem");
    let created_response =
        api.send(&with_body(api.request("POST", "/v1/vault/connections"), &new.to_string()));
    let run = json!({"connection": body(&created_response)["id"], "key": "getThing", "input": {"path": {"id": 5}}});
    let refusal = tool(&api, "run_action", &run);
    let problem = &refusal["structuredContent"];
    assert_eq!(
        (&refusal["isError"], &problem["code"]),
        (&json!(true), &json!("credentials_not_found"))
    );
    let link = problem["authorizationUrl"].as_str().unwrap();
    assert!(link.starts_with("https://vault.example/connect/go/"), "{link}");

    let capabilities = json!({"elicitation": {"url": {}}});
    let call = |more: Value| call_tool_latest(&api, "run_action", &run, &capabilities, &more);
    let result = call(json!({}));
    assert_eq!(result["resultType"], "input_required");
    let attempt = result["requestState"].as_str().unwrap();
    let accepted =
        json!({"inputResponses": {"connect": {"action": "accept"}}, "requestState": attempt});
    assert_eq!(content(&call(accepted.clone()))["status"], "pending");
    // After the attempt has succeeded, the action runs.
    let sql = "UPDATE connect_attempts SET status = 'succeeded', sealed = NULL WHERE id = ?1";
    api.env.database.execute(sql, [attempt]).unwrap();
    let id = run["connection"].as_str().unwrap();
    let token = json!({"type": "oauth2", "accessToken": "good"}).to_string();
    let path = format!("/v1/vault/connections/{id}/credentials");
    platform(&api, |_| {
        Ok(platform_response(200, &[("content-type", "application/json")], "{\"name\":\"x\"}"))
    });
    assert_eq!(api.send(&with_body(api.request("PUT", &path), &token)).status, 204);
    assert_eq!(content(&call(accepted))["body"]["name"], "x");
}

#[test]
fn an_error_about_an_unknown_name_says_what_to_do_next() {
    let api = api();
    set_client(&api, "acme");
    let run = |connection: &str, key: &str| json!({"connection": connection, "key": key});
    let unknown = "00000000-0000-4000-8000-000000000000";
    for (called, arguments, code, next) in [
        ("run_action", run("acme", "getThing"), "connection_not_found", "start_connect"),
        // No account needs to be connected for an action that does not exist.
        ("run_action", run("acme", "noThing"), "action_not_found", "search_actions"),
        (
            "describe_action",
            json!({"platform": "acme", "key": "noThing"}),
            "action_not_found",
            "search_actions",
        ),
        ("run_action", run(unknown, "getThing"), "connection_not_found", "list_connections"),
    ] {
        let refusal = tool(&api, called, &arguments);
        let problem = &refusal["structuredContent"];
        assert_eq!((&refusal["isError"], &problem["code"]), (&json!(true), &json!(code)));
        assert!(problem["detail"].as_str().unwrap().contains(next), "{problem}");
    }
}

#[test]
fn a_list_names_an_unknown_platform() {
    let api = api();
    let listed = |platform: &str| tool(&api, "list_connections", &json!({"platform": platform}));
    let refusal = listed("amce");
    assert_eq!(
        (&refusal["isError"], &refusal["structuredContent"]["suggestions"][0]),
        (&json!(true), &json!("acme"))
    );
    assert_eq!(listed("ACME")["structuredContent"]["total"], 0);
    let call = json!({"connection": "5f0c2a4e-1", "key": "createThing"});
    let refusal = tool(&api, "run_action", &call);
    let detail = refusal["structuredContent"]["detail"].as_str().unwrap();
    assert!(detail.starts_with("`connection` must be the id of a connection"), "{detail}");
    let inactive = tool(&api, "list_connections", &json!({"active": "false"}));
    assert_eq!(inactive["structuredContent"]["total"], 0);
}

#[test]
fn an_agent_gets_the_result_of_an_attempt() {
    let api = api();
    set_client(&api, "acme");
    let started = tool(&api, "start_connect", &ann_connect_body("acme"));
    let attempt = json!({"attempt": started["structuredContent"]["id"]});
    let waited = tool(&api, "start_connect", &attempt);
    assert_eq!(waited["structuredContent"]["status"], "pending");
    let sql = "UPDATE connect_attempts SET status = 'failed', sealed = NULL, error_code = 'denied', error_detail = 'No.'";
    api.env.database.execute(sql, []).unwrap();
    let waited = tool(&api, "start_connect", &attempt);
    assert_eq!(waited["structuredContent"]["error"]["code"], "denied");
}

#[test]
fn rejects_invalid_messages() {
    let api = api();
    let key = [("x-service-secret", api.key.reveal())];
    for (message, status, code) in [
        ("{", 400, -32700),
        ("[]", 400, -32600),
        ("{}", 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, 400, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, 400, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#, 200, -32601),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing"}}"#,
            200,
            -32602,
        ),
    ] {
        let response = api.send(&post(&key, message));
        assert_eq!(
            (response.status, &body(&response)["error"]["code"]),
            (status, &json!(code)),
            "{message}"
        );
        assert_eq!(response.header("content-type"), Some("application/json"));
    }
    for message in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
    ] {
        let note = api.send(&post(&key, message));
        assert_eq!((note.status, note.body.len()), (202, 0), "{message}");
    }
    assert_eq!(api.send(&with_header(anonymous("GET", "/mcp"), key[0].0, key[0].1)).status, 405);
}

#[test]
fn rejects_messages_with_two_secrets() {
    let api = api();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let own = ("x-service-secret", api.key.reveal());
    for scheme in ["Bearer", "bearer", "BEARER", "Bearer "] {
        let bearer = format!("{scheme} {}", api.key.reveal());
        let bearer = ("authorization", bearer.as_str());
        assert_eq!(api.send(&post(&[bearer], ping)).status, 200, "{scheme}");
        for message in [ping, "{"] {
            let both = api.send(&post(&[own, bearer], message));
            assert_eq!((both.status, &body(&both)["code"]), (401, &json!("invalid_key")));
        }
    }
    let other = ("authorization", "Basic eDp5");
    assert_eq!(api.send(&post(&[own, other], ping)).status, 200);
}

#[test]
fn an_agent_has_the_permissions_of_its_caller() {
    let api = api();
    let path = acme(&api);
    let id = path.rsplit('/').next().unwrap().to_owned();
    platform(&api, |_| Ok(platform_response(200, &[], "")));
    sent(&api);
    let session_token = |identity: &str, scopes: &[&str]| {
        token(&api, &json!({"identity": identity, "scopes": scopes}))
    };
    let all = ["catalog:read", "connections:read", "connections:call"];
    let call = |secret: &str, name: &str, arguments: &Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
        let response = api
            .send(&post(&[("authorization", &format!("Bearer {secret}"))], &message.to_string()));
        body(&response)["result"].clone()
    };
    let run = json!({"connection": id, "key": "getThing", "input": {"path": {"id": 5}}});
    let (ann, bob) = (session_token("ann", &all), session_token("bob", &all));
    assert_eq!(call(&ann, "list_connections", &json!({}))["structuredContent"]["total"], 1);
    assert_eq!(call(&bob, "list_connections", &json!({}))["structuredContent"]["total"], 0);
    assert_eq!(call(&ann, "run_action", &run)["isError"], false);
    assert_eq!(call(&bob, "run_action", &run)["structuredContent"]["code"], "connection_not_found");
    let reader = session_token("ann", &["connections:read"]);
    assert_eq!(
        call(&reader, "run_action", &run)["structuredContent"]["code"],
        "insufficient_scope"
    );
    assert_eq!(sent(&api).len(), 1);
    // Every message needs a key.
    for message in [
        "{",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_connections"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_action"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ] {
        for headers in [
            &[][..],
            &[("authorization", "Bearer sk_test_nobody")],
            &[("authorization", "Basic eDp5")],
        ] {
            let response = api.send(&post(headers, message));
            assert_eq!(
                (response.status, response.header("www-authenticate")),
                (401, Some("Bearer")),
                "{message}"
            );
        }
    }
    // Requests from pages of other origins are rejected.
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (origin, status) in [
        ("https://app.example", 200),
        ("https://vault.example", 200),
        ("https://evil.example", 403),
        ("null", 403),
    ] {
        let headers = [("x-service-secret", api.key.reveal()), ("origin", origin)];
        assert_eq!(api.send(&post(&headers, message)).status, status, "{origin}");
    }
    // Over plain http, the service's own origin is accepted only for loopback hosts: DNS rebinding
    // can make any other host name point to this machine.
    for (origin, status) in [
        ("http://localhost:8787", 200),
        ("http://127.0.0.1", 200),
        ("http://[::1]:8787", 200),
        ("http://evil.example:8787", 403),
        ("http://localhost.evil.example", 403),
        ("http://localhost:8787.evil.example", 403),
    ] {
        let headers = [("x-service-secret", api.key.reveal()), ("origin", origin)];
        let mut request = post(&headers, message);
        request.origin = origin.into();
        assert_eq!(api.send(&request).status, status, "{origin}");
    }
}

#[test]
fn a_client_may_write_values_as_strings() {
    let api = api();
    let path = acme(&api);
    let id = path.rsplit('/').next().unwrap();
    platform(&api, |_| Ok(platform_response(200, &[("content-type", "application/json")], "{}")));
    for arguments in [
        json!({"connection": id, "key": "getThing", "input": "{\"path\":{\"id\":5}}"}),
        json!({"connection": id, "key": "getThing", "input": {"path": "{\"id\": 5}"}}),
        json!({"connection": id, "key": "getThing", "input": {"path": {"id": "5"}}}),
        json!({"connection": id, "key": "getThing", "input": "{\"path\":\"{\\\"id\\\":\\\"5\\\"}\"}"}),
        json!(
            json!({"connection": id, "key": "getThing", "input": {"path": {"id": 5}}}).to_string()
        ),
    ] {
        sent(&api);
        let ran = tool(&api, "run_action", &arguments);
        assert_eq!(ran["isError"], false, "{arguments}: {ran}");
        assert_eq!(sent(&api)[0].url, "https://api.acme.example/v2/things/5");
    }
    let found =
        tool(&api, "search_actions", &json!({"query": "thing", "limit": "3", "platform": null}));
    assert_eq!(found["isError"], false, "{found}");
    let wrong = tool(&api, "search_actions", &json!({"query": "thing", "limit": "three"}));
    assert_eq!(content_text(&wrong), "`limit` must be a whole number from 1 to 50.");
    // The API itself accepts only the types of its schemas.
    let strict =
        send(&api, "POST", &format!("{path}/actions/getThing"), &json!({"path": {"id": "5"}}));
    assert_eq!(strict.status, 400);
}

fn content_text(returned: &Value) -> &str {
    returned["content"][0]["text"].as_str().unwrap()
}

#[test]
fn the_complete_body_of_a_platform_error_is_returned() {
    let api = api();
    let path = acme(&api);
    let connection = path.rsplit('/').next().unwrap();
    for (status, is_whole) in [(200, false), (404, true), (503, true)] {
        platform(&api, move |_| {
            let error = r#"{"id":1,"error":"no such thing"}"#;
            Ok(platform_response(status, &[("content-type", "application/json")], error))
        });
        let arguments = json!({"connection": connection, "key": "getThing", "input": {"path": {"id": 5}}, "select": ["/id"]});
        let response = content(&tool(&api, "run_action", &arguments));
        assert_eq!(response["status"], status);
        assert_eq!(response["body"].get("error").is_some(), is_whole, "{response}");
    }
}

#[test]
fn a_tool_result_stays_within_its_limit() {
    let api = api();
    let path = acme(&api);
    let id = path.rsplit('/').next().unwrap();
    let rows: Vec<Value> = (0..500_u32)
        .map(|n| json!({"id": n, "name": "é".repeat(100), "big": 12_345_678_901_234_567_u64}))
        .collect();
    let all = json!({"items": rows, "next": "token"}).to_string();
    platform(&api, move |_| {
        let headers = [("content-type", "application/json"), ("x-long-header", &"h".repeat(9000))];
        Ok(platform_response(200, &headers, &all))
    });
    let run = |more: Value| {
        let mut arguments =
            json!({"connection": id, "key": "getThing", "input": {"path": {"id": 5}}});
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        tool(&api, "run_action", &arguments)
    };
    for (more, max) in
        [(json!({}), 24_000), (json!({"maxBytes": 5000}), 5000), (json!({"maxBytes": "500"}), 500)]
    {
        let ran = run(more);
        let text = content_text(&ran);
        assert!(text.len() <= max && text.len() > max / 2, "{} of {max}: {ran}", text.len());
        let response = content(&ran);
        assert_eq!(response["body"]["next"], "token");
        let items = response["body"]["items"].as_array().unwrap().len();
        let part = &response["omitted"]["parts"][0];
        if max > 500 {
            assert_eq!(response["body"]["items"][0]["big"], json!(12_345_678_901_234_567_u64));
            assert_eq!(
                (&part["pointer"], &part["unit"], &part["omitted"], &part["total"]),
                (&json!("/body/items"), &json!("items"), &json!(500 - items), &json!(500))
            );
        }
        assert!(response["omitted"]["hint"].as_str().unwrap().contains("`maxBytes`"));
    }
    let chosen = content(&run(json!({"select": ["/items/*/id", "/next"]})));
    assert_eq!(chosen["body"]["items"].as_array().unwrap().len(), 500);
    assert_eq!(
        (&chosen["body"]["items"][499], &chosen["body"]["next"]),
        (&json!({"id": 499}), &json!("token"))
    );
    assert_eq!(chosen.get("omitted"), None);
    let nothing = content(&run(json!({"select": "/nothing"})));
    assert_eq!(nothing["body"], Value::Null);
    assert!(nothing["omitted"]["hint"].as_str().unwrap().contains("selects nothing"), "{nothing}");
    for (more, what) in [
        (json!({"select": ["items"]}), "/select"),
        (json!({"select": vec![""; 21]}), "/select"),
        (json!({"select": ["/*".repeat(17)]}), "/select"),
        (json!({"select": [format!("/{}", "a".repeat(1024))]}), "/select"),
    ] {
        let refusal = run(more);
        assert_eq!(content(&refusal)["errors"][0]["pointer"], what);
    }
    // A deeply nested value, or one that can't be shortened, is left out.
    for all in [
        format!("{}1{}", "[".repeat(40_000), "]".repeat(40_000)),
        format!("{}1{}", "{\"a\":".repeat(40_000), "}".repeat(40_000)),
        "1".repeat(40_000),
        format!("{{\"{}\":[1,2]}}", "a".repeat(40_000)),
    ] {
        platform(&api, move |_| {
            Ok(platform_response(200, &[("content-type", "application/json")], &all))
        });
        for (more, max) in [(json!({}), 24_000), (json!({"maxBytes": 500}), 500)] {
            let ran = run(more);
            assert!(content_text(&ran).len() <= max, "{ran}");
            let unit = &content(&ran)["omitted"]["parts"][0]["unit"];
            assert!(*unit == "bytes" || *unit == "members", "{ran}");
        }
        let star = json!({"select": ["/*".repeat(16)]});
        assert_eq!(content(&run(star))["status"], 200);
    }
    platform(&api, |_| {
        Ok(platform_response(200, &[("content-type", "image/png")], &"x".repeat(30_000)))
    });
    let bytes = content(&run(json!({})));
    assert_eq!((&bytes["body"]["size"], bytes.get("omitted")), (&json!(30_000), None));
    // Without a budget, the API returns everything.
    platform(&api, |_| {
        Ok(platform_response(
            200,
            &[("content-type", "application/json")],
            &format!("[{}1]", "1,".repeat(50_000)),
        ))
    });
    let unshortened =
        send(&api, "POST", &format!("{path}/actions/getThing"), &json!({"path": {"id": 5}}));
    assert_eq!(body(&unshortened)["body"].as_array().unwrap().len(), 50_001);
    let cut = send(
        &api,
        "POST",
        &format!("{path}/actions/getThing"),
        &json!({"path": {"id": 5}, "maxBytes": 1000}),
    );
    assert!(text(&cut).len() <= 1000);
}
