//! Calls of agents that name a platform instead of a connection.

use serde_json::{Value, json};

use super::mcp::{content, tool};
use super::*;
use crate::agents;
use crate::connect::token;

fn get_thing(connection: &str) -> Value {
    json!({"connection": connection, "key": "getThing", "input": {"path": {"id": 5}}})
}

fn respond_with_thing(api: &Api) {
    platform(api, |_| {
        Ok(platform_response(200, &[("content-type", "application/json")], "{\"name\":\"x\"}"))
    });
}

/// Calls a tool with a session token of ann. Returns the tool's result.
fn call_tool_as_ann(api: &Api, name: &str, arguments: &Value) -> Value {
    let scopes = ["connections:read", "connections:call", "connections:connect", "catalog:read"];
    let secret = token(api, &json!({"identity": "ann", "scopes": scopes}));
    let response = agents::call(api, "/mcp", &secret, name, arguments);
    assert_eq!(response.status, 200, "{}", text(&response));
    body(&response)["result"].clone()
}

#[test]
fn a_platform_selects_its_only_connection() {
    let api = mcp::api();
    let path = acme(&api);
    respond_with_thing(&api);
    for name in ["acme", "ACME"] {
        assert_eq!(content(&tool(&api, "run_action", &get_thing(name)))["body"]["name"], "x");
    }
    let call = json!({"connection": "acme", "path": "/x"});
    assert_eq!(content(&tool(&api, "call_platform", &call))["body"]["name"], "x");
    let id = path.rsplit('/').next().unwrap();
    assert_eq!(content(&tool(&api, "run_action", &get_thing(id)))["body"]["name"], "x");
    assert_eq!(sent(&api).len(), 4);
}

#[test]
fn several_accounts_are_returned_to_choose_from() {
    let api = mcp::api();
    acme(&api);
    let other = json!({"type": "oauth2", "accessToken": "at-2", "refreshToken": "rt-2"});
    connection_of(&api, "acme", "bob", &other);
    api.env
        .database
        .execute("UPDATE connections SET platform_account_id = identity || '@acme'", [])
        .unwrap();
    sent(&api);
    let returned = tool(&api, "run_action", &get_thing("acme"));
    assert_eq!(returned.get("isError").unwrap_or(&json!(false)), &json!(false), "{returned}");
    let choice = content(&returned);
    let mut accounts: Vec<&str> = choice["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["account"]["id"].as_str().unwrap())
        .collect();
    accounts.sort_unstable();
    assert_eq!(accounts, ["ann@acme", "bob@acme"]);
    assert!(choice["hint"].as_str().unwrap().contains("Nothing was done"));
    assert_eq!(sent(&api).len(), 0);
    // The token of a user has access only to that user's connection.
    respond_with_thing(&api);
    assert_eq!(
        content(&call_tool_as_ann(&api, "run_action", &get_thing("acme")))["body"]["name"],
        "x"
    );
}

#[test]
fn a_platform_without_a_connection_returns_the_link_that_connects_one() {
    let api = mcp::api();
    set_client(&api, "acme");
    let refusal = call_tool_as_ann(&api, "run_action", &get_thing("acme"));
    let problem = &refusal["structuredContent"];
    assert_eq!(
        (&refusal["isError"], &problem["code"]),
        (&json!(true), &json!("connection_not_found")),
        "{refusal}"
    );
    let link = problem["authorizationUrl"].as_str().unwrap();
    assert!(link.contains("/connect/go/"), "{link}");
    // The identity is unknown for a key, so the service can't start to connect an account.
    let refusal = tool(&api, "run_action", &get_thing("acme"));
    let problem = &refusal["structuredContent"];
    assert_eq!(problem.get("authorizationUrl"), None, "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("start_connect"), "{problem}");
    let unknown = call_tool_as_ann(&api, "run_action", &get_thing("acmee"));
    assert_eq!(unknown["structuredContent"]["code"], "platform_not_found", "{unknown}");
    assert_eq!(sent(&api).len(), 0);
}
