//! `/connect/go/{secret}`: the link of an attempt, which works in a chat, on a phone, in a webview. Its reader is asked
//! whether they began the attempt, so that nobody connects their account for somebody who sent them a link.

use super::code::CODE;
use super::pages::Page;
use super::{
    Browser, browser, connector, cookie_for, hash, is_own_page, opening, redirect_uri, set_cookie,
};
use crate::access::Shard;
use crate::access::authenticate::moved_to;
use crate::access::caller::shard_of;
use crate::access::statements::{arrive, select_forward};
use crate::api::config::Config;
use crate::api::cost::Metered;
use crate::api::message::{NO_STORE, Request, Response};
use crate::api::problem::Problem;
use crate::catalog::cache::CatalogCache;
use crate::catalog::detail::Kind;
use crate::catalog::reader::Catalog;
use crate::connect::attempt::{Attempt, Remembered, Status};
use crate::connect::client::OauthClient;
use crate::connect::filled::Filled;
use crate::connect::method::Connector;
use crate::connect::statements;
use crate::credentials::{Kind as Sealing, Place, Sealed};
use crate::oauth::authorization::{Ask, authorization_url};
use crate::oauth::callback::read;
use crate::oauth::pkce::Verifier;
use crate::ports::{Db, Param, Ports, Random, ResultSet, first_row};

/// The database of the attempt that a browser's request is about. Returns `None` when it is about none.
pub fn shard_of_browser(request: &Request) -> Option<Shard> {
    if request.path == "/connect/token" {
        return request.header(CODE).map(shard_of);
    }
    if request.path == "/connect/callback" {
        return match read(&request.query).ok().and_then(|callback| callback.state) {
            Some(state) => Some(Shard::of_secret(&state)),
            None => Some(Browser::of(request)?.attempt()?.0),
        };
    }
    request.path.strip_prefix("/connect/go/").map(Shard::of_secret)
}

/// What answers to browsers need besides the request.
pub struct Desk<'a, P> {
    /// The operator's settings.
    pub config: &'a Config,
    /// What the isolate keeps of the catalog.
    pub catalog: &'a CatalogCache,
    /// The ports.
    pub ports: &'a Metered<'a, P>,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
    /// The UUID of this request.
    pub request_id: &'a str,
}

impl<P: Ports> Desk<'_, P> {
    /// Answers the link itself: leads the browser on that began the attempt, and asks every other one.
    ///
    /// # Errors
    /// When storage can't answer.
    pub async fn show_link(&self, request: &Request, link: &str) -> Result<Response, Problem> {
        let hash_of_link = hash(link);
        self.arrive(&hash_of_link).await?;
        let sets = self.ports.batch(vec![
            statements::select_by_link(&hash_of_link),
            statements::select_client_of_attempt(&hash_of_link),
            select_forward(&hash_of_link),
        ]);
        let sets = sets.await?;
        stays(sets.get(2))?;
        let (attempt, client) = (first_row::<Attempt>(&sets, 0)?, first_row(&sets, 1)?);
        let Some(attempt) = attempt.filter(|attempt| attempt.status(self.now) == Status::Pending)
        else {
            return Ok(self.over().response());
        };
        if let Some(bound) = &attempt.browser_hash {
            let Some(cookie) = browser(request).filter(|cookie| hash(cookie) == *bound) else {
                return Ok(self.elsewhere().response());
            };
            return self.lead_on(request, &attempt, client, cookie).await;
        }
        let name = self.name(&attempt).await?;
        let app = self.config.app_name.as_deref().unwrap_or("this app");
        let page = Page {
            heading: format!("Connect {name}?"),
            paragraphs: vec![
                format!(
                    "This link connects an account at {name} to {app}, for {} “{}”.",
                    attempt.identity_type.as_str(),
                    attempt.identity
                ),
                format!(
                    "Did you start this? Go on only if you did: {app} will be able to use your {name} account. If somebody sent you this link, close this page."
                ),
            ],
            button: Some((request.path.clone(), format!("Yes, go on to {name}"))),
            app: self.config.app_name.clone(),
            status: 200,
            ..Page::default()
        };
        Ok(page.response())
    }

    /// Answers the question with yes: binds the attempt to the browser, and leads it to the platform.
    ///
    /// # Errors
    /// When storage can't answer.
    pub async fn go(&self, request: &Request, link: &str) -> Result<Response, Problem> {
        // Another site must not answer for the user.
        if !is_own_page(request) {
            return Ok(self.foreign().response());
        }
        let cookie = browser(request).map_or_else(|| self.ports.secret(), str::to_owned);
        let (hash_of_link, own) = (hash(link), hash(&cookie));
        self.arrive(&hash_of_link).await?;
        let sets = self.ports.batch(vec![
            statements::bind(&hash_of_link, &own, self.now),
            statements::select_by_link(&hash_of_link),
            statements::select_client_of_attempt(&hash_of_link),
            select_forward(&hash_of_link),
        ]);
        let sets = sets.await?;
        stays(sets.get(3))?;
        let (attempt, client) = (first_row::<Attempt>(&sets, 1)?, first_row(&sets, 2)?);
        let Some(attempt) = attempt.filter(|attempt| attempt.status(self.now) == Status::Pending)
        else {
            return Ok(self.over().response());
        };
        if attempt.browser_hash.as_ref() != Some(&own) {
            return Ok(self.elsewhere().response());
        }
        self.lead_on(request, &attempt, client, &cookie).await
    }

    /// Ends the arrival of the account whose attempt has this hash, when another database has said that it is here.
    pub(super) async fn arrive(&self, hash: &str) -> Result<(), Problem> {
        if self.ports.was_forwarded() {
            self.ports.batch(arrive(&Param::text(hash)).into()).await?;
        }
        Ok(())
    }

    /// The connector of an attempt's platform. Returns `None` when the catalog no longer has it.
    pub(super) async fn connector(&self, attempt: &Attempt) -> Result<Option<Connector>, Problem> {
        let catalog = Catalog::open(self.catalog, self.ports).await?;
        Ok(connector(&catalog, &attempt.platform).await?)
    }

    async fn name(&self, attempt: &Attempt) -> Result<String, Problem> {
        let connector = self.connector(attempt).await?;
        Ok(connector.map_or_else(|| attempt.platform.clone(), |connector| connector.name))
    }

    /// What an attempt remembers.
    ///
    /// # Errors
    /// When no key opens it.
    pub(super) fn remembered(&self, attempt: &Attempt) -> Result<Option<Remembered>, Problem> {
        let Some(sealed) = &attempt.sealed else { return Ok(None) };
        let place = Place {
            account: &attempt.account,
            environment: attempt.environment,
            kind: Sealing::Attempt,
            id: &attempt.id,
        };
        let plain = opening(self.config.vault_keys.open(&place, &Sealed::from(sealed.clone())))?;
        Ok(serde_json::from_slice(&plain).ok())
    }

    /// The method of an attempt, filled in as far as it leads the user to the platform. Returns `None` when the catalog or the
    /// client no longer fit it.
    fn filled(
        &self,
        connector: &Connector,
        attempt: &Attempt,
        remembered: &Remembered,
    ) -> Option<Filled> {
        let method = connector.find_method(&attempt.auth_method)?;
        let Kind::OAuth2(oauth) = &method.kind else { return None };
        let value = |name: &str| remembered.fields.get(name).map(String::as_str);
        Filled::before_sign_in(oauth, self.config.targets(), value).ok()
    }

    /// Redirects to the platform, unless the catalog or the client no longer fit the attempt. The browser keeps its cookie for
    /// as long as the user may take there.
    async fn lead_on(
        &self,
        request: &Request,
        attempt: &Attempt,
        client: Option<OauthClient>,
        cookie: &str,
    ) -> Result<Response, Problem> {
        let mut cookie = cookie.to_owned();
        let mut response = match self.location(request, attempt, client).await? {
            None => self.changed().response(),
            Some((url, state)) => {
                let shard = Shard::new(self.ports.number()).unwrap_or_default();
                cookie = cookie_for(&cookie, shard, &state);
                let mut response = Response::empty(303);
                response.add("location", url);
                response.add("cache-control", NO_STORE);
                response.add("referrer-policy", "no-referrer");
                response
            }
        };
        response.add("set-cookie", set_cookie(&cookie));
        Ok(response)
    }

    /// Where the platform asks the user, and the state that it is to bring back. Returns `None` when the catalog or the client no longer fit the attempt.
    async fn location(
        &self,
        request: &Request,
        attempt: &Attempt,
        client: Option<OauthClient>,
    ) -> Result<Option<(String, String)>, Problem> {
        let (connector, remembered) = (self.connector(attempt).await?, self.remembered(attempt)?);
        let client = client.filter(|client| client.is_for(&attempt.auth_method));
        let (Some(connector), Some(remembered), Some(client)) = (connector, remembered, client)
        else {
            return Ok(None);
        };
        let Some(filled) = self.filled(&connector, attempt, &remembered) else { return Ok(None) };
        let Some(endpoint) = &filled.authorization_url else { return Ok(None) };
        let scopes = attempt.scopes();
        let verifier = remembered.verifier.and_then(Verifier::of_text);
        let challenge = verifier.as_ref().map(Verifier::challenge);
        let url = authorization_url(
            &filled.oauth,
            endpoint,
            &Ask {
                client_id: &client.client_id,
                redirect_uri: &redirect_uri(&request.origin),
                scopes: &scopes,
                state: &remembered.state,
                challenge: challenge.as_deref(),
                parameters: &client.authorization_parameters(),
            },
        );
        Ok(Some((url, remembered.state)))
    }

    /// A page with a heading and paragraphs only.
    pub(super) fn page(&self, status: u16, heading: &str, paragraphs: &[&str]) -> Page {
        Page {
            heading: heading.to_owned(),
            paragraphs: paragraphs.iter().map(|text| (*text).to_owned()).collect(),
            app: self.config.app_name.clone(),
            status,
            ..Page::default()
        }
    }

    pub(super) fn over(&self) -> Page {
        self.page(
            410,
            "This link is no longer valid",
            &[
                "It has been used already, or more than 10 minutes have passed.",
                "Go back to the app and start again.",
            ],
        )
    }

    pub(super) fn elsewhere(&self) -> Page {
        self.page(
            403,
            "This was started in another browser",
            &[
                "For your safety, an account can be connected only in the browser that opened the link first. Nothing was connected.",
                "Go back to the app in this browser and start again.",
            ],
        )
    }

    fn foreign(&self) -> Page {
        self.page(
            403,
            "Open the link itself",
            &["Another site sent you here, so nothing was started. Open the link again, and answer its question there."],
        )
    }

    fn changed(&self) -> Page {
        self.page(
            409,
            "This platform can't be connected at the moment",
            &[
                "The app's settings for this platform have changed since you started.",
                "Go back to the app and start again. If that does not help, tell the people who run it.",
            ],
        )
    }
}

/// Fails when the attempt is in another database, as the result of [`select_forward`] says.
pub(super) fn stays(forward: Option<&ResultSet>) -> Result<(), Problem> {
    match moved_to(forward)? {
        None => Ok(()),
        moved_to => Err(Problem { moved_to, ..Problem::unavailable("") }),
    }
}
