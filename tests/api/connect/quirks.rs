//! Special requirements of individual authorization servers: redirect URI, exchange, revocation and
//! PKCE.

use super::*;

fn api_with_method(extra: &Value) -> Api {
    api_of(&[("acme", json!({"authMethods": [oauth("oauth", extra)]}))])
}

const CLIENT: &str = "/v1/oauth-clients/acme";

fn set(api: &Api, extra: &Value) -> Response {
    let mut sent = json!({"clientId": "an id", "clientSecret": "a:secret"});
    for (name, value) in extra.as_object().unwrap() {
        sent[name] = value.clone();
    }
    send(api, "PUT", CLIENT, &sent)
}

#[test]
fn codes_are_sent_to_the_host_of_the_oauth_client() {
    let api =
        api_with_method(&json!({"redirectUri": "{ruName}", "fields": [field("ruName", false)]}));
    let mut expected = ann_connect_body("acme");
    expected["fields"] = json!({"ruName": "evil"});
    let refusal = connect(&api, &expected);
    assert_eq!((refusal.status, &body(&refusal)["code"]), (409, &json!("oauth_client_missing")));
    assert_eq!(set(&api, &json!({"variables": {"ruName": "Acme-Ru"}})).status, 200);
    for fields in [json!({}), json!({"ruName": "evil"})] {
        expected["fields"] = fields;
        let (_, link) = start_attempt(&api, &expected);
        let browser = Browser::default();
        let (_, query) = browser.follow(&api, &link);
        assert_eq!(value_of(&query, "redirect_uri").as_deref(), Some("Acme-Ru"));
        api.env.sent.borrow_mut().clear();
        script(&api, &[(400, json!({"error": "invalid_grant"}))]);
        browser.back(&api, &format!("code=c&state={}", value_of(&query, "state").unwrap()));
        assert_eq!(value_of(&form(&api, 0), "redirect_uri").as_deref(), Some("Acme-Ru"));
    }
}

#[test]
fn the_exchange_repeats_parameters_of_the_redirect() {
    let api = api_with_method(&json!({"callbackParameters": ["state", "context", "scope"]}));
    let (_, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    api.env.sent.borrow_mut().clear();
    script(&api, &[(200, json!({"access_token": "at"}))]);
    let back = format!("code=c&state={state}&context=stores%2Fa&grant_type=password&client_id=x");
    browser.back(&api, &back);
    let exchange = form(&api, 0);
    for (name, expected) in [
        ("state", Some(state.as_str())),
        ("context", Some("stores/a")),
        ("scope", None),
        ("grant_type", Some("authorization_code")),
        ("client_id", None),
    ] {
        assert_eq!(value_of(&exchange, name).as_deref(), expected, "{name}");
    }
}

#[test]
fn revocations_follow_the_catalog() {
    let api = api_with_method(&json!({
        "revocationUrl": "https://id.acme.example/revoke", "revocationBody": "json",
        "revocationToken": "access_token", "tokenHeaders": {"Api-Version": "2"}, "tokenBody": "json",
    }));
    let id = connected(
        &api,
        &ann_connect_body("acme"),
        &json!({"access_token": "at", "refresh_token": "rt"}),
    );
    let sent = api.env.sent.borrow_mut().pop().unwrap();
    assert!(sent.headers.contains(&("api-version".into(), "2".into())), "{:?}", sent.headers);
    api.env.sent.borrow_mut().clear();
    script(&api, &[(200, json!({}))]);
    let deleted = api.send(&api.request("DELETE", &format!("/v1/vault/connections/{id}")));
    assert_eq!(deleted.status, 204);
    let sent = api.env.sent.borrow();
    let query: Value = serde_json::from_slice(&sent[0].body).unwrap();
    assert_eq!(query, json!({"token": "at", "token_type_hint": "access_token"}));
    for (name, value) in [("api-version", "2"), ("content-type", "application/json")] {
        assert!(sent[0].headers.contains(&(name.into(), value.into())), "{name}");
    }
}

#[test]
fn account_credentials_get_a_new_token_on_expiry() {
    let api = api_with_method(&json!({
        "grant": "account_credentials", "authorizationUrl": null,
        "tokenParameters": {"account_id": "{accountId}"}, "fields": [field("accountId", false)],
    }));
    let mut expected = ann_connect_body("acme");
    expected["fields"] = json!({"accountId": "42"});
    api.env.sent.borrow_mut().clear();
    script(&api, &[(200, json!({"access_token": "at-1", "expires_in": 3600}))]);
    let response = connect(&api, &expected);
    assert_eq!(response.status, 201, "{}", body(&response));
    let id = body(&response)["id"].as_str().unwrap().to_owned();
    api.env.wait(3_600_001);
    script(&api, &[(200, json!({"access_token": "at-2", "expires_in": 3600}))]);
    let credentials = body(&api.get(&format!("/v1/vault/connections/{id}/credentials")));
    assert_eq!(credentials["accessToken"], "at-2");
    for index in 0..2 {
        let query = form(&api, index);
        assert_eq!(value_of(&query, "grant_type").as_deref(), Some("account_credentials"));
        assert_eq!(value_of(&query, "account_id").as_deref(), Some("42"));
    }
}

#[test]
fn the_oauth_client_determines_whether_pkce_is_used() {
    for (of_catalog, of_client, is_used) in [
        ("S256", json!(null), true),
        ("none", json!(null), false),
        ("S256", json!("none"), false),
        ("none", json!("S256"), true),
    ] {
        let api = api_with_method(&json!({"pkce": of_catalog}));
        let extra = if of_client.is_null() { json!({}) } else { json!({"pkce": of_client}) };
        let set_response = set(&api, &extra);
        assert_eq!((set_response.status, &body(&set_response)["pkce"]), (200, &of_client));
        let (_, link) = start_attempt(&api, &ann_connect_body("acme"));
        let browser = Browser::default();
        let (_, query) = browser.follow(&api, &link);
        assert_eq!(
            value_of(&query, "code_challenge").is_some(),
            is_used,
            "{of_catalog} {of_client}"
        );
        api.env.sent.borrow_mut().clear();
        script(&api, &[(200, json!({"access_token": "at"}))]);
        browser.back(&api, &format!("code=c&state={}", value_of(&query, "state").unwrap()));
        assert_eq!(
            value_of(&form(&api, 0), "code_verifier").is_some(),
            is_used,
            "{of_catalog} {of_client}"
        );
    }
    let api = api_with_method(&json!({}));
    let refusal = set(&api, &json!({"pkce": "plain"}));
    assert_eq!((refusal.status, &body(&refusal)["errors"][0]["pointer"]), (400, &json!("/pkce")));
}
