//! Reconnecting, and the revocation of tokens that are not stored.

use super::oauth::tokens;
use super::*;

/// Completes an attempt in which the platform returns tokens of `account`. Returns the attempt's
/// outcome.
fn complete_attempt(api: &Api, sent: &Value, account: u64, second_status: u16) -> Value {
    let (id, link) = start_attempt(api, sent);
    let browser = Browser::default();
    let state = value_of(&browser.follow(api, &link).1, "state").unwrap();
    let tokens = json!({"access_token": format!("at-{account}"), "refresh_token": format!("rt-{account}"), "id_token": id_token(account)});
    script(api, &[(200, tokens), (second_status, json!({}))]);
    api.env.sent.borrow_mut().clear();
    browser.back(api, &format!("code=c&state={state}"));
    attempt(api, &id)
}

#[test]
fn unused_tokens_are_revoked() {
    let api = api();
    set_client(&api, "revoked");
    let ended = complete_attempt(&api, &ann_connect_body("revoked"), 1, 0);
    let id = ended["connection"]["id"].as_str().unwrap().to_owned();
    let reconnect_body = json!({"connection": id});
    let revoked = || -> Option<String> {
        let sent = api.env.sent.borrow().len();
        (sent > 1).then(|| value_of(&form(&api, 1), "token").unwrap())
    };

    let ended = complete_attempt(&api, &reconnect_body, 2, 200);
    assert_eq!(ended["error"]["code"], "account_mismatch");
    assert_eq!((revoked().as_deref(), rows(&api, "revocations")), (Some("rt-2"), 0));
    // If the platform does not respond to a revocation, the token is stored encrypted and the
    // revocation is retried.
    complete_attempt(&api, &reconnect_body, 2, 503);
    assert_eq!((revoked().as_deref(), rows(&api, "revocations")), (Some("rt-2"), 1));
    assert!(!dump_all_tables(&api).contains("rt-2"));
    api.env.database.execute("DELETE FROM revocations", []).unwrap();

    // Nothing is revoked, because many platforms would also end the other connection of the same
    // account.
    let mut other = ann_connect_body("revoked");
    other["label"] = json!("second");
    assert_eq!(complete_attempt(&api, &other, 2, 0)["status"], "succeeded");
    assert_eq!(complete_attempt(&api, &reconnect_body, 2, 0)["error"]["code"], "account_mismatch");
    assert_eq!((revoked(), rows(&api, "revocations")), (None, 0));

    // Two tabs: the second one uses the connection that the first created.
    for (account, expected) in [(3, None), (4, Some("rt-4"))] {
        let mut third = ann_connect_body("revoked");
        third["label"] = json!(format!("tab-{account}"));
        let (second, link) = start_attempt(&api, &third);
        assert_eq!(complete_attempt(&api, &third, 3, 0)["status"], "succeeded");
        let browser = Browser::default();
        let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
        let tokens = json!({"access_token": "at", "refresh_token": format!("rt-{account}"), "id_token": id_token(account)});
        script(&api, &[(200, tokens), (200, json!({}))]);
        api.env.sent.borrow_mut().clear();
        browser.back(&api, &format!("code=c&state={state}"));
        assert_eq!(attempt(&api, &second)["error"]["code"], "connection_exists");
        assert_eq!(revoked().as_deref(), expected);
    }

    // The connection was deleted in the meantime.
    let mut fourth = ann_connect_body("revoked");
    fourth["label"] = json!("fourth");
    let id = complete_attempt(&api, &fourth, 5, 0)["connection"]["id"].as_str().unwrap().to_owned();
    let (gone, link) = start_attempt(&api, &json!({"connection": id}));
    let browser = Browser::default();
    let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
    script(&api, &[(200, json!({}))]);
    api.send(&api.request("DELETE", &format!("/v1/vault/connections/{id}")));
    let tokens = json!({"access_token": "at", "refresh_token": "rt-6", "id_token": id_token(6)});
    script(&api, &[(200, tokens), (200, json!({}))]);
    api.env.sent.borrow_mut().clear();
    browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(attempt(&api, &gone)["error"]["code"], "connection_not_found");
    assert_eq!(revoked().as_deref(), Some("rt-6"));
}

#[test]
fn reconnecting_keeps_the_connection_and_its_account() {
    let api = api();
    set_client(&api, "acme");
    let tokens_of_account = |id: u64| json!({"access_token": format!("at-{id}"), "refresh_token": "rt", "id_token": id_token(id)});
    let id = connected(&api, &ann_connect_body("acme"), &tokens_of_account(1));
    let exists = connect(&api, &ann_connect_body("acme"));
    assert_eq!(exists.status, 409);
    assert_eq!(body(&exists)["code"], "connection_exists");
    assert_eq!(body(&exists)["connectionId"], id.as_str());

    // If the user signs in to another account, the old credentials are kept.
    let reconnect_body = json!({"connection": id});
    let (attempt_id, link) = start_attempt(&api, &reconnect_body);
    let browser = Browser::default();
    let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
    script(&api, &[(200, tokens_of_account(2))]);
    browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(attempt(&api, &attempt_id)["error"]["code"], "account_mismatch");
    let path = format!("/v1/vault/connections/{id}");
    assert_eq!(body(&api.get(&format!("{path}/credentials")))["accessToken"], "at-1");

    // Another account replaces the credentials only if `allowOtherAccount` is set; the same account
    // always does.
    for (extra, account) in [(json!({}), 1), (json!({"allowOtherAccount": true}), 2)] {
        let mut sent = reconnect_body.clone();
        sent["allowOtherAccount"] = extra.get("allowOtherAccount").cloned().unwrap_or(json!(false));
        let (attempt_id, link) = start_attempt(&api, &sent);
        let browser = Browser::default();
        let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
        script(&api, &[(200, tokens_of_account(account))]);
        browser.back(&api, &format!("code=c&state={state}"));
        let ended = attempt(&api, &attempt_id);
        assert_eq!(ended["status"], "succeeded", "{ended}");
        assert_eq!(ended["connection"]["id"], id.as_str());
        let now = body(&api.get(&format!("{path}/credentials")));
        assert_eq!(now["accessToken"], format!("at-{account}"));
    }
    assert_eq!((rows(&api, "connections"), rows(&api, "credentials")), (1, 1));

    // A failed connection that is found by its key also keeps its id.
    api.env.database.execute("UPDATE connections SET state = 'failed', active = 0", []).unwrap();
    let failed = api.get(&format!("{path}/credentials"));
    assert_eq!((failed.status, &body(&failed)["code"]), (409, &json!("connection_failed")));
    let of_team = json!({"platform": "acme", "identity": "ann", "identityType": "team"});
    assert_eq!(body(&connect(&api, &of_team))["code"], "connection_exists");
    let back = connected(&api, &ann_connect_body("acme"), &tokens_of_account(2));
    assert_eq!(back, id);
    let connection = body(&api.get(&path));
    assert_eq!(
        (&connection["state"], &connection["active"]),
        (&json!("operational"), &json!(true))
    );
}

/// An unsigned ID token with a numeric subject.
pub fn id_token(subject: u64) -> String {
    use base64ct::{Base64UrlUnpadded, Encoding as _};
    let part = |value: Value| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
    format!("{}.{}.x", part(json!({"alg": "none"})), part(json!({"sub": subject.to_string()})))
}

#[test]
fn redirect_values_are_validated_like_user_input() {
    let api = api();
    set_client(&api, "companies");
    for (identity, parameters, expected) in [
        ("good", "realmId=123&region=eu&other=x", json!({"realmId": "123", "region": "eu"})),
        ("bad", "realmId=evil.example&region=moon", Value::Null),
        ("empty", "realmId=&region=", Value::Null),
    ] {
        let sent = json!({"platform": "companies", "identity": identity, "identityType": "user"});
        let (id, link) = start_attempt(&api, &sent);
        let browser = Browser::default();
        let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
        script(&api, &[(200, tokens())]);
        browser.back(&api, &format!("code=c&state={state}&{parameters}"));
        let ended = attempt(&api, &id);
        let connection = ended["connection"]["id"].as_str().unwrap();
        let credentials = api.get(&format!("/v1/vault/connections/{connection}/credentials"));
        assert_eq!(body(&credentials)["fields"], expected, "{parameters}");
    }
}

#[test]
fn signing_in_in_two_tabs_creates_one_connection() {
    let api = api();
    set_client(&api, "acme");
    let browser = Browser::default();
    let attempts: Vec<(String, String)> = (0..2)
        .map(|_| {
            let (id, link) = start_attempt(&api, &ann_connect_body("acme"));
            (id, value_of(&browser.follow(&api, &link).1, "state").unwrap())
        })
        .collect();
    for (at, (id, state)) in attempts.iter().enumerate() {
        script(&api, &[(200, tokens()), (404, json!({}))]);
        browser.back(&api, &format!("code=c&state={state}"));
        let ended = attempt(&api, id);
        let expected = if at == 0 { json!("succeeded") } else { json!("failed") };
        assert_eq!(ended["status"], expected, "{ended}");
    }
    assert_eq!((rows(&api, "connections"), rows(&api, "credentials")), (1, 1));
}
