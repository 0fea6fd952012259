//! `GET /connect/callback`: the user comes back from the platform.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::former::Former;
use super::link::{Desk, stays, way_back, with_way_back};
use super::pages::{Page, Told};
use super::revoke::revoke_unused;
use super::store::{Account, Target, Written, end, store};
use super::{Browser, hash, opening, platform, redirect_uri};
use crate::audit::statements::by_person;
use crate::auth::statements::select_forward;
use crate::catalog::detail::{AuthMethod, OAuth2, Server, SourceKind};
use crate::connect::attempt::{Attempt, Failure, Remembered, Status, Stored};
use crate::connect::client::OauthClient;
use crate::connect::filled::{Filled, take_told};
use crate::connect::method::Connector;
use crate::connect::rules::origin;
use crate::connect::statements;
use crate::connections::draft::NewConnection;
use crate::credentials::held::Held;
use crate::credentials::lifecycle::machine;
use crate::credentials::minted::Purpose;
use crate::http::message::{Body, NO_STORE, Request, Response};
use crate::http::problem::Problem;
use crate::oauth::callback::{Callback, Outcome, check_issuer, read};
use crate::oauth::pkce::Verifier;
use crate::oauth::token::TokenEndpoint;
use crate::oauth::{Client, TokenError, TokenErrorKind, Tokens};
use crate::ports::{Clock, Db, Ports, all_rows, first_row, is_recent};
use crate::targets::Targets;
use crate::targets::fill::{FillError, unfill};
use crate::util::percent::decode_form;

/// The heading of the page for an address that nothing can be done with.
const INCOMPLETE: &str = "This address is not complete";

/// How long an isolate keeps where visits go on that began at a platform, in milliseconds.
const STARTS_MS: u64 = 60 * 1000;

/// What an isolate keeps of where visits go on that began at a platform: by the database's number, and since when.
#[derive(Debug, Default)]
pub struct Starts(RefCell<BTreeMap<u16, (u64, Vec<Start>)>>);

/// Where a visit that began at a platform may go on.
#[derive(Debug, Clone, Deserialize)]
struct Start {
    account: String,
    platform: String,
    url: String,
}

/// Why an attempt failed, with the words for people.
struct Failed {
    code: Failure,
    detail: String,
}

/// Nothing was written: the connection to be reconnected is gone, or there is no place for a new one.
fn gone(attempt: &Attempt) -> Failed {
    let what = if attempt.reconnects == 1 {
        "The connection was deleted in the meantime."
    } else {
        "The connection could not be created: the account has as many as it may have."
    };
    Failed::new(Failure::ConnectionNotFound, what)
}

impl Failed {
    fn new(code: Failure, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

impl<P: Ports> Desk<'_, P> {
    /// Answers the redirect from a platform:
    ///
    /// 1. Read the query. What no authorization server sends is refused.
    /// 2. Claim the attempt by its state: once, in time, from the browser that it is bound to.
    /// 3. Check who sends the user back, and what the platform says.
    /// 4. Exchange the code, once.
    /// 5. When the attempt reconnects: check that it is the same account at the platform.
    /// 6. Write the connection, its credentials and the end of the attempt in one transaction.
    ///
    /// Whatever happens from 3 on, the attempt ends, and the page says how.
    ///
    /// # Errors
    /// When storage can't answer.
    pub async fn callback(&self, request: &Request) -> Result<Response, Problem> {
        // 1. Read the query.
        let Ok(callback) = read(&request.query) else { return Ok(self.incomplete().response()) };

        // Whoever only looks, as some scanners of links do, uses up nothing.
        if request.method == "HEAD" {
            let mut response = Response::empty(200);
            response.add("cache-control", NO_STORE);
            return Ok(response);
        }

        // 2. Claim the attempt.
        let sender = Browser::of(request);
        let own = sender.map(|browser| hash(browser.secret));
        let state = match &callback.state {
            Some(state) => match self.refused(Purpose::State, state).await? {
                Some(page) => return Ok(page.response()),
                None => hash(state),
            },
            // Some platforms bring no state with a refusal. The browser was led there for one attempt only. Nothing but a
            // refusal is believed: a code without its state may be that of somebody else's account.
            None => match self.led_to(request).filter(|_| callback.error.is_some()) {
                Some(state) => state,
                None => return self.begun_elsewhere().await,
            },
        };
        let claimant = own.as_deref().unwrap_or_default();
        self.arrive(&state).await?;
        if callback.outcome("code").is_none() && !self.has_own_code(&state, &callback).await? {
            return Ok(self.incomplete().response());
        }
        let sets = self.ports.batch(vec![
            statements::claim(&state, claimant, self.request_id, self.now),
            statements::select_by_state(&state),
            statements::select_client_of_attempt(&state),
            statements::select_former(&state),
            select_forward(&state),
        ]);
        let sets = sets.await?;
        stays(sets.get(4))?;
        let Some(attempt) = first_row::<Attempt>(&sets, 1)? else {
            return Ok(self.over().response());
        };
        if attempt.browser_hash.is_none() || attempt.browser_hash != own {
            return Ok(with_way_back(self.elsewhere(), &attempt).response());
        }
        let connector = self.connector(&attempt).await?;
        let name =
            connector.as_ref().map_or(&attempt.platform, |connector| &connector.name).clone();
        if attempt.claimed_by.as_deref() != Some(self.request_id) {
            return Ok(self.again(request, &attempt, &name));
        }

        // 3. to 6.
        let (identity, key) = (&attempt.identity, &attempt.key_id);
        self.ports.set_actor(by_person(identity, key, self.now, self.request_id));
        let (client, former) =
            (first_row::<OauthClient>(&sets, 2)?, first_row::<Former>(&sets, 3)?);
        let failed = match connector {
            None => Failed::new(Failure::Changed, "The catalog no longer has this platform."),
            Some(connector) => {
                let finish = self.finish(request, &attempt, &callback, &connector, client, former);
                match finish.await? {
                    Ok(()) => return Ok(self.succeeded(request, &attempt, &name)),
                    Err(failed) => failed,
                }
            }
        };
        let code = failed.code.as_str();
        end(self.ports, &attempt.id, self.request_id, code, &failed.detail).await?;
        Ok(self.failed(request, &attempt, &name, &failed))
    }

    /// The hash of the state with which a browser of this service was led to a platform last.
    fn led_to(&self, request: &Request) -> Option<String> {
        let browser = Browser::of_ours(request, &self.config.vault_keys)?;
        browser.attempt().map(|(_, state)| state.to_owned())
    }

    /// Whether a redirect has a code under a name that only the attempt's platform gives it.
    async fn has_own_code(&self, state: &str, callback: &Callback) -> Result<bool, Problem> {
        let select = vec![statements::select_by_state(state), select_forward(state)];
        let sets = self.ports.batch(select).await?;
        stays(sets.get(1))?;
        let Some(attempt) = first_row::<Attempt>(&sets, 0)? else { return Ok(false) };
        let connector = self.connector(&attempt).await?;
        let method = connector.as_ref().and_then(|it| it.find_method(&attempt.auth_method));
        let name = method.and_then(AuthMethod::oauth2).map(|oauth| &oauth.code_parameter);
        Ok(name.is_some_and(|name| callback.outcome(name).is_some()))
    }

    /// `POST /connect/callback`: a platform that answers with a form (`form_post`). The browser keeps its cookie back when
    /// another site posts, and sends it after a redirect.
    #[must_use]
    pub fn posted(&self, request: &Request) -> Response {
        let Body::Whole(body) = &request.body else { return self.incomplete().response() };
        // It becomes part of a header: a form has no other characters (URL Standard, 5.2).
        let is_form = |text: &&str| text.bytes().all(|byte| byte.is_ascii_graphic());
        let text = std::str::from_utf8(body).ok().filter(is_form);
        let text = text.filter(|text| read(text).is_ok());
        let Some(text) = text else { return self.incomplete().response() };
        // Tokens are not asked for, and do not belong in an address.
        let is_kept = |pair: &&str| {
            let name = pair.split('=').next().and_then(decode_form).unwrap_or_default();
            !matches!(name.as_ref(), "id_token" | "access_token" | "refresh_token")
        };
        let pairs: Vec<&str> = text.split('&').filter(is_kept).collect();
        let mut response = Response::empty(303);
        response.add("location", format!("{}?{}", redirect_uri(&request.origin), pairs.join("&")));
        response.add("cache-control", NO_STORE);
        response.add("referrer-policy", "no-referrer");
        response
    }

    fn incomplete(&self) -> Page {
        let paragraphs = [
            "The platform sent you back with something that can't be read. Nothing was connected.",
            "Go back to the app and start again.",
        ];
        self.page(400, INCOMPLETE, &paragraphs)
    }

    /// The page for a visit that began at the platform, such as an installation from its marketplace. Nothing says whose
    /// account it is to be, so it begins once more in the app: whoever could have a code exchanged that comes without a
    /// state would connect their own account for somebody else.
    async fn begun_elsewhere(&self) -> Result<Response, Problem> {
        let starts = self.starts(self.now).await?;
        let paragraphs = [
            "You came here from a platform without starting in the app. Nothing was connected.",
            "Start in the app: it then leads you to the platform once more.",
        ];
        let mut page = self.page(400, INCOMPLETE, &paragraphs);
        // One account does not lead to another one's app.
        if starts.iter().all(|start| Some(&start.account) == starts.first().map(|it| &it.account)) {
            let mut urls: Vec<&str> = starts.iter().map(|start| start.url.as_str()).collect();
            urls.sort_unstable();
            urls.dedup();
            let is_one = urls.len() == 1;
            for url in urls {
                let platform = starts.iter().find(|start| start.url == url);
                let text = match platform.filter(|_| !is_one) {
                    Some(start) => format!("Start with {}", start.platform),
                    None => "Start in the app".to_owned(),
                };
                page.links.push((url.to_owned(), text));
            }
        }
        Ok(page.response())
    }

    /// Where visits go on that began at a platform. Anybody can ask for it, so the database is asked once a minute at most.
    async fn starts(&self, now: u64) -> Result<Vec<Start>, Problem> {
        let number = self.ports.number();
        let kept = self.starts.0.try_borrow().ok().and_then(|kept| kept.get(&number).cloned());
        if let Some((at, starts)) = kept
            && is_recent(now, at, STARTS_MS)
        {
            return Ok(starts);
        }
        let sets = self.ports.batch(vec![statements::select_starts()]).await?;
        let starts: Vec<Start> = all_rows(&sets, 0)?;
        if let Ok(mut kept) = self.starts.0.try_borrow_mut() {
            kept.insert(number, (now, starts.clone()));
        }
        Ok(starts)
    }

    /// Steps 3 to 6.
    async fn finish(
        &self,
        request: &Request,
        attempt: &Attempt,
        callback: &Callback,
        connector: &Connector,
        client: Option<OauthClient>,
        former: Option<Former>,
    ) -> Result<Result<(), Failed>, Problem> {
        let changed = || {
            let detail =
                "The app's settings for this platform have changed since you started. Start again.";
            Ok(Err(Failed::new(Failure::Changed, detail)))
        };
        // The platform gave the code to the client that began.
        let client = client.filter(|client| {
            client.is_for(&attempt.auth_method) && client.updated_at <= attempt.created_at
        });
        let (Some(client), Some(mut remembered)) = (client, self.remembered(attempt)?) else {
            return changed();
        };
        let method = connector.find_method(&attempt.auth_method);
        let Some((method, oauth)) = method.and_then(|it| Some((it, it.oauth2()?))) else {
            return changed();
        };
        // Some platforms say in the redirect which company the user chose (`QuickBooks`' `realmId`), or which of their
        // servers has the account.
        let (place, variables) =
            ((method, oauth, connector.servers.as_slice()), client.variables());
        let told = told_by(callback, method, oauth);
        take_told(&mut remembered.fields, place, &variables, told, self.ports);
        let targets = self.config.targets();
        let filled = match filled(oauth, targets, &remembered, callback) {
            Ok(filled) => filled,
            // Without it, nobody can be asked for tokens.
            Err(FillError::Missing(name)) if oauth.says(&name) => {
                return Ok(Err(unsaid(&connector.name)));
            }
            Err(_) => return changed(),
        };

        // 3. Who sends the user back, and with what.
        let code = match code(callback, &filled, connector) {
            Ok(code) => code,
            Err(failed) => return Ok(Err(failed)),
        };

        // 4. Exchange the code.
        let opened = opening(client.open(&self.config.vault_keys))?;
        let Remembered { mut fields, verifier, .. } = remembered;
        let redirect_uri = filled.redirect_uri(redirect_uri(&request.origin));
        let of = (code, redirect_uri.as_str(), callback);
        let tokens = match self.take_tokens(&filled, opened, of, verifier).await {
            Ok(tokens) => tokens,
            Err(error) => return Ok(Err(not_exchanged(&connector.name, &error))),
        };
        let (expires_at, granted) = (tokens.expires_at, tokens.scopes.clone());
        take_told(&mut fields, place, &variables, tokens.told.clone(), self.ports);
        let mut held = Held::of_tokens(tokens, fields);

        // 5. The same account?
        let of = (connector, method);
        platform::learn(self.ports, self.config, of, Some(&client), &mut held).await;
        let tenant = (attempt.account.as_str(), attempt.environment);
        let keys = &self.config.vault_keys;
        let is_other = former.as_ref().is_some_and(|former| former.is_other(keys, tenant, &held));
        if attempt.allow_other_account == 0 && is_other {
            self.give_up(attempt, &filled, &held, &client).await?;
            return Ok(Err(of_other_account(&connector.name)));
        }
        if !is_reachable(connector, oauth, targets, &held) {
            self.give_up(attempt, &filled, &held, &client).await?;
            return Ok(Err(unsaid(&connector.name)));
        }
        let kept = former.and_then(|it| it.refresh_token(keys, tenant, &method.id, &held));
        held.keep_refresh(kept);

        // 6. Write.
        let account = Account {
            account: &attempt.account,
            environment: attempt.environment,
            request: self.request_id,
            attempt: Some(&attempt.id),
            method,
            held: &held,
            expires_at,
            asked_scopes: &attempt.scopes(),
            granted_scopes: granted.as_deref(),
            state: machine::stored(true),
            unchecked: None,
            names: self.config.account_names,
            now: self.ports.now(),
        };
        let new = new_connection(attempt, account.now);
        let target = if attempt.reconnects == 1 {
            Target::Existing {
                id: &attempt.connection_id,
                name: attempt.name.as_deref(),
                tags: attempt.tags.as_deref(),
            }
        } else {
            // A token's limit was checked when the attempt began.
            Target::New { new: &new, is_by_token: false }
        };
        let written = store(self.ports, keys, &account, target).await?;
        if !matches!(written, Written::Done(_)) {
            self.give_up(attempt, &filled, &held, &client).await?;
        }
        Ok(match written {
            Written::Done(_) => Ok(()),
            Written::Taken(_) => Err(Failed::new(
                Failure::ConnectionExists,
                "This account was connected in the meantime, perhaps in another tab.",
            )),
            Written::Gone => Err(gone(attempt)),
        })
    }

    /// Exchanges the code, and where the platform has a request for that, the token for one that is valid for longer.
    async fn take_tokens(
        &self,
        filled: &Filled,
        client: Client,
        (code, redirect_uri, callback): (&str, &str, &Callback),
        verifier: Option<String>,
    ) -> Result<Tokens, TokenError> {
        let verifier = verifier.and_then(Verifier::of_text);
        let client = client.proving(filled.oauth.token_auth, &filled.token_url, self.ports).await;
        let endpoint =
            TokenEndpoint { oauth: &filled.oauth, url: &filled.token_url, client: &client };
        let exchange = endpoint.exchange(code, redirect_uri, verifier.as_ref(), callback);
        let tokens = platform::tokens(self.ports, &filled.oauth, exchange).await?;
        platform::lengthened(self.ports, &endpoint, tokens).await
    }

    /// Has the platform revoke tokens that became no connection. Many platforms then end all that the app was granted for
    /// that account. So the tokens are left to expire when another connection of the identity may be the same account's.
    async fn give_up(
        &self,
        attempt: &Attempt,
        filled: &Filled,
        held: &Held,
        client: &OauthClient,
    ) -> Result<(), Problem> {
        if filled.revocation_url.is_none() {
            return Ok(());
        }
        let tenant = (attempt.account.as_str(), attempt.environment);
        let sets = self.ports.batch(vec![statements::select_held_of_identity(attempt)]).await?;
        let others: Vec<Former> = all_rows(&sets, 0)?;
        if others.iter().any(|other| !other.is_other(&self.config.vault_keys, tenant, held)) {
            return Ok(());
        }
        let of = (attempt.id.as_str(), attempt.platform.as_str(), attempt.auth_method.as_str());
        revoke_unused(self.config, self.catalog, self.ports, of, tenant, held, client).await
    }

    /// The page of an attempt whose redirect comes a second time: the back button, or a page that is loaded again.
    fn again(&self, request: &Request, attempt: &Attempt, name: &str) -> Response {
        match attempt.status(self.now) {
            Status::Succeeded => self.succeeded(request, attempt, name),
            Status::Failed { code, detail } => {
                let code = Failure::ALL.into_iter().find(|known| known.as_str() == code);
                let code = code.unwrap_or(Failure::Interrupted);
                self.failed(request, attempt, name, &Failed { code, detail })
            }
            Status::Pending if attempt.status == Stored::Exchanging => {
                let paragraphs =
                    ["Your account is being connected in another tab. You can close this page."];
                with_way_back(self.page(409, "One moment", &paragraphs), attempt).response()
            }
            Status::Pending | Status::Expired => with_way_back(self.expired(), attempt).response(),
        }
    }

    fn succeeded(&self, request: &Request, attempt: &Attempt, name: &str) -> Response {
        let heading = format!("{name} is connected");
        let mut page =
            self.page(200, &heading, &["You can close this page and go back to the app."]);
        page.told = Some(told(request, attempt, "succeeded"));
        with_way_back(page, attempt).response()
    }

    fn failed(
        &self,
        request: &Request,
        attempt: &Attempt,
        name: &str,
        failed: &Failed,
    ) -> Response {
        let heading = match failed.code {
            Failure::Denied => format!("{name} was not connected"),
            _ => format!("{name} could not be connected"),
        };
        let mut page = self.page(200, &heading, &[&failed.detail, whose_turn(failed.code)]);
        page.told = Some(told(request, attempt, "failed"));
        with_way_back(page, attempt).response()
    }
}

/// The code that the platform sends.
fn code<'c>(
    callback: &'c Callback,
    filled: &Filled,
    connector: &Connector,
) -> Result<&'c str, Failed> {
    let name = &connector.name;
    if callback.state.is_none() {
        let said = callback.error.as_ref().map(said).unwrap_or_default();
        let detail = format!("{name} says that access was not granted{said}.");
        return Err(Failed::new(Failure::Denied, detail));
    }
    let endpoints: Vec<&str> = filled
        .authorization_url
        .as_deref()
        .into_iter()
        .chain([filled.token_url.as_str()])
        .collect();
    if !check_issuer(callback.iss.as_deref(), filled.oauth.issuer.as_deref(), &endpoints) {
        let detail = format!("The answer does not come from {name}, so it was not used.");
        return Err(Failed::new(Failure::IssuerMismatch, detail));
    }
    match callback.outcome(&filled.oauth.code_parameter) {
        Some(Outcome::Code(code)) => Ok(code),
        Some(Outcome::Error(error)) => Err(not_agreed(name, error)),
        None => {
            let detail = format!("{name} sent you back without a code.");
            Err(Failed::new(Failure::InvalidAnswer, detail))
        }
    }
}

/// The method of an attempt, filled in. After a refusal, nobody is asked for tokens.
fn filled(
    oauth: &OAuth2,
    targets: Targets,
    remembered: &Remembered,
    callback: &Callback,
) -> Result<Filled, FillError> {
    let value = |name: &str| remembered.fields.get(name).map(String::as_str);
    if callback.error.is_some() {
        return Filled::before_sign_in(oauth, targets, value);
    }
    Filled::new(oauth, targets, value)
}

/// The user signed in with another account than the connection's.
fn of_other_account(name: &str) -> Failed {
    let detail = format!(
        "The account at {name} is another one than before. The connection keeps the former one. Sign in with that account, or connect this one separately."
    );
    Failed::new(Failure::AccountMismatch, detail)
}

/// The platform did not say what it must.
fn unsaid(name: &str) -> Failed {
    let detail =
        format!("{name} did not say where the data of your account is, so it can't be used.");
    Failed::new(Failure::InvalidAnswer, detail)
}

/// What a redirect says of the method's fields: a parameter of the same name, or one that the method names.
fn told_by<'c>(
    callback: &'c Callback,
    method: &'c AuthMethod,
    oauth: &'c OAuth2,
) -> impl Iterator<Item = (String, String)> + 'c {
    let said = |name: &str| callback.others.get(name).filter(|value| !value.is_empty());
    let own = method
        .fields
        .iter()
        .filter_map(move |field| Some((field.name.clone(), said(&field.name)?.clone())));
    let sources = oauth.field_sources.iter().filter(|it| it.from == SourceKind::Callback);
    own.chain(sources.filter_map(move |source| {
        let value = unfill(source.template.as_deref(), &source.field, said(&source.at)?)?;
        Some((source.field.clone(), value.to_owned()))
    }))
}

/// Whether some server of the connector can be called. What the platform was to say may be missing.
fn is_reachable(connector: &Connector, oauth: &OAuth2, targets: Targets, held: &Held) -> bool {
    let is_filled = |server: &Server| targets.fill(&server.url, |name| held.variable(name)).is_ok();
    oauth.field_sources.is_empty()
        || connector.servers.is_empty()
        || connector.servers.iter().any(is_filled)
}

/// Who must act, in words for the user.
const fn whose_turn(code: Failure) -> &'static str {
    match code {
        Failure::Denied | Failure::CodeRejected | Failure::Interrupted | Failure::Changed => {
            "To connect after all, go back to the app and start again."
        }
        Failure::AccountMismatch | Failure::ConnectionExists | Failure::ConnectionNotFound => {
            "Go back to the app. Nothing else was changed."
        }
        Failure::ClientRejected | Failure::RequestRejected | Failure::IssuerMismatch => {
            "You can do nothing about this: tell the people who run the app."
        }
        Failure::PlatformUnavailable | Failure::InvalidAnswer => {
            "Nothing is wrong with your account. Go back to the app and try again later."
        }
    }
}

fn told(request: &Request, attempt: &Attempt, status: &'static str) -> Told {
    // The window of this service opens the platform's page itself, unless the app said where to return to.
    let origin = attempt.return_url.as_deref().map_or_else(|| request.origin.clone(), origin);
    Told { attempt: attempt.id.clone(), status, origin, return_url: way_back(attempt) }
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

/// What the platform said, as the end of a sentence.
fn said(error: &TokenError) -> String {
    let code = error.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
    let description =
        error.description.as_deref().map(|text| format!(": {}", text.trim_end_matches('.')));
    let description = description.unwrap_or_default();
    format!("{code}{description}")
}

/// The platform sent the user back without a code.
fn not_agreed(name: &str, error: &TokenError) -> Failed {
    let said = said(error);
    match error.kind {
        TokenErrorKind::Denied | TokenErrorKind::GrantRejected => {
            Failed::new(Failure::Denied, format!("{name} says that access was not granted{said}."))
        }
        TokenErrorKind::ClientRejected | TokenErrorKind::Unauthorized => {
            Failed::new(Failure::ClientRejected, format!("{name} does not accept the app{said}."))
        }
        TokenErrorKind::Passing => {
            Failed::new(Failure::PlatformUnavailable, format!("{name} has a problem{said}."))
        }
        TokenErrorKind::RequestRejected | TokenErrorKind::Unreadable => Failed::new(
            Failure::RequestRejected,
            format!("{name} does not accept what the app asks for{said}."),
        ),
    }
}

/// The platform gave no tokens for the code.
fn not_exchanged(name: &str, error: &TokenError) -> Failed {
    let said = said(error);
    match error.kind {
        TokenErrorKind::GrantRejected | TokenErrorKind::Denied => Failed::new(
            Failure::CodeRejected,
            format!("{name} does not accept its own code any more{said}."),
        ),
        TokenErrorKind::ClientRejected | TokenErrorKind::Unauthorized => {
            Failed::new(Failure::ClientRejected, format!("{name} does not accept the app{said}."))
        }
        TokenErrorKind::RequestRejected => Failed::new(
            Failure::RequestRejected,
            format!("{name} does not accept what the app asks for{said}."),
        ),
        TokenErrorKind::Passing => Failed::new(
            Failure::PlatformUnavailable,
            format!("{name} can't be reached, or has a problem{said}."),
        ),
        TokenErrorKind::Unreadable => Failed::new(
            Failure::InvalidAnswer,
            format!("{name} sent an answer that can't be read{said}."),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{not_agreed, not_exchanged, said};
    use crate::oauth::TokenError;
    use crate::oauth::TokenErrorKind::{
        self, ClientRejected, Denied, GrantRejected, Passing, RequestRejected, Unreadable,
    };

    fn error(kind: TokenErrorKind, code: Option<&str>, description: Option<&str>) -> TokenError {
        TokenError {
            kind,
            code: code.map(str::to_owned),
            description: description.map(str::to_owned),
            http_status: None,
            retry_after_ms: None,
            tenant: None,
        }
    }

    #[test]
    fn users_are_told_what_the_platform_said() {
        for (code, description, expected) in [
            (None, None, ""),
            (Some("e"), None, " (e)"),
            (None, Some("No"), ": No"),
            (Some("e"), Some("No"), " (e): No"),
            (Some("e"), Some("No."), " (e): No"),
        ] {
            assert_eq!(said(&error(Denied, code, description)), expected);
        }
        for (kind, agreed, exchanged) in [
            (Denied, "access was not granted", "does not accept its own code"),
            (GrantRejected, "access was not granted", "does not accept its own code"),
            (
                ClientRejected,
                "does not accept the app (e): No.",
                "does not accept the app (e): No.",
            ),
            (Passing, "has a problem (e): No.", "can't be reached, or has a problem (e): No."),
            (RequestRejected, "what the app asks for (e)", "what the app asks for (e)"),
            (Unreadable, "what the app asks for (e)", "an answer that can't be read (e)"),
        ] {
            let error = error(kind, Some("e"), Some("No"));
            let (first, second) = (not_agreed("Acme", &error), not_exchanged("Acme", &error));
            assert!(first.detail.contains(agreed), "{}", first.detail);
            assert!(second.detail.contains(exchanged), "{}", second.detail);
        }
    }
}
