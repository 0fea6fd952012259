//! Auth methods without a redirect: keys, passwords and client credentials.

use super::*;

fn ann_connect_body_with(platform: &str, fields: &Value) -> Value {
    let mut sent = ann_connect_body(platform);
    sent["fields"] = fields.clone();
    sent
}

#[test]
fn a_key_is_checked_at_the_platform_before_it_is_stored() {
    let api = api();
    let sent = ann_connect_body_with("keyed", &json!({"apiKey": "k-secret"}));
    script(&api, &[(401, json!({}))]);
    let refusal = connect(&api, &sent);
    assert_eq!((refusal.status, &body(&refusal)["code"]), (422, &json!("credentials_rejected")));
    assert!(!text(&refusal).contains("k-secret"));
    assert_eq!((rows(&api, "connections"), rows(&api, "credentials")), (0, 0));
    script(&api, &[(200, json!({})), (200, json!({"id": "u-1"}))]);
    let response = connect(&api, &sent);
    assert_eq!(response.status, 201, "{}", body(&response));
    let connection = body(&response);
    assert_eq!(connection["state"], "operational");
    let path = format!("/v1/vault/connections/{}", connection["id"].as_str().unwrap());
    assert_eq!(response.header("location"), Some(format!("{ORIGIN}{path}").as_str()));
    {
        let sent = api.env.sent.borrow();
        let last = sent.last().unwrap();
        assert_eq!(last.url, "https://api.keyed.example/me");
        assert!(last.headers.contains(&("x-key".into(), "k-secret".into())));
    }
    let credentials = body(&api.get(&format!("{path}/credentials")));
    let expected = json!({
        "type": "api_key", "authMethod": "key", "apiKey": "k-secret", "headers": {"x-key": "k-secret"}, "query": {},
    });
    assert_eq!(credentials, expected);
    assert!(!dump_all_tables(&api).contains("k-secret"));

    // A second connection of the account fails. A reconnection is checked, and one to another
    // account changes nothing.
    script(&api, &[(200, json!({})), (200, json!({"id": "u-2"}))]);
    assert_eq!(body(&connect(&api, &sent))["code"], "connection_exists");
    let again = json!({"connection": connection["id"], "fields": {"apiKey": "other"}});
    let refusal = connect(&api, &again);
    assert_eq!((refusal.status, &body(&refusal)["code"]), (422, &json!("account_mismatch")));
    // The user learns which account is expected.
    assert!(text(&refusal).contains("keeps the previous one, “u-1”."), "{}", text(&refusal));
    assert_eq!(body(&api.get(&format!("{path}/credentials")))["apiKey"], "k-secret");
    script(&api, &[(200, json!({})), (200, json!({"id": "u-1"}))]);
    let reconnected = connect(&api, &again);
    assert_eq!(reconnected.status, 200, "{}", body(&reconnected));
    assert_eq!(body(&reconnected)["id"], connection["id"]);
    assert_eq!(body(&reconnected)["version"], "2");
    assert_eq!(body(&api.get(&format!("{path}/credentials")))["apiKey"], "other");
    // `allowOtherAccount` permits another account. This platform identifies accounts by numbers.
    let mut again = again;
    for (allowed, account, status) in [(true, 2, 200), (false, 2, 200), (false, 3, 422)] {
        again["allowOtherAccount"] = json!(allowed);
        script(&api, &[(200, json!({})), (200, json!({"id": account}))]);
        assert_eq!(connect(&api, &again).status, status, "{allowed} {account}");
    }
}

#[test]
fn redirects_do_not_verify_a_key() {
    let api = api();
    script(&api, &[(302, json!({}))]);
    let response = connect(&api, &ann_connect_body_with("elsewhere", &json!({"apiKey": "k"})));
    assert_eq!((response.status, &body(&response)["state"]), (201, &json!("unknown")));
    assert_eq!(api.env.sent.borrow()[0].url, "https://login.elsewhere.example/me");
}

#[test]
fn unverifiable_credentials_are_stored_as_unknown() {
    let api = api();
    for (platform, extra, fields, shown) in [
        (
            "plain",
            json!({"authMethod": "basic"}),
            json!({"username": "Aladdin", "password": "open sesame"}),
            json!({
                "type": "basic", "authMethod": "basic", "username": "Aladdin", "password": "open sesame",
                "headers": {"authorization": "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="}, "query": {},
            }),
        ),
        (
            "amazon",
            json!({}),
            json!({"accessKeyId": "AKIA", "secretAccessKey": "s", "region": "eu-central-1"}),
            json!({
                "type": "aws_sigv4", "authMethod": "aws", "accessKeyId": "AKIA", "secretAccessKey": "s",
                "sessionToken": null, "region": "eu-central-1", "headers": {}, "query": {},
            }),
        ),
    ] {
        let mut sent = ann_connect_body_with(platform, &fields);
        for (name, value) in extra.as_object().unwrap() {
            sent[name] = value.clone();
        }
        let response = connect(&api, &sent);
        assert_eq!(response.status, 201, "{}", body(&response));
        let connection = body(&response);
        assert_eq!(connection["state"], "unknown");
        let path = format!("/v1/vault/connections/{}", connection["id"].as_str().unwrap());
        assert_eq!(body(&api.get(&format!("{path}/credentials"))), shown);
        assert_eq!(body(&api.get(&format!("{path}/status")))["holdsCredentials"], true);
    }
}

#[test]
fn client_credentials_get_a_token() {
    let api = api();
    let none = connect(&api, &ann_connect_body("app"));
    assert_eq!((none.status, &body(&none)["code"]), (409, &json!("oauth_client_missing")));
    set_client(&api, "app");
    script(&api, &[(401, json!({"error": "invalid_client"}))]);
    assert_eq!(body(&connect(&api, &ann_connect_body("app")))["code"], "credentials_rejected");
    // The platform returned a token, so the connection works, even if the check returns a redirect.
    script(&api, &[(200, json!({"access_token": "t", "expires_in": "60"})), (302, json!({}))]);
    let response = connect(&api, &ann_connect_body("app"));
    assert_eq!((response.status, &body(&response)["state"]), (201, &json!("operational")));
    assert_eq!(value_of(&form(&api, 1), "grant_type").as_deref(), Some("client_credentials"));
    assert_eq!(value_of(&form(&api, 1), "scope").as_deref(), Some("read"));
    // A new token is requested shortly before the old one expires.
    let id = body(&response)["id"].as_str().unwrap().to_owned();
    api.env.now.set(api.env.now.get() + 59_000);
    script(&api, &[(200, json!({"access_token": "u", "expires_in": 60}))]);
    let credentials = body(&api.get(&format!("/v1/vault/connections/{id}/credentials")));
    assert_eq!(credentials["accessToken"], "u");
}

#[test]
fn reports_all_errors_of_a_request() {
    let api = api();
    for (sent, pointers) in [
        (json!({}), vec!["/identity", "/identityType", "/platform"]),
        (
            json!({"platform": "keyed", "identity": "a,b", "identityType": "user"}),
            vec!["/identity"],
        ),
        (ann_connect_body("keyed"), vec!["/fields/apiKey"]),
        (ann_connect_body_with("keyed", &json!({"apiKey": "k", "x": "y"})), vec!["/fields/x"]),
        (ann_connect_body_with("keyed", &json!({"apiKey": "a\nb"})), vec!["/fields/apiKey"]),
        (ann_connect_body_with("keyed", &json!({"apiKey": "a\u{200b}"})), vec!["/fields/apiKey"]),
        (
            json!({"platform": "plain", "identity": "ann", "identityType": "user", "authMethod": "basic", "fields": {"username": "a:b", "password": "a:b"}}),
            vec!["/fields/username"],
        ),
        (ann_connect_body_with("keyed", &json!({"apiKey": 7})), vec!["/fields/apiKey"]),
        (ann_connect_body_with("keyed", &json!([])), vec!["/fields"]),
        (ann_connect_body("plain"), vec!["/authMethod"]),
        (ann_connect_body("nothing"), vec!["/authMethod"]),
        (
            json!({"platform": "keyed", "identity": "ann", "identityType": "user", "authMethod": "x"}),
            vec!["/authMethod"],
        ),
        (
            json!({"platform": "keyed", "identity": "ann", "identityType": "user", "authMethod": "A"}),
            vec!["/authMethod"],
        ),
        (
            json!({"platform": "keyed", "identity": "ann", "identityType": "user", "scopes": ["a"], "fields": {"apiKey": "k"}}),
            vec!["/scopes"],
        ),
        (json!({"connection": "x"}), vec!["/connection"]),
        (
            json!({"connection": "00000000-0000-4000-8000-000000000000", "platform": "keyed", "label": "a"}),
            vec!["/platform", "/label"],
        ),
        (ann_connect_body("unknown"), vec!["/platform"]),
        (
            json!({"platform": "keyed", "identity": "ann", "identityType": "user", "flavour": 1}),
            vec!["/flavour"],
        ),
    ] {
        let response = connect(&api, &sent);
        let reply = body(&response);
        assert_eq!(response.status, 400, "{sent}: {reply}");
        let found: Vec<&str> = reply["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|fault| fault["pointer"].as_str().unwrap())
            .collect();
        let (mut found, mut expected) = (found, pointers);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{sent}: {reply}");
    }
    let unknown = json!({"connection": "00000000-0000-4000-8000-000000000000"});
    assert_eq!(connect(&api, &unknown).status, 404);
}

#[test]
fn former_names_resolve_to_the_platform() {
    let api = api();
    script(&api, &[(200, json!({})), (200, json!({"id": 1}))]);
    let response = connect(&api, &ann_connect_body_with("old-keyed", &json!({"apiKey": "k"})));
    assert_eq!(body(&response)["platform"], "keyed");
}
