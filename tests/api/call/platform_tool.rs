//! The tool `call_platform`, which calls a platform's API without an action.

use serde_json::{Value, json};

use super::mcp::{api, content, tool};
use super::*;

fn call(api: &Api, id: &str, extra: &Value) -> Value {
    let mut arguments = json!({"connection": id, "path": "/tickets"});
    for (name, value) in extra.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    tool(api, "call_platform", &arguments)
}

#[test]
fn an_agent_calls_the_platform_of_a_connection() {
    let api = api();
    let path = acme(&api);
    let id = path.rsplit('/').next().unwrap();
    let json_type = [("content-type", "application/json")];
    platform(&api, move |_| {
        Ok(platform_response(200, &json_type, r#"{"items":[{"id":1},{"id":2}]}"#))
    });
    let got = call(&api, id, &json!({"query": {"state": "open"}, "select": ["/items/*/id"]}));
    assert_eq!(
        (&got["isError"], got.get("structuredContent"), &content(&got)["status"]),
        (&json!(false), None, &json!(200))
    );
    assert_eq!(content(&got)["body"], json!({"items": [{"id": 1}, {"id": 2}]}));
    let posted =
        call(&api, id, &json!({"method": "POST", "body": {"title": "x"}, "maxBytes": 500}));
    assert_eq!(posted["isError"], false);
    let sent = sent(&api);
    let [get, post] = &sent[sent.len() - 2..] else { panic!("{sent:?}") };
    assert_eq!(
        (get.method.as_str(), get.url.as_str()),
        ("GET", "https://api.acme.example/v2/tickets?state=open")
    );
    assert_eq!(
        (post.method.as_str(), post.body.as_slice()),
        ("POST", br#"{"title":"x"}"#.as_slice())
    );
    let names: Vec<&str> = post.headers.iter().map(|(name, _)| name.as_str()).collect();
    // Headers of the MCP protocol are not forwarded.
    for name in &names {
        assert!(
            ["accept", "authorization", "content-type", "user-agent"].contains(name),
            "{names:?}"
        );
    }
}

#[test]
fn an_agents_proxy_call_reaches_only_the_connections_server() {
    let api = api();
    let path = acme(&api);
    let id = path.rsplit('/').next().unwrap();
    sent(&api);
    for (extra, code) in [
        (json!({"path": "../../../v1/keys"}), "invalid_parameter"),
        (json!({"path": "%2e%2e/x"}), "invalid_parameter"),
        (json!({"path": "https://evil.example/x"}), "invalid_parameter"),
        (json!({"connection": "x/../y"}), "connection_not_found"),
        (json!({"body": {}}), "invalid_body"),
        (json!({"select": ["items"]}), "invalid_body"),
    ] {
        let refusal = call(&api, id, &extra);
        assert_eq!(
            (&refusal["isError"], &refusal["structuredContent"]["code"]),
            (&json!(true), &json!(code)),
            "{extra}"
        );
    }
    for (extra, message) in [
        (
            json!({"method": "HEAD"}),
            "`method` must be one of `GET`, `POST`, `PUT`, `PATCH`, `DELETE`.",
        ),
        (json!({"maxBytes": 499}), "`maxBytes` must be a whole number from 500 to 8388608."),
    ] {
        assert_eq!(call(&api, id, &extra)["content"][0]["text"], message);
    }
    assert_eq!(sent(&api).len(), 0);
}

#[test]
fn a_long_proxy_response_is_truncated_like_an_action_response() {
    let api = api();
    let path = acme(&api);
    let id = path.rsplit('/').next().unwrap();
    let long = json!({"text": "x".repeat(9000)}).to_string();
    let json_type = [("content-type", "application/json")];
    platform(&api, move |_| Ok(platform_response(200, &json_type, &long)));
    let got = call(&api, id, &json!({"maxBytes": 600}));
    let text = got["content"][0]["text"].as_str().unwrap();
    assert!(text.len() <= 600, "{}", text.len());
    assert_eq!(content(&got)["omitted"]["parts"][0]["pointer"], "/body/text");
}

#[test]
fn a_result_names_the_next_page_and_the_time_of_a_retry() {
    let api = api();
    let path = acme(&api);
    let id = path.rsplit('/').next().unwrap();
    platform(&api, |request| {
        Ok(if request.url.ends_with("/tickets?page=2") {
            platform_response(200, &[("content-type", "application/json")], "[2]")
        } else {
            let link = "<https://api.acme.example/v2/tickets?page=2>; rel=\"next\"";
            platform_response(200, &[("content-type", "application/json"), ("link", link)], "[1]")
        })
    });
    let first = content(&call(&api, id, &json!({})));
    assert_eq!((&first["body"], &first["next"]), (&json!([1]), &json!("tickets?page=2")));
    let second = content(&call(&api, id, &json!({"path": first["next"]})));
    assert_eq!((&second["body"], second.get("next")), (&json!([2]), None));
    assert_eq!(second.get("retryAt"), None);
    platform(&api, |_| Ok(platform_response(429, &[("retry-after", "60")], "")));
    let refusal = content(&call(&api, id, &json!({})));
    let time = connector_vault::util::rfc3339::rfc3339(api.env.now.get() + 60_000);
    assert_eq!((&refusal["status"], &refusal["retryAt"]), (&json!(429), &json!(time.unwrap())));
    // Callers other than agents get the time of the retry in a header.
    let response =
        send(&api, "POST", &format!("{path}/actions/getThing"), &json!({"path": {"id": 1}}));
    assert!(response.header("x-vault-retry-at").is_some());
    assert_eq!(body(&response).get("retryAt"), None);
}
