//! `/connect/go/{secret}`: the link of an attempt, which works in a chat, on a phone, in a webview. Its reader is asked
//! whether they began the attempt, so that nobody connects their account for somebody who sent them a link.

use std::slice;

use super::callback::Starts;
use super::code::CODE;
use super::pages::Page;
use super::{
    Browser, browser, connector, cookie_for, hash, is_own_page, no_vault_keys, opening,
    redirect_uri, set_cookie,
};
use crate::auth::Shard;
use crate::auth::authenticate::moved_to;
use crate::auth::caller::shard_of;
use crate::auth::endpoints::session::new::no_secret;
use crate::auth::limits::Limits;
use crate::auth::restriction::Confinement;
use crate::auth::statements::{arrive, select_forward};
use crate::auth::token::Token;
use crate::catalog::cache::CatalogCache;
use crate::catalog::detail::Kind;
use crate::catalog::logos::FOLDER;
use crate::catalog::reader::Catalog;
use crate::connect::attempt::{Attempt, Remembered, Status};
use crate::connect::client::OauthClient;
use crate::connect::filled::Filled;
use crate::connect::method::Connector;
use crate::connect::statements;
use crate::credentials::minted::Purpose;
use crate::credentials::{Kind as Sealing, Place, Sealed};
use crate::http::config::Config;
use crate::http::message::{NO_STORE, Request, Response};
use crate::http::problem::Problem;
use crate::oauth::authorization::{Ask, authorization_url};
use crate::oauth::callback::read;
use crate::oauth::pkce::Verifier;
use crate::ports::{Db, Param, Ports, RateLimit, ResultSet, first_row};
use crate::storage::metering::Metered;
use crate::terms::Scope;
use crate::util::name_set::Names;
use crate::util::percent::encode;

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

/// What a token may do with which the window finishes an attempt.
pub(super) const IN_WINDOW: [Scope; 2] = [Scope::CatalogRead, Scope::ConnectionsConnect];

/// What answers to browsers need besides the request.
pub struct Desk<'a, P> {
    /// The operator's settings.
    pub config: &'a Config,
    /// What the isolate keeps of the catalog.
    pub catalog: &'a CatalogCache,
    /// What it keeps of where visits go on that began at a platform.
    pub starts: &'a Starts,
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
        if let Some(page) = self.refused(Purpose::Link, link).await? {
            return Ok(page.response());
        }
        self.arrive(&hash_of_link).await?;
        let sets = self.ports.batch(vec![
            statements::select_by_link(&hash_of_link),
            statements::select_client_of_attempt(&hash_of_link),
            select_forward(&hash_of_link),
        ]);
        let sets = sets.await?;
        stays(sets.get(2))?;
        let (attempt, client) = (first_row::<Attempt>(&sets, 0)?, first_row(&sets, 1)?);
        let attempt = match self.pending(attempt).await? {
            Ok(attempt) => attempt,
            Err(page) => return Ok(page.response()),
        };
        if attempt.is_in_window() {
            return self.to_window(&attempt);
        }
        if let Some(bound) = &attempt.browser_hash {
            let Some(cookie) = browser(request).filter(|cookie| hash(cookie) == *bound) else {
                return Ok(with_way_back(self.elsewhere(), &attempt).response());
            };
            return self.lead_on(request, &attempt, client, cookie).await;
        }
        let connector = self.connector(&attempt).await?;
        let name = connector.as_ref().map_or(&attempt.platform, |connector| &connector.name);
        let app = self.config.app_name.as_deref().unwrap_or("this app");
        let heading = format!("Connect {name} to {app}?");
        let what = format!(
            "This link connects an account at {name} to {app}, for the {} “{}”.",
            attempt.identity_type.as_str(),
            attempt.identity
        );
        let when = format!(
            "Did you start this in {app}, or did you ask its support or an AI assistant for this link? Then go on: {app} will be able to use your {name} account."
        );
        let otherwise = format!(
            "If you did not expect this link, close this page. Whoever sent it could use your {name} account through {app}."
        );
        let page = Page {
            button: Some((request.path.clone(), format!("Yes, go on to {name}"))),
            // Others' hosts would learn who connects what.
            platform_logo: connector
                .as_ref()
                .map(|connector| connector.image.clone())
                .filter(|image| image.starts_with(FOLDER) || image.starts_with("data:")),
            ..self.page(200, &heading, &[&what, &when, &otherwise])
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
        if let Some(page) = self.refused(Purpose::Link, link).await? {
            return Ok(page.response());
        }
        let keys = &self.config.vault_keys;
        let known = Browser::of_ours(request, keys).map(|browser| browser.secret.to_owned());
        let cookie = known.or_else(|| keys.mint(Purpose::Browser, self.ports));
        let cookie = cookie.ok_or_else(no_vault_keys)?;
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
        let attempt = match self.pending(attempt).await? {
            Ok(attempt) => attempt,
            Err(page) => return Ok(page.response()),
        };
        if attempt.is_in_window() {
            return self.to_window(&attempt);
        }
        if attempt.browser_hash.as_ref() != Some(&own) {
            return Ok(with_way_back(self.elsewhere(), &attempt).response());
        }
        self.lead_on(request, &attempt, client, &cookie).await
    }

    /// Leads to the window, which asks the user whose account this connects before it uses its code. The code is the same
    /// each time, so that only one browser can use it, and opens nothing but the attempt's platform, for its identity, until
    /// the attempt expires.
    fn to_window(&self, attempt: &Attempt) -> Result<Response, Problem> {
        let token = Token {
            environment: attempt.environment,
            shard: Shard::new(self.ports.number()).unwrap_or_default(),
            key_id: attempt.key_id.clone(),
            scopes: IN_WINDOW.into_iter().collect(),
            confinement: Confinement {
                identity: attempt.identity.clone(),
                identity_type: Some(attempt.identity_type),
                platforms: Some(Names::new(slice::from_ref(&attempt.platform))),
                connections: (attempt.reconnects == 1)
                    .then(|| Names::new(slice::from_ref(&attempt.connection_id))),
            },
            limits: Limits::default(),
            origins: None,
            expires_at: attempt.expires_at,
            grant: None,
        };
        let code = self.config.sessions.sign_code(&token, &attempt.id).ok_or_else(no_secret)?;
        let mut url = format!("/connect#code={code}&platform={}", encode(&attempt.platform));
        let connection = (attempt.reconnects == 1).then_some(&attempt.connection_id);
        for (name, value) in
            [("connection", connection), ("returnUrl", attempt.return_url.as_ref())]
        {
            if let Some(value) = value {
                url.extend(["&", name, "=", &encode(value)]);
            }
        }
        let mut response = Response::empty(303);
        response.add("location", url);
        response.add("cache-control", NO_STORE);
        response.add("referrer-policy", "no-referrer");
        Ok(response)
    }

    /// The page for a secret that this service did not make, without a look at the database. Returns `None` when the database
    /// must say what the secret is.
    ///
    /// # Errors
    /// `rate_limited` for a secret that comes too often, where a rate limit is set.
    pub(super) async fn refused(
        &self,
        purpose: Purpose,
        secret: &str,
    ) -> Result<Option<Page>, Problem> {
        if !self.config.vault_keys.has_minted(purpose, secret) {
            return Ok(Some(self.over()));
        }
        let allowed = self.ports.allow(&format!("connect {}", hash(secret))).await;
        let detail = "This address was opened too often. Wait, then open it again.";
        allowed
            .map(|()| None)
            .map_err(|wait| Problem { detail: detail.into(), ..Problem::too_often("link", wait) })
    }

    /// Ends the arrival of the account whose attempt has this hash, when another database has said that it is here.
    pub(super) async fn arrive(&self, hash: &str) -> Result<(), Problem> {
        if self.ports.was_forwarded() {
            self.ports.batch(arrive(&Param::text(hash)).into()).await?;
        }
        Ok(())
    }

    /// The connector of an attempt's platform. Returns `None` when the catalog no longer has it.
    pub(crate) async fn connector(&self, attempt: &Attempt) -> Result<Option<Connector>, Problem> {
        let catalog = Catalog::open(self.catalog, self.ports).await?;
        Ok(connector(&catalog, &attempt.platform).await?)
    }

    /// The attempt of a link while it is pending, or the page that says why the link leads nowhere any more.
    async fn pending(&self, attempt: Option<Attempt>) -> Result<Result<Attempt, Page>, Problem> {
        let Some(attempt) = attempt else { return Ok(Err(self.over())) };
        let status = attempt.status(self.now);
        if status == Status::Pending {
            return Ok(Ok(attempt));
        }
        let connector = self.connector(&attempt).await?;
        let name = connector.as_ref().map_or(&attempt.platform, |connector| &connector.name);
        let page = match status {
            Status::Succeeded => self.page(
                410,
                "This link has been used",
                &[&format!("{name} is connected. A link works once: there is nothing left to do here.")],
            ),
            Status::Failed { .. } => self.page(
                410,
                "This link has been used",
                &[
                    &format!("{name} was not connected with it. A link works once."),
                    "Go back to the app and start again, or ask whoever sent you the link for a new one.",
                ],
            ),
            Status::Expired | Status::Pending => self.expired(),
        };
        Ok(Err(with_way_back(page, &attempt)))
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
            None => with_way_back(self.changed(), attempt).response(),
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

    /// Where the platform asks the user, and the state that it is to bring back. Returns `None` when the catalog or the client
    /// no longer fit the attempt.
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
        let redirect_uri = filled.redirect_uri(redirect_uri(&request.origin));
        let url = authorization_url(
            &filled.oauth,
            endpoint,
            &Ask {
                client_id: &client.client_id,
                redirect_uri: &redirect_uri,
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
            app_logo: self.config.app_logo_url.clone(),
            app_url: self.config.app_url.clone(),
            status,
            ..Page::default()
        }
    }

    /// The link of no attempt, or of one that is forgotten.
    pub(super) fn over(&self) -> Page {
        self.page(
            410,
            "This link is no longer valid",
            &[
                "It is not complete, or too old.",
                "Go back to the app and start again, or ask whoever sent you the link for a new one.",
            ],
        )
    }

    /// The link of an attempt whose time is over.
    pub(super) fn expired(&self) -> Page {
        self.page(
            410,
            "This link has expired",
            &[
                "For your safety, a link works for 10 minutes. Nothing was connected.",
                "Go back to the app and start again, or ask whoever sent you the link for a new one.",
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

/// Adds the link that leads back to where the attempt began, if that is known.
pub(super) fn with_way_back(mut page: Page, attempt: &Attempt) -> Page {
    let url = way_back(attempt).filter(|url| !is_window(url));
    page.links.extend(url.map(|url| (url, "Go back to the app".to_owned())));
    page
}

/// Whether an address is that of the window, in which somebody began who has it as a popup. Without the page that opened it,
/// the window can't go on.
fn is_window(url: &str) -> bool {
    let path = url.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    path.is_some_and(|(_, path)| path.starts_with("connect?connect=") && path.contains("#began="))
}

/// Where the browser goes on to: the app's address with the attempt's id.
pub(super) fn way_back(attempt: &Attempt) -> Option<String> {
    let url = attempt.return_url.as_ref()?;
    let (before, fragment) =
        url.split_once('#').map_or((url.as_str(), None), |(a, b)| (a, Some(b)));
    let separator = if before.contains('?') { '&' } else { '?' };
    let fragment = fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
    Some(format!("{before}{separator}connect={}{fragment}", attempt.id))
}

/// Fails when the attempt is in another database, as the result of [`select_forward`] says.
pub(super) fn stays(forward: Option<&ResultSet>) -> Result<(), Problem> {
    match moved_to(forward)? {
        None => Ok(()),
        moved_to => Err(Problem { moved_to, ..Problem::unavailable("") }),
    }
}
