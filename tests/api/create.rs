//! Creating connections: `POST /v1/vault/connections`.

use connector_vault::http::message::Body;
use connector_vault::http::{Config, Request};
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use crate::support::{Api, ORIGIN, body, with_body, with_header};
use crate::vault::{CONNECTIONS, at, code, faults, minimal, post_as};

#[test]
fn create_stores_the_body_and_defaults() {
    let api = Api::with_catalog();
    let response = api.send(&post_as(&api.key, &minimal("ann")));
    let created = body(&response);
    let id = created["id"].as_str().unwrap();
    assert_eq!(response.status, 201);
    assert_eq!(response.header("location"), Some(format!("{ORIGIN}{}", at(id)).as_str()));
    assert_eq!(response.header("etag"), Some(format!("\"{id}-1\"").as_str()));
    assert_eq!(response.header("cache-control"), Some("private, no-store"));
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert!(response.header("server-timing").unwrap().starts_with("d1;desc=\"calls=1 "));
    assert_eq!(
        created,
        json!({
            "id": id, "platformVersion": "v1", "name": null, "type": "api", "key": "test::alpha::default::ann", "environment": "test",
            "platform": "alpha", "identity": "ann", "identityType": "user", "description": "What Alpha API does.", "state": "unknown",
            "tags": [], "version": "1", "active": true, "createdAt": "2027-01-15T08:00:00.000Z",
        })
    );
    assert_eq!(uuid_version(id), '4');

    api.env.wait(61_042);
    let all = json!({
        "platform": "zeta", "platformVersion": "v2024", "identity": "a::b %_*\"'\\ é", "identityType": "project", "name": "Ann, Bob\u{a0}Carol",
        "label": "l-1", "tags": ["b", "a", "b", "B"], "state": "failed", "active": false,
    });
    let mut created = api.create(&all);
    let got = |created: &Value| body(&api.get(&at(created["id"].as_str().unwrap())));
    assert_eq!(got(&created), created, "an inactive connection can be read");
    for (member, value) in all.as_object().unwrap() {
        if member != "label" {
            assert_eq!(created[member], *value);
        }
    }
    assert_eq!(created["key"], "test::zeta::l-1::a::b %_*\"'\\ é");
    assert_eq!(created["createdAt"], "2027-01-15T08:01:01.042Z");
    // The platform's case is ignored; the connection gets the catalog's spelling.
    let mut upper_case = minimal("eve");
    upper_case["platform"] = json!("ALPHA-Two");
    created = api.create(&upper_case);
    assert_eq!(
        (&created["platform"], &created["key"]),
        (&json!("alpha-two"), &json!("test::alpha-two::default::eve"))
    );
    // A null name means no name.
    let mut unnamed = minimal("bob");
    unnamed["name"] = Value::Null;
    created = api.create(&unnamed);
    assert_eq!(created["name"], Value::Null);
}

fn uuid_version(id: &str) -> char {
    let shape: String = id.chars().map(|c| if c == '-' { '-' } else { 'x' }).collect();
    assert_eq!(shape, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
    assert!(id.chars().all(|c| c == '-' || c.is_ascii_digit() || ('a'..='f').contains(&c)));
    id.chars().nth(14).unwrap()
}

#[test]
fn create_accepts_every_valid_value() {
    let api = Api::with_catalog();
    let x = |count: usize| "x".repeat(count);
    let tags: Vec<String> = (0..50).map(|index| format!("{index}{}", "🦀".repeat(126))).collect();
    for (index, (member, value)) in [
        ("name", json!(x(128))),
        ("name", json!("é".repeat(128))),
        ("name", json!("a\u{a0}b 👩\u{200d}👧")),
        ("label", json!(x(64))),
        ("label", json!("-")),
        ("label", json!("0")),
        ("tags", json!([])),
        ("tags", json!(tags)),
        ("tags", json!(vec!["same"; 50])),
        ("state", json!("operational")),
        ("state", json!("degraded")),
        ("state", json!("failed")),
        ("state", json!("unknown")),
        ("active", json!(true)),
        ("active", json!(false)),
        ("platformVersion", json!("v0")),
        ("platformVersion", json!("v9999999999999999")),
        ("identityType", json!("user")),
        ("identityType", json!("team")),
        ("identityType", json!("organization")),
        ("identityType", json!("project")),
        ("identity", json!("日".repeat(256))),
        ("platform", json!("alpha-two")),
    ]
    .into_iter()
    .enumerate()
    {
        let mut document = minimal(&format!("id-{index}"));
        document[member] = value.clone();
        let created = api.create(&document);
        if member == "label" {
            assert!(created["key"].as_str().unwrap().contains(value.as_str().unwrap()));
        } else {
            assert_eq!(created[member], value, "{member}");
        }
    }
}

#[test]
fn create_reports_all_faults_and_writes_nothing() {
    let api = Api::with_catalog();
    api.mark_key_used(&api.key);
    let before = api.env.dump();
    let with = |member: &str, value: Value| {
        let mut document = minimal("ann");
        document[member] = value;
        document.to_string()
    };
    let x = |count: usize| "x".repeat(count);
    let long = format!("/{}…", x(64));
    for (sent, errors) in [
        ("{}".to_owned(), vec!["/identity", "/identityType", "/platform"]),
        (with("platform", json!("alhpa")), vec!["/platform>alpha"]),
        (with("platform", json!("zet")), vec!["/platform>zeta"]),
        (with("platform", json!("alpha::v1")), vec!["/platform>alpha"]),
        (with("platform", json!("alpha-")), vec!["/platform>alpha"]),
        (with("platform", json!(null)), vec!["/platform"]),
        (with("platform", json!(7)), vec!["/platform"]),
        (with("identity", json!("")), vec!["/identity"]),
        (with("identity", json!("a,b")), vec!["/identity"]),
        (with("identity", json!("a\nb")), vec!["/identity"]),
        (with("identity", json!("\u{7f}")), vec!["/identity"]),
        (with("identity", json!(x(257))), vec!["/identity"]),
        (with("identity", json!(["a"])), vec!["/identity"]),
        (with("identityType", json!("User")), vec!["/identityType>user"]),
        (with("identityType", json!("organisation")), vec!["/identityType>organization"]),
        (with("identityType", json!(null)), vec!["/identityType"]),
        (with("platformVersion", json!("1")), vec!["/platformVersion"]),
        (with("platformVersion", json!("v")), vec!["/platformVersion"]),
        (with("platformVersion", json!("v1.0")), vec!["/platformVersion"]),
        (with("platformVersion", json!(1)), vec!["/platformVersion"]),
        (with("name", json!("")), vec!["/name"]),
        (with("name", json!(" ")), vec!["/name"]),
        (with("name", json!("\u{202e}evil")), vec!["/name"]),
        (with("identity", json!(" ")), vec!["/identity"]),
        (with("identity", json!(" ann")), vec!["/identity"]),
        (with("identity", json!("e\u{301}")), vec!["/identity"]),
        (with("identity", json!("a\u{200b}nn")), vec!["/identity"]),
        (with("tags", json!(["\u{200b}", "é", "e\u{301}", "\u{feff}"])), vec!["/tags/0", "/tags/2", "/tags/3"]),
        (with(&"x".repeat(60_000), json!(1)), vec![long.as_str()]),
        (with("name", json!(x(129))), vec!["/name"]),
        (with("name", json!("a\tb")), vec!["/name"]),
        (with("name", json!(false)), vec!["/name"]),
        (with("label", json!("")), vec!["/label"]),
        (with("label", json!("Default")), vec!["/label"]),
        (with("label", json!("a_b")), vec!["/label"]),
        (with("label", json!("a::b")), vec!["/label"]),
        (with("label", json!(x(65))), vec!["/label"]),
        (with("label", json!(null)), vec!["/label"]),
        (with("state", json!("broken")), vec!["/state"]),
        (with("state", json!("")), vec!["/state"]),
        (with("state", json!("Faild")), vec!["/state>failed"]),
        (with("active", json!("true")), vec!["/active"]),
        (with("active", json!(1)), vec!["/active"]),
        (with("active", json!(null)), vec!["/active"]),
        (with("tags", json!("a")), vec!["/tags"]),
        (with("tags", json!([" a", "ok", "a,b", 1, null, ""])), vec!["/tags/0", "/tags/2", "/tags/3", "/tags/4", "/tags/5"]),
        (with("tags", json!(vec!["a"; 51])), vec!["/tags"]),
        (with("id", json!("x")), vec!["/id"]),
        (with("environment", json!("live")), vec!["/environment"]),
        (with("account", json!("beta")), vec!["/account"]),
        (with("key", json!("x")), vec!["/key"]),
        (with("", json!("x")), vec!["/"]),
        (with("a/b~c", json!("x")), vec!["/a~1b~0c"]),
        (
            r#"{"platform":"nope","identity":"","identityType":"x","platformVersion":"1","name":"","label":"A","tags":[""],"state":1,"active":2,"foo":3}"#.to_owned(),
            vec!["/active", "/foo", "/identity", "/identityType", "/label", "/name", "/platform", "/platformVersion", "/state", "/tags/0"],
        ),
        (r#"{"platform":"alpha","platform":"zeta","identity":"a","identity":"a","identityType":"user"}"#.to_owned(), vec!["/identity", "/platform"]),
    ] {
        let calls = api.env.db_calls.get();
        let response = api.send(&with_body(api.request("POST", CONNECTIONS), &sent));
        assert_eq!((response.status, code(&response).as_str()), (400, "invalid_body"), "{sent}");
        let expected: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(faults(&response), expected, "{sent}");
        assert_eq!(api.env.db_calls.get() - calls, 1, "{sent}");
        assert_eq!(api.env.dump(), before, "{sent}");
    }
}

#[test]
fn rejects_bodies_other_than_json_objects() {
    let api = Api::with_catalog();
    api.mark_key_used(&api.key);
    let before = api.env.dump();
    let post = |media_type: Option<&str>, sent: Body| {
        let mut request = api.request("POST", CONNECTIONS);
        request.headers.extend(media_type.map(|value| ("content-type".into(), value.into())));
        api.send(&Request { body: sent, ..request })
    };
    let valid_body = minimal("ann").to_string().into_bytes();
    for (media_type, sent, expected) in [
        (None, Body::Whole(valid_body.clone()), (415, "unsupported_media_type")),
        (Some("text/plain"), Body::Whole(valid_body.clone()), (415, "unsupported_media_type")),
        (Some("text/plain"), Body::TooLarge, (415, "unsupported_media_type")),
        (Some("application/json"), Body::TooLarge, (413, "body_too_large")),
        (Some("application/json"), Body::Whole(b"[]".into()), (400, "invalid_body")),
        (Some("application/json"), Body::Whole(Vec::new()), (400, "invalid_body")),
    ] {
        let response = post(media_type, sent);
        assert_eq!((response.status, code(&response).as_str()), expected, "{media_type:?}");
    }
    assert_eq!(api.env.dump(), before);
    assert_eq!(post(Some("Application/JSON ; charset=utf-8"), Body::Whole(valid_body)).status, 201);
}

#[test]
fn rejects_a_key_that_exists() {
    let api = Api::with_catalog();
    for active in [true, false] {
        let mut document = minimal(&format!("ann {active}"));
        document["active"] = json!(active);
        let first = api.create(&document);
        let before = api.env.dump();
        document["tags"] = json!(["other"]);
        document["platformVersion"] = json!("v7");
        let response = api.send(&post_as(&api.key, &document));
        let problem = body(&response);
        assert_eq!((response.status, &problem["code"]), (409, &json!("connection_exists")));
        assert_eq!(problem["connectionId"], first["id"]);
        assert_eq!((response.header("etag"), response.header("location")), (None, None));
        assert_eq!(api.env.dump(), before);
        // The key is free in another environment or account, and for other labels, platforms and identities.
        for key in [
            api.env.key("acme", Environment::Live, &Scope::ALL, None),
            api.env.key(&format!("beta {active}"), Environment::Test, &Scope::ALL, None),
        ] {
            let other = api.create_as(&key, &document);
            assert_ne!(other["id"], first["id"]);
        }
        for (member, value) in [("label", "other"), ("platform", "zeta"), ("identity", "ANN")] {
            let mut other = document.clone();
            other[member] = json!(format!(
                "{value}{}",
                if member == "identity" { active.to_string() } else { String::new() }
            ));
            api.create(&other);
        }
        // After the deletion, the key is free again.
        assert_eq!(api.on("DELETE", first["id"].as_str().unwrap(), None).status, 204);
        api.create(&document);
    }
    // Other keys of the same account and environment see the same connections.
    let second = api.env.key("acme", Environment::Test, &[Scope::ConnectionsWrite], None);
    let response = api.send(&post_as(&second, &minimal("ann true")));
    assert_eq!((response.status, code(&response).as_str()), (409, "connection_exists"));
}

#[test]
fn creates_nothing_without_the_catalog() {
    for api in [Api::with_catalog(), Api::new(Config::default())] {
        api.mark_key_used(&api.key);
        let before = api.env.dump();
        api.env.blob_failures.set(3);
        let response = api.send(&post_as(&api.key, &minimal("ann")));
        assert_eq!((response.status, code(&response).as_str()), (503, "unavailable"));
        assert_eq!(api.env.dump(), before);
        // A caller without a valid key gets a 401 even while storage fails.
        api.env.blob_failures.set(3);
        let reader = api.env.key("acme", Environment::Test, &[Scope::ConnectionsRead], None);
        assert_eq!(api.send(&post_as(&reader, &minimal("ann"))).status, 403);
        api.env.revoke(&reader);
        assert_eq!(api.send(&post_as(&reader, &minimal("ann"))).status, 401);
    }
}

#[test]
fn rejects_query_parameters() {
    let api = Api::with_catalog();
    api.mark_key_used(&api.key);
    let before = api.env.dump();
    let request = with_body(api.request("POST", &format!("{CONNECTIONS}?platform=alpha")), "{");
    let response = api.send(&with_header(request, "if-match", "*"));
    assert_eq!((response.status, code(&response).as_str()), (400, "unknown_parameter"));
    assert_eq!(api.env.dump(), before);
}
