//! The endpoints of the console's sign-in: configuration and sessions in the API, and
//! `/sign-in/{signInId}` for browsers.
//!
//! How each secret is protected if it is leaked or forwarded:
//!
//! - A **sign-in link** shows the account's name and requires a confirmation. So a link can't sign
//!   people in to another account without their knowledge.
//! - A **redirect** from the provider works only in the browser in which the sign-in started,
//!   because the PKCE verifier and the nonce are derived from its cookie.
//! - A **code** requires the same cookie, expires after 60 seconds and works once.
//! - A **cookie** alone authorizes nothing: `/v1` accepts only tokens, which the console stores per
//!   tab.
//! - A **token** ends with its session, and works only on pages of this host.

pub mod browser;
mod pages;
pub mod sessions;
pub mod sign_in;

use crate::agents::endpoints::run_for_id;
use crate::auth::Shard;
use crate::auth::key::hash;
use crate::connect::endpoints::pages::Page;
use crate::console::sign_in::SignIn;
use crate::console::statements;
use crate::http::endpoint::Open;
use crate::http::message::{Request, Response};
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::oidc::is_secret;
use crate::oidc::relying_party::RelyingParty;
use crate::ports::{Clock as _, Ports, RateLimit as _, ResultSet, Statement, first_row};
use crate::storage::metering::Metered;

/// The name of the cookie that identifies a browser during a sign-in. Because of the prefix
/// `__Host-`, no other host can set it.
const COOKIE: &str = "__Host-console";

/// Whether an endpoint is below `/sign-in/{signInId}`. These endpoints require `BASE_URL`.
pub const fn is_own(open: Open) -> bool {
    matches!(open, Open::SignInPage | Open::SignInStart | Open::SignInCallback | Open::SignInToken)
}

/// The shard of the sign-in in a path.
pub fn shard_of(path: &str) -> Option<Shard> {
    let id = path.strip_prefix("/sign-in/")?.split('/').next()?;
    Some(Shard::from_secret(id))
}

/// The context of a request to `/sign-in/{signInId}`.
struct ConsoleContext<'a, P> {
    service: &'a Service,
    ports: &'a Metered<'a, P>,
    /// The service's own URL.
    base: &'a str,
    id: &'a str,
    now: u64,
    request_id: &'a str,
}

/// Handles a request to `/sign-in/{signInId}` or below.
pub(crate) async fn respond<P: Ports>(
    service: &Service,
    ports: &Metered<'_, P>,
    request: &Request,
    (open, id): (Open, &str),
    request_id: &str,
) -> Result<Response, Problem> {
    let base = service.config().base_url.as_deref().ok_or_else(Problem::route_not_found)?;
    let console = ConsoleContext { service, ports, base, id, now: ports.now(), request_id };
    match open {
        Open::SignInPage => console.show(request).await,
        Open::SignInStart => console.start(request).await,
        Open::SignInCallback => console.callback(request).await,
        Open::SignInToken => console.exchange(request).await,
        _ => Err(Problem::route_not_found()),
    }
}

impl<P: Ports> ConsoleContext<'_, P> {
    fn relying_party(&self) -> RelyingParty<'_, P> {
        RelyingParty {
            documents: self.service.documents(),
            ports: self.ports,
            targets: self.service.config().targets(),
            now: self.now,
        }
    }

    /// Enforces the rate limit of this sign-in for requests with this key.
    async fn check_rate(&self, rate_key: &str) -> Result<(), Problem> {
        let name = hash(&format!("console {} {rate_key}", self.id));
        let allowed = self.ports.allow(&name).await;
        allowed.map_err(|wait| Problem::rate_limited("sign-in", wait))
    }

    /// Runs statements in one batch, in the shard of the sign-in.
    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, Problem> {
        run_for_id(self.ports, self.id, statements).await
    }

    /// The sign-in. If it is not configured or its key is invalid, returns a page that explains
    /// this.
    async fn sign_in(&self, rate_key: &str) -> Result<Result<SignIn, Page>, Problem> {
        // A malformed id does not need a query.
        if !is_secret(self.id) || !self.service.config().sessions.can_sign() {
            return Ok(Err(pages::unknown_page()));
        }
        self.check_rate(rate_key).await?;
        let sets = self.batch(vec![statements::select_sign_in(self.id, self.now)]).await?;
        let found: Option<SignIn> = first_row(&sets, 0)?;
        Ok(match found {
            None => Err(pages::unknown_page()),
            Some(sign_in) if sign_in.has_valid_key != Some(1) => Err(pages::key_ended_page()),
            Some(sign_in) => Ok(sign_in),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::shard_of;
    use crate::auth::Shard;

    #[test]
    fn parses_shard_from_path() {
        let shard = Shard::new(10).unwrap();
        let id = shard.mark("a".repeat(43));
        for path in [format!("/sign-in/{id}"), format!("/sign-in/{id}/callback")] {
            assert_eq!(shard_of(&path), Some(shard), "{path}");
        }
        assert_eq!(shard_of("/sign-in/a"), Some(Shard::FIRST));
        assert_eq!(shard_of("/v1/sign-in/a"), None);
    }
}
