//! Requests to platforms while an account is connected.

use crate::api::problem::{Code, Problem};
use crate::catalog::detail::{AuthMethod, Request};
use crate::connect::method::Connector;
use crate::credentials::held::Held;
use crate::credentials::placing::place;
use crate::json;
use crate::oauth::answer::moment;
use crate::oauth::{TokenError, Tokens, answer};
use crate::ports::{Clock, Http, HttpError, HttpRequest, HttpResponse, user_agent};
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

/// The stable id of the account at the platform, by the connector's `account` request. Returns `None` when it can't be
/// learnt.
pub async fn account<P: Http>(
    ports: &P,
    targets: Targets,
    connector: &Connector,
    method: &AuthMethod,
    held: &Held,
) -> Option<String> {
    let account = connector.account.as_ref().filter(|_| is_sendable(method))?;
    let answer = ask(ports, targets, connector, method, held, &account.request).await?.ok()?;
    if !(200..300).contains(&answer.status) {
        return None;
    }
    let body: serde_json::Value = serde_json::from_slice(&answer.body).ok()?;
    match body.pointer(&account.id)? {
        serde_json::Value::String(id) => Some(id.clone()).filter(|id| !id.is_empty()),
        serde_json::Value::Number(id) => Some(json::text(id)),
        _ => None,
    }
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
