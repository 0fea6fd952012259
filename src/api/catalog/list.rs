//! A page of the catalog: read, and rendered. An answer that the caller or the isolate has already is not read again.

use std::rc::Rc;

use crate::access::confinement::has_platform;
use crate::api::cost::Metered;
use crate::api::etag;
use crate::api::message::{NO_CACHE, Request, Response};
use crate::api::paging::Paging;
use crate::api::problem::{Code, Extension, Problem};
use crate::catalog::cache::CatalogCache;
use crate::catalog::filter::{ActionFilter, ConnectorFilter};
use crate::catalog::reader::Catalog;
use crate::fold::fold;
use crate::names::Names;
use crate::nearest::{nearest, shown};
use crate::ports::{Blob, Blobs, Ports};

/// How many platforms are suggested for an unknown one.
const NEAREST_PLATFORMS: usize = 3;

/// A request for a list of the catalog.
#[derive(Debug)]
pub struct CatalogList<'a> {
    /// The request.
    pub request: &'a Request,
    /// The platforms that the token may see; `None` for all of them.
    pub platforms: Option<&'a Names>,
    /// Which page of them.
    pub paging: Paging,
    /// Which rows.
    pub rows: RowsOf<'a>,
}

/// Which rows are listed.
#[derive(Debug)]
pub enum RowsOf<'a> {
    /// Connectors that match a filter.
    Connectors(ConnectorFilter),
    /// Actions of a platform.
    Actions {
        /// As sent, percent-decoded.
        platform: &'a str,
        /// What they match.
        filter: ActionFilter,
    },
}

impl CatalogList<'_> {
    /// Reads the page and renders the response.
    ///
    /// # Errors
    /// `platform_not_found` when the caller sees no such platform; `unavailable` when storage can't answer.
    pub async fn answer<P: Ports>(
        self,
        cache: &CatalogCache,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let Self { request, platforms, paging, rows } = self;
        let catalog = open(cache, ports).await?;
        let positions = |total| paging.positions(total);
        let (tag, page) = match rows {
            RowsOf::Connectors(filter) => {
                let tag = etag::of_query(catalog.connectors_id()?, &request.query, platforms);
                if let Some(response) = known(request, cache, &tag) {
                    return Ok(response);
                }
                (tag, catalog.connectors(&filter, &positions).await?)
            }
            RowsOf::Actions { platform, filter } => {
                let folded = fold(platform);
                let actions = if has_platform(platforms, &folded) {
                    catalog.find_actions(&folded).await?
                } else {
                    None
                };
                let Some(actions) = actions else {
                    return Err(no_platform(platform, &catalog.platforms().await?, platforms));
                };
                let tag = etag::of_query(actions.id, &request.query, None);
                if let Some(response) = known(request, cache, &tag) {
                    return Ok(response);
                }
                (tag, catalog.actions(actions, &folded, &filter, &positions).await?)
            }
        };
        let body = ports.keep(paging.envelope(&page.rows, page.total as u64));
        cache.remember_body(name_of(request, &tag), &body);
        Ok(list(body, tag))
    }
}

/// Opens the catalog that is served, and has the response say when it should be published again.
async fn open<'a, P: Ports>(
    cache: &'a CatalogCache,
    ports: &'a Metered<'_, P>,
) -> Result<Catalog<'a, Metered<'a, P>>, Problem> {
    let catalog = Catalog::open(cache, ports).await?;
    ports.serves_format_1(catalog.is_old());
    Ok(catalog)
}

fn no_platform(platform: &str, known: &str, platforms: Option<&Names>) -> Problem {
    let known = known.lines().filter(|known| has_platform(platforms, known));
    let suggestions = nearest(platform, known, NEAREST_PLATFORMS);
    let names: Vec<String> = suggestions.iter().map(|known| format!("`{known}`")).collect();
    let meant =
        if names.is_empty() { String::new() } else { format!("; nearest: {}", names.join(", ")) };
    let detail = format!("The catalog has no platform `{}`{meant}.", shown(platform));
    let mut problem = Problem::new(Code::PlatformNotFound, detail);
    if !suggestions.is_empty() {
        problem.extension = Extension::Suggestions(suggestions);
    }
    problem
}

/// The answer that needs no rendering: a 304 when the caller has it already, or the body that this isolate remembers.
/// Returns `None` when neither applies.
fn known(request: &Request, cache: &CatalogCache, tag: &str) -> Option<Response> {
    let condition = request.header("if-none-match");
    if condition.is_some_and(|value| etag::matches(value, tag)) {
        let mut response = Response::empty(304);
        response.add("cache-control", NO_CACHE);
        response.add("etag", tag);
        return Some(response);
    }
    let body = cache.body(&name_of(request, tag))?;
    Some(list(body, tag.to_owned()))
}

/// The name under which an isolate remembers a body. The tag alone won't do: it holds only a checksum of the query.
fn name_of(request: &Request, tag: &str) -> String {
    [tag, &request.query].concat()
}

fn list(body: Rc<dyn Blob>, tag: String) -> Response {
    let mut response = Response { kept: Some(body), ..Response::json(Vec::new(), NO_CACHE) };
    response.add("etag", tag);
    response
}
