//! Values in platform-specific locations: tokens in unusual members, tokens that are exchanged or
//! refreshed with access tokens, and field values that the platform returns so that users need not
//! enter them.

use super::*;

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

fn api_with_method(extra: &Value) -> Api {
    api_of(&[("acme", json!({"authMethods": [oauth("oauth", extra)]}))])
}

/// Connects an account of the only platform, which returns these responses. Returns the
/// connection's path.
fn connect_with(api: &Api, platform: &str, responses: &[(u16, Value)]) -> String {
    let (id, browser, state) = start_and_follow_attempt(api, &ann_connect_body(platform));
    script(api, responses);
    let page = browser.back(api, &format!("code=c&state={state}"));
    let status = attempt(api, &id);
    assert_eq!(status["status"], "succeeded", "{status} {}", text(&page));
    format!("/v1/vault/connections/{}", status["connection"]["id"].as_str().unwrap())
}

fn credentials(api: &Api, path: &str, query: &str) -> Value {
    let response = api.get(&format!("{path}/credentials{query}"));
    assert_eq!(response.status, 200, "{}", body(&response));
    body(&response)
}

fn advance(api: &Api, milliseconds: u64) {
    api.env.now.set(api.env.now.get() + milliseconds);
}

/// The URL of the nth request to a platform.
fn url(api: &Api, index: usize) -> String {
    api.env.sent.borrow()[index].url.clone()
}

/// Calls the platform through the proxy. Returns the URL of the request.
fn called_url(api: &Api, path: &str, rest: &str) -> String {
    script(api, &[(200, json!({}))]);
    let before = api.env.sent.borrow().len();
    let response = api.get(&format!("{path}/proxy/{rest}"));
    assert_eq!(response.status, 200, "{}", text(&response));
    url(api, before)
}

#[test]
fn token_lifetimes_have_several_names_and_units() {
    for (extra, tokens, life) in [
        (json!({}), json!({"expires_in": 0}), None),
        (json!({}), json!({"expires": 5_183_944}), Some(5_183_944_000)),
        (json!({"expiresUnit": "ms"}), json!({"expires_in": 3_600_000}), Some(HOUR)),
        (json!({"expiresUnit": "s"}), json!({"expires_in": 3600}), Some(HOUR)),
    ] {
        let api = api_with_method(&extra);
        let mut response = tokens.clone();
        response["access_token"] = json!("at-1");
        let path = connect_with(&api, "acme", &[(200, response)]);
        let expected =
            life.map(|life| connector_vault::util::rfc3339::rfc3339(api.env.now.get() + life));
        assert_eq!(
            credentials(&api, &path, "")["expiresAt"],
            json!(expected.flatten()),
            "{tokens}"
        );
    }
    // Stack Exchange returns tokens as a form.
    let api = api_with_method(&json!({}));
    let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    *api.env.platform.borrow_mut() = Box::new(|_| {
        Ok(HttpResponse {
            status: 200,
            headers: Vec::new(),
            body: b"access_token=at-1&expires=86400".to_vec(),
        })
    });
    browser.back(&api, &format!("code=c&state={state}"));
    let connection = attempt(&api, &id)["connection"]["id"].as_str().unwrap().to_owned();
    let expected = connector_vault::util::rfc3339::rfc3339(api.env.now.get() + DAY);
    assert_eq!(
        credentials(&api, &format!("/v1/vault/connections/{connection}"), "")["expiresAt"],
        json!(expected)
    );
}

#[test]
fn accepts_tokens_below_a_member_and_next_to_an_error() {
    let api = api_with_method(&json!({"tokenPointer": "/data"}));
    let tokens = json!({"access_token": "at-1", "refresh_token": "rt-1", "expires_in": 3600});
    let path = connect_with(&api, "acme", &[(200, json!({"code": 0, "data": tokens}))]);
    assert_eq!(credentials(&api, &path, "")["accessToken"], "at-1");
    script(
        &api,
        &[(200, json!({"success": false, "access_token": "at-2", "refresh_token": "rt-2"}))],
    );
    assert_eq!(credentials(&api, &path, "?refresh=true")["accessToken"], "at-2");
    script(&api, &[(200, json!({"data": {"access_token": "at-3"}}))]);
    assert_eq!(credentials(&api, &path, "?refresh=true")["accessToken"], "at-3");
    assert_eq!(value_of(&form(&api, 2), "refresh_token").as_deref(), Some("rt-2"));
}

#[cfg(feature = "cli")]
#[test]
fn slack_installs_return_bot_and_user_tokens() {
    let user =
        json!({"id": "U1", "access_token": "xoxp-1", "scope": "chat:write", "token_type": "user"});
    let bot = json!({"ok": true, "access_token": "xoxb-1", "token_type": "bot", "authed_user": {"id": "U1"}});
    let rotating_user = json!({"id": "U1", "access_token": "xoxp-1", "refresh_token": "xoxe-user", "expires_in": 43_200});
    let account_response = (200, json!({"ok": true, "user_id": "U1"}));
    let install = |tokens: &Value| {
        let api = api_of_provider("slack");
        let mut sent = ann_connect_body("slack");
        sent["authMethod"] = json!("oauth2");
        let (id, browser, state) = start_and_follow_attempt(&api, &sent);
        script(&api, &[(200, tokens.clone()), account_response.clone()]);
        browser.back(&api, &format!("code=c&state={state}"));
        let status = attempt(&api, &id);
        assert_eq!(status["status"], "succeeded", "{status}");
        let path =
            format!("/v1/vault/connections/{}", status["connection"]["id"].as_str().unwrap());
        (api, path)
    };
    let both = json!({"ok": true, "access_token": "xoxb-1", "refresh_token": "xoxe-bot", "expires_in": 43_200,
        "authed_user": rotating_user});
    for (tokens, expected) in [
        (json!({"ok": true, "authed_user": user}), "xoxp-1"),
        (bot, "xoxb-1"),
        (both.clone(), "xoxb-1"),
        (json!({"ok": true, "authed_user": rotating_user}), "xoxp-1"),
    ] {
        let (api, path) = install(&tokens);
        let shown = credentials(&api, &path, "");
        assert_eq!(shown["accessToken"], expected, "{tokens}");
        assert_eq!(shown["members"]["authed_user"]["id"], "U1", "{tokens}");
        assert!(!shown.to_string().contains("xoxe-"), "{shown}");
    }
    // Each token is refreshed with its own refresh token. The response contains the next refresh
    // token.
    for (tokens, spent, next) in [
        (both, "xoxe-bot", "xoxb-2"),
        (json!({"ok": true, "authed_user": rotating_user}), "xoxe-user", "xoxp-2"),
    ] {
        let (api, path) = install(&tokens);
        script(
            &api,
            &[(
                200,
                json!({"ok": true, "access_token": next, "refresh_token": "xoxe-3", "expires_in": 43_200}),
            )],
        );
        let shown = credentials(&api, &path, "?refresh=true");
        assert_eq!(shown["accessToken"], next);
        assert!(!shown.to_string().contains("xoxe-"), "{shown}");
        assert_eq!(value_of(&form(&api, 2), "refresh_token").as_deref(), Some(spent));
    }
}

#[test]
fn members_never_contain_a_refresh_token() {
    let members = ["user", "refresh_token", "/user/refresh_token", "list", "copy"];
    let api = api_with_method(&json!({"tokenMembers": members}));
    let tokens = json!({
        "access_token": "at-1", "refresh_token": "rt-secret", "copy": "rt-secret", "list": [{"refreshToken": "rt-list"}],
        "user": {"id": 1, "refresh_token": "rt-user", "deep": {"bot_refresh_token": "rt-deep"}},
    });
    let path = connect_with(&api, "acme", &[(200, tokens)]);
    let shown = credentials(&api, &path, "");
    assert!(!shown.to_string().contains("rt-"), "{shown}");
    assert_eq!(shown["members"], json!({"user": {"id": 1, "deep": {}}, "list": [{}]}));
}

#[cfg(feature = "cli")]
#[test]
fn short_lived_tokens_are_exchanged_and_refreshed() {
    let api = api_of_provider("instagram");
    let short = json!({"data": [{"access_token": "short", "user_id": 7}]});
    let long = |index: u64| json!({"access_token": format!("long-{index}"), "token_type": "bearer", "expires_in": 5_184_000});
    let path =
        connect_with(&api, "instagram", &[(200, short), (200, long(1)), (200, json!({"id": "7"}))]);
    assert_eq!(
        url(&api, 1),
        "https://graph.instagram.com/access_token?access_token=short&client_secret=a%3Asecret&grant_type=ig_exchange_token"
    );
    assert_eq!(credentials(&api, &path, "")["accessToken"], "long-1");
    // Facebook does not refresh a token on its first day, so the daily check refreshes it in the
    // second half of its lifetime.
    api.env.sent.borrow_mut().clear();
    advance(&api, 2 * DAY);
    script(&api, &[(200, json!({"id": "7"}))]);
    assert_eq!(send(&api, "POST", &format!("{path}/check"), &json!({})).status, 200);
    assert!(url(&api, 0).starts_with("https://graph.instagram.com/me"), "{}", url(&api, 0));
    advance(&api, 30 * DAY);
    script(&api, &[(200, long(2))]);
    assert_eq!(send(&api, "POST", &format!("{path}/check"), &json!({})).status, 200);
    assert_eq!(
        url(&api, 1),
        "https://graph.instagram.com/refresh_access_token?access_token=long-1&grant_type=ig_refresh_token"
    );
    advance(&api, 59 * DAY);
    assert_eq!(credentials(&api, &path, "")["accessToken"], "long-2");
    // A requested refresh is sent immediately.
    script(&api, &[(200, long(3))]);
    assert_eq!(credentials(&api, &path, "?refresh=true")["accessToken"], "long-3");
    // A token that the platform no longer accepts ends the connection.
    let ended = json!({"error": {"message": "Error validating access token: Session has expired", "type": "OAuthException", "code": 190}});
    for expected in [503, 409] {
        script(&api, &[(400, ended.clone())]);
        assert_eq!(api.get(&format!("{path}/credentials?refresh=true")).status, expected);
        advance(&api, 61_000);
    }
}

#[cfg(feature = "cli")]
#[test]
fn facebook_tokens_are_exchanged_for_long_lived_ones() {
    let api = api_of_provider("facebook");
    let responses = [
        (200, json!({"access_token": "short", "expires_in": 5400})),
        (200, json!({"access_token": "long", "token_type": "bearer", "expires_in": 5_183_944})),
        (200, json!({"id": "7"})),
    ];
    let path = connect_with(&api, "facebook", &responses);
    let exchange = url(&api, 1);
    assert!(
        exchange.starts_with("https://graph.facebook.com/v24.0/oauth/access_token?"),
        "{exchange}"
    );
    for part in [
        "grant_type=fb_exchange_token",
        "client_id=an%20id",
        "client_secret=a%3Asecret",
        "fb_exchange_token=short",
    ] {
        assert!(exchange.contains(part), "{part}: {exchange}");
    }
    assert_eq!(credentials(&api, &path, "")["accessToken"], "long");
    // The platform can't refresh the token.
    let response = api.get(&format!("{path}/credentials?refresh=true"));
    assert_eq!((response.status, body(&response)["code"].clone()), (409, json!("not_refreshable")));
    // If the exchange fails, no account is connected, because the short-lived token would expire
    // within an hour.
    let (id, browser, state) = start_and_follow_attempt(
        &api,
        &json!({"platform": "facebook", "identity": "bob", "identityType": "user"}),
    );
    script(&api, &[(200, json!({"access_token": "short"})), (500, json!({}))]);
    browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(attempt(&api, &id)["error"]["code"], "platform_unavailable");
}

#[cfg(feature = "cli")]
#[test]
fn shopify_token_requests_ask_for_expiring_tokens() {
    let api = api_of_provider("shopify");
    let mut sent = ann_connect_body("shopify");
    (sent["authMethod"], sent["fields"]) = (json!("oauth2"), json!({"shop": "acme"}));
    let (_, browser, state) = start_and_follow_attempt(&api, &sent);
    script(&api, &[(200, json!({"access_token": "at-1"})), (200, json!({"shop": {"id": 1}}))]);
    browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!(value_of(&form(&api, 0), "expiring").as_deref(), Some("1"));
}

#[test]
fn reconnecting_keeps_the_refresh_token_of_the_same_account() {
    let account =
        json!({"method": "GET", "path": "https://api.acme.example/me", "id": "/id", "name": null});
    let methods = json!([oauth("oauth", &json!({})), oauth("other", &json!({}))]);
    let tokens = |index: u64, refresh: Option<&str>| {
        let mut tokens = json!({"access_token": format!("at-{index}"), "expires_in": 3600});
        if let Some(refresh) = refresh {
            tokens["refresh_token"] = json!(refresh);
        }
        tokens
    };
    // The account before and after, the auth method of the second sign-in, and whether the refresh
    // token is kept.
    for (before, after, method, stays) in [
        (Some("u1"), Some("u1"), "oauth", true),
        (Some("u1"), Some("u2"), "oauth", false),
        (Some("u1"), None, "oauth", false),
        (None, Some("u1"), "oauth", false),
        (None, None, "oauth", false),
        (Some("u1"), Some("u1"), "other", false),
    ] {
        let context = format!("{before:?} {after:?} {method}");
        let api = api_of(&[("acme", json!({"authMethods": methods, "account": account}))]);
        let account_response =
            |id: Option<&str>| id.map_or((404, json!({})), |id| (200, json!({"id": id})));
        let mut sent = ann_connect_body("acme");
        sent["authMethod"] = json!("oauth");
        let (id, browser, state) = start_and_follow_attempt(&api, &sent);
        script(&api, &[(200, tokens(1, Some("r1"))), account_response(before)]);
        browser.back(&api, &format!("code=c&state={state}"));
        let connection = attempt(&api, &id)["connection"]["id"].clone();
        let sent =
            json!({"connection": connection, "authMethod": method, "allowOtherAccount": true});
        let (id, browser, state) = start_and_follow_attempt(&api, &sent);
        script(&api, &[(200, tokens(2, None)), account_response(after)]);
        browser.back(&api, &format!("code=c&state={state}"));
        assert_eq!(attempt(&api, &id)["status"], "succeeded", "{context}");
        let path = format!("/v1/vault/connections/{}", connection.as_str().unwrap());
        assert_eq!(credentials(&api, &path, "")["accessToken"], "at-2", "{context}");
        script(&api, &[(200, tokens(3, None))]);
        api.env.sent.borrow_mut().clear();
        let response = api.get(&format!("{path}/credentials?refresh=true"));
        if stays {
            assert_eq!(body(&response)["accessToken"], "at-3", "{context}");
            assert_eq!(
                value_of(&form(&api, 0), "refresh_token").as_deref(),
                Some("r1"),
                "{context}"
            );
        } else {
            let problem = body(&response);
            assert_eq!(
                (response.status, problem["code"].clone()),
                (409, json!("not_refreshable")),
                "{context}"
            );
            assert!(problem["detail"].as_str().unwrap().contains("no refresh token"), "{problem}");
            assert_eq!(api.env.sent.borrow().len(), 0, "{context}");
            // The token is still valid, so a read without `refresh` returns it.
            assert_eq!(credentials(&api, &path, "")["accessToken"], "at-2", "{context}");
        }
    }
}

#[test]
fn an_ended_refresh_token_is_not_kept() {
    let account =
        json!({"method": "GET", "path": "https://api.acme.example/me", "id": "/id", "name": null});
    let api = api_of(&[(
        "acme",
        json!({"authMethods": [oauth("oauth", &json!({}))], "account": account}),
    )]);
    let account_response = (200, json!({"id": "u1"}));
    let first = json!({"access_token": "at-1", "expires_in": 3600, "refresh_token": "r1"});
    let path = connect_with(&api, "acme", &[(200, first), account_response.clone()]);
    for _ in 0..2 {
        script(&api, &[(400, json!({"error": "invalid_grant"}))]);
        api.get(&format!("{path}/credentials?refresh=true"));
        advance(&api, 61_000);
    }
    assert_eq!(body(&api.get(&format!("{path}/status")))["state"], "failed");
    connect_with(
        &api,
        "acme",
        &[(200, json!({"access_token": "at-2", "expires_in": 3600})), account_response],
    );
    assert_eq!(
        body(&api.get(&format!("{path}/credentials?refresh=true")))["code"],
        "not_refreshable"
    );
}

/// A platform with one server per account: an auth method with these fields and sources, and these
/// servers.
fn platform_with_servers(
    fields: &Value,
    sources: &Value,
    servers: &[&str],
    extra: &Value,
) -> Value {
    let mut members = json!({"fields": fields, "fieldSources": sources});
    for (name, value) in extra.as_object().unwrap() {
        members[name] = value.clone();
    }
    let servers: Vec<Value> = servers.iter().map(|url| server(url)).collect();
    json!({"authMethods": [oauth("oauth", &members)], "servers": servers})
}

fn optional_field(name: &str, pattern: Option<&str>) -> Value {
    json!({"name": name, "label": name, "required": false, "pattern": pattern})
}

#[test]
fn redirect_values_override_user_input() {
    for (sources, query) in [
        (json!([{"field": "realmId", "from": "callback", "at": "realmId"}]), "realmId=9130"),
        (json!([{"field": "realmId", "from": "callback", "at": "company"}]), "company=9130"),
        // A redirect parameter with the field's own name needs no declared source.
        (json!([]), "realmId=9130"),
    ] {
        for typed in [None, Some("123")] {
            let fields = json!([optional_field("realmId", Some("^[0-9]+$"))]);
            let api = api_of(&[(
                "acme",
                platform_with_servers(
                    &fields,
                    &sources,
                    &["https://api.acme.example/company/{realmId}"],
                    &json!({}),
                ),
            )]);
            let mut sent = ann_connect_body("acme");
            if let Some(typed) = typed {
                sent["fields"] = json!({"realmId": typed});
            }
            let (id, browser, state) = start_and_follow_attempt(&api, &sent);
            script(&api, &[(200, json!({"access_token": "at-1"}))]);
            browser.back(&api, &format!("code=c&state={state}&{query}"));
            let connection = attempt(&api, &id)["connection"]["id"].as_str().unwrap().to_owned();
            let path = format!("/v1/vault/connections/{connection}");
            assert_eq!(
                called_url(&api, &path, "query"),
                "https://api.acme.example/company/9130/query"
            );
        }
    }
}

#[test]
fn redirect_values_are_not_required_before_the_redirect() {
    // A required field can be left out before the redirect if the redirect returns its value.
    let fields =
        json!([{"name": "realmId", "label": "Company", "required": true, "pattern": "^[0-9]+$"}]);
    let sources = json!([{"field": "realmId", "from": "callback", "at": "realmId"}]);
    let detail = platform_with_servers(
        &fields,
        &sources,
        &["https://api.acme.example/{realmId}"],
        &json!({"revocationUrl": null}),
    );
    let api = api_of(&[("acme", detail)]);
    for (query, is_connected) in [("&realmId=9130", true), ("", false), ("&realmId=../x", false)] {
        let (id, browser, state) = start_and_follow_attempt(
            &api,
            &json!({"platform": "acme", "identity": format!("i{query}").replace(['&', '=', '.', '/'], ""), "identityType": "user"}),
        );
        script(&api, &[(200, json!({"access_token": "at-1"}))]);
        browser.back(&api, &format!("code=c&state={state}{query}"));
        let attempt = attempt(&api, &id);
        if is_connected {
            assert_eq!(attempt["status"], "succeeded", "{attempt}");
        } else {
            assert_eq!(attempt["error"]["code"], "invalid_answer", "{attempt}");
            assert!(
                attempt["error"]["detail"]
                    .as_str()
                    .unwrap()
                    .contains("did not return the location"),
                "{attempt}"
            );
        }
    }
}

#[test]
fn only_the_authorization_url_must_be_known_before_the_redirect() {
    let fields = json!([optional_field("shop", None)]);
    let sources = json!([{"field": "shop", "from": "callback", "at": "shop", "template": "{shop}.shops.example"}]);
    let servers = ["https://{shop}.shops.example"];
    let extra = json!({"tokenUrl": "https://{shop}.shops.example/token"});
    let api = api_of(&[("acme", platform_with_servers(&fields, &sources, &servers, &extra))]);
    let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    script(&api, &[(200, json!({"access_token": "at-1"}))]);
    browser.back(&api, &format!("code=c&state={state}&shop=big.shops.example"));
    assert_eq!(attempt(&api, &id)["status"], "succeeded");
    assert_eq!(url(&api, 0), "https://big.shops.example/token");
    // The token endpoint contains an unknown value, so no request is sent.
    for (query, code) in [("code=c", "invalid_answer"), ("error=access_denied", "denied")] {
        let (id, browser, state) = start_and_follow_attempt(
            &api,
            &json!({"platform": "acme", "identity": "bob", "identityType": "user"}),
        );
        api.env.sent.borrow_mut().clear();
        browser.back(&api, &format!("{query}&state={state}"));
        assert_eq!(attempt(&api, &id)["error"]["code"], code);
        assert_eq!(api.env.sent.borrow().len(), 0);
    }
    // The user must enter the values that the authorization URL contains.
    let extra = json!({"authorizationUrl": "https://{shop}.shops.example/authorize"});
    let api = api_of(&[("acme", platform_with_servers(&fields, &sources, &servers, &extra))]);
    let refused = connect(&api, &ann_connect_body("acme"));
    assert_eq!(
        (refused.status, body(&refused)["errors"][0]["pointer"].clone()),
        (400, json!("/fields/shop"))
    );
    let mut sent = ann_connect_body("acme");
    sent["fields"] = json!({"shop": "typed"});
    assert_eq!(connect(&api, &sent).status, 202);
}

#[test]
fn token_and_refresh_responses_set_the_server() {
    let fields = json!([optional_field("company", None)]);
    let sources = json!([{"field": "company", "from": "token", "at": "/api_domain", "template": "https://{company}.acme.example"}]);
    let servers = ["https://{company}.acme.example", "https://api.acme.example"];
    let api = api_of(&[("acme", platform_with_servers(&fields, &sources, &servers, &json!({})))]);
    let mut sent = ann_connect_body("acme");
    sent["fields"] = json!({"company": "typed"});
    let (id, browser, state) = start_and_follow_attempt(&api, &sent);
    let tokens = |domain: &str| json!({"access_token": "at-1", "refresh_token": "rt-1", "api_domain": domain});
    script(&api, &[(200, tokens("https://big.acme.example"))]);
    browser.back(&api, &format!("code=c&state={state}"));
    let connection = attempt(&api, &id)["connection"]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/vault/connections/{connection}");
    assert_eq!(called_url(&api, &path, "v1/deals"), "https://big.acme.example/v1/deals");
    // The platform moves the account to another host, which the refresh response contains.
    script(&api, &[(200, tokens("https://moved.acme.example/"))]);
    credentials(&api, &path, "?refresh=true");
    assert_eq!(called_url(&api, &path, "v1/deals"), "https://moved.acme.example/v1/deals");
    // Only subdomains of the domain that the method declares are accepted.
    for evil in [
        "https://acme.example.evil.example",
        "https://evil.example/.acme.example",
        "https://evil.example#.acme.example",
        "https://a@evil.example",
        "http://big.acme.example",
        "https://.acme.example",
        "evil.example",
    ] {
        script(&api, &[(200, tokens(evil))]);
        credentials(&api, &path, "?refresh=true");
        let to = called_url(&api, &path, "v1/deals");
        assert!(
            to.starts_with("https://moved.acme.example/")
                || to.starts_with("https://api.acme.example/"),
            "{evil}: {to}"
        );
    }
}

#[test]
fn platforms_can_choose_only_listed_hosts() {
    let fields =
        json!([{"name": "region", "label": "Region", "enum": ["com", "eu"], "default": "com"}]);
    let sources = json!([
        {"field": "region", "from": "callback", "at": "accounts-server", "template": "https://accounts.acme.{region}"},
    ]);
    let extra = json!({"tokenUrl": "https://accounts.acme.{region}/token"});
    let detail = platform_with_servers(&fields, &sources, &["https://api.acme.{region}"], &extra);
    for (location, token_url, server) in [
        (
            "https%3A%2F%2Faccounts.acme.eu",
            "https://accounts.acme.eu/token",
            "https://api.acme.eu/x",
        ),
        (
            "https%3A%2F%2Faccounts.acme.evil",
            "https://accounts.acme.com/token",
            "https://api.acme.com/x",
        ),
        ("https%3A%2F%2Fevil.example", "https://accounts.acme.com/token", "https://api.acme.com/x"),
    ] {
        let api = api_of(&[("acme", detail.clone())]);
        let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
        script(&api, &[(200, json!({"access_token": "at-1"}))]);
        browser.back(&api, &format!("code=c&state={state}&accounts-server={location}"));
        assert_eq!(url(&api, 0), token_url, "{location}");
        let connection = attempt(&api, &id)["connection"]["id"].as_str().unwrap().to_owned();
        assert_eq!(
            called_url(&api, &format!("/v1/vault/connections/{connection}"), "x"),
            server,
            "{location}"
        );
    }
    // The host in the OAuth client's variables overrides the platform's host.
    let fields = json!([optional_field("host", None)]);
    let sources = json!([
        {"field": "host", "from": "callback", "at": "host"}, {"field": "host", "from": "token", "at": "/host"},
    ]);
    let api = api_of(&[(
        "acme",
        platform_with_servers(
            &fields,
            &sources,
            &["https://{host}"],
            &json!({"tokenUrl": "https://{host}/token"}),
        ),
    )]);
    let sent = json!({"clientId": "an id", "clientSecret": "a:secret", "variables": {"host": "own.example"}});
    assert_eq!(send(&api, "PUT", "/v1/oauth-clients/acme", &sent).status, 200);
    let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
    script(&api, &[(200, json!({"access_token": "at-1", "host": "evil.example"}))]);
    browser.back(&api, &format!("code=c&state={state}&host=evil.example"));
    assert_eq!(url(&api, 0), "https://own.example/token");
    let connection = attempt(&api, &id)["connection"]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        called_url(&api, &format!("/v1/vault/connections/{connection}"), "x"),
        "https://own.example/x"
    );
}

/// A platform that lists its accounts at `lookupUrl`.
fn platform_with_accounts() -> Value {
    let fields =
        json!([optional_field("site", None), optional_field("cloudId", Some("^[a-z0-9]+$"))]);
    let sources = json!([
        {"field": "cloudId", "from": "lookup", "at": "/?url=https:~1~1{site}.acme.example/id"},
    ]);
    platform_with_servers(
        &fields,
        &sources,
        &["https://api.acme.example/{cloudId}"],
        &json!({"lookupUrl": "https://api.acme.example/sites"}),
    )
}

#[test]
fn lookups_select_the_account_that_the_user_chose() {
    struct Case<'a> {
        entered: Value,
        response: (u16, &'a Value),
        /// The account's id, or the error code.
        expected: Result<&'a str, &'a str>,
    }
    let site =
        |id: &str, name: &str| json!({"id": id, "url": format!("https://{name}.acme.example")});
    let several = json!([site("a1", "a"), site("b1", "b"), site("b1", "b")]);
    let none = "The acme returned no account.";
    let no_match = "The acme returned no account that matches what you entered.";
    let unchecked = "The acme did not return your accounts, so what you entered can't be checked.";
    let ambiguous = "The acme returned several accounts. Connect again, and enter \"site\".";
    let nowhere =
        "The acme did not return the location of your account's data, so it can't be used.";
    let (one, empty) = (json!([site("a1", "a")]), json!([]));
    let mut number = several.clone();
    number[0]["id"] = json!(7);
    let case = |entered, response, expected| Case { entered, response, expected };
    for Case { entered, response, expected } in [
        case(json!({}), (200, &one), Ok("a1")),
        // The value from the platform overrides what the user entered.
        case(json!({"cloudId": "x1"}), (200, &one), Ok("a1")),
        case(json!({"site": "B"}), (200, &several), Ok("b1")),
        case(json!({"cloudId": "b1"}), (200, &several), Ok("b1")),
        case(json!({"site": "a"}), (200, &number), Ok("7")),
        case(json!({}), (200, &several), Err(ambiguous)),
        case(json!({"cloudId": "x1"}), (200, &several), Err(ambiguous)),
        case(json!({"site": "c"}), (200, &several), Err(no_match)),
        case(json!({"site": "a-"}), (200, &one), Err(no_match)),
        // If the app sets the site, the user can't choose another one by its id.
        case(json!({"site": "a", "cloudId": "b1"}), (200, &several), Ok("a1")),
        case(json!({"site": "c", "cloudId": "b1"}), (200, &several), Err(no_match)),
        case(json!({"site": "c", "cloudId": "x1"}), (200, &empty), Err(no_match)),
        case(json!({"site": "c", "cloudId": "x1"}), (503, &empty), Err(unchecked)),
        case(json!({}), (200, &empty), Err(none)),
        case(json!({"cloudId": "x1"}), (200, &empty), Ok("x1")),
        case(json!({"site": "a"}), (503, &empty), Err(unchecked)),
        case(json!({}), (503, &empty), Err(nowhere)),
        case(json!({"cloudId": "x1"}), (503, &empty), Ok("x1")),
    ] {
        let api = api_of(&[("acme", platform_with_accounts())]);
        let mut sent = ann_connect_body("acme");
        sent["fields"] = entered.clone();
        let (id, browser, state) = start_and_follow_attempt(&api, &sent);
        script(&api, &[(200, json!({"access_token": "at-1"})), (response.0, response.1.clone())]);
        browser.back(&api, &format!("code=c&state={state}"));
        assert_eq!(url(&api, 1), "https://api.acme.example/sites");
        let attempt = attempt(&api, &id);
        let context = format!("{entered} {response:?}");
        match expected {
            Ok(account) => {
                let connection = attempt["connection"]["id"].as_str().expect(&context);
                let path = format!("/v1/vault/connections/{connection}");
                let expected = format!("https://api.acme.example/{account}/x");
                assert_eq!(called_url(&api, &path, "x"), expected, "{context}");
            }
            Err(detail) => assert_eq!(attempt["error"]["detail"], detail, "{context}"),
        }
    }
}

#[test]
fn a_link_asks_for_the_account_unless_the_app_chose_it() {
    let api = api_of(&[("acme", platform_with_accounts())]);
    for (fields, is_asked) in
        [(json!({}), true), (json!({"site": "a"}), false), (json!({"cloudId": "a1"}), false)]
    {
        let mut sent = ann_connect_body("acme");
        sent["fields"] = fields.clone();
        sent["link"] = json!(true);
        let started = body(&connect(&api, &sent));
        let link = started["authorizationUrl"].as_str().unwrap();
        // If the user must choose the account, the link opens the connect window.
        let opened = Browser::default().get(&api, link);
        assert_eq!(opened.status, if is_asked { 303 } else { 200 }, "{fields} {started}");
    }
}

#[test]
fn accounts_of_imported_tokens_are_looked_up() {
    let api = api_of(&[("acme", platform_with_accounts())]);
    let path = connect_with(
        &api,
        "acme",
        &[
            (200, json!({"access_token": "at-1"})),
            (200, json!([{"id": "a1", "url": "https://a.acme.example"}])),
        ],
    );
    let sites = json!([
        {"id": "b1", "url": "https://b.acme.example"}, {"id": "c1", "url": "https://c.acme.example"},
    ]);
    for (fields, status) in [
        (json!({}), 422),
        (json!({"site": "c"}), 204),
        (json!({"site": "d", "cloudId": "c1"}), 422),
    ] {
        script(&api, &[(200, sites.clone())]);
        let sent = json!({"type": "oauth2", "authMethod": "oauth", "accessToken": "at-2", "fields": fields});
        let stored = send(&api, "PUT", &format!("{path}/credentials"), &sent);
        assert_eq!(stored.status, status, "{fields} {}", body(&stored));
    }
    assert_eq!(called_url(&api, &path, "x"), "https://api.acme.example/c1/x");
    // Without an access token, the service can't look up the account.
    let mut sent = json!({"type": "oauth2", "authMethod": "oauth", "refreshToken": "rt-2"});
    let stored = send(&api, "PUT", &format!("{path}/credentials"), &sent);
    assert_eq!(stored.status, 400, "{}", body(&stored));
    sent["fields"] = json!({"cloudId": "c1"});
    let stored = send(&api, "PUT", &format!("{path}/credentials"), &sent);
    assert_eq!(stored.status, 204, "{}", body(&stored));
}

#[test]
fn a_reconnect_stays_at_the_site_of_the_connection_unless_the_app_allows_another() {
    let api = api_of(&[("acme", platform_with_accounts())]);
    let site = |id: &str| json!([{"id": id, "url": "https://a.acme.example"}]);
    let path =
        connect_with(&api, "acme", &[(200, json!({"access_token": "at-1"})), (200, site("a1"))]);
    let connection = path.rsplit('/').next().unwrap();
    for (allowed, expected) in [(false, json!("account_mismatch")), (true, json!(null))] {
        let sent =
            json!({"connection": connection, "authMethod": "oauth", "allowOtherAccount": allowed});
        let (id, browser, state) = start_and_follow_attempt(&api, &sent);
        script(&api, &[(200, json!({"access_token": "at-2"})), (200, site("b1"))]);
        browser.back(&api, &format!("code=c&state={state}"));
        assert_eq!(attempt(&api, &id)["error"]["code"], expected, "{allowed}");
    }
    assert_eq!(called_url(&api, &path, "x"), "https://api.acme.example/b1/x");
}

#[test]
fn the_default_account_sets_the_server() {
    let sources = json!([
        {"field": "server", "from": "lookup", "at": "/accounts/?is_default=true/base_uri", "template": "https://{server}.acme.example"},
    ]);
    let detail = platform_with_servers(
        &json!([optional_field("server", None)]),
        &sources,
        &["https://{server}.acme.example/api"],
        &json!({"lookupUrl": "https://account.acme.example/userinfo"}),
    );
    let account = |server: &str, is_default: bool| json!({"is_default": is_default, "base_uri": format!("https://{server}")});
    for (server, is_connected) in [("na3.acme.example", true), ("evil.example", false)] {
        let api = api_of(&[("acme", detail.clone())]);
        let info = json!({"accounts": [account("na1.acme.example", false), account(server, true)]});
        let (id, browser, state) = start_and_follow_attempt(&api, &ann_connect_body("acme"));
        script(&api, &[(200, json!({"access_token": "at-1"})), (200, info)]);
        browser.back(&api, &format!("code=c&state={state}"));
        let attempt = attempt(&api, &id);
        assert_eq!(attempt["status"] == "succeeded", is_connected, "{attempt}");
    }
}

#[cfg(feature = "cli")]
#[test]
fn salesforce_pipedrive_wrike_and_quickbooks_return_their_server() {
    for (platform, query, location, rest, expected) in [
        (
            "salesforce",
            "",
            json!({"instance_url": "https://acme--dev.sandbox.my.salesforce.com"}),
            "services/data",
            "https://acme--dev.sandbox.my.salesforce.com/services/data",
        ),
        (
            "salesforce",
            "",
            json!({"instance_url": "https://x-dev-ed.develop.my.salesforce.com"}),
            "services/data",
            "https://x-dev-ed.develop.my.salesforce.com/services/data",
        ),
        (
            "pipedrive",
            "",
            json!({"api_domain": "https://acme.pipedrive.com"}),
            "v1/deals",
            "https://acme.pipedrive.com/v1/deals",
        ),
        ("pipedrive", "", json!({}), "v1/deals", "https://api.pipedrive.com/v1/deals"),
        (
            "wrike",
            "",
            json!({"host": "app-eu.wrike.com"}),
            "tasks",
            "https://app-eu.wrike.com/api/v4/tasks",
        ),
        ("wrike", "", json!({}), "tasks", "https://www.wrike.com/api/v4/tasks"),
        (
            "quickbooks",
            "&realmId=9130",
            json!({}),
            "v3/x",
            "https://quickbooks.api.intuit.com/v3/x",
        ),
    ] {
        let api = api_of_provider(platform);
        let mut sent = ann_connect_body(platform);
        sent["authMethod"] = json!("oauth2");
        let (id, browser, state) = start_and_follow_attempt(&api, &sent);
        let mut tokens = location.clone();
        tokens["access_token"] = json!("at-1");
        script(&api, &[(200, tokens), (404, json!({}))]);
        browser.back(&api, &format!("code=c&state={state}{query}"));
        let attempt = attempt(&api, &id);
        assert_eq!(attempt["status"], "succeeded", "{platform} {location}: {attempt}");
        if platform == "quickbooks" {
            assert_eq!(
                url(&api, 1),
                "https://quickbooks.api.intuit.com/v3/company/9130/companyinfo/9130"
            );
        }
        let path =
            format!("/v1/vault/connections/{}", attempt["connection"]["id"].as_str().unwrap());
        assert_eq!(called_url(&api, &path, rest), expected, "{platform} {location}");
    }
}

#[test]
fn rejects_values_that_are_invalid_in_their_url() {
    let key = api_key(&[field("shop", false), field("tenant", false)]);
    let servers = json!([server("https://{shop}.acme.example/{tenant}/v1")]);
    let oauth = oauth(
        "oauth",
        &json!({
            "tokenUrl": "https://{shop}.id.example/token", "fields": [field("shop", false)],
        }),
    );
    let api = api_of(&[("acme", json!({"authMethods": [key, oauth], "servers": servers}))]);
    let path = "/v1/vault/connections";
    let id = body(&send(&api, "POST", path, &ann_connect_body("acme")))["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let credentials = format!("{path}/{id}/credentials");
    let put = |shop: &str, tenant: &str| {
        let fields = json!({"shop": shop, "tenant": tenant});
        let sent = json!({"type": "api_key", "apiKey": "k", "fields": fields});
        send(&api, "PUT", &credentials, &sent)
    };
    let start_attempt = |shop: &str| {
        let sent = json!({
            "platform": "acme", "authMethod": "key", "identity": "bob", "identityType": "user",
            "fields": {"apiKey": "k", "shop": shop, "tenant": "t"},
        });
        connect(&api, &sent)
    };
    let client = |shop: &str| {
        let sent = json!({"clientId": "c", "authMethod": "oauth", "clientSecret": "s", "variables": {"shop": shop}});
        send(&api, "PUT", "/v1/oauth-clients/acme", &sent)
    };
    for shop in
        ["a/b", "evil.example/", "a#", "a?b", "u@a", "a:1", "a\\b", "a..b", "-a", "a_b", "é"]
    {
        for refused in [put(shop, "t"), start_attempt(shop), client(shop)] {
            let refused = (refused.status, text(&refused));
            assert!(refused.0 == 400 && refused.1.contains("/shop"), "{shop}: {refused:?}");
        }
    }
    for tenant in ["..", ".", "../x", "a/../..", "..%2f", "%2e%2e", "a\\..", "..;a"] {
        let refused = put("a", tenant);
        let refused = (refused.status, text(&refused));
        assert!(refused.0 == 400 && refused.1.contains("/fields/tenant"), "{tenant}: {refused:?}");
    }
    assert_eq!(put("a", "a.b").status, 204);
    assert_eq!(client("a").status, 200);
    assert_eq!(start_attempt("b").status, 201);
}

#[test]
fn token_responses_can_set_the_refresh_url() {
    let sources = json!([
        {"field": "install", "from": "token", "at": "/endpoint", "template": "https://{install}.acme.example"},
    ]);
    let detail = platform_with_servers(
        &json!([optional_field("install", None)]),
        &sources,
        &["https://{install}.acme.example"],
        &json!({"refreshUrl": "https://{install}.acme.example/refresh", "revocationUrl": null}),
    );
    let api = api_of(&[("acme", detail)]);
    let tokens = |index: u32| {
        json!({
            "access_token": format!("at-{index}"), "refresh_token": "rt", "expires_in": 3600,
            "endpoint": "https://a1.eu.acme.example",
        })
    };
    let path = connect_with(&api, "acme", &[(200, tokens(1))]);
    script(&api, &[(200, tokens(2))]);
    assert_eq!(credentials(&api, &path, "?refresh=true")["accessToken"], "at-2");
    assert_eq!(url(&api, 1), "https://a1.eu.acme.example/refresh");
}
