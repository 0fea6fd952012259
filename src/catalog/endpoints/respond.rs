//! Code shared by the catalog's endpoints: entity tags, cached responses, problems, and the actions
//! that a caller may run.

use std::borrow::Cow;
use std::rc::Rc;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::auth::limits::Limits;
use crate::auth::restriction::has_platform;
use crate::catalog::reader::{Catalog, Page};
use crate::http::context::Context;
use crate::http::etag;
use crate::http::message::{NO_CACHE, Request, Response};
use crate::http::paging::Paging;
use crate::http::problem::{Code, Extension, Problem};
use crate::ports::{Blob, Blobs, Ports, StorageError};
use crate::storage::metering::Metered;
use crate::terms::Method;
use crate::util::case_fold::fold;
use crate::util::json;
use crate::util::name_set::Names;
use crate::util::nearest::{nearest, shown};

/// The maximum number of suggestions for an unknown name.
pub(super) const MAX_SUGGESTIONS: usize = 3;

/// A request to the catalog, and the version of the catalog that the request reads.
pub(super) struct CatalogRequest<'a, P> {
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
    pub catalog: Catalog<'a, Metered<'a, P>>,
}

impl<'a, P: Ports> CatalogRequest<'a, P> {
    pub async fn open(
        context: &'a Context<'a>,
        ports: &'a Metered<'a, P>,
    ) -> Result<Self, StorageError> {
        let catalog = Catalog::open(context.service.catalog(), ports).await?;
        Ok(Self { context, ports, catalog })
    }

    /// The platforms that the caller may see; `None` for all.
    pub fn platforms(&self) -> Option<&'a Names> {
        self.context.caller.platforms()
    }

    pub fn limits(&self) -> &'a Limits {
        self.context.caller.limits()
    }

    /// The folded name of a platform. Returns `None` if the caller may not see the platform.
    pub fn visible_platform(&self, platform: &str) -> Option<String> {
        Some(fold(platform)).filter(|folded| has_platform(self.platforms(), folded))
    }

    /// The problem for a platform that does not exist or that the caller may not see.
    pub async fn platform_not_found(&self, platform: &str) -> Problem {
        match self.catalog.platforms().await {
            Ok(known) => platform_not_found(platform, &known, self.platforms()),
            Err(error) => error.into(),
        }
    }

    /// A response that needs no rendering: a 304 if the client's copy is current, or the cached
    /// body. Returns `None` if neither is available.
    pub fn cached(&self, tag: &str) -> Option<Response> {
        let request = self.context.request;
        let condition = request.header("if-none-match");
        if condition.is_some_and(|value| etag::matches(value, tag)) {
            let mut response = Response::empty(304);
            response.add("cache-control", NO_CACHE);
            response.add("etag", tag);
            return Some(response);
        }
        let body = self.context.service.catalog().body(&body_cache_key(request, tag))?;
        Some(ok(body, tag.to_owned()))
    }

    /// A response with the detail of a connector or an action.
    pub fn detail(&self, body: Vec<u8>, tag: String) -> Response {
        ok(self.ports.keep(body), tag)
    }

    /// A response with a page of a list. Pages are cached in the isolate, because their entity tag
    /// is known before storage is read; the tag of a detail is not.
    pub fn page(&self, body: Vec<u8>, tag: String) -> Response {
        let body = self.ports.keep(body);
        let key = body_cache_key(self.context.request, &tag);
        self.context.service.catalog().cache_body(key, &body);
        ok(body, tag)
    }
}

/// The members of an action that are compared with the limits.
#[derive(Deserialize)]
pub(super) struct ActionFacts<'a> {
    #[serde(borrow)]
    pub platform: Cow<'a, str>,
    #[serde(borrow)]
    pub key: Cow<'a, str>,
    pub method: Method,
}

/// Calls `visit` with each row of a page and its facts.
pub(super) fn for_each_action(
    rows: &[u8],
    visit: &mut dyn FnMut(&str, ActionFacts<'_>),
) -> Result<(), StorageError> {
    let list = [b"[".as_slice(), rows, b"]"].concat();
    let unreadable = |_| StorageError::new("an action's row is malformed");
    let rows: Vec<&RawValue> = json::from_bytes(&list).map_err(unreadable)?;
    for row in rows {
        visit(row.get(), json::from_text(row.get()).map_err(unreadable)?);
    }
    Ok(())
}

/// The page with only the actions that the caller may run.
pub(super) fn runnable_page(all: &Page, limits: &Limits, paging: Paging) -> Result<Page, Problem> {
    let mut runnable = Vec::new();
    for_each_action(&all.rows, &mut |row, facts| {
        if limits.allows(&facts.platform, &facts.key, facts.method.as_str()) {
            runnable.push(row.to_owned());
        }
    })?;
    let page = runnable.get(paging.positions(runnable.len())).unwrap_or_default();
    Ok(Page { total: runnable.len(), rows: page.join(",").into_bytes() })
}

/// The problem for a platform that does not exist or that the caller may not see. `known` has one
/// platform per line.
pub(crate) fn platform_not_found(
    platform: &str,
    known: &str,
    platforms: Option<&Names>,
) -> Problem {
    let known = known.lines().filter(|known| has_platform(platforms, known));
    let detail = format!("The catalog has no platform `{}`", shown(platform));
    not_found(Code::PlatformNotFound, &detail, nearest(platform, known, MAX_SUGGESTIONS))
}

pub(crate) fn action_not_found(platform: &str, key: &str, similar: &[String]) -> Problem {
    let similar = similar.iter().map(String::as_str);
    let detail = format!("The platform `{}` has no action `{}`", shown(platform), shown(key));
    not_found(Code::ActionNotFound, &detail, nearest(key, similar, MAX_SUGGESTIONS))
}

fn not_found(code: Code, message: &str, suggestions: Vec<String>) -> Problem {
    let names: Vec<String> = suggestions.iter().map(|name| format!("`{name}`")).collect();
    let suffix =
        if names.is_empty() { String::new() } else { format!("; nearest: {}", names.join(", ")) };
    let mut problem = Problem::new(code, format!("{message}{suffix}."));
    if !suggestions.is_empty() {
        problem.extension = Extension::Suggestions(suggestions);
    }
    problem
}

/// The cache key of a body. The entity tag alone is not unique: it contains only a checksum of the
/// query.
fn body_cache_key(request: &Request, tag: &str) -> String {
    [tag, &request_key(request)].concat()
}

/// The origin and the query of a request. A list of connectors depends on the origin because it
/// contains absolute URLs of logos.
pub(super) fn request_key(request: &Request) -> String {
    [&request.origin, "?", &request.query].concat()
}

fn ok(body: Rc<dyn Blob>, tag: String) -> Response {
    let mut response = Response { cached: Some(body), ..Response::json(Vec::new(), NO_CACHE) };
    response.add("etag", tag);
    response
}
