//! A user's sign-in: only the browser that started it can continue, and the grant contains only what the user chose.

use serde_json::{Value, json};

use super::{
    ALL, Agent, Browser, CALLBACK, app, authenticate_user, authorization_query, consent_code,
    exchange, hidden_field, open_consent_page, redirect_target, register, start_app_sign_in,
    with_form,
};
use crate::connect::{self, text, value_of};
use crate::support::{Api, ORIGIN, anonymous, body, with_header};

fn grants(api: &Api) -> Vec<String> {
    api.env.texts("SELECT state || ' ' || access || ' ' || ifnull(platforms, '-') FROM agent_grants ORDER BY id")
}

#[test]
fn forwarded_sign_in_links_do_not_work() {
    let (api, id) = app();
    let client = register(&api, &id);
    let (attacker, victim) = (Browser::default(), Browser::default());
    // The attacker's authorization request is forwarded to a victim, who signs in at the app.
    let request = start_app_sign_in(&api, &id, &attacker, &client);
    let url = authenticate_user(&api, &request, &json!({"identity": "victim"}));
    assert_eq!(victim.open(&api, &url).status, 410);
    // The victim already has a cookie of their own request.
    let own = start_app_sign_in(&api, &id, &victim, &client);
    assert_eq!(victim.open(&api, &url).status, 410);
    // The attacker signs in, and forwards the link to the victim.
    let url = authenticate_user(&api, &request, &json!({"identity": "attacker"}));
    assert_eq!(victim.open(&api, &url).status, 410);
    // The failed attempts did not invalidate either request.
    assert_eq!(attacker.open(&api, &url).status, 200);
    let url = authenticate_user(&api, &own, &json!({"identity": "victim"}));
    let page = victim.open(&api, &url);
    assert_eq!(page.status, 200);
    // An attacker who knows the grant's id can't decide for the victim.
    let grant = hidden_field(&page, "grant");
    let fields = [
        ("grant", grant.as_str()),
        ("decision", "allow"),
        ("access", "write"),
        ("accounts", "all"),
    ];
    assert_eq!(attacker.decide(&api, &id, &fields).status, 410);
    assert_eq!(Browser::default().decide(&api, &id, &fields).status, 410);
    let decline = [("grant", grant.as_str()), ("decision", "decline")];
    assert_eq!(attacker.decide(&api, &id, &decline).status, 410);
    assert_eq!(victim.decide(&api, &id, &fields).status, 303);
}

#[test]
fn sign_in_links_work_once_and_survive_scanners() {
    let (api, id) = app();
    let client = register(&api, &id);
    let browser = Browser::default();
    let request = start_app_sign_in(&api, &id, &browser, &client);
    let url = authenticate_user(&api, &request, &json!({}));
    assert_eq!(api.send(&browser.request("HEAD", &url)).status, 200);
    assert_eq!(api.send(&anonymous("GET", url.strip_prefix(ORIGIN).unwrap())).status, 410);
    assert_eq!(browser.open(&api, &url).status, 200);
    assert_eq!(browser.open(&api, &url).status, 410);
    let late = authenticate_user(&api, &request, &json!({}));
    api.env.wait(60_000);
    assert_eq!(browser.open(&api, &late).status, 410);
    api.env.wait(9 * 60_000);
    let payload = json!({"request": request, "identity": "ann"});
    let response = connect::send(&api, "POST", "/v1/agent-grants", &payload);
    assert_eq!(
        (response.status, &body(&response)["errors"][0]["pointer"]),
        (400, &json!("/request"))
    );
}

#[test]
fn requests_belong_to_the_app_of_their_account() {
    let (api, id) = app();
    let client = register(&api, &id);
    let request = start_app_sign_in(&api, &id, &Browser::default(), &client);
    let all = connector_vault::terms::Scope::ALL;
    let other = api.env.key("other", connector_vault::terms::Environment::Test, &all, None);
    let live_key = api.env.key("acme", connector_vault::terms::Environment::Live, &all, None);
    let payload = json!({"request": request, "identity": "ann"}).to_string();
    let before = api.env.dump();
    for key in [other, live_key] {
        let path = crate::support::as_key(&key, "POST", "/v1/agent-grants");
        let response = api.send(&crate::support::with_body(path, &payload));
        assert_eq!(
            (response.status, &body(&response)["errors"][0]["pointer"]),
            (400, &json!("/request"))
        );
    }
    for bad in ["", "ar_x", "ar_x.y", &request.replacen("ar_", "ar_A", 1)] {
        let payload = json!({"request": bad, "identity": "ann"});
        let response = connect::send(&api, "POST", "/v1/agent-grants", &payload);
        assert_eq!(response.status, 400, "{bad}");
    }
    let changed = |row: &String| !row.starts_with("api_keys");
    let rows = |all: Vec<String>| all.into_iter().filter(changed).collect::<Vec<_>>();
    assert_eq!(rows(api.env.dump()), rows(before));
}

#[test]
fn the_consent_page_shows_client_access_and_destination() {
    let (api, id) = app();
    for platform in ["acme", "keyed"] {
        api.create(&json!({"platform": platform, "identity": "ann", "identityType": "user"}));
    }
    api.create(&json!({"platform": "plain", "identity": "bob", "identityType": "user"}));
    let client = register(&api, &id);
    let (_, page) = open_consent_page(&api, &id, &client, &json!({"identityType": "user"}));
    let html = text(&page);
    for shown in [
        "Let “Sample Agent” use your accounts?",
        "that “ann” has connected to Sample App",
        "a program on this computer (localhost)",
        "name=\"access\" value=\"write\" checked",
        "name=\"platform\" value=\"acme\"> The acme<",
        "name=\"platform\" value=\"keyed\"",
    ] {
        assert!(html.contains(shown), "{shown} is not in {html}");
    }
    assert!(!html.contains("plain"), "{html}");
}

#[test]
fn the_consent_page_is_in_the_language_of_the_browser() {
    let (api, id) = app();
    let client = register(&api, &id);
    let browser = Browser::default();
    let request = start_app_sign_in(&api, &id, &browser, &client);
    let url = authenticate_user(&api, &request, &json!({"confirm": "destructive"}));
    let request = with_header(browser.request("GET", &url), "accept-language", "de-DE,en;q=0.5");
    let html = text(&api.send(&request));
    for shown in [
        "<html lang=\"de\">",
        "<h1>„Sample Agent“ Zugriff auf Ihre Konten erlauben?</h1>",
        "die „ann“ mit Sample App verbunden hat",
        "<dt>Sie werden gefragt vor</dt><dd>jeder Löschung</dd>",
        "value=\"decline\">Ablehnen</button>",
    ] {
        assert!(html.contains(shown), "{shown} is not in {html}");
    }
}

#[test]
fn users_can_reduce_but_not_extend_access() {
    let restricted = json!({"platforms": ["acme", "keyed"], "access": "read"});
    for (extra, fields, granted) in [
        (json!({}), &[("access", "write"), ("accounts", "all")][..], "active write -"),
        (json!({}), &[("access", "read"), ("accounts", "all")], "active read -"),
        (json!({}), &[("accounts", "all")], "active read -"),
        (
            json!({}),
            &[
                ("access", "write"),
                ("accounts", "some"),
                ("platform", "acme"),
                ("platform", "acme"),
                ("platform", "../x"),
            ],
            "active write acme",
        ),
        (restricted.clone(), &[("access", "write"), ("accounts", "all")], "active read acme,keyed"),
        (
            restricted,
            &[
                ("access", "write"),
                ("accounts", "some"),
                ("platform", "keyed"),
                ("platform", "plain"),
            ],
            "active read keyed",
        ),
    ] {
        let (api, id) = app();
        let client = register(&api, &id);
        let (browser, page) = open_consent_page(&api, &id, &client, &extra);
        let grant = hidden_field(&page, "grant");
        let all = [&[("grant", grant.as_str()), ("decision", "allow")], fields].concat();
        let (_, back) = redirect_target(&browser.decide(&api, &id, &all));
        let response = exchange(&api, &id, &client, &value_of(&back, "code").unwrap());
        assert_eq!(response.status, 200);
        assert_eq!(grants(&api), [granted], "{fields:?}");
        let scope = if granted.contains("write") { "read write" } else { "read" };
        assert_eq!(body(&response)["scope"], scope);
    }
    let (api, id) = app();
    let client = register(&api, &id);
    let (browser, page) = open_consent_page(&api, &id, &client, &json!({"platforms": ["acme"]}));
    let grant = hidden_field(&page, "grant");
    for fields in [&[("accounts", "some")][..], &[("accounts", "some"), ("platform", "keyed")], &[]]
    {
        let all = [&[("grant", grant.as_str()), ("decision", "allow")], fields].concat();
        assert_eq!(browser.decide(&api, &id, &all).status, 400, "{fields:?}");
    }
}

#[test]
fn only_the_consent_page_can_decide_and_only_once() {
    let (api, id) = app();
    let client = register(&api, &id);
    let (browser, page) = open_consent_page(&api, &id, &client, &json!({}));
    let grant = hidden_field(&page, "grant");
    let form = super::form(&[("grant", &grant), ("decision", "allow"), ("accounts", "all")]);
    let post = || with_form(browser.request("POST", &format!("/mcp/{id}/consent")), &form);
    for (origin, site) in [
        ("https://evil.example", "cross-site"),
        ("https://evil.example", "same-origin"),
        (ORIGIN, "cross-site"),
        ("null", "cross-site"),
    ] {
        let request = with_header(with_header(post(), "origin", origin), "sec-fetch-site", site);
        assert_eq!(api.send(&request).status, 403, "{origin} {site}");
    }
    assert_eq!(api.send(&post()).status, 403);
    assert_eq!(grants(&api), ["opened write -"]);
    let fields = [("grant", grant.as_str()), ("decision", "allow"), ("accounts", "all")];
    assert_eq!(browser.decide(&api, &id, &fields).status, 303);
    assert_eq!(browser.decide(&api, &id, &fields).status, 410);
}

#[test]
fn a_user_who_declines_leaves_no_grant() {
    let (api, id) = app();
    let client = register(&api, &id);
    let (browser, page) = open_consent_page(&api, &id, &client, &json!({}));
    let grant = hidden_field(&page, "grant");
    for decision in ["decline", "allow"] {
        let fields = [("grant", grant.as_str()), ("decision", decision), ("accounts", "all")];
        let response = browser.decide(&api, &id, &fields);
        if decision == "decline" {
            let (address, back) = redirect_target(&response);
            let expected = [Some("access_denied"), Some("st&te"), None];
            let found = ["error", "state", "code"].map(|name| value_of(&back, name));
            assert_eq!(
                (address.as_str(), found.each_ref().map(Option::as_deref)),
                (CALLBACK, expected)
            );
        } else {
            assert_eq!(response.status, 410);
        }
        assert_eq!(grants(&api), Vec::<String>::new());
    }
}

#[test]
fn agents_see_only_what_was_granted() {
    let (api, id) = app();
    for (platform, identity) in [("acme", "ann"), ("keyed", "ann"), ("acme", "bob")] {
        api.create(&json!({"platform": platform, "identity": identity, "identityType": "user"}));
    }
    let seen = |agent: &Agent| {
        let response = agent.call(&api, &id, "list_connections", &json!({}));
        assert_eq!(response.status, 200, "{}", body(&response));
        let text = body(&response)["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        let list: Value = serde_json::from_str(&text).unwrap();
        let rows = list["rows"].as_array().unwrap().clone();
        let mut keys: Vec<String> =
            rows.iter().map(|row| row["key"].as_str().unwrap().to_owned()).collect();
        keys.sort_unstable();
        keys
    };
    let all = Agent::new(&api, &id, &ALL);
    assert_eq!(seen(&all), ["test::acme::default::ann", "test::keyed::default::ann"]);
    let limited_fields = [("access", "read"), ("accounts", "some"), ("platform", "keyed")];
    assert_eq!(seen(&Agent::new(&api, &id, &limited_fields)), ["test::keyed::default::ann"]);
    assert!(consent_code(&api, &id, &all.client, &ALL).len() >= 43);
}

#[test]
fn users_can_revoke_only_their_own_earlier_grants() {
    for decision in ["allow", "decline"] {
        let (api, id) = app();
        let client = register(&api, &id);
        let own = Agent::new(&api, &id, &ALL);
        let (of_bob, bobs) = open_consent_page(&api, &id, &client, &json!({"identity": "bob"}));
        assert!(!text(&bobs).contains("Agents with access to your accounts"), "{}", text(&bobs));
        let (browser, page) = open_consent_page(&api, &id, &client, &json!({}));
        let listed = text(&page);
        assert!(
            listed.contains("Agents with access to your accounts")
                && listed.contains("End “Sample Agent”"),
            "{listed}"
        );
        let ended = hidden_field(&page, "end");
        // Another user or browser can't revoke the grants.
        let grant = hidden_field(&bobs, "grant");
        let fields = [
            ("grant", grant.as_str()),
            ("decision", decision),
            ("accounts", "all"),
            ("end", &ended),
        ];
        assert_eq!(of_bob.decide(&api, &id, &fields).status, 303);
        let grant = hidden_field(&page, "grant");
        let fields = [
            ("grant", grant.as_str()),
            ("decision", decision),
            ("accounts", "all"),
            ("end", &ended),
        ];
        assert_eq!(Browser::default().decide(&api, &id, &fields).status, 410);
        assert_eq!(own.call(&api, &id, "list_connections", &json!({})).status, 200);
        assert_eq!(browser.decide(&api, &id, &fields).status, 303);
        assert_eq!(own.call(&api, &id, "list_connections", &json!({})).status, 401, "{decision}");
        assert_eq!(
            super::error(&super::refresh(&api, &id, &own.client, &own.refresh)).1,
            "invalid_grant"
        );
    }
}

#[test]
fn the_app_limits_what_can_be_granted_and_the_page_shows_it() {
    let (api, id) = app();
    let client = register(&api, &id);
    let connection = "00000000-0000-4000-8000-000000000000";
    let limits =
        json!({"access": "read", "actions": ["acme/a", "acme/b*"], "connections": [connection]});
    let (browser, page) = open_consent_page(&api, &id, &client, &limits);
    let shown = text(&page);
    assert!(shown.contains("acme/a, acme/b*") && shown.contains(connection), "{shown}");
    let grant = hidden_field(&page, "grant");
    let fields = [
        ("grant", grant.as_str()),
        ("decision", "allow"),
        ("accounts", "all"),
        ("access", "write"),
    ];
    let (_, back) = redirect_target(&browser.decide(&api, &id, &fields));
    let code = value_of(&back, "code").unwrap();
    let tokens = body(&exchange(&api, &id, &client, &code));
    assert_eq!(tokens["scope"], "read");
    let listed =
        body(&connect::send(&api, "GET", "/v1/agent-grants", &json!({})))["rows"][0].clone();
    for (name, value) in [
        ("access", json!("read")),
        ("actions", json!(["acme/a", "acme/b*"])),
        ("platforms", json!(["acme"])),
        ("connections", json!([connection])),
    ] {
        assert_eq!(listed[name], value, "{name}");
    }
    let token = tokens["access_token"].as_str().unwrap();
    let seen = super::call(&api, &format!("/mcp/{id}"), token, "list_connections", &json!({}));
    assert_eq!(body(&seen)["result"]["structuredContent"]["total"], 0, "{}", text(&seen));
    // Contradictory form fields are rejected.
    let request = start_app_sign_in(&api, &id, &Browser::default(), &client);
    for (extra, pointer) in [
        (json!({"actions": ["beta/a"], "platforms": ["acme"]}), "/actions"),
        (json!({"actions": ["acme"]}), "/actions/0"),
        (json!({"connections": ["x"]}), "/connections/0"),
    ] {
        let mut payload = json!({"request": request, "identity": "ann"});
        for (name, value) in extra.as_object().unwrap() {
            payload[name] = value.clone();
        }
        let response = connect::send(&api, "POST", "/v1/agent-grants", &payload);
        assert_eq!(response.status, 400, "{extra}");
        assert_eq!(body(&response)["errors"][0]["pointer"], pointer, "{extra}");
    }
}

#[test]
fn requests_that_a_user_does_not_decide_about_are_limited() {
    let (api, id) = app();
    let client = register(&api, &id);
    let ask = |identity: &str| {
        Browser::default().sign_in(
            &api,
            &format!("/mcp/{id}/authorize?{}", authorization_query(&client, &[])),
            identity,
        )
    };
    for _ in 0..20 {
        assert_eq!(ask("ann").status, 200);
    }
    let refusal = ask("ann");
    assert_eq!((refusal.status, refusal.header("retry-after")), (429, Some("600")));
    assert_eq!(ask("bob").status, 200, "other users are not affected");
    let rows = || api.env.texts("SELECT id FROM agent_grants").len();
    assert_eq!(rows(), 21);
    // After the undecided requests have expired, new ones are accepted.
    api.env.wait(10 * 60_000);
    assert_eq!(ask("ann").status, 200);
    assert!(rows() <= 17, "expired requests are deleted");
}
