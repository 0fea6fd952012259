//! Forged links and callbacks are rejected without a database query, because anyone can send them.

use super::*;
use crate::support::with_full_body;

const OTHER: &str = "two:ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=";

/// The status of a request, and the number of database calls that it made.
fn cost(api: &Api, request: &Request) -> (u16, u64) {
    let before = api.env.db_calls.get();
    let response = with_full_body(api.send(request));
    (response.status, (api.env.db_calls.get() - before).into())
}

/// Replaces the service's vault keys, over the same storage.
fn with_keys(api: &mut Api, keys: &str) {
    let settings: Vec<_> = SETTINGS
        .into_iter()
        .filter(|(name, _)| *name != "VAULT_KEYS")
        .chain([("VAULT_KEYS", keys)])
        .collect();
    api.service = connector_vault::http::Service::new(config(&settings));
}

#[test]
fn forged_secrets_cost_no_query() {
    let api = api();
    set_client(&api, "acme");
    let (_, link) = start_attempt(&api, &ann_connect_body("acme"));
    let (browser, state) = follow(&api, &link);
    let secret = link.rsplit('/').next().unwrap();
    // Changes a character in the middle, because the first characters may be shard digits.
    let changed = |text: &str| -> String {
        let middle = text.len() / 2;
        let other = |letter: char| if letter == 'A' { 'B' } else { 'A' };
        let letters = text.chars().enumerate();
        letters
            .map(|(index, letter)| if index == middle { other(letter) } else { letter })
            .collect()
    };
    for link in [changed(secret), "x".repeat(43), "x".repeat(45), "x".into(), state.clone()] {
        let path = format!("/connect/go/{link}");
        assert_eq!(cost(&api, &browser.request("GET", &path)), (410, 0), "{link}");
        let posted = with_header(browser.request("POST", &path), "origin", ORIGIN);
        assert_eq!(cost(&api, &posted), (410, 0), "{link}");
    }
    for query in [
        format!("code=c&state={}", changed(&state)),
        format!("error=access_denied&state={}", "x".repeat(43)),
        format!("code=c&state={secret}"),
    ] {
        let path = format!("/connect/callback?{query}");
        assert_eq!(cost(&api, &browser.request("GET", &path)), (410, 0), "{query}");
    }
    // A cookie refers to an attempt only if the service created it.
    api.get("/v1/whoami");
    let start = anonymous("GET", "/connect/callback?error=access_denied");
    cost(&api, &start);
    let forged = format!("__Host-connect={}.{}", "A".repeat(43), "0".repeat(64));
    assert_eq!(cost(&api, &with_header(start, "cookie", &forged)).1, 0);
}

#[test]
fn keys_can_be_rotated_while_users_are_at_the_platform() {
    let mut api = api();
    set_client(&api, "acme");
    let (id, link) = start_attempt(&api, &ann_connect_body("acme"));
    with_keys(&mut api, &format!("{OTHER},{KEYS}"));
    consent_at_platform(&api, &link, &json!({"access_token": "a"}));
    assert_eq!(attempt(&api, &id)["status"], "succeeded");
    // The new key signs this link, so a service with only the old key rejects it.
    let mut bob = ann_connect_body("acme");
    bob["identity"] = json!("bob");
    let (id, link) = start_attempt(&api, &bob);
    with_keys(&mut api, KEYS);
    let browser = Browser::default();
    assert_eq!(cost(&api, &browser.request("GET", &link)), (410, 0));
    with_keys(&mut api, OTHER);
    // The OAuth client's secret still needs the old key, but the link does not.
    assert_eq!(browser.request("GET", &link).method, "GET");
    assert_eq!(cost(&api, &browser.request("GET", &link)).0, 200);
    with_keys(&mut api, &format!("{OTHER},{KEYS}"));
    consent_at_platform(&api, &link, &json!({"access_token": "b"}));
    assert_eq!(attempt(&api, &id)["status"], "succeeded");
}

#[test]
fn links_are_rate_limited() {
    let api = api();
    set_client(&api, "acme");
    let (_, link) = start_attempt(&api, &ann_connect_body("acme"));
    let (_, other) = start_attempt(&api, &ann_connect_body("acme"));
    let open = |link: &str| cost(&api, &Browser::default().request("GET", link));
    assert_eq!(open(&link).0, 200);
    api.env.limited.set(true);
    assert_eq!(open(&link), (429, 0));
    api.env.limited.set(false);
    assert_eq!(open(&other).0, 200);
}
