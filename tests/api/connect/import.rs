//! Importing connections from another service, and the cut-over.

use super::*;

const IMPORT: &str = "/v1/vault/connections/import";

/// One hour after the start time of tests.
const LATER: &str = "2027-01-15T09:00:00Z";

fn item(platform: &str, identity: &str, credentials: &Value) -> Value {
    json!({"platform": platform, "identity": identity, "identityType": "user", "credentials": credentials})
}

fn tokens(access: &str, refresh: &str) -> Value {
    json!({"type": "oauth2", "accessToken": access, "refreshToken": refresh, "expiresAt": LATER, "scopes": ["a"]})
}

fn import(api: &Api, items: &[Value], cut_over: bool) -> Vec<Value> {
    let response = send(api, "POST", IMPORT, &json!({"connections": items, "cutOver": cut_over}));
    assert_eq!(response.status, 200, "{}", text(&response));
    body(&response)["results"].as_array().unwrap().clone()
}

fn outcomes(results: &[Value]) -> Vec<&str> {
    results.iter().map(|result| result["outcome"].as_str().unwrap()).collect()
}

/// Imports one connection and checks the outcome. Returns the connection's id.
fn import_one(api: &Api, item: &Value, cut_over: bool, outcome: &str) -> String {
    let results = import(api, std::slice::from_ref(item), cut_over);
    assert_eq!(outcomes(&results), [outcome], "{results:?}");
    results[0]["connectionId"].as_str().unwrap().to_owned()
}

fn connection_path(id: &str, rest: &str) -> String {
    format!("/v1/vault/connections/{id}{rest}")
}

/// The number of connections, credentials, events and audit entries, and the stored credentials.
fn stored(api: &Api) -> Vec<String> {
    let tables = ["connections", "credentials", "events", "audit"];
    let rows =
        tables.map(|table| api.env.texts(&format!("SELECT count(*) || ' {table}' FROM {table}")));
    let own = api.env.texts("SELECT sealed || version || awaits_cut_over FROM credentials");
    [rows.concat(), own].concat()
}

#[test]
fn a_repeated_import_changes_nothing() {
    let api = api();
    set_client(&api, "acme");
    let named = json!({"label": "work", "name": "Work", "tags": ["eu", "a"], "clientId": "an id"});
    let mut first = item("ACME", "ann", &tokens("at", "rt"));
    first.as_object_mut().unwrap().extend(named.as_object().unwrap().clone());
    let items = [
        first,
        item("old-acme", "ann", &tokens("at-2", "rt-2")),
        item("keyed", "ann", &json!({"type": "api_key", "apiKey": "k"})),
        item("plain", "bob", &json!({"type": "basic", "username": "u", "password": "p"})),
        item("acme", "bob", &json!({"type": "oauth2", "refreshToken": "rt-3"})),
    ];
    let results = import(&api, &items, false);
    assert_eq!(outcomes(&results), ["created"; 5], "{results:?}");
    let connection =
        body(&api.get(&connection_path(results[0]["connectionId"].as_str().unwrap(), "")));
    for (name, value) in [
        ("key", json!("test::acme::work::ann")),
        ("name", json!("Work")),
        ("tags", json!(["eu", "a"])),
        ("state", json!("unknown")),
        ("active", json!(true)),
    ] {
        assert_eq!(connection[name], value, "{name}");
    }
    let before = stored(&api);
    for _ in 0..2 {
        assert_eq!(outcomes(&import(&api, &items, false)), ["unchanged"; 5]);
        assert_eq!(stored(&api), before);
        api.env.wait(60_000);
    }
    // A second import after the cut-over changes nothing either.
    assert_eq!(outcomes(&import(&api, &items, true)), ["updated"; 5]);
    let before = stored(&api);
    for cut_over in [false, true] {
        assert_eq!(outcomes(&import(&api, &items, cut_over)), ["unchanged"; 5]);
        assert_eq!(stored(&api), before);
    }
    assert_eq!(api.env.sent.borrow().len(), 0, "an import calls no platform");
}

#[test]
fn importing_a_thousand_connections_again_changes_nothing() {
    let api = api();
    set_client(&api, "acme");
    let items: Vec<Value> = (0..1000)
        .map(|index| item("acme", &format!("user-{index}"), &tokens(&format!("at-{index}"), "rt")))
        .collect();
    for (cut_over, outcome) in [
        (false, "created"),
        (false, "unchanged"),
        (true, "updated"),
        (true, "unchanged"),
        (false, "unchanged"),
    ] {
        let before = stored(&api);
        for batch in items.chunks(20) {
            assert_eq!(outcomes(&import(&api, batch, cut_over)), [outcome; 20]);
        }
        assert_eq!(stored(&api) == before, outcome == "unchanged", "{outcome}");
    }
    assert_eq!(rows(&api, "connections"), 1000);
}

#[test]
fn nothing_is_refreshed_before_the_cut_over() {
    let api = api();
    set_client(&api, "acme");
    let ann = item("acme", "ann", &tokens("at", "rt"));
    let id = import_one(&api, &ann, false, "created");
    let status = |field: &str| body(&api.get(&connection_path(&id, "/status")))[field].clone();
    assert_eq!((status("awaitsCutOver"), status("state")), (json!(true), json!("unknown")));
    let credentials = connection_path(&id, "/credentials");
    assert_eq!(body(&api.get(&credentials))["accessToken"], "at");
    // One millisecond before the token expires, long after a refresh would be due.
    api.env.now.set(1_800_003_599_999);
    assert_eq!(body(&api.get(&credentials))["accessToken"], "at");
    let refused = |response: &Response| {
        assert_eq!(response.status, 409, "{}", text(response));
        assert_eq!(body(response)["code"], "awaiting_cut_over", "{}", text(response));
        body(response)["detail"].as_str().unwrap().to_owned()
    };
    let forced = refused(&api.get(&format!("{credentials}?refresh=true")));
    assert!(!forced.contains("no valid access token"), "{forced}");
    refused(&api.send(&api.request("POST", &connection_path(&id, "/check"))));
    api.env.now.set(1_800_003_600_000);
    let expired = refused(&api.get(&credentials));
    assert!(expired.contains("no valid access token since 2027-01-15T09:00:00.000Z"), "{expired}");
    refused(&api.get(&connection_path(&id, "/proxy/me")));
    // Background jobs leave the connection alone for a month.
    for _ in 0..31 {
        api.env.wait(86_400_000);
        pollster::block_on(connector_vault::jobs::run_minute(&api.service, &api.env)).unwrap();
    }
    assert_eq!(api.env.sent.borrow().len(), 0);
    assert_eq!(status("state"), "unknown");
    // The file of the cut-over contains the newest tokens.
    let newest = item("acme", "ann", &json!({"type": "oauth2", "refreshToken": "rt-9"}));
    assert_eq!(import_one(&api, &newest, true, "updated"), id);
    script(
        &api,
        &[(200, json!({"access_token": "new", "refresh_token": "rt-10", "expires_in": 60}))],
    );
    assert_eq!(body(&api.get(&credentials))["accessToken"], "new");
    assert_eq!(value_of(&form(&api, 0), "refresh_token").as_deref(), Some("rt-9"));
    assert_eq!((status("awaitsCutOver"), status("state")), (json!(false), json!("operational")));
    // Older files don't replace the tokens that this service has refreshed.
    for (file, cut_over) in [(&newest, true), (&newest, false), (&ann, true), (&ann, false)] {
        assert_eq!(import_one(&api, file, cut_over, "skipped"), id);
    }
    assert_eq!(body(&api.get(&credentials))["accessToken"], "new");
}

#[test]
fn newer_tokens_replace_those_that_await_the_cut_over() {
    let api = api();
    set_client(&api, "acme");
    let id = import_one(&api, &item("acme", "ann", &tokens("at", "rt")), false, "created");
    for changed in [
        tokens("at-2", "rt"),
        tokens("at-2", "rt-2"),
        json!({"type": "oauth2", "accessToken": "at-2", "refreshToken": "rt-2", "scopes": ["a"]}),
        json!({"type": "oauth2", "accessToken": "at-2", "refreshToken": "rt-2", "scopes": ["b"]}),
    ] {
        let changed = item("acme", "ann", &changed);
        assert_eq!(import_one(&api, &changed, false, "updated"), id);
        assert_eq!(import_one(&api, &changed, false, "unchanged"), id);
    }
    assert_eq!(body(&api.get(&connection_path(&id, "/status")))["awaitsCutOver"], true);
}

#[test]
fn an_import_fills_connections_without_credentials_and_keeps_those_of_users() {
    let api = api();
    set_client(&api, "acme");
    let created = send(&api, "POST", "/v1/vault/connections", &ann_connect_body("acme"));
    let id = body(&created)["id"].as_str().unwrap().to_owned();
    let ann = item("acme", "ann", &tokens("at", "rt"));
    assert_eq!(import_one(&api, &ann, false, "updated"), id);
    // The user reconnects, so the grant now belongs to this service.
    let mut reconnect_body = json!({"connection": id});
    let (_, link) = start_attempt(&api, &reconnect_body);
    consent_at_platform(&api, &link, &json!({"access_token": "own", "refresh_token": "own-rt"}));
    assert_eq!(body(&api.get(&connection_path(&id, "/status")))["awaitsCutOver"], false);
    for cut_over in [false, true] {
        import_one(&api, &ann, cut_over, "skipped");
    }
    assert_eq!(body(&api.get(&connection_path(&id, "/credentials")))["accessToken"], "own");
    // An import does not replace credentials that the app has set.
    reconnect_body = item("keyed", "ann", &json!({"type": "api_key", "apiKey": "k"}));
    let keyed = import_one(&api, &reconnect_body, false, "created");
    script(&api, &[(200, json!({})), (200, json!({"id": 1}))]);
    let set = send(
        &api,
        "PUT",
        &connection_path(&keyed, "/credentials"),
        &json!({"type": "api_key", "apiKey": "other"}),
    );
    assert_eq!(set.status, 204, "{}", text(&set));
    import_one(&api, &reconnect_body, true, "skipped");
    assert_eq!(body(&api.get(&connection_path(&keyed, "/credentials")))["apiKey"], "other");
}

#[test]
fn deleting_a_waiting_connection_does_not_revoke_the_grant_of_the_other_service() {
    for (cut_over, revocations) in [(false, 0), (true, 1)] {
        let api = api();
        set_client(&api, "revoked");
        let id =
            import_one(&api, &item("revoked", "ann", &tokens("at", "rt")), cut_over, "created");
        // After the cut-over, the deletion sends a revocation; its failure leaves a row in
        // `revocations`.
        script(&api, &[(503, json!({})), (503, json!({}))]);
        assert_eq!(api.send(&api.request("DELETE", &connection_path(&id, ""))).status, 204);
        assert_eq!(rows(&api, "revocations"), revocations, "{cut_over}");
    }
}

#[test]
fn each_faulty_item_fails_alone() {
    let api = api();
    set_client(&api, "acme");
    let valid_tokens = tokens("at", "rt");
    let with = |name: &str, value: Value| {
        let mut item = item("acme", "x", &valid_tokens);
        item[name] = value;
        item
    };
    let key = json!({"type": "api_key", "apiKey": "k"});
    for (faulty, code, pointer) in [
        (json!(null), "invalid_body", ""),
        (json!([]), "invalid_body", ""),
        (json!("acme"), "invalid_body", ""),
        (json!({}), "invalid_body", "/platform"),
        (with("platform", json!(7)), "invalid_body", "/platform"),
        (with("platform", json!("acem")), "invalid_body", "/platform"),
        (with("identity", json!("a,b")), "invalid_body", "/identity"),
        (with("identityType", json!("person")), "invalid_body", "/identityType"),
        (with("label", json!("A B")), "invalid_body", "/label"),
        (with("tags", json!([" x"])), "invalid_body", "/tags/0"),
        (with("state", json!("operational")), "invalid_body", "/state"),
        (with("credentials", json!(null)), "invalid_body", "/credentials"),
        (with("credentials", json!({})), "invalid_body", "/credentials/type"),
        (
            with("credentials", json!({"type": "oauth2"})),
            "invalid_body",
            "/credentials/accessToken",
        ),
        (
            with("credentials", json!({"type": "oauth2", "accessToken": 1})),
            "invalid_body",
            "/credentials/accessToken",
        ),
        (with("credentials", key.clone()), "invalid_body", "/credentials/type"),
        (with("clientId", json!("another id")), "oauth_client_missing", ""),
        (item("watched", "ann", &valid_tokens), "oauth_client_missing", ""),
        (
            json!({"platform": "keyed", "identity": "x", "identityType": "user", "clientId": "c", "credentials": key}),
            "invalid_body",
            "/clientId",
        ),
        (item("acme", "ann", &valid_tokens), "invalid_body", "/identity"),
    ] {
        let results = import(
            &api,
            &[
                item("acme", "ann", &valid_tokens),
                faulty.clone(),
                item("acme", "bob", &valid_tokens),
            ],
            false,
        );
        let outcome = [&results[0]["outcome"], &results[2]["outcome"]];
        assert!(outcome.iter().all(|outcome| **outcome != "failed"), "{results:?}");
        let error = &results[1]["error"];
        assert_eq!(
            (&results[1]["outcome"], &error["code"]),
            (&json!("failed"), &json!(code)),
            "{faulty}"
        );
        if code == "invalid_body" {
            let expected = format!("/connections/1{pointer}");
            assert_eq!(error["errors"][0]["pointer"], expected, "{faulty}: {error}");
        }
        assert_eq!(results[1].get("connectionId"), None, "{faulty}");
    }
    assert_eq!(rows(&api, "connections"), 2);
}

#[test]
fn an_import_without_a_valid_item_reports_each_fault() {
    let api = api();
    let invalid = item("keyed", "", &json!({"type": "api_key", "apiKey": "k"}));
    let unknown = item("unknown", "ann", &tokens("at", "rt"));
    assert_eq!(outcomes(&import(&api, &[invalid, unknown], false)), ["failed", "failed"]);
}

#[test]
fn an_import_cannot_choose_the_token_host() {
    let api = api();
    for platform in ["hosted", "regional", "shops"] {
        set_client(&api, platform);
    }
    let item_with_host = |platform: &str, host: Option<(&str, &str)>| {
        let mut sent = json!({"type": "oauth2", "refreshToken": "rt", "authMethod": "oauth"});
        if let Some((name, host)) = host {
            sent["fields"] = json!({name: host});
        }
        item(platform, "ann", &sent)
    };
    for (host, code) in [
        (item_with_host("hosted", Some(("host", "evil.example"))), "oauth_client_missing"),
        (item_with_host("hosted", None), "oauth_client_missing"),
        (item_with_host("regional", Some(("host", "evil.example"))), "invalid_body"),
        (item_with_host("shops", Some(("shop", "evil.example/"))), "invalid_body"),
    ] {
        let results = import(&api, std::slice::from_ref(&host), true);
        assert_eq!(results[0]["error"]["code"], code, "{host}: {results:?}");
    }
    let listed = item_with_host("regional", Some(("host", "eu.regional.example")));
    import_one(&api, &listed, false, "created");
}

#[test]
fn an_import_request_has_limits() {
    let api = api();
    let one = item("keyed", "ann", &json!({"type": "api_key", "apiKey": "k"}));
    for (sent, pointer) in [
        (json!({}), "/connections"),
        (json!({"connections": []}), "/connections"),
        (json!({"connections": one}), "/connections"),
        (json!({"connections": vec![one.clone(); 21]}), "/connections"),
        (json!({"connections": [one], "cutOver": "yes"}), "/cutOver"),
        (json!({"connections": [one], "dryRun": true}), "/dryRun"),
    ] {
        let response = send(&api, "POST", IMPORT, &sent);
        assert_eq!(response.status, 400, "{sent}");
        assert_eq!(body(&response)["errors"][0]["pointer"], pointer, "{sent}");
    }
    // A body of exactly 1 MiB is accepted, and one that is a byte longer is not.
    let text = json!({"connections": [one]}).to_string();
    for (length, status) in [(1 << 20, 200), ((1 << 20) + 1, 413)] {
        let padded = format!("{}{text}", " ".repeat(length - text.len()));
        assert_eq!(api.send(&with_body(api.request("POST", IMPORT), &padded)).status, status);
    }
    // The path accepts only `POST`: `import` is not the id of a connection.
    assert_eq!(api.get(IMPORT).status, 405);
    // Tokens can't import, nor can keys without the scope.
    let session = token(&api, &json!({"identity": "ann", "scopes": ["connections:write"]}));
    let refused = api.send(&as_token(&session, "POST", IMPORT, &json!({"connections": [one]})));
    assert_eq!(refused.status, 403, "{text}");
    assert_eq!(rows(&api, "connections"), 1);
}
