//! Storing and deleting credentials.

use super::*;

/// Creates a connection without credentials. Returns its path.
fn create(api: &Api, platform: &str) -> String {
    let response = send(api, "POST", "/v1/vault/connections", &ann_connect_body(platform));
    assert_eq!(response.status, 201, "{}", body(&response));
    format!("/v1/vault/connections/{}", body(&response)["id"].as_str().unwrap())
}

#[test]
fn members_of_the_token_response_are_returned() {
    let api = api();
    for (platform, members) in
        [("watched", json!({"instance_url": "https://eu.example"})), ("acme", Value::Null)]
    {
        set_client(&api, platform);
        let tokens = json!({"access_token": "at", "instance_url": "https://eu.example", "x": 1});
        let id = connected(&api, &ann_connect_body(platform), &tokens);
        let credentials = body(&api.get(&format!("/v1/vault/connections/{id}/credentials")));
        assert_eq!(credentials.get("members").unwrap_or(&Value::Null), &members, "{credentials}");
    }
}

#[test]
fn credentials_are_imported_and_read_back() {
    let api = api();
    let path = create(&api, "acme");
    let none = api.get(&format!("{path}/credentials"));
    assert_eq!((none.status, &body(&none)["code"]), (404, &json!("credentials_not_found")));
    let own = format!("{path}/credentials");
    let sent = json!({
        "type": "oauth2", "accessToken": "at", "refreshToken": "rt", "expiresAt": "2027-01-15T09:00:00Z", "scopes": ["a"],
    });
    script(&api, &[(200, json!({"id": 1}))]);
    let response = send(&api, "PUT", &own, &sent);
    assert_eq!((response.status, response.body.len()), (204, 0), "{}", text(&response));
    let read = body(&api.get(&own));
    for (name, value) in [
        ("accessToken", json!("at")),
        ("expiresAt", json!("2027-01-15T09:00:00.000Z")),
        ("scopes", json!(["a"])),
        ("tokenType", json!("Bearer")),
    ] {
        assert_eq!(read[name], value, "{name}");
    }
    // Credentials with only a refresh token are refreshed when they are first used.
    set_client(&api, "acme");
    assert_eq!(
        send(&api, "PUT", &own, &json!({"type": "oauth2", "refreshToken": "rt-2"})).status,
        204
    );
    script(&api, &[(200, json!({"access_token": "new"}))]);
    assert_eq!(body(&api.get(&own))["accessToken"], "new");

    let keyed = format!("{}/credentials", create(&api, "keyed"));
    script(&api, &[(401, json!({}))]);
    let rejected = send(&api, "PUT", &keyed, &json!({"type": "api_key", "apiKey": "k"}));
    assert_eq!((rejected.status, &body(&rejected)["code"]), (422, &json!("credentials_rejected")));
    script(&api, &[(200, json!({})), (200, json!({}))]);
    assert_eq!(send(&api, "PUT", &keyed, &json!({"type": "api_key", "apiKey": "k"})).status, 204);
    assert_eq!(body(&api.get(&keyed))["apiKey"], "k");
}

#[test]
fn reports_all_errors_of_imported_credentials() {
    let api = api();
    let [acme, keyed, plain] = ["acme", "keyed", "plain"].map(|platform| create(&api, platform));
    for (path, sent, pointer) in [
        (&acme, json!({}), "/type"),
        (&acme, json!({"type": "magic"}), "/type"),
        (&acme, json!({"type": "api_key", "apiKey": "k"}), "/type"),
        (&acme, json!({"type": "oauth2"}), "/accessToken"),
        (&acme, json!({"type": "oauth2", "accessToken": "a\r\nb"}), "/accessToken"),
        (&acme, json!({"type": "oauth2", "accessToken": "a b"}), "/accessToken"),
        (&acme, json!({"type": "oauth2", "accessToken": "é"}), "/accessToken"),
        (&acme, json!({"type": "oauth2", "refreshToken": "é"}), "/refreshToken"),
        (&acme, json!({"type": "oauth2", "accessToken": "a", "password": "p"}), "/password"),
        (&keyed, json!({"type": "api_key", "apiKey": "k\u{200b}"}), "/apiKey"),
        (&plain, json!({"type": "basic", "username": "a:b", "password": "p"}), "/username"),
        (
            &acme,
            json!({"type": "oauth2", "accessToken": "a", "expiresAt": "tomorrow"}),
            "/expiresAt",
        ),
        (
            &acme,
            json!({"type": "oauth2", "accessToken": "a", "authMethod": "other"}),
            "/authMethod",
        ),
        (&plain, json!({"type": "basic", "username": "u"}), "/password"),
        (
            &plain,
            json!({"type": "basic", "username": "u", "password": "p", "fields": {"x": "y"}}),
            "/fields/x",
        ),
    ] {
        let response = send(&api, "PUT", &format!("{path}/credentials"), &sent);
        assert_eq!(response.status, 400, "{sent}: {}", text(&response));
        assert_eq!(body(&response)["errors"][0]["pointer"], pointer, "{sent}");
    }
    let unknown = "/v1/vault/connections/00000000-0000-4000-8000-000000000000/credentials";
    let sent = json!({"type": "basic", "username": "u", "password": "p"});
    assert_eq!(send(&api, "PUT", unknown, &sent).status, 404);
    assert_eq!(api.get(unknown).status, 404);
}

#[test]
fn imported_credentials_cannot_choose_the_token_host() {
    let api = api();
    set_client(&api, "hosted");
    let path = create(&api, "hosted");
    let import = |host: Option<&str>| {
        let mut sent = json!({"type": "oauth2", "refreshToken": "rt-0"});
        if let Some(host) = host {
            sent["fields"] = json!({"host": host});
        }
        send(&api, "PUT", &format!("{path}/credentials"), &sent)
    };
    let refused = |host: &str| {
        let response = import(Some(host));
        assert_eq!(response.status, 400, "{}", text(&response));
        assert_eq!(body(&response)["errors"][0]["pointer"], "/fields/host");
    };
    // Without a client, the service does not know which host may receive the secret.
    refused("evil.example");
    let client = |host: &str| {
        let client = json!({"clientId": "an id", "clientSecret": "s", "variables": {"host": host}});
        assert_eq!(send(&api, "PUT", "/v1/oauth-clients/hosted", &client).status, 200);
    };
    client("id.hosted.example");
    refused("evil.example");
    assert_eq!(import(Some("id.hosted.example")).status, 204);
    assert_eq!(import(None).status, 204);
    // Changing the client's host also applies to stored credentials.
    client("new.hosted.example");
    script(&api, &[(200, json!({"access_token": "at-1", "refresh_token": "rt-1"}))]);
    let refreshed = api.get(&format!("{path}/credentials"));
    assert_eq!(body(&refreshed)["accessToken"], "at-1", "{}", text(&refreshed));
    assert_eq!(api.env.sent.borrow().last().unwrap().url, "https://new.hosted.example/token");
}

#[test]
fn expired_refreshable_tokens_can_be_imported() {
    let api = api();
    set_client(&api, "app");
    let path = create(&api, "app");
    let sent = json!({"type": "oauth2", "accessToken": "old"});
    script(&api, &[(401, json!({}))]);
    let stored = send(&api, "PUT", &format!("{path}/credentials"), &sent);
    assert_eq!(stored.status, 204, "{}", text(&stored));
    // Any other status is inconclusive, so the credentials are stored.
    script(&api, &[(403, json!({}))]);
    let stored = send(&api, "PUT", &format!("{path}/credentials"), &sent);
    assert_eq!(stored.status, 204, "{}", text(&stored));
}

#[test]
fn keys_are_used_after_their_stated_expiry() {
    let api = api();
    for (platform, mut sent, checked) in [
        ("keyed", json!({"type": "api_key", "apiKey": "k"}), 200),
        ("plain", json!({"type": "basic", "username": "u", "password": "p"}), 409),
    ] {
        let path = create(&api, platform);
        sent["expiresAt"] = json!("2020-01-01T00:00:00Z");
        script(&api, &[(200, json!({})), (200, json!({"id": 1})), (200, json!({}))]);
        assert_eq!(send(&api, "PUT", &format!("{path}/credentials"), &sent).status, 204);
        assert_eq!(api.get(&format!("{path}/credentials")).status, 200, "{platform}");
        let check = api.send(&api.request("POST", &format!("{path}/check")));
        assert_eq!(check.status, checked, "{}", text(&check));
        let status = body(&api.get(&format!("{path}/status")));
        assert_eq!(status["attempts"], 0, "{status}");
    }
}

#[test]
fn a_deleted_connection_leaves_no_credentials() {
    let api = api();
    script(&api, &[(200, json!({})), (200, json!({"id": 1}))]);
    let mut sent = ann_connect_body("keyed");
    sent["fields"] = json!({"apiKey": "k"});
    let id = body(&connect(&api, &sent))["id"].as_str().unwrap().to_owned();
    assert_eq!(rows(&api, "credentials"), 1);
    let deleted = api.send(&api.request("DELETE", &format!("/v1/vault/connections/{id}")));
    assert_eq!(deleted.status, 204);
    assert_eq!((rows(&api, "credentials"), rows(&api, "revocations")), (0, 0));
}

#[test]
fn deleting_a_connection_revokes_its_grant() {
    for (answered, remaining) in [(200, 0), (400, 0), (503, 1), (0, 1)] {
        let api = api();
        // The database records the time of a deletion with its own clock.
        let sql = "SELECT unixepoch() * 1000";
        let now: i64 = api.env.database.query_row(sql, [], |row| row.get(0)).unwrap();
        api.env.now.set(now.try_into().unwrap());
        set_client(&api, "revoked");
        let tokens = json!({"access_token": "at", "refresh_token": "rt"});
        let id = connected(&api, &ann_connect_body("revoked"), &tokens);
        api.env.sent.borrow_mut().clear();
        script(&api, &[(answered, json!({}))]);
        let deleted = api.send(&api.request("DELETE", &format!("/v1/vault/connections/{id}")));
        assert_eq!(deleted.status, 204);
        assert_eq!(value_of(&form(&api, 0), "token").as_deref(), Some("rt"));
        assert_eq!(api.env.sent.borrow()[0].url, "https://id.acme.example/revoke");
        assert_eq!(
            (rows(&api, "credentials"), rows(&api, "revocations")),
            (0, remaining),
            "{answered}"
        );
        // Encrypted tokens that wait for revocation are deleted after a week.
        let sql = "UPDATE revocations SET created_at = created_at - 604810000";
        api.env.database.execute(sql, []).unwrap();
        let other = create(&api, "plain");
        assert_eq!(api.send(&api.request("DELETE", &other)).status, 204);
        assert_eq!(rows(&api, "revocations"), 0);
    }
}

#[test]
fn ciphertexts_cannot_be_moved_to_another_row() {
    let api = api();
    let ids: Vec<String> = ["a-secret", "b-secret"]
        .into_iter()
        .map(|identity| {
            script(&api, &[(200, json!({})), (200, json!({"id": 1}))]);
            let sent = json!({
                "platform": "keyed", "identity": identity, "identityType": "user", "fields": {"apiKey": identity},
            });
            body(&connect(&api, &sent))["id"].as_str().unwrap().to_owned()
        })
        .collect();
    let sql = "UPDATE credentials SET sealed = (SELECT sealed FROM credentials WHERE connection_id = ?1) WHERE connection_id = ?2";
    api.env.database.execute(sql, [&ids[0], &ids[1]]).unwrap();
    let response = api.get(&format!("/v1/vault/connections/{}/credentials", ids[1]));
    assert_eq!(response.status, 503);
    assert!(!text(&response).contains("-secret"));
    let first = api.get(&format!("/v1/vault/connections/{}/credentials", ids[0]));
    assert_eq!(body(&first)["apiKey"], "a-secret");
}

#[test]
fn apps_without_stored_credentials_report_the_state() {
    let api = api();
    let path = create(&api, "acme");
    let report = json!({"state": "failed", "reason": "They said no."});
    assert_eq!(send(&api, "PUT", &format!("{path}/state"), &report).status, 200);
    let status = body(&api.get(&format!("{path}/status")));
    assert_eq!(
        status["reason"],
        json!({"code": "reported", "detail": "They said no.", "httpStatus": null})
    );
    assert_eq!((&status["actor"], &status["holdsCredentials"]), (&json!("user"), &json!(false)));
    // The vault stores credentials, so it determines the state itself.
    script(&api, &[(200, json!({})), (200, json!({"id": 1}))]);
    let mut sent = ann_connect_body("keyed");
    sent["fields"] = json!({"apiKey": "k"});
    let id = body(&connect(&api, &sent))["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/vault/connections/{id}");
    let before = body(&api.get(&path));
    let refused = send(&api, "PUT", &format!("{path}/state"), &report);
    assert_eq!((refused.status, &body(&refused)["code"]), (409, &json!("credentials_held")));
    assert_eq!(body(&api.get(&path)), before);
}
