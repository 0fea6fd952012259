//! A line to the platform of a connection: sends requests with fresh credentials, to the platform's own servers only.

use serde::Serialize;

use crate::auth::Principal;
use crate::catalog::detail::{AuthMethod, Kind};
use crate::connect::endpoints::platform::PlatformAuth;
use crate::connect::method::Connector;
use crate::credentials::fresh::Fresh;
use crate::credentials::held::Held;
use crate::credentials::lifecycle::statements::check_soon;
use crate::events::statements as events;
use crate::http::context::{Context, Permit};
use crate::http::problem::{Code, Fault, Location, Problem};
use crate::platform_calls::address::{redirected, without};
use crate::platform_calls::headers::{NEXT, RETRIES, RETRY_AT};
use crate::platform_calls::links::{next, path_below, with_addresses};
use crate::platform_calls::overrides;
use crate::platform_calls::retry;
use crate::platform_calls::sigv4::{self, Signer, UNSIGNED, stamp};
use crate::ports::{
    Background, Clock, Http, HttpError, Payload, Ports, StreamingRequest, StreamingResponse,
};
use crate::storage::metering::Metered;
use crate::util::json;
use crate::util::rfc3339::rfc3339;

/// How long a platform may take until its answer begins, in milliseconds.
pub const DEADLINE_MS: u32 = 30_000;
/// How many redirects are followed.
const MOST_REDIRECTS: u32 = 5;
/// How many bytes of a path an event shows. Paths are percent-encoded, and so can be cut anywhere.
const LONGEST_PATH: usize = 500;
/// A token that is younger than this is not renewed because the platform rejects it, in milliseconds: the next one would
/// be rejected too.
const YOUNG_MS: u64 = 10_000;

/// The most repetitions of a request that the platform refuses for now.
const MOST_RETRIES: u8 = 3;
/// The longest wait before a repetition, in milliseconds.
const LONGEST_WAIT_MS: u64 = 20_000;

/// A line to a platform.
pub struct Line<'a, 'm, P> {
    /// The request that is being answered.
    pub context: &'a Context<'a>,
    /// For whom.
    pub principal: &'a Principal,
    /// The ports.
    pub ports: &'a Metered<'m, P>,
    /// The credentials.
    pub fresh: Fresh,
    /// What is called, for the event.
    pub called: Called<'a>,
    /// How often a request may be repeated when the platform refuses it for now.
    pub retries: u8,
    /// That the caller may.
    pub permit: Permit,
}

/// What a platform answers.
pub struct Answer {
    /// The answer.
    pub incoming: StreamingResponse,
    /// The address that gave it, without credentials.
    pub url: String,
    /// When the platform wants to be asked again, in milliseconds since 1970.
    retry_at: Option<u64>,
}

impl Answer {
    /// The headers of the service that say how to go on: when to repeat the call, and where the next page of `server` is.
    pub fn onward(&self, server: &str) -> Vec<(&'static str, String)> {
        let mut links = self.incoming.headers.iter().filter(|(name, _)| name == "link");
        let page = links.find_map(|(_, value)| next(value));
        let page = page.and_then(|address| path_below(server, &self.url, address));
        let retry_at = self.retry_at.and_then(rfc3339);
        let onward = [(NEXT, page), (RETRY_AT, retry_at)];
        onward.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// How often a caller wants a request to be repeated.
///
/// # Errors
/// `invalid_parameter` when that is not a number from 0 to 3.
pub fn retries(context: &Context<'_>) -> Result<u8, Problem> {
    let Some(stated) = context.request.header(RETRIES) else { return Ok(0) };
    let number = stated.parse().ok().filter(|number| *number <= MOST_RETRIES);
    number.ok_or_else(|| invalid(RETRIES, "must be a whole number from 0 to 3"))
}

/// A fault of a parameter or a header.
#[must_use]
pub fn invalid(parameter: &str, what: &str) -> Problem {
    let location = Location::Parameter(parameter.to_owned());
    let detail = format!("`{parameter}` {what}");
    Problem::of_fault(Fault { code: Code::InvalidParameter, location, detail, suggestion: None })
}

/// What is called, as events show it.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Called<'a> {
    /// An action, by its key.
    Action(&'a str),
    /// A path below the server, without its query.
    Path(&'a str),
}

/// A call as events show it: never a body, a header or a query.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    method: &'a str,
    #[serde(flatten)]
    called: Called<'a>,
    /// What the platform answered; null when it did not.
    status: Option<u16>,
    /// The error code of the response when the platform did not answer, or that the caller disconnected.
    error: Option<&'static str>,
    /// Until the answer began.
    duration_ms: u64,
    /// The id of the key that was used, or that created the token.
    key_id: &'a str,
    /// The token's identity; null for a key.
    identity: Option<&'a str>,
}

/// A request to a platform, without credentials.
pub struct Call<'a> {
    /// The method.
    pub method: String,
    /// An address below one of the platform's servers.
    pub url: String,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub payload: Payload<'a>,
}

/// Why there is no answer.
enum Silence {
    Problem(Problem),
    /// Nobody waits for one any more.
    CallerLeft,
}

impl Silence {
    /// As events name it.
    fn code(&self) -> &'static str {
        match self {
            Self::Problem(problem) => problem.code.describe().1,
            Self::CallerLeft => "caller_disconnected",
        }
    }
}

impl From<Problem> for Silence {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<Silence> for Problem {
    fn from(silence: Silence) -> Self {
        match silence {
            Silence::Problem(problem) => problem,
            // Nobody reads it.
            Silence::CallerLeft => Self::new(Code::PlatformUnreachable, "The caller left."),
        }
    }
}

impl Called<'_> {
    /// With at most [`LONGEST_PATH`] bytes of a path.
    fn short(self) -> Self {
        match self {
            Self::Path(path) => Self::Path(path.get(..LONGEST_PATH).unwrap_or(path)),
            action @ Self::Action(_) => action,
        }
    }
}

impl<P: Ports> Line<'_, '_, P> {
    /// The platform's connector, and the method by which the account was connected.
    ///
    /// # Errors
    /// `connection_failed` when the catalog no longer has them.
    pub fn ends(&self) -> Result<(&Connector, &AuthMethod), Problem> {
        self.fresh.connector.as_ref().zip(self.fresh.method()).ok_or_else(|| {
            let (platform, method) =
                (&self.fresh.connection.platform, &self.fresh.row.auth_method);
            let detail = format!(
                "The catalog no longer has the method `{method}` of `{platform}` by which the account was connected. Reconnect it with another one."
            );
            Problem::new(Code::ConnectionFailed, detail)
        })
    }

    /// The address of a server of the catalog, with its variables filled in.
    ///
    /// # Errors
    /// What keeps it from being filled in, or from being called.
    pub fn server(&self, template: &str) -> Result<String, String> {
        let value = |name: &str| self.fresh.held.variable(name);
        let filled = self.context.config.targets().fill(template, value);
        filled.map_err(|error| error.to_string())
    }

    /// The address of the first of the platform's servers whose variables are all known.
    ///
    /// # Errors
    /// `platform_unreachable` when there is none.
    pub fn first_server(&self) -> Result<String, Problem> {
        let (connector, _) = self.ends()?;
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

    /// Sends a request. When the platform rejects the credentials, they are renewed, and the request is repeated, once and if
    /// its body can be sent again. When the platform refuses the request for now, it is repeated as often as the caller
    /// wants, if that is safe. Redirects to the same origin are followed.
    ///
    /// # Errors
    /// `platform_unreachable`, `platform_timeout`; `connection_failed` when the credentials turn out to have ended.
    pub async fn send(self, call: Call<'_>) -> Result<Answer, Problem> {
        let Self { context, principal, ports, called, .. } = self;
        if !context.config.call_events.has(&call.method) {
            return Ok(self.exchange(call).await?);
        }
        let (method, id) = (call.method.clone(), self.fresh.connection.id.clone());
        let began = ports.now();
        let outcome = self.exchange(call).await;
        let token = context.caller.token();
        let record = Record {
            method: &method,
            called: called.short(),
            status: outcome.as_ref().ok().map(|answer| answer.incoming.status),
            error: outcome.as_ref().err().map(Silence::code),
            duration_ms: ports.now().saturating_sub(began),
            key_id: &principal.key_id,
            identity: token.map(|token| token.restriction.identity.as_str()),
        };
        let call = json::text(&record);
        ports.run_in_background(events::called(
            &principal.account,
            principal.environment,
            &id,
            call,
        ));
        Ok(outcome?)
    }

    async fn exchange(mut self, mut call: Call<'_>) -> Result<Answer, Silence> {
        let mut redirects: u32 = 0;
        let mut may_renew = true;
        let mut retries = if is_repeatable(&call) { self.retries } else { 0 };
        loop {
            let answer = self.send_once(&call).await?;
            let repeats = call.payload != Payload::Stream;
            if answer.status == 401 && may_renew && repeats && self.is_worth_renewing() {
                may_renew = false;
                let Self { context, principal, ports, fresh, called, retries, permit } = self;
                match fresh.renewed(context, principal, ports, true).await {
                    Ok(fresh) => {
                        self = Self { context, principal, ports, fresh, called, retries, permit };
                        continue;
                    }
                    Err(problem) if problem.code == Code::ConnectionFailed => {
                        return Err(problem.into());
                    }
                    // The platform's own words say more than that there is no new token for now.
                    Err(_) => {
                        return Ok(Answer { incoming: answer, url: call.url, retry_at: None });
                    }
                }
            }
            let now = self.ports.now();
            if answer.status == 401 && self.can_be_checked() {
                let Principal { account, environment, .. } = self.principal;
                self.ports.run_in_background(check_soon(
                    account,
                    *environment,
                    &self.fresh.connection.id,
                    now,
                ));
            }
            let wait = retry::wait(&answer, now);
            if retries > 0
                && let Some(wait) = wait.filter(|wait| *wait <= LONGEST_WAIT_MS)
            {
                retries = retries.saturating_sub(1);
                if self.ports.sleep(u32::try_from(wait).unwrap_or_default()).await {
                    continue;
                }
            }
            let Some(next) = followed(&call, &answer).filter(|_| redirects < MOST_REDIRECTS) else {
                let retry_at = wait.map(|wait| now.saturating_add(wait));
                let incoming = self.without_credentials(answer);
                return Ok(Answer { incoming, url: call.url, retry_at });
            };
            redirects = redirects.saturating_add(1);
            call = next;
        }
    }

    /// Whether a check can tell that the platform no longer accepts credentials that can't be renewed: one refused call may
    /// have another reason.
    fn can_be_checked(&self) -> bool {
        let is_fixed = |(connector, method): (&Connector, &AuthMethod)| {
            connector.verify.is_some() && !method.is_oauth2()
        };
        self.ends().is_ok_and(is_fixed)
    }

    fn is_worth_renewing(&self) -> bool {
        let issued_at = self.fresh.row.issued_at.unwrap_or_default();
        self.fresh.is_renewable() && self.ports.now().saturating_sub(issued_at) >= YOUNG_MS
    }

    async fn send_once(&self, call: &Call<'_>) -> Result<StreamingResponse, Silence> {
        let (connector, method) = self.ends()?;
        let auth = self.fresh.auth(self.context.config);
        let placed = auth.map(PlatformAuth::placed).transpose()?.unwrap_or_default();
        if let Some(name) = placed.conflict(&call.headers) {
            return Err(self.reserved(name).into());
        }
        // The parameters of an action are those of its platform's document.
        let is_free = matches!(self.called, Called::Path(_));
        let url = without(&call.url, |name, value| {
            let value = if is_free { value } else { "" };
            placed.has_secret(name) || overrides::is_parameter(name, value)
        });
        let mut url = placed.url(&url);
        let sent = call.headers.iter().filter(|(name, _)| !overrides::is_header(name));
        let mut headers = placed.over(sent.cloned().collect());
        if let Kind::AwsSigv4 { service, regions } = &method.kind {
            url = sigv4::canonical(&url);
            let signer = signer(&self.fresh.held, service, regions);
            let payload = match call.payload {
                Payload::Bytes(bytes) => sigv4::hash(bytes),
                Payload::Stream if signer.is_s3() => UNSIGNED.to_owned(),
                Payload::Stream => return Err(too_long_to_sign(&connector.name).into()),
            };
            let stamp = stamp(self.ports.now());
            signer.sign(&call.method, &url, &mut headers, &payload, &stamp);
        }
        let (method, payload) = (call.method.as_str(), call.payload);
        let request = StreamingRequest { method, url: &url, headers: &headers, payload };
        self.ports
            .open(request, DEADLINE_MS)
            .await
            .map_err(|error| unanswered(&connector.name, error))
    }

    /// The caller sends a header in which the service sends a secret.
    fn reserved(&self, name: &str) -> Problem {
        let (code, location) = match self.called {
            Called::Action(_) => (Code::InvalidBody, Location::Pointer(format!("/header/{name}"))),
            Called::Path(_) => (Code::InvalidParameter, Location::Parameter(name.to_owned())),
        };
        let detail = format!("The header `{name}` is sent by the service: leave it out.");
        Problem::of_fault(Fault { code, location, detail, suggestion: None })
    }

    /// An answer whose `Location` does not show what only the vault may send.
    fn without_credentials(&self, mut answer: StreamingResponse) -> StreamingResponse {
        let auth = self.fresh.auth(self.context.config);
        let Some(Ok(placed)) = auth.map(PlatformAuth::known) else { return answer };
        for (name, value) in &mut answer.headers {
            let public = |url: &str| without(url, |name, _| placed.has_secret(name));
            match name.as_str() {
                "location" | "content-location" => *value = public(value),
                "link" => *value = with_addresses(value, public),
                _ => {}
            }
        }
        answer
    }
}

/// Whether repeating a request does nothing that the first one may have done already.
fn is_repeatable(call: &Call<'_>) -> bool {
    let has_key = || call.headers.iter().any(|(name, _)| name == "idempotency-key");
    call.payload != Payload::Stream && (matches!(call.method.as_str(), "GET" | "HEAD") || has_key())
}

/// What is sent next after a redirect to the same origin. Returns `None` for any other answer, and when the body can't be
/// sent again.
fn followed<'b>(call: &Call<'b>, answer: &StreamingResponse) -> Option<Call<'b>> {
    let url = redirected(&call.url, answer.header("location")?)?;
    let becomes_get = match answer.status {
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
    let again = Call { method: call.method.clone(), url, headers, payload };
    (payload != Payload::Stream).then_some(again)
}

fn signer<'h>(held: &'h Held, service: &'h str, regions: &'h [String]) -> Signer<'h> {
    let field =
        |name: &str| held.fields.get(name).map(String::as_str).filter(|value| !value.is_empty());
    let usual = regions.first().map_or("us-east-1", String::as_str);
    Signer {
        access_key: field("accessKeyId").unwrap_or_default(),
        secret_key: field("secretAccessKey").unwrap_or_default(),
        session_token: field("sessionToken"),
        region: field("region").unwrap_or(usual),
        service,
    }
}

fn too_long_to_sign(name: &str) -> Problem {
    let detail =
        format!("{name} wants the whole body signed: send at most 1 MiB, with a `Content-Length`.");
    Problem::new(Code::BodyTooLarge, detail)
}

/// The platform gave no answer.
fn unanswered(name: &str, error: HttpError) -> Silence {
    let problem = match error {
        HttpError::CallerLeft => return Silence::CallerLeft,
        HttpError::TimedOut => {
            let detail = format!("{name} did not answer within 30 seconds.");
            Problem::new(Code::PlatformTimeout, detail)
        }
        HttpError::Unreachable | HttpError::TooLarge => {
            let detail = format!("{name} can't be reached, or broke the connection off.");
            Problem::new(Code::PlatformUnreachable, detail)
        }
    };
    problem.into()
}
