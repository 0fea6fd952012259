//! Requests to platforms while an account is connected.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::problem::{Code, Problem};
use crate::catalog::detail::{AuthMethod, FieldSource, Request, SourceKind};
use crate::connect::filled::take_told;
use crate::connect::method::Connector;
use crate::credentials::held::Held;
use crate::credentials::placing::place;
use crate::json;
use crate::oauth::answer::moment;
use crate::oauth::token::TokenEndpoint;
use crate::oauth::{TokenError, Tokens, answer};
use crate::ports::{Clock, Http, HttpError, HttpRequest, HttpResponse, Patterns, user_agent};
use crate::target::Targets;

/// The longest that a platform may take to answer, in milliseconds.
pub const DEADLINE_MS: u32 = 20_000;

/// What a platform says of credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It accepts them, or says nothing of them: there is no request that would show it.
    Accepted {
        /// Whether a request has shown it.
        is_verified: bool,
    },
    /// It rejects them.
    Rejected(u16),
    /// It can't be asked at the moment.
    Unreachable {
        /// How long it asks to wait, in milliseconds; `None` when it does not say.
        retry_after_ms: Option<u64>,
    },
    /// It does not answer in time.
    TimedOut,
}

impl Verdict {
    /// Whether a request has shown that the platform accepts the credentials.
    ///
    /// # Errors
    /// `credentials_rejected`, `platform_unreachable`, `platform_timeout`; `name` is the platform's.
    pub fn is_verified(self, name: &str) -> Result<bool, Problem> {
        match self {
            Self::Accepted { is_verified } => Ok(is_verified),
            Self::Rejected(status) => {
                let detail = format!(
                    "{name} rejects these credentials (HTTP status {status}). Nothing was stored."
                );
                Err(Problem::new(Code::CredentialsRejected, detail))
            }
            Self::Unreachable { .. } => Err(unreachable(name)),
            Self::TimedOut => {
                let detail =
                    format!("{name} did not answer in time. Nothing was stored. Try again later.");
                Err(Problem::new(Code::PlatformTimeout, detail))
            }
        }
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

/// Sends one of the connector's own requests with the credentials. Returns `None` when its address can't be filled in.
async fn ask<P: Http>(
    ports: &P,
    targets: Targets,
    connector: &Connector,
    method: &AuthMethod,
    held: &Held,
    request: &Request,
) -> Option<Result<HttpResponse, HttpError>> {
    let value = |name: &str| held.variable(name);
    let url = if request.path.starts_with('/') {
        let filled = |server: &crate::catalog::detail::Server| {
            targets.fill(&format!("{}{}", server.url, request.path), value).ok()
        };
        connector.servers.iter().find_map(filled)?
    } else {
        // It is a whole address.
        targets.fill(&request.path, value).ok()?
    };
    let placed = place(method, held);
    let mut headers = vec![("accept".to_owned(), "application/json".to_owned()), user_agent()];
    headers.extend(placed.headers.clone());
    let request =
        HttpRequest { method: request.method, url: placed.url(&url), headers, body: Vec::new() };
    Some(ports.send(request, DEADLINE_MS).await)
}

/// Whether the platform accepts the credentials, by the connector's `verify` request.
pub async fn verify<P: Http + Clock>(
    ports: &P,
    targets: Targets,
    connector: &Connector,
    method: &AuthMethod,
    held: &Held,
) -> Verdict {
    let Some(request) = connector.verify.as_ref().filter(|_| is_sendable(method)) else {
        return Verdict::Accepted { is_verified: false };
    };
    match ask(ports, targets, connector, method, held, request).await {
        None => Verdict::Accepted { is_verified: false },
        Some(Err(HttpError::TimedOut)) => Verdict::TimedOut,
        Some(Err(HttpError::Unreachable | HttpError::CallerLeft)) => {
            Verdict::Unreachable { retry_after_ms: None }
        }
        Some(Err(HttpError::TooLarge)) => Verdict::Accepted { is_verified: true },
        Some(Ok(answer)) => {
            let asked = answer.header("retry-after");
            let retry_after_ms = moment::retry_after(asked, ports.now());
            match answer.status {
                200..=299 => Verdict::Accepted { is_verified: true },
                // It leads elsewhere, perhaps to a page to sign in at, and says nothing of the credentials.
                300..=399 => Verdict::Accepted { is_verified: false },
                408 | 425 | 429 | 500.. => Verdict::Unreachable { retry_after_ms },
                // Some say so when too much was asked, such as GitHub.
                403 if asked.is_some() || answer.header("x-ratelimit-remaining") == Some("0") => {
                    Verdict::Unreachable { retry_after_ms }
                }
                status => Verdict::Rejected(status),
            }
        }
    }
}

/// Finds out whose account it is, by the connector's `account` request, unless that is known; and what the response says of
/// the method's fields. What can't be learnt stays as it is.
pub async fn learn<P: Http + Patterns>(
    ports: &P,
    targets: Targets,
    connector: &Connector,
    method: &AuthMethod,
    variables: &BTreeMap<String, String>,
    held: &mut Held,
) {
    let is_account = |source: &FieldSource| source.from == SourceKind::Account;
    let says_more = method.oauth2().is_some_and(|it| it.field_sources.iter().any(is_account));
    let Some(account) = connector.account.as_ref().filter(|_| is_sendable(method)) else { return };
    if held.account.is_some() && !says_more {
        return;
    }
    let answer = ask(ports, targets, connector, method, held, &account.request).await;
    let Some(Ok(answer)) = answer
        .filter(|answer| answer.as_ref().is_ok_and(|answer| (200..300).contains(&answer.status)))
    else {
        return;
    };
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else { return };
    let id = match body.pointer(&account.id) {
        Some(Value::String(id)) => Some(id.clone()).filter(|id| !id.is_empty()),
        Some(Value::Number(id)) => Some(json::text(id)),
        _ => None,
    };
    held.account = held.account.take().or(id);
    if let Some(oauth) = method.oauth2() {
        let told = answer::told(oauth, SourceKind::Account, &body);
        let place = (method, oauth, connector.servers.as_slice());
        take_told(&mut held.fields, place, variables, told, ports);
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
