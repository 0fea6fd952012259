//! The trace context of calls to platforms, and the spans that the collector receives.

use std::cell::Cell;

use connector_vault::ports::HttpError;
use serde_json::{Value, json};

use super::*;
use crate::support::with_body;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";
const COLLECTOR: [(&str, &str); 2] =
    [("OTLP_URL", "https://otlp.example"), ("OTLP_HEADERS", "x-otlp-key=of-collector")];

fn traceparent(flags: &str) -> String {
    format!("00-{TRACE}-{PARENT}-{flags}")
}

/// Calls the proxy with these headers. Returns the request to the platform.
fn call_proxy(api: &Api, path: &str, headers: &[(&'static str, &str)]) -> HttpRequest {
    let mut request = api.request("GET", path);
    for (name, value) in headers {
        request = with_header(request, name, value);
    }
    sent(api);
    assert!(api.send(&request).status < 500);
    sent(api).pop().unwrap()
}

/// The spans that the collector has received since the last call, grouped by request.
fn spans(api: &Api) -> Vec<Vec<Value>> {
    let requests = api.env.background_requests.take();
    let read = |request: &HttpRequest| {
        assert_eq!(request.url, "https://otlp.example/v1/traces");
        assert_eq!(header(request, "x-otlp-key"), Some("of-collector"));
        assert_eq!(header(request, "content-type"), Some("application/json"));
        let document: Value = serde_json::from_slice(&request.body).unwrap();
        let resource = &document["resourceSpans"][0];
        assert_eq!(attribute(&resource["resource"], "service.name"), json!("connector-vault"));
        resource["scopeSpans"][0]["spans"].as_array().unwrap().clone()
    };
    requests.iter().map(read).collect()
}

/// The value of an attribute; null if the span lacks it.
fn attribute(span: &Value, key: &str) -> Value {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|one| one["key"] == key);
    found.map_or(Value::Null, |one| {
        let value = &one["value"];
        value.get("stringValue").or_else(|| value.get("intValue")).unwrap().clone()
    })
}

#[test]
fn valid_trace_context_is_forwarded_and_invalid_is_dropped() {
    let api = api_with_platforms(&[], Units::default());
    platform(&api, |_| Ok(platform_response(200, &[], "")));
    let path = format!(
        "{}/proxy/things",
        connection_with(&api, "bearer", &json!({"type": "bearer", "token": "t"}))
    );
    let valid = traceparent("01");
    let invalid = valid.to_uppercase();
    for (parent, state, passed) in [
        (Some(valid.as_str()), Some("a=1"), (Some(valid.as_str()), Some("a=1"))),
        (Some(&valid), None, (Some(&valid), None)),
        (Some(&valid), Some("A=1"), (Some(&valid), None)),
        (Some(&invalid), Some("a=1"), (None, None)),
        (None, Some("a=1"), (None, None)),
        (None, None, (None, None)),
    ] {
        let headers = [("traceparent", parent), ("tracestate", state)];
        let headers: Vec<_> =
            headers.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let request = call_proxy(&api, &path, &headers);
        let got = (header(&request, "traceparent"), header(&request, "tracestate"));
        assert_eq!(got, passed, "{headers:?}");
    }
    assert!(api.env.background_requests.borrow().is_empty());
}

#[test]
fn the_span_of_a_call_is_the_parent_at_the_platform() {
    let api = api_with_platforms(&COLLECTOR, Units::default());
    platform(&api, |_| Ok(platform_response(200, &[], "")));
    let path = format!("{}/proxy/secret/path?key=of-query", acme(&api));
    let parent = traceparent("01");
    let request = call_proxy(&api, &path, &[("traceparent", &parent), ("tracestate", "a=1")]);
    let bodies = api.env.background_requests.borrow()[0].body.clone();
    let [span] = &spans(&api)[0][..] else { panic!("one span") };
    assert_eq!((&span["traceId"], &span["parentSpanId"]), (&json!(TRACE), &json!(PARENT)));
    let id = span["spanId"].as_str().unwrap();
    assert_eq!(header(&request, "traceparent"), Some(format!("00-{TRACE}-{id}-01").as_str()));
    assert_eq!(header(&request, "tracestate"), Some("a=1"));
    assert_eq!(span["traceState"], "a=1");
    assert_eq!((&span["name"], &span["kind"]), (&json!("GET"), &json!(3)));
    assert_eq!(
        (&span["status"], &span["startTimeUnixNano"]),
        (&json!({}), &json!("1800000000000000000"))
    );
    for (key, value) in [
        ("http.request.method", "GET"),
        ("http.response.status_code", "200"),
        ("server.address", "api.acme.example"),
        ("server.port", "443"),
        ("url.scheme", "https"),
        ("url.full", "https://api.acme.example/REDACTED"),
        ("connector_vault.platform", "acme"),
        ("connector_vault.account", "acme"),
        ("connector_vault.environment", "test"),
    ] {
        assert_eq!(attribute(span, key), json!(value), "{key}");
    }
    for absent in ["error.type", "http.request.resend_count", "connector_vault.action"] {
        assert_eq!(attribute(span, absent), Value::Null);
    }
    // A span contains no secret, path, query or identity.
    let text = String::from_utf8(bodies).unwrap();
    for kept in ["at-1", "rt-1", "/path", "of-query", "\"ann\"", "of-collector"] {
        assert!(!text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn a_call_without_a_sampled_context_starts_a_trace_or_none() {
    let api = api_with_platforms(&COLLECTOR, Units::default());
    platform(&api, |_| Ok(platform_response(200, &[], "")));
    let path = format!("{}/proxy/things", acme(&api));
    // Without the caller's trace context, the platform gets none either.
    assert_eq!(header(&call_proxy(&api, &path, &[]), "traceparent"), None);
    let root = &spans(&api)[0][0];
    assert_eq!((root["traceId"].as_str().unwrap().len(), root.get("parentSpanId")), (32, None));
    let parent = traceparent("00");
    let request = call_proxy(&api, &path, &[("traceparent", &parent)]);
    assert_eq!(header(&request, "traceparent"), Some(parent.as_str()));
    assert!(spans(&api).is_empty());
}

#[test]
fn actions_have_spans_and_a_request_sends_its_spans_together() {
    let api = run::api_with(&COLLECTOR);
    let tries = Cell::new(0);
    platform(&api, move |_| {
        tries.set(tries.get() + 1);
        Ok(if tries.get() == 1 {
            platform_response(503, &[("retry-after", "1")], "")
        } else {
            platform_response(200, &[("content-type", "application/json")], "{}")
        })
    });
    let path = format!("{}/actions/getThing", acme(&api));
    let input = json!({"path": {"id": 7}});
    let parent = traceparent("01");
    let request = with_header(api.request("POST", &path), "traceparent", &parent);
    let request = with_header(request, "x-vault-retries", "1");
    let response = api.send(&with_body(request, &input.to_string()));
    assert_eq!(response.status, 200, "{}", text(&response));
    let requests = sent(&api);
    let all = spans(&api);
    let [first, second] = &all[0][..] else { panic!("{all:?}") };
    assert_eq!(all.len(), 1);
    for (span, request) in [first, second].into_iter().zip(&requests) {
        let id = span["spanId"].as_str().unwrap();
        assert_eq!(header(request, "traceparent"), Some(format!("00-{TRACE}-{id}-01").as_str()));
        assert_eq!(attribute(span, "connector_vault.action"), json!("getThing"));
    }
    assert_eq!(
        (&first["status"], attribute(first, "error.type")),
        (&json!({"code": 2}), json!("503"))
    );
    assert_eq!(attribute(first, "http.request.resend_count"), Value::Null);
    assert_eq!(attribute(second, "http.request.resend_count"), json!("1"));
    assert_ne!(first["spanId"], second["spanId"]);
    // Reading the vault calls no platform.
    assert_eq!(api.get("/v1/vault/connections").status, 200);
    assert!(spans(&api).is_empty());
}

#[test]
fn a_call_that_fails_has_a_span_with_the_code_of_the_problem() {
    let api = api_with_platforms(&COLLECTOR, Units::default());
    let path = format!("{}/proxy/things", acme(&api));
    for (error, code) in [
        (HttpError::TimedOut, "platform_timeout"),
        (HttpError::Unreachable, "platform_unreachable"),
    ] {
        platform(&api, move |_| Err(error));
        assert!(call(&api, "GET", &path, "").status >= 500);
        let span = &spans(&api)[0][0];
        assert_eq!(
            (attribute(span, "error.type"), &span["status"]),
            (json!(code), &json!({"code": 2}))
        );
        assert_eq!(attribute(span, "http.response.status_code"), Value::Null);
    }
}
