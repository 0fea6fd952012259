//! Changing the state and the name of a connection.

use connector_vault::http::message::Body;
use connector_vault::http::{Request, Response};
use serde_json::{Value, json};

use crate::counters::wrong_counters;
use crate::support::{Api, body, with_body, with_header};
use crate::vault::{CONNECTIONS, SUMMARY, at, code, faults, minimal, name, state};

const STATES: [&str; 4] = ["operational", "degraded", "failed", "unknown"];

fn put_state(api: &Api, path: &str, document: &Value) -> Response {
    api.send(&with_body(api.request("PUT", path), &document.to_string()))
}

/// Creates a connection with the state `unknown`, the name `Ann` and two tags. Returns its document
/// and its id.
fn create_one(api: &Api) -> (Value, String) {
    let mut document = minimal("ann");
    document["tags"] = json!(["a", "b"]);
    document["name"] = json!("Ann");
    let created = api.create(&document);
    let id = created["id"].as_str().unwrap().to_owned();
    (created, id)
}

/// The stored reasons.
fn reasons(api: &Api) -> Vec<String> {
    api.env.texts("SELECT quote(state_reason) FROM connections")
}

#[test]
fn setting_a_state_updates_the_counters() {
    let api = Api::with_catalog();
    let (mut expected, id) = create_one(&api);
    // The request body, the connection's version after the request, and the reason that is stored.
    for (sent, version, reason) in [
        (json!({"state": "operational"}), 2, "NULL"),
        (json!({"state": "operational"}), 2, "NULL"),
        (json!({"state": "operational", "active": true}), 2, "NULL"),
        (json!({"state": "degraded", "reason": "slow"}), 3, "'slow'"),
        (json!({"state": "degraded"}), 3, "'slow'"),
        (json!({"state": "degraded", "reason": "slow"}), 3, "'slow'"),
        (json!({"state": "degraded", "reason": "slower"}), 4, "'slower'"),
        (json!({"state": "degraded", "active": false}), 5, "'slower'"),
        (json!({"state": "failed"}), 6, "NULL"),
        (json!({"state": "failed", "reason": "it's \"revoked\""}), 7, "'it''s \"revoked\"'"),
        (json!({"state": "unknown", "active": true}), 8, "NULL"),
        (json!({"active": false, "state": "failed", "reason": "x".repeat(256)}), 9, "'xxx"),
        (json!({"state": "operational", "active": true}), 10, "NULL"),
    ] {
        let response = put_state(&api, &state(&id), &sent);
        expected["state"] = sent["state"].clone();
        expected["version"] = json!(version.to_string());
        if let Some(active) = sent.get("active") {
            expected["active"] = active.clone();
        }
        assert_eq!((response.status, body(&response)), (200, expected.clone()), "{sent}");
        assert_eq!(response.header("etag"), Some(format!("\"{id}-{version}\"").as_str()));
        assert_eq!(response.header("cache-control"), Some("private, no-store"));
        assert!(response.header("server-timing").unwrap().starts_with("d1;desc=\"calls=1 "));
        assert_eq!(body(&api.get(&at(&id))), expected, "{sent}");
        assert!(reasons(&api)[0].starts_with(reason), "{sent}: {:?}", reasons(&api));
        let (active, other) = (&expected["active"], !expected["active"].as_bool().unwrap());
        let listed = |query: &str| body(&api.get(&format!("{CONNECTIONS}?{query}")));
        assert_eq!(listed(&format!("active={active}&tags=a,b"))["rows"], json!([expected]));
        assert_eq!(listed(&format!("active={other}"))["total"], 0);
        let summary = body(&api.get(SUMMARY));
        for one in STATES {
            assert_eq!(summary["state"][one], u64::from(one == sent["state"]), "{sent}: {one}");
        }
        assert_eq!(wrong_counters(&api.env), [""; 0], "{sent}");
    }
}

#[test]
fn a_new_name_can_be_searched() {
    let api = Api::with_catalog();
    let (mut expected, id) = create_one(&api);
    for (sent, version) in [
        (json!("Ann"), 1),
        (json!("ANN"), 2),
        (json!("Work, at \"home\" 100%_"), 3),
        (json!("名前 É"), 4),
        (json!("é".repeat(128)), 5),
        (json!(null), 6),
        (json!(null), 6),
        (json!("ann@example.com"), 7),
        (json!("Ann"), 8),
    ] {
        let response = put_state(&api, &name(&id), &json!({"name": sent}));
        expected["name"] = sent.clone();
        expected["version"] = json!(version.to_string());
        assert_eq!((response.status, body(&response)), (200, expected.clone()), "{sent}");
        assert_eq!(response.header("etag"), Some(format!("\"{id}-{version}\"").as_str()));
        assert!(response.header("server-timing").unwrap().starts_with("d1;desc=\"calls=1 "));
        if let Some(text) = sent.as_str() {
            let beginning: String = text.chars().take(3).collect();
            for (parameter, value) in [("name", text.to_lowercase()), ("q", beginning)] {
                let query = format!("{CONNECTIONS}?{parameter}={}", crate::vault::encode(&value));
                assert_eq!(body(&api.get(&query))["rows"], json!([expected]), "{query}");
            }
        }
        let old = body(&api.get(&format!("{CONNECTIONS}?name=Ann")))["total"].clone();
        assert_eq!(old, u64::from(sent.as_str().is_some_and(|text| text.to_lowercase() == "ann")));
        assert_eq!(wrong_counters(&api.env), [""; 0], "{sent}");
    }
}

#[test]
fn rejects_invalid_states_and_names_without_a_write() {
    let api = Api::with_catalog();
    let (_, id) = create_one(&api);
    let before = api.env.dump();
    let (states, names) = (state(&id), name(&id));
    let long = format!("{{\"state\":\"failed\",\"reason\":\"{}\"}}", "x".repeat(257));
    let long_name = format!("{{\"name\":\"{}\"}}", "x".repeat(129));
    for (path, sent, errors) in [
        (&states, "", vec![""]),
        (&states, "null", vec![""]),
        (&states, "\"failed\"", vec![""]),
        (&states, "{", vec![""]),
        (&states, "{}", vec!["/state"]),
        (&states, r#"{"state":null}"#, vec!["/state"]),
        (&states, r#"{"state":"Failed"}"#, vec!["/state>failed"]),
        (&states, r#"{"state":7,"active":1,"reason":null}"#, vec!["/active", "/reason", "/state"]),
        (&states, r#"{"active":true}"#, vec!["/state"]),
        (&states, r#"{"state":"failed","active":null}"#, vec!["/active"]),
        (&states, r#"{"state":"failed","active":"false"}"#, vec!["/active"]),
        (&states, r#"{"state":"failed","reason":""}"#, vec!["/reason"]),
        (&states, r#"{"state":"failed","reason":"a\u0000"}"#, vec!["/reason"]),
        (&states, &long, vec!["/reason"]),
        (&states, r#"{"state":"failed","state":"failed"}"#, vec!["/state"]),
        (&states, r#"{"state":"failed","reasons":"x"}"#, vec!["/reasons>reason"]),
        (&names, "", vec![""]),
        (&names, "\"Ann\"", vec![""]),
        (&names, "{}", vec!["/name"]),
        (&names, r#"{"name":""}"#, vec!["/name"]),
        (&names, r#"{"name":7}"#, vec!["/name"]),
        (&names, r#"{"name":["Ann"]}"#, vec!["/name"]),
        (&names, r#"{"name":"a\nb"}"#, vec!["/name"]),
        (&names, &long_name, vec!["/name"]),
        (&names, r#"{"name":"Ann","name":null}"#, vec!["/name"]),
        (&names, r#"{"Name":"Ann"}"#, vec!["/Name>name", "/name"]),
    ] {
        let calls = api.env.db_calls.get();
        let response = api.send(&with_body(api.request("PUT", path), sent));
        assert_eq!((response.status, code(&response).as_str()), (400, "invalid_body"), "{sent}");
        assert_eq!(faults(&response), errors, "{sent}");
        assert_eq!(api.env.db_calls.get() - calls, 1, "{sent}");
        assert_eq!(api.env.dump(), before, "{sent}");
    }
    for path in [&states, &names] {
        let good = if path == &states { r#"{"state":"failed"}"# } else { r#"{"name":"x"}"# };
        let requested = |query: &str| api.request("PUT", &format!("{path}{query}"));
        let with_body_type = |body: Body| Request { body, ..with_body(requested(""), good) };
        let untyped = Request { body: Body::Whole(good.into()), ..requested("") };
        for (request, status, expected) in [
            (untyped, 415, "unsupported_media_type"),
            (with_body_type(Body::TooLarge), 413, "body_too_large"),
            (with_body(requested("?x=1"), good), 400, "unknown_parameter"),
        ] {
            let response = api.send(&request);
            assert_eq!((response.status, code(&response).as_str()), (status, expected), "{path}");
            assert_eq!(api.env.dump(), before, "{path}");
        }
    }
}

#[test]
fn if_match_guards_state_and_name() {
    let api = Api::with_catalog();
    let (_, id) = create_one(&api);
    assert_eq!(put_state(&api, &name(&id), &json!({"name": "v2"})).status, 200);
    let before = api.env.dump();
    let bodies = [(state(&id), json!({"state": "failed"})), (name(&id), json!({"name": "late"}))];
    for (path, document) in &bodies {
        let guarded = |value: &str| {
            let request = with_body(api.request("PUT", path), &document.to_string());
            api.send(&with_header(request, "if-match", value))
        };
        for value in [format!("\"{id}-1\""), format!("W/\"{id}-2\""), "\"x\"".into()] {
            let response = guarded(&value);
            let reply = (response.status, code(&response));
            assert_eq!(reply, (412, "precondition_failed".into()), "{path} {value}");
            assert_eq!(api.env.dump(), before, "{path} {value}");
        }
    }
    for (index, (path, document)) in (2..).zip(&bodies) {
        let request = with_body(api.request("PUT", path), &document.to_string());
        let value = format!("\"x\", \"{id}-{index}\"");
        let response = api.send(&with_header(request, "if-match", &value));
        assert_eq!(
            (response.status, &body(&response)["version"]),
            (200, &json!(format!("{}", index + 1)))
        );
    }
}
