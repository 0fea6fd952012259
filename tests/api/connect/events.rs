//! Every change has exactly one event, and events are in order.

use connector_vault::terms::{Environment, Scope};

use super::*;
use crate::rng::{TestRng, repetitions};
use crate::support::{as_key, small_catalog};
use crate::vault::{CONNECTIONS, at, faults, minimal, name, state};

const HOUR: u64 = 3_600_000;

/// All events, read in pages of this many rows.
fn read_all(api: &Api, query: &str, limit: usize) -> Vec<Value> {
    let (mut events, mut after) = (Vec::new(), String::new());
    loop {
        let response = api.get(&format!("/v1/events?limit={limit}{query}{after}"));
        assert_eq!(response.status, 200, "{}", text(&response));
        let page = body(&response);
        let rows = page["rows"].as_array().unwrap();
        assert!(rows.len() <= limit);
        events.extend(rows.iter().cloned());
        let next = format!("&after={}", page["next"].as_str().unwrap());
        if next == after || (after.is_empty() && rows.is_empty()) {
            return events;
        }
        after = next;
    }
}

fn types(events: &[Value]) -> Vec<String> {
    let short = |event: &Value| {
        let name = event["type"].as_str().unwrap();
        name.strip_prefix("connection.").unwrap_or(name).to_owned()
    };
    events.iter().map(short).collect()
}

/// Reads the types of new events.
struct EventTypeReader<'a> {
    api: &'a Api,
    after: String,
}

impl EventTypeReader<'_> {
    fn new(api: &Api) -> EventTypeReader<'_> {
        EventTypeReader { api, after: "evt_0000000000000".into() }
    }

    fn new_events(&mut self) -> Vec<Value> {
        let page = body(&self.api.get(&format!("/v1/events?limit=500&after={}", self.after)));
        page["next"].as_str().unwrap().clone_into(&mut self.after);
        page["rows"].as_array().unwrap().clone()
    }

    fn expect(&mut self, expected: &[&str], what: &str) {
        assert_eq!(types(&self.new_events()), expected, "{what}");
    }
}

fn tokens(index: u64, scope: &str) -> Value {
    json!({"access_token": format!("at-{index}"), "expires_in": 3600, "refresh_token": format!("rt-{index}"), "scope": scope})
}

#[test]
fn every_change_writes_one_event() {
    let api = api();
    api.env.publish(small_catalog());
    let mut reader = EventTypeReader::new(&api);
    reader.expect(&[], "nothing has happened");
    let created = api.create(&minimal("ann"));
    let id = created["id"].as_str().unwrap();
    let events = reader.new_events();
    assert_eq!(types(&events), ["created"]);
    assert_eq!(
        (&events[0]["data"], &events[0]["occurredAt"]),
        (&json!({"connection": created, "account": null}), &json!("2027-01-15T08:00:00.000Z"))
    );
    for (method, path, payload, expected) in [
        ("PATCH", at(id), json!({"tags": ["a"]}), &["updated"][..]),
        ("PATCH", at(id), json!({"tags": ["a"]}), &[]),
        ("PUT", name(id), json!({"name": "Ann"}), &["updated"]),
        ("PUT", name(id), json!({"name": "Ann"}), &[]),
        ("PUT", state(id), json!({"state": "operational"}), &["updated"]),
        ("PUT", state(id), json!({"state": "degraded", "reason": "slow"}), &["degraded"]),
        ("PUT", state(id), json!({"state": "degraded", "reason": "slow"}), &[]),
        ("PUT", state(id), json!({"state": "degraded", "reason": "slower"}), &["updated"]),
        ("PUT", state(id), json!({"state": "operational"}), &["recovered"]),
        ("PUT", state(id), json!({"state": "failed", "active": false}), &["failed"]),
        ("PUT", state(id), json!({"state": "operational", "active": true}), &["recovered"]),
        ("PUT", state(id), json!({"state": "unknown"}), &["updated"]),
    ] {
        assert_eq!(send(&api, method, &path, &payload).status, 200, "{payload}");
        reader.expect(expected, &payload.to_string());
    }
    let before = body(&api.get(&at(id)));
    assert_eq!(api.send(&api.request("DELETE", &at(id))).status, 204);
    assert_eq!(api.send(&api.request("DELETE", &at(id))).status, 404);
    let events = reader.new_events();
    assert_eq!(types(&events), ["deleted"]);
    assert_eq!(events[0]["data"], json!({"connection": before, "account": null}));
    // A refused request writes no event.
    assert_eq!(send(&api, "POST", CONNECTIONS, &minimal("ann")).status, 201);
    assert_eq!(send(&api, "POST", CONNECTIONS, &minimal("ann")).status, 409);
    reader.expect(&["created"], "the second one exists");
}

#[test]
fn events_of_changes_that_keep_long_tags_omit_them() {
    let api = api();
    let long: Vec<String> = (0..50).map(|index| format!("{index}-{}", "x".repeat(100))).collect();
    let tagged = |mut payload: Value, tags: &[String]| {
        payload["tags"] = json!(tags);
        payload
    };
    let mut reader = EventTypeReader::new(&api);
    let mut number_of_tags = || -> Vec<usize> {
        let tags = |event: &Value| event["data"]["connection"]["tags"].as_array().unwrap().len();
        reader.new_events().iter().map(tags).collect()
    };
    let id =
        api.create(&tagged(ann_connect_body("keyed"), &long))["id"].as_str().unwrap().to_owned();
    assert_eq!(number_of_tags(), [50], "created");
    let credentials = format!("{}/credentials", at(&id));
    let key = json!({"type": "api_key", "apiKey": "k"});
    for (method, path, payload, status, expected) in [
        ("PUT", state(&id), json!({"state": "operational"}), 200, 0),
        ("PUT", state(&id), json!({"state": "degraded"}), 200, 0),
        ("PUT", name(&id), json!({"name": "Ann"}), 200, 0),
        ("PATCH", at(&id), tagged(json!({}), &long[..49]), 200, 49),
        ("PUT", credentials.clone(), key.clone(), 204, 0),
        ("PUT", credentials, key, 204, 0),
        ("PATCH", at(&id), tagged(json!({}), &long[..5]), 200, 5),
        ("PUT", name(&id), json!({"name": "Bob"}), 200, 5),
    ] {
        if status == 204 {
            script(&api, &[(200, json!({})), (200, json!({"id": "u-1"}))]);
        }
        let response = send(&api, method, &path, &payload);
        assert_eq!(response.status, status, "{method} {path} {}", text(&response));
        assert_eq!(number_of_tags(), [expected], "{method} {path}");
    }
}

#[test]
fn a_page_of_large_events_ends_early() {
    let api = api();
    let id = api.create(&ann_connect_body("keyed"))["id"].as_str().unwrap().to_owned();
    let tags = |change: usize| -> Vec<String> {
        (0..50).map(|index| format!("{change}-{index}-{}", "x".repeat(115))).collect()
    };
    for change in 1..200 {
        let payload = json!({"tags": tags(change)});
        assert_eq!(send(&api, "PATCH", &at(&id), &payload).status, 200);
    }
    for query in ["", "&order=newest", "&types=connection.created,connection.updated"] {
        let response = api.get(&format!("/v1/events?limit=500{query}"));
        assert!(response.body.len() < 1_200_000, "{query}: {}", response.body.len());
        assert!(body(&response)["rows"].as_array().unwrap().len() > 100, "{query}");
        let ids = |limit: usize| -> Vec<Value> {
            read_all(&api, query, limit).into_iter().map(|event| event["id"].clone()).collect()
        };
        assert_eq!(ids(500).len(), 200, "{query}");
        assert_eq!(ids(500), ids(100), "{query}");
    }
}

#[test]
fn changes_of_credentials_write_events() {
    let api = api();
    set_client(&api, "acme");
    let mut reader = EventTypeReader::new(&api);
    let id = connected(&api, &ann_connect_body("acme"), &tokens(1, "read"));
    reader.expect(&["created", "connected"], "connected");
    let credentials = format!("{}/credentials", at(&id));
    let missing = || body(&api.get(&format!("{}/status", at(&id))))["missingScopes"].clone();
    let mut refresh = |status: u16, reply: Value, expected: &[&str]| {
        api.env.wait(2 * HOUR);
        script(&api, &[(status, reply.clone())]);
        api.get(&credentials);
        let events = reader.new_events();
        assert_eq!(types(&events), expected, "{status} {reply}");
        events.last().map_or(Value::Null, |event| event["data"]["reason"].clone())
    };
    assert_eq!(refresh(200, tokens(2, "read"), &[]), Value::Null);
    assert_eq!(refresh(200, tokens(3, "write read"), &["scopes_changed"]), Value::Null);
    assert_eq!(refresh(200, tokens(4, "read write"), &[]), Value::Null);
    assert_eq!(missing(), json!([]));
    // A scope that was revoked is missing until it is granted again; a response without scopes revokes none.
    refresh(200, tokens(4, "read"), &["scopes_changed"]);
    assert_eq!(missing(), json!(["write"]));
    refresh(200, json!({"access_token": "at-4", "expires_in": 3600}), &[]);
    assert_eq!(missing(), json!(["write"]));
    refresh(200, tokens(4, "write read"), &["scopes_changed"]);
    assert_eq!(missing(), json!([]));
    let reason = refresh(503, json!({}), &["degraded"]);
    assert_eq!(reason, json!({"code": "platform_unavailable", "detail": null, "httpStatus": 503}));
    assert_eq!(refresh(503, json!({}), &[]), Value::Null);
    assert_eq!(refresh(200, tokens(5, "read write"), &["recovered"]), Value::Null);
    let refused = json!({"error": "invalid_grant", "error_description": "revoked by the user"});
    refresh(400, refused.clone(), &["degraded"]);
    let reason = refresh(400, refused, &["failed"]);
    assert_eq!(
        reason,
        json!({"code": "grant_ended", "detail": "revoked by the user", "httpStatus": 400})
    );
    let again = connected(&api, &json!({"connection": id}), &tokens(6, "read"));
    assert_eq!(again, id);
    reader.expect(&["reconnected", "scopes_changed"], "reconnected");
    // Credentials are imported from another service and then replaced.
    let keyed = send(&api, "POST", CONNECTIONS, &ann_connect_body("keyed"));
    let keyed = body(&keyed)["id"].as_str().unwrap().to_owned();
    reader.expect(&["created"], "keyed");
    for expected in ["connected", "reconnected"] {
        script(&api, &[(200, json!({})), (200, json!({"id": 1}))]);
        let payload = json!({"type": "api_key", "apiKey": "k"});
        let response = send(&api, "PUT", &format!("{}/credentials", at(&keyed)), &payload);
        assert_eq!(response.status, 204);
        reader.expect(&[expected], "keyed");
    }
    api.send(&api.request("DELETE", &at(&id)));
    reader.expect(&["deleted"], "with its credentials");
    let all = read_all(&api, "", 500);
    assert!(!format!("{all:?}").contains("at-6"), "no event has a secret");
}

#[test]
fn the_feed_is_filtered_and_restricted() {
    let api = api();
    api.env.publish(small_catalog());
    let ids: Vec<String> = ["ann", "bob"]
        .map(|identity| api.create(&minimal(identity))["id"].as_str().unwrap().to_owned())
        .to_vec();
    send(&api, "PUT", &state(&ids[0]), &json!({"state": "failed"}));
    send(&api, "PUT", &state(&ids[1]), &json!({"state": "degraded"}));
    for limit in [1, 2, 500] {
        let read = |query: &str| types(&read_all(&api, query, limit));
        assert_eq!(read(""), ["created", "created", "failed", "degraded"]);
        assert_eq!(read("&types=connection.failed,connection.degraded"), ["failed", "degraded"]);
        assert_eq!(read("&types=oauth_client.rejected"), Vec::<String>::new());
        assert_eq!(read(&format!("&connection={}", ids[1])), ["created", "degraded"]);
        let both = format!("&connection={}&types=connection.created", ids[0]);
        assert_eq!(read(&both), ["created"]);
        assert_eq!(read("&order=newest"), ["degraded", "failed", "created", "created"]);
        assert_eq!(read(&format!("&order=newest&connection={}", ids[0])), ["failed", "created"]);
    }
    // These callers must not see the events: another account, the other environment, and a key
    // without the scope.
    let test = Environment::Test;
    for (key, expected) in [
        (api.env.key("other", test, &Scope::ALL, None), 200),
        (api.env.key("acme", Environment::Live, &Scope::ALL, None), 200),
        (api.env.key("acme", test, &[Scope::ConnectionsRead], None), 403),
    ] {
        let response = api.send(&as_key(&key, "GET", "/v1/events"));
        assert_eq!(response.status, expected);
        if expected == 200 {
            assert_eq!(body(&response), json!({"rows": [], "next": "evt_0000000000000"}));
        }
    }
    for (query, fault) in [
        ("types=connection.broken", "types"),
        ("types=", "types"),
        ("types=connection.failed,", "types"),
        ("connection=ann", "connection"),
        ("after=7", "after"),
        ("after=evt_1", "after"),
        ("after=evt_00000000000x1", "after"),
        ("limit=501", "limit"),
        ("page=2", "page"),
    ] {
        let response = api.get(&format!("/v1/events?{query}"));
        assert_eq!((response.status, faults(&response)), (400, vec![fault.to_owned()]), "{query}");
    }
}

#[test]
fn old_events_are_hidden_and_their_ids_not_reused() {
    let api = api();
    api.env.publish(small_catalog());
    api.create(&minimal("ann"));
    api.env.wait(30 * 24 * HOUR);
    assert_eq!(read_all(&api, "", 500).len(), 1);
    api.env.wait(1);
    assert_eq!(read_all(&api, "", 500).len(), 0);
    api.create(&minimal("bob"));
    assert_eq!(read_all(&api, "", 500)[0]["id"], "evt_0000000000002");
}

/// Sends many requests in three tenants, some without effect. A concurrent reader and a later one
/// both read each change exactly once and in order.
#[test]
fn readers_miss_no_event_during_writes() {
    let api = api();
    api.env.publish(small_catalog());
    let mut rng = TestRng(7);
    let mut ids: Vec<String> = Vec::new();
    let (mut expected, mut seen) = (Vec::new(), Vec::new());
    let mut reader = EventTypeReader::new(&api);
    let other = api.env.key("other", Environment::Test, &Scope::ALL, None);
    for index in 0..repetitions(1000, 10_000) {
        let now = |kind: &str, id: &str| format!("{kind} {id}");
        let roll = rng.below(10);
        if ids.is_empty() || roll == 0 {
            let id =
                api.create(&minimal(&format!("user {index}")))["id"].as_str().unwrap().to_owned();
            expected.push(now("created", &id));
            ids.push(id);
        } else if roll == 1 {
            let id = ids.swap_remove(rng.below(ids.len()));
            assert_eq!(api.send(&api.request("DELETE", &at(&id))).status, 204);
            expected.push(now("deleted", &id));
        } else if roll == 2 {
            let request = as_key(&other, "POST", CONNECTIONS);
            api.send(&with_body(request, &minimal(&format!("user {index}")).to_string()));
        } else {
            let id = &ids[rng.below(ids.len())];
            let tag = rng.below(3).to_string();
            let before = body(&api.get(&at(id)))["version"].clone();
            let changed = send(&api, "PATCH", &at(id), &json!({"tags": [tag]}));
            if body(&changed)["version"] != before {
                expected.push(now("updated", id));
            }
        }
        if rng.below(50) == 0 {
            seen.extend(reader.new_events());
        }
    }
    seen.extend(reader.new_events());
    let described = |events: &[Value]| -> Vec<String> {
        let id = |event: &Value| event["data"]["connection"]["id"].as_str().unwrap().to_owned();
        types(events)
            .iter()
            .zip(events)
            .map(|(kind, event)| format!("{kind} {}", id(event)))
            .collect()
    };
    assert_eq!(described(&seen), expected);
    assert_eq!(read_all(&api, "", 499), seen);
}
