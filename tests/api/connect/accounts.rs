//! Connected accounts: reading them from the `account` request or the ID token, showing them, and
//! filtering by them.

use base64ct::{Base64UrlUnpadded, Encoding as _};

use super::*;
use crate::support::as_secret;
use crate::vault::at;

/// A platform whose `account` request returns an id and a name, with an API key method and an OAuth
/// method.
fn platform_with_account(account: &Value) -> Value {
    json!({
        "authMethods": [api_key(&[]), oauth("oauth", &json!({}))],
        "servers": [server("https://api.named.example")],
        "account": account,
    })
}

fn api_with_names() -> Api {
    api_of(&[
        (
            "named",
            platform_with_account(
                &json!({"method": "GET", "path": "/me", "id": "/id", "name": "/email"}),
            ),
        ),
        ("token-only", platform_with_account(&Value::Null)),
    ])
}

fn connect_body(identity: &str, platform: &str, method: &str) -> Value {
    let mut payload = json!({"platform": platform, "identity": identity, "identityType": "user", "authMethod": method});
    if method == "key" {
        payload["fields"] = json!({"apiKey": "k"});
    }
    payload
}

/// Connects with a key that belongs to this account at the platform. Returns the connection's path.
fn connect_with_key(api: &Api, identity: &str, account: &Value) -> String {
    script(api, &[(200, account.clone())]);
    let response = connect(api, &connect_body(identity, "named", "key"));
    assert_eq!(response.status, 201, "{}", text(&response));
    at(body(&response)["id"].as_str().unwrap())
}

/// Connects with OAuth 2.0. Returns the connection's path.
fn connect_with_oauth(api: &Api, payload: &Value, responses: &[(u16, Value)]) -> String {
    let (id, link) = start_attempt(api, payload);
    let (browser, state) = follow(api, &link);
    script(api, responses);
    assert_eq!(browser.back(api, &format!("code=c&state={state}")).status, 200);
    let status = attempt(api, &id);
    assert_eq!(status["status"], "succeeded", "{status}");
    at(status["connection"]["id"].as_str().unwrap())
}

fn tokens(claims: &Value) -> Value {
    let part = |value: &Value| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
    let id_token = format!("{}.{}.x", part(&json!({"alg": "none"})), part(claims));
    json!({"access_token": "a", "refresh_token": "r", "expires_in": 3600, "id_token": id_token})
}

fn account(api: &Api, path: &str) -> Value {
    body(&api.get(&format!("{path}/status")))["account"].clone()
}

#[test]
fn the_account_is_shown_wherever_connections_are() {
    let api = api_with_names();
    let path = connect_with_key(&api, "ann", &json!({"id": 7, "email": "ann@acme.example"}));
    let expected = json!({"id": "7", "name": "ann@acme.example"});
    assert_eq!(account(&api, &path), expected);
    // Unless the request asks for the account, a connection has only its 15 usual members.
    assert_eq!(body(&api.get(&path)).as_object().unwrap().len(), 15);
    let listed =
        |query: &str| body(&api.get(&format!("/v1/vault/connections?{query}")))["rows"].clone();
    assert_eq!(listed("")[0].as_object().unwrap().len(), 15);
    for query in
        ["", "&platform=named", "&identity=ann", "&q=an", "&tagsMatch=any&tags=x,y", "&account=7"]
    {
        let rows = listed(&format!("include=account{query}"));
        if !query.contains("tags") {
            assert_eq!(
                (&rows[0]["account"], rows[0].as_object().unwrap().len()),
                (&expected, 16),
                "{query}"
            );
        }
    }
    let by_key = listed("include=account&key=test::named::default::ann");
    assert_eq!(by_key[0]["account"], expected);
    let events = body(&api.get("/v1/events?types=connection.connected,connection.created"));
    for event in events["rows"].as_array().unwrap() {
        assert_eq!(event["data"]["account"], expected, "{event}");
        assert_eq!(event["data"]["connection"].as_object().unwrap().len(), 15);
    }
    // `account` is null if the account is unknown.
    let created = body(&send(
        &api,
        "POST",
        "/v1/vault/connections",
        &json!({"platform": "named", "identity": "bob", "identityType": "user"}),
    ));
    assert_eq!(account(&api, &at(created["id"].as_str().unwrap())), Value::Null);
    assert_eq!(listed("include=account&identity=bob")[0]["account"], Value::Null);
}

#[test]
fn the_filter_finds_exactly_the_account() {
    let api = api_with_names();
    for (identity, id) in [("ann", "7"), ("bob", "70"), ("cem", "7"), ("dee", "X")] {
        connect_with_key(&api, identity, &json!({"id": id, "email": "e"}));
    }
    let found = |query: &str| {
        let page = body(&api.get(&format!("/v1/vault/connections?{query}")));
        let names: Vec<_> =
            page["rows"].as_array().unwrap().iter().map(|row| row["identity"].clone()).collect();
        assert_eq!(page["total"], names.len(), "{query}");
        json!(names)
    };
    for (query, expected) in [
        ("account=7", json!(["cem", "ann"])),
        ("account=70", json!(["bob"])),
        ("account=x", json!([])),
        ("account=7&identity=ann", json!(["ann"])),
        ("account=7&q=ce", json!(["cem"])),
        ("account=7&platform=token-only", json!([])),
        ("account=7&active=false", json!([])),
        ("account=70&key=test::named::default::ann", json!([])),
    ] {
        let mut names = found(query);
        if let (Some(names), Some(expected)) = (names.as_array_mut(), expected.as_array()) {
            names.sort_by_key(|name| expected.iter().position(|other| other == name));
        }
        assert_eq!(names, expected, "{query}");
    }
    // A cursor is valid only with the filter of its list.
    let first = api.get("/v1/vault/connections?account=7&limit=1");
    let link = first.header("link").unwrap().to_owned();
    let next = link.split(['<', '>']).nth(1).unwrap().split_once("/v1").unwrap().1;
    assert_eq!(api.get(&format!("/v1{next}")).status, 200);
    assert_eq!(api.get(&format!("/v1{}", next.replace("account=7", "account=70"))).status, 400);
    // A token finds only its own connections.
    let ann = token(&api, &json!({"identity": "ann", "scopes": ["connections:read"]}));
    let page =
        body(&api.send(&as_secret(&ann, "GET", "/v1/vault/connections?account=7&include=account")));
    assert_eq!((&page["total"], &page["rows"][0]["account"]["id"]), (&json!(1), &json!("7")));
}

#[test]
fn the_id_token_identifies_the_account_if_no_request_does() {
    let api = api_with_names();
    for (index, (claims, expected)) in [
        (
            json!({"sub": "s", "email": "ann@acme.example", "name": "Ann"}),
            json!({"id": "s", "name": "ann@acme.example"}),
        ),
        (json!({"sub": "s", "name": "Ann"}), json!({"id": "s", "name": "Ann"})),
        (json!({"sub": "s"}), json!({"id": "s", "name": null})),
        (json!({"name": "Ann"}), Value::Null),
    ]
    .into_iter()
    .enumerate()
    {
        let path = connect_with_oauth(
            &api,
            &connect_body(&format!("ann-{index}"), "token-only", "oauth"),
            &[(200, tokens(&claims))],
        );
        assert_eq!(account(&api, &path), expected, "{claims}");
    }
    // The account request is needed only for the name; the id comes from the ID token.
    let claims = json!({"sub": "s"});
    let profile = json!({"id": 7, "email": "e@acme.example"});
    let path = connect_with_oauth(
        &api,
        &connect_body("ann", "named", "oauth"),
        &[(200, tokens(&claims)), (200, profile)],
    );
    assert_eq!(account(&api, &path), json!({"id": "s", "name": "e@acme.example"}));
}

#[test]
fn account_names_are_untrusted() {
    let api = api_with_names();
    for (index, (profile, expected)) in [
        (
            json!({"id": "7", "email": "evil\u{202e}\u{0}\n<b>"}),
            json!({"id": "7", "name": "evil <b>"}),
        ),
        (
            json!({"id": "7", "email": "x".repeat(5000)}),
            json!({"id": "7", "name": "x".repeat(200)}),
        ),
        (json!({"id": "7", "email": {"a": 1}}), json!({"id": "7", "name": null})),
        (json!({"id": "7\u{202e}", "email": "e"}), Value::Null),
        (json!({"id": "x".repeat(256), "email": "e"}), Value::Null),
        (json!({"id": "", "email": "e"}), Value::Null),
    ]
    .into_iter()
    .enumerate()
    {
        let path = connect_with_key(&api, &format!("ann-{index}"), &profile);
        assert_eq!(account(&api, &path), expected, "{profile}");
    }
}

#[test]
fn reconnecting_replaces_the_account_and_deleting_removes_it() {
    let api = api_with_names();
    let path = connect_with_key(&api, "ann", &json!({"id": "7", "email": "seven@acme.example"}));
    let id = path.rsplit('/').next().unwrap();
    for (profile, expected) in [
        (
            (200, json!({"id": "8", "email": "eight@acme.example"})),
            json!({"id": "8", "name": "eight@acme.example"}),
        ),
        // The account of these credentials is unknown.
        ((404, json!({})), Value::Null),
    ] {
        script(&api, &[profile]);
        let repeated_response = connect(
            &api,
            &json!({"connection": id, "authMethod": "key", "fields": {"apiKey": "k2"}, "allowOtherAccount": true}),
        );
        assert_eq!(repeated_response.status, 200, "{}", text(&repeated_response));
        assert_eq!(account(&api, &path), expected);
    }
    let path = connect_with_key(&api, "bob", &json!({"id": "9", "email": "nine@acme.example"}));
    assert_eq!(send(&api, "DELETE", &path, &json!({})).status, 204);
    let remaining_rows = api.env.dump_without_events().join("\n");
    assert!(!remaining_rows.contains("nine@acme.example"), "{remaining_rows}");
}

#[test]
fn without_names_only_ids_are_stored_and_shown() {
    let mut api = api_with_names();
    let before = connect_with_key(&api, "ann", &json!({"id": "7", "email": "seven@acme.example"}));
    let settings: Vec<_> = SETTINGS.into_iter().chain([("ACCOUNT_NAMES", "off")]).collect();
    api.service = connector_vault::http::Service::new(config(&settings));
    // The account of the previous credentials is no longer shown.
    assert_eq!(account(&api, &before), json!({"id": "7", "name": null}));
    for path in ["/v1/events", "/v1/vault/connections?include=account"] {
        assert!(!text(&api.get(path)).contains("seven@"), "{path}");
    }
    let path = connect_with_key(&api, "bob", &json!({"id": "8", "email": "eight@acme.example"}));
    let claims = json!({"sub": "9", "email": "nine@acme.example"});
    connect_with_oauth(
        &api,
        &connect_body("cem", "token-only", "oauth"),
        &[(200, tokens(&claims))],
    );
    assert_eq!(account(&api, &path), json!({"id": "8", "name": null}));
    let stored = api.env.dump().join("\n");
    assert!(!stored.contains("eight@") && !stored.contains("nine@"), "{stored}");
}

#[test]
fn a_refresh_fills_in_a_missing_account() {
    let api = api_with_names();
    let claims = json!({"sub": "s", "email": "ann@acme.example"});
    let path = connect_with_oauth(
        &api,
        &connect_body("ann", "token-only", "oauth"),
        &[(200, tokens(&claims))],
    );
    let forget = "UPDATE connections SET platform_account_id = NULL, platform_account_name = NULL";
    let refresh = || {
        let read = api.get(&format!("{path}/credentials?refresh=true"));
        assert_eq!(read.status, 200, "{}", text(&read));
    };
    api.env.database.execute_batch(forget).unwrap();
    script(&api, &[(200, json!({"access_token": "b"}))]);
    refresh();
    assert_eq!(account(&api, &path), json!({"id": "s", "name": null}));
    script(&api, &[(200, tokens(&claims))]);
    refresh();
    let expected = json!({"id": "s", "name": "ann@acme.example"});
    assert_eq!(account(&api, &path), expected);
    // If the platform omits a member, its stored value is kept. An update with the same values does
    // not change the version.
    let version = body(&api.get(&path))["version"].clone();
    script(&api, &[(200, json!({"access_token": "c"}))]);
    refresh();
    assert_eq!(
        (account(&api, &path), body(&api.get(&path))["version"].clone()),
        (expected, version)
    );
}
