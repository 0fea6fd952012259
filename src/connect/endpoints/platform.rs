//! Requests to platforms: token requests, verification of credentials, lookups, and the account's id and name.

use std::collections::BTreeMap;

use serde_json::Value;

use super::decrypt_error;
use crate::catalog::detail::{AuthMethod, OAuth2, Request, Server, SourceKind, Verify, variables};
use crate::connect::client::OauthClient;
use crate::connect::method::Connector;
use crate::connect::resolved_oauth::apply_platform_values;
use crate::credentials::model::Credentials;
use crate::credentials::request_auth::{AuthPlacement, CLIENT_SECRET, RequestAuth, needs};
use crate::http::config::Config;
use crate::http::problem::{Code, Problem};
use crate::oauth::response::times;
use crate::oauth::token::TokenEndpoint;
use crate::oauth::{Client, TokenError, Tokens, account, response};
use crate::ports::{Clock, Http, HttpError, HttpRequest, HttpResponse, Patterns, user_agent};
use crate::targets::Targets;
use crate::terms::Method;
use crate::util::json;

/// The timeout of a request, in milliseconds.
pub const TIMEOUT_MS: u32 = 20_000;

/// The result of verifying credentials at the platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    /// The HTTP status of the rejection.
    Rejected(u16),
    /// Nothing was sent: the connector has no `verify` request that the service can send.
    NotChecked,
    /// The response has this HTTP status, and neither accepts nor rejects the credentials.
    Inconclusive(u16),
    /// The platform is temporarily unavailable.
    Unavailable {
        /// The HTTP status, if there was a response.
        status: Option<u16>,
        /// From the header `Retry-After`, in milliseconds.
        retry_after_ms: Option<u64>,
    },
}

/// The result of checking credentials that are about to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome {
    Accepted,
    /// Nothing was sent: the connector has no `verify` request that the service can send.
    NotChecked,
    /// The check was inconclusive; the HTTP status, if there was a response.
    NoResult(Option<u16>),
}

impl Verdict {
    /// Fails only if the platform rejects the credentials: an inconclusive check does not prevent storing them. `name`
    /// is the name of the platform.
    pub fn check_outcome(self, name: &str) -> Result<CheckOutcome, Problem> {
        match self {
            Self::Accepted => Ok(CheckOutcome::Accepted),
            Self::NotChecked => Ok(CheckOutcome::NotChecked),
            Self::Inconclusive(status) => Ok(CheckOutcome::NoResult(Some(status))),
            Self::Unavailable { status, .. } => Ok(CheckOutcome::NoResult(status)),
            Self::Rejected(status) => {
                let detail = format!(
                    "{name} rejects these credentials (HTTP status {status}). Nothing was stored."
                );
                Err(Problem::new(Code::CredentialsRejected, detail))
            }
        }
    }
}

/// The credentials of a connection, for the connector's own requests.
#[derive(Clone, Copy)]
pub struct PlatformAuth<'a> {
    pub config: &'a Config,
    pub connector: &'a Connector,
    pub method: &'a AuthMethod,
    pub credentials: &'a Credentials,
    /// The app's OAuth client at the platform.
    pub client: Option<&'a OauthClient>,
}

impl PlatformAuth<'_> {
    /// The headers and parameters of each request. Fails if they need an OAuth client that does not exist.
    pub fn complete_auth(self) -> Result<RequestAuth, Problem> {
        let auth = self.available_auth()?;
        if !auth.lacks_client {
            return Ok(auth);
        }
        let Connector { name, platform, .. } = self.connector;
        let missing_part = if self.client.is_some() { "its secret" } else { "one for this method" };
        let detail = format!(
            "Each request to {name} contains data of the OAuth client. Set {missing_part}: `PUT /v1/oauth-clients/{platform}`."
        );
        Err(Problem::new(Code::OauthClientMissing, detail))
    }

    /// The headers and parameters of each request. Omits those that need a missing OAuth client.
    pub fn available_auth(self) -> Result<RequestAuth, Problem> {
        let Self { config, connector, method, credentials, client } = self;
        let common = &connector.headers;
        let client = match client.filter(|client| client.is_for(&method.id)) {
            Some(client) if needs(common, method, CLIENT_SECRET) => {
                Some(client.open(&config.vault_keys).map_err(decrypt_error)?)
            }
            Some(client) => Some(Client::new(client.client_id.clone(), None)),
            None => None,
        };
        let placement = AuthPlacement { common, method, credentials, client: client.as_ref() };
        Ok(placement.place())
    }
}

/// Sends a token request and reads its response.
pub async fn request_tokens<P: Http + Clock>(
    ports: &P,
    oauth: &OAuth2,
    request: HttpRequest,
) -> Result<Tokens, TokenError> {
    let response = ports.send(request, TIMEOUT_MS).await;
    response::read(oauth, &response, ports.now())
}

/// Sends a request of the connector with the credentials. Returns `None` if a value of its URL is
/// missing.
async fn send<P: Http>(
    ports: &P,
    auth: PlatformAuth<'_>,
    request: &Request,
) -> Option<Result<HttpResponse, HttpError>> {
    let (targets, value) = (auth.config.targets(), |name: &str| auth.credentials.variable(name));
    let url = if request.path.starts_with('/') {
        let resolved =
            |server: &Server| targets.fill(&format!("{}{}", server.url, request.path), &value).ok();
        auth.connector.servers.iter().find_map(resolved)?
    } else {
        // The path is an absolute URL.
        targets.fill(&request.path, &value).ok()?
    };
    let request_auth = auth.complete_auth().ok()?;
    let url = request_auth.url(&url);
    let mut headers = request_auth.apply_to(vec![user_agent()]);
    if !headers.iter().any(|(name, _)| name == "accept") {
        headers.push(("accept".to_owned(), "application/json".to_owned()));
    }
    let body = request.body.as_ref().map(ToString::to_string);
    if body.is_some() {
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
    }
    let body = body.unwrap_or_default().into_bytes();
    let request = HttpRequest { method: request.method, url, headers, body };
    Some(ports.send(request, TIMEOUT_MS).await)
}

/// Verifies credentials with the connector's `verify` request.
pub async fn verify<P: Http + Clock>(ports: &P, auth: PlatformAuth<'_>) -> Verdict {
    let verify = auth.connector.verify.as_ref();
    let Some(verify) = verify.filter(|_| is_sendable(auth.method)) else {
        return Verdict::NotChecked;
    };
    match send(ports, auth, &verify.request).await {
        None => Verdict::NotChecked,
        Some(Err(HttpError::TimedOut | HttpError::Unreachable | HttpError::CallerDisconnected)) => {
            Verdict::Unavailable { status: None, retry_after_ms: None }
        }
        Some(Err(HttpError::TooLarge)) => Verdict::Accepted,
        Some(Ok(response)) => verdict(verify, &response, ports.now()),
    }
}

/// Interprets the response to the `verify` request.
fn verdict(verify: &Verify, response: &HttpResponse, now: u64) -> Verdict {
    let status = response.status;
    let retry_after = response.header("retry-after");
    let unavailable = || Verdict::Unavailable {
        status: Some(status),
        retry_after_ms: times::retry_after(retry_after, now),
    };
    let body_rejects = || {
        verify.rejected_when.as_ref().is_some_and(|when| {
            let body: Option<Value> = serde_json::from_str(&response.text()).ok();
            body.is_some_and(|body| when.matches(&body))
        })
    };
    match status {
        408 | 425 | 429 | 500.. => unavailable(),
        // Some platforms, such as GitHub, use 403 for rate limits.
        403 if retry_after.is_some() || response.header("x-ratelimit-remaining") == Some("0") => {
            unavailable()
        }
        _ if verify.rejected.contains(&status) || body_rejects() => Verdict::Rejected(status),
        200..=299 => Verdict::Accepted,
        _ => Verdict::Inconclusive(status),
    }
}

/// Sends a request of the connector with the credentials. Returns `None` without a JSON response of
/// status 2xx.
async fn fetch_json<P: Http>(
    ports: &P,
    auth: PlatformAuth<'_>,
    request: &Request,
) -> Option<Value> {
    let response = send(ports, auth, request).await?.ok()?;
    let is_success = (200..300).contains(&response.status);
    is_success.then(|| serde_json::from_str(&response.text()).ok())?
}

/// Requests the method's `lookupUrl`, and adopts the values of fields in the response. If the
/// platform returns several values, the user's value must be one of them. The error is for the
/// user.
pub async fn look_up<P: Http + Patterns>(
    ports: &P,
    config: &Config,
    (connector, method): (&Connector, &AuthMethod),
    client: Option<&OauthClient>,
    credentials: &mut Credentials,
) -> Result<(), String> {
    let Some(oauth) = method.oauth2() else { return Ok(()) };
    let Some(path) = oauth.lookup_url.clone() else { return Ok(()) };
    let auth = PlatformAuth { config, connector, method, credentials, client };
    let request = Request { method: Method::Get, path, body: None };
    let body = fetch_json(ports, auth, &request).await;
    let values =
        lookup_values(&connector.name, (method, oauth), body.as_ref(), &credentials.fields)?;
    let oauth_method = (method, oauth, connector.servers.as_slice());
    let variables = client.map(OauthClient::variables).unwrap_or_default();
    apply_platform_values(&mut credentials.fields, oauth_method, &variables, values, ports);
    Ok(())
}

/// The fields in the lookup's response, with their values. If the user entered a value that selects
/// an account, one of the returned accounts must match it, even if the user also entered the
/// looked-up field. Otherwise a user could bypass a value that the app has fixed.
fn lookup_values(
    name: &str,
    (method, oauth): (&AuthMethod, &OAuth2),
    body: Option<&Value>,
    entered: &BTreeMap<String, String>,
) -> Result<Vec<(String, String)>, String> {
    let mut values = Vec::new();
    let response = body.unwrap_or(&Value::Null);
    for (source, returned) in response::field_values(oauth, SourceKind::Lookup, response, entered) {
        let entered_value = entered.get(&source.field);
        let is_chosen = variables(&source.at).any(|name| entered.contains_key(name));
        match returned.as_slice() {
            [only] => values.push((source.field.clone(), only.clone())),
            [] if is_chosen && body.is_none() => {
                return Err(format!(
                    "{name} did not return your accounts, so what you entered can't be checked."
                ));
            }
            [] if is_chosen => {
                return Err(format!("{name} returned no account that matches what you entered."));
            }
            [] if entered_value.is_none() && body.is_some() => {
                return Err(format!("{name} returned no account."));
            }
            [_, _, ..] if entered_value.is_none_or(|value| !returned.contains(value)) => {
                let missing_variable =
                    variables(&source.at).find(|name| !entered.contains_key(*name));
                let chooser = missing_variable.unwrap_or(&source.field);
                let field = method.fields.iter().find(|field| field.name == chooser);
                let label = field.map_or(chooser, |field| &field.label);
                return Err(format!(
                    "{name} returned several accounts. Connect again, and enter \"{label}\"."
                ));
            }
            _ => {}
        }
    }
    Ok(values)
}

/// Whether the URL of at least one server is complete, and the platform returned all values to look
/// up.
pub fn is_reachable(
    connector: &Connector,
    method: &AuthMethod,
    targets: Targets,
    credentials: &Credentials,
) -> bool {
    let sources = method.oauth2().map_or(&[][..], |oauth| &oauth.field_sources);
    let is_filled =
        |server: &Server| targets.fill(&server.url, &|name| credentials.variable(name)).is_ok();
    method.missing_lookup(&credentials.fields).is_none()
        && (sources.is_empty()
            || connector.servers.is_empty()
            || connector.servers.iter().any(is_filled))
}

/// Fetches the id and the name of the account with the connector's `account` request, unless they are known. On failure,
/// nothing changes.
pub async fn fetch_account<P: Http>(
    ports: &P,
    config: &Config,
    (connector, method): (&Connector, &AuthMethod),
    client: Option<&OauthClient>,
    credentials: &mut Credentials,
) {
    let request = connector.account.as_ref().filter(|_| is_sendable(method));
    let Some(account) = request else { return };
    let wants_name = account.name.is_some() && config.account_names;
    let is_known =
        credentials.account.is_some() && (credentials.account_name.is_some() || !wants_name);
    if is_known {
        return;
    }
    let auth = PlatformAuth { config, connector, method, credentials, client };
    let Some(body) = fetch_json(ports, auth, &account.request).await else { return };
    let text = |pointer: &str| match body.pointer(pointer) {
        Some(Value::String(text)) => Some(text.clone()).filter(|text| !text.is_empty()),
        Some(Value::Number(number)) => Some(json::text(number)),
        _ => None,
    };
    credentials.account = credentials.account.take().or_else(|| text(&account.id));
    // The catalog selects the member that distinguishes two accounts.
    let name = account.name.as_deref().and_then(text).and_then(|text| account::name(&text));
    credentials.account_name = name.or(credentials.account_name.take());
}

/// Exchanges the access token for a long-lived token, if the platform supports that.
pub async fn exchange_for_long_lived<P: Http + Clock>(
    ports: &P,
    endpoint: &TokenEndpoint<'_>,
    tokens: Tokens,
) -> Result<Tokens, TokenError> {
    let exchange = endpoint.oauth.long_lived_token.as_ref();
    let request =
        exchange.and_then(|exchange| endpoint.with_access_token(exchange, &tokens.access_token));
    let Some(request) = request else { return Ok(tokens) };
    let long_lived = request_tokens(ports, endpoint.oauth, request).await?;
    let (mut members, mut field_values) = (tokens.members, tokens.field_values);
    members.extend(long_lived.members);
    field_values.extend(long_lived.field_values);
    Ok(Tokens {
        refresh_token: long_lived.refresh_token.or(tokens.refresh_token),
        scopes: long_lived.scopes.or(tokens.scopes),
        subject: tokens.subject.or(long_lived.subject),
        subject_name: tokens.subject_name.or(long_lived.subject_name),
        members,
        field_values,
        ..long_lived
    })
}

/// Whether requests with these credentials need no signature.
pub fn is_sendable(method: &AuthMethod) -> bool {
    !matches!(method.kind, crate::catalog::detail::Kind::AwsSigv4 { .. })
}

/// The error if the platform is unreachable.
pub fn unreachable_problem(name: &str) -> Problem {
    let detail =
        format!("{name} can't be reached at the moment. Nothing was stored. Try again later.");
    Problem::new(Code::PlatformUnreachable, detail)
}
