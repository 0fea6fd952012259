//! Platforms' redirects: refusals without a state, other parameter names, visits that start at the
//! platform, and form posts.

use base64ct::Encoding as _;

use connector_vault::auth::Shard;

use super::*;
use crate::support::HOME;

/// Returns a service whose platform has one OAuth method with these members.
fn api_with_method(extra: &Value) -> Api {
    api_of(&[("acme", json!({"authMethods": [oauth("oauth", extra)]}))])
}

fn tokens() -> Value {
    json!({"access_token": "at-1", "expires_in": 3600, "refresh_token": "rt-1"})
}

fn error_of(api: &Api, id: &str) -> (Value, Value) {
    let attempt = attempt(api, id);
    (attempt["status"].clone(), attempt["error"]["code"].clone())
}

#[test]
fn a_refusal_without_a_state_ends_the_last_attempt() {
    let api = api_with_method(&json!({}));
    let mut sent = ann_connect_body("acme");
    sent["returnUrl"] = json!("https://app.example/done");
    let (first, browser, _) = start_and_follow_attempt(
        &api,
        &json!({"platform": "acme", "identity": "bob", "identityType": "user"}),
    );
    let (id, link) = start_attempt(&api, &sent);
    browser.follow(&api, &link);
    let refusal = "error=access_denied&error_description=The%20user%20said%20no";
    // Neither another browser nor one without a cookie ends the attempt.
    for other in [
        Browser::default(),
        start_and_follow_attempt(
            &api,
            &json!({"platform": "acme", "identity": "cid", "identityType": "user"}),
        )
        .1,
    ] {
        other.back(&api, refusal);
        assert_eq!(error_of(&api, &id), (json!("pending"), Value::Null));
    }
    let page = browser.back(&api, refusal);
    assert_eq!(page.status, 200);
    let html = text(&page);
    for part in [
        "The acme was not connected",
        "The user said no",
        &format!("https://app.example/done?connect={id}"),
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert_eq!(error_of(&api, &id), (json!("failed"), json!("denied")));
    assert_eq!(
        error_of(&api, &first),
        (json!("pending"), Value::Null),
        "only the last attempt of the browser ends"
    );
    assert_eq!(api.env.sent.borrow().len(), 0);
    // Without a state, the redirect counts as a refusal with any error code.
    let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    browser.back(&api, "error=invalid_scope");
    assert_eq!(error_of(&api, &id), (json!("failed"), json!("denied")));
    // The attempt has ended, so a late code is not used.
    browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(api.env.sent.borrow().len(), 0);
}

#[test]
fn a_code_without_a_state_is_never_exchanged() {
    let api = api_with_method(&json!({"codeParameter": "auth_code"}));
    let (id, browser, _) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    for query in [
        "code=abc&installation_id=123&setup_action=install",
        "code=abc&stripe_user_id=acct_1",
        "auth_code=abc",
        "installation_id=123&setup_action=install",
        "code=abc&state=",
    ] {
        for browser in [&browser, &Browser::default()] {
            let page = browser.back(&api, query);
            assert_eq!(page.status, 400, "{query}");
            assert!(text(&page).contains("Start in the app"), "{query}: {}", text(&page));
            assert!(!text(&page).contains("<a href"), "{query}: no OAuth client has a start URL");
        }
    }
    assert_eq!(error_of(&api, &id), (json!("pending"), Value::Null));
    assert_eq!(api.env.sent.borrow().len(), 0);
}

#[test]
fn visits_that_start_at_a_platform_link_to_the_app() {
    let api = api_of(&[
        ("acme", json!({"authMethods": [oauth("oauth", &json!({}))]})),
        ("other", json!({"authMethods": [oauth("oauth", &json!({}))]})),
    ]);
    let set = |platform: &str, url: &Value| {
        let mut sent = json!({"clientId": "an id", "clientSecret": "a:secret"});
        if !url.is_null() {
            sent["startUrl"] = url.clone();
        }
        let response = send(&api, "PUT", &format!("/v1/oauth-clients/{platform}"), &sent);
        assert_eq!((response.status, &body(&response)["startUrl"]), (200, url));
    };
    // Anyone can open this page, so the database is queried at most once a minute.
    let page = || {
        api.env.now.set(api.env.now.get() + 60_000);
        let page = text(&Browser::default().back(&api, "code=abc&installation_id=1"));
        let calls = api.env.db_calls.get();
        assert_eq!(text(&Browser::default().back(&api, "code=def")), page);
        assert_eq!(api.env.db_calls.get(), calls);
        page
    };
    let url = "https://app.example/connect?to=acme&x=\"";
    let refused =
        send(&api, "PUT", "/v1/oauth-clients/acme", &json!({"clientId": "an id", "startUrl": url}));
    assert_eq!(refused.status, 400);
    set("acme", &json!("https://app.example/connect?to=acme&x=1"));
    if *HOME != Shard::FIRST {
        // Only secrets name a shard, so this page can only read the first one.
        return assert!(!page().contains("<a href"), "{}", page());
    }
    let link = |url: &str, text: &str| format!("<a href=\"{url}\" rel=\"noreferrer\">{text}</a>");
    assert!(
        page().contains(&link("https://app.example/connect?to=acme&amp;x=1", "Start in the app")),
        "{}",
        page()
    );
    set("other", &json!("https://app.example/other"));
    for (url, platform) in [
        ("https://app.example/connect?to=acme&amp;x=1", "acme"),
        ("https://app.example/other", "other"),
    ] {
        assert!(page().contains(&link(url, &format!("Start with {platform}"))), "{}", page());
    }
    // The page for one account does not link to the app of another account.
    let sql = "UPDATE oauth_clients SET account = 'zoo' WHERE platform = 'other'";
    api.env.database.execute(sql, []).unwrap();
    assert!(!page().contains("<a href"), "{}", page());
    assert_eq!(api.env.sent.borrow().len(), 0);
}

#[test]
fn the_code_can_have_a_platform_specific_name() {
    let api = api_with_method(&json!({"codeParameter": "spapi_oauth_code"}));
    let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    // A redirect without `codeParameter` does not use up the attempt.
    assert_eq!(browser.back(&api, &format!("state={state}&selling_partner_id=P")).status, 400);
    assert_eq!(error_of(&api, &id), (json!("pending"), Value::Null));
    script(&api, &[(200, tokens())]);
    let page =
        browser.back(&api, &format!("state={state}&spapi_oauth_code=X&selling_partner_id=P"));
    assert!(text(&page).contains("is connected"), "{}", text(&page));
    assert_eq!(value_of(&form(&api, 0), "code").as_deref(), Some("X"));
    assert_eq!(error_of(&api, &id), (json!("succeeded"), Value::Null));
    // The default parameter name applies unless the method declares its own.
    let api = api_with_method(&json!({}));
    let (_, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    assert_eq!(browser.back(&api, &format!("state={state}&spapi_oauth_code=X")).status, 400);
}

#[test]
fn error_parameters_can_have_platform_specific_names() {
    let api = api_with_method(&json!({}));
    for (query, code, message) in [
        (
            "error_code=1349048&error_message=Can%27t%20load%20URL",
            "request_rejected",
            "Can&#39;t load URL",
        ),
        ("error_code=access_denied&error_message=No", "denied", "access_denied"),
        (
            "error=access_denied&error_code=200&error_description=Permissions+error",
            "denied",
            "Permissions error",
        ),
    ] {
        let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
        let page = browser.back(&api, &format!("{query}&state={state}"));
        assert!(text(&page).contains(message), "{query}: {}", text(&page));
        assert_eq!(error_of(&api, &id), (json!("failed"), json!(code)), "{query}");
    }
    // A callback with a code succeeds, even if it also has a numeric parameter.
    let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    script(&api, &[(200, tokens())]);
    browser.back(&api, &format!("code=c&error_code=0&state={state}"));
    assert_eq!(error_of(&api, &id), (json!("succeeded"), Value::Null));
}

#[test]
fn form_post_redirects_so_that_the_cookie_is_sent() {
    let api = api_with_method(&json!({}));
    let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    let post = |sent: &str| {
        // Browsers withhold a `SameSite=Lax` cookie when another site posts a form.
        let request = with_body(anonymous("POST", "/connect/callback"), sent);
        api.send(&with_header(request, "origin", "https://id.acme.example"))
    };
    let response = post(&format!("code=c%2F1&state={state}&id_token=secret&user=%7B%7D"));
    assert_eq!(response.status, 303);
    let location = response.header("location").unwrap().to_owned();
    assert_eq!(location, format!("{ORIGIN}/connect/callback?code=c%2F1&state={state}&user=%7B%7D"));
    assert_eq!(error_of(&api, &id), (json!("pending"), Value::Null), "the form alone does nothing");
    script(&api, &[(200, tokens())]);
    let page = browser.get(&api, &location);
    assert!(text(&page).contains("is connected"), "{}", text(&page));
    assert_eq!(value_of(&form(&api, 0), "code").as_deref(), Some("c/1"));
    for sent in [
        "",
        "code=c&code=d&state=s",
        "code=%ff",
        "code=c&error=x&state=s",
        "code=c&state=s&x=1\r\nset-cookie: a=b",
        "code=c&state=s&x=é",
        "{\"code\": \"c\"}",
    ] {
        assert_eq!(post(sent).status, 400, "{sent}");
    }
}

#[test]
fn raw_basic_authentication_does_not_percent_encode() {
    let (id, secret) = ("1PpG/Q 1", "z/tZ9VwFZqApmIQ+ZH1I5pLk/uB4ud:X2/8bL+wfFTt1rFw=");
    for (token_auth, expected) in [
        ("client_secret_basic_raw", format!("{id}:{secret}")),
        (
            "client_secret_basic",
            "1PpG%2FQ%201:z%2FtZ9VwFZqApmIQ%2BZH1I5pLk%2FuB4ud%3AX2%2F8bL%2BwfFTt1rFw%3D"
                .to_owned(),
        ),
    ] {
        let api = api_with_method(&json!({"tokenAuth": token_auth}));
        let sent = json!({"clientId": id, "clientSecret": secret});
        assert_eq!(send(&api, "PUT", "/v1/oauth-clients/acme", &sent).status, 200);
        let connection = connected(&api, &ann_connect_body("acme"), &tokens());
        script(&api, &[(200, tokens())]);
        api.get(&format!("/v1/vault/connections/{connection}/credentials?refresh=true"));
        let sent = api.env.sent.borrow();
        assert_eq!(sent.len(), 2);
        for request in sent.iter() {
            let header = request.headers.iter().find(|(name, _)| name == "authorization").unwrap();
            let encoded = header.1.strip_prefix("Basic ").unwrap();
            let plain = base64ct::Base64::decode_vec(encoded).unwrap();
            assert_eq!(String::from_utf8(plain).unwrap(), expected);
        }
    }
}
