//! Requests to platforms while an account is connected.

use serde_json::Value;

use super::opening;
use crate::catalog::detail::{AuthMethod, FieldSource, Request, SourceKind, Verify};
use crate::connect::client::OauthClient;
use crate::connect::filled::take_told;
use crate::connect::method::Connector;
use crate::credentials::held::Held;
use crate::credentials::placing::{CLIENT_SECRET, Placed, Placing, needs};
use crate::http::config::Config;
use crate::http::problem::{Code, Problem};
use crate::oauth::answer::moment;
use crate::oauth::token::TokenEndpoint;
use crate::oauth::{Client, TokenError, Tokens, account, answer};
use crate::ports::{Clock, Http, HttpError, HttpRequest, HttpResponse, Patterns, user_agent};
use crate::util::json;

/// The longest that a platform may take to answer, in milliseconds.
pub const DEADLINE_MS: u32 = 20_000;

/// What a platform says of credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It accepts them.
    Accepted,
    /// It rejects them, with this status.
    Rejected(u16),
    /// There is no request that would show it.
    Unasked,
    /// Its response says nothing about them.
    Inconclusive(u16),
    /// It can't be asked at the moment.
    Unavailable {
        /// The status of its response; `None` when there was none.
        status: Option<u16>,
        /// How long it asks to wait, in milliseconds; `None` when it does not say.
        retry_after_ms: Option<u64>,
    },
}

/// What a verdict means for credentials that are to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    /// The platform accepts them.
    Accepted,
    /// Nothing can check them.
    Unasked,
    /// They were not checked; the HTTP status, if the platform responded.
    Not(Option<u16>),
}

impl Verdict {
    /// What to store. A check without a result never keeps credentials from being stored.
    ///
    /// # Errors
    /// `credentials_rejected`; `name` is the platform's.
    pub fn checked(self, name: &str) -> Result<Checked, Problem> {
        match self {
            Self::Accepted => Ok(Checked::Accepted),
            Self::Unasked => Ok(Checked::Unasked),
            Self::Inconclusive(status) => Ok(Checked::Not(Some(status))),
            Self::Unavailable { status, .. } => Ok(Checked::Not(status)),
            Self::Rejected(status) => {
                let detail = format!(
                    "{name} rejects these credentials (HTTP status {status}). Nothing was stored."
                );
                Err(Problem::new(Code::CredentialsRejected, detail))
            }
        }
    }
}

/// The credentials of a connection at its platform, for the connector's own requests.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// The operator's settings.
    pub config: &'a Config,
    /// The platform's connector.
    pub connector: &'a Connector,
    /// The method by which the account was connected.
    pub method: &'a AuthMethod,
    /// The credentials.
    pub held: &'a Held,
    /// The account's OAuth client at the platform.
    pub client: Option<&'a OauthClient>,
}

impl Asking<'_> {
    /// What each request to the platform carries.
    ///
    /// # Errors
    /// `oauth_client_missing` when a header or parameter needs an OAuth client, and there is none; `unavailable` when its
    /// secret can't be opened.
    pub fn placed(self) -> Result<Placed, Problem> {
        let placed = self.known()?;
        if !placed.lacks_client {
            return Ok(placed);
        }
        let Connector { name, platform, .. } = self.connector;
        let what = if self.client.is_some() { "its secret" } else { "one for this method" };
        let detail = format!(
            "Each request to {name} contains data of the OAuth client. Set {what}: `PUT /v1/oauth-clients/{platform}`."
        );
        Err(Problem::new(Code::OauthClientMissing, detail))
    }

    /// What each request to the platform carries, as far as it is known.
    ///
    /// # Errors
    /// `unavailable` when the client's secret can't be opened.
    pub fn known(self) -> Result<Placed, Problem> {
        let Self { config, connector, method, held, client } = self;
        let common = &connector.headers;
        let client = match client.filter(|client| client.is_for(&method.id)) {
            Some(client) if needs(common, method, CLIENT_SECRET) => {
                Some(opening(client.open(&config.vault_keys))?)
            }
            Some(client) => Some(Client::new(client.client_id.clone(), None)),
            None => None,
        };
        let placing = Placing { common, method, held, client: client.as_ref() };
        Ok(placing.place())
    }
}

/// Sends a token request and reads its answer.
///
/// # Errors
/// When the answer has no tokens.
pub async fn tokens<P: Http + Clock>(
    ports: &P,
    oauth: &crate::catalog::detail::OAuth2,
    request: HttpRequest,
) -> Result<Tokens, TokenError> {
    let answer = ports.send(request, DEADLINE_MS).await;
    answer::read(oauth, &answer, ports.now())
}

/// Sends one of the connector's own requests with the credentials. Returns `None` when it can't be filled in.
async fn ask<P: Http>(
    ports: &P,
    asking: Asking<'_>,
    request: &Request,
) -> Option<Result<HttpResponse, HttpError>> {
    let (targets, value) = (asking.config.targets(), |name: &str| asking.held.variable(name));
    let url = if request.path.starts_with('/') {
        let filled = |server: &crate::catalog::detail::Server| {
            targets.fill(&format!("{}{}", server.url, request.path), value).ok()
        };
        asking.connector.servers.iter().find_map(filled)?
    } else {
        // It is a whole address.
        targets.fill(&request.path, value).ok()?
    };
    let placed = asking.placed().ok()?;
    let url = placed.url(&url);
    let mut headers = placed.over(vec![user_agent()]);
    if !headers.iter().any(|(name, _)| name == "accept") {
        headers.push(("accept".to_owned(), "application/json".to_owned()));
    }
    let body = request.body.as_ref().map(ToString::to_string);
    if body.is_some() {
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
    }
    let body = body.unwrap_or_default().into_bytes();
    let request = HttpRequest { method: request.method, url, headers, body };
    Some(ports.send(request, DEADLINE_MS).await)
}

/// Whether the platform accepts the credentials, by the connector's `verify` request.
pub async fn verify<P: Http + Clock>(ports: &P, asking: Asking<'_>) -> Verdict {
    let verify = asking.connector.verify.as_ref();
    let Some(verify) = verify.filter(|_| is_sendable(asking.method)) else {
        return Verdict::Unasked;
    };
    match ask(ports, asking, &verify.request).await {
        None => Verdict::Unasked,
        Some(Err(HttpError::TimedOut | HttpError::Unreachable | HttpError::CallerLeft)) => {
            Verdict::Unavailable { status: None, retry_after_ms: None }
        }
        Some(Err(HttpError::TooLarge)) => Verdict::Accepted,
        Some(Ok(answer)) => verdict(verify, &answer, ports.now()),
    }
}

/// What an answer to the `verify` request says of the credentials.
fn verdict(verify: &Verify, answer: &HttpResponse, now: u64) -> Verdict {
    let status = answer.status;
    let asked = answer.header("retry-after");
    let unavailable = || Verdict::Unavailable {
        status: Some(status),
        retry_after_ms: moment::retry_after(asked, now),
    };
    let says_rejected = || {
        verify.rejected_when.as_ref().is_some_and(|when| {
            let body: Option<Value> = serde_json::from_slice(&answer.body).ok();
            body.is_some_and(|body| when.matches(&body))
        })
    };
    match status {
        408 | 425 | 429 | 500.. => unavailable(),
        // Some say so when too much was asked, such as GitHub.
        403 if asked.is_some() || answer.header("x-ratelimit-remaining") == Some("0") => {
            unavailable()
        }
        _ if verify.rejected.contains(&status) || says_rejected() => Verdict::Rejected(status),
        200..=299 => Verdict::Accepted,
        _ => Verdict::Inconclusive(status),
    }
}

/// Finds out whose account it is, by the connector's `account` request, unless that is known; and what the response says of
/// the method's fields. What can't be learnt stays as it is.
pub async fn learn<P: Http + Patterns>(
    ports: &P,
    config: &Config,
    (connector, method): (&Connector, &AuthMethod),
    client: Option<&OauthClient>,
    held: &mut Held,
) {
    let is_account = |source: &FieldSource| source.from == SourceKind::Account;
    let says_more = method.oauth2().is_some_and(|it| it.field_sources.iter().any(is_account));
    let asked = connector.account.as_ref().filter(|_| is_sendable(method));
    let Some(account) = asked else { return };
    let says_name = account.name.is_some() && config.account_names;
    let is_known = held.account.is_some() && (held.account_name.is_some() || !says_name);
    if is_known && !says_more {
        return;
    }
    let asking = Asking { config, connector, method, held, client };
    let answer = ask(ports, asking, &account.request).await;
    let Some(Ok(answer)) = answer
        .filter(|answer| answer.as_ref().is_ok_and(|answer| (200..300).contains(&answer.status)))
    else {
        return;
    };
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else { return };
    let text = |pointer: &str| match body.pointer(pointer) {
        Some(Value::String(text)) => Some(text.clone()).filter(|text| !text.is_empty()),
        Some(Value::Number(number)) => Some(json::text(number)),
        _ => None,
    };
    held.account = held.account.take().or_else(|| text(&account.id));
    // The catalog chose the name that tells two accounts apart.
    let name = account.name.as_deref().and_then(text).and_then(|text| account::name(&text));
    held.account_name = name.or(held.account_name.take());
    if let Some(oauth) = method.oauth2() {
        let told = answer::told(oauth, SourceKind::Account, &body);
        let place = (method, oauth, connector.servers.as_slice());
        let variables = client.map(OauthClient::variables).unwrap_or_default();
        take_told(&mut held.fields, place, &variables, told, ports);
    }
}

/// Exchanges the first access token for one that is valid for longer, where the platform has such a request.
///
/// # Errors
/// When the answer has no tokens.
pub async fn lengthened<P: Http + Clock>(
    ports: &P,
    endpoint: &TokenEndpoint<'_>,
    tokens: Tokens,
) -> Result<Tokens, TokenError> {
    let asked = endpoint.oauth.long_lived_token.as_ref();
    let request = asked.and_then(|it| endpoint.with_access_token(it, &tokens.access_token));
    let Some(request) = request else { return Ok(tokens) };
    let longer = self::tokens(ports, endpoint.oauth, request).await?;
    let (mut members, mut told) = (tokens.members, tokens.told);
    members.extend(longer.members);
    told.extend(longer.told);
    Ok(Tokens {
        refresh_token: longer.refresh_token.or(tokens.refresh_token),
        scopes: longer.scopes.or(tokens.scopes),
        subject: tokens.subject.or(longer.subject),
        subject_name: tokens.subject_name.or(longer.subject_name),
        members,
        told,
        ..longer
    })
}

/// Whether a request with these credentials needs no signature.
#[must_use]
pub fn is_sendable(method: &AuthMethod) -> bool {
    !matches!(method.kind, crate::catalog::detail::Kind::AwsSigv4 { .. })
}

/// The platform can't be asked.
#[must_use]
pub fn unreachable(name: &str) -> Problem {
    let detail =
        format!("{name} can't be reached at the moment. Nothing was stored. Try again later.");
    Problem::new(Code::PlatformUnreachable, detail)
}
