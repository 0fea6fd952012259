//! The flow of every request.

use super::catalog::{list_actions, list_connectors};
use super::config::Config;
use super::cors;
use super::cost::Metered;
use super::message::{NO_STORE, Request, Response};
use super::problem::{Code, Problem};
use super::route::{Endpoint, READS, Route, Target};
use super::whoami::whoami;
use super::{session, vault};
use crate::access::authenticate::{AuthenticationError, Freshness, KeyCache, authenticate};
use crate::access::usage::Usage;
use crate::access::{Caller, Principal, Scope, Scopes};
use crate::catalog::cache::CatalogCache;
use crate::ports::Ports;

/// What an isolate keeps from request to request.
#[derive(Debug)]
pub struct Service {
    config: Config,
    vary: String,
    keys: KeyCache,
    usage: Usage,
    catalog: CatalogCache,
}

impl Service {
    /// A service that remembers nothing yet.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let (vary, catalog) = (cors::vary(&config), CatalogCache::new(config.segment_bytes));
        let (keys, usage) = (KeyCache::default(), Usage::default());
        Self { config, vary, keys, usage, catalog }
    }

    /// What a request is made with.
    fn caller(&self, request: &Request) -> Result<Caller, AuthenticationError> {
        let sent = self.config.secret_headers.iter().filter_map(|name| request.header(name));
        let secrets: Vec<&str> = sent.filter(|secret| !secret.is_empty()).collect();
        Caller::of(&secrets, &self.config.sessions)
    }

    /// Whether the answer to a request may depend on its body.
    #[must_use]
    pub fn reads_body(&self, request: &Request) -> bool {
        let Route::To(target) = Route::of(&request.path) else { return false };
        let takes_one = matches!(
            target.endpoint(&request.method),
            Some(Endpoint::CreateConnection | Endpoint::UpdateConnection | Endpoint::CreateSession)
        );
        takes_one && self.caller(request).is_ok()
    }
}

/// Answers a request.
///
/// 1. Find the route; answer what is open to everybody.
/// 2. Authenticate: below `/v1`, nothing is told without a valid key or token.
/// 3. Check path and method.
/// 4. Authorize: the caller's scope, then its rate.
/// 5. Parse, ask storage, render.
///
/// Whatever the outcome, the response carries the headers that every response has.
pub async fn handle<P: Ports>(service: &Service, ports: &P, request: &Request) -> Response {
    let metered = Metered::new(ports);
    let request_id = ports.uuid();
    let mut response = match answer(service, ports, &metered, request).await {
        Ok(response) => response,
        Err(problem) => failure(&problem, &request.origin, &request_id),
    };
    if response.status == 401 {
        metered.hide_rows();
    } else if let Some(used) = metered.settled_use() {
        service.usage.remember(used);
    }
    cors::expose(&service.config, request, &mut response);
    response.add("vary", service.vary.clone());
    response.add("server-timing", metered.to_string());
    response.add("x-content-type-options", "nosniff");
    response.add("x-request-id", request_id);
    if request.method == "HEAD" && !response.body.is_empty() {
        response.add("content-length", response.body.len().to_string());
        response.body.clear();
    }
    response
}

async fn answer<P: Ports>(
    service: &Service,
    ports: &P,
    metered: &Metered<'_, P>,
    request: &Request,
) -> Result<Response, Problem> {
    // 1. Route.
    let route = Route::of(&request.path);
    let target = match &route {
        Route::To(target) => Some(target),
        Route::UnknownInApi => None,
        Route::Unknown => return Err(no_route()),
    };
    if request.method == "OPTIONS" {
        return Ok(cors::preflight(&service.config, request, target.map_or(READS, Target::allow)));
    }

    // 2. Authenticate.
    if let Some(target @ Target::Health) = target {
        target.endpoint(&request.method).ok_or_else(|| no_method(target))?;
        return Ok(Response::json(br#"{"status":"ok"}"#.to_vec(), NO_STORE));
    }
    let caller = service.caller(request)?;
    if let Caller::Token(token) = &caller
        && !token.is_valid(ports.now(), page_origin(request))
    {
        return Err(caller.refused().into());
    }
    if let Caller::Key(key) = &caller {
        metered.write_use(service.usage.due(key, ports.now()));
    }
    let endpoint = target.and_then(|target| target.endpoint(&request.method));
    if let (Some(target), Some(endpoint), Some(scope)) =
        (target, endpoint, endpoint.and_then(Endpoint::vault_scope))
    {
        let sessions = &service.config.sessions;
        let asked = vault::Asked { request, caller: &caller, sessions, target, endpoint, scope };
        return vault::answer(&service.catalog, metered, &asked).await;
    }
    let (freshness, is_catalog) = match target {
        Some(Target::Connectors | Target::Actions { .. }) | None => (Freshness::Recent, true),
        Some(_) => (Freshness::Now, false),
    };
    let principal = match caller.token() {
        // Its signature says it all: of the catalog, storage has nothing to tell.
        Some(token) if is_catalog => Principal::of_token(token),
        _ => authenticate(&service.keys, metered, &caller, freshness).await?,
    };

    // 3. Path and method.
    let target = target.ok_or_else(no_route)?;
    let endpoint = endpoint.ok_or_else(|| no_method(target))?;

    // 4. Authorize.
    if let Some(scope) = endpoint.scope() {
        authorize(&caller, principal.scopes, scope)?;
    }
    ports.allow(&caller.rate_key()).await?;

    // 5. Parse, ask storage, render.
    let (catalog, platforms) = (&service.catalog, caller.platforms());
    match target {
        Target::Connectors => list_connectors(catalog, metered, request, platforms).await,
        Target::Actions { platform } => {
            list_actions(catalog, metered, request, platform, platforms).await
        }
        Target::Sessions => {
            session::create(&service.config.sessions, &principal, request, ports.now())
        }
        _ => whoami(&principal, caller.token(), &request.query),
    }
}

/// The origin of the page that sends a request. Where a page reads from its own service, browsers name none, but say so.
fn page_origin(request: &Request) -> Option<&str> {
    let own = || {
        let is_own = request.header("sec-fetch-site") == Some("same-origin");
        is_own.then_some(request.origin.as_str())
    };
    request.header("origin").or_else(own)
}

/// Refuses a caller without the scope.
pub(super) fn authorize(caller: &Caller, scopes: Scopes, scope: Scope) -> Result<(), Problem> {
    if scopes.contains(scope) { Ok(()) } else { Err(lacks(caller.noun(), scope)) }
}

/// What is said of a key or a token that lacks a scope.
pub(super) fn lacks(noun: &str, scope: Scope) -> Problem {
    let detail = format!("This {noun} lacks the scope `{}`.", scope.as_str());
    Problem::new(Code::InsufficientScope, detail)
}

fn no_method(target: &Target) -> Problem {
    let allow = target.allow();
    let detail = format!("This path takes {allow} only.");
    Problem { allow: Some(allow), ..Problem::new(Code::MethodNotAllowed, detail) }
}

pub(super) fn no_route() -> Problem {
    Problem::new(Code::RouteNotFound, "The service has no such path.")
}

fn failure(problem: &Problem, base: &str, request_id: &str) -> Response {
    let (status, code, _) = problem.code.facts();
    let mut response = Response::json(problem.to_json(base, request_id), NO_STORE);
    response.status = status;
    response.headers.retain(|(name, _)| *name != "content-type");
    response.add("content-type", "application/problem+json");
    if status == 401 {
        response.add("www-authenticate", "ApiKey");
    }
    if let Some(allow) = problem.allow {
        response.add("allow", allow);
    }
    if let Some(seconds) = problem.retry_after {
        response.add("retry-after", seconds.to_string());
    }
    response.log =
        problem.cause.as_ref().map(|cause| format!("{code} request={request_id}: {cause}"));
    response
}
