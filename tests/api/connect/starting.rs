//! Starting connect attempts: callers, limits and refusals.

use connector_vault::terms::{Environment, Scope};

use super::oauth::tokens;
use super::*;

#[test]
fn a_token_connects_for_its_own_identity_only() {
    let api = api();
    set_client(&api, "acme");
    let token = token(
        &api,
        &json!({"identity": "ann", "identityType": "user", "platforms": ["acme"], "scopes": ["connections:connect"]}),
    );
    let send = |sent: Value| api.send(&as_token(&token, "POST", "/v1/vault/connect", &sent));
    for (sent, status) in [
        (json!({"platform": "acme", "identity": "bob"}), 403),
        (json!({"platform": "acme", "identityType": "team"}), 403),
        (json!({"platform": "keyed"}), 403),
        (json!({"platform": "acme", "identity": "ann", "identityType": "user"}), 202),
        (json!({"platform": "acme"}), 202),
    ] {
        let response = send(sent.clone());
        assert_eq!(response.status, status, "{sent}: {}", body(&response));
    }
    // A token without a restriction on the identity type may name any type.
    let any = json!({"identity": "ann", "scopes": ["connections:connect"]});
    let any = crate::connect::token(&api, &any);
    let of_team = json!({"platform": "acme", "identityType": "team"});
    api.env.wait(1);
    let response = api.send(&as_token(&any, "POST", "/v1/vault/connect", &of_team));
    assert_eq!(response.status, 202, "{}", body(&response));
    let newest = body(&api.get("/v1/vault/connect?identity=ann&limit=1"));
    assert_eq!(newest["rows"][0]["identityType"], "team", "{newest}");
    // For ann's token, bob's connection and attempt do not exist.
    let (bobs, _) = start_attempt(
        &api,
        &json!({"platform": "acme", "identity": "bob", "identityType": "user"}),
    );
    let get = |path: &str| api.send(&as_secret(&token, "GET", path)).status;
    assert_eq!(get(&format!("/v1/vault/connect/{bobs}")), 404);
    let id = connected(
        &api,
        &json!({"platform": "acme", "identity": "bob", "identityType": "user"}),
        &tokens(),
    );
    assert_eq!(send(json!({"connection": id})).status, 404);
    assert_eq!(get(&format!("/v1/vault/connections/{id}/credentials")), 403);
    assert_eq!(get("/v1/oauth-clients"), 403);
}

#[test]
fn another_account_sees_no_attempt() {
    let api = api();
    set_client(&api, "acme");
    let (id, _) = start_attempt(&api, &ann_connect_body("acme"));
    for (account, environment) in [("beta", Environment::Test), ("acme", Environment::Live)] {
        let key = api.env.key(account, environment, &Scope::ALL, None);
        let request = crate::support::as_key(&key, "GET", &format!("/v1/vault/connect/{id}"));
        let response = api.send(&request);
        assert_eq!((response.status, &body(&response)["code"]), (404, &json!("attempt_not_found")));
        let request = crate::support::as_key(&key, "POST", "/v1/vault/connect");
        let response = api.send(&with_body(request, &ann_connect_body("acme").to_string()));
        assert_eq!(body(&response)["code"], "oauth_client_missing");
    }
}

#[test]
fn open_attempts_are_limited() {
    let api = api();
    set_client(&api, "acme");
    for _ in 0..20 {
        start_attempt(&api, &ann_connect_body("acme"));
    }
    let response = connect(&api, &ann_connect_body("acme"));
    assert_eq!(response.status, 429, "{}", body(&response));
    assert_eq!(response.header("retry-after"), Some("600"));
    assert_eq!(
        body(&response)["detail"],
        "This identity has 20 open connect attempts, which is the maximum. Finish one, or wait until they expire."
    );
    start_attempt(&api, &json!({"platform": "acme", "identity": "bob", "identityType": "user"}));
    // Attempts expire. They are deleted a day later, a few with each new attempt.
    api.env.now.set(api.env.now.get() + 600_000);
    start_attempt(&api, &ann_connect_body("acme"));
    assert_eq!(rows(&api, "connect_attempts"), 22);
    api.env.now.set(api.env.now.get() + 86_400_001);
    start_attempt(&api, &ann_connect_body("acme"));
    assert_eq!(rows(&api, "connect_attempts"), 18);
}

#[test]
fn a_token_starts_a_limited_number_of_attempts() {
    let api = api();
    set_client(&api, "acme");
    let session_token = token(
        &api,
        &json!({"identity": "ann", "identityType": "user", "scopes": ["connections:connect"]}),
    );
    let start = || {
        let sent = json!({"platform": "acme", "tags": ["x".repeat(128)], "lang": "fr"});
        api.send(&as_token(&session_token, "POST", "/v1/vault/connect", &sent))
    };
    for _ in 0..80 {
        let response = start();
        assert_eq!(response.status, 202, "{}", body(&response));
        decline_at_platform(
            &api,
            body(&response)["authorizationUrl"].as_str().unwrap(),
            "access_denied",
        );
    }
    let kept = "SELECT DISTINCT quote(status) || quote(tags) || quote(sealed) || quote(presets) FROM connect_attempts";
    assert_eq!(api.env.texts(kept), [r#"'failed'NULLNULL'{"l":"fr"}'"#]);
    let response = start();
    assert_eq!((response.status, response.header("retry-after")), (429, Some("600")));
    assert_eq!(
        body(&response)["detail"],
        "This identity has started 80 connect attempts within 10 minutes, which is the maximum. Wait, then retry."
    );
    assert_eq!(rows(&api, "connect_attempts"), 80);
    // The limit does not apply to keys, and other identities are not affected.
    start_attempt(&api, &ann_connect_body("acme"));
    start_attempt(&api, &json!({"platform": "acme", "identity": "bob", "identityType": "user"}));
    api.env.now.set(api.env.now.get() + 600_000);
    assert_eq!(start().status, 202);
}

#[test]
fn expired_and_interrupted_attempts_keep_neither_secrets_nor_tags() {
    let api = api();
    for platform in ["acme", "shops"] {
        set_client(&api, platform);
    }
    let mut tagged = ann_connect_body("acme");
    (tagged["tags"], tagged["lang"]) = (json!(["a"]), json!("fr"));
    start_attempt(&api, &tagged);
    let mut of_window = ann_connect_body("keyed");
    (of_window["link"], of_window["lang"]) = (json!(true), json!("de"));
    start_attempt(&api, &of_window);
    let (id, _, _) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    let interrupted =
        format!("UPDATE connect_attempts SET status = 'exchanging' WHERE id = '{id}'");
    api.env.database.execute(&interrupted, []).unwrap();
    for _ in 0..100 {
        api.env.database.execute_batch("INSERT INTO connect_attempts SELECT lower(hex(randomblob(18))), account, environment, key_id, status, connection_id, reconnects, allow_other_account, platform, platform_version, description, auth_method, client, identity, identity_type, label, name, tags, scopes, return_url, presets, hex(randomblob(9)), hex(randomblob(9)), browser_hash, sealed, claimed_by, claimed_at, error_code, error_detail, created_at, expires_at FROM connect_attempts WHERE tags IS NOT NULL LIMIT 1").unwrap();
    }
    let full = || {
        api.env
            .texts("SELECT id FROM connect_attempts WHERE sealed IS NOT NULL OR tags IS NOT NULL")
            .len()
    };
    let minute = || {
        let faults = connector_vault::jobs::run_minute(&api.service, &api.env);
        assert_eq!(pollster::block_on(faults).unwrap(), Vec::<String>::new());
    };
    api.env.wait(600_000);
    minute();
    assert_eq!(full(), 102, "an exchange may still need them");
    api.env.wait(60_001);
    minute();
    assert_eq!(full(), 2, "a run empties up to 100");
    minute();
    assert_eq!(full(), 0);
    let presets = "SELECT DISTINCT quote(presets) FROM connect_attempts ORDER BY 1";
    assert_eq!(api.env.texts(presets), [r#"'{"l":"de"}'"#, r#"'{"l":"fr"}'"#, "NULL"]);
}

#[test]
fn open_attempts_of_an_account_are_limited() {
    let api = api();
    set_client(&api, "acme");
    let connect_body = |index: usize| json!({"platform": "acme", "identity": format!("user {}", index / 20), "identityType": "user"});
    for index in 0..1000 {
        start_attempt(&api, &connect_body(index));
    }
    let response = connect(&api, &connect_body(1000));
    assert_eq!(response.status, 429, "{}", body(&response));
    assert_eq!(
        body(&response)["detail"],
        "This account has 1000 open connect attempts, which is the maximum. Finish one, or wait until they expire."
    );
    assert_eq!(rows(&api, "connect_attempts"), 1000);
    api.env.now.set(api.env.now.get() + 600_000);
    start_attempt(&api, &connect_body(1000));
}

#[test]
fn user_input_cannot_choose_the_token_host() {
    let api = api();
    for platform in ["shops", "hosted"] {
        set_client(&api, platform);
    }
    let sent = |platform: &str, name: &str, value: &str| {
        let mut sent = ann_connect_body(platform);
        sent["fields"] = json!({name: value});
        connect(&api, &sent)
    };
    assert_eq!(sent("shops", "shop", "ann").status, 202);
    for value in [
        "evil.example#",
        "a@b",
        "..",
        "a..b",
        "a/",
        "a?",
        "a\\b",
        "a:1",
        "%2e",
        "ä",
        "ann.",
        ".ann",
        "",
        "ｅvil",
    ] {
        let response = sent("shops", "shop", value);
        assert_eq!(response.status, 400, "{value:?}: {}", text(&response));
        assert_eq!(body(&response)["errors"][0]["pointer"], "/fields/shop", "{value:?}");
    }
    // Only the app can set the client's variables, so the response does not ask the user for
    // fields.
    let detail = "The OAuth client for `hosted` must set its `variables` `host`, which decide who receives its secret and tokens.";
    for refused in
        [sent("hosted", "host", "evil.example"), connect(&api, &ann_connect_body("hosted"))]
    {
        let refused = (refused.status, body(&refused));
        assert_eq!((refused.0, &refused.1["code"]), (409, &json!("oauth_client_missing")));
        assert_eq!(refused.1["detail"], detail);
    }
    let faulty = sent("hosted", "shop", "ann");
    assert_eq!(
        (faulty.status, &body(&faulty)["errors"][0]["pointer"]),
        (400, &json!("/fields/shop"))
    );
    assert_eq!(body(&faulty)["errors"].as_array().map(Vec::len), Some(1));
    let client = json!({"clientId": "an id", "clientSecret": "a:secret", "variables": {"host": "id.hosted.example"}});
    assert_eq!(send(&api, "PUT", "/v1/oauth-clients/hosted", &client).status, 200);
    let (_, link) = start_attempt(&api, &ann_connect_body("hosted"));
    let (address, _) = Browser::default().follow(&api, &link);
    assert_eq!(address, "https://id.hosted.example/authorize");
    // Only a host in the catalog is accepted.
    set_client(&api, "standard");
    start_attempt(&api, &ann_connect_body("standard"));
    assert_eq!(sent("standard", "host", "id.standard.example").status, 202);
    assert_eq!(sent("standard", "host", "evil.example").status, 409);
    // Only one of the hosts that the catalog lists is accepted.
    set_client(&api, "regional");
    let of_region = |host: &str| {
        let mut sent = ann_connect_body("regional");
        sent["authMethod"] = json!("oauth");
        sent["fields"] = json!({"host": host});
        connect(&api, &sent).status
    };
    assert_eq!((of_region("us.regional.example"), of_region("evil.example")), (202, 400));
}

#[test]
fn a_missing_client_is_reported_before_missing_fields() {
    let api = api();
    let refused = connect(&api, &ann_connect_body("shops"));
    assert_eq!((refused.status, &body(&refused)["code"]), (409, &json!("oauth_client_missing")));
    set_client(&api, "shops");
    let requested = connect(&api, &ann_connect_body("shops"));
    assert_eq!(
        (requested.status, &body(&requested)["errors"][0]["pointer"]),
        (400, &json!("/fields/shop"))
    );
}

#[test]
fn return_urls_need_an_allowed_origin() {
    let api = api();
    set_client(&api, "acme");
    for (url, status) in [
        ("https://app.example/x", 202),
        ("https://vault.example/x", 202),
        ("https://evil.example/x", 400),
        ("https://app.example.evil.example/", 400),
        ("//app.example", 400),
        ("javascript:alert(1)", 400),
        ("http://app.example/", 400),
        ("http://localhost:5173/", 400),
        ("/done", 400),
    ] {
        let mut sent = ann_connect_body("acme");
        sent["returnUrl"] = json!(url);
        let response = connect(&api, &sent);
        assert_eq!(response.status, status, "{url}: {}", body(&response));
    }
    let token = token(
        &api,
        &json!({"identity": "ann", "scopes": ["connections:connect"], "origins": ["https://other.example"]}),
    );
    for (url, status) in [
        ("https://other.example/", 202),
        ("https://vault.example/connected", 202),
        ("https://app.example/", 400),
    ] {
        let sent = json!({"platform": "acme", "returnUrl": url});
        let request = as_token(&token, "POST", "/v1/vault/connect", &sent);
        let response = api.send(&with_header(request, "origin", "https://other.example"));
        assert_eq!(response.status, status, "{url}: {}", body(&response));
    }
}

#[test]
fn wait_returns_as_soon_as_the_attempt_ends() {
    let api = api();
    set_client(&api, "acme");
    let (id, _) = start_attempt(&api, &ann_connect_body("acme"));
    let response = api.get(&format!("/v1/vault/connect/{id}?wait=3"));
    assert_eq!(body(&response)["status"], "pending");
    assert!(!api.env.pauses.borrow().is_empty());
    // The attempt has ended, so `wait` returns immediately.
    let (over, link) = start_attempt(&api, &ann_connect_body("acme"));
    let browser = Browser::default();
    let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
    browser.back(&api, &format!("error=access_denied&state={state}"));
    api.env.pauses.borrow_mut().clear();
    let response = api.get(&format!("/v1/vault/connect/{over}?wait=3"));
    assert_eq!(body(&response)["status"], "failed");
    assert!(api.env.pauses.borrow().is_empty());
    for wait in ["0", "26", "x", ""] {
        assert_eq!(api.get(&format!("/v1/vault/connect/{id}?wait={wait}")).status, 400, "{wait}");
    }
}

#[test]
fn attempts_need_vault_keys() {
    let api = api_with(&[]);
    for (method, path, sent) in [
        ("POST", "/v1/vault/connect", ann_connect_body("acme")),
        ("PUT", "/v1/oauth-clients/acme", json!({"clientId": "a", "clientSecret": "b"})),
    ] {
        let response = send(&api, method, path, &sent);
        assert_eq!(response.status, 503, "{path}");
        assert!(body(&response)["detail"].as_str().unwrap().contains("VAULT_KEYS"));
    }
}
