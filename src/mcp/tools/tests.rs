use serde_json::json;

use super::{ArgumentType, TOOLS};

#[test]
fn each_tool_sends_its_request() {
    for (name, arguments, method, path, query, body) in [
        (
            "search_actions",
            json!({"query": "a b", "platform": "acme", "limit": 5.0}),
            "GET",
            "/v1/available-actions",
            "q=a%20b&platform=acme&limit=5",
            None,
        ),
        (
            "search_actions",
            json!({"query": "x", "page": 2}),
            "GET",
            "/v1/available-actions",
            "q=x&limit=10&page=2",
            None,
        ),
        (
            "describe_action",
            json!({"platform": "a/b", "key": "k?"}),
            "GET",
            "/v1/available-actions/a%2Fb/k%3F",
            "",
            None,
        ),
        (
            "describe_action",
            json!({"platform": "a", "key": "k", "for": "model"}),
            "GET",
            "/v1/available-actions/a/k",
            "for=model",
            None,
        ),
        (
            "run_action",
            json!({"connection": "c", "key": "k", "arguments": {"a": 1}, "maxBytes": 500}),
            "POST",
            "/v1/vault/connections/c/actions/k",
            "",
            Some(r#"{"arguments":{"a":1},"maxBytes":500}"#),
        ),
        (
            "list_connections",
            json!({"identity": "ann", "limit": 7}),
            "GET",
            "/v1/vault/connections",
            "identity=ann&include=account&limit=7",
            None,
        ),
        (
            "run_action",
            json!({"connection": "../x", "key": "k"}),
            "POST",
            "/v1/vault/connections/..%2Fx/actions/k",
            "",
            Some(r#"{"maxBytes":24000}"#),
        ),
        (
            "start_connect",
            json!({"platform": "acme"}),
            "POST",
            "/v1/vault/connect",
            "",
            Some(r#"{"platform":"acme","link":true}"#),
        ),
        (
            "call_platform",
            json!({"connection": "c", "path": "/a b/../{c}?x=1#y", "query": {"k": "v&", "l": [1, true], "n": null}}),
            "GET",
            "/v1/vault/connections/c/proxy/a%20b/../%7Bc%7D",
            "x=1&k=v%26&l=1&l=true",
            None,
        ),
        (
            "call_platform",
            json!({"connection": "c", "path": "t", "method": "PATCH", "body": [1]}),
            "PATCH",
            "/v1/vault/connections/c/proxy/t",
            "",
            Some("[1]"),
        ),
        (
            "start_connect",
            json!({"attempt": "../x"}),
            "GET",
            "/v1/vault/connect/..%2Fx",
            "wait=25",
            None,
        ),
    ] {
        let tool = TOOLS.iter().find(|tool| tool.name == name).unwrap();
        let given = arguments.as_object().unwrap();
        let sent = tool.api_request(given);
        assert_eq!((sent.0, sent.1.as_str(), sent.2.as_str()), (method, path, query));
        assert_eq!(sent.3.as_deref(), body.map(str::as_bytes), "{name}");
    }
}

#[test]
fn schemas_and_checks_agree() {
    let schema = ArgumentType::IntegerUpTo(50).schema("x");
    assert_eq!(schema, json!({"type": "integer", "minimum": 1, "maximum": 50, "description": "x"}));
    assert_eq!(ArgumentType::Text.schema("x"), json!({"type": "string", "description": "x"}));
    assert_eq!(ArgumentType::Object.schema("x"), json!({"type": "object", "description": "x"}));
    for (kind, value, is_valid) in [
        (ArgumentType::IntegerUpTo(50), json!(1), true),
        (ArgumentType::IntegerUpTo(50), json!(50.0), true),
        (ArgumentType::IntegerUpTo(50), json!(0), false),
        (ArgumentType::IntegerUpTo(50), json!(51), false),
        (ArgumentType::IntegerUpTo(50), json!(1.5), false),
        (ArgumentType::IntegerUpTo(50), json!("1"), false),
        (ArgumentType::Text, json!("x"), true),
        (ArgumentType::Text, json!(""), false),
        (ArgumentType::Text, json!(1), false),
        (ArgumentType::Object, json!({}), true),
        (ArgumentType::Object, json!([]), false),
        (ArgumentType::StringList, json!(["a"]), true),
        (ArgumentType::StringList, json!([1]), false),
    ] {
        assert_eq!(kind.value_error(&value).is_none(), is_valid, "{value}");
    }
}

#[test]
fn parses_values_sent_as_strings() {
    let tool = TOOLS.iter().find(|tool| tool.name == "run_action").unwrap();
    for (given, read) in [
        (
            json!({"input": "{\"query\":{}}", "maxBytes": "5000"}),
            json!({"input": {"query": {}}, "maxBytes": 5000}),
        ),
        (json!({"select": "[\"/a\"]", "key": "5"}), json!({"select": ["/a"], "key": "5"})),
        (json!({"select": "/a/*/b"}), json!({"select": ["/a/*/b"]})),
        (json!({"input": "[]", "maxBytes": "x"}), json!({"input": "[]", "maxBytes": "x"})),
        (json!({"input": null, "other": "1"}), json!({"other": "1"})),
        // Models that must fill in each argument send blank strings and empty objects.
        (json!({"approval": "", "select": " ", "key": ""}), json!({"key": ""})),
        (json!({"input": {}, "arguments": {"a": 1}}), json!({"arguments": {"a": 1}})),
        (json!({"input": {"a": 1}, "arguments": {}}), json!({"input": {"a": 1}})),
        (json!({"input": {}, "arguments": ""}), json!({"input": {}})),
        (json!("{\"key\":\"k\"}"), json!({"key": "k"})),
        (json!("k"), json!("k")),
        (json!(null), json!({})),
    ] {
        assert_eq!(tool.read(Some(&given)), read, "{given}");
    }
    assert_eq!(tool.read(None), json!({}));
    let tool = TOOLS.iter().find(|tool| tool.name == "search_actions").unwrap();
    for (given, read) in [(json!(["a", "b"]), json!("a,b")), (json!("a"), json!("a"))] {
        assert_eq!(tool.read(Some(&json!({"platform": given}))), json!({"platform": read}));
    }
    let tool = TOOLS.iter().find(|tool| tool.name == "call_platform").unwrap();
    for (given, read) in [("get", "GET"), ("Patch", "PATCH"), ("FETCH", "FETCH")] {
        assert_eq!(tool.read(Some(&json!({"method": given}))), json!({"method": read}));
    }
}
