//! Sign-in for agents: the OAuth endpoints of `/mcp/{endpointId}` and their metadata, the consent page, and the part of the API
//! that configures sign-in and manages grants. `crate::agents` has the rules.
//!
//! What a leak or a forwarded link is worth:
//!
//! - A **code** needs the verifier (PKCE), works once and for 60 seconds, and ends its grant when it comes a second time.
//! - A link of the **sign-in**, forwarded in either direction, lacks the cookie that only the authorization endpoint sets.
//! - A **refresh token** is rotated: a copy ends the grant, unless it is used just after the original, as a retry is. An
//!   **access token** ends with its grant, and opens nothing but its own `/mcp/{endpointId}`.
//! - A **client** is whatever it says. So the consent page shows what was checked: the host of a metadata document, and where the
//!   code is sent.

mod approval;
mod authorize;
mod callback;
mod consent;
pub mod documents;
pub mod grants;
mod metadata;
mod register;
pub mod sign_in;
mod token;

use crate::agents::form::{Form, FormError};
use crate::agents::sign_in::{Endpoint, address};
use crate::agents::{SCOPES, hash, statements};
use crate::auth::Shard;
use crate::auth::authenticate::moved_to;
use crate::auth::statements::{arrive, select_forward};
use crate::auth::token::SessionSecrets;
use crate::connect::endpoints::pages::Page;
use crate::http::endpoint::Open;
use crate::http::message::{Body, NO_STORE, Request, Response};
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::ports::{Db as _, Param, Ports, RateLimit as _, ResultSet, Statement, first_row};
use crate::storage::metering::Metered;

/// The cookie that identifies a browser during a sign-in. Only this host's own pages can have set it.
const COOKIE: &str = "__Host-agent";
/// The parameter that agents may repeat (RFC 8707, section 2).
const RESOURCE: &str = "resource";
const METADATA: [&str; 2] =
    ["/.well-known/oauth-protected-resource/mcp/", "/.well-known/oauth-authorization-server/mcp/"];

/// Whether an endpoint is one of those below `/mcp/{endpointId}` or describes them: they exist where the service knows its own
/// address.
#[must_use]
pub const fn is_own(open: Open) -> bool {
    matches!(
        open,
        Open::AgentMcp
            | Open::AgentResource
            | Open::AgentServer
            | Open::AgentRegister
            | Open::AgentAuthorize
            | Open::AgentCallback
            | Open::AgentContinue
            | Open::AgentConsent
            | Open::AgentApproval
            | Open::AgentDecision
            | Open::AgentToken
            | Open::AgentRevoke
    )
}

/// The id of the MCP endpoint that a path belongs to. Returns `None` for every other path.
#[must_use]
pub fn endpoint_of(path: &str) -> Option<&str> {
    let mut prefixes = METADATA.into_iter().chain(["/mcp/"]);
    let rest = prefixes.find_map(|prefix| path.strip_prefix(prefix))?;
    rest.split('/').next().filter(|id| !id.is_empty())
}

/// The id of the MCP endpoint whose address a path is. Returns `None` for every other path.
#[must_use]
pub fn endpoint_at(path: &str) -> Option<&str> {
    path.strip_prefix("/mcp/").filter(|id| !id.is_empty() && !id.contains('/'))
}

/// The database of an endpoint.
#[must_use]
pub fn shard_of(path: &str) -> Option<Shard> {
    endpoint_of(path).map(Shard::of_secret)
}

/// The value of `WWW-Authenticate` for a request to an endpoint (RFC 6750, section 3; RFC 9728, section 5.1).
#[must_use]
pub fn challenge(base: &str, id: &str, error: Option<(&str, &str)>) -> String {
    let [resource, _] = METADATA;
    let metadata = format!("{base}{resource}{id}");
    match error {
        Some((error, scope)) => {
            format!("Bearer error=\"{error}\", resource_metadata=\"{metadata}\", scope=\"{scope}\"")
        }
        None => format!("Bearer resource_metadata=\"{metadata}\", scope=\"{SCOPES}\""),
    }
}

/// What answers to the agents and browsers of one endpoint need besides the request.
pub(super) struct Agents<'a, P> {
    service: &'a Service,
    ports: &'a Metered<'a, P>,
    /// The service's own address.
    base: &'a str,
    /// The id of the endpoint, as the path has it.
    id: &'a str,
    now: u64,
    request_id: &'a str,
}

/// Answers a request for one of these endpoints.
///
/// # Errors
/// `route_not_found` where the service does not know its own address, or has no such endpoint; when storage can't answer.
pub(crate) async fn answer<P: Ports>(
    service: &Service,
    ports: &Metered<'_, P>,
    request: &Request,
    (open, id): (Open, &str),
    request_id: &str,
) -> Result<Response, Problem> {
    let base = service.config().base_url.as_deref().ok_or_else(Problem::no_route)?;
    let now = crate::ports::Clock::now(ports);
    let agents = Agents { service, ports, base, id, now, request_id };
    match open {
        Open::AgentResource => agents.resource().await,
        Open::AgentServer => agents.server().await,
        Open::AgentRegister => agents.register(request).await,
        Open::AgentAuthorize => agents.authorize(request).await,
        Open::AgentCallback => agents.callback(request).await,
        Open::AgentContinue => agents.resume(request).await,
        Open::AgentConsent => agents.consent(request).await,
        Open::AgentApproval => agents.approval(request).await,
        Open::AgentDecision => agents.decide(request).await,
        Open::AgentToken => agents.token(request).await,
        Open::AgentRevoke => agents.revoke(request).await,
        _ => Err(Problem::no_route()),
    }
}

impl<P: Ports> Agents<'_, P> {
    fn secrets(&self) -> &SessionSecrets {
        &self.service.config().sessions
    }

    fn issuer(&self) -> String {
        address(self.base, self.id)
    }

    /// Counts a request of somebody who asks this endpoint for something.
    async fn count(&self, who: &str) -> Result<(), Problem> {
        let name = hash(&format!("agents {} {who}", self.id));
        let allowed = self.ports.allow(&name).await;
        allowed.map_err(|wait| Problem::too_often("client", wait))
    }

    /// Runs statements in one batch, at the database where the endpoint is.
    async fn batch(&self, mut statements: Vec<Statement>) -> Result<Vec<ResultSet>, Problem> {
        if self.ports.was_forwarded() {
            self.ports.batch(arrive(&Param::text(self.id)).into()).await?;
        }
        let forward = statements.len();
        statements.push(select_forward(self.id));
        let sets = self.ports.batch(statements).await?;
        match moved_to(sets.get(forward))? {
            None => Ok(sets),
            moved_to => Err(Problem { moved_to, ..Problem::unavailable("") }),
        }
    }

    /// The endpoint, if sign-in is configured there.
    async fn endpoint(&self) -> Result<Option<Endpoint>, Problem> {
        // Whatever can't be an id leads to no database.
        if !is_id(self.id) || !self.secrets().can_sign() {
            return Ok(None);
        }
        let sets = self.batch(vec![statements::select_endpoint(self.id)]).await?;
        let endpoint: Option<Endpoint> = first_row(&sets, 0)?;
        Ok(endpoint.filter(|endpoint| endpoint.r#type.is_some()))
    }

    /// As [`Self::endpoint`].
    ///
    /// # Errors
    /// `route_not_found` when there is none.
    async fn existing(&self) -> Result<Endpoint, Problem> {
        self.endpoint().await?.ok_or_else(Problem::no_route)
    }

    /// A page with a heading and paragraphs only.
    fn page(&self, status: u16, heading: &str, paragraphs: &[&str]) -> Response {
        let page = Page {
            heading: heading.to_owned(),
            paragraphs: paragraphs.iter().map(|text| (*text).to_owned()).collect(),
            app: self.service.config().app_name.clone(),
            status,
            ..Page::default()
        };
        page.response()
    }

    /// The page of a sign-in that can't go on.
    fn over(&self) -> Response {
        self.page(
            410,
            "This sign-in is no longer valid",
            &[
                "It was completed already, took too long, or was started in another browser. Your agent got no access.",
                "Go back to your agent and connect it again.",
            ],
        )
    }
}

/// Whether a text can be the id of an endpoint, or another secret that this service made.
fn is_id(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (43..=45).contains(&text.len()) && text.bytes().all(letter)
}

/// The browser's cookie. Returns `None` when it sent none that can be ours.
fn browser(request: &Request) -> Option<&str> {
    let pairs = request.header("cookie")?.split(';').map(str::trim);
    let mut ours = pairs.filter_map(|pair| pair.strip_prefix(COOKIE)?.strip_prefix('='));
    ours.find(|value| is_id(value))
}

/// A redirect.
fn redirect(url: String) -> Response {
    let mut response = Response::empty(303);
    response.add("location", url);
    response.add("cache-control", NO_STORE);
    response.add("referrer-policy", "no-referrer");
    response
}

/// An address with more parameters.
fn with_query(url: &str, parameters: &[(&str, Option<&str>)]) -> String {
    let mut url = url.to_owned();
    for (name, value) in parameters {
        let Some(value) = value else { continue };
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str(name);
        url.push('=');
        url.push_str(&crate::util::percent::encode(value));
    }
    url
}

/// An error of OAuth (RFC 6749, section 5.2; RFC 7591, section 3.2.2).
fn refuse(status: u16, code: &str, description: &str) -> Response {
    let error = serde_json::json!({"error": code, "error_description": description});
    Response { status, ..Response::json(crate::util::json::bytes(&error), NO_STORE) }
}

/// The parameters of a request that is sent as a form. Only `repeatable` ones may be given more than once.
///
/// # Errors
/// The response to any other request.
fn form(request: &Request, repeatable: &[&str]) -> Result<Form, Box<Response>> {
    let invalid = |what: &str| Box::new(refuse(400, "invalid_request", what));
    let media_type = request.header("content-type").and_then(|value| value.split(';').next());
    if media_type.is_none_or(|it| it.trim() != "application/x-www-form-urlencoded") {
        return Err(invalid("Send the parameters as `application/x-www-form-urlencoded`."));
    }
    let Body::Whole(bytes) = &request.body else {
        return Err(Box::new(refuse(413, "invalid_request", "The body is larger than 64 KiB.")));
    };
    let text = std::str::from_utf8(bytes).map_err(|_| invalid("The body is not UTF-8."))?;
    Form::parse(text, repeatable).map_err(|error| invalid(&describe(&error)))
}

/// What is wrong with parameters.
fn describe(error: &FormError) -> String {
    match error {
        FormError::Encoding => "A parameter is not encoded correctly.".to_owned(),
        FormError::Duplicate(name) => {
            format!("`{}` is given more than once.", crate::util::nearest::shown(name))
        }
        FormError::TooMany => "There are more than 200 parameters.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{endpoint_at, endpoint_of, with_query};

    #[test]
    fn a_path_names_its_endpoint() {
        for (path, of, at) in [
            ("/mcp", None, None),
            ("/mcp/", None, None),
            ("/mcp/a", Some("a"), Some("a")),
            ("/mcp/a/token", Some("a"), None),
            ("/.well-known/oauth-protected-resource/mcp/a", Some("a"), None),
            ("/.well-known/oauth-authorization-server/mcp/a", Some("a"), None),
            ("/.well-known/oauth-authorization-server", None, None),
            ("/v1/mcp/a", None, None),
        ] {
            assert_eq!((endpoint_of(path), endpoint_at(path)), (of, at), "{path}");
        }
    }

    #[test]
    fn parameters_are_added_to_an_address() {
        let parameters = [("a", Some("b c&")), ("d", None), ("e", Some("f"))];
        assert_eq!(with_query("x://y", &parameters), "x://y?a=b%20c%26&e=f");
        assert_eq!(with_query("x://y?z", &parameters), "x://y?z&a=b%20c%26&e=f");
    }
}
