//! Sign-in for agents: the OAuth endpoints of `/mcp/{endpointId}`, their metadata, the consent
//! page, and the API endpoints that configure the sign-in and manage grants.
//!
//! How each secret is protected if it is leaked or forwarded:
//!
//! - A **code** requires the PKCE verifier, expires after 60 seconds and works once. Using it again
//!   revokes the grant.
//! - A **sign-in link** works only in a browser with the cookie that the authorization endpoint
//!   sets.
//! - A **refresh token** is rotated. Using an old one revokes the grant, except immediately after
//!   the rotation, because clients retry.
//! - An **access token** ends with its grant, and works only at its own `/mcp/{endpointId}`.
//! - A **client** can claim any name. So the consent page also shows verified facts: the host of
//!   the metadata document, and where the code is sent.

mod approval;
mod authorize;
mod callback;
mod consent;
pub mod grants;
mod metadata;
mod register;
pub mod sign_in;
mod token;
mod user_grants;

use crate::agents::sign_in::{Endpoint, endpoint_url};
use crate::agents::{SCOPES, statements};
use crate::auth::Shard;
use crate::auth::authenticate::moved_to;
use crate::auth::key::hash;
use crate::auth::statements::{complete_move, select_forward};
use crate::auth::token::SessionSecrets;
use crate::branding::{Branding, statements as branding};
use crate::catalog::reader::Catalog;
use crate::connect::endpoints::connector;
use crate::connect::endpoints::pages::Page;
use crate::http::endpoint::Open;
use crate::http::form::{Form, FormError};
use crate::http::message::{Body, NO_STORE, Request, Response};
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::oidc::relying_party::RelyingParty;
use crate::oidc::{browser_cookie, is_secret};
use crate::ports::{Db as _, Param, Ports, RateLimit as _, ResultSet, Statement, first_row};
use crate::storage::metering::Metered;
use crate::texts::language::Language;
use crate::texts::{Text, Values, Wording, agents as texts};

/// The name of the cookie that identifies a browser during a sign-in. Because of the prefix
/// `__Host-`, no other host can set it.
const COOKIE: &str = "__Host-agent";
/// The `resource` parameter, which a request may repeat (RFC 8707, section 2).
const RESOURCE: &str = "resource";
const METADATA: [&str; 2] =
    ["/.well-known/oauth-protected-resource/mcp/", "/.well-known/oauth-authorization-server/mcp/"];

/// Whether an endpoint is below `/mcp/{endpointId}` or describes such an endpoint. These endpoints
/// require `BASE_URL`.
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
            | Open::AgentDownload
            | Open::AgentConnect
            | Open::AgentGrants
            | Open::AgentGrantsEnd
            | Open::AgentToken
            | Open::AgentRevoke
    )
}

/// The id of the MCP endpoint in a path.
pub fn endpoint_id_in_path(path: &str) -> Option<&str> {
    let mut prefixes = METADATA.into_iter().chain(["/mcp/"]);
    let rest = prefixes.find_map(|prefix| path.strip_prefix(prefix))?;
    rest.split('/').next().filter(|id| !id.is_empty())
}

/// The id of the MCP endpoint if the path is exactly `/mcp/{endpointId}`.
pub fn endpoint_id_at_path(path: &str) -> Option<&str> {
    path.strip_prefix("/mcp/").filter(|id| !id.is_empty() && !id.contains('/'))
}

/// The shard of the MCP endpoint in a path.
pub fn shard_of(path: &str) -> Option<Shard> {
    endpoint_id_in_path(path).map(Shard::from_secret)
}

/// The value of `WWW-Authenticate` in a response of an MCP endpoint (RFC 6750, section 3; RFC 9728,
/// section 5.1).
pub fn www_authenticate(base: &str, id: &str, error: Option<(&str, &str)>) -> String {
    let [resource, _] = METADATA;
    let metadata = format!("{base}{resource}{id}");
    match error {
        Some((error, scope)) => {
            format!("Bearer error=\"{error}\", resource_metadata=\"{metadata}\", scope=\"{scope}\"")
        }
        None => format!("Bearer resource_metadata=\"{metadata}\", scope=\"{SCOPES}\""),
    }
}

/// The context of a request to `/mcp/{endpointId}`.
pub(super) struct AgentContext<'a, P> {
    service: &'a Service,
    ports: &'a Metered<'a, P>,
    /// The service's own URL.
    base: &'a str,
    id: &'a str,
    now: u64,
    request_id: &'a str,
    /// The texts of the pages in the browser's language, with the name of the account's app.
    wording: Wording<'a>,
    /// The stored endpoint, if it was read together with the branding.
    known: Option<Endpoint>,
}

/// Handles a request to `/mcp/{endpointId}` or below.
pub(crate) async fn respond<P: Ports>(
    service: &Service,
    ports: &Metered<'_, P>,
    request: &Request,
    (open, id): (Open, &str),
    request_id: &str,
) -> Result<Response, Problem> {
    let base = service.config().base_url.as_deref().ok_or_else(Problem::route_not_found)?;
    let now = crate::ports::Clock::now(ports);
    let (own, known) = branding_and_endpoint(ports, open, id).await?;
    let wording =
        Wording::new(service.config(), Language::for_user(None, request)).for_account(&own);
    let agents = AgentContext { service, ports, base, id, now, request_id, wording, known };
    match open {
        Open::AgentResource => agents.resource().await,
        Open::AgentServer => agents.server().await,
        Open::AgentRegister => agents.register(request).await,
        Open::AgentAuthorize => agents.authorize(request).await,
        Open::AgentCallback => agents.callback(request).await,
        Open::AgentContinue => agents.resume(request).await,
        Open::AgentConsent => agents.consent(request).await,
        Open::AgentApproval | Open::AgentDownload | Open::AgentConnect => {
            agents.approval(request).await
        }
        Open::AgentDecision => agents.decide(request).await,
        Open::AgentGrants => agents.user_grants(request).await,
        Open::AgentGrantsEnd => agents.revoke_grants(request).await,
        Open::AgentToken => agents.token(request).await,
        Open::AgentRevoke => agents.revoke(request).await,
        _ => Err(Problem::route_not_found()),
    }
}

/// Reads the account's branding and the endpoint in one batch, for requests that show a page.
async fn branding_and_endpoint<P: Ports>(
    ports: &Metered<'_, P>,
    open: Open,
    id: &str,
) -> Result<(Branding, Option<Endpoint>), Problem> {
    let is_shown = !matches!(
        open,
        Open::AgentServer | Open::AgentRegister | Open::AgentToken | Open::AgentRevoke
    );
    if !is_shown || !is_secret(id) {
        return Ok((Branding::default(), None));
    }
    let batch = vec![branding::select_by_endpoint(id), statements::select_endpoint(id)];
    let sets = run_for_id(ports, id, batch).await?;
    Ok((first_row(&sets, 0)?.unwrap_or_default(), first_row(&sets, 1)?))
}

/// Runs statements in one batch, in the shard that the id from a URL selects.
pub(crate) async fn run_for_id<P: Ports>(
    ports: &Metered<'_, P>,
    id: &str,
    mut statements: Vec<Statement>,
) -> Result<Vec<ResultSet>, Problem> {
    if ports.was_forwarded() {
        ports.batch(complete_move(&Param::text(id)).into()).await?;
    }
    let forward = statements.len();
    statements.push(select_forward(id));
    let sets = ports.batch(statements).await?;
    match moved_to(sets.get(forward))? {
        None => Ok(sets),
        moved_to => Err(Problem { moved_to, ..Problem::unavailable("") }),
    }
}

impl<P: Ports> AgentContext<'_, P> {
    /// The display names of platforms. If the catalog can't be read, pages show the keys instead.
    async fn platform_names(&self, platforms: &[String]) -> Vec<String> {
        let catalog = Catalog::open(self.service.catalog(), self.ports).await.ok();
        let mut names = Vec::with_capacity(platforms.len());
        for platform in platforms {
            let row = match &catalog {
                Some(catalog) => connector(catalog, platform).await.ok().flatten(),
                None => None,
            };
            names.push(row.map_or_else(|| platform.clone(), |connector| connector.name));
        }
        names
    }

    fn secrets(&self) -> &SessionSecrets {
        &self.service.config().sessions
    }

    fn relying_party(&self) -> RelyingParty<'_, P> {
        RelyingParty {
            documents: self.service.documents(),
            ports: self.ports,
            targets: self.service.config().targets(),
            now: self.now,
        }
    }

    fn issuer(&self) -> String {
        endpoint_url(self.base, self.id)
    }

    /// Enforces the rate limit of a client, grant or browser at this endpoint.
    async fn check_rate(&self, rate_key: &str) -> Result<(), Problem> {
        let name = hash(&format!("agents {} {rate_key}", self.id));
        let allowed = self.ports.allow(&name).await;
        allowed.map_err(|wait| Problem::rate_limited("client", wait))
    }

    /// Runs statements in one batch, in the shard of the endpoint.
    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, Problem> {
        run_for_id(self.ports, self.id, statements).await
    }

    /// The endpoint. Returns `None` if its sign-in is not configured.
    async fn endpoint(&self) -> Result<Option<Endpoint>, Problem> {
        // A malformed id does not need a query.
        if !is_secret(self.id) || !self.secrets().can_sign() {
            return Ok(None);
        }
        let endpoint: Option<Endpoint> = match &self.known {
            Some(known) => Some(known.clone()),
            None => first_row(&self.batch(vec![statements::select_endpoint(self.id)]).await?, 0)?,
        };
        Ok(endpoint.filter(|endpoint| endpoint.r#type.is_some()))
    }

    /// The endpoint, or the problem `route_not_found` if its sign-in is not configured.
    async fn require_endpoint(&self) -> Result<Endpoint, Problem> {
        self.endpoint().await?.ok_or_else(Problem::route_not_found)
    }

    /// A page in the user's language.
    fn page(&self, status: u16, heading: &Text, paragraphs: &[&Text], values: Values<'_>) -> Page {
        Page::new(&self.wording, status, heading, paragraphs, values)
    }

    fn sign_in_expired_page(&self) -> Response {
        let paragraphs = [&texts::SIGN_IN_EXPIRED_WHY, &texts::SIGN_IN_EXPIRED_NEXT];
        self.page(410, &texts::SIGN_IN_EXPIRED, &paragraphs, &[]).response()
    }
}

/// The cookie that identifies the browser. Returns `None` if it is missing or malformed.
fn sign_in_cookie(request: &Request) -> Option<&str> {
    browser_cookie(request, COOKIE)
}

/// Adds query parameters to a URL. Parameters without a value are left out.
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

/// Creates an OAuth error response (RFC 6749, section 5.2; RFC 7591, section 3.2.2).
fn oauth_error(status: u16, code: &str, description: &str) -> Response {
    let error = serde_json::json!({"error": code, "error_description": description});
    Response { status, ..Response::json(crate::util::json::bytes(&error), NO_STORE) }
}

/// Parses the form of a request. Only the parameters in `repeatable` may be repeated.
fn form(request: &Request, repeatable: &[&str]) -> Result<Form, Box<Response>> {
    let invalid = |message: &str| Box::new(oauth_error(400, "invalid_request", message));
    let media_type = request.header("content-type").and_then(|value| value.split(';').next());
    if media_type.is_none_or(|media_type| media_type.trim() != "application/x-www-form-urlencoded")
    {
        return Err(invalid("Send the parameters as `application/x-www-form-urlencoded`."));
    }
    let Body::Whole(bytes) = &request.body else {
        return Err(Box::new(oauth_error(
            413,
            "invalid_request",
            "The body is larger than 64 KiB.",
        )));
    };
    let text = std::str::from_utf8(bytes).map_err(|_| invalid("The body is not UTF-8."))?;
    Form::parse(text, repeatable).map_err(|error| invalid(&describe(&error)))
}

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
    use super::{endpoint_id_at_path, endpoint_id_in_path, with_query};

    #[test]
    fn parses_endpoint_id_from_path() {
        for (path, expected_endpoint, expected_exact) in [
            ("/mcp", None, None),
            ("/mcp/", None, None),
            ("/mcp/a", Some("a"), Some("a")),
            ("/mcp/a/token", Some("a"), None),
            ("/.well-known/oauth-protected-resource/mcp/a", Some("a"), None),
            ("/.well-known/oauth-authorization-server/mcp/a", Some("a"), None),
            ("/.well-known/oauth-authorization-server", None, None),
            ("/v1/mcp/a", None, None),
        ] {
            assert_eq!(
                (endpoint_id_in_path(path), endpoint_id_at_path(path)),
                (expected_endpoint, expected_exact),
                "{path}"
            );
        }
    }

    #[test]
    fn adds_query_parameters() {
        let parameters = [("a", Some("b c&")), ("d", None), ("e", Some("f"))];
        assert_eq!(with_query("x://y", &parameters), "x://y?a=b%20c%26&e=f");
        assert_eq!(with_query("x://y?z", &parameters), "x://y?z&a=b%20c%26&e=f");
    }
}
