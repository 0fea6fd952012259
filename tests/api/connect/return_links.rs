//! The links on the connect flow's pages: back to the app, and "Try again" after a failure that the
//! user can fix.

use base64ct::{Base64UrlUnpadded, Encoding as _};
use connector_vault::catalog::model::Connector;

use super::*;

const HOME: &str =
    r#"<a href="https://app.example/home" rel="noreferrer">Go back to Sample App</a>"#;

fn api_with_home() -> Api {
    let settings = [&SETTINGS[..], &[("APP_URL", "https://app.example/home")]].concat();
    let api = api_with(&settings);
    set_client(&api, "acme");
    api
}

#[test]
fn end_pages_link_to_the_app_url() {
    let api = api_with_home();
    let (_, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    let elsewhere = Browser::default().back(&api, &format!("code=c&state={state}"));
    let denied = browser.back(&api, &format!("error=access_denied&state={state}"));
    let used = browser.back(&api, &format!("error=access_denied&state={state}"));
    let over = browser.back(&api, "code=c&state=guessed");
    let incomplete = browser.back(&api, "");
    let unknown = browser.get(&api, "/connect/go/nothing");
    let (_, link) = start_attempt(&api, &ann_connect_body("acme"));
    api.env.now.set(api.env.now.get() + 600_000);
    let expired = browser.get(&api, &link);
    for page in [elsewhere, denied, used, over, incomplete, unknown, expired] {
        assert_eq!(text(&page).matches(HOME).count(), 1, "{}", text(&page));
    }
    let (_, link) = start_attempt(&api, &ann_connect_body("acme"));
    let question = browser.get(&api, &link);
    assert!(!text(&question).contains(HOME), "the page asks first: {}", text(&question));
}

#[test]
fn the_return_url_overrides_the_app_url() {
    let api = api_with_home();
    let mut payload = ann_connect_body("acme");
    payload["returnUrl"] = json!("https://app.example/settings?tab=2#github");
    let (id, browser, state) = start_and_follow_attempt(&api, &payload);
    let page = text(&browser.back(&api, &format!("error=access_denied&state={state}")));
    let url = format!("https://app.example/settings?tab=2&amp;connect={id}#github");
    assert!(page.contains(&format!("<a href=\"{url}\" rel=\"noreferrer\">Go back to the app</a>")));
    assert!(!page.contains(HOME), "{page}");
}

/// The unescaped `href` of the link with this text on a page.
fn href(page: &str, label: &str) -> Option<String> {
    let before = page.split_once(&format!("\" rel=\"noreferrer\">{label}</a>"))?.0;
    Some(before.rsplit_once("<a href=\"")?.1.replace("&amp;", "&"))
}

#[test]
fn a_failed_attempt_of_the_window_links_back_to_it_with_the_same_token() {
    let api = api_with_home();
    let session = json!({
        "identity": "ann", "identityType": "user", "platforms": ["acme", "keyed"], "lang": "en",
        "scopes": ["connections:connect", "catalog:read"], "ttlSeconds": 900,
    });
    let token = token(&api, &session);
    let expires_at = api.env.now.get() + 900_000;
    let browser = Browser::default();
    browser.get(&api, "/connect");
    let page_after = |payload: &Value, error: &str| {
        let request = as_token(&token, "POST", "/v1/vault/connect", payload);
        let request = with_header(request, "origin", ORIGIN);
        let request = with_header(request, "sec-fetch-site", "same-origin");
        let cookie = browser.cookie.borrow().clone().unwrap();
        let started = body(&api.send(&with_header(request, "cookie", &cookie)));
        let link = started["authorizationUrl"].as_str().unwrap();
        let response = browser.get(&api, link);
        let location = response.header("location").unwrap();
        let state = value_of(&pairs(location.split_once('?').unwrap().1), "state").unwrap();
        let back = format!("error={error}&state={state}");
        (text(&browser.back(&api, &back)), text(&browser.back(&api, &back)))
    };
    let acme = json!({"platform": "acme"});
    let (page, again) = page_after(&acme, "access_denied");
    assert!(page.contains(HOME), "{page}");
    // The page has one plain instruction. The platform's own message is in a `small` element.
    for part in [
        "<p>Access was not allowed at The acme.</p>",
        "<p>If you still want to connect, try again. Nothing was changed.</p>",
        "<p lang=\"en\"><small>The acme did not grant access (access_denied).</small></p>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("start again"), "{page}");
    let url = href(&page, "Try again").unwrap();
    let (code, rest) = url.strip_prefix("/connect#code=").unwrap().split_once('&').unwrap();
    assert_eq!(rest, "platform=acme&authMethod=oauth");
    // Only the first page has the link: after a reload, its code may already have been used.
    assert_eq!(href(&again, "Try again"), None);
    // The code in the link can be exchanged once, for a token like the one that started the
    // attempt.
    let exchanged = body(&api.send(&exchange(code)));
    let repeated = exchanged["token"].as_str().unwrap();
    let who = |token: &str| body(&api.send(&as_secret(token, "GET", "/v1/whoami")));
    assert_eq!(who(repeated), who(&token));
    // The window reads the key, identity and expiry from both the token and the code.
    let confirmed = |secret: &str| {
        let claims = secret.splitn(3, '_').nth(2).unwrap().split('.').next().unwrap();
        let claims: Value =
            serde_json::from_slice(&Base64UrlUnpadded::decode_vec(claims).unwrap()).unwrap();
        ["k", "i", "e"].map(|name| claims[name].clone())
    };
    assert_eq!(confirmed(code), confirmed(&token));
    assert_eq!(api.send(&exchange(code)).status, 401);

    // There is no "Try again" link if the app is at fault, or if the attempt returns to the app.
    assert_eq!(href(&page_after(&acme, "unauthorized_client").0, "Try again"), None);
    let returning = json!({"platform": "acme", "returnUrl": "https://app.example/done"});
    assert_eq!(href(&page_after(&returning, "access_denied").0, "Try again"), None);
    // There is no link if the attempt is not bound to the window's browser, because any browser may
    // open its link.
    let request = as_token(&token, "POST", "/v1/vault/connect", &acme);
    let framed = body(&api.send(&with_header(request, "origin", ORIGIN)));
    let (elsewhere, state) = follow(&api, framed["authorizationUrl"].as_str().unwrap());
    let page = text(&elsewhere.back(&api, &format!("error=access_denied&state={state}")));
    assert_eq!(href(&page, "Try again"), None);
    // There is no link if the attempt did not start in the window.
    let (_, elsewhere, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    let page = text(&elsewhere.back(&api, &format!("error=access_denied&state={state}")));
    assert_eq!(href(&page, "Try again"), None);
    // There is no link if the token has expired.
    api.env.now.set(expires_at - 1000);
    let request =
        with_header(as_token(&token, "POST", "/v1/vault/connect", &acme), "origin", ORIGIN);
    let cookie = browser.cookie.borrow().clone().unwrap();
    let started = body(&api.send(&with_header(request, "cookie", &cookie)));
    let response = browser.get(&api, started["authorizationUrl"].as_str().unwrap());
    let location = response.header("location").unwrap();
    let state = value_of(&pairs(location.split_once('?').unwrap().1), "state").unwrap();
    api.env.now.set(expires_at);
    let page = text(&browser.back(&api, &format!("error=access_denied&state={state}")));
    assert!(page.contains("was not connected") && href(&page, "Try again").is_none(), "{page}");
}

#[test]
fn end_pages_do_not_link_to_the_popup_window() {
    let api = api_with_home();
    let mut payload = ann_connect_body("acme");
    payload["returnUrl"] = json!(format!("{ORIGIN}/connect#began=&origin=https://app.example"));
    let (id, browser, state) = start_and_follow_attempt(&api, &payload);
    let page = text(&browser.back(&api, &format!("error=access_denied&state={state}")));
    // A script returns to the app's page if it is still open.
    let back = format!("{ORIGIN}/connect?connect={id}#began=&amp;origin=https://app.example");
    assert!(page.contains(&format!(" data-return=\"{back}\"")), "{page}");
    assert_eq!(page.matches("<a ").count(), 1, "{page}");
    assert!(page.contains(HOME), "{page}");
}

#[test]
fn link_pages_show_no_logos_of_other_hosts() {
    for (image, shown) in [
        ("/logos/acme.svg", true),
        ("data:image/svg+xml,%3Csvg%20xmlns=%27http://www.w3.org/2000/svg%27/%3E", true),
        ("https://elsewhere.example/logo.svg", false),
        ("", false),
    ] {
        let api = Api::new(config(&SETTINGS));
        let detail = json!({
            "authMethods": [oauth("oauth", &json!({}))], "servers": [], "documentationUrl": null,
            "license": null, "verify": null, "account": null,
        });
        let platform = Platform {
            connector: Connector {
                image: image.to_owned(),
                ..connector("acme", "Acme", "Email", 0)
            },
            detail: serde_json::from_value(detail).unwrap(),
            authkit: true,
            aliases: Vec::new(),
            actions: Vec::new(),
            units: Units::default(),
        };
        api.env.publish_platforms(Sizes::PUBLISHED, &[platform]);
        set_client(&api, "acme");
        let (_, link) = start_attempt(&api, &ann_connect_body("acme"));
        let page = text(&Browser::default().get(&api, &link));
        let logo = format!("<img src=\"{image}\" alt=\"\" width=\"48\" height=\"48\">");
        assert_eq!(page.contains(&logo), shown, "{image}: {page}");
        for part in
            ["Connect Acme to Sample App?", "for the user “ann”", "support or an AI assistant"]
        {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}

#[test]
fn an_unreachable_platform_gets_a_neutral_error_page() {
    let api = api();
    script(&api, &[(0, Value::Null), (0, Value::Null)]);
    let mut payload = ann_connect_body("keyed");
    payload["fields"] = json!({"apiKey": "k"});
    let response = connect(&api, &payload);
    assert_eq!(response.status, 201, "{}", body(&response));
    let id = body(&response)["id"].as_str().unwrap().to_owned();
    let status = body(&api.get(&format!("/v1/vault/connections/{id}/status")));
    assert_eq!(status["reason"]["code"], "not_checked");
    assert!(!status.to_string().contains("has a problem"), "{status}");
}

#[test]
fn errors_of_the_app_are_not_blamed_on_the_user() {
    let api = api_with_home();
    for (error, turn) in [
        ("invalid_scope", "Contact the people who run the app."),
        ("invalid_request", "Contact the people who run the app."),
        ("unauthorized_client", "Contact the people who run the app."),
        ("unsupported_response_type", "Contact the people who run the app."),
        ("temporarily_unavailable", "Nothing is wrong with your account."),
        ("server_error", "Nothing is wrong with your account."),
        ("access_denied", "If you still want to connect, go back to the app and start again."),
    ] {
        let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
        let page = text(&browser.back(&api, &format!("error={error}&state={state}")));
        assert!(page.contains(turn), "{error}: {page}");
        let code = attempt(&api, &id)["error"]["code"].as_str().unwrap().to_owned();
        assert_eq!(code == "denied", error == "access_denied", "{error}: {code}");
    }
}
