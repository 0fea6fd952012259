//! The process is killed between any two steps: a partially connected account is never shown as connected, and nothing
//! is orphaned.

use super::mortal::answer_until;
use super::upkeep::api_of_now;
use super::*;

/// Runs `case` with the process killed before and after each step, until the case completes. Returns how many times
/// it was killed.
fn at_every_step(case: impl Fn(u32, bool) -> bool) -> u32 {
    let deaths = (0..50).find(|step| case(*step, false) && case(*step, true));
    deaths.unwrap()
}

fn tokens(nth: u8) -> Value {
    json!({"access_token": format!("at-{nth}"), "refresh_token": format!("rt-{nth}"), "expires_in": 3600})
}

/// The number of connections and of credentials, and whether each connection has its own credentials.
fn expect_whole(api: &Api) {
    for orphan in [
        "SELECT h.connection_id FROM credentials h WHERE NOT EXISTS (SELECT 1 FROM connections c WHERE c.id = h.connection_id)",
        "SELECT c.id FROM connections c WHERE NOT EXISTS (SELECT 1 FROM credentials h WHERE h.connection_id = c.id)",
        "SELECT a.id FROM connect_attempts a WHERE a.status = 'succeeded' AND NOT EXISTS (SELECT 1 FROM connections c WHERE c.id = a.connection_id)",
        "SELECT a.id FROM connect_attempts a WHERE a.status IN ('succeeded', 'failed') AND a.sealed IS NOT NULL",
    ] {
        assert_eq!(api.world.texts(orphan), [""; 0], "{orphan}");
    }
}

#[test]
fn an_exchange() {
    let deaths = at_every_step(|step, does_the_last| {
        let api = api();
        set_client(&api, "acme");
        let (id, link) = begin(&api, &of_ann("acme"));
        let browser = Browser::default();
        let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
        script(&api, &[(200, tokens(1)), (404, json!({}))]);
        let back = browser.request("GET", &format!("/connect/callback?code=c&state={state}"));
        let lives = answer_until(&api, &back, step, does_the_last).is_some();
        expect_whole(&api);
        let now = attempt(&api, &id);
        let connected = rows(&api, "connections") == 1;
        assert_eq!(connected, now["status"] == "succeeded", "{step} {does_the_last}: {now}");
        assert!(connected || now["status"] == "pending", "{step}: {now}");
        // A code is used once, even if the page is reloaded.
        let used =
            api.world.sent.borrow().iter().filter(|sent| sent.url.ends_with("/token")).count();
        script(&api, &[(200, tokens(2)), (404, json!({}))]);
        let again = browser.back(&api, &format!("code=c&state={state}"));
        if used > 0 {
            let asked =
                api.world.sent.borrow().iter().filter(|sent| sent.url.ends_with("/token")).count();
            assert_eq!((used, asked, again.status == 409), (1, 1, !connected), "{step}");
        }
        // An interrupted attempt reports this after a minute, and the next attempt succeeds.
        api.world.wait(60_001);
        let ended = attempt(&api, &id);
        if ended["status"] != "succeeded" {
            assert_eq!(ended["error"]["code"], "interrupted", "{step}: {ended}");
            connected_again(&api);
        }
        expect_whole(&api);
        lives
    });
    assert!(deaths >= 4, "{deaths}");
}

fn connected_again(api: &Api) {
    assert_eq!(rows(api, "connections"), 0);
    connected(api, &of_ann("acme"), &tokens(3));
}

#[test]
fn a_reconnection() {
    let deaths = at_every_step(|step, does_the_last| {
        let api = api();
        set_client(&api, "revoked");
        let connection = connected(&api, &of_ann("revoked"), &tokens(1));
        let path = format!("/v1/vault/connections/{connection}/credentials");
        let (id, link) = begin(&api, &json!({"connection": connection}));
        let browser = Browser::default();
        let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
        script(&api, &[(200, tokens(2))]);
        let back = browser.request("GET", &format!("/connect/callback?code=c&state={state}"));
        let lives = answer_until(&api, &back, step, does_the_last).is_some();
        expect_whole(&api);
        let is_new = attempt(&api, &id)["status"] == "succeeded";
        let expected = if is_new { "at-2" } else { "at-1" };
        assert_eq!(body(&api.get(&path))["accessToken"], expected, "{step}");
        lives
    });
    assert!(deaths >= 3, "{deaths}");
}

#[test]
fn a_deletion() {
    let deaths = at_every_step(|step, does_the_last| {
        let api = api_of_now();
        set_client(&api, "revoked");
        let id = connected(&api, &of_ann("revoked"), &tokens(1));
        api.world.database.execute("DELETE FROM connect_attempts", []).unwrap();
        script(&api, &[(200, json!({}))]);
        let delete = api.request("DELETE", &format!("/v1/vault/connections/{id}"));
        let lives = answer_until(&api, &delete, step, does_the_last).is_some();
        expect_whole(&api);
        // Tokens that could not be checked with the platform are kept until they can.
        let asked =
            api.world.sent.borrow().iter().filter(|sent| sent.url.ends_with("/revoke")).count();
        let (there, kept) = (rows(&api, "connections") == 1, rows(&api, "revocations") == 1);
        assert!(there || kept || asked == 1, "{step} {does_the_last}");
        assert!(!(there && kept), "{step}");
        lives
    });
    assert!(deaths >= 3, "{deaths}");
}

#[test]
fn a_refresh() {
    let deaths = at_every_step(|step, does_the_last| {
        let api = api();
        set_client(&api, "acme");
        let id = connected(&api, &of_ann("acme"), &tokens(1));
        let path = format!("/v1/vault/connections/{id}/credentials");
        script(&api, &[(200, tokens(2))]);
        let refresh = api.request("GET", &format!("{path}?refresh=true"));
        let lives = answer_until(&api, &refresh, step, does_the_last).is_some();
        expect_whole(&api);
        let held = body(&api.get(&path))["accessToken"].as_str().unwrap().to_owned();
        assert!(["at-1", "at-2"].contains(&held.as_str()), "{step}: {held}");
        // The next request after the lease ends refreshes with the refresh token that is stored with the access token.
        api.world.wait(30_001);
        api.world.sent.borrow_mut().clear();
        script(&api, &[(200, tokens(3))]);
        let next = body(&api.get(&format!("{path}?refresh=true")));
        assert_eq!(next["accessToken"], "at-3", "{step}: {next}");
        let spent = value_of(&form(&api, 0), "refresh_token").unwrap();
        assert_eq!(spent.replace("rt", "at"), held, "{step}");
        lives
    });
    assert!(deaths >= 3, "{deaths}");
}
