//! The window in which users connect their accounts: a static file of the site, and what it shows of the app.

use serde::Serialize;

use super::{browser, set_cookie};
use crate::api::config::{AllowedOrigins, Config};
use crate::api::message::{Request, Response};
use crate::api::page::CONTENT_SECURITY_POLICY;
use crate::json;
use crate::ports::Random;

/// What the window shows of the app.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct App<'a> {
    name: Option<&'a str>,
    logo_url: Option<&'a str>,
    color: Option<&'a str>,
}

/// `GET /connect/app.json`
#[must_use]
pub fn app(config: &Config) -> Response {
    let app = App {
        name: config.app_name.as_deref(),
        logo_url: config.app_logo_url.as_deref(),
        color: config.app_color.as_deref(),
    };
    Response::json(json::bytes(&app), "public, max-age=60")
}

/// `GET /connect`: the file, with a policy that lets allowed origins frame it. It shows nothing without a token, which only
/// the app has. The browser gets the cookie that attempts are bound to; one that does not send it back, as in a frame on
/// another site, is asked at the link.
#[must_use]
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
    let mut response = Response { is_file: true, ..Response::empty(200) };
    response.add(
        "content-security-policy",
        CONTENT_SECURITY_POLICY
            .replace("frame-ancestors 'none'", &format!("frame-ancestors {ancestors}")),
    );
    // Known or new: it must outlive what is begun in this window.
    let cookie = browser(request).map_or_else(|| random.secret(), str::to_owned);
    response.add("set-cookie", set_cookie(&cookie));
    // The app that opens the window as a popup learns the outcome from it.
    response.add("cross-origin-opener-policy", "unsafe-none");
    response.add("referrer-policy", "no-referrer");
    // No cache between may keep a browser's cookie and give it to others.
    response.add("cache-control", "private, no-cache");
    response
}
