//! The connect window: a static page, and the JSON with the app's name and logo.

use super::link::BrowserContext;
use super::{Browser, set_cookie};
use crate::auth::Caller;
use crate::branding::Branding;
use crate::branding::statements::select_by_key;
use crate::credentials::minted::Purpose;
use crate::http::config::{AllowedOrigins, Config};
use crate::http::message::{CONNECT_CODE, NO_STORE, Request, Response};
use crate::http::page::{CONTENT_SECURITY_POLICY, csp_source};
use crate::http::problem::Problem;
use crate::ports::{Db as _, Ports, Random, RateLimit as _, first_row};
use crate::util::json;

impl<P: Ports> BrowserContext<'_, P> {
    /// `GET /connect/app.json`: the app of the account that the window's code or token belongs to. Used codes and expired
    /// tokens are accepted, because the window also shows the app when it can't continue.
    pub async fn app(&self, request: &Request) -> Result<Response, Problem> {
        let sessions = &self.config.sessions;
        let token = request
            .header(CONNECT_CODE)
            .and_then(|secret| sessions.verify_code(secret).or_else(|| sessions.verify(secret)));
        let mut branding = Branding::default();
        if let Some(token) = token {
            let caller = Caller::Token(token);
            let allowed = self.ports.allow(&caller.rate_key().to_string()).await;
            allowed.map_err(|wait| Problem::rate_limited(caller.noun(), wait))?;
            if let Some(token) = caller.token() {
                let sets = self.ports.batch(vec![select_by_key(&token.key_id)]).await?;
                branding = first_row(&sets, 0)?.unwrap_or_default();
            }
        }
        Ok(Response::json(json::bytes(&self.wording.appearance.with(&branding)), NO_STORE))
    }
}

/// `GET /connect`: the static page, with a policy that lets allowed origins frame it. The page
/// needs a token or a code to do anything. The response sets the cookie that attempts are bound to.
/// A browser that does not send the cookie, such as in a frame on another site, has to confirm the
/// link.
pub fn window(config: &Config, request: &Request, random: &impl Random) -> Response {
    let ancestors = match &config.allowed_origins {
        AllowedOrigins::Any => "*".to_owned(),
        AllowedOrigins::Listed(origins) => {
            let is_valid =
                |origin: &&String| !origin.contains([' ', ';', ',', '\'']) && origin.is_ascii();
            let origins = origins.iter().filter(is_valid).map(String::as_str);
            ["'self'"].into_iter().chain(origins).collect::<Vec<_>>().join(" ")
        }
    };
    let mut response = Response { is_asset: true, ..Response::empty(200) };
    response.add(
        "content-security-policy",
        CONTENT_SECURITY_POLICY
            .replace(
                "img-src 'self'",
                &format!("img-src 'self'{}", csp_source(config.app_logo_url.as_deref())),
            )
            .replace("frame-ancestors 'none'", &format!("frame-ancestors {ancestors}")),
    );
    // The cookie is set again even if the browser has it, so that it outlives the attempts that start in this window.
    let keys = &config.vault_keys;
    let request_cookie = Browser::authenticated(request, keys).map(Browser::cookie);
    if let Some(cookie) = request_cookie.or_else(|| keys.mint(Purpose::Browser, random)) {
        response.add("set-cookie", set_cookie(&cookie));
    }
    // An app that opens the window as a popup receives the result from it, so keep its access to
    // the window.
    response.add("cross-origin-opener-policy", "unsafe-none");
    response.add("referrer-policy", "no-referrer");
    // A shared cache must not store the cookie.
    response.add("cache-control", "private, no-cache");
    response
}

#[cfg(test)]
mod tests {
    use super::window;
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
        let listed = AllowedOrigins::Listed(origins.map(str::to_owned).into());
        for (allowed_origins, ancestors) in [
            (listed, "frame-ancestors 'self' https://a.example https://g.example"),
            (AllowedOrigins::Listed(Vec::new()), "frame-ancestors 'self'"),
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
