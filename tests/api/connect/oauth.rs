//! Attempts, links and callbacks.

use std::rc::Rc;

use super::*;
use connector_vault::terms::{Environment, Scope};

const TOKENS: &str = r#"{"access_token":"at-1","token_type":"bearer","expires_in":3600,"refresh_token":"rt-1","scope":"read"}"#;

fn tokens() -> Value {
    serde_json::from_str(TOKENS).unwrap()
}

#[test]
fn an_account_is_connected_from_the_link_to_the_credentials() {
    let api = api();
    set_client(&api, "acme");
    let sent = json!({
        "platform": "ACME", "identity": "ann", "identityType": "user", "label": "work", "name": "Ann’s",
        "tags": ["a"], "scopes": ["read", "write"], "returnUrl": "https://app.example/done?x=1#top",
    });
    let (id, link) = begin(&api, &sent);
    assert_eq!(attempt(&api, &id)["status"], "pending");
    assert_eq!(rows(&api, "connections"), 0);

    // The link asks, and does nothing by being looked at.
    let browser = Browser::default();
    let question = text(&browser.get(&api, &link));
    for word in [
        "Connect The acme to Sample App?",
        "· Sample App</title>",
        "“ann”",
        "Did you start this in Sample App",
    ] {
        assert!(question.contains(word), "{word}: {question}");
    }
    let (address, asked) = browser.follow(&api, &link);
    assert_eq!(address, "https://id.acme.example/authorize");
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", "an id"),
        ("scope", "read write"),
        ("redirect_uri", "https://vault.example/connect/callback"),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(value_of(&asked, name).as_deref(), Some(value), "{name}");
    }
    let state = value_of(&asked, "state").unwrap();
    assert_eq!(value_of(&asked, "code_challenge").unwrap().len(), 43);

    // Back from the platform: the code is exchanged, the account is asked for.
    script(&api, &[(200, tokens()), (200, json!({"id": 7}))]);
    let page = browser.back(&api, &format!("code=the-code&state={state}"));
    assert_eq!(page.status, 200);
    let html = text(&page);
    assert!(html.contains("The acme is connected"), "{html}");
    assert!(html.contains("data-origin=\"https://app.example\""), "{html}");
    let back = format!("https://app.example/done?x=1&amp;connect={id}#top");
    assert!(html.contains(&format!("data-return=\"{back}\"")), "{html}");
    let exchange = form(&api, 0);
    assert_eq!(value_of(&exchange, "code").as_deref(), Some("the-code"));
    assert!(value_of(&exchange, "code_verifier").is_some());
    assert_eq!(value_of(&exchange, "client_secret"), None);
    {
        let sent = api.world.sent.borrow();
        assert_eq!(sent[0].url, "https://id.acme.example/token");
        let authorization = sent[0].headers.iter().find(|(name, _)| name == "authorization");
        // "an+id" or "an%20id" and "a%3Asecret", in base64.
        assert!(authorization.unwrap().1.starts_with("Basic "));
        assert_eq!(sent[1].url, "https://api.acme.example/me");
        assert!(sent[1].headers.contains(&("authorization".into(), "Bearer at-1".into())));
    }

    let status = attempt(&api, &id);
    assert_eq!(status["status"], "succeeded");
    assert_eq!(status["error"], Value::Null);
    let connection = &status["connection"];
    for (name, value) in [
        ("platform", json!("acme")),
        ("key", json!("test::acme::work::ann")),
        ("name", json!("Ann’s")),
        ("state", json!("operational")),
        ("active", json!(true)),
        ("tags", json!(["a"])),
        ("version", json!("1")),
    ] {
        assert_eq!(connection[name], value, "{name}");
    }
    let path = format!("/v1/vault/connections/{}", connection["id"].as_str().unwrap());
    let credentials = body(&api.get(&format!("{path}/credentials")));
    assert_eq!(credentials["type"], "oauth2");
    assert_eq!(credentials["accessToken"], "at-1");
    assert_eq!(credentials["headers"], json!({"authorization": "Bearer at-1"}));
    assert_eq!(credentials["scopes"], json!(["read"]));
    assert!(!credentials.to_string().contains("rt-1"));
    let status = body(&api.get(&format!("{path}/status")));
    for (name, value) in [
        ("state", json!("operational")),
        ("reason", Value::Null),
        ("actor", json!("nobody")),
        ("scopes", json!(["read"])),
        ("missingScopes", json!(["write"])),
        ("holdsCredentials", json!(true)),
    ] {
        assert_eq!(status[name], value, "{name}");
    }

    // Nothing secret is stored as it is, and nothing of the attempt is kept.
    let stored = everything(&api);
    for secret in ["at-1", "rt-1", "a:secret", "the-code", state.as_str()] {
        assert!(!stored.contains(secret), "{secret}");
    }
}

/// Whether a page has this heading, under the app's name, and says more.
fn shows(page: &Response, status: u16, heading: &str) {
    let html = text(page);
    assert_eq!(page.status, status, "{html}");
    for part in
        [&format!("<h1>{heading}</h1>"), &format!("<title>{heading} · Sample App</title>"), "<p>"]
    {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[test]
fn a_state_works_once_in_its_own_browser_and_in_time() {
    let api = api();
    set_client(&api, "acme");
    let (id, link) = begin(&api, &of_ann("acme"));
    let (browser, other) = (Browser::default(), Browser::default());
    let page = other.get(&api, &link);
    shows(&page, 200, "Connect The acme to Sample App?");
    assert!(text(&page).contains(">Yes, go on to The acme</button>"), "{}", text(&page));
    let (_, asked) = browser.follow(&api, &link);
    let state = value_of(&asked, "state").unwrap();

    // Another browser, with or without a cookie of its own, gets nowhere; nor does its link.
    for page in [
        other.back(&api, &format!("code=c&state={state}")),
        other.go(&api, &link),
        other.get(&api, &link),
    ] {
        shows(&page, 403, "This was started in another browser");
    }
    let (_, second) =
        begin(&api, &json!({"platform": "acme", "identity": "bob", "identityType": "user"}));
    other.follow(&api, &second);
    assert_eq!(other.back(&api, &format!("code=c&state={state}")).status, 403);
    assert_eq!(attempt(&api, &id)["status"], "pending");

    // Nor does one without a cookie where no browser was remembered.
    let cookies = |sql: &str| api.world.database.execute(sql, []).unwrap();
    cookies("CREATE TEMP TABLE kept AS SELECT id, browser_hash FROM connect_attempts");
    cookies("UPDATE connect_attempts SET browser_hash = NULL");
    let none = Browser::default().back(&api, &format!("code=c&state={state}"));
    assert_eq!((none.status, attempt(&api, &id)["status"].clone()), (403, json!("pending")));
    cookies(
        "UPDATE connect_attempts SET browser_hash = (SELECT k.browser_hash FROM kept k WHERE k.id = connect_attempts.id)",
    );

    // Guessed, cut, doubled.
    for query in
        ["code=c&state=guessed".to_owned(), format!("code=c&state={}", state.get(1..).unwrap())]
    {
        shows(&browser.back(&api, &query), 410, "This link is no longer valid");
    }
    for query in [
        format!("code=c&code=d&state={state}"),
        format!("code=c&state={state}&state={state}"),
        format!("state={state}"),
        "code=c".to_owned(),
        format!("code=c&error=x&state={state}"),
        String::new(),
    ] {
        assert_eq!(browser.back(&api, &query).status, 400, "{query}");
    }

    // A `HEAD` request does not consume the attempt.
    let looked = browser.request("HEAD", &format!("/connect/callback?code=c&state={state}"));
    assert_eq!(
        (api.send(&looked).status, attempt(&api, &id)["status"].clone()),
        (200, json!("pending"))
    );

    // The right one, then again: nothing is exchanged a second time.
    script(&api, &[(200, tokens()), (404, json!({}))]);
    assert_eq!(browser.back(&api, &format!("code=c&state={state}")).status, 200);
    let again = browser.back(&api, &format!("code=c&state={state}"));
    assert!(text(&again).contains("is connected"), "{}", text(&again));
    assert_eq!(api.world.sent.borrow().len(), 2);
    shows(&browser.get(&api, &link), 410, "This link has been used");

    // Too late.
    let (id, link) =
        begin(&api, &json!({"platform": "acme", "identity": "cid", "identityType": "user"}));
    let (_, asked) = browser.follow(&api, &link);
    let state = value_of(&asked, "state").unwrap();
    api.world.now.set(api.world.now.get() + 600_000);
    shows(&browser.back(&api, &format!("code=c&state={state}")), 410, "This link has expired");
    shows(&browser.get(&api, &link), 410, "This link has expired");
    assert_eq!(attempt(&api, &id)["status"], "expired");
}

#[test]
fn whoever_is_led_to_a_new_database_ends_the_arrival_there() {
    let api = api();
    set_client(&api, "acme");
    let (_, link) = begin(&api, &of_ann("acme"));
    let browser = Browser::default();
    let arrives = |visit: &dyn Fn() -> u16| {
        let begin = "INSERT INTO account_moves (account, step, other, began_at) VALUES ('acme', 'arriving', 7, 1)";
        api.world.database.execute(begin, []).unwrap();
        api.world.was_forwarded.set(true);
        (visit(), rows(&api, "account_moves"))
    };
    assert_eq!(arrives(&|| browser.get(&api, &link).status), (200, 0));
    assert_eq!(arrives(&|| browser.go(&api, &link).status), (303, 0));
    let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
    let back = format!("error=access_denied&state={state}");
    assert_eq!(arrives(&|| browser.back(&api, &back).status), (200, 0));
}

#[test]
fn nobody_answers_the_question_for_the_user() {
    let api = api();
    set_client(&api, "acme");
    let (_, link) = begin(&api, &of_ann("acme"));
    let browser = Browser::default();
    let page = browser.get(&api, &link);
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    assert!(page.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"));
    for (origin, site) in [
        (Some("https://evil.example"), Some("cross-site")),
        (Some("https://vault.example"), Some("same-site")),
        (Some("null"), Some("cross-site")),
        (None, Some("cross-site")),
        (None, None),
    ] {
        let mut request = browser.request("POST", &link);
        for (name, value) in [("origin", origin), ("sec-fetch-site", site)] {
            if let Some(value) = value {
                request = with_header(request, name, value);
            }
        }
        let response = api.send(&request);
        shows(&response, 403, "Open the link itself");
        assert_eq!(response.header("set-cookie"), None, "{origin:?} {site:?}");
    }
    assert_eq!(browser.go(&api, "/connect/go/unknown").status, 410);
}

#[test]
fn the_window_of_the_same_browser_is_not_asked_again() {
    let api = api();
    set_client(&api, "acme");
    let token = token(&api, &json!({"identity": "ann", "scopes": ["connections:connect"]}));
    let request = as_token(&token, "POST", "/v1/vault/connect", &json!({"platform": "acme"}));
    let request = with_header(request, "origin", ORIGIN);
    let request = with_header(request, "sec-fetch-site", "same-origin");
    // The window itself brings the cookie. Where the browser keeps it back, as in a frame, the link asks.
    let browser = Browser::default();
    let window = browser.get(&api, "/connect");
    // No other host gets this cookie.
    assert_eq!(window.header("cache-control"), Some("private, no-cache"));
    let cookie = browser.cookie.borrow().clone().unwrap();
    // A user who comes back gets more time.
    let again = browser.get(&api, "/connect");
    assert!(again.header("set-cookie").unwrap().starts_with(&cookie), "{cookie}");
    let framed = body(&api.send(&request))["authorizationUrl"].as_str().unwrap().to_owned();
    assert_eq!(browser.get(&api, &framed).status, 200);
    let response = api.send(&with_header(request, "cookie", &cookie));
    assert_eq!(response.status, 202, "{}", body(&response));
    let link = body(&response)["authorizationUrl"].as_str().unwrap().to_owned();
    assert_eq!(browser.get(&api, &link).status, 303);
    assert_eq!(Browser::default().get(&api, &link).status, 403);
    // Another page that has a token is asked, too.
    let request = as_token(&token, "POST", "/v1/vault/connect", &json!({"platform": "acme"}));
    let request = with_header(request, "origin", "https://app.example");
    let request = with_header(request, "sec-fetch-site", "same-site");
    let response = api.send(&with_header(request, "cookie", &cookie));
    let link = body(&response)["authorizationUrl"].as_str().unwrap().to_owned();
    assert_eq!(browser.get(&api, &link).status, 200);
    // With a key, the link is for another person, so its page asks.
    let request = with_body(api.request("POST", "/v1/vault/connect"), &of_ann("acme").to_string());
    let request = with_header(request, "origin", ORIGIN);
    let request = with_header(request, "sec-fetch-site", "same-origin");
    let response = api.send(&with_header(request, "cookie", &cookie));
    let link = body(&response)["authorizationUrl"].as_str().unwrap().to_owned();
    assert_eq!(browser.get(&api, &link).status, 200);
}

#[test]
fn the_code_of_a_link_is_exchanged_once_and_by_the_window_only() {
    let api = api();
    set_client(&api, "acme");
    let sent = json!({
        "identity": "ann", "scopes": ["connections:connect"], "origins": ["https://app.example"], "ttlSeconds": 600,
    });
    let unused = code(&api, &sent);
    let used = code(&api, &sent);
    assert_ne!(used, unused, "no two links are the same");
    assert_eq!(rows(&api, "used_codes"), 0, "an unopened link costs nothing");
    // The API takes no codes, and the exchange takes no tokens.
    let refused = |request: &Request| {
        let response = api.send(request);
        assert_eq!((response.status, body(&response)["code"].as_str()), (401, Some("invalid_key")));
    };
    assert_eq!(api.send(&as_secret(&used, "GET", "/v1/whoami")).status, 401);
    refused(&exchange(&token(&api, &sent)));
    refused(&exchange(&used.replacen("cc_", "st_", 1)));
    refused(&exchange(""));
    for (origin, site) in [
        (Some("https://app.example"), "cross-site"),
        (Some("https://vault.example"), "cross-site"),
        (None, "same-origin"),
    ] {
        let request = with_header(anonymous("POST", "/connect/token"), "x-connect-code", &used);
        let request = with_header(request, "sec-fetch-site", site);
        refused(&match origin {
            Some(origin) => with_header(request, "origin", origin),
            None => request,
        });
    }
    assert_eq!(rows(&api, "used_codes"), 0);

    let response = api.send(&exchange(&used));
    assert_eq!(
        (response.status, response.header("cache-control")),
        (200, Some("private, no-store"))
    );
    let exchanged = body(&response);
    let token = exchanged["token"].as_str().unwrap();
    let who = body(&api.send(&with_header(
        as_secret(token, "GET", "/v1/whoami"),
        "origin",
        "https://app.example",
    )));
    assert_eq!(who["identity"], "ann");
    assert_eq!((&who["origins"], &who["expiresAt"]), (&sent["origins"], &exchanged["expiresAt"]));
    refused(&exchange(&used));

    // What has expired is of no use, and leaves with the next exchange.
    let later = api.world.now.get() + 600_000;
    api.world.now.set(later - 1);
    let last = code(&api, &sent);
    api.world.now.set(later);
    refused(&exchange(&unused));
    assert_eq!(api.send(&exchange(&last)).status, 200);
    assert_eq!(rows(&api, "used_codes"), 1);
}

#[test]
fn failures_end_an_attempt_with_a_reason() {
    let error = |code: &str| format!("error={code}&error_description=%3Cb%3Eno%3C%2Fb%3E");
    for (query, answers, code) in [
        (error("access_denied"), vec![], "denied"),
        (error("invalid_scope"), vec![], "request_rejected"),
        (error("unauthorized_client"), vec![], "client_rejected"),
        (error("temporarily_unavailable"), vec![], "platform_unavailable"),
        ("code=c&iss=https%3A%2F%2Fevil.example".into(), vec![], "issuer_mismatch"),
        ("code=c".into(), vec![(400, json!({"error": "invalid_grant"}))], "code_rejected"),
        ("code=c".into(), vec![(401, json!({"error": "invalid_client"}))], "client_rejected"),
        ("code=c".into(), vec![(200, json!({"error": "invalid_client"}))], "client_rejected"),
        ("code=c".into(), vec![(503, json!({}))], "platform_unavailable"),
        ("code=c".into(), vec![(0, json!({}))], "platform_unavailable"),
        ("code=c".into(), vec![(1, json!({}))], "platform_unavailable"),
        ("code=c".into(), vec![(200, json!({"nothing": 1}))], "invalid_answer"),
    ] {
        let api = api();
        set_client(&api, "acme");
        let (id, browser, state) = followed(&api, &of_ann("acme"));
        script(&api, &answers);
        let page = browser.back(&api, &format!("{query}&state={state}"));
        assert_eq!(page.status, 200, "{query}");
        assert!(!text(&page).contains("<b>"), "{}", text(&page));
        let ended = attempt(&api, &id);
        assert_eq!(ended["status"], "failed", "{query}");
        assert_eq!(ended["error"]["code"], code, "{query} {answers:?}: {ended}");
        assert_eq!(ended["connection"], Value::Null);
        assert_eq!((rows(&api, "connections"), rows(&api, "credentials")), (0, 0));
        // Loaded again, it shows the same and calls no platform.
        let asked = api.world.sent.borrow().len();
        let again = browser.back(&api, &format!("{query}&state={state}"));
        assert_eq!(api.world.sent.borrow().len(), asked);
        let heading = if code == "denied" { "was not connected" } else { "could not be connected" };
        for page in [&page, &again] {
            assert_eq!(page.status, 200, "{query}");
            assert!(text(page).contains(heading), "{query}: {}", text(page));
        }
    }
}

#[test]
fn a_code_goes_to_the_client_that_began() {
    let api = api();
    set_client(&api, "acme");
    let (id, browser, state) = followed(&api, &of_ann("acme"));
    api.world.wait(1);
    let other = json!({"clientId": "another id", "clientSecret": "another secret"});
    assert_eq!(send(&api, "PUT", "/v1/oauth-clients/acme", &other).status, 200);
    script(&api, &[]);
    browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(attempt(&api, &id)["error"]["code"], "changed");

    let (id, browser, state) = followed(&api, &of_ann("acme"));
    let sql = "UPDATE oauth_clients SET auth_method = 'another'";
    api.world.database.execute(sql, []).unwrap();
    browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(attempt(&api, &id)["error"]["code"], "changed");
}

#[test]
fn a_link_leads_nowhere_without_the_client_that_began() {
    let api = api();
    set_client(&api, "acme");
    let (_, link) = begin(&api, &of_ann("acme"));
    api.send(&api.request("DELETE", "/v1/oauth-clients/acme"));
    let page = Browser::default().go(&api, &link);
    shows(&page, 409, "This platform can&#39;t be connected at the moment");
    assert!(page.header("location").is_none());
}

#[test]
fn a_revoked_key_connects_nobody() {
    let api = api();
    set_client(&api, "acme");
    let (_, browser, state) = followed(&api, &of_ann("acme"));
    api.world.revoke(&api.key);
    assert_eq!(browser.back(&api, &format!("code=c&state={state}")).status, 410);
    assert_eq!(rows(&api, "connections"), 0);
}

#[test]
fn a_crash_at_any_step_leaves_nothing_half_connected() {
    // After the claim, storage is gone: neither the connection nor the end of the attempt can be written.
    let api = Rc::new(api());
    set_client(&api, "acme");
    let (id, browser, state) = followed(&api, &of_ann("acme"));
    let weak = Rc::downgrade(&api);
    *api.world.platform.borrow_mut() = Box::new(move |_| {
        if let Some(api) = weak.upgrade() {
            api.world.db_fails.set(true);
        }
        answer(200, &tokens())
    });
    let page = browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(page.status, 503);
    api.world.db_fails.set(false);
    assert_eq!((rows(&api, "connections"), rows(&api, "credentials")), (0, 0));
    assert_eq!(attempt(&api, &id)["status"], "pending");
    // A second redirect does not exchange the code again.
    assert_eq!(browser.back(&api, &format!("code=c&state={state}")).status, 409);
    api.world.now.set(api.world.now.get() + 60_000);
    let ended = attempt(&api, &id);
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&json!("failed"), &json!("interrupted"))
    );
}

/// Comes back from the platform with tokens of an account there. Returns what became of the attempt.
fn back_as(api: &Api, sent: &Value, account: u64, then: u16) -> Value {
    let (id, link) = begin(api, sent);
    let browser = Browser::default();
    let state = value_of(&browser.follow(api, &link).1, "state").unwrap();
    let tokens = json!({"access_token": format!("at-{account}"), "refresh_token": format!("rt-{account}"), "id_token": id_token(account)});
    script(api, &[(200, tokens), (then, json!({}))]);
    api.world.sent.borrow_mut().clear();
    browser.back(api, &format!("code=c&state={state}"));
    attempt(api, &id)
}

#[test]
fn tokens_that_become_no_connection_are_revoked() {
    let api = api();
    set_client(&api, "revoked");
    let ended = back_as(&api, &of_ann("revoked"), 1, 0);
    let id = ended["connection"]["id"].as_str().unwrap().to_owned();
    let again = json!({"connection": id});
    let revoked = || -> Option<String> {
        let sent = api.world.sent.borrow().len();
        (sent > 1).then(|| value_of(&form(&api, 1), "token").unwrap())
    };

    let ended = back_as(&api, &again, 2, 200);
    assert_eq!(ended["error"]["code"], "account_mismatch");
    assert_eq!((revoked().as_deref(), rows(&api, "revocations")), (Some("rt-2"), 0));
    // What the platform does not answer to is kept, sealed, and tried again.
    back_as(&api, &again, 2, 503);
    assert_eq!((revoked().as_deref(), rows(&api, "revocations")), (Some("rt-2"), 1));
    assert!(!everything(&api).contains("rt-2"));
    api.world.database.execute("DELETE FROM revocations", []).unwrap();

    // Many platforms would end the other connection too, when both are the same account's.
    let mut other = of_ann("revoked");
    other["label"] = json!("second");
    assert_eq!(back_as(&api, &other, 2, 0)["status"], "succeeded");
    assert_eq!(back_as(&api, &again, 2, 0)["error"]["code"], "account_mismatch");
    assert_eq!((revoked(), rows(&api, "revocations")), (None, 0));

    // Two tabs: the second one finds the connection of the first.
    for (account, expected) in [(3, None), (4, Some("rt-4"))] {
        let mut third = of_ann("revoked");
        third["label"] = json!(format!("tab-{account}"));
        let (second, link) = begin(&api, &third);
        assert_eq!(back_as(&api, &third, 3, 0)["status"], "succeeded");
        let browser = Browser::default();
        let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
        let tokens = json!({"access_token": "at", "refresh_token": format!("rt-{account}"), "id_token": id_token(account)});
        script(&api, &[(200, tokens), (200, json!({}))]);
        api.world.sent.borrow_mut().clear();
        browser.back(&api, &format!("code=c&state={state}"));
        assert_eq!(attempt(&api, &second)["error"]["code"], "connection_exists");
        assert_eq!(revoked().as_deref(), expected);
    }

    // The connection was deleted meanwhile.
    let mut fourth = of_ann("revoked");
    fourth["label"] = json!("fourth");
    let id = back_as(&api, &fourth, 5, 0)["connection"]["id"].as_str().unwrap().to_owned();
    let (gone, link) = begin(&api, &json!({"connection": id}));
    let browser = Browser::default();
    let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
    script(&api, &[(200, json!({}))]);
    api.send(&api.request("DELETE", &format!("/v1/vault/connections/{id}")));
    let tokens = json!({"access_token": "at", "refresh_token": "rt-6", "id_token": id_token(6)});
    script(&api, &[(200, tokens), (200, json!({}))]);
    api.world.sent.borrow_mut().clear();
    browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(attempt(&api, &gone)["error"]["code"], "connection_not_found");
    assert_eq!(revoked().as_deref(), Some("rt-6"));
}

#[test]
fn reconnecting_keeps_the_connection_and_its_account() {
    let api = api();
    set_client(&api, "acme");
    let who = |id: u64| json!({"access_token": format!("at-{id}"), "refresh_token": "rt", "id_token": id_token(id)});
    let id = connected(&api, &of_ann("acme"), &who(1));
    let exists = connect(&api, &of_ann("acme"));
    assert_eq!(exists.status, 409);
    assert_eq!(body(&exists)["code"], "connection_exists");
    assert_eq!(body(&exists)["connectionId"], id.as_str());

    // Another account at the platform: the old credentials stay.
    let again = json!({"connection": id});
    let (attempt_id, link) = begin(&api, &again);
    let browser = Browser::default();
    let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
    script(&api, &[(200, who(2))]);
    browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(attempt(&api, &attempt_id)["error"]["code"], "account_mismatch");
    let path = format!("/v1/vault/connections/{id}");
    assert_eq!(body(&api.get(&format!("{path}/credentials")))["accessToken"], "at-1");

    // Unless that is allowed; and the same account always is.
    for (more, account) in [(json!({}), 1), (json!({"allowOtherAccount": true}), 2)] {
        let mut sent = again.clone();
        sent["allowOtherAccount"] = more.get("allowOtherAccount").cloned().unwrap_or(json!(false));
        let (attempt_id, link) = begin(&api, &sent);
        let browser = Browser::default();
        let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
        script(&api, &[(200, who(account))]);
        browser.back(&api, &format!("code=c&state={state}"));
        let ended = attempt(&api, &attempt_id);
        assert_eq!(ended["status"], "succeeded", "{ended}");
        assert_eq!(ended["connection"]["id"], id.as_str());
        let now = body(&api.get(&format!("{path}/credentials")));
        assert_eq!(now["accessToken"], format!("at-{account}"));
    }
    assert_eq!((rows(&api, "connections"), rows(&api, "credentials")), (1, 1));

    // What has failed is connected again under its old id by its key too.
    api.world.database.execute("UPDATE connections SET state = 'failed', active = 0", []).unwrap();
    let failed = api.get(&format!("{path}/credentials"));
    assert_eq!((failed.status, &body(&failed)["code"]), (409, &json!("connection_failed")));
    let of_team = json!({"platform": "acme", "identity": "ann", "identityType": "team"});
    assert_eq!(body(&connect(&api, &of_team))["code"], "connection_exists");
    let back = connected(&api, &of_ann("acme"), &who(2));
    assert_eq!(back, id);
    let connection = body(&api.get(&path));
    assert_eq!(
        (&connection["state"], &connection["active"]),
        (&json!("operational"), &json!(true))
    );
}

/// An unsigned ID token whose subject is a number.
pub fn id_token(subject: u64) -> String {
    use base64ct::{Base64UrlUnpadded, Encoding as _};
    let part = |value: Value| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
    format!("{}.{}.x", part(json!({"alg": "none"})), part(json!({"sub": subject.to_string()})))
}

#[test]
fn a_redirect_fills_in_fields_as_a_form_does() {
    let api = api();
    set_client(&api, "companies");
    for (identity, said, expected) in [
        ("good", "realmId=123&region=eu&other=x", json!({"realmId": "123", "region": "eu"})),
        ("bad", "realmId=evil.example&region=moon", Value::Null),
        ("empty", "realmId=&region=", Value::Null),
    ] {
        let sent = json!({"platform": "companies", "identity": identity, "identityType": "user"});
        let (id, link) = begin(&api, &sent);
        let browser = Browser::default();
        let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
        script(&api, &[(200, tokens())]);
        browser.back(&api, &format!("code=c&state={state}&{said}"));
        let ended = attempt(&api, &id);
        let connection = ended["connection"]["id"].as_str().unwrap();
        let held = api.get(&format!("/v1/vault/connections/{connection}/credentials"));
        assert_eq!(body(&held)["fields"], expected, "{said}");
    }
}

#[test]
fn two_tabs_make_one_connection() {
    let api = api();
    set_client(&api, "acme");
    let browser = Browser::default();
    let attempts: Vec<(String, String)> = (0..2)
        .map(|_| {
            let (id, link) = begin(&api, &of_ann("acme"));
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

#[test]
fn a_token_connects_for_its_own_identity_only() {
    let api = api();
    set_client(&api, "acme");
    let token = token(
        &api,
        &json!({"identity": "ann", "identityType": "user", "platforms": ["acme"], "scopes": ["connections:connect"]}),
    );
    let send = |sent: Value| api.send(&as_token(&token, "POST", "/v1/vault/connect", &sent));
    for (sent, status) in [
        (json!({"platform": "acme", "identity": "bob"}), 403),
        (json!({"platform": "acme", "identityType": "team"}), 403),
        (json!({"platform": "keyed"}), 403),
        (json!({"platform": "acme", "identity": "ann", "identityType": "user"}), 202),
        (json!({"platform": "acme"}), 202),
    ] {
        let response = send(sent.clone());
        assert_eq!(response.status, status, "{sent}: {}", body(&response));
    }
    // One that is confined to no type may name it.
    let any = json!({"identity": "ann", "scopes": ["connections:connect"]});
    let any = crate::connect::token(&api, &any);
    let of_team = json!({"platform": "acme", "identityType": "team"});
    api.world.wait(1);
    let response = api.send(&as_token(&any, "POST", "/v1/vault/connect", &of_team));
    assert_eq!(response.status, 202, "{}", body(&response));
    let newest = body(&api.get("/v1/vault/connect?identity=ann&limit=1"));
    assert_eq!(newest["rows"][0]["identityType"], "team", "{newest}");
    // Bob's connection and bob's attempt do not exist for ann's token.
    let (bobs, _) =
        begin(&api, &json!({"platform": "acme", "identity": "bob", "identityType": "user"}));
    let get = |path: &str| api.send(&as_secret(&token, "GET", path)).status;
    assert_eq!(get(&format!("/v1/vault/connect/{bobs}")), 404);
    let id = connected(
        &api,
        &json!({"platform": "acme", "identity": "bob", "identityType": "user"}),
        &tokens(),
    );
    assert_eq!(send(json!({"connection": id})).status, 404);
    assert_eq!(get(&format!("/v1/vault/connections/{id}/credentials")), 403);
    assert_eq!(get("/v1/oauth-clients"), 403);
}

#[test]
fn another_account_sees_no_attempt() {
    let api = api();
    set_client(&api, "acme");
    let (id, _) = begin(&api, &of_ann("acme"));
    for (account, environment) in [("beta", Environment::Test), ("acme", Environment::Live)] {
        let key = api.world.key(account, environment, &Scope::ALL, None);
        let request = crate::support::as_key(&key, "GET", &format!("/v1/vault/connect/{id}"));
        let response = api.send(&request);
        assert_eq!((response.status, &body(&response)["code"]), (404, &json!("attempt_not_found")));
        let request = crate::support::as_key(&key, "POST", "/v1/vault/connect");
        let response = api.send(&with_body(request, &of_ann("acme").to_string()));
        assert_eq!(body(&response)["code"], "oauth_client_missing");
    }
}

#[test]
fn open_attempts_are_limited() {
    let api = api();
    set_client(&api, "acme");
    for _ in 0..20 {
        begin(&api, &of_ann("acme"));
    }
    let response = connect(&api, &of_ann("acme"));
    assert_eq!(response.status, 429, "{}", body(&response));
    assert_eq!(response.header("retry-after"), Some("600"));
    assert_eq!(
        body(&response)["detail"],
        "This identity has 20 open attempts to connect, the most that are allowed. Finish one, or wait until they expire."
    );
    begin(&api, &json!({"platform": "acme", "identity": "bob", "identityType": "user"}));
    // They expire, and a day later they are deleted, a few with every new one.
    api.world.now.set(api.world.now.get() + 600_000);
    begin(&api, &of_ann("acme"));
    assert_eq!(rows(&api, "connect_attempts"), 22);
    api.world.now.set(api.world.now.get() + 86_400_001);
    begin(&api, &of_ann("acme"));
    assert_eq!(rows(&api, "connect_attempts"), 18);
}

#[test]
fn open_attempts_of_an_account_are_limited() {
    let api = api();
    set_client(&api, "acme");
    let of = |nth: usize| json!({"platform": "acme", "identity": format!("user {}", nth / 20), "identityType": "user"});
    for nth in 0..1000 {
        begin(&api, &of(nth));
    }
    let response = connect(&api, &of(1000));
    assert_eq!(response.status, 429, "{}", body(&response));
    assert_eq!(
        body(&response)["detail"],
        "This account has 1000 open attempts to connect, the most that are allowed. Finish one, or wait until they expire."
    );
    assert_eq!(rows(&api, "connect_attempts"), 1000);
    api.world.now.set(api.world.now.get() + 600_000);
    begin(&api, &of(1000));
}

#[test]
fn whoever_fills_in_a_form_does_not_choose_who_gets_the_secret() {
    let api = api();
    for platform in ["shops", "hosted"] {
        set_client(&api, platform);
    }
    let sent = |platform: &str, name: &str, value: &str| {
        let mut sent = of_ann(platform);
        sent["fields"] = json!({name: value});
        connect(&api, &sent)
    };
    assert_eq!(sent("shops", "shop", "ann").status, 202);
    for value in [
        "evil.example#",
        "a@b",
        "..",
        "a..b",
        "a/",
        "a?",
        "a\\b",
        "a:1",
        "%2e",
        "ä",
        "ann.",
        ".ann",
        "",
        "ｅvil",
    ] {
        let response = sent("shops", "shop", value);
        assert_eq!(response.status, 400, "{value:?}: {}", text(&response));
        assert_eq!(body(&response)["errors"][0]["pointer"], "/fields/shop", "{value:?}");
    }
    // The app must act, so the user is not asked for the host or anything else.
    let detail = "The OAuth client for `hosted` must set its `variables` `host`, which decide who receives its secret and tokens.";
    for refused in [sent("hosted", "host", "evil.example"), connect(&api, &of_ann("hosted"))] {
        let refused = (refused.status, body(&refused));
        assert_eq!((refused.0, &refused.1["code"]), (409, &json!("oauth_client_missing")));
        assert_eq!(refused.1["detail"], detail);
    }
    let faulty = sent("hosted", "shop", "ann");
    assert_eq!(
        (faulty.status, &body(&faulty)["errors"][0]["pointer"]),
        (400, &json!("/fields/shop"))
    );
    assert_eq!(body(&faulty)["errors"].as_array().map(Vec::len), Some(1));
    let client = json!({"clientId": "an id", "clientSecret": "a:secret", "variables": {"host": "id.hosted.example"}});
    assert_eq!(send(&api, "PUT", "/v1/oauth-clients/hosted", &client).status, 200);
    let (_, link) = begin(&api, &of_ann("hosted"));
    let (address, _) = Browser::default().follow(&api, &link);
    assert_eq!(address, "https://id.hosted.example/authorize");
    // A host that the catalog names itself, and no other.
    set_client(&api, "standard");
    begin(&api, &of_ann("standard"));
    assert_eq!(sent("standard", "host", "id.standard.example").status, 202);
    assert_eq!(sent("standard", "host", "evil.example").status, 409);
    // One of several, and no other.
    set_client(&api, "regional");
    let of_region = |host: &str| {
        let mut sent = of_ann("regional");
        sent["authMethod"] = json!("oauth");
        sent["fields"] = json!({"host": host});
        connect(&api, &sent).status
    };
    assert_eq!((of_region("us.regional.example"), of_region("evil.example")), (202, 400));
}

#[test]
fn nobody_is_asked_for_fields_while_the_oauth_client_is_missing() {
    let api = api();
    let refused = connect(&api, &of_ann("shops"));
    assert_eq!((refused.status, &body(&refused)["code"]), (409, &json!("oauth_client_missing")));
    set_client(&api, "shops");
    let asked = connect(&api, &of_ann("shops"));
    assert_eq!(
        (asked.status, &body(&asked)["errors"][0]["pointer"]),
        (400, &json!("/fields/shop"))
    );
}

#[test]
fn addresses_to_return_to_have_an_allowed_origin() {
    let api = api();
    set_client(&api, "acme");
    for (url, status) in [
        ("https://app.example/x", 202),
        ("https://vault.example/x", 202),
        ("https://evil.example/x", 400),
        ("https://app.example.evil.example/", 400),
        ("//app.example", 400),
        ("javascript:alert(1)", 400),
        ("http://app.example/", 400),
        ("http://localhost:5173/", 400),
        ("/done", 400),
    ] {
        let mut sent = of_ann("acme");
        sent["returnUrl"] = json!(url);
        let response = connect(&api, &sent);
        assert_eq!(response.status, status, "{url}: {}", body(&response));
    }
    let token = token(
        &api,
        &json!({"identity": "ann", "scopes": ["connections:connect"], "origins": ["https://other.example"]}),
    );
    for (url, status) in [
        ("https://other.example/", 202),
        ("https://vault.example/connected", 202),
        ("https://app.example/", 400),
    ] {
        let sent = json!({"platform": "acme", "returnUrl": url});
        let request = as_token(&token, "POST", "/v1/vault/connect", &sent);
        let response = api.send(&with_header(request, "origin", "https://other.example"));
        assert_eq!(response.status, status, "{url}: {}", body(&response));
    }
}

#[test]
fn an_outcome_is_waited_for() {
    let api = api();
    set_client(&api, "acme");
    let (id, _) = begin(&api, &of_ann("acme"));
    let response = api.get(&format!("/v1/vault/connect/{id}?wait=3"));
    assert_eq!(body(&response)["status"], "pending");
    assert!(!api.world.slept.borrow().is_empty());
    // There is nothing to wait for any more.
    let (over, link) = begin(&api, &of_ann("acme"));
    let browser = Browser::default();
    let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
    browser.back(&api, &format!("error=access_denied&state={state}"));
    api.world.slept.borrow_mut().clear();
    let response = api.get(&format!("/v1/vault/connect/{over}?wait=3"));
    assert_eq!(body(&response)["status"], "failed");
    assert!(api.world.slept.borrow().is_empty());
    for wait in ["0", "26", "x", ""] {
        assert_eq!(api.get(&format!("/v1/vault/connect/{id}?wait={wait}")).status, 400, "{wait}");
    }
}

#[test]
fn without_keys_nothing_is_begun() {
    let api = api_with(&[]);
    for (method, path, sent) in [
        ("POST", "/v1/vault/connect", of_ann("acme")),
        ("PUT", "/v1/oauth-clients/acme", json!({"clientId": "a", "clientSecret": "b"})),
    ] {
        let response = send(&api, method, path, &sent);
        assert_eq!(response.status, 503, "{path}");
        assert!(body(&response)["detail"].as_str().unwrap().contains("VAULT_KEYS"));
    }
}
