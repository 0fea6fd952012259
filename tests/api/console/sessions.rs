//! The end of console sessions.

use connector_vault::terms::Scope;
use serde_json::{Value, json};

use super::{
    SESSIONS, SIGN_IN, admin, at_provider, authenticate, callback, configure, console, heading,
    id_of, oidc, send_as, status, token, with_code,
};
use crate::connect::{rows, send, text};
use crate::support::{Api, body};

const MINUTE: u64 = 60_000;

/// Uses a session every 50 minutes for this many minutes.
fn use_for(api: &Api, token: &str, minutes: u64) {
    for _ in 0..minutes / 50 {
        api.env.wait(50 * MINUTE);
        assert_eq!(status(api, token), 200);
    }
    api.env.wait(minutes % 50 * MINUTE);
}

#[test]
fn a_session_ends_after_an_idle_hour() {
    let (api, id) = console(&json!({}));
    let token = admin(&api, &id);
    api.env.wait(59 * MINUTE);
    assert_eq!(status(&api, &token), 200);
    api.env.wait(59 * MINUTE);
    assert_eq!(status(&api, &token), 200);
    api.env.wait(60 * MINUTE);
    assert_eq!(status(&api, &token), 401);
    // The failed request did not extend the session.
    assert_eq!(status(&api, &token), 401);
    assert_eq!(body(&api.get(SESSIONS))["rows"], json!([]));
}

#[test]
fn a_session_ends_after_twelve_hours_of_use() {
    let (api, id) = console(&json!({}));
    let token = admin(&api, &id);
    use_for(&api, &token, 12 * 60 - 1);
    assert_eq!(status(&api, &token), 200);
    api.env.wait(MINUTE);
    assert_eq!(status(&api, &token), 401);
    // The next sign-in deletes the ended session.
    admin(&api, &id);
    assert_eq!(rows(&api, "console_sessions"), 1);
}

#[test]
fn the_next_sign_in_deletes_abandoned_sign_ins() {
    let (api, id) = console(&json!({}));
    let claims = json!({"groups": ["admins"]});
    for _ in 0..3 {
        with_code(&api, &id, &claims);
    }
    assert_eq!(rows(&api, "console_sessions"), 3);
    let session = admin(&api, &id);
    api.env.wait(MINUTE);
    with_code(&api, &id, &claims);
    assert_eq!((rows(&api, "console_sessions"), status(&api, &session)), (2, 200));
    // An abandoned sign-in never became a session, so its deletion is not in the audit.
    let ended = body(&api.get("/v1/audit?actions=console_session.ended"));
    assert_eq!(ended["rows"], json!([]));
}

#[test]
fn a_person_signs_in_while_the_database_is_full() {
    let (api, id) = console(&json!({}));
    api.env.size.set(9_900_000_000);
    assert_eq!(api.get("/v1/whoami").status, 200);
    let session = admin(&api, &id);
    assert_eq!(status(&api, &session), 200);
}

#[test]
fn sessions_are_listed_and_end_at_once() {
    let (api, id) = console(&json!({}));
    let first = admin(&api, &id);
    api.env.wait(MINUTE);
    let second =
        token(&api, &id, &json!({"groups": "support", "sub": "2", "email": "bob@example.com"}));
    let list = body(&send_as(&api, &first, "GET", SESSIONS, &Value::Null));
    let shown: Vec<(&str, bool)> = list["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["person"].as_str().unwrap(), row["current"].as_bool().unwrap()))
        .collect();
    assert_eq!(shown, [("bob@example.com", false), ("ann@example.com", true)]);
    let page = body(&api.get(&format!("{SESSIONS}?limit=1")));
    let next = page["next"].as_str().unwrap();
    let page = body(&api.get(&format!("{SESSIONS}?limit=1&before={next}")));
    assert_eq!(
        (&page["rows"][0]["person"], &page["next"]),
        (&json!("ann@example.com"), &Value::Null)
    );

    // A person can sign out without the scope.
    let of_bob = format!("{SESSIONS}/{next}");
    assert_eq!(send_as(&api, &second, "DELETE", &of_bob, &Value::Null).status, 403);
    assert_eq!(send_as(&api, &first, "DELETE", &of_bob, &Value::Null).status, 204);
    assert_eq!((status(&api, &second), status(&api, &first)), (401, 200));
    let missing = send_as(&api, &first, "DELETE", &of_bob, &Value::Null);
    assert_eq!(body(&missing)["code"], "console_session_not_found");
    let own = format!("{SESSIONS}/current");
    assert_eq!(send_as(&api, &first, "DELETE", &own, &Value::Null).status, 204);
    assert_eq!(status(&api, &first), 401);
    // A key has no session to end.
    let of_key = api.send(&api.request("DELETE", &own));
    assert_eq!(body(&of_key)["code"], "console_session_not_found");
    let ended = body(&api.get("/v1/audit?actions=console_session.ended"));
    assert_eq!(ended["rows"].as_array().unwrap().len(), 2);
    assert_eq!(ended["rows"][0]["actor"]["id"], "ann@example.com");
}

#[test]
fn a_changed_or_deleted_sign_in_ends_its_sessions() {
    let (api, id) = console(&json!({}));
    let token = admin(&api, &id);
    assert_eq!(configure(&api, &oidc(&json!({"claim": "roles"}))), id);
    assert_eq!(status(&api, &token), 401);
    configure(&api, &oidc(&json!({})));
    let token = admin(&api, &id);
    // A signed-in person can also delete the sign-in.
    let deleted = send_as(&api, &token, "DELETE", SIGN_IN, &Value::Null);
    assert_eq!(deleted.status, 204, "{}", text(&deleted));
    assert_eq!(status(&api, &token), 401);
    assert_eq!((rows(&api, "console_sessions"), rows(&api, "console_sign_ins")), (0, 0));
    // A user who was at the provider when the sign-in was deleted gets an error page.
    let (api, id) = console(&json!({}));
    let (browser, parameters) = at_provider(&api, &id);
    authenticate(&api, &parameters, &json!({"groups": "admins"}));
    assert_eq!(api.send(&api.request("DELETE", SIGN_IN)).status, 204);
    let page = browser.open(&api, &callback(&id, &parameters));
    assert_eq!(heading(&page), (404, "This sign-in does not exist".to_owned()));
}

#[test]
fn a_session_ends_with_the_key_of_the_sign_in() {
    let (api, id) = console(&json!({}));
    let token = admin(&api, &id);
    let (browser, parameters) = at_provider(&api, &id);
    authenticate(&api, &parameters, &json!({"groups": "admins"}));
    api.env.revoke(&api.key);
    assert_eq!(status(&api, &token), 401);
    let page = browser.open(&api, &callback(&id, &parameters));
    assert_eq!(heading(&page), (403, "This sign-in has ended".to_owned()));
}

#[test]
fn the_replacement_of_a_key_takes_over_the_sign_in() {
    let (api, _) = console(&json!({}));
    let scopes = Scope::ALL.map(Scope::as_str);
    let created = body(&send(&api, "POST", "/v1/keys", &json!({ "scopes": scopes })));
    let (own, secret) = (created["id"].as_str().unwrap(), created["secret"].as_str().unwrap());
    let put = send_as(&api, secret, "PUT", SIGN_IN, &oidc(&json!({})));
    let id = id_of(&body(&put));
    let token = admin(&api, &id);
    let rotated = api.send(&api.request("POST", &format!("/v1/keys/{own}/rotate")));
    assert_eq!(rotated.status, 200, "{}", text(&rotated));
    api.env.wait(59 * MINUTE);
    assert_eq!(status(&api, &token), 200);
    api.env.wait(24 * 60 * MINUTE);
    assert_eq!(status(&api, secret), 401);
    assert_eq!(status(&api, &admin(&api, &id)), 200);
}
