//! Connect attempts with OAuth: links and callbacks.

use std::rc::Rc;

use super::*;

const TOKENS: &str = r#"{"access_token":"at-1","token_type":"bearer","expires_in":3600,"refresh_token":"rt-1","scope":"read"}"#;

pub(super) fn tokens() -> Value {
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
    let (id, link) = start_attempt(&api, &sent);
    assert_eq!(attempt(&api, &id)["status"], "pending");
    assert_eq!(rows(&api, "connections"), 0);

    // Opening the link only shows a page that asks the user to confirm.
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
    let (address, query) = browser.follow(&api, &link);
    assert_eq!(address, "https://id.acme.example/authorize");
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", "an id"),
        ("scope", "read write"),
        ("redirect_uri", "https://vault.example/connect/callback"),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(value_of(&query, name).as_deref(), Some(value), "{name}");
    }
    let state = value_of(&query, "state").unwrap();
    assert_eq!(value_of(&query, "code_challenge").unwrap().len(), 43);

    // The user returns from the platform, and the service exchanges the code and requests the
    // account.
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
        let sent = api.env.sent.borrow();
        assert_eq!(sent[0].url, "https://id.acme.example/token");
        let authorization = sent[0].headers.iter().find(|(name, _)| name == "authorization");
        // The base64 of "an+id" or "an%20id", then "a%3Asecret".
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

    // No secret is stored in plaintext, and the attempt's own secrets are deleted.
    let stored = dump_all_tables(&api);
    for secret in ["at-1", "rt-1", "a:secret", "the-code", state.as_str()] {
        assert!(!stored.contains(secret), "{secret}");
    }
}

/// Asserts that a page has this status, heading and title, and contains a message.
fn assert_page(page: &Response, status: u16, heading: &str) {
    let html = text(page);
    assert_eq!(page.status, status, "{html}");
    for part in
        [&format!("<h1>{heading}</h1>"), &format!("<title>{heading} · Sample App</title>"), "<p>"]
    {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[test]
fn a_state_works_once_in_its_browser_before_it_expires() {
    let api = api();
    set_client(&api, "acme");
    let (id, link) = start_attempt(&api, &ann_connect_body("acme"));
    let (browser, other) = (Browser::default(), Browser::default());
    let page = other.get(&api, &link);
    assert_page(&page, 200, "Connect The acme to Sample App?");
    assert!(text(&page).contains(">Yes, continue to The acme</button>"), "{}", text(&page));
    let (_, parameters) = browser.follow(&api, &link);
    let state = value_of(&parameters, "state").unwrap();

    // Another browser is rejected with and without a cookie, at the callback and at the link.
    for page in [
        other.back(&api, &format!("code=c&state={state}")),
        other.confirm_link(&api, &link),
        other.get(&api, &link),
    ] {
        assert_page(&page, 403, "This was started in another browser");
    }
    let (_, second) = start_attempt(
        &api,
        &json!({"platform": "acme", "identity": "bob", "identityType": "user"}),
    );
    other.follow(&api, &second);
    assert_eq!(other.back(&api, &format!("code=c&state={state}")).status, 403);
    assert_eq!(attempt(&api, &id)["status"], "pending");

    // A browser without a cookie is rejected even if no browser is recorded.
    let cookies = |sql: &str| api.env.database.execute(sql, []).unwrap();
    cookies("CREATE TEMP TABLE kept AS SELECT id, browser_hash FROM connect_attempts");
    cookies("UPDATE connect_attempts SET browser_hash = NULL");
    let none = Browser::default().back(&api, &format!("code=c&state={state}"));
    assert_eq!((none.status, attempt(&api, &id)["status"].clone()), (403, json!("pending")));
    cookies(
        "UPDATE connect_attempts SET browser_hash = (SELECT k.browser_hash FROM kept k WHERE k.id = connect_attempts.id)",
    );

    // Guessed, truncated and duplicated values of `state`.
    for query in
        ["code=c&state=guessed".to_owned(), format!("code=c&state={}", state.get(1..).unwrap())]
    {
        assert_page(&browser.back(&api, &query), 410, "This link is no longer valid");
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

    // The right callback exchanges the code, and repeating it does not exchange the code again.
    script(&api, &[(200, tokens()), (404, json!({}))]);
    assert_eq!(browser.back(&api, &format!("code=c&state={state}")).status, 200);
    let again = browser.back(&api, &format!("code=c&state={state}"));
    assert!(text(&again).contains("is connected"), "{}", text(&again));
    assert_eq!(api.env.sent.borrow().len(), 2);
    assert_page(&browser.get(&api, &link), 410, "This link has been used");

    // The attempt has expired.
    let (id, link) = start_attempt(
        &api,
        &json!({"platform": "acme", "identity": "cid", "identityType": "user"}),
    );
    let (_, parameters) = browser.follow(&api, &link);
    let state = value_of(&parameters, "state").unwrap();
    api.env.now.set(api.env.now.get() + 600_000);
    assert_page(
        &browser.back(&api, &format!("code=c&state={state}")),
        410,
        "This link has expired",
    );
    assert_page(&browser.get(&api, &link), 410, "This link has expired");
    assert_eq!(attempt(&api, &id)["status"], "expired");
}

#[test]
fn a_request_forwarded_from_the_old_database_completes_the_move() {
    let api = api();
    set_client(&api, "acme");
    let (_, link) = start_attempt(&api, &ann_connect_body("acme"));
    let browser = Browser::default();
    let arrives = |visit: &dyn Fn() -> u16| {
        let start_attempt = "INSERT INTO account_moves (account, step, other, began_at) VALUES ('acme', 'arriving', 7, 1)";
        api.env.database.execute(start_attempt, []).unwrap();
        api.env.was_forwarded.set(true);
        (visit(), rows(&api, "account_moves"))
    };
    assert_eq!(arrives(&|| browser.get(&api, &link).status), (200, 0));
    assert_eq!(arrives(&|| browser.confirm_link(&api, &link).status), (303, 0));
    let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
    let back = format!("error=access_denied&state={state}");
    assert_eq!(arrives(&|| browser.back(&api, &back).status), (200, 0));
}

#[test]
fn other_sites_cannot_confirm_a_link() {
    let api = api();
    set_client(&api, "acme");
    let (_, link) = start_attempt(&api, &ann_connect_body("acme"));
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
        assert_page(&response, 403, "Open the link itself");
        assert_eq!(response.header("set-cookie"), None, "{origin:?} {site:?}");
    }
    assert_eq!(browser.confirm_link(&api, "/connect/go/unknown").status, 410);
}

#[test]
fn attempts_of_the_window_need_no_confirmation() {
    let api = api();
    set_client(&api, "acme");
    let token = token(&api, &json!({"identity": "ann", "scopes": ["connections:connect"]}));
    let request = as_token(&token, "POST", "/v1/vault/connect", &json!({"platform": "acme"}));
    let request = with_header(request, "origin", ORIGIN);
    let request = with_header(request, "sec-fetch-site", "same-origin");
    // The window sends the cookie. If the browser withholds the cookie, as in a frame, the link's page asks the user.
    let browser = Browser::default();
    let window = browser.get(&api, "/connect");
    // Caches must revalidate the page before they reuse it, because it sets a cookie.
    assert_eq!(window.header("cache-control"), Some("private, no-cache"));
    let cookie = browser.cookie.borrow().clone().unwrap();
    // Opening the window again extends the cookie's lifetime.
    let again = browser.get(&api, "/connect");
    assert!(again.header("set-cookie").unwrap().starts_with(&cookie), "{cookie}");
    let framed = body(&api.send(&request))["authorizationUrl"].as_str().unwrap().to_owned();
    assert_eq!(browser.get(&api, &framed).status, 200);
    let response = api.send(&with_header(request, "cookie", &cookie));
    assert_eq!(response.status, 202, "{}", body(&response));
    let link = body(&response)["authorizationUrl"].as_str().unwrap().to_owned();
    assert_eq!(browser.get(&api, &link).status, 303);
    assert_eq!(Browser::default().get(&api, &link).status, 403);
    // If another page starts an attempt with the token, the link asks the user to confirm.
    let request = as_token(&token, "POST", "/v1/vault/connect", &json!({"platform": "acme"}));
    let request = with_header(request, "origin", "https://app.example");
    let request = with_header(request, "sec-fetch-site", "same-site");
    let response = api.send(&with_header(request, "cookie", &cookie));
    let link = body(&response)["authorizationUrl"].as_str().unwrap().to_owned();
    assert_eq!(browser.get(&api, &link).status, 200);
    // An attempt that a key starts may be for another person, so the link asks for confirmation.
    let request =
        with_body(api.request("POST", "/v1/vault/connect"), &ann_connect_body("acme").to_string());
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
    // The API accepts no codes, and the endpoint that exchanges codes accepts no tokens.
    let assert_refused = |request: &Request| {
        let response = api.send(request);
        assert_eq!((response.status, body(&response)["code"].as_str()), (401, Some("invalid_key")));
    };
    assert_eq!(api.send(&as_secret(&used, "GET", "/v1/whoami")).status, 401);
    assert_refused(&exchange(&token(&api, &sent)));
    assert_refused(&exchange(&used.replacen("cc_", "st_", 1)));
    assert_refused(&exchange(""));
    for (origin, site) in [
        (Some("https://app.example"), "cross-site"),
        (Some("https://vault.example"), "cross-site"),
        (None, "same-origin"),
    ] {
        let request = with_header(anonymous("POST", "/connect/token"), "x-connect-code", &used);
        let request = with_header(request, "sec-fetch-site", site);
        assert_refused(&match origin {
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
    let whoami = body(&api.send(&with_header(
        as_secret(token, "GET", "/v1/whoami"),
        "origin",
        "https://app.example",
    )));
    assert_eq!(whoami["identity"], "ann");
    assert_eq!(
        (&whoami["origins"], &whoami["expiresAt"]),
        (&sent["origins"], &exchanged["expiresAt"])
    );
    assert_refused(&exchange(&used));

    // An expired code is rejected, and the next exchange deletes it.
    let later = api.env.now.get() + 600_000;
    api.env.now.set(later - 1);
    let last = code(&api, &sent);
    api.env.now.set(later);
    assert_refused(&exchange(&unused));
    assert_eq!(api.send(&exchange(&last)).status, 200);
    assert_eq!(rows(&api, "used_codes"), 1);
}

#[test]
fn failures_end_an_attempt_with_a_reason() {
    let error = |code: &str| format!("error={code}&error_description=%3Cb%3Eno%3C%2Fb%3E");
    for (query, responses, code) in [
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
        let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
        script(&api, &responses);
        let page = browser.back(&api, &format!("{query}&state={state}"));
        assert_eq!(page.status, 200, "{query}");
        assert!(!text(&page).contains("<b>"), "{}", text(&page));
        let ended = attempt(&api, &id);
        assert_eq!(ended["status"], "failed", "{query}");
        assert_eq!(ended["error"]["code"], code, "{query} {responses:?}: {ended}");
        assert_eq!(ended["connection"], Value::Null);
        assert_eq!((rows(&api, "connections"), rows(&api, "credentials")), (0, 0));
        // Reloading the page shows the same page without calling a platform.
        let parameters = api.env.sent.borrow().len();
        let again = browser.back(&api, &format!("{query}&state={state}"));
        assert_eq!(api.env.sent.borrow().len(), parameters);
        let heading = if code == "denied" { "was not connected" } else { "could not be connected" };
        for page in [&page, &again] {
            assert_eq!(page.status, 200, "{query}");
            assert!(text(page).contains(heading), "{query}: {}", text(page));
        }
    }
}

#[test]
fn codes_are_exchanged_only_with_the_client_that_started_the_attempt() {
    let api = api();
    set_client(&api, "acme");
    let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    api.env.wait(1);
    let other = json!({"clientId": "another id", "clientSecret": "another secret"});
    assert_eq!(send(&api, "PUT", "/v1/oauth-clients/acme", &other).status, 200);
    script(&api, &[]);
    browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(attempt(&api, &id)["error"]["code"], "changed");

    let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    let sql = "UPDATE oauth_clients SET auth_method = 'another'";
    api.env.database.execute(sql, []).unwrap();
    browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(attempt(&api, &id)["error"]["code"], "changed");
}

/// While a user is at the platform, the operator publishes other endpoints of the platform, or
/// another client is stored within the same millisecond.
#[test]
fn codes_are_sent_only_to_the_server_that_issued_them() {
    let usual = |extra: &Value| ("acme", json!({"authMethods": [oauth("oauth", extra)]}));
    for extra in [
        json!({"tokenUrl": "https://id.new.example/token"}),
        json!({"authorizationUrl": "https://id.new.example/authorize"}),
        json!({"issuer": "https://id.new.example"}),
    ] {
        let api = api_of(&[usual(&json!({}))]);
        let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
        let (_, link) = start_attempt(&api, &ann_connect_body("acme"));
        publish(&api, &[usual(&extra)]);
        api.env.wait(61_000);
        script(&api, &[]);
        browser.back(&api, &format!("code=c&state={state}"));
        assert_eq!(attempt(&api, &id)["error"]["code"], "changed", "{extra}");
        assert_eq!(api.env.sent.borrow().len(), 0, "{extra}");
        // An attempt that has not reached the platform can't continue.
        assert_page(
            &Browser::default().confirm_link(&api, &link),
            409,
            "This platform can&#39;t be connected at the moment",
        );
    }
    let api = api_of(&[usual(&json!({}))]);
    let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    publish(&api, &[usual(&json!({"documentationUrl": "https://acme.example/docs"}))]);
    api.env.wait(61_000);
    script(&api, &[(200, json!({"access_token": "a"}))]);
    browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(attempt(&api, &id)["status"], "succeeded");

    let mut of_work = ann_connect_body("acme");
    of_work["label"] = json!("work");
    let (id, browser, state) = start_and_follow_attempt(&api, &of_work);
    let other = json!({"clientId": "another id", "clientSecret": "another secret"});
    assert_eq!(send(&api, "PUT", "/v1/oauth-clients/acme", &other).status, 200);
    script(&api, &[]);
    browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(attempt(&api, &id)["error"]["code"], "changed");
}

#[test]
fn links_need_the_client_that_started_the_attempt() {
    let api = api();
    set_client(&api, "acme");
    let (_, link) = start_attempt(&api, &ann_connect_body("acme"));
    api.send(&api.request("DELETE", "/v1/oauth-clients/acme"));
    let page = Browser::default().confirm_link(&api, &link);
    assert_page(&page, 409, "This platform can&#39;t be connected at the moment");
    assert!(page.header("location").is_none());
}

#[test]
fn a_revoked_key_ends_its_attempts() {
    let api = api();
    set_client(&api, "acme");
    let (_, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    api.env.revoke(&api.key);
    assert_eq!(browser.back(&api, &format!("code=c&state={state}")).status, 410);
    assert_eq!(rows(&api, "connections"), 0);
}

#[test]
fn a_crash_leaves_no_partial_connection() {
    // Storage fails after the code is claimed: neither the connection nor the end of the attempt
    // can be written.
    let api = Rc::new(api());
    set_client(&api, "acme");
    let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    let weak = Rc::downgrade(&api);
    *api.env.platform.borrow_mut() = Box::new(move |_| {
        if let Some(api) = weak.upgrade() {
            api.env.db_fails.set(true);
        }
        response(200, &tokens())
    });
    let page = browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(page.status, 503);
    api.env.db_fails.set(false);
    assert_eq!((rows(&api, "connections"), rows(&api, "credentials")), (0, 0));
    assert_eq!(attempt(&api, &id)["status"], "pending");
    // Opening the callback again does not exchange the code a second time.
    assert_eq!(browser.back(&api, &format!("code=c&state={state}")).status, 409);
    api.env.now.set(api.env.now.get() + 60_000);
    let ended = attempt(&api, &id);
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&json!("failed"), &json!("interrupted"))
    );
}
