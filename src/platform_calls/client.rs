//! HTTP client for a connection's platform. Adds valid credentials; calls only the platform's own servers.

use serde::Serialize;

use crate::auth::Principal;
use crate::catalog::detail::{AuthMethod, Field, Kind, RejectedWhen, Server, variables};
use crate::connect::endpoints::platform::PlatformAuth;
use crate::connect::method::Connector;
use crate::credentials::lifecycle::statements::schedule_check;
use crate::credentials::model::Credentials;
use crate::credentials::refresh::RefreshTrigger;
use crate::credentials::usable::UsableCredentials;
use crate::events::statements as events;
use crate::http::context::{Context, Permit};
use crate::http::problem::{Code, Fault, Location, Problem};
use crate::platform_calls::address::{redirect_target, without_parameters};
use crate::platform_calls::call_error::{CallError, call_error};
use crate::platform_calls::expired_token::is_token_expired;
use crate::platform_calls::headers::{NEXT, RETRIES, RETRY_AT};
use crate::platform_calls::links::{map_urls, next, path_below};
use crate::platform_calls::overrides;
use crate::platform_calls::retry;
use crate::platform_calls::sigv4::{self, Signer, UNSIGNED, timestamp};
use crate::ports::{
    Background, Clock, Db as _, Http, Payload, Ports, StreamingRequest, StreamingResponse,
};
use crate::storage::metering::Metered;
use crate::traces::context::TraceContext;
use crate::traces::span::{PlatformSpan, SpanIds};
use crate::util::json;
use crate::util::percent::encode;
use crate::util::rfc3339::rfc3339;

/// The time limit for the start of a platform's response, in milliseconds.
pub const TIMEOUT_MS: u32 = 30_000;
/// The maximum number of redirects.
const MAX_REDIRECTS: u32 = 5;
/// The maximum length of a path in an event, in bytes. Paths are percent-encoded, so they can be
/// cut at any byte.
const MAX_PATH_BYTES: usize = 500;
/// The minimum age of a token to refresh because the platform rejects it, in milliseconds. If the
/// platform rejects a newer token, it would probably reject its successor too.
const MIN_TOKEN_AGE_MS: u64 = 10_000;

/// The maximum number of retries of a request that the platform temporarily rejects.
const MAX_RETRIES: u8 = 3;
/// The maximum wait before a retry, in milliseconds.
const MAX_RETRY_WAIT_MS: u64 = 20_000;

/// HTTP client for a connection's platform.
pub struct PlatformClient<'a, 'm, P> {
    /// The context of the caller's request.
    pub context: &'a Context<'a>,
    /// The authenticated caller.
    pub principal: &'a Principal,
    pub ports: &'a Metered<'m, P>,
    pub usable: UsableCredentials,
    /// The called action or path, for the event `connection.called`.
    pub target: CallTarget<'a>,
    /// The number of retries when the platform temporarily rejects the request.
    pub retries: u8,
    /// Proof that the caller is allowed to make this call.
    pub permit: Permit,
}

pub struct PlatformResponse {
    pub incoming: StreamingResponse,
    /// The URL of the last request, without credentials.
    pub url: String,
    /// The time at which the platform accepts a retry, in milliseconds since 1970-01-01 UTC.
    retry_at: Option<u64>,
}

impl PlatformResponse {
    /// The status to forward. Fails if it is not a valid HTTP status, which the runtime can't send.
    pub fn status(&self) -> Result<u16, Problem> {
        let status = self.incoming.status;
        if (200..=599).contains(&status) {
            return Ok(status);
        }
        let detail = format!("The platform responded with the status {status}, which is invalid.");
        Err(Problem::new(Code::PlatformUnreachable, detail))
    }

    /// The headers of this service with the time of a possible retry, and the path of the next page
    /// below `server`.
    pub fn continuation(&self, server: &str) -> Vec<(&'static str, String)> {
        let mut links = self.incoming.headers.iter().filter(|(name, _)| name == "link");
        let page = links.find_map(|(_, value)| next(value));
        let page = page.and_then(|address| path_below(server, &self.url, address));
        let retry_at = self.retry_at.and_then(rfc3339);
        let continuation = [(NEXT, page), (RETRY_AT, retry_at)];
        continuation.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// Reads the number of retries from the caller's header.
pub fn retries(context: &Context<'_>) -> Result<u8, Problem> {
    let Some(value) = context.request.header(RETRIES) else { return Ok(0) };
    let number = value.parse().ok().filter(|number| *number <= MAX_RETRIES);
    number.ok_or_else(|| invalid(RETRIES, "must be a whole number from 0 to 3"))
}

/// The problem for an invalid parameter or header.
pub fn invalid(parameter: &str, message: &str) -> Problem {
    let location = Location::Parameter(parameter.to_owned());
    let detail = format!("`{parameter}` {message}");
    Problem::from_fault(Fault { code: Code::InvalidParameter, location, detail, suggestion: None })
}

/// The called action or path, as recorded in events.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CallTarget<'a> {
    /// An action, by its key.
    Action(&'a str),
    /// A path below the server, without its query.
    Path(&'a str),
}

/// The record of a call in an event. Contains no body, header or query.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallRecord<'a> {
    method: &'a str,
    #[serde(flatten)]
    target: CallTarget<'a>,
    /// The status of the platform's response; null without a response.
    status: Option<u16>,
    /// The problem code, or a code for a disconnected caller; null with a response.
    error: Option<&'static str>,
    /// The time until the response began, in milliseconds.
    duration_ms: u64,
    /// The id of the key that was used, or that created the token.
    key_id: &'a str,
    /// The token's identity; null for a key.
    identity: Option<&'a str>,
}

/// A request to a platform, before credentials are added.
pub struct Call<'a> {
    pub method: String,
    /// A URL below one of the platform's servers.
    pub url: String,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    pub payload: Payload<'a>,
}

/// The trace of one request to a platform.
struct Trace {
    context: Option<TraceContext>,
    /// `None` when no span is recorded.
    ids: Option<SpanIds>,
    began: u64,
}

impl CallTarget<'_> {
    /// Truncates a path to [`MAX_PATH_BYTES`] bytes.
    fn truncate(self) -> Self {
        match self {
            Self::Path(path) => Self::Path(path.get(..MAX_PATH_BYTES).unwrap_or(path)),
            action @ Self::Action(_) => action,
        }
    }
}

impl<P: Ports> PlatformClient<'_, '_, P> {
    /// The connector, and the connection's auth method.
    pub fn connector_and_method(&self) -> Result<(&Connector, &AuthMethod), Problem> {
        self.usable.connector.as_ref().zip(self.usable.method()).ok_or_else(|| {
            let (platform, method) =
                (&self.usable.connection.platform, &self.usable.row.auth_method);
            let detail = format!(
                "The catalog no longer has the method `{method}` of `{platform}` by which the account was connected. Reconnect it with another one."
            );
            Problem::new(Code::ConnectionFailed, detail)
        })
    }

    /// The URL of a server of the catalog, with its variables filled in.
    pub fn server(&self, template: &str) -> Result<String, String> {
        let value = |name: &str| self.usable.credentials.variable(name);
        let filled = self.context.config().targets().fill(template, &value);
        filled.map_err(|error| error.to_string())
    }

    /// The URL of the first server whose variables are all known.
    pub fn first_server(&self) -> Result<String, Problem> {
        let (connector, _) = self.connector_and_method()?;
        let mut fault = "it knows no server".to_owned();
        for server in &connector.servers {
            match self.server(&server.url) {
                Ok(url) => return Ok(url),
                Err(error) => fault = error,
            }
        }
        let name = &connector.name;
        let detail = format!("The catalog has no address of {name} that can be called: {fault}.");
        Err(Problem::new(Code::PlatformUnreachable, detail))
    }

    /// Sends a request and follows redirects to the same origin. If the platform rejects the
    /// credentials, refreshes them and repeats the request once, provided that its body can be sent
    /// again. If the platform temporarily rejects the request, retries it up to the caller's limit,
    /// provided that repeating it is safe.
    pub async fn send(self, call: Call<'_>) -> Result<PlatformResponse, Problem> {
        let Self { context, principal, ports, target, .. } = self;
        let config = context.config();
        // Events of calls must not fill the database, so none are stored when it is nearly full.
        if !config.call_events.has(&call.method)
            || context.service.capacity().is_nearly_full(ports.number())
        {
            return Ok(self.send_and_retry(call).await?);
        }
        let (method, id) = (call.method.clone(), self.usable.connection.id.clone());
        let began = ports.now();
        let outcome = self.send_and_retry(call).await;
        let token = context.caller.token();
        let record = CallRecord {
            method: &method,
            target: target.truncate(),
            status: outcome.as_ref().ok().map(|response| response.incoming.status),
            error: outcome.as_ref().err().map(CallError::code),
            duration_ms: ports.now().saturating_sub(began),
            key_id: &principal.key_id,
            identity: token.map(|token| token.restriction.identity.as_str()),
        };
        let call = json::text(&record);
        let tenant = (principal.account.as_str(), principal.environment);
        ports.run_in_background(events::insert_call(tenant, &id, call, config.call_events_per_day));
        Ok(outcome?)
    }

    async fn send_and_retry(mut self, mut call: Call<'_>) -> Result<PlatformResponse, CallError> {
        let (mut redirects, mut earlier_requests): (u32, u32) = (0, 0);
        let mut may_refresh = true;
        let mut retries = if is_repeatable(&call) { self.retries } else { 0 };
        loop {
            let response = self.send_once(&call, earlier_requests).await?;
            earlier_requests = earlier_requests.saturating_add(1);
            let repeats = call.payload != Payload::Stream;
            if may_refresh
                && repeats
                && self.is_worth_refreshing()
                && is_token_expired(self.ports, &response, self.rejected_when()).await
            {
                may_refresh = false;
                let Self { context, principal, ports, .. } = self;
                let trigger = RefreshTrigger::Rejected;
                match self.usable.refresh(context, principal, ports, trigger).await {
                    Ok(()) => continue,
                    Err(problem) if problem.code == Code::ConnectionFailed => {
                        return Err(problem.into());
                    }
                    // Return the platform's own response, which is more helpful than the error of
                    // the refresh.
                    Err(_) => {}
                }
            }
            let now = self.ports.now();
            if response.status == 401 && self.can_be_checked() {
                let Principal { account, environment, .. } = self.principal;
                self.ports.run_in_background(schedule_check(
                    account,
                    *environment,
                    &self.usable.connection.id,
                    now,
                ));
            }
            let wait = retry::wait(&response, now);
            if retries > 0
                && let Some(wait) = wait.filter(|wait| *wait <= MAX_RETRY_WAIT_MS)
            {
                retries = retries.saturating_sub(1);
                if self.ports.sleep(u32::try_from(wait).unwrap_or_default()).await {
                    continue;
                }
            }
            let Some(next) =
                follow_redirect(&call, &response).filter(|_| redirects < MAX_REDIRECTS)
            else {
                let retry_at = wait.map(|wait| now.saturating_add(wait));
                let incoming = self.without_credentials(response);
                return Ok(PlatformResponse { incoming, url: call.url, retry_at });
            };
            redirects = redirects.saturating_add(1);
            call = next;
        }
    }

    /// Whether a health check can confirm that the platform rejects credentials that can't be refreshed. A single
    /// rejected call may have another reason.
    fn can_be_checked(&self) -> bool {
        let is_fixed = |(connector, method): (&Connector, &AuthMethod)| {
            connector.verify.is_some() && !method.is_oauth2()
        };
        self.connector_and_method().is_ok_and(is_fixed)
    }

    /// The content of a response with which the platform rejects credentials.
    fn rejected_when(&self) -> Option<&RejectedWhen> {
        self.usable.connector.as_ref()?.verify.as_ref()?.rejected_when.as_ref()
    }

    fn is_worth_refreshing(&self) -> bool {
        let issued_at = self.usable.row.issued_at.unwrap_or_default();
        self.usable.is_refreshable()
            && self.ports.now().saturating_sub(issued_at) >= MIN_TOKEN_AGE_MS
    }

    /// The trace of the next request. A trace context in the headers of the call, which may come
    /// from an action's input, takes precedence over the caller's.
    fn trace(&self, call: &Call<'_>) -> Trace {
        let context = TraceContext::read(&call.headers)
            .or_else(|| TraceContext::read(&self.context.request.headers));
        let collector = self.context.config().collector.as_ref();
        let ids = collector.and_then(|_| SpanIds::new(context.as_ref(), self.ports));
        Trace { context, ids, began: self.ports.now() }
    }

    /// Adds the span of a request if spans are recorded. `earlier_requests` is the number of earlier requests
    /// of the same call.
    fn add_span(
        &self,
        call: &Call<'_>,
        trace: &Trace,
        earlier_requests: u32,
        outcome: &Result<StreamingResponse, CallError>,
    ) {
        let Some(ids) = &trace.ids else { return };
        let Principal { account, environment, .. } = self.principal;
        let action = match self.target {
            CallTarget::Action(key) => Some(key),
            CallTarget::Path(_) => None,
        };
        let span = PlatformSpan {
            ids,
            context: trace.context.as_ref(),
            method: &call.method,
            url: &call.url,
            resend_count: earlier_requests,
            began: trace.began,
            ended: self.ports.now(),
            status: outcome.as_ref().ok().map(|response| response.status),
            error: outcome.as_ref().err().map(CallError::code),
            platform: &self.usable.connection.platform,
            action,
            account,
            environment: environment.as_str(),
            request_id: self.context.request_id,
        };
        self.ports.add_span(span.to_json());
    }

    /// Sends a request once. `earlier_requests` is the number of earlier requests of the same call.
    async fn send_once(
        &self,
        call: &Call<'_>,
        earlier_requests: u32,
    ) -> Result<StreamingResponse, CallError> {
        let (connector, method) = self.connector_and_method()?;
        let platform_auth = self.usable.auth(self.context.config());
        let auth = platform_auth.map(PlatformAuth::complete_auth).transpose()?.unwrap_or_default();
        if let Some(name) = auth.reserved_header(&call.headers) {
            return Err(self.reserved_header_problem(name).into());
        }
        // Only proxied calls are filtered by value: the parameters of an action come from the
        // platform's API document.
        let is_proxied = matches!(self.target, CallTarget::Path(_));
        let url = without_parameters(&call.url, |name, value| {
            let value = if is_proxied { value } else { "" };
            auth.has_secret(name) || overrides::is_parameter(name, value)
        });
        let mut url = auth.url(&url);
        let sent = call.headers.iter().filter(|(name, _)| !overrides::is_header(name));
        let mut headers = auth.apply_to(sent.cloned().collect());
        let trace = self.trace(call);
        let span_id = trace.ids.as_ref().map(|ids| ids.span_id.as_str());
        TraceContext::set(trace.context.as_ref(), span_id, &mut headers);
        if let Kind::AwsSigv4 { service, regions } = &method.kind {
            url = sigv4::canonical(&url);
            let signer = signer(&self.usable.credentials, service, regions);
            let payload = match call.payload {
                Payload::Bytes(bytes) => sigv4::hash(bytes),
                Payload::Stream if signer.is_s3() => UNSIGNED.to_owned(),
                Payload::Stream => return Err(too_long_to_sign(&connector.name).into()),
            };
            let timestamp = timestamp(self.ports.now());
            signer.sign(&call.method, &url, &mut headers, &payload, &timestamp);
        }
        let (method, payload) = (call.method.as_str(), call.payload);
        let request = StreamingRequest { method, url: &url, headers: &headers, payload };
        let outcome = self.ports.open(request, TIMEOUT_MS).await;
        let outcome = outcome.map_err(|error| call_error(&connector.name, error));
        self.add_span(call, &trace, earlier_requests, &outcome);
        outcome
    }

    /// The problem for a call with a header that the service sets to a secret.
    fn reserved_header_problem(&self, name: &str) -> Problem {
        let (code, location) = match self.target {
            CallTarget::Action(_) => {
                (Code::InvalidBody, Location::Pointer(format!("/header/{name}")))
            }
            CallTarget::Path(_) => (Code::InvalidParameter, Location::Parameter(name.to_owned())),
        };
        let detail = format!("The header `{name}` is sent by the service: leave it out.");
        Problem::from_fault(Fault { code, location, detail, suggestion: None })
    }

    /// Replaces secrets in the servers' URLs with the names of their variables.
    pub fn without_server_secrets(&self, text: &str) -> String {
        let mut redacted = text.to_owned();
        let Ok((connector, method)) = self.connector_and_method() else { return redacted };
        for Field { name, .. } in method.fields.iter().filter(|field| field.secret) {
            let has_variable = |server: &Server| variables(&server.url).any(|known| known == name);
            let value = self.usable.credentials.variable(name).filter(|value| !value.is_empty());
            if let Some(value) = value.filter(|_| connector.servers.iter().any(has_variable)) {
                let named = format!("{{{name}}}");
                redacted = redacted.replace(&encode(value), &named).replace(value, &named);
            }
        }
        redacted
    }

    /// Removes the service's secrets from the URLs in a response's headers.
    fn without_credentials(&self, mut response: StreamingResponse) -> StreamingResponse {
        let platform_auth = self.usable.auth(self.context.config());
        let auth = platform_auth.and_then(|auth| PlatformAuth::available_auth(auth).ok());
        for (name, value) in &mut response.headers {
            let public = |url: &str| {
                let url = self.without_server_secrets(url);
                without_parameters(&url, |name, _| {
                    auth.as_ref().is_some_and(|auth| auth.has_secret(name))
                })
            };
            match name.as_str() {
                "location" | "content-location" => *value = public(value),
                "link" => *value = map_urls(value, public),
                _ => {}
            }
        }
        response
    }
}

/// Whether repeating a request has no second effect.
fn is_repeatable(call: &Call<'_>) -> bool {
    let has_key = || call.headers.iter().any(|(name, _)| name == "idempotency-key");
    call.payload != Payload::Stream && (matches!(call.method.as_str(), "GET" | "HEAD") || has_key())
}

/// The next request after a redirect to the same origin. Returns `None` for other responses, and if the body can't be
/// sent again.
fn follow_redirect<'b>(call: &Call<'b>, response: &StreamingResponse) -> Option<Call<'b>> {
    let url = redirect_target(&call.url, response.header("location")?)?;
    let becomes_get = match response.status {
        301 | 302 => call.method == "POST",
        303 => !matches!(call.method.as_str(), "GET" | "HEAD"),
        307 | 308 => false,
        _ => return None,
    };
    let mut headers = call.headers.clone();
    if becomes_get {
        headers.retain(|(name, _)| !name.starts_with("content-"));
        let (method, payload) = ("GET".to_owned(), Payload::Bytes(&[]));
        return Some(Call { method, url, headers, payload });
    }
    let payload = call.payload;
    let repeated = Call { method: call.method.clone(), url, headers, payload };
    (payload != Payload::Stream).then_some(repeated)
}

fn signer<'h>(credentials: &'h Credentials, service: &'h str, regions: &'h [String]) -> Signer<'h> {
    let field = |name: &str| {
        credentials.fields.get(name).map(String::as_str).filter(|value| !value.is_empty())
    };
    let default_region = regions.first().map_or("us-east-1", String::as_str);
    Signer {
        access_key: field("accessKeyId").unwrap_or_default(),
        secret_key: field("secretAccessKey").unwrap_or_default(),
        session_token: field("sessionToken"),
        region: field("region").unwrap_or(default_region),
        service,
    }
}

fn too_long_to_sign(name: &str) -> Problem {
    let detail = format!(
        "{name} requires a signature over the whole body: send at most 1 MiB, with a `Content-Length`."
    );
    Problem::new(Code::BodyTooLarge, detail)
}
