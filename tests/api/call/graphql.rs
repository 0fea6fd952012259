//! Actions of GraphQL APIs.

use serde_json::{Value, json};

use super::run::run;
use super::*;
use crate::connect::token;
use crate::support::{anonymous, as_secret, units, with_body};

fn stored(key: &str, document: &str, selection: &str) -> Value {
    let schema = json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "id": {"type": "string"}, "first": {"type": ["integer", "null"]}, "select": {"type": "string"},
        },
    });
    json!({
        "title": key, "key": key, "method": "POST", "modelName": "Issue", "parameters": [], "responses": [],
        "facts": {
            "path": "/graphql",
            "graphql": {"document": document, "selection": selection, "first": if key == "query.issues" { Some(20) } else { None }},
        },
        "requestBody": {"required": false, "contentTypes": ["application/json"], "schema": schema},
    })
}

/// Returns a service with three GraphQL actions of `acme`, and the path of a connection.
fn api() -> (Api, String) {
    let all = [
        stored("mutation.issueDelete", "mutation ($id: ID!) { issueDelete(id: $id) }", ""),
        stored("query.issue", "query ($id: ID!) { issue(id: $id) {selection} }", "id title"),
        stored(
            "query.issues",
            "query ($first: Int) { issues(first: $first) {selection} }",
            "nodes { id }",
        ),
    ];
    let api = api_with_platforms(&[], units(json!({}), &all, &[]));
    respond(&api, r#"{"data":{}}"#);
    let path = acme(&api);
    sent(&api);
    (api, path)
}

fn respond(api: &Api, body: &'static str) {
    platform(api, move |_| {
        Ok(platform_response(200, &[("content-type", "application/json")], body))
    });
}

#[test]
fn sends_the_arguments_as_variables_of_a_fixed_document() {
    let (api, path) = api();
    for (key, input, expected) in [
        (
            "query.issue",
            r#"{"body":{"id":"a"}}"#,
            json!({"query": "query ($id: ID!) { issue(id: $id) { id title } }", "variables": {"id": "a"}}),
        ),
        (
            "query.issue",
            r#"{"body":{"id":"a","select":"{ author { name } }"}}"#,
            json!({"query": "query ($id: ID!) { issue(id: $id) { author { name } } }", "variables": {"id": "a"}}),
        ),
        (
            "query.issues",
            "",
            json!({"query": "query ($first: Int) { issues(first: $first) { nodes { id } } }", "variables": {"first": 20}}),
        ),
        (
            "mutation.issueDelete",
            r#"{"arguments":{"id":"a"}}"#,
            json!({"query": "mutation ($id: ID!) { issueDelete(id: $id) }", "variables": {"id": "a"}}),
        ),
    ] {
        let response = run(&api, &path, key, input);
        assert_eq!(response.status, 200, "{key} {input} {}", text(&response));
        let request = sent(&api).pop().unwrap();
        assert_eq!(
            (request.method.as_str(), request.url.as_str()),
            ("POST", "https://api.acme.example/v2/graphql")
        );
        assert!(request.headers.contains(&("content-type".into(), "application/json".into())));
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(body, expected, "{key} {input}");
    }
}

#[test]
fn an_invalid_selection_is_rejected_before_any_request() {
    let (api, path) = api();
    for select in ["id } } mutation { issueDelete(id: 1)", "id }", "", "{ id } { id }"] {
        let input = json!({"body": {"id": "a", "select": select}}).to_string();
        let response = run(&api, &path, "query.issue", &input);
        assert_eq!(response.status, 400, "{select} {}", text(&response));
        assert_eq!(body(&response)["errors"][0]["pointer"], "/body/select", "{}", text(&response));
    }
    assert_eq!(sent(&api).len(), 0);
}

#[test]
fn errors_in_a_response_mark_it_as_failed() {
    let (api, path) = api();
    for (platforms, failed) in [
        (r#"{"data":null,"errors":[{"message":"no"}]}"#, json!(true)),
        (r#"{"data":{"a":1},"errors":[]}"#, Value::Null),
    ] {
        respond(&api, platforms);
        let response = run(&api, &path, "query.issue", r#"{"body":{"id":"a"}}"#);
        assert_eq!(body(&response)["failed"], failed, "{platforms}");
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "run_action",
            "arguments": {
                "connection": path.rsplit('/').next().unwrap(), "key": "query.issue", "input": {"body": {"id": "a"}},
            },
        }});
        let request = with_body(anonymous("POST", "/mcp"), &message.to_string());
        let bearer = format!(
            "Bearer {}",
            token(
                &api,
                &json!({"identity": "ann", "scopes": ["connections:read", "connections:call"]})
            )
        );
        let result = body(&api.send(&with_header(request, "authorization", &bearer)));
        assert_eq!(result["result"]["isError"] == json!(true), failed == json!(true), "{result}");
    }
}

#[test]
fn a_read_only_token_can_run_only_queries() {
    let (api, path) = api();
    let reader = token(
        &api,
        &json!({
            "identity": "ann", "access": "read", "scopes": ["catalog:read", "connections:read", "connections:call"],
        }),
    );
    for (key, status) in [("query.issue", 200), ("mutation.issueDelete", 403)] {
        let request = as_secret(&reader, "POST", &format!("{path}/actions/{key}"));
        let response = api.send(&with_body(request, r#"{"body":{"id":"a"}}"#));
        assert_eq!(response.status, status, "{key} {}", text(&response));
    }
    // The proxy does not parse queries, so it needs write access.
    let request = as_secret(&reader, "POST", &format!("{path}/proxy/graphql"));
    assert_eq!(api.send(&with_body(request, r#"{"query":"{ a }"}"#)).status, 403);
}
