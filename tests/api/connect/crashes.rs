//! The process is killed between any two steps: a partially connected account is never shown as
//! connected, and no row is orphaned.

use super::crash::respond_until;
use super::maintenance::api_at_current_time;
use super::*;

/// Runs `case` with the process killed before and after each step, until the case completes. Returns how many times
/// it was killed.
fn at_every_step(case: impl Fn(u32, bool) -> bool) -> u32 {
    let crashes = (0..50).find(|step| case(*step, false) && case(*step, true));
    crashes.unwrap()
}

fn tokens(index: u8) -> Value {
    json!({"access_token": format!("at-{index}"), "refresh_token": format!("rt-{index}"), "expires_in": 3600})
}

/// Asserts that connections and credentials match, and that ended attempts contain no secret.
fn assert_consistent(api: &Api) {
    for orphan in [
        "SELECT h.connection_id FROM credentials h WHERE NOT EXISTS (SELECT 1 FROM connections c WHERE c.id = h.connection_id)",
        "SELECT c.id FROM connections c WHERE NOT EXISTS (SELECT 1 FROM credentials h WHERE h.connection_id = c.id)",
        "SELECT a.id FROM connect_attempts a WHERE a.status = 'succeeded' AND NOT EXISTS (SELECT 1 FROM connections c WHERE c.id = a.connection_id)",
        "SELECT a.id FROM connect_attempts a WHERE a.status IN ('succeeded', 'failed') AND a.sealed IS NOT NULL",
    ] {
        assert_eq!(api.env.texts(orphan), [""; 0], "{orphan}");
    }
}

#[test]
fn a_killed_exchange_orphans_nothing_and_is_never_repeated() {
    let crashes = at_every_step(|step, completes_step| {
        let api = api();
        set_client(&api, "acme");
        let (id, link) = start_attempt(&api, &ann_connect_body("acme"));
        let browser = Browser::default();
        let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
        script(&api, &[(200, tokens(1)), (404, json!({}))]);
        let back = browser.request("GET", &format!("/connect/callback?code=c&state={state}"));
        let survived = respond_until(&api, &back, step, completes_step).is_some();
        assert_consistent(&api);
        let now = attempt(&api, &id);
        let connected = rows(&api, "connections") == 1;
        assert_eq!(connected, now["status"] == "succeeded", "{step} {completes_step}: {now}");
        assert!(connected || now["status"] == "pending", "{step}: {now}");
        // The code is exchanged once, even if the page is reloaded.
        let used = api.env.sent.borrow().iter().filter(|sent| sent.url.ends_with("/token")).count();
        script(&api, &[(200, tokens(2)), (404, json!({}))]);
        let repeated_response = browser.back(&api, &format!("code=c&state={state}"));
        if used > 0 {
            let requested =
                api.env.sent.borrow().iter().filter(|sent| sent.url.ends_with("/token")).count();
            assert_eq!(
                (used, requested, repeated_response.status == 409),
                (1, 1, !connected),
                "{step}"
            );
        }
        // After a minute, an interrupted attempt has the error `interrupted`, and the next attempt
        // succeeds.
        api.env.wait(60_001);
        let ended = attempt(&api, &id);
        if ended["status"] != "succeeded" {
            assert_eq!(ended["error"]["code"], "interrupted", "{step}: {ended}");
            connected_again(&api);
        }
        assert_consistent(&api);
        survived
    });
    assert!(crashes >= 4, "{crashes}");
}

fn connected_again(api: &Api) {
    assert_eq!(rows(api, "connections"), 0);
    connected(api, &ann_connect_body("acme"), &tokens(3));
}

#[test]
fn a_killed_reconnection_keeps_old_or_new_credentials() {
    let crashes = at_every_step(|step, completes_step| {
        let api = api();
        set_client(&api, "revoked");
        let connection = connected(&api, &ann_connect_body("revoked"), &tokens(1));
        let path = format!("/v1/vault/connections/{connection}/credentials");
        let (id, link) = start_attempt(&api, &json!({"connection": connection}));
        let browser = Browser::default();
        let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
        script(&api, &[(200, tokens(2))]);
        let back = browser.request("GET", &format!("/connect/callback?code=c&state={state}"));
        let survived = respond_until(&api, &back, step, completes_step).is_some();
        assert_consistent(&api);
        let is_new = attempt(&api, &id)["status"] == "succeeded";
        let expected = if is_new { "at-2" } else { "at-1" };
        assert_eq!(body(&api.get(&path))["accessToken"], expected, "{step}");
        survived
    });
    assert!(crashes >= 3, "{crashes}");
}

#[test]
fn a_killed_deletion_still_revokes_the_tokens() {
    let crashes = at_every_step(|step, completes_step| {
        let api = api_at_current_time();
        set_client(&api, "revoked");
        let id = connected(&api, &ann_connect_body("revoked"), &tokens(1));
        api.env.database.execute("DELETE FROM connect_attempts", []).unwrap();
        script(&api, &[(200, json!({}))]);
        let delete = api.request("DELETE", &format!("/v1/vault/connections/{id}"));
        let survived = respond_until(&api, &delete, step, completes_step).is_some();
        assert_consistent(&api);
        // Tokens that could not be revoked at the platform are kept for a retry.
        let requested =
            api.env.sent.borrow().iter().filter(|sent| sent.url.ends_with("/revoke")).count();
        let (is_stored, kept) = (rows(&api, "connections") == 1, rows(&api, "revocations") == 1);
        assert!(is_stored || kept || requested == 1, "{step} {completes_step}");
        assert!(!(is_stored && kept), "{step}");
        survived
    });
    assert!(crashes >= 3, "{crashes}");
}

#[test]
fn a_killed_refresh_leaves_a_usable_connection() {
    let crashes = at_every_step(|step, completes_step| {
        let api = api();
        set_client(&api, "acme");
        let id = connected(&api, &ann_connect_body("acme"), &tokens(1));
        let path = format!("/v1/vault/connections/{id}/credentials");
        script(&api, &[(200, tokens(2))]);
        let refresh = api.request("GET", &format!("{path}?refresh=true"));
        let survived = respond_until(&api, &refresh, step, completes_step).is_some();
        assert_consistent(&api);
        let access_token = body(&api.get(&path))["accessToken"].as_str().unwrap().to_owned();
        assert!(["at-1", "at-2"].contains(&access_token.as_str()), "{step}: {access_token}");
        // The next request after the lease ends refreshes with the refresh token that is stored with the access token.
        api.env.wait(30_001);
        api.env.sent.borrow_mut().clear();
        script(&api, &[(200, tokens(3))]);
        let next = body(&api.get(&format!("{path}?refresh=true")));
        assert_eq!(next["accessToken"], "at-3", "{step}: {next}");
        let spent = value_of(&form(&api, 0), "refresh_token").unwrap();
        assert_eq!(spent.replace("rt", "at"), access_token, "{step}");
        survived
    });
    assert!(crashes >= 3, "{crashes}");
}
