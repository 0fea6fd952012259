//! The connect flow: starts attempts, redirects users to the platform, handles the callback, reports the result.

pub mod attempt;
pub mod attempts;
pub mod callback;
mod callback_pages;
pub(crate) mod client_choice;
pub mod code;
mod direct;
mod failure;
pub mod link;
pub mod oauth_clients;
pub(crate) mod pages;
pub mod platform;
mod previous_credentials;
pub mod revoke;
pub mod start;
mod start_attempt;
pub mod start_urls;
pub mod store;
pub mod window;
mod window_link;

use crate::auth::Shard;
use crate::auth::key::hash;
use crate::auth::shard::DIGITS;
use crate::catalog::reader::Catalog;
use crate::connect::method::Connector;
use crate::credentials::minted::Purpose;
use crate::credentials::{OpenError, SealError, VaultKeys};
use crate::http::body::BodyReader;
use crate::http::context::Context;
use crate::http::message::Request;
use crate::http::problem::Problem;
use crate::ports::{Ports, StorageError};
use crate::util::json;

/// The name of the cookie that identifies a browser during an attempt. The prefix `__Host-` ensures
/// that only this host can set it.
const COOKIE: &str = "__Host-connect";

/// The redirect URI of this service.
pub fn redirect_uri(origin: &str) -> String {
    format!("{origin}/connect/callback")
}

/// Reads and checks a body with secrets to store, for endpoints without query parameters. Fails if the service has no
/// key to encrypt them.
pub(crate) fn body_with_secrets(context: &Context<'_>) -> Result<BodyReader, Problem> {
    context.ensure_no_query()?;
    let mut body = context.body()?;
    body.finish()?;
    if context.config().vault_keys.is_empty() {
        return Err(missing_vault_keys());
    }
    Ok(body)
}

/// The error if the service has no key to encrypt with.
pub fn missing_vault_keys() -> Problem {
    let detail = "The service can't store credentials: its operator must set `VAULT_KEYS`, for example with `npm run vault-keys -- rotate`.";
    let problem = Problem::unavailable("`VAULT_KEYS` is missing or malformed");
    Problem { detail: detail.into(), ..problem }
}

/// The error if a secret can't be encrypted.
pub fn encrypt_error(error: SealError) -> Problem {
    match error {
        SealError::NoKey => missing_vault_keys(),
        SealError::TooLong => Problem::unavailable(format!("encrypting: {error}")),
    }
}

/// The error if a secret can't be decrypted. The log names the missing key.
#[expect(clippy::needless_pass_by_value, reason = "so that `map_err` takes the function itself")]
pub fn decrypt_error(error: OpenError) -> Problem {
    let detail = "The service can't decrypt stored credentials. Its operator can find the cause in the log, by `requestId`.";
    let problem = Problem::unavailable(format!("decrypting: {error}"));
    Problem { detail: detail.into(), ..problem }
}

/// Reads a connector from the catalog. Returns `None` for an unknown platform.
pub(crate) async fn connector<P: Ports>(
    catalog: &Catalog<'_, P>,
    platform: &str,
) -> Result<Option<Connector>, StorageError> {
    let Some(row) = catalog.detail(platform).await? else { return Ok(None) };
    json::from_bytes(&row)
        .map(Some)
        .map_err(|error| StorageError::new(format!("a connector's row is malformed: {error}")))
}

/// A browser, as identified by its cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Browser<'a> {
    /// The secret that attempts are bound to.
    secret: &'a str,
    /// The last attempt that redirected the browser to a platform: the hash of the attempt's state,
    /// with the digits of its shard.
    attempt: Option<&'a str>,
}

impl<'a> Browser<'a> {
    /// Parses the cookie. Returns `None` without a well-formed cookie.
    fn from_request(request: &'a Request) -> Option<Self> {
        let pairs = request.header("cookie")?.split(';').map(str::trim);
        let mut cookies = pairs.filter_map(|pair| pair.strip_prefix(COOKIE)?.strip_prefix('='));
        cookies.find_map(|value| {
            let (secret, attempt) =
                value.split_once('.').map_or((value, None), |(secret, rest)| (secret, Some(rest)));
            let is_allowed =
                |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            let is_attempt_id = |text: &&str| {
                let length = text.len().saturating_sub(HASH_LEN);
                (length == 0 || length == DIGITS)
                    && text.len() >= HASH_LEN
                    && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
            };
            let has_shape = secret.len() == 43 && secret.bytes().all(is_allowed);
            has_shape.then(|| Self { secret, attempt: attempt.filter(is_attempt_id) })
        })
    }

    /// Like [`Self::from_request`], but returns `None` unless one of these keys generated the
    /// secret.
    fn authenticated(request: &'a Request, keys: &VaultKeys) -> Option<Self> {
        Self::from_request(request)
            .filter(|browser| keys.has_minted(Purpose::Browser, browser.secret))
    }

    fn cookie(self) -> String {
        let attempt = self.attempt.map(|attempt| format!(".{attempt}")).unwrap_or_default();
        format!("{}{attempt}", self.secret)
    }

    fn attempt(self) -> Option<(Shard, &'a str)> {
        let attempt = self.attempt?;
        let (digits, hash) = attempt.split_at_checked(attempt.len().checked_sub(HASH_LEN)?)?;
        Some((Shard::from_digits(digits).unwrap_or_default(), hash))
    }
}

const HASH_LEN: usize = 64;

fn browser(request: &Request) -> Option<&str> {
    Browser::from_request(request).map(|browser| browser.secret)
}

/// The value of the cookie for a browser that is redirected to a platform in an attempt with this
/// state.
fn cookie_for(secret: &str, shard: Shard, state: &str) -> String {
    format!("{secret}.{}", shard.mark(hash(state)))
}

/// The header `Set-Cookie`. The cookie outlives the longest possible visit to the connect window, followed by an attempt and
/// its exchange.
fn set_cookie(value: &str) -> String {
    format!("{COOKIE}={value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=7200")
}

/// Whether a page of this service sent the request.
pub(crate) fn is_from_own_page(request: &Request) -> bool {
    let site = request.header("sec-fetch-site");
    let origin = request.header("origin");
    site.is_none_or(|site| site == "same-origin")
        && origin.is_some_and(|origin| origin == request.origin)
}

#[cfg(test)]
mod tests {
    use super::{Browser, browser, cookie_for, decrypt_error, is_from_own_page};
    use crate::auth::Shard;
    use crate::auth::key::hash;
    use crate::credentials::OpenError;
    use crate::http::message::Request;

    fn request_with(headers: &[(&str, &str)]) -> Request {
        let to_owned_pair =
            |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let headers = headers.iter().map(to_owned_pair).collect();
        Request { origin: "https://vault.example".into(), headers, ..Request::default() }
    }

    #[test]
    fn only_a_cookie_of_this_service_identifies_a_browser() {
        let secret = format!("{}-_z", "A".repeat(40));
        for (value, is_ours) in [
            (secret.clone(), true),
            ("A".repeat(42), false),
            ("A".repeat(44), false),
            (format!("{}.", "A".repeat(42)), false),
            (format!("{}\"", "A".repeat(42)), false),
            (String::new(), false),
        ] {
            let request = request_with(&[("cookie", &format!("a=b; __Host-connect={value}; c=d"))]);
            assert_eq!(browser(&request), is_ours.then_some(value.as_str()), "{value}");
        }
        for shard in [Shard::FIRST, Shard::new(77).unwrap()] {
            let cookie = format!("__Host-connect={}", cookie_for(&secret, shard, "a state"));
            let request = request_with(&[("cookie", &cookie)]);
            let found = Browser::from_request(&request).unwrap();
            assert_eq!(
                (found.secret, found.attempt()),
                (secret.as_str(), Some((shard, hash("a state").as_str())))
            );
        }
        for attempt in ["", "x", &"a".repeat(63), &"a".repeat(65), &"-".repeat(64)] {
            let request =
                request_with(&[("cookie", &format!("__Host-connect={secret}.{attempt}"))]);
            let found = Browser::from_request(&request).unwrap();
            assert_eq!((found.secret, found.attempt()), (secret.as_str(), None), "{attempt}");
        }
        let other =
            request_with(&[("cookie", &format!("connect={secret}; __Host-connected={secret}"))]);
        assert_eq!((browser(&other), browser(&request_with(&[]))), (None, None));
    }

    #[test]
    fn is_own_page_checks_origin_and_fetch_metadata() {
        let own_origin = ("origin", "https://vault.example");
        for (headers, is_own) in [
            (&[own_origin][..], true),
            (&[own_origin, ("sec-fetch-site", "same-origin")], true),
            (&[own_origin, ("sec-fetch-site", "cross-site")], false),
            (&[("origin", "https://evil.example"), ("sec-fetch-site", "same-origin")], false),
            (&[("sec-fetch-site", "same-origin")], false),
            (&[], false),
        ] {
            assert_eq!(is_from_own_page(&request_with(headers)), is_own, "{headers:?}");
        }
    }

    #[test]
    fn decrypt_errors_are_explained_in_the_log_only() {
        let problem = decrypt_error(OpenError::UnknownKey("k1".into()));
        assert!(problem.detail.contains("can't decrypt stored credentials"), "{}", problem.detail);
        assert!(problem.cause.unwrap().contains("`k1`"));
    }
}
