//! An app's branding on the pages that its users see: `/v1/branding`.

use base64ct::{Base64, Encoding as _};
use connector_vault::terms::{Environment, Scope};
use sha2::{Digest as _, Sha256};

use super::*;
use crate::support::as_key;

const BRANDING: &str = "/v1/branding";
/// An image with one pixel.
const LOGO: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

fn sample_branding() -> Value {
    json!({"name": "Zebra", "logo": LOGO, "color": "#FFCC00", "url": "https://zebra.example/app"})
}

fn set(api: &Api, branding: &Value) -> Response {
    api.send(&with_body(api.request("PUT", BRANDING), &branding.to_string()))
}

fn window_app(api: &Api, secret: &str) -> Value {
    let request = anonymous("GET", "/connect/app.json");
    let response = api.send(&with_header(request, "x-connect-code", secret));
    assert_eq!(response.header("cache-control"), Some("private, no-store"));
    body(&response)
}

#[test]
fn replacing_branding_replaces_every_field() {
    let api = api();
    let none = json!({"name": null, "logo": null, "color": null, "url": null, "updatedAt": null});
    assert_eq!(body(&api.get(BRANDING)), none);
    let stored = set(&api, &sample_branding());
    assert_eq!((stored.status, &body(&stored)["color"]), (200, &json!("#ffcc00")));
    assert_eq!(body(&api.get(BRANDING)), body(&stored));
    set(&api, &json!({"color": "#000000"}));
    let replaced = body(&api.get(BRANDING));
    assert_eq!((&replaced["name"], &replaced["color"]), (&json!(null), &json!("#000000")));
    let log = "SELECT DISTINCT action || ' ' || target FROM audit WHERE target_type = 'branding'";
    assert_eq!(api.env.texts(log), ["branding.updated branding"]);
    assert_eq!(api.env.texts("SELECT actor_type FROM audit WHERE target = 'branding'").len(), 2);
}

#[test]
fn branding_that_could_deceive_or_burden_users_is_rejected() {
    let api = api();
    let svg = "data:image/svg+xml;base64,PHN2Zy8+";
    let invalid_body =
        json!({"name": "Ac\u{202e}me", "logo": svg, "color": "red", "url": "javascript:0"});
    let rejected = set(&api, &invalid_body);
    assert_eq!(rejected.status, 400);
    let errors = body(&rejected)["errors"].as_array().unwrap().clone();
    let pointers: Vec<_> = errors.iter().map(|error| error["pointer"].as_str().unwrap()).collect();
    assert_eq!(pointers, ["/name", "/logo", "/color", "/url"]);
    assert_eq!(body(&api.get(BRANDING))["updatedAt"], json!(null));
}

#[test]
fn branding_belongs_to_one_account_and_environment() {
    let api = api();
    set(&api, &sample_branding());
    for key in [
        api.env.key("globex", Environment::Test, &Scope::ALL, None),
        api.env.key("acme", Environment::Live, &Scope::ALL, None),
    ] {
        let read = api.send(&as_key(&key, "GET", BRANDING));
        assert_eq!((read.status, &body(&read)["name"]), (200, &json!(null)));
    }
}

#[test]
fn pages_of_a_link_show_the_app_of_its_account() {
    let api = api();
    set_client(&api, "acme");
    let (_, link) = start_attempt(&api, &ann_connect_body("acme"));
    let page = Browser::default().get(&api, &link);
    assert!(text(&page).contains("Connect The acme to Sample App?"), "{}", text(&page));
    assert!(!text(&page).contains("<style>"), "{}", text(&page));
    set(&api, &sample_branding());
    let page = Browser::default().get(&api, &link);
    let html = text(&page);
    assert!(html.contains("Connect The acme to Zebra?") && html.contains(LOGO), "{html}");
    assert!(!html.contains("Sample App"), "{html}");
    // The Content-Security-Policy allows exactly this style.
    let css = ":root{--brand:#ffcc00;--on-brand:#000}";
    assert!(html.contains(&format!("<style>{css}</style>")), "{html}");
    let hash = Base64::encode_string(&Sha256::digest(css));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains(&format!("style-src 'self' 'sha256-{hash}';")), "{policy}");
    assert!(policy.contains("img-src 'self' data:;"), "{policy}");
    // The pages after the link also show the app. A page in another browser never names another
    // account's app.
    follow(&api, &link);
    let other = Browser::default().get(&api, &link);
    assert!(other.status == 403 && text(&other).contains("Zebra"), "{}", text(&other));
    let unknown = Browser::default().get(&api, "/connect/go/unknown");
    assert!(text(&unknown).contains("Sample App"), "{}", text(&unknown));
}

#[test]
fn the_window_shows_the_app_of_its_code_or_token() {
    let api = api();
    let mut payload = ann_connect_body("keyed");
    payload["link"] = json!(true);
    let started = body(&connect(&api, &payload));
    let response = Browser::default().get(&api, started["authorizationUrl"].as_str().unwrap());
    let location = response.header("location").unwrap();
    let code = location.strip_prefix("/connect#code=").unwrap().split('&').next().unwrap();
    let default = json!({"name": "Sample App", "logoUrl": null, "color": null, "url": null});
    assert_eq!(window_app(&api, code), default);
    set(&api, &json!({"name": "Zebra", "logo": LOGO}));
    let shown = json!({"name": "Zebra", "logoUrl": LOGO, "color": null, "url": null});
    assert_eq!(window_app(&api, code), shown);
    let forged = code.replace("cc_test_", "cc_live_");
    for secret in ["", "st_test_x.y", forged.as_str()] {
        assert_eq!(window_app(&api, secret), default, "{secret}");
    }
}
