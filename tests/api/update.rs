//! Reading, changing and deleting one connection.

use connector_vault::http::Request;
use connector_vault::http::message::Body;
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use crate::connect::{as_token, token};
use crate::sessions::SECRET;
use crate::support::{Api, as_key, body, with_body, with_header};
use crate::vault::{UNKNOWN_ID, at, code, comparable, faults, minimal, patch_as};

/// Creates a connection with two tags. Returns its document and its id.
fn create_one(api: &Api) -> (Value, String) {
    let mut document = minimal("ann");
    document["tags"] = json!(["a", "b"]);
    let created = api.create(&document);
    let id = created["id"].as_str().unwrap().to_owned();
    (created, id)
}

#[test]
fn tags_are_kept_exactly_as_sent() {
    let api = Api::with_catalog();
    let (mut expected, id) = create_one(&api);
    let x = |count: usize| "x".repeat(count);
    let many: Vec<String> = (0..50).map(|index| format!("{index}{}", "é".repeat(126))).collect();
    for (version, tags) in (2..).zip([
        json!([]),
        json!(["b", "a", "b", "B", "b"]),
        json!(["a", "b"]),
        json!(["b", "a"]),
        json!([
            "100%", "_", "*", "'", "\"", "\\", "\\u0041", "::", "/", "日本", "🦀", "a b", "é",
            "x\u{301}"
        ]),
        json!([x(128), "é".repeat(128), "🦀".repeat(128)]),
        json!(many),
        json!(vec!["same"; 50]),
        json!(["null", "1", "true", "{}"]),
    ]) {
        let response = api.patch(&id, &json!({"tags": tags}));
        expected["tags"] = tags.clone();
        expected["version"] = json!(version.to_string());
        assert_eq!((response.status, body(&response)), (200, expected.clone()));
        assert_eq!(response.header("etag"), Some(format!("\"{id}-{version}\"").as_str()));
        assert_eq!(response.header("cache-control"), Some("private, no-store"));
        assert!(response.header("server-timing").unwrap().starts_with("d1;desc=\"calls=1 "));
        let read = api.get(&at(&id));
        assert_eq!((body(&read), read.header("etag")), (expected.clone(), response.header("etag")));
        assert_eq!(body(&api.get(crate::vault::CONNECTIONS))["rows"], json!([expected]));
    }
    let escaped = api.send(&with_body(
        api.request("PATCH", &at(&id)),
        r#" {"tags" : [ "\u0061\ud83e\udd80" , "\/" ] } "#,
    ));
    assert_eq!(body(&escaped)["tags"], json!(["a🦀", "/"]));
}

#[test]
fn a_patch_that_changes_nothing_keeps_version_and_tag() {
    let api = Api::with_catalog();
    let (created, id) = create_one(&api);
    let before = api.env.dump();
    for payload in ["{}", " {} ", r#"{"tags":["a","b"]}"#, r#"{"tags":["\u0061","b"]}"#] {
        for if_match in [None, Some(format!("\"{id}-1\"")), Some("*".into())] {
            let mut request = with_body(api.request("PATCH", &at(&id)), payload);
            request.headers.extend(if_match.map(|value| ("if-match".into(), value)));
            let response = api.send(&request);
            assert_eq!((response.status, body(&response)), (200, created.clone()), "{payload}");
            assert_eq!(response.header("etag"), Some(format!("\"{id}-1\"").as_str()));
        }
    }
    assert_eq!(api.env.dump(), before);
    let stale = with_header(with_body(api.request("PATCH", &at(&id)), "{}"), "if-match", "\"x\"");
    assert_eq!(api.send(&stale).status, 412, "also when there is nothing to change");
}

#[test]
fn inactive_connections_can_be_read_and_changed() {
    let api = Api::with_catalog();
    let mut document = minimal("ann");
    document["active"] = json!(false);
    let created = api.create(&document);
    let id = created["id"].as_str().unwrap();
    assert_eq!(body(&api.get(&at(id))), created);
    assert_eq!(body(&api.patch(id, &json!({"tags": ["x"]})))["tags"], json!(["x"]));
    assert_eq!(
        body(&api.get(&format!("{}?active=false&tags=x", crate::vault::CONNECTIONS)))["total"],
        1
    );
    assert_eq!(api.on("DELETE", id, None).status, 204);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn invalid_bodies_are_refused_and_write_nothing() {
    let api = Api::with_catalog();
    let (_, id) = create_one(&api);
    let before = api.env.dump();
    let text = |text: &str| Body::Whole(text.as_bytes().to_vec());
    let json = Some("application/json");
    let (bad, long) = (vec!["a"; 51], "x".repeat(129));
    let many = json!({"tags": bad}).to_string();
    let long = json!({"tags": ["ok", long]}).to_string();
    let unknown: Vec<String> = (0..150).map(|index| format!("\"x{index}\":1")).collect();
    let unknown = format!("{{{}}}", unknown.join(","));
    for (media_type, payload, status, errors) in [
        (None, text("{}"), 415, vec![]),
        (Some(""), text("{}"), 415, vec![]),
        (Some("text/json"), text("{}"), 415, vec![]),
        (Some("application/jsonx"), text("{}"), 415, vec![]),
        (Some("application/merge-patch+json"), text("{}"), 415, vec![]),
        (Some("application/x-www-form-urlencoded"), text("tags=a"), 415, vec![]),
        (None, Body::TooLarge, 415, vec![]),
        (json, Body::TooLarge, 413, vec![]),
        (json, text(""), 400, vec![""]),
        (json, text(" "), 400, vec![""]),
        (json, text("null"), 400, vec![""]),
        (json, text("[]"), 400, vec![""]),
        (json, text("[\"a\"]"), 400, vec![""]),
        (json, text("\"tags\""), 400, vec![""]),
        (json, text("7"), 400, vec![""]),
        (json, text("{"), 400, vec![""]),
        (json, text("{} x"), 400, vec![""]),
        (json, text("{}{}"), 400, vec![""]),
        (json, text("{}\0"), 400, vec![""]),
        (json, text("{tags:[]}"), 400, vec![""]),
        (json, text("{'tags':[]}"), 400, vec![""]),
        (json, text("{\"tags\":[\"a\",]}"), 400, vec![""]),
        (json, text("{\"tags\":[\"a\"],}"), 400, vec![""]),
        (json, text("{\"tags\":[\"a\nb\"]}"), 400, vec![""]),
        (json, text("{\"tags\":[\"\\ud800\"]}"), 400, vec![""]),
        (json, text("{\"tags\":[\"\\udc00\\ud800\"]}"), 400, vec![""]),
        (json, text("\u{feff}{\"tags\":[]}"), 400, vec![""]),
        (json, Body::Whole(b"{\"tags\":[\"\xff\"]}".into()), 400, vec![""]),
        (json, Body::Whole(b"{\"tags\":[\"\xed\xa0\x80\"]}".into()), 400, vec![""]),
        (json, text(&"[".repeat(60_000)), 400, vec![""]),
        (json, text(&format!("{{\"tags\":{}", "[".repeat(60_000))), 400, vec![""]),
        (json, text(&"{\"a\":".repeat(12_000)), 400, vec![""]),
        (
            json,
            text(&format!("{{\"tags\":{}{}}}", "[".repeat(100), "]".repeat(100))),
            400,
            vec!["/tags/0"],
        ),
        (json, text("{\"tags\":null}"), 400, vec!["/tags"]),
        (json, text("{\"tags\":\"a\"}"), 400, vec!["/tags"]),
        (json, text("{\"tags\":{}}"), 400, vec!["/tags"]),
        (json, text("{\"tags\":7}"), 400, vec!["/tags"]),
        (json, text("{\"tags\":[],\"tags\":[]}"), 400, vec!["/tags"]),
        (json, text("{\"tags\":[],\"t\\u0061gs\":[]}"), 400, vec!["/tags"]),
        (json, text("{\"Tags\":[]}"), 400, vec!["/Tags>tags"]),
        (json, text("{\"name\":\"x\"}"), 400, vec!["/name"]),
        (
            json,
            text("{\"tags\":[\"a\"],\"state\":\"failed\",\"version\":\"7\"}"),
            400,
            vec!["/state", "/version"],
        ),
        (json, text("{\"tags\":[\"\"]}"), 400, vec!["/tags/0"]),
        (
            json,
            text("{\"tags\":[\"ok\",\" a\",\"a \",\"a\\u00a0\",\"\\u3000a\"]}"),
            400,
            vec!["/tags/1", "/tags/2", "/tags/3", "/tags/4"],
        ),
        (json, text("{\"tags\":[\"a,b\",\"ok\",\",\"]}"), 400, vec!["/tags/0", "/tags/2"]),
        (
            json,
            text("{\"tags\":[\"a\\nb\",\"\\u0000\",\"\\u007f\",\"\\u0085x\"]}"),
            400,
            vec!["/tags/0", "/tags/1", "/tags/2", "/tags/3"],
        ),
        (
            json,
            text("{\"tags\":[1,null,true,[],{}]}"),
            400,
            vec!["/tags/0", "/tags/1", "/tags/2", "/tags/3", "/tags/4"],
        ),
        (json, text(&many), 400, vec!["/tags"]),
        (json, text(&long), 400, vec!["/tags/1"]),
    ] {
        let bytes =
            if let Body::Whole(bytes) = &payload { bytes.as_slice() } else { b"(too large)" };
        let shown = format!("{media_type:?} {}", String::from_utf8_lossy(bytes));
        let shown: String = shown.chars().take(200).collect();
        let calls = api.env.db_calls.get();
        let mut request = api.request("PATCH", &at(&id));
        request.headers.extend(media_type.map(|value| ("content-type".into(), value.into())));
        let response = api.send(&Request { body: payload, ..request });
        let expected = match status {
            415 => "unsupported_media_type",
            413 => "body_too_large",
            _ => "invalid_body",
        };
        assert_eq!((response.status, code(&response).as_str()), (status, expected), "{shown}");
        assert_eq!(faults(&response), errors, "{shown}");
        assert_eq!(api.env.db_calls.get() - calls, 1, "{shown}");
        assert_eq!(api.env.dump(), before, "{shown}");
    }
    for (name, path) in [("name", "name"), ("state", "state"), ("active", "state")] {
        let payload = json!({name: "x"}).to_string();
        let problem = body(&api.send(&with_body(api.request("PATCH", &at(&id)), &payload)));
        let expected = format!(
            "`{name}` is not a field of this body: change it with `PUT /v1/vault/connections/{{id}}/{path}`"
        );
        assert_eq!(problem["errors"][0]["detail"], expected);
    }
    let response = api.send(&with_body(api.request("PATCH", &at(&id)), &unknown));
    assert_eq!(
        (response.status, faults(&response).len()),
        (400, 100),
        "a hostile body costs little"
    );
    let typed = with_header(
        api.request("PATCH", &at(&id)),
        "content-type",
        "APPLICATION/json; charset=utf-8",
    );
    assert_eq!(api.send(&Request { body: text("{}"), ..typed }).status, 200);
}

#[test]
fn if_match_guards_changes_and_deletions() {
    let api = Api::with_catalog();
    let (_, id) = create_one(&api);
    assert_eq!(body(&api.patch(&id, &json!({"tags": ["v2"]})))["version"], "2");
    let (current, old) = (format!("\"{id}-2\""), format!("\"{id}-1\""));
    let send = |method: &str, value: &str, tags: &Value| {
        let request = with_header(api.request(method, &at(&id)), "if-match", value);
        api.send(&with_body(request, &json!({"tags": tags}).to_string()))
    };
    let before = api.env.dump();
    for value in [
        old.clone(),
        format!("W/{current}"),
        format!("{old}, W/{current}"),
        format!("\"{id}-3\""),
        format!("\"{id}-02\""),
        format!("\"{id}\""),
        format!("\"{UNKNOWN_ID}-2\""),
        format!("\"{}-2\"", id.to_uppercase()),
        "\"2\"".into(),
        "\"*\"".into(),
        format!("\"{id}-18446744073709551618\""),
        format!("\"{id}-9223372036854775807\""),
        format!("\"{id}--2\""),
    ] {
        for method in ["PATCH", "DELETE"] {
            let response = send(method, &value, &json!(["x"]));
            assert_eq!(
                (response.status, code(&response).as_str()),
                (412, "precondition_failed"),
                "{method} {value}"
            );
            assert_eq!(response.header("etag"), None);
            assert_eq!(api.env.dump(), before, "{method} {value}");
        }
    }
    for (version, value) in (3..).zip([
        current.clone(),
        "*".into(),
        " * ".into(),
        format!("\"{id}-5\""),
        format!("{old}, \"{id}-6\""),
        format!("\"{id}-7\",W/\"x\",\"y,z\""),
    ]) {
        let response = send("PATCH", &value, &json!([format!("v{version}")]));
        assert_eq!(
            (response.status, body(&response)["version"].clone()),
            (200, json!(version.to_string())),
            "{value}"
        );
    }
    for value in [
        "",
        " ",
        ",",
        "2",
        "**",
        "W/*",
        "W/",
        "\"",
        "\"x",
        "x\"",
        "'x'",
        "\"x\" \"y\"",
        "*, \"x\"",
        "w/\"x\"",
        "\"x y\"",
        &format!("{id}-8"),
    ] {
        let before = api.env.dump();
        for method in ["PATCH", "DELETE"] {
            for body in ["{", r#"{"tags":["x"]}"#] {
                let request =
                    with_header(api.request(method, &(at(&id) + "?x=1")), "if-match", value);
                let response = api.send(&with_body(request, body));
                let reply = (response.status, code(&response));
                assert_eq!(reply, (400, "unknown_parameter".into()), "{method} {value}");
                assert_eq!(faults(&response), ["If-Match", "x"], "{method} {value}");
            }
            let response = send(method, value, &json!(["x"]));
            let reply = (response.status, code(&response));
            assert_eq!(reply, (400, "invalid_parameter".into()), "{method} {value}");
            assert_eq!(faults(&response), ["If-Match"], "{method} {value}");
        }
        assert_eq!(api.env.dump(), before, "{value}");
    }
    // After the change, the same precondition fails.
    assert_eq!(send("PATCH", &format!("\"{id}-7\""), &json!(["late"])).status, 412);
    assert_eq!(body(&api.get(&at(&id)))["tags"], json!(["v8"]));
    let response = send("DELETE", &format!("\"{id}-8\""), &json!([]));
    assert_eq!(
        (response.status, response.body.len(), response.header("content-type")),
        (204, 0, None)
    );
    for method in ["PATCH", "DELETE"] {
        for value in ["*", &format!("\"{id}-8\""), "\"x\""] {
            assert_eq!(
                send(method, value, &json!([])).status,
                404,
                "404 before 412: {method} {value}"
            );
        }
    }
}

#[test]
fn if_none_match_returns_304_without_a_body() {
    let api = Api::with_catalog();
    let (_, id) = create_one(&api);
    let tag = format!("\"{id}-1\"");
    for (value, status) in [
        (tag.clone(), 304),
        (format!("W/{tag}"), 304),
        ("*".into(), 304),
        (format!("\"{id}-2\""), 200),
        ("\"x\"".into(), 200),
    ] {
        let response =
            api.send(&with_header(api.request("GET", &at(&id)), "if-none-match", &value));
        assert_eq!((response.status, response.body.is_empty()), (status, status == 304), "{value}");
        assert_eq!(response.header("etag"), Some(tag.as_str()));
        assert_eq!(response.header("cache-control"), Some("private, no-store"));
    }
    let unknown = with_header(api.request("GET", &at(UNKNOWN_ID)), "if-none-match", "*");
    assert_eq!(api.send(&unknown).status, 404);
}

#[test]
fn a_deleted_connection_is_not_found() {
    let api = Api::with_catalog();
    api.mark_key_used(&api.key);
    let empty = api.env.dump_without_events();
    let (_, id) = create_one(&api);
    let response = api.on("DELETE", &id, None);
    assert_eq!((response.status, response.body.len()), (204, 0));
    assert_eq!(response.header("cache-control"), Some("private, no-store"));
    assert!(response.header("server-timing").unwrap().starts_with("d1;desc=\"calls=1 "));
    assert_eq!(api.env.dump_without_events(), empty, "nothing is left of it");
    for method in ["GET", "DELETE"] {
        let response = api.on(method, &id, None);
        assert_eq!((response.status, code(&response).as_str()), (404, "connection_not_found"));
    }
    assert_eq!(api.patch(&id, &json!({"tags": []})).status, 404);
    // The body of a deletion is ignored.
    let (_, id) = create_one(&api);
    assert_eq!(api.send(&with_body(api.request("DELETE", &at(&id)), "{")).status, 204);
}

#[test]
fn every_unknown_connection_gets_the_same_response() {
    let api = Api::with_catalog();
    let (_, own_id) = create_one(&api);
    let deleted = api.create(&minimal("gone"))["id"].as_str().unwrap().to_owned();
    assert_eq!(api.on("DELETE", &deleted, None).status, 204);
    let foreign = |account, environment| {
        let key = api.env.key(account, environment, &Scope::ALL, None);
        api.create_as(&key, &minimal("ann"))["id"].as_str().unwrap().to_owned()
    };
    let (live, beta) = (foreign("acme", Environment::Live), foreign("beta", Environment::Test));
    let braced = format!("%7B{own_id}%7D");
    let simple = own_id.replace('-', "");
    let before = api.env.dump();
    for (method, part, payload) in [
        ("GET", "", ""),
        ("HEAD", "", ""),
        ("PATCH", "", r#"{"tags":["x"]}"#),
        ("PUT", "/state", r#"{"state":"failed","active":false,"reason":"x"}"#),
        ("PUT", "/name", r#"{"name":"x"}"#),
        ("DELETE", "", ""),
    ] {
        for if_match in [None, Some("*"), Some("\"x\"")] {
            let send_request = |id: &str| {
                let mut request = as_key(&api.key, method, &(at(id) + part));
                request.headers.extend(if_match.map(|value| ("if-match".into(), value.into())));
                let calls = api.env.db_calls.get();
                let response = api.send(&with_body(request, payload));
                assert_eq!(api.env.db_calls.get() - calls, 1, "{method} {id}{part}");
                comparable(&response)
            };
            let unknown = send_request(UNKNOWN_ID);
            assert_eq!(unknown.0, 404);
            assert!(method == "HEAD" || unknown.2.contains("\"code\":\"connection_not_found\""));
            for id in [
                live.as_str(),
                &beta,
                &deleted,
                &live.to_uppercase(),
                "x",
                "1",
                "%20",
                "null",
                &simple,
                &braced,
                &format!("urn:uuid:{own_id}"),
                &format!("{own_id}%20"),
                own_id.get(1..).unwrap(),
                &format!("{own_id}0"),
                "%27%20OR%201=1--",
                "%25",
                &own_id.replace('-', "_"),
                "é",
                &"x".repeat(5000),
                &own_id.replace('-', "g"),
            ] {
                assert_eq!(send_request(id), unknown, "{method} {id}");
            }
        }
    }
    assert_eq!(api.env.dump(), before);
    // The case of ids is ignored.
    for id in [own_id.to_uppercase(), own_id.replace('a', "A"), own_id.replace('-', "%2D")] {
        let response = api.get(&at(&id));
        assert_eq!((response.status, body(&response)["id"].clone()), (200, json!(own_id)));
        assert_eq!(response.header("etag"), Some(format!("\"{own_id}-1\"").as_str()));
    }
    let upper = with_header(
        patch_as(&api.key, &own_id.to_uppercase(), &json!({"tags": []})),
        "if-match",
        &format!("\"{own_id}-1\""),
    );
    assert_eq!(api.send(&upper).status, 200);
    assert_eq!(api.on("DELETE", &own_id.to_uppercase(), None).status, 204);
}

#[test]
fn an_end_user_may_change_connections_a_thousand_times_a_day() {
    let api = Api::with_sessions(SECRET, "");
    let (_, id) = create_one(&api);
    let payload = json!({"identity": "ann", "scopes": ["connections:write"]});
    let session_token = token(&api, &payload);
    let change = |tag: u32| {
        api.send(&as_token(&session_token, "PATCH", &at(&id), &json!({"tags": [tag.to_string()]})))
    };
    for tag in 0..1000 {
        assert_eq!(change(tag).status, 200);
    }
    let before = api.env.dump();
    let refusal = change(1000);
    assert_eq!((refusal.status, code(&refusal).as_str()), (429, "too_many_requests"));
    assert_eq!(refusal.header("retry-after"), Some("3600"));
    assert_eq!(refusal.log, None);
    assert_eq!(api.env.dump(), before);
    // The limit applies neither to the app, nor to other users, nor to deletions.
    assert_eq!(api.patch(&id, &json!({"tags": []})).status, 200);
    let other = api.create(&minimal("bob"))["id"].as_str().unwrap().to_owned();
    let bobs_token = token(&api, &json!({"identity": "bob", "scopes": ["connections:write"]}));
    let request = as_token(&bobs_token, "PATCH", &at(&other), &json!({"tags": ["x"]}));
    assert_eq!(api.send(&request).status, 200);
    api.env.wait(86_400_001);
    let session_token = token(&api, &payload);
    let request = as_token(&session_token, "PATCH", &at(&id), &json!({"tags": ["a"]}));
    assert_eq!(api.send(&request).status, 200);
}
