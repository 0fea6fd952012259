//! `/connect/go/{secret}`: the link of an attempt. It works in a chat, on another device and in a webview. The page asks whether
//! the user started the attempt, so that an attacker can't trick users into connecting their accounts by sending them a link.
//! The confirmation binds the attempt to that browser by a cookie (`bind` in `connect::statements::attempts`), and the
//! callback accepts no other browser (`claim`).

use std::slice;

use super::pages::Page;
use super::start_urls::StartUrlCache;
use super::{
    Browser, browser, connector, cookie_for, decrypt_error, is_from_own_page, missing_vault_keys,
    redirect_uri, set_cookie,
};
use crate::auth::Shard;
use crate::auth::authenticate::moved_to;
use crate::auth::caller::shard_of;
use crate::auth::endpoints::session::new::no_session_secret;
use crate::auth::key::hash;
use crate::auth::limits::Limits;
use crate::auth::restriction::TokenRestriction;
use crate::auth::statements::{complete_move, select_forward};
use crate::auth::token::Token;
use crate::catalog::cache::CatalogCache;
use crate::catalog::detail::Kind;
use crate::catalog::logos::LOGO_FOLDER;
use crate::catalog::reader::Catalog;
use crate::connect::attempt::{Attempt, AttemptSecrets, Status, code_parties};
use crate::connect::client::OauthClient;
use crate::connect::method::Connector;
use crate::connect::resolved_oauth::ResolvedOAuth;
use crate::connect::statements;
use crate::credentials::minted::Purpose;
use crate::credentials::{Kind as Sealing, SealContext, Sealed};
use crate::http::config::Config;
use crate::http::message::{CONNECT_CODE, Request, Response};
use crate::http::problem::Problem;
use crate::oauth::authorization::{AuthorizationRequest, authorization_url};
use crate::oauth::callback::read;
use crate::oauth::pkce::Verifier;
use crate::ports::{Db, Param, Ports, RateLimit, ResultSet, first_row};
use crate::storage::metering::Metered;
use crate::terms::{IdentityType, Scope};
use crate::texts::language::Language;
use crate::texts::{Text, Values, Wording, connect};
use crate::util::json;
use crate::util::name_set::Names;
use crate::util::percent::encode;

/// The shard of the attempt that a browser's request belongs to.
pub fn shard_of_browser(request: &Request) -> Option<Shard> {
    if matches!(request.path.as_str(), "/connect/token" | "/connect/app.json") {
        return request.header(CONNECT_CODE).map(shard_of);
    }
    if request.path == "/connect/callback" {
        return match read(&request.query).ok().and_then(|callback| callback.state) {
            Some(state) => Some(Shard::from_secret(&state)),
            None => Some(Browser::from_request(request)?.attempt()?.0),
        };
    }
    request.path.strip_prefix("/connect/go/").map(Shard::from_secret)
}

/// The scopes of the connect window's token, which completes an attempt.
pub(super) const WINDOW_SCOPES: [Scope; 2] = [Scope::CatalogRead, Scope::ConnectionsConnect];

/// The context of the endpoints that browsers use.
pub struct BrowserContext<'a, P> {
    pub config: &'a Config,
    pub catalog: &'a CatalogCache,
    pub starts: &'a StartUrlCache,
    pub ports: &'a Metered<'a, P>,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
    pub request_id: &'a str,
    /// The texts of the pages, in the language of the browser, or of the attempt once it is known.
    pub wording: Wording<'a>,
}

impl<P: Ports> BrowserContext<'_, P> {
    /// This context for the user of an attempt: with the branding of its account, in the language
    /// that the app has chosen.
    pub(super) fn for_user_of<'b>(&'b self, attempt: &'b Attempt) -> BrowserContext<'b, P> {
        let chosen = attempt.lang().map(|tag| Language::from_tag(&tag).unwrap_or_default());
        let language = chosen.unwrap_or(self.wording.language);
        let wording = Wording { language, ..self.wording.for_account(&attempt.branding) };
        BrowserContext { wording, ..*self }
    }

    /// Shows the page of a link. If the attempt is already bound to this browser, redirects to the
    /// platform immediately.
    pub async fn show_link(&self, request: &Request, link: &str) -> Result<Response, Problem> {
        let hash_of_link = hash(link);
        if let Some(page) = self.check_secret(Purpose::Link, link).await? {
            return Ok(page.response());
        }
        self.complete_move(&hash_of_link).await?;
        let sets = self.ports.batch(vec![
            statements::select_by_link(&hash_of_link, self.now),
            statements::select_client_of_attempt(&hash_of_link),
            select_forward(&hash_of_link),
        ]);
        let sets = sets.await?;
        ensure_not_moved(sets.get(2))?;
        let (attempt, client) = (first_row::<Attempt>(&sets, 0)?, first_row(&sets, 1)?);
        let attempt = match self.ensure_pending(attempt).await? {
            Ok(attempt) => attempt,
            Err(page) => return Ok(page.response()),
        };
        if attempt.is_in_window() {
            return self.redirect_to_window(&attempt);
        }
        let context = self.for_user_of(&attempt);
        if let Some(bound) = &attempt.browser_hash {
            let Some(cookie) = browser(request).filter(|cookie| hash(cookie) == *bound) else {
                return Ok(context
                    .with_return_link(context.other_browser_page(), &attempt)
                    .response());
            };
            return context.redirect_to_platform(request, &attempt, client, cookie).await;
        }
        let connector = self.connector(&attempt).await?;
        let name = connector.as_ref().map_or(&attempt.platform, |connector| &connector.name);
        let wording = &context.wording;
        let owner = wording.format_text(describe_owner(attempt.identity_type), &[]);
        let values =
            [("platform", name.as_str()), ("identity", &attempt.identity), ("owner", &owner)];
        let paragraphs = [&connect::LINK_WHAT, &connect::LINK_WHEN, &connect::LINK_OTHERWISE];
        let page = Page {
            button: Some((request.path.clone(), wording.format_text(&connect::LINK_YES, &values))),
            // Show only logos that this service hosts: another host would learn who connects to
            // which platform.
            platform_logo: connector
                .as_ref()
                .map(|connector| connector.image.clone())
                .filter(|image| image.starts_with(LOGO_FOLDER) || image.starts_with("data:")),
            ..context.page(200, &connect::LINK_TITLE, &paragraphs, &values)
        };
        Ok(page.response())
    }

    /// Handles the confirmation: binds the attempt to the browser, and redirects to the platform.
    pub async fn confirm_link(&self, request: &Request, link: &str) -> Result<Response, Problem> {
        // A form on another site must not confirm for the user.
        if !is_from_own_page(request) {
            return Ok(self.cross_site_page().response());
        }
        if let Some(page) = self.check_secret(Purpose::Link, link).await? {
            return Ok(page.response());
        }
        let keys = &self.config.vault_keys;
        let request_cookie =
            Browser::authenticated(request, keys).map(|browser| browser.secret.to_owned());
        let cookie = request_cookie.or_else(|| keys.mint(Purpose::Browser, self.ports));
        let cookie = cookie.ok_or_else(missing_vault_keys)?;
        let (hash_of_link, cookie_hash) = (hash(link), hash(&cookie));
        self.complete_move(&hash_of_link).await?;
        let sets = self.ports.batch(vec![
            statements::bind(&hash_of_link, &cookie_hash, self.now),
            statements::select_by_link(&hash_of_link, self.now),
            statements::select_client_of_attempt(&hash_of_link),
            select_forward(&hash_of_link),
        ]);
        let sets = sets.await?;
        ensure_not_moved(sets.get(3))?;
        let (attempt, client) = (first_row::<Attempt>(&sets, 1)?, first_row(&sets, 2)?);
        let attempt = match self.ensure_pending(attempt).await? {
            Ok(attempt) => attempt,
            Err(page) => return Ok(page.response()),
        };
        if attempt.is_in_window() {
            return self.redirect_to_window(&attempt);
        }
        let context = self.for_user_of(&attempt);
        if attempt.browser_hash.as_ref() != Some(&cookie_hash) {
            return Ok(context.with_return_link(context.other_browser_page(), &attempt).response());
        }
        context.redirect_to_platform(request, &attempt, client, &cookie).await
    }

    /// Redirects to the connect window, which asks the user to confirm the identity before it exchanges its code. The code is
    /// the same for each visit, so that only one browser can exchange it. Its token is restricted to the attempt's platform and
    /// identity, and expires with the attempt.
    fn redirect_to_window(&self, attempt: &Attempt) -> Result<Response, Problem> {
        let token = Token {
            environment: attempt.environment,
            shard: Shard::new(self.ports.number()).unwrap_or_default(),
            key_id: attempt.key_id.clone(),
            scopes: WINDOW_SCOPES.into_iter().collect(),
            restriction: TokenRestriction {
                identity: attempt.identity.clone(),
                identity_type: Some(attempt.identity_type),
                platforms: Some(Names::new(slice::from_ref(&attempt.platform))),
                connections: (attempt.reconnects == 1)
                    .then(|| Names::new(slice::from_ref(&attempt.connection_id))),
                client: Some(attempt.client.clone()),
            },
            limits: Limits::default(),
            presets: attempt.presets()?.into(),
            origins: None,
            expires_at: attempt.expires_at,
            grant: None,
        };
        self.window_url(attempt, &token).map(Response::see_other).ok_or_else(no_session_secret)
    }

    /// The connect window's URL, with a code that it exchanges for this token. Returns `None`
    /// without a signing secret.
    fn window_url(&self, attempt: &Attempt, token: &Token) -> Option<String> {
        let code = self.config.sessions.sign_code(token, &attempt.id)?;
        let mut url = format!("/connect#code={code}&platform={}", encode(&attempt.platform));
        let connection = (attempt.reconnects == 1).then_some(&attempt.connection_id);
        for (name, value) in [
            ("connection", connection),
            ("authMethod", Some(&attempt.auth_method)),
            ("returnUrl", attempt.return_url.as_ref()),
        ] {
            if let Some(value) = value {
                url.extend(["&", name, "=", &encode(value)]);
            }
        }
        Some(url)
    }

    /// The connect window's URL to repeat an attempt that started there, with the same token.
    /// Returns `None` when the token has expired. The URL is a secret of the attempt's browser, so
    /// no other page may contain it.
    pub(super) fn repeat_url(&self, attempt: &Attempt) -> Option<String> {
        let token = self.config.sessions.verify(&self.secrets(attempt).ok()??.window?)?;
        self.window_url(attempt, &token).filter(|_| self.now < token.expires_at)
    }

    /// Rejects a secret that this service did not generate, without a database query. Fails if the secret is used too often.
    pub(super) async fn check_secret(
        &self,
        purpose: Purpose,
        secret: &str,
    ) -> Result<Option<Page>, Problem> {
        if !self.config.vault_keys.has_minted(purpose, secret) {
            return Ok(Some(self.invalid_link_page()));
        }
        let allowed = self.ports.allow(&format!("connect {}", hash(secret))).await;
        let detail = "This link was opened too often. Wait, then open it again.";
        allowed.map(|()| None).map_err(|wait| Problem {
            detail: detail.into(),
            ..Problem::rate_limited("link", wait)
        })
    }

    /// Completes an interrupted move of the attempt's account, if another shard forwarded the request.
    pub(super) async fn complete_move(&self, hash: &str) -> Result<(), Problem> {
        if self.ports.was_forwarded() {
            self.ports.batch(complete_move(&Param::text(hash)).into()).await?;
        }
        Ok(())
    }

    /// The attempt's connector. Returns `None` if the catalog no longer has the platform.
    pub(crate) async fn connector(&self, attempt: &Attempt) -> Result<Option<Connector>, Problem> {
        let catalog = Catalog::open(self.catalog, self.ports).await?;
        Ok(connector(&catalog, &attempt.platform).await?)
    }

    /// Returns the attempt if it is pending, otherwise a page that explains why the link no longer
    /// works.
    async fn ensure_pending(
        &self,
        attempt: Option<Attempt>,
    ) -> Result<Result<Attempt, Page>, Problem> {
        let Some(attempt) = attempt else { return Ok(Err(self.invalid_link_page())) };
        let status = attempt.status(self.now);
        if status == Status::Pending {
            return Ok(Ok(attempt));
        }
        let connector = self.connector(&attempt).await?;
        let name = connector.as_ref().map_or(&attempt.platform, |connector| &connector.name);
        let (context, values) = (self.for_user_of(&attempt), [("platform", name.as_str())]);
        let page = match status {
            Status::Succeeded => {
                let paragraphs = [&connect::LINK_USED_CONNECTED];
                context.page(410, &connect::LINK_USED, &paragraphs, &values)
            }
            Status::Failed { .. } => {
                let paragraphs = [&connect::LINK_USED_NOT_CONNECTED, &connect::START_AGAIN_OR_ASK];
                context.page(410, &connect::LINK_USED, &paragraphs, &values)
            }
            Status::Expired | Status::Pending => context.link_expired_page(),
        };
        Ok(Err(context.with_return_link(page, &attempt)))
    }

    /// Decrypts the secrets of an attempt.
    pub(super) fn secrets(&self, attempt: &Attempt) -> Result<Option<AttemptSecrets>, Problem> {
        let Some(sealed) = &attempt.sealed else { return Ok(None) };
        let seal_context = SealContext {
            account: &attempt.account,
            environment: attempt.environment,
            kind: Sealing::Attempt,
            id: &attempt.id,
        };
        let plain = self
            .config
            .vault_keys
            .open(&seal_context, &Sealed::from(sealed.clone()))
            .map_err(decrypt_error)?;
        Ok(json::from_bytes(&plain).ok())
    }

    /// Resolves the URLs for the redirect to the platform. Returns `None` if the catalog or the OAuth client no longer match
    /// the attempt.
    fn resolve(
        &self,
        connector: &Connector,
        attempt: &Attempt,
        secrets: &AttemptSecrets,
        client: &OauthClient,
    ) -> Option<ResolvedOAuth> {
        let method = connector.find_method(&attempt.auth_method)?;
        let Kind::OAuth2(oauth) = &method.kind else { return None };
        if secrets.parties != code_parties(oauth, client) {
            return None;
        }
        let value = |name: &str| secrets.fields.get(name).map(String::as_str);
        ResolvedOAuth::before_sign_in(oauth, self.config.targets(), &value).ok()
    }

    /// Redirects to the platform. Shows a page if the catalog or the OAuth client no longer match the attempt. The cookie is
    /// set again, so that it does not expire while the user is at the platform.
    async fn redirect_to_platform(
        &self,
        request: &Request,
        attempt: &Attempt,
        client: Option<OauthClient>,
        cookie: &str,
    ) -> Result<Response, Problem> {
        let mut cookie = cookie.to_owned();
        let mut response = match self.platform_url(request, attempt, client).await? {
            None => self.with_return_link(self.config_changed_page(), attempt).response(),
            Some((url, state)) => {
                let shard = Shard::new(self.ports.number()).unwrap_or_default();
                cookie = cookie_for(&cookie, shard, &state);
                Response::see_other(url)
            }
        };
        response.add("set-cookie", set_cookie(&cookie));
        Ok(response)
    }

    /// The authorization URL and its state. Returns `None` if the catalog or the OAuth client no longer match the attempt.
    async fn platform_url(
        &self,
        request: &Request,
        attempt: &Attempt,
        client: Option<OauthClient>,
    ) -> Result<Option<(String, String)>, Problem> {
        let (connector, secrets) = (self.connector(attempt).await?, self.secrets(attempt)?);
        let client = client.filter(|client| client.is_for(&attempt.auth_method));
        let (Some(connector), Some(secrets), Some(client)) = (connector, secrets, client) else {
            return Ok(None);
        };
        let Some(resolved) = self.resolve(&connector, attempt, &secrets, &client) else {
            return Ok(None);
        };
        let Some(endpoint) = &resolved.authorization_url else { return Ok(None) };
        let scopes = attempt.scopes();
        let verifier = secrets.verifier.and_then(Verifier::parse);
        let challenge = verifier.as_ref().map(Verifier::challenge);
        let redirect_uri = resolved.redirect_uri(redirect_uri(&request.origin));
        let url = authorization_url(
            &resolved.oauth,
            endpoint,
            &AuthorizationRequest {
                client_id: &client.client_id,
                redirect_uri: &redirect_uri,
                scopes: &scopes,
                state: &secrets.state,
                challenge: challenge.as_deref(),
                parameters: &client.authorization_parameters(),
            },
        );
        Ok(Some((url, secrets.state)))
    }

    /// A page with texts in the user's language.
    pub(super) fn page(
        &self,
        status: u16,
        heading: &Text,
        paragraphs: &[&Text],
        values: Values<'_>,
    ) -> Page {
        Page {
            app_url: self.wording.appearance.url.map(str::to_owned),
            ..Page::new(&self.wording, status, heading, paragraphs, values)
        }
    }

    /// The page for a link that belongs to no attempt.
    pub(super) fn invalid_link_page(&self) -> Page {
        let paragraphs = [&connect::LINK_INVALID_WHY, &connect::START_AGAIN_OR_ASK];
        self.page(410, &connect::LINK_INVALID, &paragraphs, &[])
    }

    pub(super) fn link_expired_page(&self) -> Page {
        let paragraphs = [&connect::LINK_EXPIRED_WHY, &connect::START_AGAIN_OR_ASK];
        self.page(410, &connect::LINK_EXPIRED, &paragraphs, &[])
    }

    pub(super) fn other_browser_page(&self) -> Page {
        let paragraphs = [&connect::OTHER_BROWSER_WHY, &connect::OTHER_BROWSER_NEXT];
        self.page(403, &connect::OTHER_BROWSER, &paragraphs, &[])
    }

    fn cross_site_page(&self) -> Page {
        self.page(403, &connect::CROSS_SITE, &[&connect::CROSS_SITE_WHY], &[])
    }

    fn config_changed_page(&self) -> Page {
        let paragraphs = [&connect::CONFIG_CHANGED_WHY, &connect::CONFIG_CHANGED_NEXT];
        self.page(409, &connect::CONFIG_CHANGED, &paragraphs, &[])
    }

    /// Adds the link back to the app, if the attempt has a return URL.
    pub(super) fn with_return_link(&self, mut page: Page, attempt: &Attempt) -> Page {
        let url = final_return_url(attempt).filter(|url| !is_window(url));
        page.links.extend(
            url.map(|url| (url, self.wording.format_text(&connect::GO_BACK_TO_THE_APP, &[]))),
        );
        page
    }
}

/// Describes the owner of a connection in a sentence.
const fn describe_owner(identity_type: IdentityType) -> &'static Text {
    match identity_type {
        IdentityType::User => &connect::USER,
        IdentityType::Team => &connect::TEAM,
        IdentityType::Organization => &connect::ORGANIZATION,
        IdentityType::Project => &connect::PROJECT,
    }
}

/// Whether a URL is the connect window in a popup, which does not work without the page that opened
/// it.
fn is_window(url: &str) -> bool {
    let path = url.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    path.is_some_and(|(_, path)| path.starts_with("connect?connect=") && path.contains("#began="))
}

/// The app's return URL, with the attempt's id.
pub(super) fn final_return_url(attempt: &Attempt) -> Option<String> {
    let url = attempt.return_url.as_ref()?;
    let (before, fragment) =
        url.split_once('#').map_or((url.as_str(), None), |(a, b)| (a, Some(b)));
    let separator = if before.contains('?') { '&' } else { '?' };
    let fragment = fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
    Some(format!("{before}{separator}connect={}{fragment}", attempt.id))
}

/// Fails if the attempt is stored in another shard. `forward` is the result of [`select_forward`].
pub(super) fn ensure_not_moved(forward: Option<&ResultSet>) -> Result<(), Problem> {
    match moved_to(forward)? {
        None => Ok(()),
        moved_to => Err(Problem { moved_to, ..Problem::unavailable("") }),
    }
}
