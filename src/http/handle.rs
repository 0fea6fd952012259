//! The flow of every request, from its plain parts to the response.

use super::config::Config;
use super::context::Context;
use super::cors;
use super::endpoint::{Endpoint, Keyed, Open};
use super::message::{NO_STORE, Request, Response};
use super::plan::{Plan, plan};
use super::problem::Problem;
use super::route::{Resource, Route};
use super::{open, page};
use crate::agents::SCOPES;
use crate::agents::endpoints as agents;
use crate::agents::endpoints::documents::Documents;
use crate::audit::statements::by_caller;
use crate::auth::authenticate::{KeyCache, moved_to, owner};
use crate::auth::caller::shard_of;
use crate::auth::error::AuthenticationError;
use crate::auth::statements::{Guard, arrive, name_of, select_key};
use crate::auth::usage::Usage;
use crate::auth::{Caller, Principal, Shard};
use crate::catalog::cache::CatalogCache;
use crate::connect::endpoints::callback::Starts;
use crate::connect::endpoints::link::{Desk, shard_of_browser};
use crate::mcp;
use crate::platform_calls::headers::SOURCE;
use crate::ports::{Db, Ports, RateLimit, ResultSet};
use crate::storage::capacity::Room;
use crate::storage::metering::Metered;
use crate::storage::read_replica::{self, BOOKMARK};
use crate::storage::transaction::{Results, Statements, Transaction};
use crate::terms::Scopes;

/// Tells browsers to use HTTPS only for this host, for a year after each answer (RFC 6797).
const HTTPS_ONLY: &str = "max-age=31536000";

/// How often a request may be forwarded to another database: an account may have moved more than once.
pub const MAX_FORWARDS: usize = 4;

/// What an isolate keeps from one request to the next.
#[derive(Debug)]
pub struct Service {
    config: Config,
    vary: String,
    keys: KeyCache,
    usage: Usage,
    catalog: CatalogCache,
    documents: Documents,
    room: Room,
    starts: Starts,
}

impl Service {
    /// A service with empty caches.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let (vary, catalog) = (cors::vary(&config), CatalogCache::new(config.segment_bytes));
        let (keys, usage) = (KeyCache::default(), Usage::default());
        let room = Room::new(config.max_database_bytes);
        let (documents, starts) = (Documents::default(), Starts::default());
        Self { config, vary, keys, usage, catalog, documents, room, starts }
    }

    /// The operator's settings.
    pub(crate) const fn config(&self) -> &Config {
        &self.config
    }

    /// What the isolate keeps of the catalog.
    pub(crate) const fn catalog(&self) -> &CatalogCache {
        &self.catalog
    }

    /// What the isolate keeps of clients and of OpenID providers.
    pub(crate) const fn documents(&self) -> &Documents {
        &self.documents
    }

    /// How full the databases are.
    pub(crate) const fn room(&self) -> &Room {
        &self.room
    }

    /// The secrets of a request.
    fn secrets<'a>(&self, request: &'a Request) -> Vec<&'a str> {
        let sent = self.config.secret_headers.iter().filter_map(|name| request.header(name));
        // What clients of the Model Context Protocol send.
        let bearer = mcp::bearer(request).filter(|_| is_mcp(&request.path));
        sent.chain(bearer).filter(|secret| !secret.is_empty()).collect()
    }

    /// Who sends a request.
    pub(crate) fn caller(&self, request: &Request) -> Result<Caller, AuthenticationError> {
        let secrets = self.secrets(request);
        if secrets.is_empty() && request.header("authorization").is_some() {
            return Err(AuthenticationError::InAuthorization);
        }
        let caller = Caller::of(&secrets, &self.config.sessions)?;
        // An access token is valid at its own endpoint only, and nothing else is valid there.
        let endpoint = request.endpoint.as_deref().or_else(|| agents::endpoint_at(&request.path));
        let own = caller.grant().map(|grant| grant.endpoint.as_str());
        if own == endpoint { Ok(caller) } else { Err(AuthenticationError::BadToken) }
    }

    /// The database that a request is about, as its secret says. Nothing is verified: in another database, the secret is
    /// not known.
    #[must_use]
    pub fn shard(&self, request: &Request) -> Shard {
        shard_of_browser(request).unwrap_or_else(|| match self.secrets(request).as_slice() {
            [secret] => shard_of(secret),
            _ => agents::shard_of(&request.path).unwrap_or_default(),
        })
    }

    /// Whether pages of an origin may call the API.
    pub(crate) fn allows(&self, origin: &str) -> bool {
        self.config.allows(origin)
    }

    /// What has to be read of a request besides the headers that every answer may depend on.
    #[must_use]
    pub fn reads(&self, request: &Request) -> Reads {
        let Route::To(resource) = Route::of(&request.path) else { return Reads::Nothing };
        let reads = match resource.endpoint(&request.method) {
            // Agents and browsers at the endpoints of sign-in have no secret of their own.
            Some(Endpoint::Open(open)) if open != Open::AgentMcp && agents::is_own(open) => {
                return if request.method == "POST" { Reads::Body } else { Reads::Nothing };
            }
            Some(Endpoint::Keyed(keyed)) if keyed.is_proxy() => Reads::All,
            // Browsers come without a key.
            Some(Endpoint::Open(Open::ConnectReturn)) => return Reads::Body,
            Some(endpoint)
                if endpoint.facts().body.is_some()
                    || matches!(endpoint, Endpoint::Open(Open::Mcp | Open::AgentMcp)) =>
            {
                Reads::Body
            }
            _ => return Reads::Nothing,
        };
        if self.caller(request).is_ok() { reads } else { Reads::Nothing }
    }
}

/// What has to be read of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Nothing more.
    Nothing,
    /// Its body, which the answer may depend on.
    Body,
    /// All headers and the body, since it is passed on to a platform.
    All,
}

/// Answers a request. `ports` reach the database of [`Service::shard`].
///
/// 1. Route. Endpoints that are open to everybody answer at once.
/// 2. Read the secret. Below `/v1`, nothing is revealed without a well-formed key or a valid token.
/// 3. Plan, unless the request is already refused for its path, method, scope or rate. The rate limit comes before
///    storage, which it protects.
/// 4. Ask storage once, for the key's row and for whatever the plan needs. A catalog list needs no row when the
///    caller's scopes are known.
/// 5. Authenticate, then authorize. Refusals are answered in the contract's order, whichever was found first: 401, 404
///    or 405, 403, 429, then those of the plan. A token carries its scopes: whatever it may not ask for is refused
///    without asking storage whether its key is still valid.
/// 6. Render.
///
/// Every response, whatever the outcome, carries the common headers, such as `vary` and `x-request-id`.
pub async fn handle<P: Ports>(service: &Service, ports: &P, request: &Request) -> Response {
    let metered = Metered::new(ports);
    let request_id = ports.uuid();
    let route = Route::of(&request.path);
    let answer = answer(service, ports, &metered, request, &route, &request_id);
    let mut response = match answer.await {
        Ok(response) => response,
        Err(problem) => failure(&problem, &request.origin, &request_id),
    };
    if response.status == 401 && is_mcp(&request.path) {
        // What clients of the Model Context Protocol can send (RFC 6750).
        response.headers.retain(|(name, _)| *name != "www-authenticate");
        let endpoint = agents::endpoint_at(&request.path).zip(service.config.base_url.as_deref());
        let challenge = endpoint.map_or_else(
            || "Bearer".to_owned(),
            |(id, base)| {
                let is_wrong = !service.secrets(request).is_empty();
                let error = is_wrong.then_some(("invalid_token", SCOPES));
                agents::challenge(base, id, error)
            },
        );
        response.add("www-authenticate", challenge);
    }
    response.has_deliveries = metered.has_deliveries();
    service.room.remember(ports.number(), metered.size());
    // A copy that knows where the account has moved refuses the key, which is not of this database any more.
    if metered.bookmark().is_some() && response.status != 401 {
        metered.write_use_later();
    }
    if matches!(response.status, 401 | 403) {
        metered.hide_reads();
    } else if let Some(bookmark) = metered.bookmark() {
        response.add(BOOKMARK, read_replica::marked(&bookmark, ports.number()));
    }
    if let Some(used) = metered.settled_use().filter(|_| response.status != 401) {
        service.usage.remember(used);
    }
    let is_call = matches!(&route, Route::To(resource) if resource.has(Keyed::is_call));
    if is_call && response.header(SOURCE).is_none() {
        response.add(SOURCE, "vault");
    }
    cors::expose(&service.config, request, &mut response);
    response.add("vary", service.vary.clone());
    if response.status == 404 {
        // What is of another tenant costs other rows than what does not exist.
        metered.hide_rows();
    }
    response.add("server-timing", metered.to_string());
    response.add("x-content-type-options", "nosniff");
    if request.origin.starts_with("https:") {
        response.add("strict-transport-security", HTTPS_ONLY);
    }
    response.add("x-request-id", request_id);
    if request.method == "HEAD" {
        let kept = response.kept.take().map(|body| body.size());
        let size = kept.unwrap_or(response.body.len());
        if size > 0 {
            response.add("content-length", size.to_string());
            response.body.clear();
        }
    }
    response
}

#[expect(clippy::too_many_lines, reason = "the flow reads as one list of steps")]
async fn answer<P: Ports>(
    service: &Service,
    ports: &P,
    metered: &Metered<'_, P>,
    request: &Request,
    route: &Route,
    request_id: &str,
) -> Result<Response, Problem> {
    // 1. Route.
    let resource = match route {
        Route::To(resource) => Some(resource),
        Route::UnknownInApi => None,
        Route::Unknown => return page::not_found(request).ok_or_else(Problem::no_route),
    };
    if request.method == "OPTIONS" {
        return Ok(cors::preflight(&service.config, request, resource));
    }
    let now = ports.now();
    let endpoint = match resource.map(|resource| (resource, resource.endpoint(&request.method))) {
        Some((_, Some(Endpoint::Open(open @ (Open::Mcp | Open::AgentMcp))))) => {
            open::exists(open, &service.config)?;
            return Box::pin(mcp::answer(service, ports, request)).await;
        }
        Some((resource, Some(Endpoint::Open(open)))) if agents::is_own(open) => {
            let id = resource.arguments().first().map(String::as_str).unwrap_or_default();
            let asked = (open, id);
            return Box::pin(agents::answer(service, metered, request, asked, request_id)).await;
        }
        Some((resource, Some(Endpoint::Open(open)))) => {
            let (config, catalog) = (&service.config, &service.catalog);
            let starts = &service.starts;
            let desk = Desk { config, catalog, starts, ports: metered, now, request_id };
            return Box::pin(open::answer(open, &desk, request, resource.arguments())).await;
        }
        Some((_, Some(Endpoint::Keyed(keyed)))) => Ok(keyed),
        Some((resource, None)) => {
            let refusal = Problem::no_method(resource.allow());
            if let Some(open) = resource.open() {
                // An open path that does not exist answers 404 rather than 405.
                return open::exists(open, &service.config).and(Err(refusal));
            }
            Err(refusal)
        }
        None => Err(Problem::no_route()),
    };

    // 2. Read the secret.
    let caller = service.caller(request)?;
    match &caller {
        Caller::Key(key) => metered.write_use(service.usage.due(key, now)),
        Caller::Token(token) if token.is_valid(now, page_origin(request), &request.origin) => {
            metered.hide_rows();
        }
        Caller::Token(_) => return Err(caller.refused().into()),
    }

    if let Ok(keyed) = &endpoint
        && keyed.has_actor()
    {
        let guard = Guard::new(&caller, keyed.access().scope(), now);
        metered.set_actor(by_caller(&guard, &caller, now, request_id));
    }

    // 3. Plan.
    // A grant ends at once, even for the catalog.
    let trusts = caller.grant().is_none() && resource.is_none_or(Resource::is_catalog);
    let known = match &caller {
        Caller::Token(token) => Some(token.scopes),
        Caller::Key(key) if trusts => service.keys.recall(key, now)?,
        Caller::Key(_) => None,
    };
    let allowed = match known {
        Some(scopes) => Ok(authorize(&endpoint, &caller, scopes)?),
        None => endpoint.clone(),
    };
    let allowed = match allowed {
        Ok(endpoint) => {
            let rate = metered.allow(&caller.rate_key().to_string()).await;
            rate.map(|()| endpoint).map_err(|wait| Problem::too_often(caller.noun(), wait))
        }
        refused => refused,
    };
    let full = service.room.full(ports.number());
    let context = allowed.map(|endpoint| Context {
        request,
        endpoint,
        arguments: resource.map(Resource::arguments).unwrap_or_default(),
        caller: &caller,
        config: &service.config,
        full: full.as_ref(),
        now,
        request_id,
    });
    let session = context
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|context| read_replica::session(request, context.endpoint, ports.number()));
    let session = session.map(|session| metered.begin(session));
    let plan = match session.and(context.as_ref().map_err(Clone::clone)) {
        Ok(context) => {
            plan(context, &service.catalog, metered).await.and_then(|plan| match &plan {
                Plan::NoPlatform(_) => Ok(plan),
                _ if context.endpoint.adds() => context.has_room().map(|()| plan),
                _ => Ok(plan),
            })
        }
        Err(problem) => Err(problem),
    };

    // 4. to 6. Ask storage, authenticate, authorize, render.
    let is_known = trusts && known.is_some();
    let door = Door { service, metered, caller: &caller, endpoint: &endpoint, is_known, now };
    match plan {
        Ok(Plan::Vault(Transaction { statements, render })) => {
            let (principal, sets) = door.admit(statements).await?;
            render(&results(&sets, metered), &principal)
        }
        Ok(Plan::Catalog(answer)) => {
            door.pass().await?;
            answer.answer(&service.catalog, metered).await
        }
        Ok(Plan::ByClients((asked, statements))) => {
            let (_, sets) = door.admit(statements).await?;
            asked.known(&results(&sets, metered))?.answer(&service.catalog, metered).await
        }
        Ok(Plan::Session(new)) => {
            let (principal, _) = door.admit(Statements::default()).await?;
            new.answer(&principal, &service.catalog, metered).await
        }
        // What asks other services has a future of its own: every request would carry its size.
        Ok(Plan::Connect((new, statements))) => {
            let (principal, sets) = door.admit(statements).await?;
            let results = results(&sets, metered);
            Box::pin(new.answer(&principal, &results, &service.catalog, metered)).await
        }
        Ok(Plan::Attempt((asked, statements))) => {
            let (_, sets) = door.admit(statements).await?;
            asked.answer(&results(&sets, metered), metered).await
        }
        Ok(Plan::PutClient(new)) => {
            let (principal, _) = door.admit(Statements::default()).await?;
            Box::pin(new.answer(&principal, &service.catalog, metered)).await
        }
        Ok(Plan::PutSignIn(new)) => {
            let (principal, _) = door.admit(Statements::default()).await?;
            Box::pin(new.answer(&principal, service, metered)).await
        }
        Ok(Plan::Delete((deletion, statements))) => {
            let (_, sets) = door.admit(statements).await?;
            let results = results(&sets, metered);
            Box::pin(deletion.answer(&results, &service.catalog, metered)).await
        }
        Ok(Plan::Credentials((asked, statements))) => {
            let (principal, sets) = door.admit(statements).await?;
            let results = results(&sets, metered);
            Box::pin(asked.answer(&principal, &results, &service.catalog, metered)).await
        }
        Ok(Plan::Check((asked, statements))) => {
            let (principal, sets) = door.admit(statements).await?;
            let results = results(&sets, metered);
            Box::pin(asked.answer(&principal, &results, &service.catalog, metered)).await
        }
        Ok(Plan::Run((run, statements))) => {
            let (principal, sets) = door.admit(statements).await?;
            let results = results(&sets, metered);
            Box::pin(run.answer(&principal, &results, &service.catalog, metered)).await
        }
        Ok(Plan::Proxy((call, statements))) => {
            let (principal, sets) = door.admit(statements).await?;
            let results = results(&sets, metered);
            Box::pin(call.answer(&principal, &results, &service.catalog, metered)).await
        }
        Ok(Plan::SetCredentials((new, statements))) => {
            let (principal, sets) = door.admit(statements).await?;
            let results = results(&sets, metered);
            Box::pin(new.answer(&principal, &results, &service.catalog, metered)).await
        }
        Ok(Plan::Webhook((asked, statements))) => {
            let (principal, sets) = door.admit(statements).await?;
            let results = results(&sets, metered);
            Box::pin(asked.answer(&principal, &results, metered)).await
        }
        Ok(Plan::NoPlatform(refused)) => {
            door.pass().await?;
            refused.answer(&service.catalog, metered).await
        }
        Err(problem) => {
            door.pass().await?;
            Err(problem)
        }
    }
}

/// Whether a path is one of the Model Context Protocol.
#[must_use]
pub fn is_mcp(path: &str) -> bool {
    path == "/mcp" || agents::endpoint_at(path).is_some()
}

/// The results of a plan's own statements, which come after the key's.
fn results<'s, P: Ports>(sets: &'s [ResultSet], metered: &Metered<'_, P>) -> Results<'s> {
    Results { sets: sets.get(1..).unwrap_or_default(), repeated: metered.was_repeated() }
}

/// Where a caller is let in, by what storage says of its key.
struct Door<'a, P> {
    service: &'a Service,
    metered: &'a Metered<'a, P>,
    caller: &'a Caller,
    endpoint: &'a Result<Keyed, Problem>,
    /// Whether what is known of the caller is enough, so that storage need not be asked.
    is_known: bool,
    now: u64,
}

impl<P: Ports> Door<'_, P> {
    /// Lets the caller in without statements; asks storage only about a caller that is not known.
    ///
    /// # Errors
    /// As [`Self::admit`].
    async fn pass(&self) -> Result<(), Problem> {
        if !self.is_known {
            self.admit(Statements::default()).await?;
        }
        Ok(())
    }

    /// Runs the statements in one batch with the one that selects the key's row. Returns the principal and all result
    /// sets, the key's first. When the caller is refused, no result leaves this function.
    ///
    /// # Errors
    /// When the key is not valid, the path or method does not exist, the scope is missing, or storage can't answer.
    async fn admit(&self, statements: Statements) -> Result<(Principal, Vec<ResultSet>), Problem> {
        let mut batch = Vec::new();
        if self.metered.was_forwarded() {
            batch.extend(arrive(&name_of(self.caller)));
        }
        let first = batch.len();
        batch.push(select_key(self.caller));
        batch.append(&mut statements.into_vec());
        let (principal, sets) = loop {
            let mut sets = self.metered.batch(batch.clone()).await?;
            sets.drain(..first.min(sets.len()));
            if let Some(shard) = moved_to(sets.first())? {
                return Err(Problem { moved_to: Some(shard), ..self.caller.refused().into() });
            }
            let principal = owner(self.caller, sets.first(), self.now);
            if principal.is_err() && self.metered.is_near() {
                // A copy may not know a new key yet.
                self.metered.leave_copies();
                continue;
            }
            break (principal, sets);
        };
        // What a copy knows of a key may be out of date, and other callers ask for no copy.
        if let Caller::Key(key) = self.caller
            && !self.metered.is_near()
        {
            self.service.keys.remember(key, principal.as_ref().ok(), self.now);
        }
        let principal = principal?;
        authorize(self.endpoint, self.caller, principal.scopes)?;
        Ok((principal, sets))
    }
}

/// The endpoint. Fails when the request leads to none, or when the caller lacks its scope.
fn authorize(
    endpoint: &Result<Keyed, Problem>,
    caller: &Caller,
    scopes: Scopes,
) -> Result<Keyed, Problem> {
    let endpoint = endpoint.clone()?;
    match endpoint.access().scope() {
        Some(scope) if !scopes.contains(scope) => Err(Problem::lacks(caller.noun(), scope)),
        _ => Ok(endpoint),
    }
}

/// The origin of the page that sends a request. Browsers send no `Origin` with same-origin reads; `Sec-Fetch-Site`
/// identifies those. Returns `None` when the origin is not known.
fn page_origin(request: &Request) -> Option<&str> {
    let own = || {
        let is_own = request.header("sec-fetch-site") == Some("same-origin");
        is_own.then_some(request.origin.as_str())
    };
    request.header("origin").or_else(own)
}

fn failure(problem: &Problem, base: &str, request_id: &str) -> Response {
    let (status, code, _) = problem.code.facts();
    let mut response = Response::json(problem.to_json(base, request_id), NO_STORE);
    response.status = status;
    response.headers.retain(|(name, _)| *name != "content-type");
    response.moved_to = problem.moved_to;
    response.add("content-type", "application/problem+json");
    if status == 401 {
        response.add("www-authenticate", "ApiKey");
    }
    if let Some(allow) = &problem.allow {
        response.add("allow", allow.to_string());
    }
    if let Some(seconds) = problem.retry_after {
        response.add("retry-after", seconds.to_string());
    }
    response.log =
        problem.cause.as_ref().map(|cause| format!("{code} request={request_id}: {cause}"));
    response
}
