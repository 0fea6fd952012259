//! The links of the connect pages, and who their error messages hold responsible.

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
    let (_, browser, state) = followed(&api, &of_ann("acme"));
    let elsewhere = Browser::default().back(&api, &format!("code=c&state={state}"));
    let denied = browser.back(&api, &format!("error=access_denied&state={state}"));
    let used = browser.back(&api, &format!("error=access_denied&state={state}"));
    let over = browser.back(&api, "code=c&state=guessed");
    let incomplete = browser.back(&api, "");
    let unknown = browser.get(&api, "/connect/go/nothing");
    let (_, link) = begin(&api, &of_ann("acme"));
    api.env.now.set(api.env.now.get() + 600_000);
    let expired = browser.get(&api, &link);
    for page in [elsewhere, denied, used, over, incomplete, unknown, expired] {
        assert_eq!(text(&page).matches(HOME).count(), 1, "{}", text(&page));
    }
    let (_, link) = begin(&api, &of_ann("acme"));
    let question = browser.get(&api, &link);
    assert!(!text(&question).contains(HOME), "it asks, and leads on: {}", text(&question));
}

#[test]
fn the_return_url_overrides_the_app_url() {
    let api = api_with_home();
    let mut sent = of_ann("acme");
    sent["returnUrl"] = json!("https://app.example/settings?tab=2#github");
    let (id, browser, state) = followed(&api, &sent);
    let page = text(&browser.back(&api, &format!("error=access_denied&state={state}")));
    let url = format!("https://app.example/settings?tab=2&amp;connect={id}#github");
    assert!(page.contains(&format!("<a href=\"{url}\" rel=\"noreferrer\">Go back to the app</a>")));
    assert!(!page.contains(HOME), "{page}");
}

#[test]
fn end_pages_do_not_link_to_the_popup_window() {
    let api = api_with_home();
    let mut sent = of_ann("acme");
    sent["returnUrl"] = json!(format!("{ORIGIN}/connect#began=&origin=https://app.example"));
    let (id, browser, state) = followed(&api, &sent);
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
        let (_, link) = begin(&api, &of_ann("acme"));
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
    let mut sent = of_ann("keyed");
    sent["fields"] = json!({"apiKey": "k"});
    let response = connect(&api, &sent);
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
        let (id, browser, state) = followed(&api, &of_ann("acme"));
        let page = text(&browser.back(&api, &format!("error={error}&state={state}")));
        assert!(page.contains(turn), "{error}: {page}");
        let code = attempt(&api, &id)["error"]["code"].as_str().unwrap().to_owned();
        assert_eq!(code == "denied", error == "access_denied", "{error}: {code}");
    }
}
