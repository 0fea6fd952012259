//! `/sign-in/{signInId}`: signs a person in, and exchanges the resulting code for a token.

use serde_json::{Map, Value, json};

use super::{COOKIE, ConsoleContext};
use crate::audit::statements::person_actor;
use crate::auth::Shard;
use crate::auth::endpoints::session::new::no_session_secret;
use crate::auth::error::AuthenticationError;
use crate::auth::key::hash;
use crate::connect::endpoints::{decrypt_error, is_from_own_page};
use crate::console::request::ConsoleRequest;
use crate::console::session::Session;
use crate::console::sign_in::{DEFAULT_SCOPES, SignIn, SignInType, address, redirect_uri};
use crate::console::statements::{self, NewSession, has_claimed};
use crate::http::body::{BodyReader, Field, FieldCheck};
use crate::http::form::Form;
use crate::http::message::{MAX_BODY, NO_STORE, Request, Response};
use crate::http::problem::Problem;
use crate::oidc::id_token::ExpectedClaims;
use crate::oidc::provider::{AuthorizationRequest, Credentials};
use crate::oidc::relying_party::{CallbackParameters, Registration};
use crate::oidc::{browser_cookie, challenge, is_secret, verifier_and_nonce};
use crate::ports::{Db as _, Ports, Random as _, first_row};
use crate::util::json;
use crate::util::rfc3339::rfc3339;

/// The request header with which Cloudflare Access passes the signed identity.
pub const ACCESS_HEADER: &str = "cf-access-jwt-assertion";

/// The rate-limit key for requests that have not started a sign-in. Anyone who knows the URL can
/// send them. Browsers that have started a sign-in have their own keys, so that such requests can't
/// lock them out.
const PAGE_RATE_KEY: &str = "page";

/// The body of a request that exchanges a code.
const EXCHANGE_FIELDS: [Field; 1] =
    [Field::required("code", FieldCheck::Text(|_| None), "The code of the sign-in.")];

impl<P: Ports> ConsoleContext<'_, P> {
    /// Asks the person to confirm the sign-in to the account. Links from pages of this host must
    /// also be confirmed, because the consent page of agents and the end of a connect attempt
    /// redirect to URLs that strangers can choose.
    pub(super) async fn show(&self, request: &Request) -> Result<Response, Problem> {
        if request.origin != self.base {
            // The browser's cookie must belong to the host to which the provider redirects.
            return Ok(Response::see_other(address(self.base, self.id)));
        }
        Ok(match self.sign_in(PAGE_RATE_KEY).await? {
            Ok(sign_in) => self.start_page(&sign_in),
            Err(page) => page.response(),
        })
    }

    /// Handles the confirmation of the page from [`Self::show`].
    pub(super) async fn start(&self, request: &Request) -> Result<Response, Problem> {
        match self.sign_in(PAGE_RATE_KEY).await? {
            Err(page) => Ok(page.response()),
            Ok(sign_in) if !is_from_own_page(request) => Ok(self.start_page(&sign_in)),
            Ok(sign_in) => self.redirect(&sign_in, request).await,
        }
    }

    /// Starts this browser's sign-in.
    async fn redirect(&self, sign_in: &SignIn, request: &Request) -> Result<Response, Problem> {
        let known = browser_cookie(request, COOKIE).map(str::to_owned);
        let cookie = known.unwrap_or_else(|| self.ports.secret());
        let mut response = match sign_in.r#type {
            SignInType::Oidc => self.redirect_to_provider(sign_in, &cookie).await?,
            SignInType::Access => self.sign_in_with_access(sign_in, request, &cookie).await?,
        };
        response.add(
            "set-cookie",
            format!("{COOKIE}={cookie}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=3600"),
        );
        Ok(response)
    }

    async fn redirect_to_provider(
        &self,
        sign_in: &SignIn,
        cookie: &str,
    ) -> Result<Response, Problem> {
        let provider = match self.relying_party().provider(&sign_in.issuer).await {
            Ok(provider) => provider,
            Err(why) => return Ok(self.unavailable_page(sign_in, &why)),
        };
        let request = ConsoleRequest {
            sign_in: self.id.to_owned(),
            id: self.ports.uuid(),
            browser_hash: hash(cookie),
            configured_at: sign_in.updated_at,
            created_at: self.now,
        };
        let state = request.sign(&self.service.config().sessions).ok_or_else(no_session_secret)?;
        let [verifier, nonce] = verifier_and_nonce(cookie, &state);
        Ok(Response::see_other(provider.authorization_url(&AuthorizationRequest {
            client_id: &sign_in.client_id,
            redirect_uri: &redirect_uri(self.base, self.id),
            scope: sign_in.scopes.as_deref().unwrap_or(DEFAULT_SCOPES),
            state: &state,
            nonce: &nonce,
            challenge: &challenge(&verifier).unwrap_or_default(),
        })))
    }

    /// Signs in a person whom Cloudflare Access has authenticated.
    async fn sign_in_with_access(
        &self,
        sign_in: &SignIn,
        request: &Request,
        cookie: &str,
    ) -> Result<Response, Problem> {
        let Some(token) = request.header(ACCESS_HEADER) else {
            return Ok(self.not_behind_access_page(sign_in).response());
        };
        let expected = ExpectedClaims {
            issuer: &sign_in.issuer,
            client_id: &sign_in.client_id,
            nonce: None,
            now: self.now,
        };
        let url = sign_in.access_keys();
        match self.relying_party().validate(&url, token, expected).await {
            Ok(claims) => self.finish(sign_in, &claims, cookie, self.ports.uuid()).await,
            Err(why) => {
                let page = self.not_behind_access_page(sign_in).response();
                let log = Some(format!("sign-in to the console: {why}"));
                Ok(Response { log, ..page })
            }
        }
    }

    /// Handles the redirect from the OpenID provider:
    ///
    /// 1. Verify the console's request, which the provider returns as `state`, and its cookie.
    /// 2. Exchange the provider's code.
    /// 3. Validate the ID token, which must belong to this sign-in.
    /// 4. Insert the session, and redirect to the console with a code.
    pub(super) async fn callback(&self, request: &Request) -> Result<Response, Problem> {
        if request.method == "HEAD" {
            // Link scanners send `HEAD` requests, which must not use up the sign-in.
            let mut response = Response::empty(200);
            response.add("cache-control", NO_STORE);
            return Ok(response);
        }
        let query = Form::parse(&request.query, &[]).unwrap_or_default();
        let state = query.get("state").unwrap_or_default();
        let cookie = browser_cookie(request, COOKIE).unwrap_or_default();
        let secrets = &self.service.config().sessions;
        let started = ConsoleRequest::verify(secrets, state, self.now)
            .filter(|request| request.sign_in == self.id && request.browser_hash == hash(cookie));
        let Some(started) = started else { return Ok(self.expired_page().response()) };
        let is_current = |sign_in: &SignIn| {
            sign_in.r#type == SignInType::Oidc && sign_in.updated_at == started.configured_at
        };
        let sign_in = match self.sign_in(&hash(cookie)).await? {
            Ok(sign_in) if is_current(&sign_in) => sign_in,
            Ok(_) => return Ok(self.expired_page().response()),
            Err(page) => return Ok(page.response()),
        };
        let Some(code) = query.get("code") else {
            return Ok(self.denied_page(&sign_in).response());
        };
        let secret = sign_in.secret(&self.service.config().vault_keys).map_err(decrypt_error)?;
        let uri = redirect_uri(self.base, self.id);
        let registration = Registration {
            issuer: &sign_in.issuer,
            client: Credentials { id: &sign_in.client_id, secret: secret.as_deref() },
            redirect_uri: &uri,
        };
        let parameters = CallbackParameters { code, iss: query.get("iss") };
        let [verifier, nonce] = verifier_and_nonce(cookie, state);
        let relying_party = self.relying_party();
        match relying_party.claims(&registration, parameters, [&verifier, &nonce], "sub").await {
            Ok(claims) => self.finish(&sign_in, &claims, cookie, started.id).await,
            Err(why) => Ok(self.unavailable_page(&sign_in, &why)),
        }
    }

    /// Creates a session for a person whom the provider has authenticated. `id` is the id of the
    /// console's request, so that a repeated callback does not create a second session.
    async fn finish(
        &self,
        sign_in: &SignIn,
        claims: &Map<String, Value>,
        cookie: &str,
        id: String,
    ) -> Result<Response, Problem> {
        let person = match sign_in.person(claims) {
            Ok(person) => person,
            Err(why) => return Ok(self.unavailable_page(sign_in, &why)),
        };
        let scopes = sign_in.granted_scopes(claims);
        if scopes.iter().next().is_none() {
            return Ok(self.no_role_page(sign_in, person).response());
        }
        let code = self.ports.secret();
        let code_hash = hash(&code);
        let new = NewSession {
            id: &id,
            sign_in: self.id,
            updated_at: sign_in.updated_at,
            person,
            scopes,
            browser_hash: &hash(cookie),
            code_hash: &code_hash,
            now: self.now,
        };
        self.ports.set_actor(person_actor(person, &sign_in.key_id, self.now, self.request_id));
        let sets = self.batch(vec![
            new.insert(),
            statements::prune(self.now),
            statements::select_session(self.id, &id),
        ]);
        let session = first_row::<Session>(&sets.await?, 2)?;
        if session.is_none_or(|session| session.code_hash != Some(code_hash)) {
            return Ok(self.expired_page().response());
        }
        // The fragment is never sent to a server, and the console immediately removes it from the
        // URL.
        Ok(Response::see_other(format!("{}/#sign-in={}.{id}.{code}", self.base, self.id)))
    }

    /// `POST /sign-in/{signInId}/token`: exchanges the console's code for a token, once.
    pub(super) async fn exchange(&self, request: &Request) -> Result<Response, Problem> {
        let refused = || Problem::from(AuthenticationError::BadToken);
        let cookie = browser_cookie(request, COOKIE).filter(|_| is_from_own_page(request));
        let mut body = BodyReader::new(request, &EXCHANGE_FIELDS, MAX_BODY)?;
        body.finish()?;
        let sent = body.text("code").unwrap_or_default();
        let (Some((id, code)), Some(cookie)) = (sent.split_once('.'), cookie) else {
            return Err(refused());
        };
        if !is_secret(code) || !is_secret(self.id) {
            return Err(refused());
        }
        self.check_rate(&hash(cookie)).await?;
        let hashes = (hash(code), hash(cookie));
        let batch =
            statements::exchange(self.id, (id, &hashes.0), &hashes.1, self.request_id, self.now);
        let sets = self.batch(batch.into()).await?;
        let session: Option<Session> = first_row(&sets, 1)?;
        let session = session.filter(|session| has_claimed(session, self.request_id));
        let session = session.ok_or_else(refused)?;
        let token = session.token(Shard::new(self.ports.number()).unwrap_or_default());
        let secrets = &self.service.config().sessions;
        let document = json!({
            "token": secrets.sign_console(&token).ok_or_else(no_session_secret)?,
            "expiresAt": rfc3339(session.expires_at),
        });
        Ok(Response::json(json::bytes(&document), NO_STORE))
    }
}
