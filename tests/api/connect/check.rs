//! On-demand checks of a connection.

use super::*;
use crate::call::{platform, platform_response};
use crate::vault::{UNKNOWN_ID, at, code};

const HOUR: u64 = 3_600_000;

fn tokens(index: u64) -> Value {
    json!({"access_token": format!("at-{index}"), "expires_in": 3600, "refresh_token": format!("rt-{index}")})
}

fn check(api: &Api, id: &str) -> Response {
    api.send(&api.request("POST", &format!("{}/check", at(id))))
}

fn status(api: &Api, id: &str) -> Value {
    body(&api.get(&format!("{}/status", at(id))))
}

/// Connects with a key that the platform accepts.
fn connect_with_key(api: &Api) -> String {
    script(api, &[(200, json!({})), (200, json!({"id": 1}))]);
    let mut sent = ann_connect_body("keyed");
    sent["fields"] = json!({"apiKey": "the-key"});
    let response = connect(api, &sent);
    assert_eq!(response.status, 201, "{}", text(&response));
    body(&response)["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_check_refreshes_tokens_and_returns_no_secret() {
    let api = api();
    set_client(&api, "acme");
    let id = connected(&api, &ann_connect_body("acme"), &tokens(1));
    script(&api, &[(200, tokens(2))]);
    let response = check(&api, &id);
    assert_eq!(response.status, 200, "{}", text(&response));
    assert_eq!(body(&response), body(&api.get(&at(&id))));
    assert_eq!(response.header("etag"), api.get(&at(&id)).header("etag"));
    assert!(!text(&response).contains("at-2"));
    assert_eq!(body(&api.get(&format!("{}/credentials", at(&id))))["accessToken"], "at-2");
    // The platform fails, and is then not called for a minute.
    script(&api, &[(503, json!({}))]);
    assert_eq!(body(&check(&api, &id))["state"], "degraded");
    let next = status(&api, &id)["nextAttemptAt"].clone();
    let early = check(&api, &id);
    assert_eq!((early.status, code(&early).as_str()), (429, "too_many_requests"));
    let seconds: u64 = early.header("retry-after").unwrap().parse().unwrap();
    assert!((48..=72).contains(&seconds), "{seconds}");
    assert_eq!(
        (status(&api, &id)["attempts"].clone(), status(&api, &id)["nextAttemptAt"].clone()),
        (json!(1), next)
    );
    api.env.wait(seconds * 1000);
    script(&api, &[(200, tokens(3))]);
    assert_eq!(body(&check(&api, &id))["state"], "operational");
    // The user revoked the key.
    for (wait, expected) in [(0, "degraded"), (HOUR, "failed")] {
        api.env.wait(wait);
        script(&api, &[(400, json!({"error": "invalid_grant"}))]);
        let checked = body(&check(&api, &id));
        assert_eq!(
            (&checked["state"], &checked["active"]),
            (&json!(expected), &json!(expected != "failed"))
        );
    }
    let failed = check(&api, &id);
    assert_eq!((failed.status, code(&failed).as_str()), (409, "connection_failed"));
}

#[test]
fn an_unrefreshable_token_fails_on_use_after_expiry() {
    let api = api();
    set_client(&api, "acme");
    let id = connected(
        &api,
        &ann_connect_body("acme"),
        &json!({"access_token": "at-1", "expires_in": 3600}),
    );
    let credentials = || api.get(&format!("{}/credentials", at(&id)));
    assert_eq!(body(&credentials())["accessToken"], "at-1");
    api.env.wait(HOUR);
    for (wait, expected, reason, actor, attempts) in [
        (Some(0), "degraded", "grant_rejected", "nobody", 1),
        // The service pauses for a minute before its next attempt.
        (Some(1000), "degraded", "grant_rejected", "nobody", 1),
        (None, "failed", "grant_ended", "user", 2),
        (Some(HOUR), "failed", "grant_ended", "user", 2),
    ] {
        match wait {
            Some(wait) => api.env.wait(wait),
            None => wait_for_next_attempt(&api),
        }
        let response = credentials();
        assert_eq!((response.status, code(&response).as_str()), (409, "connection_failed"));
        let now = status(&api, &id);
        assert_eq!(
            (&now["state"], &now["reason"]["code"], &now["actor"], &now["attempts"]),
            (&json!(expected), &json!(reason), &json!(actor), &json!(attempts))
        );
    }
    assert_eq!(body(&api.get(&at(&id)))["active"], false);
    let events = body(&api.get(&format!("/v1/events?connection={id}")));
    let types: Vec<&str> = events["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["type"].as_str().unwrap())
        .collect();
    assert_eq!(types[types.len() - 2..], ["connection.degraded", "connection.failed"]);
}

#[test]
fn a_check_verifies_an_api_key() {
    let api = api();
    let id = connect_with_key(&api);
    for (wait, reply, expected) in [
        (0, 200, "operational"),
        (0, 401, "degraded"),
        (HOUR, 200, "operational"),
        (0, 404, "operational"),
        (0, 0, "degraded"),
        // A 403 may mean that the key is restricted.
        (HOUR, 403, "degraded"),
        (HOUR, 401, "degraded"),
        (HOUR, 401, "failed"),
    ] {
        api.env.wait(wait);
        script(&api, &[(reply, json!({}))]);
        let response = check(&api, &id);
        assert_eq!(
            (response.status, &body(&response)["state"]),
            (200, &json!(expected)),
            "{reply}"
        );
    }
}

#[test]
fn an_inconclusive_check_keeps_the_schedule() {
    let api = api();
    let id = connect_with_key(&api);
    for (response, state, attempts) in [
        (401, "degraded", 1),
        (404, "degraded", 2),
        (302, "degraded", 3),
        (200, "operational", 0),
        (404, "operational", 0),
        (302, "operational", 0),
    ] {
        script(&api, &[(response, json!({}))]);
        assert_eq!(body(&check(&api, &id))["state"], state, "{response}");
        let status = status(&api, &id);
        assert_eq!(status["attempts"], attempts, "{response}");
        assert_eq!(status["nextAttemptAt"].is_null(), attempts == 0, "{response}: {status}");
        api.env.wait(HOUR);
    }
}

#[test]
fn rate_limits_do_not_fail_a_key() {
    let api = api();
    let id = connect_with_key(&api);
    for (headers, wait) in
        [(&[("x-ratelimit-remaining", "0")][..], 60_000), (&[("retry-after", "7200")], 7_200_000)]
    {
        platform(&api, move |_| Ok(platform_response(403, headers, "{}")));
        let before = api.env.now.get();
        assert_eq!(body(&check(&api, &id))["state"], "degraded");
        let status = status(&api, &id);
        assert_eq!(status["reason"]["code"], "platform_unavailable");
        let next = connector_vault::util::rfc3339::parse(status["nextAttemptAt"].as_str().unwrap());
        assert!(next.unwrap() >= before + wait * 4 / 5, "{status}");
        api.env.wait(3 * HOUR);
    }
}

#[test]
fn a_client_for_another_method_is_not_used() {
    let api = api();
    set_client(&api, "acme");
    let id = connected(&api, &ann_connect_body("acme"), &tokens(1));
    api.env.database.execute("UPDATE oauth_clients SET auth_method = 'other'", []).unwrap();
    script(&api, &[]);
    assert_eq!(body(&check(&api, &id))["state"], "degraded");
    assert_eq!(status(&api, &id)["reason"]["code"], "client_rejected");
    let sql = "SELECT count(*) FROM oauth_clients WHERE rejected_since IS NULL";
    let good: u32 = api.env.database.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(good, 1, "the client has done nothing wrong");
}

#[test]
fn a_rejected_client_is_probed_hourly_or_after_a_change() {
    let api = api();
    set_client(&api, "acme");
    let id = connected(&api, &ann_connect_body("acme"), &tokens(1));
    script(&api, &[(401, json!({"error": "invalid_client"}))]);
    assert_eq!(body(&check(&api, &id))["state"], "degraded");
    assert_eq!(check(&api, &id).status, 429);
    // The pause has ended, but the next hourly probe is not due yet.
    api.env.wait(2 * 60_000);
    script(&api, &[]);
    assert_eq!(body(&check(&api, &id))["state"], "degraded");
    let corrected = json!({"clientId": "an id", "clientSecret": "right", "scopes": ["read"]});
    assert_eq!(send(&api, "PUT", "/v1/oauth-clients/acme", &corrected).status, 200);
    script(&api, &[(200, tokens(2))]);
    assert_eq!(body(&check(&api, &id))["state"], "operational");
}

#[test]
fn checks_do_not_run_concurrently() {
    let api = api();
    set_client(&api, "acme");
    set_client(&api, "watched");
    for id in [connected(&api, &ann_connect_body("acme"), &tokens(1)), connect_with_key(&api)] {
        lease_to_other_request(&api, 1);
        // The platform is not called, because another request holds the lease.
        script(&api, &[]);
        assert_eq!(body(&check(&api, &id))["state"], "operational");
    }
    // A check does not wait for another request's refresh, and many checks run concurrently.
    let id = connected(&api, &ann_connect_body("watched"), &tokens(1));
    api.env.wait(HOUR);
    lease_to_other_request(&api, 30_000);
    api.env.pauses.borrow_mut().clear();
    script(&api, &[]);
    assert_eq!(check(&api, &id).status, 200);
    assert_eq!(*api.env.pauses.borrow(), [0; 0]);
}

#[test]
fn unverifiable_connections_stay_unknown() {
    let api = api();
    let plain = json!({"platform": "plain", "authMethod": "basic", "identity": "ann", "identityType": "user",
        "fields": {"username": "u", "password": "p"}});
    let plain = body(&connect(&api, &plain))["id"].as_str().unwrap().to_owned();
    let bare = send(&api, "POST", crate::vault::CONNECTIONS, &ann_connect_body("keyed"));
    let bare = body(&bare)["id"].as_str().unwrap().to_owned();
    // The token can't be refreshed, and the platform has no request that checks it.
    set_client(&api, "acme");
    let lasting = connected(&api, &ann_connect_body("acme"), &json!({"access_token": "at"}));
    // The request that checks the credentials would need a signature.
    let mut signed = ann_connect_body("amazon");
    signed["fields"] =
        json!({"accessKeyId": "AKIA", "secretAccessKey": "s", "region": "eu-central-1"});
    let signed = body(&connect(&api, &signed))["id"].as_str().unwrap().to_owned();
    for (id, expected) in [
        (plain.as_str(), (409, "not_checkable")),
        (&signed, (409, "not_checkable")),
        (&lasting, (409, "not_checkable")),
        (&bare, (404, "credentials_not_found")),
        (UNKNOWN_ID, (404, "connection_not_found")),
    ] {
        let response = check(&api, id);
        assert_eq!((response.status, code(&response).as_str()), expected);
    }
    let query = api.send(&api.request("POST", &format!("{}/check?now=1", at(&plain))));
    assert_eq!(query.status, 400);
    // No attempt was recorded.
    assert_eq!(status(&api, &plain)["attempts"], 0);
}

#[test]
fn a_check_fails_an_expired_unrefreshable_token() {
    let api = api();
    set_client(&api, "acme");
    let sent = json!({"access_token": "at", "expires_in": 3600});
    let id = connected(&api, &ann_connect_body("acme"), &sent);
    assert_eq!(code(&check(&api, &id)), "not_checkable");
    api.env.wait(HOUR);
    script(&api, &[]);
    let response = check(&api, &id);
    assert_eq!((response.status, &body(&response)["state"]), (200, &json!("degraded")));
}

#[test]
fn a_check_verifies_a_valid_unrefreshable_token() {
    let api = api();
    set_client(&api, "watched");
    let sent = json!({"access_token": "at", "expires_in": 3600});
    let id = connected(&api, &ann_connect_body("watched"), &sent);
    for (waits, responses, state) in
        [(0, vec![(200, json!({}))], "operational"), (HOUR, vec![], "degraded")]
    {
        api.env.wait(waits);
        script(&api, &responses);
        let before = api.env.sent.borrow().len();
        assert_eq!(body(&check(&api, &id))["state"], state);
        assert_eq!(api.env.sent.borrow().len(), before + responses.len());
    }
}

#[test]
fn check_results_are_delivered_to_webhooks_at_once() {
    let api = api();
    set_client(&api, "acme");
    let id = connected(&api, &ann_connect_body("acme"), &tokens(1));
    let webhook = json!({"url": "https://app.example/hooks", "types": ["connection.degraded"]});
    assert_eq!(send(&api, "POST", "/v1/webhooks", &webhook).status, 201);
    script(&api, &[(503, json!({}))]);
    let response = check(&api, &id);
    assert_eq!((&body(&response)["state"], response.has_deliveries), (&json!("degraded"), true));
}
