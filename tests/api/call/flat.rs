//! Action input as one flat object, the format of language models' tool definitions.

use serde_json::{Value, json};

use super::run::{api, json_response, run};
use super::*;
use crate::support::with_header;

const ACTION: &str = "/v1/available-actions/acme/createThing";

#[test]
fn an_action_is_returned_as_a_tool_definition_for_language_models() {
    let api = api();
    let nested = api.get(ACTION);
    let flat = api.get(&format!("{ACTION}?for=model"));
    let expected = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "X-Trace": {"type": "string"},
            "name": {"type": "string", "minLength": 1},
            "notify": {"type": "array", "items": {"enum": ["mail", "push"], "type": "string"}},
            "owner": {"type": "string", "maxLength": 10},
            "parts": {"type": "array", "items": {"$ref": "#/$defs/thing"}},
            "size": {"type": "integer"},
        },
        "required": ["name", "owner"],
        "additionalProperties": false,
        "$defs": body(&nested)["input"]["$defs"],
    });
    let mut all = body(&nested);
    all["input"] = expected;
    assert_eq!(body(&flat), all);
    // Each input format has its own entity tag.
    assert_ne!(flat.header("etag"), nested.header("etag"));
    let request = api.request("GET", &format!("{ACTION}?for=model"));
    let tag = flat.header("etag").unwrap();
    assert_eq!(api.send(&with_header(request, "if-none-match", tag)).status, 304);
    let refusal = api.get(&format!("{ACTION}?for=human"));
    assert_eq!((refusal.status, &body(&refusal)["code"]), (400, &json!("invalid_parameter")));
}

#[test]
fn an_action_is_run_with_flat_arguments() {
    let api = api();
    let path = acme(&api);
    json_response(&api, 201, r#"{"id":7}"#);
    let flat = r#"{"arguments":{"owner":"a b","notify":["mail"],"X-Trace":"t","name":"é","size":1.0},"select":["/id"]}"#;
    let nested = r#"{"path":{"owner":"a b"},"query":{"notify":["mail"]},"header":{"X-Trace":"t"},"body":{"name":"é","size":1.0},"select":["/id"]}"#;
    let responses =
        [flat, nested].map(|input| text(&run(&api, &path, "createThing", input)).clone());
    assert_eq!(responses[0], responses[1]);
    let requests = sent(&api);
    assert_eq!(requests.len(), 2, "{}", responses[0]);
    assert_eq!((&requests[0].url, &requests[0].headers), (&requests[1].url, &requests[1].headers));
    assert_eq!(requests[0].body, requests[1].body);
    assert!(requests[0].url.ends_with("/owners/a%20b/things?notify=mail"), "{}", requests[0].url);
}

#[test]
#[rustfmt::skip] // one case per line
fn errors_point_to_the_flat_argument() {
    let api = api();
    let path = acme(&api);
    for (input, pointers, detail) in [
        (r#"{"arguments":{"owner":1,"name":"","parts":[{"name":2}]}}"#, vec!["/arguments/name", "/arguments/owner", "/arguments/parts/0/name"], "`arguments/"),
        (r#"{"arguments":{"owner":"a"}}"#, vec!["/arguments/name"], "is required"),
        (r#"{"arguments":{"owner":"a","nmae":"b"}}"#, vec!["/arguments/nmae"], "did you mean `name`?"),
        (r#"{"arguments":{"path":{"owner":"a"},"name":"b"}}"#, vec!["/arguments/path"], "is unknown"),
        (r#"{"arguments":{"owner":"a"},"body":{"name":"b"}}"#, vec!["/arguments"], "can't be sent together with `body`"),
        (r#"{"arguments":[]}"#, vec!["/arguments"], "must be an object"),
        (r#"{"arguments":null}"#, vec!["/arguments"], "must be an object"),
        (r#"{"arguments":{"owner":"a","owner":"b","name":"c"}}"#, vec!["/arguments/owner"], "is given more than once"),
        (r#"{"arguments":{"owner":"a","name":"b","parts":[{"name":"c","name":"d"}]}}"#, vec!["/arguments/parts/0/name"], "is given more than once"),
        (r#"{"arguments":{"owner":"..","name":"b"}}"#, vec!["/arguments/owner"], "must not be empty"),
    ] {
        let response = run(&api, &path, "createThing", input);
        let problem = body(&response);
        assert_eq!((response.status, &problem["code"]), (400, &json!("invalid_body")), "{input}");
        let mut found: Vec<&str> = problem["errors"].as_array().unwrap().iter().map(|one| one["pointer"].as_str().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, pointers, "{problem}");
        assert!(problem.to_string().contains(detail), "{problem}");
    }
    assert_eq!(sent(&api).len(), 0);
}

#[test]
fn an_agent_runs_an_action_with_flat_arguments() {
    let api = api();
    let path = acme(&api);
    let id = path.rsplit('/').next().unwrap();
    json_response(&api, 201, r#"{"id":7}"#);
    let described = mcp::tool(
        &api,
        "describe_action",
        &json!({"platform": "acme", "key": "createThing", "for": "model"}),
    );
    assert_eq!(mcp::content(&described)["input"]["required"], json!(["name", "owner"]));
    let given = |arguments: &Value, more: &Value| {
        let mut all = json!({"connection": id, "key": "createThing", "arguments": arguments});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        mcp::tool(&api, "run_action", &all)
    };
    // Flat input also accepts values that clients write as strings.
    let returned =
        given(&json!({"owner": "a", "name": "b", "size": "3", "parts": "[]"}), &json!({}));
    assert_eq!(mcp::content(&returned)["body"], json!({"id": 7}), "{returned}");
    let requests = sent(&api);
    let posted: Value = serde_json::from_slice(&requests[0].body).unwrap();
    assert_eq!(posted, json!({"name": "b", "size": 3, "parts": []}));
    let both = given(&json!({"owner": "a"}), &json!({"input": {"path": {"owner": "a"}}}));
    assert_eq!(both["isError"], true);
    assert!(both.to_string().contains("can't be given together"), "{both}");
    assert_eq!(sent(&api).len(), 0);
}
