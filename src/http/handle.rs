//! Handles every request: routes it, authenticates the caller, runs the endpoint's handler, and
//! adds the common headers.

use super::authorizer::{KeyAuthorizer, authorize};
use super::context::Context;
use super::cors;
use super::endpoint::{self, Endpoint, Keyed, Open};
use super::handler::Handler;
use super::message::{Request, Response};
use super::problem::{Code, Problem};
use super::route::{Resource, Route, nearest_path};
use super::service::{Service, is_mcp};
use super::{open, page};
use crate::agents::SCOPES;
use crate::agents::endpoints as agents;
use crate::audit::statements::caller_actor;
use crate::auth::Caller;
use crate::auth::statements::{Guard, caller_key};
use crate::connect::endpoints::link::BrowserContext;
use crate::connect::endpoints::pages::Page;
use crate::console::endpoints as console;
use crate::mcp;
use crate::platform_calls::endpoints::download;
use crate::platform_calls::headers::SOURCE;
use crate::ports::{Dataset as _, Db, Ports, RateLimit};
use crate::storage::metering::Metered;
use crate::storage::read_replica::{self, BOOKMARK};
use crate::terms::Scopes;
use crate::texts::language::Language;
use crate::texts::{Wording, agents as texts};
use crate::usage::counts::{UsageDimensions, endpoint_group};
use crate::util::percent::encode;

/// The value of `strict-transport-security`: browsers use only HTTPS for this host, for a year after each response (RFC
/// 6797).
const STRICT_TRANSPORT_SECURITY: &str = "max-age=31536000";

/// The maximum number of times that a request is forwarded to another database. An account may have
/// moved more than once.
pub const MAX_FORWARDS: usize = 4;

/// Handles a request. `ports` reach the database of [`Service::shard`].
///
/// 1. Route. Endpoints that need no key respond immediately.
/// 2. Read the secret. Below `/v1`, nothing is revealed without a well-formed key or a valid token.
/// 3. Refuse requests by path, method, cached scopes and rate limit. The rate limit comes before storage,
///    which it protects.
/// 4. Prepare the endpoint's handler, which finds the faults of the request and the statements to run.
/// 5. Query storage once, for the key's row and the handler's statements; authenticate; authorize. A catalog request
///    needs no query when the caller's scopes are cached. Refusals are reported in the order of `docs/api.md`, whichever
///    was found first: 401, 404 or 405, 403, 429, then those of the handler. A token carries its scopes, so a token
///    without the scope is refused before the query that checks its key.
/// 6. Respond.
///
/// Every response carries the common headers, such as `vary` and `x-request-id`.
pub async fn handle<P: Ports>(service: &Service, ports: &P, request: &Request) -> Response {
    let metered = Metered::new(ports);
    let request_id = ports.uuid();
    let route = Route::parse(&request.path);
    let exchange = Exchange {
        service,
        ports: &metered,
        request,
        route: &route,
        request_id: &request_id,
        now: ports.now(),
    };
    let mut response = match exchange.respond().await {
        Ok(response) => response,
        Err(problem) => problem.into_response(&request.origin, &request_id),
    };
    if response.status == 401 && is_mcp(&request.path) {
        exchange.challenge_agent(&mut response);
    }
    exchange.record_storage_use(&mut response);
    metered.send_spans(service.config().collector.as_ref());
    exchange.count(&response);
    exchange.add_common_headers(&mut response);
    if request.method == "HEAD" {
        response.drop_body();
    }
    response
}

/// A request that is being handled, with the service and the ports that it uses.
struct Exchange<'a, P> {
    service: &'a Service,
    ports: &'a Metered<'a, P>,
    request: &'a Request,
    route: &'a Route,
    request_id: &'a str,
    now: u64,
}

impl<P: Ports> Exchange<'_, P> {
    async fn respond(&self) -> Result<Response, Problem> {
        // 1. Route.
        let resource = match self.route {
            Route::Resource(resource) => Some(resource),
            Route::UnknownInApi => None,
            Route::Unknown => {
                if let Some(path) = self.request.path.strip_suffix('/').filter(|path| is_mcp(path))
                {
                    // Users add a slash to the address. Clients repeat the request at the target.
                    let mut redirect = Response::empty(308);
                    redirect.add("location", path.to_owned());
                    return Ok(redirect);
                }
                return page::not_found(self.request).ok_or_else(|| self.unknown_path());
            }
        };
        if self.request.method == "OPTIONS" {
            return Ok(cors::preflight(self.service.config(), self.request, resource));
        }
        let endpoint =
            match resource.map(|resource| (resource, resource.endpoint(&self.request.method))) {
                Some((resource, Some(Endpoint::Open(open)))) => {
                    return self.respond_without_key(open, resource).await;
                }
                Some((_, Some(Endpoint::Keyed(keyed)))) => Ok(keyed),
                Some((resource, None)) => match self.method_not_allowed(resource) {
                    Err(refusal) if is_mcp(&self.request.path) => {
                        return self.address_page(&refusal).ok_or(refusal);
                    }
                    refusal => Err(refusal?),
                },
                None => Err(self.unknown_path()),
            };

        // 2. Read the secret.
        let caller = self.caller()?;
        if let Ok(keyed) = endpoint {
            self.attribute_changes(keyed, &caller);
            self.set_usage_dimensions(keyed, &caller, resource);
        }

        // 3. Refuse invalid requests that can be recognized without storage. Tokens of grants and sessions are always
        // checked, because the grant or the session may have ended.
        let is_catalog = resource.is_none_or(Resource::is_catalog);
        let may_use_cache = !caller.has_revocable_row() && is_catalog;
        let known_scopes = self.known_scopes(&caller, may_use_cache)?;
        let allowed = self.allow(&endpoint, &caller, known_scopes).await?;

        // 4. Prepare.
        let capacity_error = self.service.capacity().capacity_error(self.ports.number());
        let context = allowed.map(|endpoint| Context {
            request: self.request,
            endpoint,
            arguments: resource.map(Resource::arguments).unwrap_or_default(),
            caller: &caller,
            service: self.service,
            capacity_error: capacity_error.as_ref(),
            now: self.now,
            request_id: self.request_id,
        });
        let handler = match &context {
            Ok(context) => self.prepare(context).await,
            Err(problem) => Err(problem.clone()),
        };

        // 5. Query storage, authenticate, authorize. 6. Respond.
        let authorizer = KeyAuthorizer {
            service: self.service,
            ports: self.ports,
            caller: &caller,
            endpoint: &endpoint,
            is_known: may_use_cache && known_scopes.is_some(),
            now: self.now,
        };
        match handler {
            Ok(Handler::Catalog(response)) => {
                authorizer.ensure_authorized().await?;
                response.await
            }
            Ok(Handler::Render { statements, render }) => {
                let (principal, results) = authorizer.authorize_and_run(statements).await?;
                render(&results, &principal)
            }
            Ok(Handler::Async { statements, respond }) => {
                let (principal, results) = authorizer.authorize_and_run(statements).await?;
                respond(results, principal).await
            }
            Err(problem) => {
                authorizer.ensure_authorized().await?;
                Err(problem)
            }
        }
    }

    /// Responds at an endpoint that needs no key, or checks the key itself.
    async fn respond_without_key(
        &self,
        open: Open,
        resource: &Resource,
    ) -> Result<Response, Problem> {
        let Self { service, ports, request, request_id, now, .. } = *self;
        // Many of these pages can be opened only once, so a prefetch must not use them up. The
        // browser requests the page again when the user opens it.
        if request.is_prefetch() {
            return Err(Problem::new(Code::Unavailable, "This page can't be prefetched."));
        }
        if matches!(open, Open::Mcp | Open::AgentMcp) {
            open::ensure_enabled(open, service.config())?;
            return Box::pin(mcp::respond(service, ports.inner(), request)).await;
        }
        if agents::is_own(open) {
            let id = resource.arguments().first().map(String::as_str).unwrap_or_default();
            return Box::pin(agents::respond(service, ports, request, (open, id), request_id))
                .await;
        }
        if console::is_own(open) {
            let id = resource.arguments().first().map(String::as_str).unwrap_or_default();
            let responding = console::respond(service, ports, request, (open, id), request_id);
            return Box::pin(responding).await;
        }
        if open == Open::Download {
            let secret = resource.arguments().first().map(String::as_str).unwrap_or_default();
            return Box::pin(download::respond(service, ports, request, secret)).await;
        }
        let (config, catalog, starts) = (service.config(), service.catalog(), service.starts());
        let wording = Wording::new(config, Language::for_user(None, request));
        let context = BrowserContext { config, catalog, starts, ports, now, request_id, wording };
        Box::pin(open::respond(open, &context, request, resource.arguments())).await
    }

    /// The page for people who open an MCP URL in a browser. Returns `None` for programs, and if
    /// the refusal is not about the method.
    fn address_page(&self, refusal: &Problem) -> Option<Response> {
        let allow = refusal.allow.as_ref().filter(|_| page::is_from_browser(self.request))?;
        let config = self.service.config();
        let wording = Wording::new(config, Language::for_user(None, self.request));
        let mut page = Page::new(&wording, 405, &texts::ADDRESS, &[&texts::ADDRESS_WHAT], &[]);
        if let Some(id) = agents::endpoint_id_at_path(&self.request.path) {
            let label = wording.format_text(&texts::EARLIER, &[]);
            page.links.push((format!("/mcp/{}/grants", encode(id)), label));
        }
        let mut response = page.response();
        response.add("allow", allow.to_string());
        Some(response)
    }

    /// The problem for an unknown path.
    fn unknown_path(&self) -> Problem {
        let problem = Problem::route_not_found();
        match nearest_path(&self.request.path) {
            Some(path) => {
                let detail = format!("The service has no such path; did you mean `{path}`?");
                Problem { detail: detail.into(), ..problem }
            }
            None => problem,
        }
    }

    /// The problem for a method that the path does not support. `Err` if the path has an open
    /// endpoint, which needs no authentication.
    fn method_not_allowed(&self, resource: &Resource) -> Result<Problem, Problem> {
        let refusal = Problem::method_not_allowed(resource.allow());
        match resource.open() {
            // A path that the configuration disables returns 404 for every method.
            Some(open) => open::ensure_enabled(open, self.service.config()).and(Err(refusal)),
            None => Ok(refusal),
        }
    }

    /// The caller, with a valid token, or with a well-formed key that storage has not confirmed
    /// yet.
    fn caller(&self) -> Result<Caller, Problem> {
        let (now, request) = (self.now, self.request);
        let caller = self.service.caller(request)?;
        match &caller {
            Caller::Key(key) => self.ports.add_last_use(self.service.last_uses().due(key, now)),
            Caller::Token(token) if token.is_valid(now, page_origin(request), &request.origin) => {
                self.ports.hide_rows();
            }
            // Only the console uses these tokens, and it runs on this host.
            Caller::Person(token)
                if token.is_valid(now, None, &request.origin)
                    && page_origin(request).is_none_or(|from| from == request.origin) =>
            {
                self.ports.add_last_use(self.service.last_uses().due_session(token, now));
                self.ports.hide_rows();
            }
            Caller::Token(_) | Caller::Person(_) => return Err(caller.rejection().into()),
        }
        Ok(caller)
    }

    /// Attributes the endpoint's changes to the caller in the audit log.
    fn attribute_changes(&self, endpoint: Keyed, caller: &Caller) {
        if endpoint.has_actor() {
            let guard = Guard::new(caller, endpoint.access().scope(), self.now);
            self.ports.set_actor(caller_actor(&guard, caller, self.now, self.request_id));
        }
    }

    /// Sets the dimensions under which the usage counts the request: caller, endpoint, platform and identity.
    fn set_usage_dimensions(&self, endpoint: Keyed, caller: &Caller, resource: Option<&Resource>) {
        if self.service.config().usage_days == 0 && !self.ports.has_dataset() {
            return;
        }
        let has_platform = endpoint.spec().path.contains("/{platform}");
        let in_path =
            resource.filter(|_| has_platform).and_then(|resource| resource.arguments().first());
        self.ports.set_usage_dimensions(UsageDimensions {
            // The counts may be written after a person's session has ended, so use the key, whose
            // row remains.
            caller: caller
                .person()
                .map_or_else(|| caller_key(caller), |token| token.key_id.clone()),
            endpoint: endpoint_group(endpoint.access()),
            platform_in_path: in_path.cloned(),
            platform: None,
            identity: caller.token().map(|token| token.restriction.identity.clone()),
        });
    }

    /// Counts the request in memory. A caller that is not authenticated, or whose account has moved, is not counted.
    fn count(&self, response: &Response) {
        let dimensions = self.ports.take_usage_dimensions();
        if let Some(dimensions) = dimensions.filter(|_| response.status != 401)
            && response.moved_to.is_none()
        {
            self.service.usage().add(self.ports.number(), dimensions, response.status, self.now);
        }
    }

    /// The caller's scopes, if they are cached. Fails for a key that is cached as invalid.
    fn known_scopes(
        &self,
        caller: &Caller,
        may_use_cache: bool,
    ) -> Result<Option<Scopes>, Problem> {
        match caller {
            Caller::Token(token) | Caller::Person(token) => Ok(Some(token.scopes)),
            Caller::Key(key) if may_use_cache => {
                Ok(self.service.keys().get_cached(key, self.now)?)
            }
            Caller::Key(_) => Ok(None),
        }
    }

    /// Counts the request against the rate limit. The inner result is the endpoint, or a refusal that is reported only
    /// to an authenticated caller. The outer result fails when the known scopes do not include the endpoint's scope.
    async fn allow(
        &self,
        endpoint: &Result<Keyed, Problem>,
        caller: &Caller,
        known_scopes: Option<Scopes>,
    ) -> Result<Result<Keyed, Problem>, Problem> {
        let endpoint = match known_scopes {
            Some(scopes) => authorize(endpoint, caller, scopes)?,
            None => match endpoint {
                Ok(endpoint) => *endpoint,
                Err(refusal) => return Ok(Err(refusal.clone())),
            },
        };
        let allowed = self.ports.allow(&caller.rate_key().to_string()).await;
        Ok(allowed.map(|()| endpoint).map_err(|wait| Problem::rate_limited(caller.noun(), wait)))
    }

    /// Prepares the endpoint's handler. Fails for an endpoint that adds rows when the database is nearly full.
    async fn prepare<'c>(&'c self, context: &'c Context<'c>) -> Result<Handler<'c>, Problem> {
        let number = self.ports.number();
        self.ports.use_session(read_replica::session(self.request, context.endpoint, number)?);
        let handler = endpoint::prepare(context, self.ports).await?;
        if context.endpoint.adds_rows() && !matches!(handler, Handler::Catalog(_)) {
            context.ensure_capacity()?;
        }
        Ok(handler)
    }

    /// Replaces `www-authenticate` with a challenge that MCP clients understand (RFC 6750).
    fn challenge_agent(&self, response: &mut Response) {
        response.headers.retain(|(name, _)| *name != "www-authenticate");
        let base = self.service.config().base_url.as_deref();
        let endpoint = agents::endpoint_id_at_path(&self.request.path).zip(base);
        let challenge = endpoint.map_or_else(
            || "Bearer".to_owned(),
            |(id, base)| {
                let has_secret = !self.service.secrets(self.request).is_empty();
                agents::www_authenticate(base, id, has_secret.then_some(("invalid_token", SCOPES)))
            },
        );
        response.add("www-authenticate", challenge);
    }

    /// Caches the size of the database and the time of the key's last use, and adds the bookmark to the response.
    fn record_storage_use(&self, response: &mut Response) {
        let (service, ports) = (self.service, self.ports);
        response.has_deliveries = ports.has_deliveries();
        service.capacity().record_size(ports.number(), ports.size());
        // After a 401, the replica may be one of the account's former database, which no longer has
        // the key.
        if ports.bookmark().is_some() && response.status != 401 {
            ports.record_last_use_later();
        }
        if matches!(response.status, 401 | 403) {
            ports.hide_reads();
        } else if let Some(bookmark) = ports.bookmark() {
            response.add(BOOKMARK, read_replica::header_value(&bookmark, ports.number()));
        }
        if let Some(recorded_last_use) =
            ports.recorded_last_use().filter(|_| response.status != 401)
        {
            service.last_uses().record(recorded_last_use);
        }
    }

    fn add_common_headers(&self, response: &mut Response) {
        let calls_platform =
            matches!(self.route, Route::Resource(resource) if resource.has(Keyed::calls_platform));
        if calls_platform && response.header(SOURCE).is_none() {
            response.add(SOURCE, "vault");
        }
        cors::expose(self.service.config(), self.request, response);
        response.add_to_vary(self.service.vary());
        if response.status == 404 {
            // The number of rows read differs between rows of another tenant and rows that do not
            // exist.
            self.ports.hide_rows();
        }
        response.add("server-timing", self.ports.to_string());
        response.add("x-content-type-options", "nosniff");
        if self.request.origin.starts_with("https:") {
            response.add("strict-transport-security", STRICT_TRANSPORT_SECURITY);
        }
        response.add("x-request-id", self.request_id);
    }
}

/// The origin of the page that sent the request. Browsers omit `Origin` from same-origin reads, but
/// set `Sec-Fetch-Site`. Returns `None` when the origin is not known.
fn page_origin(request: &Request) -> Option<&str> {
    let own_origin = || {
        let is_same_origin = request.header("sec-fetch-site") == Some("same-origin");
        is_same_origin.then_some(request.origin.as_str())
    };
    request.header("origin").or_else(own_origin)
}
