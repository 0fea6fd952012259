//! `GET /connect/callback`: the platform redirects the user back.

use std::collections::BTreeMap;

use super::failure::{
    AttemptFailure, account_mismatch, authorization_failure, can_repeat, exchange_failure,
    missing_platform_value, platform_error_suffix, unexpected_account, write_failure,
};
use super::link::{BrowserContext, ensure_not_moved};
use super::previous_credentials::PreviousCredentials;
use super::revoke::revoke_unused;
use super::store::{ConnectedAccount, StoreOutcome, StoreTarget, end, store};
use super::{Browser, decrypt_error, platform, redirect_uri};
use crate::audit::statements::person_actor;
use crate::auth::key::hash;
use crate::auth::statements::select_forward;
use crate::catalog::detail::{AuthMethod, OAuth2, SourceKind};
use crate::connect::attempt::{Attempt, AttemptErrorCode, AttemptSecrets, code_parties};
use crate::connect::client::OauthClient;
use crate::connect::method::Connector;
use crate::connect::resolved_oauth::{ResolvedOAuth, apply_platform_values};
use crate::connect::statements;
use crate::connections::draft::NewConnection;
use crate::credentials::lifecycle::machine;
use crate::credentials::minted::Purpose;
use crate::credentials::model::Credentials;
use crate::http::message::{Body, NO_STORE, Request, Response};
use crate::http::problem::Problem;
use crate::oauth::callback::{Callback, Outcome, check_issuer, read};
use crate::oauth::pkce::Verifier;
use crate::oauth::token::{REDIRECT_URI, REDIRECT_URI_MEMBER, TokenEndpoint};
use crate::oauth::{Client, TokenError, Tokens};
use crate::ports::{Clock, Db, Ports, all_rows, first_row};
use crate::targets::Targets;
use crate::targets::fill::{FillError, extract_field};
use crate::util::percent::decode_form;

/// An attempt after the user has granted access at the platform.
#[derive(Clone, Copy)]
struct GrantedAttempt<'a> {
    attempt: &'a Attempt,
    connector: &'a Connector,
    method: &'a AuthMethod,
    oauth: &'a OAuth2,
    client: &'a OauthClient,
    resolved: &'a ResolvedOAuth,
}

impl<P: Ports> BrowserContext<'_, P> {
    /// Handles the redirect from a platform:
    ///
    /// 1. Parse the query. Queries that no authorization server sends are refused.
    /// 2. Claim the attempt by its state: once, before it expires, and only from the bound browser.
    /// 3. Check the issuer and the outcome.
    /// 4. Exchange the code, once.
    /// 5. If the attempt reconnects: check that it is the same account at the platform.
    /// 6. Write the connection, its credentials and the end of the attempt in one transaction.
    ///
    /// From step 3 on, the attempt always ends, and the page shows the result.
    pub async fn callback(&self, request: &Request) -> Result<Response, Problem> {
        // 1. Parse the query.
        let Ok(callback) = read(&request.query) else {
            return Ok(self.invalid_callback_page().response());
        };

        // `HEAD`, which link scanners send, must not consume the attempt.
        if request.method == "HEAD" {
            let mut response = Response::empty(200);
            response.add("cache-control", NO_STORE);
            return Ok(response);
        }

        // 2. Claim the attempt.
        let sender = Browser::from_request(request);
        let sender_hash = sender.map(|browser| hash(browser.secret));
        let state = match &callback.state {
            Some(state) => match self.check_secret(Purpose::State, state).await? {
                Some(page) => return Ok(page.response()),
                None => hash(state),
            },
            // Some platforms omit the state from a refusal. A code without a state is never
            // accepted, because it may belong to another person's account.
            None => match self.last_attempt_state(request).filter(|_| callback.error.is_some()) {
                Some(state) => state,
                None => return self.unsolicited_callback_page().await,
            },
        };
        let browser_hash = sender_hash.as_deref().unwrap_or_default();
        self.complete_move(&state).await?;
        if callback.outcome("code").is_none() && !self.has_platform_code(&state, &callback).await? {
            return Ok(self.invalid_callback_page().response());
        }
        let sets = self.ports.batch(vec![
            statements::claim(&state, browser_hash, self.request_id, self.now),
            statements::select_by_state(&state),
            statements::select_client_of_attempt(&state),
            statements::select_previous_credentials(&state),
            select_forward(&state),
        ]);
        let sets = sets.await?;
        ensure_not_moved(sets.get(4))?;
        let Some(attempt) = first_row::<Attempt>(&sets, 1)? else {
            return Ok(self.invalid_link_page().response());
        };
        let pages = self.for_user_of(&attempt);
        if attempt.browser_hash.is_none() || attempt.browser_hash != sender_hash {
            return Ok(pages.with_return_link(pages.other_browser_page(), &attempt).response());
        }
        let connector = self.connector(&attempt).await?;
        let name =
            connector.as_ref().map_or(&attempt.platform, |connector| &connector.name).clone();
        if attempt.claimed_by.as_deref() != Some(self.request_id) {
            return Ok(pages.repeated_callback_page(request, &attempt, &name));
        }

        // 3. to 6. Check the outcome, exchange the code, store the connection.
        let (identity, key) = (&attempt.identity, &attempt.key_id);
        self.ports.set_actor(person_actor(identity, key, self.now, self.request_id));
        let (client, previous) =
            (first_row::<OauthClient>(&sets, 2)?, first_row::<PreviousCredentials>(&sets, 3)?);
        let failure = match connector {
            None => AttemptFailure::new(
                AttemptErrorCode::Changed,
                "The catalog no longer has this platform.",
            ),
            Some(connector) => {
                let finish =
                    self.finish(request, &attempt, &callback, &connector, client, previous);
                match finish.await? {
                    Ok(()) => return Ok(pages.succeeded_page(request, &attempt, &name)),
                    Err(failure) => failure,
                }
            }
        };
        let code = failure.code.as_str();
        end(self.ports, &attempt.id, self.request_id, code, &failure.detail).await?;
        let retry_url = self.repeat_url(&attempt).filter(|_| can_repeat(failure.code));
        Ok(pages.failed_page(request, &attempt, (&name, retry_url), &failure))
    }

    /// The hash of the state of this browser's last attempt, from its cookie.
    fn last_attempt_state(&self, request: &Request) -> Option<String> {
        let browser = Browser::authenticated(request, &self.config.vault_keys)?;
        browser.attempt().map(|(_, state)| state.to_owned())
    }

    /// Whether the query has a code under the name that the attempt's platform uses for it.
    async fn has_platform_code(&self, state: &str, callback: &Callback) -> Result<bool, Problem> {
        let select = vec![statements::select_by_state(state), select_forward(state)];
        let sets = self.ports.batch(select).await?;
        ensure_not_moved(sets.get(1))?;
        let Some(attempt) = first_row::<Attempt>(&sets, 0)? else { return Ok(false) };
        let connector = self.connector(&attempt).await?;
        let method =
            connector.as_ref().and_then(|connector| connector.find_method(&attempt.auth_method));
        let name = method.and_then(AuthMethod::oauth2).map(|oauth| &oauth.code_parameter);
        Ok(name.is_some_and(|name| callback.outcome(name).is_some()))
    }

    /// `POST /connect/callback`: for platforms that send a form (`form_post`). Redirects to the
    /// `GET` endpoint, because browsers do not send the cookie with a cross-site `POST`.
    pub fn callback_form(&self, request: &Request) -> Response {
        let Body::Whole(body) = &request.body else {
            return self.invalid_callback_page().response();
        };
        // A form is visible ASCII (URL Standard, section 5.2), so it is safe in `Location`.
        let is_form = |text: &&str| text.bytes().all(|byte| byte.is_ascii_graphic());
        let text = std::str::from_utf8(body).ok().filter(is_form);
        let text = text.filter(|text| read(text).is_ok());
        let Some(text) = text else { return self.invalid_callback_page().response() };
        // Drop tokens, which were not requested and must not become part of a URL.
        let is_allowed = |pair: &&str| {
            let name = pair.split('=').next().and_then(decode_form).unwrap_or_default();
            !matches!(name.as_ref(), "id_token" | "access_token" | "refresh_token")
        };
        let pairs: Vec<&str> = text.split('&').filter(is_allowed).collect();
        Response::see_other(format!("{}?{}", redirect_uri(&request.origin), pairs.join("&")))
    }

    /// Exchanges the code and stores the connection: steps 3 to 6 of [`Self::callback`].
    async fn finish(
        &self,
        request: &Request,
        attempt: &Attempt,
        callback: &Callback,
        connector: &Connector,
        client: Option<OauthClient>,
        previous: Option<PreviousCredentials>,
    ) -> Result<Result<(), AttemptFailure>, Problem> {
        let changed = || {
            let detail =
                "The app's settings for this platform have changed since you started. Start again.";
            Ok(Err(AttemptFailure::new(AttemptErrorCode::Changed, detail)))
        };
        let client = client.filter(|client| client.is_for(&attempt.auth_method));
        let (Some(client), Some(mut secrets)) = (client, self.secrets(attempt)?) else {
            return changed();
        };
        let method = connector.find_method(&attempt.auth_method);
        let Some((method, oauth)) = method.and_then(|method| Some((method, method.oauth2()?)))
        else {
            return changed();
        };
        if secrets.parties != code_parties(oauth, &client) {
            return changed();
        }
        // Some platforms return a company (`QuickBooks`' `realmId`) or a server in the redirect.
        let oauth_method = (method, oauth, connector.servers.as_slice());
        let (variables, values) = (client.variables(), callback_values(callback, method, oauth));
        apply_platform_values(&mut secrets.fields, oauth_method, &variables, values, self.ports);
        if attempt.presets()?.conflicts_with(&secrets.fields) {
            return Ok(Err(unexpected_account(&connector.name)));
        }
        let resolved = match resolve(oauth, self.config.targets(), &secrets, callback) {
            Ok(resolved) => resolved,
            // The token URL needs this value.
            Err(FillError::Missing(name)) if oauth.provides_field(&name) => {
                return Ok(Err(missing_platform_value(&connector.name)));
            }
            Err(_) => return changed(),
        };

        // 3. Check the issuer and the outcome.
        let code = match code(callback, &resolved, connector) {
            Ok(code) => code,
            Err(failure) => return Ok(Err(failure)),
        };

        // 4. Exchange the code.
        let oauth_client = client.open(&self.config.vault_keys).map_err(decrypt_error)?;
        let AttemptSecrets { fields, verifier, .. } = secrets;
        let redirect_uri = resolved.redirect_uri(redirect_uri(&request.origin));
        let exchange = (code, redirect_uri.as_str(), callback);
        let tokens = match self.exchange_code(&resolved, oauth_client, exchange, verifier).await {
            Ok(tokens) => tokens,
            Err(error) => return Ok(Err(exchange_failure(&connector.name, &error))),
        };
        let (client, resolved) = (&client, &resolved);
        let granted_attempt =
            GrantedAttempt { attempt, connector, method, oauth, client, resolved };
        self.store_tokens(granted_attempt, tokens, fields, previous).await
    }

    /// Checks the account and stores the connection: steps 5 and 6 of [`Self::callback`].
    async fn store_tokens(
        &self,
        granted_attempt: GrantedAttempt<'_>,
        tokens: Tokens,
        mut fields: BTreeMap<String, String>,
        previous: Option<PreviousCredentials>,
    ) -> Result<Result<(), AttemptFailure>, Problem> {
        let GrantedAttempt { attempt, connector, method, oauth, client, .. } = granted_attempt;
        let (expires_at, granted) = (tokens.expires_at, tokens.scopes.clone());
        let oauth_method = (method, oauth, connector.servers.as_slice());
        let values = tokens.field_values.clone();
        apply_platform_values(&mut fields, oauth_method, &client.variables(), values, self.ports);
        let mut credentials = Credentials::from_tokens(tokens, fields);

        // 5. Check the account.
        let failure =
            self.check_account(granted_attempt, previous.as_ref(), &mut credentials).await?;
        if let Some(failure) = failure {
            self.revoke_unused_tokens(granted_attempt, &credentials).await?;
            return Ok(Err(failure));
        }
        let tenant = (attempt.account.as_str(), attempt.environment);
        let keys = &self.config.vault_keys;
        let previous_refresh_token = previous.and_then(|previous| {
            previous.refresh_token(keys, tenant, (&method.id, &client.name), &credentials)
        });
        credentials.keep_refresh_token(previous_refresh_token);

        // 6. Store the connection and its credentials.
        let outcome =
            self.write(attempt, method, &credentials, expires_at, granted.as_deref()).await?;
        if !matches!(outcome, StoreOutcome::Done(_)) {
            self.revoke_unused_tokens(granted_attempt, &credentials).await?;
        }
        Ok(match outcome {
            StoreOutcome::Done(_) => Ok(()),
            StoreOutcome::KeyTaken(_) => Err(AttemptFailure::new(
                AttemptErrorCode::ConnectionExists,
                "This account was connected in the meantime, perhaps in another tab.",
            )),
            StoreOutcome::NothingWritten => Err(write_failure(attempt)),
        })
    }

    /// Looks up values and identifies the account. Returns the failure if it can't be used.
    async fn check_account(
        &self,
        granted_attempt: GrantedAttempt<'_>,
        previous: Option<&PreviousCredentials>,
        credentials: &mut Credentials,
    ) -> Result<Option<AttemptFailure>, Problem> {
        let GrantedAttempt { attempt, connector, method, client, .. } = granted_attempt;
        let (ports, config, name) = (self.ports, self.config, &connector.name);
        let connected_by = (connector, method);
        let lookup =
            platform::look_up(ports, config, connected_by, Some(client), credentials).await;
        if let Err(detail) = lookup {
            return Ok(Some(AttemptFailure::new(AttemptErrorCode::InvalidResponse, detail)));
        }
        platform::fetch_account(ports, config, connected_by, Some(client), credentials).await;
        let tenant = (attempt.account.as_str(), attempt.environment);
        let is_different_account = previous.is_some_and(|previous| {
            previous.is_different_account_or_site(&config.vault_keys, tenant, (method, credentials))
        });
        Ok(if attempt.presets()?.conflicts_with(&credentials.fields) {
            Some(unexpected_account(name))
        } else if attempt.allow_other_account == 0 && is_different_account {
            let account = previous.and_then(|previous| {
                previous.quoted_account(&config.vault_keys, tenant, config.account_names)
            });
            Some(account_mismatch(name, account.as_deref()))
        } else if platform::is_reachable(connector, method, config.targets(), credentials) {
            None
        } else {
            Some(missing_platform_value(name))
        })
    }

    /// Writes the connection, its credentials and the end of the attempt.
    async fn write(
        &self,
        attempt: &Attempt,
        method: &AuthMethod,
        credentials: &Credentials,
        expires_at: Option<u64>,
        granted_scopes: Option<&[String]>,
    ) -> Result<StoreOutcome, Problem> {
        let account = ConnectedAccount {
            account: &attempt.account,
            environment: attempt.environment,
            request: self.request_id,
            attempt: Some(&attempt.id),
            method,
            client: Some(&attempt.client),
            credentials,
            expires_at,
            requested_scopes: &attempt.scopes(),
            granted_scopes,
            state: machine::stored(true),
            unchecked: None,
            awaits_cut_over: false,
            names: self.config.account_names,
            now: self.ports.now(),
        };
        let new = new_connection(attempt, account.now);
        let target = if attempt.reconnects == 1 {
            StoreTarget::Existing {
                id: &attempt.connection_id,
                name: attempt.name.as_deref(),
                tags: attempt.tags.as_deref(),
                version: None,
            }
        } else {
            // The limit for the token's identity was checked when the attempt started.
            StoreTarget::New { new: &new, is_by_token: false }
        };
        store(self.ports, &self.config.vault_keys, &account, target).await
    }

    /// Exchanges the code for tokens, and then for long-lived tokens if the platform supports that.
    async fn exchange_code(
        &self,
        resolved: &ResolvedOAuth,
        client: Client,
        (code, redirect_uri, callback): (&str, &str, &Callback),
        verifier: Option<String>,
    ) -> Result<Tokens, TokenError> {
        let verifier = verifier.and_then(Verifier::parse);
        let client = client.with_assertion(&resolved.oauth, &resolved.token_url, self.ports).await;
        let endpoint =
            TokenEndpoint { oauth: &resolved.oauth, url: &resolved.token_url, client: &client };
        let exchange = endpoint.exchange(code, redirect_uri, verifier.as_ref(), callback);
        let tokens = platform::request_tokens(self.ports, &resolved.oauth, exchange).await?;
        let mut tokens = platform::exchange_for_long_lived(self.ports, &endpoint, tokens).await?;
        if resolved.oauth.token_parameters.values().any(|value| value == REDIRECT_URI) {
            tokens.members.insert(REDIRECT_URI_MEMBER.to_owned(), redirect_uri.into());
        }
        Ok(tokens)
    }

    /// Revokes tokens that are not stored, unless another connection of the identity may use the
    /// same account: many platforms would then revoke all of the app's access to the account.
    async fn revoke_unused_tokens(
        &self,
        GrantedAttempt { attempt, client, resolved, .. }: GrantedAttempt<'_>,
        credentials: &Credentials,
    ) -> Result<(), Problem> {
        if resolved.revocation_url.is_none() {
            return Ok(());
        }
        let tenant = (attempt.account.as_str(), attempt.environment);
        let sets =
            self.ports.batch(vec![statements::select_credentials_of_identity(attempt)]).await?;
        let other_credentials: Vec<PreviousCredentials> = all_rows(&sets, 0)?;
        if other_credentials
            .iter()
            .any(|other| !other.is_different_account(&self.config.vault_keys, tenant, credentials))
        {
            return Ok(());
        }
        let token_source =
            (attempt.id.as_str(), attempt.platform.as_str(), attempt.auth_method.as_str());
        revoke_unused(
            self.config,
            self.catalog,
            self.ports,
            token_source,
            tenant,
            credentials,
            client,
        )
        .await
    }
}

/// Checks the issuer and returns the code.
fn code<'c>(
    callback: &'c Callback,
    resolved: &ResolvedOAuth,
    connector: &Connector,
) -> Result<&'c str, AttemptFailure> {
    let name = &connector.name;
    if callback.state.is_none() {
        let suffix = callback.error.as_ref().map(platform_error_suffix).unwrap_or_default();
        let detail = format!("{name} did not grant access{suffix}.");
        return Err(AttemptFailure::new(AttemptErrorCode::Denied, detail));
    }
    let endpoints: Vec<&str> = resolved
        .authorization_url
        .as_deref()
        .into_iter()
        .chain([resolved.token_url.as_str()])
        .collect();
    if !check_issuer(callback.iss.as_deref(), resolved.oauth.issuer.as_deref(), &endpoints) {
        let detail = format!("The response did not come from {name}, so it was not used.");
        return Err(AttemptFailure::new(AttemptErrorCode::IssuerMismatch, detail));
    }
    match callback.outcome(&resolved.oauth.code_parameter) {
        Some(Outcome::Code(code)) => Ok(code),
        Some(Outcome::Error(error)) => Err(authorization_failure(name, error)),
        None => {
            let detail = format!("{name} sent you back without a code.");
            Err(AttemptFailure::new(AttemptErrorCode::InvalidResponse, detail))
        }
    }
}

/// Resolves the method's URLs and parameters. For a refusal, values that only a token request needs may be missing.
fn resolve(
    oauth: &OAuth2,
    targets: Targets,
    secrets: &AttemptSecrets,
    callback: &Callback,
) -> Result<ResolvedOAuth, FillError> {
    let value = |name: &str| secrets.fields.get(name).map(String::as_str);
    if callback.error.is_some() {
        return ResolvedOAuth::before_sign_in(oauth, targets, &value);
    }
    ResolvedOAuth::for_exchange(oauth, targets, &value)
}

/// The values of the method's fields in a redirect: parameters with the name of a field, or with a
/// name that the method maps to a field.
fn callback_values<'c>(
    callback: &'c Callback,
    method: &'c AuthMethod,
    oauth: &'c OAuth2,
) -> impl Iterator<Item = (String, String)> + 'c {
    let member = |name: &str| callback.others.get(name).filter(|value| !value.is_empty());
    let by_field_name = method
        .fields
        .iter()
        .filter_map(move |field| Some((field.name.clone(), member(&field.name)?.clone())));
    let sources = oauth.field_sources.iter().filter(|source| source.from == SourceKind::Callback);
    by_field_name.chain(sources.filter_map(move |source| {
        let value = extract_field(source.template.as_deref(), &source.field, member(&source.at)?)?;
        Some((source.field.clone(), value.to_owned()))
    }))
}

fn new_connection(attempt: &Attempt, now: u64) -> NewConnection {
    NewConnection {
        id: attempt.connection_id.clone(),
        platform: attempt.platform.clone(),
        platform_version: attempt.platform_version.clone(),
        description: attempt.description.clone(),
        identity: attempt.identity.clone(),
        identity_type: attempt.identity_type,
        label: attempt.label.clone(),
        name: attempt.name.clone(),
        tags: attempt.tags.clone().unwrap_or_else(|| "[]".to_owned()),
        state: machine::stored(true),
        active: true,
        created_at: now,
    }
}
