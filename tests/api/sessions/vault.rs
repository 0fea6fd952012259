//! The connections that a token can read and change.

use connector_vault::http::Service;
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use super::{OTHER, SECRET, WHOAMI, api};
use crate::support::{Api, as_secret, body, column, config, with_body, with_header};
use crate::vault::{
    CONNECTIONS, SUMMARY, UNKNOWN_ID, at, code, comparable, cursor, faults, minimal, next,
};

/// Creates connections of two identities, each with three platforms and two types.
fn vault(api: &Api) -> Vec<Value> {
    let mut rows = Vec::new();
    for identity in ["ann", "Ann", "bob"] {
        for (platform, kind, tags) in [
            ("alpha", "user", ["red", "x"]),
            ("zeta", "team", ["red", "y"]),
            ("epsilon", "user", ["blue", "x"]),
        ] {
            api.env.wait(1);
            rows.push(api.create(&json!({
                "platform": platform, "identity": identity, "identityType": kind, "tags": tags, "name": "Common",
            })));
        }
    }
    rows.reverse();
    rows
}

#[test]
fn lists_respect_the_token_restriction() {
    let api = api();
    let rows = vault(&api);
    let tokens = [
        (json!({"identity": "ann"}), vec!["epsilon", "zeta", "alpha"]),
        (json!({"identity": "ann", "identityType": "user"}), vec!["epsilon", "alpha"]),
        (json!({"identity": "ann", "platforms": ["alpha", "zeta"]}), vec!["zeta", "alpha"]),
        (json!({"identity": "ann", "identityType": "team", "platforms": ["alpha"]}), vec![]),
        (json!({"identity": "nobody"}), vec![]),
    ];
    for (input, seen) in &tokens {
        let token = api.token(input);
        let own: Vec<&Value> = rows
            .iter()
            .filter(|row| {
                row["identity"] == input["identity"]
                    && seen.iter().any(|name| row["platform"] == *name)
            })
            .collect();
        let holds = |row: &Value, query: &str| {
            query.split('&').filter(|pair| !pair.is_empty()).all(|pair| {
                let (name, value) = pair.split_once('=').unwrap();
                match name {
                    "tags" => row["tags"].as_array().unwrap().contains(&json!(value)),
                    "q" => {
                        row["name"].as_str().unwrap().to_lowercase().starts_with(value)
                            || row["identity"].as_str().unwrap().to_lowercase().starts_with(value)
                    }
                    "name" => row["name"] == "Common",
                    "key" => value.split(',').any(|key| row["key"] == key),
                    _ => row[name] == value,
                }
            })
        };
        let all_keys: Vec<String> =
            rows.iter().map(|row| row["key"].as_str().unwrap().to_owned()).collect();
        for query in [
            "",
            "identity=ann",
            "identity=Ann",
            "identity=bob",
            "platform=alpha",
            "platform=epsilon",
            "platform=gone",
            "identityType=user",
            "identityType=team",
            "identityType=project",
            "tags=red",
            "tags=blue",
            "q=an",
            "q=bob",
            "q=common",
            "name=common",
            "platform=zeta&identityType=team",
            "platformVersion=v1",
            "tags=red&platform=alpha",
            &format!("key={}", all_keys.join(",")),
            &format!("key={}", all_keys[0]),
            &format!("key={}&platform=alpha", all_keys.join(",")),
        ] {
            let expected: Vec<&Value> =
                own.iter().copied().filter(|row| holds(row, query)).collect();
            let request = as_secret(&token, "GET", &format!("{CONNECTIONS}?{query}"));
            assert_eq!(api.cost(&request), (200, String::new(), 1), "{query}");
            let response = api.send(&request);
            let document = body(&response);
            assert_eq!(
                (document["rows"].clone(), &document["total"]),
                (json!(expected), &json!(expected.len())),
                "{input} {query}"
            );
            assert!(
                response
                    .header("server-timing")
                    .unwrap()
                    .starts_with("d1;desc=\"calls=1 rows_read=0 ")
            );
        }
        assert_eq!(api.get_as(&token, &format!("{CONNECTIONS}?identty=ann")).status, 400);
    }
}

#[test]
fn connections_outside_the_restriction_are_not_found() {
    let api = api();
    let rows = vault(&api);
    for input in [
        json!({"identity": "ann"}),
        json!({"identity": "ann", "identityType": "user"}),
        json!({"identity": "ann", "platforms": ["zeta"]}),
    ] {
        let mut input = input.clone();
        input["scopes"] = json!(["connections:read", "connections:write"]);
        let token = api.token(&input);
        for row in &rows {
            let id = row["id"].as_str().unwrap();
            let sees = row["identity"] == input["identity"]
                && (input["identityType"].is_null()
                    || row["identityType"] == input["identityType"])
                && input["platforms"].as_array().is_none_or(|all| all.contains(&row["platform"]));
            for (method, part, sent) in [
                ("GET", "", ""),
                ("HEAD", "", ""),
                ("PATCH", "", r#"{"tags":["red","x"]}"#),
                ("PATCH", "", "{}"),
                ("PATCH", "", r#"{"tags":["new"]}"#),
                ("PUT", "/state", r#"{"state":"failed","active":false,"reason":"gone"}"#),
                ("PUT", "/state", r#"{"state":"unknown"}"#),
                ("PUT", "/name", r#"{"name":"Ann"}"#),
                ("PUT", "/name", r#"{"name":null}"#),
                ("DELETE", "", ""),
            ] {
                for (name, value) in [
                    ("x-nothing", "*".to_owned()),
                    ("if-match", "*".to_owned()),
                    ("if-match", format!("\"{id}-1\"")),
                    ("if-none-match", "*".to_owned()),
                ] {
                    let send_request = |id: &str| {
                        let path = at(id) + part;
                        with_header(with_body(as_secret(&token, method, &path), sent), name, &value)
                    };
                    if sees {
                        if method == "GET" && name == "x-nothing" {
                            assert_eq!(body(&api.send(&send_request(id))), *row);
                        }
                        continue;
                    }
                    let before = api.env.dump();
                    assert_eq!(api.cost(&send_request(id)).2, 1);
                    let (existing, unknown) = (
                        comparable(&api.send(&send_request(id))),
                        comparable(&api.send(&send_request(UNKNOWN_ID))),
                    );
                    assert_eq!((existing.0, &existing), (404, &unknown), "{method} {input}");
                    assert_eq!(api.env.dump(), before);
                }
            }
        }
        let own = rows
            .iter()
            .find(|row| row["identity"] == "ann" && row["identityType"] == "team")
            .unwrap();
        let tagged = with_body(
            as_secret(&token, "PATCH", &at(own["id"].as_str().unwrap())),
            r#"{"tags":["red","y"]}"#,
        );
        assert_eq!(
            api.send(&tagged).status,
            if input["identityType"] == "user" { 404 } else { 200 }
        );
    }
    let token = api.token(&json!({"identity": "bob", "scopes": ["connections:write"]}));
    let bobs = rows.iter().find(|row| row["identity"] == "bob").unwrap()["id"].as_str().unwrap();
    assert_eq!(api.send(&as_secret(&token, "DELETE", &at(bobs))).status, 204);
    assert_eq!(api.send(&as_secret(&token, "DELETE", &at(bobs))).status, 404);
}

#[test]
fn a_token_creates_connections_for_its_identity_only() {
    let api = api();
    let token = api.token_with_removed_platforms(&["gone"], &json!({
        "identity": "ann", "identityType": "user", "platforms": ["alpha", "gone"], "scopes": ["connections:write"],
    }));
    let post = |document: &Value| {
        api.send(&with_body(as_secret(&token, "POST", CONNECTIONS), &document.to_string()))
    };
    let before = api.env.dump();
    for (change, what) in [
        (json!({"identity": "bob"}), "identity"),
        (json!({"identity": "Ann"}), "identity"),
        (json!({"identityType": "team"}), "identityType"),
        (json!({"platform": "zeta"}), "platform"),
        // The response does not reveal whether the platform is in the catalog.
        (json!({"platform": "nothing"}), "platform"),
        (json!({"platform": "Not a platform"}), "platform"),
    ] {
        let mut document = minimal("ann");
        for (name, value) in change.as_object().unwrap() {
            document[name] = value.clone();
        }
        let response = post(&document);
        assert_eq!(
            (response.status, code(&response).as_str()),
            (403, "insufficient_scope"),
            "{change}"
        );
        let detail = format!("This token is restricted to another `{what}`: see `GET /v1/whoami`.");
        assert_eq!(body(&response)["detail"], json!(detail));
        assert_eq!(api.env.dump(), before);
    }
    // Suggestions contain only platforms that the token may see.
    let response = post(&json!({"platform": "gone", "identity": "ann", "identityType": "user"}));
    assert_eq!((response.status, faults(&response)), (400, vec!["/platform".to_owned()]));
    assert_eq!(faults(&post(&json!({"platform": "zeta", "identity": "bob"}))), ["/identityType"]);
    let response = post(&minimal("ann"));
    assert_eq!(response.status, 201);
    let created = body(&response);
    assert_eq!(api.get(&at(created["id"].as_str().unwrap())).status, 200);
    // The problem names the existing connection only if the token may see it.
    let response = post(&minimal("ann"));
    assert_eq!((response.status, &body(&response)["connectionId"]), (409, &created["id"]));
    let team = api.create(
        &json!({"platform": "alpha", "identity": "ann", "identityType": "team", "label": "other"}),
    );
    let mut document = minimal("ann");
    document["label"] = json!("other");
    let response = post(&document);
    let text = String::from_utf8(response.body.clone()).unwrap();
    assert_eq!((response.status, body(&response).get("connectionId")), (409, None));
    assert!(!text.contains(team["id"].as_str().unwrap()) && !text.contains("team"), "{text}");
    let unrestricted = api.token(&json!({"identity": "ann", "scopes": ["connections:write"]}));
    let request = with_body(as_secret(&unrestricted, "POST", CONNECTIONS), &document.to_string());
    assert_eq!(body(&api.send(&request))["connectionId"], team["id"]);
}

#[test]
fn summaries_respect_the_token_restriction() {
    let api = api();
    vault(&api);
    api.create(&json!({"platform": "alpha", "identity": "ann", "identityType": "project", "label": "old", "active": false, "state": "failed"}));
    let summary = |input: Value| {
        let token = api.token(&input);
        assert_eq!(api.cost(&as_secret(&token, "GET", SUMMARY)), (200, String::new(), 1));
        body(&api.get_as(&token, SUMMARY))
    };
    assert_eq!(
        summary(json!({"identity": "ann"})),
        json!({
            "total": 4, "active": {"true": 3, "false": 1}, "state": {"operational": 0, "degraded": 0, "failed": 1, "unknown": 3},
            "identityType": {"user": 2, "team": 1, "organization": 0, "project": 1},
            "platforms": [{"platform": "alpha", "total": 2}, {"platform": "epsilon", "total": 1}, {"platform": "zeta", "total": 1}],
            "otherPlatforms": 0,
        })
    );
    let typed =
        summary(json!({"identity": "ann", "identityType": "user", "platforms": ["alpha", "zeta"]}));
    assert_eq!(
        (&typed["total"], &typed["platforms"]),
        (&json!(1), &json!([{"platform": "alpha", "total": 1}]))
    );
    assert_eq!(summary(json!({"identity": "nobody"})), body(&Api::with_catalog().get(SUMMARY)));
}

#[test]
fn cursors_work_with_the_next_token_of_the_identity_only() {
    let mut api = api();
    for index in 0..7 {
        api.env.wait(1);
        for identity in ["ann", "bob"] {
            let mut document = minimal(identity);
            document["label"] = json!(format!("c{index}"));
            api.create(&document);
        }
    }
    let ann = json!({"identity": "ann", "ttlSeconds": 60});
    let mut token = api.token(&ann);
    let mut path = Some(format!("{CONNECTIONS}?limit=2"));
    let mut seen = Vec::new();
    let mut page = 0;
    while let Some(at) = path {
        page += 1;
        let response = api.get_as(&token, &at);
        assert_eq!(
            (response.status, &body(&response)["page"], &body(&response)["total"]),
            (200, &json!(page), &json!(7))
        );
        seen.extend(column(&response, "key"));
        path = next(&response);
        // Each page uses another token. Halfway, the session secret changes, too.
        api.env.wait(60_000);
        assert_eq!(api.get_as(&token, WHOAMI).status, 401);
        if page == 2 {
            api.service = Service::new(config(&[
                ("SESSION_SECRET", OTHER),
                ("SESSION_SECRET_PREVIOUS", SECRET),
            ]));
        }
        token = api.token(&ann);
    }
    let expected: Vec<String> =
        (0..7).rev().map(|index| format!("test::alpha::c{index}::ann")).collect();
    assert_eq!((seen, page), (expected, 4));

    let after = cursor(&api.get_as(&token, &format!("{CONNECTIONS}?limit=2"))).unwrap();
    let keys = cursor(&api.get(&format!("{CONNECTIONS}?limit=2&identity=ann"))).unwrap();
    let status_for = |api: &Api, secret: &str, query: &str| {
        api.get_as(secret, &format!("{CONNECTIONS}?{query}")).status
    };
    let requested = |secret: &str, query: &str| status_for(&api, secret, query);
    let tokens = [
        json!({"identity": "bob"}),
        json!({"identity": "ann", "identityType": "user"}),
        json!({"identity": "ann", "platforms": ["alpha"]}),
    ];
    for input in &tokens {
        let other = api.token(input);
        assert_eq!(requested(&other, "limit=2"), 200);
        assert_eq!(requested(&other, &format!("limit=2&after={after}")), 400, "{input}");
        assert_eq!(
            requested(&other, &format!("limit=2&after={after}&identity=ann")),
            400,
            "{input}"
        );
    }
    // Filters that repeat the token's restriction return the same list.
    assert_eq!(requested(&token, &format!("limit=2&identity=ann&after={after}")), 200);
    assert_eq!(requested(&token, &format!("limit=2&identity=bob&after={after}")), 400);
    assert_eq!(requested(&token, &format!("limit=3&after={after}")), 400);
    for query in [format!("limit=2&after={keys}"), format!("limit=2&identity=ann&after={keys}")] {
        assert_eq!(requested(&token, &query), 400);
    }
    let key = api.key.reveal().to_owned();
    assert_eq!(requested(&key, &format!("limit=2&identity=ann&after={keys}")), 200);
    assert_eq!(requested(&key, &format!("limit=2&identity=ann&after={after}")), 400);
    // A cursor is invalid for tokens of another key, even of the same account.
    api.key = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let other = api.token(&ann);
    assert_eq!(status_for(&api, &other, "limit=2"), 200);
    assert_eq!(status_for(&api, &other, &format!("limit=2&after={after}")), 400);
}
