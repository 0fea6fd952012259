//! Pages use the language of the session or of the request, otherwise the browser's language, otherwise English.

use std::collections::{BTreeMap, BTreeSet};

use connector_vault::texts::language::Language;
use connector_vault::texts::placeholders;

use super::*;

/// Opens an address in a browser with this `Accept-Language`.
fn open_page_with_language(api: &Api, browser: &Browser, accept: &str, url: &str) -> Response {
    api.send(&with_header(browser.request("GET", url), "accept-language", accept))
}

fn assert_language(page: &Response, code: &str) {
    assert_eq!(page.header("content-language"), Some(code), "{}", text(page));
    assert!(text(page).contains(&format!("<html lang=\"{code}\"")), "{}", text(page));
    // `Vary` must be one header, because the Worker sends each header once.
    let varies = page.headers.iter().filter(|(name, _)| *name == "vary").map(|(_, value)| value);
    assert_eq!(varies.collect::<Vec<_>>(), ["accept-language, x-service-secret, origin"]);
    assert_eq!(page.header("cache-control"), Some("private, no-store"));
}

#[test]
fn a_page_is_in_the_language_of_the_app_or_else_of_the_browser() {
    struct Case {
        lang: Option<&'static str>,
        accept: &'static str,
        code: &'static str,
        heading: &'static str,
    }
    let api = api();
    set_client(&api, "acme");
    for Case { lang, accept, code, heading } in [
        Case { lang: None, accept: "", code: "en", heading: "Connect The acme to Sample App?" },
        Case { lang: None, accept: "pt", code: "en", heading: "Connect The acme to Sample App?" },
        Case {
            lang: None,
            accept: "de-AT,de;q=0.9,en;q=0.8",
            code: "de",
            heading: "The acme mit Sample App verbinden?",
        },
        Case {
            lang: Some("fr-CA"),
            accept: "de",
            code: "fr",
            heading: "Connecter The acme à Sample App\u{a0}?",
        },
        Case {
            lang: Some("ES"),
            accept: "de",
            code: "es",
            heading: "¿Conectar The acme a Sample App?",
        },
        Case {
            lang: Some("ja"),
            accept: "",
            code: "ja",
            heading: "The acmeをSample Appと連携しますか？",
        },
        Case {
            lang: Some("pt-BR"),
            accept: "de",
            code: "en",
            heading: "Connect The acme to Sample App?",
        },
    ] {
        let mut payload = ann_connect_body("acme");
        payload["lang"] = json!(lang);
        if lang.is_none() {
            payload.as_object_mut().unwrap().remove("lang");
        }
        let (_, link) = start_attempt(&api, &payload);
        let page = open_page_with_language(&api, &Browser::default(), accept, &link);
        assert_language(&page, code);
        assert!(text(&page).contains(&format!("<h1>{heading}</h1>")), "{lang:?}: {}", text(&page));
    }
}

#[test]
fn attempts_keep_the_language_of_their_session() {
    let api = api();
    set_client(&api, "acme");
    let payload = json!({"identity": "ann", "scopes": ["connections:connect"], "lang": "de-CH"});
    let session = body(&send(&api, "POST", "/v1/sessions", &payload));
    assert_eq!(session["lang"], "de-CH");
    let token = session["token"].as_str().unwrap();
    assert_eq!(body(&api.send(&as_secret(token, "GET", "/v1/whoami")))["lang"], "de-CH");
    let request = as_token(token, "POST", "/v1/vault/connect", &json!({"platform": "acme"}));
    let begun = body(&api.send(&request));
    let link = begun["authorizationUrl"].as_str().unwrap();
    let (browser, state) = follow(&api, link);
    // A page in another browser does not show the outcome, but it is also in the app's language.
    let page_in_other_browser = open_page_with_language(
        &api,
        &Browser::default(),
        "fr",
        &format!("/connect/callback?code=c&state={state}"),
    );
    assert_language(&page_in_other_browser, "de");
    let url = format!("/connect/callback?error=access_denied&error_description=No&state={state}");
    let page = open_page_with_language(&api, &browser, "fr", &url);
    assert_language(&page, "de");
    for part in [
        "<h1>The acme wurde nicht verbunden</h1>",
        "<p>Der Zugriff wurde bei The acme nicht erlaubt.</p>",
        "kehren Sie zur App zurück",
        // The platform's own message is for the app's support.
        "<p lang=\"en\"><small>The acme did not grant access (access_denied): No.</small></p>",
    ] {
        assert!(text(&page).contains(part), "{part}: {}", text(&page));
    }
    // After the attempt has ended, the page of the link is still in that language.
    assert_language(&open_page_with_language(&api, &browser, "fr", link), "de");
    // An unknown link has no attempt, so the browser's language is used.
    assert_language(&open_page_with_language(&api, &browser, "fr", "/connect/go/nothing"), "fr");
}

#[test]
fn a_link_passes_its_language_to_the_window() {
    let api = api();
    let mut payload = ann_connect_body("keyed");
    payload["link"] = json!(true);
    payload["lang"] = json!("ja");
    let (_, link) = start_attempt(&api, &payload);
    let response = Browser::default().get(&api, &link);
    let location = response.header("location").unwrap();
    let code = location.strip_prefix("/connect#code=").unwrap().split('&').next().unwrap();
    let request = with_header(anonymous("POST", "/connect/token"), "x-connect-code", code);
    let exchanged = body(&api.send(&with_header(request, "origin", ORIGIN)));
    let token = exchanged["token"].as_str().unwrap();
    assert_eq!(body(&api.send(&as_secret(token, "GET", "/v1/whoami")))["lang"], "ja");
}

#[test]
fn a_malformed_language_is_refused() {
    let api = api();
    for lang in [json!("de_DE"), json!(""), json!("d"), json!(5), json!("a".repeat(36))] {
        let session = json!({"identity": "ann", "lang": lang});
        let mut attempt = ann_connect_body("acme");
        attempt["lang"] = lang.clone();
        for (path, payload) in [("/v1/sessions", &session), ("/v1/vault/connect", &attempt)] {
            let response = send(&api, "POST", path, payload);
            assert_eq!(response.status, 400, "{lang}");
            assert_eq!(body(&response)["errors"][0]["pointer"], "/lang", "{}", body(&response));
        }
    }
}

#[test]
fn the_window_has_the_same_texts_and_values_in_each_language() {
    let read_file = |name: &str| -> BTreeMap<String, String> {
        let path = format!("www/src/connect/texts/{name}.json");
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
    };
    let read = |language: &Language| read_file(language.code());
    let mut english = read(&Language::English);
    // The console also shows fields, in English only.
    english.extend(read_file("en-fields"));
    let mut labels: Option<BTreeSet<String>> = None;
    for language in &Language::ALL[1..] {
        // The catalog's labels are in English.
        let (own, texts): (BTreeMap<_, _>, BTreeMap<_, _>) =
            read(language).into_iter().partition(|(key, _)| key.starts_with("label."));
        let own: BTreeSet<String> = own.into_keys().collect();
        assert_eq!(labels.get_or_insert_with(|| own.clone()), &own, "labels in {language:?}");
        let keys = |texts: &BTreeMap<String, String>| texts.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&texts), keys(&english), "{language:?}");
        for (key, translated) in &texts {
            assert_eq!(
                placeholders(translated),
                placeholders(&english[key]),
                "{key} in {language:?}"
            );
            assert!(!translated.is_empty(), "{key} in {language:?}");
        }
    }
}
