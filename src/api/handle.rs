//! The flow of every request.

use super::catalog::{list_actions, list_connectors};
use super::config::Config;
use super::cors;
use super::cost::Metered;
use super::message::{NO_STORE, Request, Response};
use super::problem::{Code, Problem};
use super::route::{Endpoint, READS, Route, Target};
use super::vault;
use super::whoami::whoami;
use crate::access::authenticate::{Freshness, KeyCache, authenticate, sent_key};
use crate::access::usage::Usage;
use crate::access::{Principal, Scope};
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

    /// The keys that a request carries.
    fn secrets<'a>(&self, request: &'a Request) -> Vec<&'a str> {
        let sent = self.config.secret_headers.iter().filter_map(|name| request.header(name));
        sent.filter(|secret| !secret.is_empty()).collect()
    }

    /// Whether the answer to a request may depend on its body.
    #[must_use]
    pub fn reads_body(&self, request: &Request) -> bool {
        let Route::To(target) = Route::of(&request.path) else { return false };
        let takes_one = matches!(
            target.endpoint(&request.method),
            Some(Endpoint::CreateConnection | Endpoint::UpdateConnection)
        );
        takes_one && sent_key(&self.secrets(request)).is_ok()
    }
}

/// Answers a request.
///
/// 1. Find the route; answer what is open to everybody.
/// 2. Authenticate: below `/v1`, nothing is told without a valid key.
/// 3. Check path and method.
/// 4. Authorize: the key's scope, then its rate.
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
        metered.forget_rows();
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
    let key = sent_key(&service.secrets(request))?;
    metered.write_use(service.usage.due(&key, ports.now()));
    let endpoint = target.and_then(|target| target.endpoint(&request.method));
    if let (Some(target), Some(endpoint), Some(scope)) =
        (target, endpoint, endpoint.and_then(Endpoint::vault_scope))
    {
        let asked = vault::Asked { request, key: &key, target, endpoint, scope };
        return vault::answer(&service.catalog, metered, &asked).await;
    }
    let freshness = match target {
        Some(Target::Connectors | Target::Actions { .. }) | None => Freshness::Recent,
        Some(_) => Freshness::Now,
    };
    let principal = authenticate(&service.keys, metered, &key, freshness).await?;

    // 3. Path and method.
    let target = target.ok_or_else(no_route)?;
    let endpoint = endpoint.ok_or_else(|| no_method(target))?;

    // 4. Authorize.
    if let Some(scope) = endpoint.scope() {
        authorize(&principal, scope)?;
    }
    ports.allow(&key.hash()).await?;

    // 5. Parse, ask storage, render.
    match target {
        Target::Connectors => list_connectors(&service.catalog, metered, request).await,
        Target::Actions { platform } => {
            list_actions(&service.catalog, metered, request, platform).await
        }
        _ => whoami(&principal, &request.query),
    }
}

/// Refuses a key without the scope.
pub(super) fn authorize(principal: &Principal, scope: Scope) -> Result<(), Problem> {
    if principal.scopes.contains(scope) {
        return Ok(());
    }
    let detail = format!("This API key lacks the scope `{}`.", scope.as_str());
    Err(Problem::new(Code::InsufficientScope, detail))
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
