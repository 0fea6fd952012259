//! Refreshes that reading the credentials causes.

use std::rc::Rc;

use super::*;
use crate::support::{DbFault, small_catalog};

const HOUR: u64 = 3_600_000;

fn tokens(index: u64) -> Value {
    json!({"access_token": format!("at-{index}"), "expires_in": 3600, "refresh_token": format!("rt-{index}")})
}

/// Returns a service, and the path of a connection whose first token expires in an hour.
fn api_with_connection() -> (Api, String) {
    let api = api();
    set_client(&api, "acme");
    let id = connected(&api, &ann_connect_body("acme"), &tokens(1));
    api.env.sent.borrow_mut().clear();
    (api, format!("/v1/vault/connections/{id}"))
}

fn advance(api: &Api, milliseconds: u64) {
    api.env.now.set(api.env.now.get() + milliseconds);
}

fn access_token(api: &Api, path: &str) -> Value {
    body(&api.get(&format!("{path}/credentials")))["accessToken"].clone()
}

#[test]
fn tokens_are_refreshed_before_expiry_and_on_request() {
    let (api, path) = api_with_connection();
    advance(&api, HOUR - 300_000);
    assert_eq!(access_token(&api, &path), "at-1");
    assert_eq!(api.env.sent.borrow().len(), 0);
    advance(&api, 1);
    script(&api, &[(200, tokens(2))]);
    assert_eq!(access_token(&api, &path), "at-2");
    assert_eq!(value_of(&form(&api, 0), "refresh_token").as_deref(), Some("rt-1"));
    script(&api, &[(200, json!({"access_token": "at-3"}))]);
    let refreshed = body(&api.get(&format!("{path}/credentials?refresh=true")));
    assert_eq!(
        (&refreshed["accessToken"], &refreshed["expiresAt"]),
        (&json!("at-3"), &Value::Null)
    );
    // A response without a refresh token keeps the old one.
    script(&api, &[(200, tokens(4))]);
    api.get(&format!("{path}/credentials?refresh=true"));
    assert_eq!(value_of(&form(&api, 2), "refresh_token").as_deref(), Some("rt-2"));
    assert_eq!(body(&api.get(&format!("{path}/status")))["attempts"], 0);
}

#[test]
fn new_tokens_are_written_despite_storage_errors() {
    for db_fault in [DbFault::Before, DbFault::After] {
        let (api, path) = api_with_connection();
        let api = Rc::new(api);
        advance(&api, HOUR);
        let weak = Rc::downgrade(&api);
        *api.env.platform.borrow_mut() = Box::new(move |_| {
            if let Some(api) = weak.upgrade() {
                api.env.db_faults.borrow_mut().extend([db_fault; 8]);
            }
            response(200, &tokens(2))
        });
        assert_eq!(access_token(&api, &path), "at-2", "{db_fault:?}");
        script(&api, &[(200, tokens(3))]);
        api.get(&format!("{path}/credentials?refresh=true"));
        assert_eq!(value_of(&form(&api, 1), "refresh_token").as_deref(), Some("rt-2"));
    }
}

#[test]
fn writes_are_retried_within_the_lease() {
    // The platform's response time, and the pauses after it, in milliseconds.
    for (takes, pauses) in [(0, vec![250, 500, 1000, 2000]), (29_749, vec![250]), (29_750, vec![])]
    {
        let (api, path) = api_with_connection();
        let api = Rc::new(api);
        advance(&api, HOUR);
        let weak = Rc::downgrade(&api);
        *api.env.platform.borrow_mut() = Box::new(move |_| {
            if let Some(api) = weak.upgrade() {
                advance(&api, takes);
                api.env.db_fails.set(true);
            }
            response(200, &tokens(2))
        });
        assert_eq!(api.get(&format!("{path}/credentials")).status, 503);
        assert_eq!(*api.env.pauses.borrow(), pauses, "{takes}");
    }
}

#[test]
fn requests_wait_briefly_for_a_refresh_in_progress() {
    // The storage's response time in milliseconds, and the pauses before each read.
    for (takes, pauses) in
        [(0, &[250, 312, 390, 487, 608, 760, 950, 1187, 56][..]), (2500, &[250, 312])]
    {
        let (api, path) = api_with_connection();
        advance(&api, HOUR);
        script(&api, &[]);
        lease_to_other_request(&api, 30_000);
        api.env.batch_ms.set(takes);
        let refusal = api.get(&format!("{path}/credentials"));
        assert_eq!((refusal.status, refusal.header("retry-after")), (503, Some("5")));
        assert_eq!(*api.env.pauses.borrow(), pauses, "{takes}");
    }
}

#[test]
fn a_temporary_refresh_failure_degrades_and_recovers() {
    let (api, path) = api_with_connection();
    advance(&api, HOUR - 1000);
    script(&api, &[(503, json!({}))]);
    // The old token has not expired yet.
    assert_eq!(access_token(&api, &path), "at-1");
    let status = body(&api.get(&format!("{path}/status")));
    for (name, value) in
        [("state", json!("degraded")), ("actor", json!("nobody")), ("attempts", json!(1))]
    {
        assert_eq!(status[name], value, "{name}: {status}");
    }
    assert_eq!(status["reason"]["code"], "platform_unavailable");
    assert_eq!(status["reason"]["httpStatus"], 503);
    // During the pause after the failure, the platform is not called, even after the old token has
    // expired.
    assert_eq!(access_token(&api, &path), "at-1");
    advance(&api, 1001);
    let refusal = api.get(&format!("{path}/credentials"));
    assert_eq!(refusal.status, 503);
    assert!(refusal.header("retry-after").is_some());
    assert_eq!(api.env.sent.borrow().len(), 1);
    wait_for_next_attempt(&api);
    script(&api, &[(200, tokens(2))]);
    assert_eq!(access_token(&api, &path), "at-2");
    let status = body(&api.get(&format!("{path}/status")));
    assert_eq!((&status["state"], &status["reason"]), (&json!("operational"), &Value::Null));
}

#[test]
fn a_removed_auth_method_is_not_refreshed() {
    let (api, path) = api_with_connection();
    api.env.publish(small_catalog());
    assert_eq!(access_token(&api, &path), "at-1");
    advance(&api, HOUR);
    let response = api.get(&format!("{path}/credentials"));
    assert_eq!((response.status, &body(&response)["code"]), (409, &json!("connection_failed")));
    let reason = "The access token has expired, and the catalog no longer has `oauth`, the authentication method that refreshes it. Publish a catalog that has it, or have the user reconnect the connection by another method, named in `authMethod`.";
    assert_eq!(body(&response)["detail"], reason);
    assert_eq!(api.env.sent.borrow().len(), 0);
    // The state does not change, because a later catalog may contain the method again.
    let status = body(&api.get(&format!("{path}/status")));
    assert_eq!((&status["state"], &status["attempts"]), (&json!("operational"), &json!(0)));
}

#[test]
fn a_requested_refresh_waits_for_the_platforms_retry_after() {
    for (retry_after, wait_ms) in [("9", 9_000), ("3600", HOUR)] {
        let (api, path) = api_with_connection();
        let refreshed = format!("{path}/credentials?refresh=true");
        *api.env.platform.borrow_mut() = Box::new(move |_| {
            let mut busy = response(429, &json!({}))?;
            busy.headers.extend([("retry-after".into(), retry_after.into())]);
            Ok(busy)
        });
        assert_eq!(api.get(&refreshed).status, 503);
        let attempted = body(&api.get(&format!("{path}/status")));
        for elapsed in [0, wait_ms - 1] {
            advance(&api, elapsed);
            let refusal = api.get(&refreshed);
            let left = (wait_ms - elapsed).div_ceil(1000).to_string();
            assert_eq!((refusal.status, &body(&refusal)["code"]), (503, &json!("refresh_failed")));
            assert_eq!(refusal.header("retry-after"), Some(left.as_str()), "{retry_after}");
        }
        assert_eq!(api.env.sent.borrow().len(), 1);
        assert_eq!(body(&api.get(&format!("{path}/status"))), attempted);
        advance(&api, 1);
        script(&api, &[(200, tokens(2))]);
        assert_eq!(body(&api.get(&refreshed))["accessToken"], "at-2");
    }
}

#[test]
fn a_grant_ends_after_two_refusals() {
    let (api, path) = api_with_connection();
    advance(&api, HOUR);
    script(&api, &[(400, json!({"error": "invalid_grant"}))]);
    assert_eq!(api.get(&format!("{path}/credentials")).status, 503);
    assert_eq!(body(&api.get(&path))["state"], "degraded");
    advance(&api, 72_000);
    script(&api, &[(400, json!({"error": "invalid_grant"}))]);
    let response = api.get(&format!("{path}/credentials"));
    assert_eq!((response.status, &body(&response)["code"]), (409, &json!("connection_failed")));
    let connection = body(&api.get(&path));
    assert_eq!((&connection["state"], &connection["active"]), (&json!("failed"), &json!(false)));
    let status = body(&api.get(&format!("{path}/status")));
    assert_eq!(
        (&status["actor"], &status["reason"]["code"]),
        (&json!("user"), &json!("grant_ended"))
    );
    // From here on, the platform is not called.
    assert_eq!(api.get(&format!("{path}/credentials?refresh=true")).status, 409);
    assert_eq!(api.env.sent.borrow().len(), 2);
}

#[test]
fn a_rejected_client_never_fails_a_connection() {
    let (api, path) = api_with_connection();
    for _ in 0..20 {
        advance(&api, 26_000_000);
        script(&api, &[(401, json!({"error": "invalid_client"}))]);
        assert_eq!(api.get(&format!("{path}/credentials")).status, 503);
    }
    let status = body(&api.get(&format!("{path}/status")));
    assert_eq!((&status["state"], &status["actor"]), (&json!("degraded"), &json!("account")));
    assert_eq!(status["reason"]["code"], "client_rejected");
    // Until the client is set again, reading the credentials during the pause does not count as an
    // attempt.
    assert_eq!(api.get(&format!("{path}/credentials")).status, 503);
    assert_eq!(body(&api.get(&format!("{path}/status")))["attempts"], status["attempts"]);
}

#[test]
fn a_refresh_needs_the_lease() {
    let (api, path) = api_with_connection();
    advance(&api, HOUR - 1000);
    lease_to_other_request(&api, 10_000);
    assert_eq!(access_token(&api, &path), "at-1");
    advance(&api, 1000);
    let refusal = api.get(&format!("{path}/credentials"));
    assert_eq!((refusal.status, refusal.header("retry-after")), (503, Some("5")));
    assert_eq!(api.env.sent.borrow().len(), 0);
    // If the process that holds the lease is killed, the lease expires.
    advance(&api, 10_000);
    script(&api, &[(200, tokens(2))]);
    assert_eq!(access_token(&api, &path), "at-2");
}

#[test]
fn a_refresh_with_an_expired_lease_sends_no_request() {
    let (api, path) = api_with_connection();
    advance(&api, HOUR - 60_000);
    // The platform's timeout is 20 of the lease's 30 seconds.
    api.env.batch_ms.set(10_001);
    assert_eq!(access_token(&api, &path), "at-1", "it is still valid");
    advance(&api, HOUR);
    let refusal = api.get(&format!("{path}/credentials"));
    assert_eq!((refusal.status, refusal.header("retry-after")), (503, Some("5")));
    assert_eq!(api.env.sent.borrow().len(), 0);
    api.env.batch_ms.set(10_000);
    advance(&api, HOUR);
    script(&api, &[(200, tokens(2))]);
    assert_eq!(access_token(&api, &path), "at-2");
}

#[test]
fn a_late_refresh_writes_nothing() {
    let (api, path) = api_with_connection();
    advance(&api, HOUR);
    let api = Rc::new(api);
    let weak = Rc::downgrade(&api);
    *api.env.platform.borrow_mut() = Box::new(move |_| {
        // Meanwhile, another request has acquired the lease.
        let api = weak.upgrade().unwrap();
        api.env
            .database
            .execute("UPDATE credentials SET lease = 'another', lease_until = 9e15", [])
            .unwrap();
        response(200, &tokens(9))
    });
    let version = |api: &Api| -> i64 {
        api.env.database.query_row("SELECT version FROM credentials", [], |row| row.get(0)).unwrap()
    };
    api.get(&format!("{path}/credentials"));
    assert_eq!(version(&api), 1);
}

#[test]
fn connections_work_at_once_after_the_client_is_fixed() {
    let (api, path) = api_with_connection();
    set_client(&api, "companies");
    advance(&api, HOUR + 1);
    let rejected = (401, json!({"error": "invalid_client"}));
    script(&api, &[rejected.clone(), rejected]);
    assert_eq!(api.get(&format!("{path}/credentials")).status, 503);
    let status = || body(&api.get(&format!("{path}/status")));
    assert_eq!(
        (&status()["state"], &status()["reason"]["code"]),
        (&json!("degraded"), &json!("client_rejected"))
    );
    // Setting another platform's client does not make the next attempt due.
    let next = status()["nextAttemptAt"].clone();
    let set = |platform: &str| {
        let sent = json!({"clientId": "an id", "clientSecret": "another secret"});
        let response = send(&api, "PUT", &format!("/v1/oauth-clients/{platform}"), &sent);
        assert_eq!(response.status, 200);
    };
    set("companies");
    assert_eq!(status()["nextAttemptAt"], next);
    assert_eq!(api.get(&format!("{path}/credentials")).status, 503);
    assert_eq!(api.env.sent.borrow().len(), 1);
    set("acme");
    script(&api, &[(200, tokens(2))]);
    assert_eq!(access_token(&api, &path), "at-2");
    assert_eq!(status()["state"], "operational");
}
