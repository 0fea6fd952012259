//! The connect window: a static page, and the JSON with the app's name and logo.

use serde::Serialize;

use super::{Browser, set_cookie};
use crate::credentials::minted::Purpose;
use crate::http::config::{AllowedOrigins, Config};
use crate::http::message::{Request, Response};
use crate::http::page::{CONTENT_SECURITY_POLICY, source_of};
use crate::ports::Random;
use crate::util::json;

/// The JSON of the app.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct App<'a> {
    name: Option<&'a str>,
    logo_url: Option<&'a str>,
    color: Option<&'a str>,
    url: Option<&'a str>,
}

/// `GET /connect/app.json`
pub fn app(config: &Config) -> Response {
    let app = App {
        name: config.app_name.as_deref(),
        logo_url: config.app_logo_url.as_deref(),
        color: config.app_color.as_deref(),
        url: config.app_url.as_deref(),
    };
    Response::json(json::bytes(&app), "public, max-age=60")
}

/// `GET /connect`: the static page, with a policy that lets allowed origins frame it. It does nothing without a token or a
/// code. The response sets the cookie to which attempts are bound. A browser that does not send it, such as in a frame on
/// another site, has to confirm the link.
pub fn window(config: &Config, request: &Request, random: &impl Random) -> Response {
    let ancestors = match &config.allowed_origins {
        AllowedOrigins::Any => "*".to_owned(),
        AllowedOrigins::These(origins) => {
            let good =
                |origin: &&String| !origin.contains([' ', ';', ',', '\'']) && origin.is_ascii();
            let origins = origins.iter().filter(good).map(String::as_str);
            ["'self'"].into_iter().chain(origins).collect::<Vec<_>>().join(" ")
        }
    };
    let mut response = Response { is_asset: true, ..Response::empty(200) };
    response.add(
        "content-security-policy",
        CONTENT_SECURITY_POLICY
            .replace(
                "img-src 'self'",
                &format!("img-src 'self'{}", source_of(config.app_logo_url.as_deref())),
            )
            .replace("frame-ancestors 'none'", &format!("frame-ancestors {ancestors}")),
    );
    // The cookie is set again even if the browser has it, so that it outlives the attempts that start in this window.
    let keys = &config.vault_keys;
    let known = Browser::authenticated(request, keys).map(Browser::cookie);
    if let Some(cookie) = known.or_else(|| keys.mint(Purpose::Browser, random)) {
        response.add("set-cookie", set_cookie(&cookie));
    }
    // An app that opens the window as a popup receives the result from it.
    response.add("cross-origin-opener-policy", "unsafe-none");
    response.add("referrer-policy", "no-referrer");
    // A shared cache must not store the cookie.
    response.add("cache-control", "private, no-cache");
    response
}

#[cfg(test)]
mod tests {
    use super::{app, window};
    use crate::credentials::VaultKeys;
    use crate::http::config::{AllowedOrigins, Config};
    use crate::http::message::Request;
    use crate::ports::Random;

    struct ZeroRandom;

    impl Random for ZeroRandom {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(0);
        }
    }

    #[test]
    fn the_window_shows_the_app() {
        let config = Config { app_name: Some("Acme".into()), ..Config::default() };
        let response = app(&config);
        assert_eq!(
            (response.status, response.header("cache-control")),
            (200, Some("public, max-age=60"))
        );
        let shown = String::from_utf8(response.body).unwrap();
        assert_eq!(shown, r#"{"name":"Acme","logoUrl":null,"color":null,"url":null}"#);
    }

    #[test]
    fn frame_ancestors_contain_only_valid_origins() {
        let origins = [
            "https://a.example",
            "https://b.example;script-src",
            "https://c.example d",
            "https://e.example,f",
            "'none'",
            "https://b\u{fc}cher.example",
            "https://g.example",
        ];
        let these = AllowedOrigins::These(origins.map(str::to_owned).into());
        for (allowed_origins, ancestors) in [
            (these, "frame-ancestors 'self' https://a.example https://g.example"),
            (AllowedOrigins::These(Vec::new()), "frame-ancestors 'self'"),
            (AllowedOrigins::Any, "frame-ancestors *"),
        ] {
            let vault_keys = VaultKeys::parse(&format!("a:{}=", "A".repeat(43))).unwrap();
            let config = Config { allowed_origins, vault_keys, ..Config::default() };
            let response = window(&config, &Request::default(), &ZeroRandom);
            let policy = response.header("content-security-policy").unwrap();
            assert_eq!(policy.rsplit("; ").next(), Some(ancestors));
            assert!(response.is_asset);
            let cookie = response.header("set-cookie").unwrap();
            assert!(cookie.starts_with("__Host-connect=AAAA"), "{cookie}");
        }
    }
}
