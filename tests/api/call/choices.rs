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
    let id = path.rsplit('/').next().unwrap();
    let call = json!({"connection": "acme", "path": "/x"});
    for (name, arguments) in [
        ("run_action", get_thing("acme")),
        ("run_action", get_thing("ACME")),
        ("call_platform", call),
    ] {
        let result = content(&tool(&api, name, &arguments));
        assert_eq!(result["body"]["name"], "x");
        // The agent did not choose the account, so the result names it.
        let account = &result["connection"];
        assert_eq!((&account["id"], &account["identity"]), (&json!(id), &json!("ann")), "{result}");
    }
    let result = content(&tool(&api, "run_action", &get_thing(id)));
    assert_eq!((&result["body"]["name"], result.get("connection")), (&json!("x"), None));
    assert_eq!(sent(&api).len(), 4);
}

#[test]
fn a_result_that_names_its_account_stays_within_its_limit() {
    let api = mcp::api();
    acme(&api);
    platform(&api, |_| {
        let items = json!({"items": vec!["x".repeat(50); 2000]}).to_string();
        Ok(platform_response(200, &[("content-type", "application/json")], &items))
    });
    let mut arguments = get_thing("acme");
    arguments["maxBytes"] = 5000.into();
    let returned = tool(&api, "run_action", &arguments);
    let text = returned["content"][0]["text"].as_str().unwrap();
    assert!((4000..=5000).contains(&text.len()), "{}", text.len());
    assert!(text.starts_with("{\"connection\":{\"id\":"), "{text}");
}

/// A call must not go to another account because the one that the user expects has failed.
#[test]
fn an_account_that_failed_is_still_one_to_choose_from() {
    let api = mcp::api();
    let first = acme(&api);
    respond_with_thing(&api);
    let fails = "UPDATE connections SET state = 'failed', active = 0";
    api.env.database.execute(fails, []).unwrap();
    // The only account is used, so that the user gets the link that connects it again.
    let refusal = call_tool_as_ann(&api, "run_action", &get_thing("acme"));
    let problem = &refusal["structuredContent"];
    assert_eq!(problem["code"], "connection_failed", "{refusal}");
    assert!(problem["authorizationUrl"].is_string(), "{refusal}");
    let id = first.rsplit('/').next().unwrap();
    assert_eq!(problem["connection"]["id"], id, "{refusal}");

    let other =
        json!({"platform": "acme", "identity": "ann", "identityType": "user", "label": "work"});
    let other = send(&api, "POST", "/v1/vault/connections", &other);
    assert_eq!(other.status, 201, "{}", text(&other));
    let choice = content(&call_tool_as_ann(&api, "run_action", &get_thing("acme")));
    let accounts: Vec<_> = choice["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["key"].as_str().unwrap(), row["state"].as_str().unwrap()))
        .collect();
    let expected = [("test::acme::work::ann", "unknown"), ("test::acme::default::ann", "failed")];
    assert_eq!(accounts, expected, "{choice}");
    let call = json!({"connection": "acme", "path": "/x", "method": "POST"});
    assert!(content(&call_tool_as_ann(&api, "call_platform", &call))["candidates"].is_array());

    // An account that the app has put aside is used only if the agent names it.
    assert_eq!(send(&api, "DELETE", &first, &json!({})).status, 204);
    let path = format!("/v1/vault/connections/{}", body(&other)["id"].as_str().unwrap());
    let aside = json!({"state": "operational", "active": false});
    assert_eq!(send(&api, "PUT", &format!("{path}/state"), &aside).status, 200);
    let choice = content(&call_tool_as_ann(&api, "run_action", &get_thing("acme")));
    assert_eq!(choice["candidates"].as_array().map(Vec::len), Some(1), "{choice}");
    assert_eq!(sent(&api).len(), 0);
}

#[test]
fn an_agent_that_may_connect_no_account_learns_that_none_is_connected() {
    let api = mcp::api();
    set_client(&api, "acme");
    let scopes = ["connections:read", "connections:call", "catalog:read"];
    for payload in [
        json!({"identity": "ann", "scopes": scopes}),
        json!({"identity": "ann", "scopes": scopes, "access": "read"}),
    ] {
        let secret = token(&api, &payload);
        let response = agents::call(&api, "/mcp", &secret, "run_action", &get_thing("acme"));
        let problem = body(&response)["result"]["structuredContent"].clone();
        assert_eq!(problem["code"], "connection_not_found", "{problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.starts_with("No account of `acme` is connected."), "{problem}");
        assert!(detail.contains("the user connects it in the app"), "{problem}");
    }
}

#[test]
fn a_call_that_the_platform_rejects_is_an_error_with_a_next_step() {
    let api = mcp::api();
    acme(&api);
    platform(&api, |_| Ok(platform_response(401, &[], "")));
    let returned = tool(&api, "run_action", &get_thing("acme"));
    let result = content(&returned);
    assert_eq!((&returned["isError"], &result["status"]), (&json!(true), &json!(401)), "{result}");
    assert!(result["hint"].as_str().unwrap().contains("start_connect"), "{result}");
}

#[test]
fn an_agent_connects_a_second_account_by_a_label() {
    let api = mcp::api();
    acme(&api);
    let start = |more: &[(&str, &str)]| {
        let mut arguments = json!({"platform": "acme"});
        for (name, value) in more {
            arguments[*name] = (*value).into();
        }
        call_tool_as_ann(&api, "start_connect", &arguments)["structuredContent"].clone()
    };
    let taken = start(&[]);
    assert!(taken["detail"].as_str().unwrap().contains("another `label`"), "{taken}");
    let started = start(&[("label", "work"), ("connection", ""), ("attempt", "")]);
    assert!(started["authorizationUrl"].is_string(), "{started}");
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
