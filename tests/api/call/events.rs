//! Events of calls to platforms.

use connector_vault::catalog::action::unit::Units;
use connector_vault::ports::HttpError;
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use super::*;
use crate::connect::{as_token, token};
use crate::support::as_key;

const EVENTS: &str = "/v1/events?types=connection.called&limit=500";

fn api(sampled: &str) -> Api {
    let api = api_with_platforms(&[("CALL_EVENTS", sampled)], Units::default());
    platform(&api, |_| Ok(platform_response(201, &[("x-own", "header-secret")], "body-secret")));
    api
}

/// The events of all calls so far.
fn calls(api: &Api) -> Vec<Value> {
    let page = body(&api.get(EVENTS));
    let rows = page["rows"].as_array().unwrap();
    rows.iter().map(|event| event["data"]["call"].clone()).collect()
}

fn key_id(api: &Api, scopes: &str) -> String {
    let sql = format!("SELECT id FROM api_keys WHERE scopes LIKE '{scopes}'");
    api.env.texts(&sql).first().unwrap().clone()
}

#[test]
fn a_call_event_has_caller_target_and_result() {
    let api = api("");
    let path = acme(&api);
    api.env.background_writes.set(0);
    let response =
        call(&api, "POST", &format!("{path}/proxy/users/a%2Fb?q=query-secret"), "sent-secret");
    assert_eq!(response.status, 201);
    let page = body(&api.get(EVENTS));
    let event = &page["rows"][0];
    let connection = body(&api.get(&path));
    assert_eq!(
        (&event["type"], &event["data"]["connection"]),
        (&json!("connection.called"), &connection)
    );
    let own = key_id(&api, "%");
    let expected = json!({
        "method": "POST", "path": "users/a%2Fb", "status": 201, "error": null, "durationMs": 0, "keyId": own,
        "identity": null,
    });
    assert_eq!(event["data"]["call"], expected);
    assert_eq!(page["rows"].as_array().unwrap().len(), 1);
    assert_eq!(api.env.background_writes.get(), 1);
    let stored = api.env.texts("SELECT quote(call) || quote(connection) FROM events");
    assert!(!stored.concat().contains("-secret"), "{stored:?}");
    // The calls of one connection can be listed, like its other events.
    let id = connection["id"].as_str().unwrap();
    let filtered = body(&api.get(&format!("{EVENTS}&connection={id}")));
    assert_eq!(filtered["rows"], page["rows"]);
    // The actor of a token's call is its identity, with the key that created the token.
    let session_token = token(&api, &json!({"identity": "ann", "scopes": ["connections:call"]}));
    let request = as_token(&session_token, "DELETE", &format!("{path}/proxy/x"), &json!({}));
    assert_eq!(api.send(&request).status, 201);
    let last = calls(&api).pop().unwrap();
    assert_eq!((&last["identity"], &last["keyId"]), (&json!("ann"), &json!(own)));
}

#[test]
fn a_call_event_has_the_error_without_a_response() {
    let api = api("writes");
    let path = acme(&api);
    for (error, code, written) in [
        (HttpError::Unreachable, "platform_unreachable", "platform_unreachable"),
        (HttpError::TimedOut, "platform_timeout", "platform_timeout"),
        // The caller disconnected before this response.
        (HttpError::CallerDisconnected, "platform_unreachable", "caller_disconnected"),
    ] {
        platform(&api, move |_| Err(error));
        assert_eq!(body(&call(&api, "PUT", &format!("{path}/proxy/x"), ""))["code"], code);
        let last = calls(&api).pop().unwrap();
        assert_eq!((&last["status"], &last["error"]), (&Value::Null, &json!(written)));
    }
    // A request that never reaches the platform has no event.
    let none = api.env.key("acme", Environment::Test, &[Scope::ConnectionsRead], None);
    assert_eq!(api.send(&as_key(&none, "POST", &format!("{path}/proxy/x"))).status, 403);
    assert_eq!(call(&api, "POST", &format!("{path}/proxy/..%2fx"), "").status, 400);
    assert_eq!(calls(&api).len(), 3);
}

#[test]
fn the_operator_configures_which_calls_write_events() {
    for (sampled, expected) in [
        ("", &["POST", "DELETE"][..]),
        ("writes", &["POST", "DELETE"]),
        ("all", &["GET", "HEAD", "POST", "DELETE"]),
        ("none", &[]),
    ] {
        let api = api(sampled);
        let path = acme(&api);
        for method in ["GET", "HEAD", "POST", "DELETE"] {
            assert_eq!(call(&api, method, &format!("{path}/proxy/x"), "").status, 201);
        }
        let methods: Vec<Value> = calls(&api).iter().map(|call| call["method"].clone()).collect();
        assert_eq!(methods, expected, "{sampled}");
    }
}

#[test]
fn events_truncate_long_paths() {
    let api = api("all");
    let path = acme(&api);
    let long = "a".repeat(2000);
    assert_eq!(api.get(&format!("{path}/proxy/{long}")).status, 201);
    assert_eq!(calls(&api)[0]["path"], "a".repeat(500));
}

#[test]
fn a_call_writes_no_event_when_the_database_is_80_percent_full() {
    let sizes = [("CALL_EVENTS", "all"), ("MAX_DATABASE_BYTES", "1000000")];
    let api = api_with_platforms(&sizes, Units::default());
    platform(&api, |_| Ok(platform_response(201, &[], "")));
    let path = acme(&api);
    for (bytes, expected) in [(799_999, 1), (800_000, 1), (2_000_000, 1), (799_999, 2)] {
        api.env.size.set(bytes);
        assert_eq!(api.get("/v1/whoami").status, 200);
        assert_eq!(call(&api, "POST", &format!("{path}/proxy/x"), "").status, 201);
        assert_eq!(calls(&api).len(), expected, "{bytes}");
    }
}

fn stored(api: &Api) -> usize {
    api.env.texts("SELECT id || '' FROM events WHERE type = 'connection.called'").len()
}

/// Moves the times of all events back by one day.
fn move_events_back_one_day(api: &Api) {
    let earlier = "UPDATE events SET occurred_at = occurred_at - 86400000";
    api.env.current_database().execute(earlier, []).unwrap();
}

#[test]
fn the_calls_of_an_identity_write_up_to_1000_events_a_day() {
    let api = api("all");
    let path = acme(&api);
    let ann = token(&api, &json!({"identity": "ann", "scopes": ["connections:call"]}));
    let call_as_ann = || as_token(&ann, "DELETE", &format!("{path}/proxy/x"), &json!({}));
    for _ in 0..1001 {
        assert_eq!(api.send(&call_as_ann()).status, 201);
    }
    assert_eq!(stored(&api), 1000);
    // A key's calls count only towards the limit of the account.
    assert_eq!(call(&api, "POST", &format!("{path}/proxy/x"), "").status, 201);
    assert_eq!(stored(&api), 1001);
    move_events_back_one_day(&api);
    assert_eq!(api.send(&call_as_ann()).status, 201);
    assert_eq!(stored(&api), 1002);
}

#[test]
fn the_calls_of_an_account_write_a_limited_number_of_events_a_day() {
    let limits = [("CALL_EVENTS", "all"), ("CALL_EVENTS_PER_DAY", "3")];
    let mut api = api_with_platforms(&limits, Units::default());
    platform(&api, |_| Ok(platform_response(201, &[], "")));
    let path = acme(&api);
    let proxied = format!("{path}/proxy/x");
    for _ in 0..5 {
        assert_eq!(call(&api, "POST", &proxied, "").status, 201);
    }
    assert_eq!(stored(&api), 3);
    move_events_back_one_day(&api);
    assert_eq!(call(&api, "POST", &proxied, "").status, 201);
    assert_eq!(stored(&api), 4);
    // Another account has its own limit.
    for _ in 0..2 {
        assert_eq!(call(&api, "POST", &proxied, "").status, 201);
    }
    api.key = api.env.key("zoo", Environment::Test, &Scope::ALL, None);
    let path = acme(&api);
    assert_eq!(call(&api, "POST", &format!("{path}/proxy/x"), "").status, 201);
    assert_eq!(stored(&api), 7);
}

#[test]
fn events_of_calls_and_states_have_short_tags_only() {
    let api = api("all");
    let path = acme(&api);
    for (tags, is_kept) in [(vec!["x".repeat(100); 9], true), (vec!["x".repeat(128); 50], false)] {
        let id = path.rsplit('/').next().unwrap();
        assert_eq!(api.patch(id, &json!({"tags": tags})).status, 200);
        assert_eq!(call(&api, "POST", &format!("{path}/proxy/x"), "").status, 201);
        let last = body(&api.get(&format!("{EVENTS}&order=newest")))["rows"][0].clone();
        let mut expected = body(&api.get(&path));
        if !is_kept {
            expected["tags"] = json!([]);
        }
        assert_eq!(last["data"]["connection"], expected);
    }
    // Changes of the state write events even in a full database, so these events omit long tags.
    let degraded = "UPDATE connections SET state = 'degraded', version = version + 1";
    api.env.current_database().execute(degraded, []).unwrap();
    let state = body(&api.get("/v1/events?types=connection.degraded"));
    assert_eq!(state["rows"][0]["data"]["connection"]["tags"], json!([]));
    // The event of a change that the app requested has all tags.
    let changes = body(&api.get("/v1/events?types=connection.updated&order=newest"));
    assert_eq!(changes["rows"][0]["data"]["connection"]["tags"].as_array().unwrap().len(), 50);
}
