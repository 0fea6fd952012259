//! Responds to requests to the catalog. A response that the client or the isolate has cached is not rendered again.

use std::borrow::Cow;
use std::rc::Rc;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::auth::limits::Limits;
use crate::auth::restriction::has_platform;
use crate::catalog::action_search::ranking::PlatformNotes;
use crate::catalog::cache::CatalogCache;
use crate::catalog::filter::{ActionFilter, ConnectorFilter};
use crate::catalog::format::list::ListRef;
use crate::catalog::format::stored::SegmentId;
use crate::catalog::logos;
use crate::catalog::reader::{ActionLookup, Catalog, MAX_COUNTED, Page, SearchFilter};
use crate::http::context::Context;
use crate::http::etag;
use crate::http::handler::Handler;
use crate::http::message::{NO_CACHE, Request, Response};
use crate::http::paging::Paging;
use crate::http::problem::{Code, Extension, Problem};
use crate::platform_calls::flat::Flat;
use crate::ports::{Blob, Blobs, Ports, StorageError};
use crate::storage::metering::Metered;
use crate::terms::Method;
use crate::util::case_fold::fold;
use crate::util::json;
use crate::util::name_set::Names;
use crate::util::nearest::{nearest, shown};

/// The maximum number of suggestions for an unknown name.
const NEAREST: usize = 3;

#[derive(Debug)]
pub enum CatalogQuery<'a> {
    Connectors {
        filter: ConnectorFilter,
        paging: Paging,
    },
    Connector {
        /// The path segment as sent, percent-decoded.
        platform: &'a str,
    },
    Action {
        /// The path segment as sent, percent-decoded.
        platform: &'a str,
        /// The path segment as sent, percent-decoded.
        key: &'a str,
        /// Whether to include the responses of the action.
        with_responses: bool,
        /// Whether to flatten the input for a language model.
        for_model: bool,
    },
    /// Actions of all platforms.
    SearchActions {
        filter: SearchFilter,
        paging: Paging,
    },
    Actions {
        /// The path segment as sent, percent-decoded.
        platform: &'a str,
        filter: ActionFilter,
        paging: Paging,
    },
}

pub(super) fn handler<'a, P: Ports>(
    context: &'a Context<'a>,
    query: CatalogQuery<'a>,
    ports: &'a Metered<'a, P>,
) -> Handler<'a> {
    Handler::catalog(respond(context, query, ports))
}

/// Runs the query and renders the response.
pub(super) async fn respond<P: Ports>(
    context: &Context<'_>,
    query: CatalogQuery<'_>,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let (request, caller) = (context.request, context.caller);
    let (platforms, limits) = (caller.platforms(), caller.limits());
    let cache = context.service.catalog();
    let catalog = Catalog::open(cache, ports).await?;
    // The entity tag of a list is known before its rows are read; that of a detail is a hash of its content.
    let is_list = matches!(
        query,
        CatalogQuery::Connectors { .. }
            | CatalogQuery::SearchActions { .. }
            | CatalogQuery::Actions { .. }
    );
    let (tag, body) = match query {
        CatalogQuery::Connectors { filter, paging } => {
            let visible = filter.platforms.as_ref();
            // The restrictions on which the response depends in addition to the stored list.
            let restrictions = filter.connectable.as_ref().map_or_else(
                || names(visible).to_owned(),
                |clients| [visible.map_or("*", Names::as_str), "/", clients.as_str()].concat(),
            );
            let tag =
                etag::for_query(catalog.connectors_id()?, &request_key(request), &restrictions);
            if let Some(response) = cached_response(request, cache, &tag) {
                return Ok(response);
            }
            let page = catalog.connectors(&filter, &|total| paging.positions(total)).await?;
            let rows = logos::absolute(page.rows, &request.origin);
            (tag, paging.envelope(&rows, page.total as u64))
        }
        CatalogQuery::Connector { platform } => {
            let folded = visible_platform(platform, platforms);
            let connector = match &folded {
                Some(folded) => catalog.detail(folded).await?,
                None => None,
            };
            let Some(connector) = connector else {
                return Err(no_platform(platform, &catalog.platforms().await?, platforms));
            };
            let tag = etag::for_query(SegmentId::from_content(&connector), &request.origin, "");
            if let Some(response) = cached_response(request, cache, &tag) {
                return Ok(response);
            }
            (tag, logos::absolute(connector, &request.origin))
        }
        CatalogQuery::Action { platform, key, with_responses, for_model } => {
            let found = match visible_platform(platform, platforms) {
                Some(folded) => catalog.action(&folded, key, with_responses).await?,
                None => ActionLookup::NoPlatform,
            };
            let action = match found {
                ActionLookup::Found(action) => action,
                ActionLookup::NoAction(near) => return Err(no_action(platform, key, &near)),
                ActionLookup::NoPlatform => {
                    return Err(no_platform(platform, &catalog.platforms().await?, platforms));
                }
            };
            permit(&action, limits)?;
            let form = if for_model { "model" } else { "" };
            let tag = etag::for_query(SegmentId::from_content(&action), form, "");
            if let Some(response) = cached_response(request, cache, &tag) {
                return Ok(response);
            }
            (tag, if for_model { with_flat_input(&action)? } else { action })
        }
        CatalogQuery::SearchActions { filter, paging } => {
            let list = catalog.all_actions()?;
            let dependencies = caller_dependencies(platforms, limits, &filter.connected);
            let tag = etag::for_query(list.id, &request.query, &dependencies);
            if let Some(response) = cached_response(request, cache, &tag) {
                return Ok(response);
            }
            (tag, search_with_notes(&catalog, list, &filter, paging, (platforms, limits)).await?)
        }
        CatalogQuery::Actions { platform, filter, paging } => {
            let folded = visible_platform(platform, platforms);
            let actions = match &folded {
                Some(folded) => catalog.find_actions(folded).await?,
                None => None,
            };
            let Some(actions) = actions else {
                return Err(no_platform(platform, &catalog.platforms().await?, platforms));
            };
            let tag = etag::for_query(actions.id, &request.query, &limits.fingerprint());
            if let Some(response) = cached_response(request, cache, &tag) {
                return Ok(response);
            }
            let page = if limits.is_none() {
                catalog.actions(actions, &filter, &|total| paging.positions(total)).await?
            } else {
                let all = catalog.actions(actions, &filter, &|total| 0..total).await?;
                allowed(&all, limits, paging)?
            };
            (tag, paging.envelope(&page.rows, page.total as u64))
        }
    };
    let body = ports.keep(body);
    if is_list {
        cache.cache_body(body_cache_key(request, &tag), &body);
    }
    Ok(ok(body, tag))
}

/// The members of an action that limits depend on.
#[derive(Deserialize)]
struct ActionFacts<'a> {
    #[serde(borrow)]
    platform: Cow<'a, str>,
    #[serde(borrow)]
    key: Cow<'a, str>,
    method: Method,
}

/// Replaces the input of an action with its flat form.
fn with_flat_input(action: &[u8]) -> Result<Vec<u8>, StorageError> {
    #[derive(Deserialize)]
    struct WithInput<'a> {
        #[serde(borrow)]
        input: &'a RawValue,
    }
    let unreadable = |_| StorageError::new("a stored action is malformed");
    let WithInput { input } = serde_json::from_slice(action).map_err(unreadable)?;
    let schema: Value = serde_json::from_str(input.get()).map_err(unreadable)?;
    // `input` is a slice of `action`.
    let before = input.get().as_ptr().addr().saturating_sub(action.as_ptr().addr());
    let after = before.saturating_add(input.get().len());
    let mut flat = action.get(..before).unwrap_or_default().to_vec();
    flat.extend(json::bytes(&Flat::new(&schema).schema()));
    flat.extend_from_slice(action.get(after..).unwrap_or_default());
    Ok(flat)
}

/// Searches the actions of all platforms. Adds notes about platforms that have none.
async fn search_with_notes<P: Ports>(
    catalog: &Catalog<'_, P>,
    list: ListRef,
    filter: &SearchFilter,
    paging: Paging,
    (platforms, limits): (Option<&Names>, &Limits),
) -> Result<Vec<u8>, Problem> {
    let (page, platform_notes) = if limits.is_none() {
        catalog.search_actions(list, filter, &|total| paging.positions(total)).await?
    } else {
        let (all, platform_notes) = catalog.search_actions(list, filter, &|total| 0..total).await?;
        (allowed(&all, limits, paging)?, platform_notes)
    };
    let total = page.total as u64;
    let rows = mark_connected(page.rows, &filter.connected)?;
    let body = paging.envelope_up_to(MAX_COUNTED as u64, &rows, total);
    let mut notes = notes(&platform_notes, filter, total);
    if !platform_notes.unknown.is_empty() {
        let known = catalog.platforms().await?;
        let unknown = platform_notes.unknown.iter().take(NEAREST);
        notes.extend(unknown.map(|name| no_platform(name, &known, platforms).detail.into()));
    }
    Ok(with_notes(body, &notes))
}

/// Marks the actions of platforms that the caller's identity has connected.
fn mark_connected(rows: Vec<u8>, connected: &Names) -> Result<Vec<u8>, Problem> {
    if *connected == Names::default() {
        return Ok(rows);
    }
    let mut marked = Vec::new();
    each_action(&rows, &mut |row, facts| {
        marked.push(match row.strip_suffix('}') {
            Some(start) if connected.has(&facts.platform) => {
                format!("{start},\"connected\":true}}")
            }
            _ => row.to_owned(),
        });
    })?;
    Ok(marked.join(",").into_bytes())
}

/// Visits the rows of a page with their facts.
fn each_action(
    rows: &[u8],
    visit: &mut dyn FnMut(&str, ActionFacts<'_>),
) -> Result<(), StorageError> {
    let list = [b"[".as_slice(), rows, b"]"].concat();
    let unreadable = |_| StorageError::new("an action's row is malformed");
    let rows: Vec<&RawValue> = serde_json::from_slice(&list).map_err(unreadable)?;
    for row in rows {
        visit(row.get(), serde_json::from_str(row.get()).map_err(unreadable)?);
    }
    Ok(())
}

/// A page of those actions that the caller may run.
fn allowed(all: &Page, limits: &Limits, paging: Paging) -> Result<Page, Problem> {
    let mut runnable = Vec::new();
    each_action(&all.rows, &mut |row, facts| {
        if limits.allows(&facts.platform, &facts.key, facts.method.as_str()) {
            runnable.push(row.to_owned());
        }
    })?;
    let page = runnable.get(paging.positions(runnable.len())).unwrap_or_default();
    Ok(Page { total: runnable.len(), rows: page.join(",").into_bytes() })
}

/// Fails when the caller may not run the action.
fn permit(action: &[u8], limits: &Limits) -> Result<(), Problem> {
    if limits.is_none() {
        return Ok(());
    }
    let unreadable = |_| StorageError::new("a stored action is malformed");
    let facts: ActionFacts<'_> = serde_json::from_slice(action).map_err(unreadable)?;
    let action_key = Some((facts.platform.as_ref(), facts.key.as_ref()));
    limits.permit(facts.method.as_str(), action_key).map_err(Problem::exceeds_limits)
}

fn names(platforms: Option<&Names>) -> &str {
    platforms.map_or("", Names::as_str)
}

/// The properties of the caller on which a list of actions depends: restrictions and connected platforms.
fn caller_dependencies(platforms: Option<&Names>, limits: &Limits, connected: &Names) -> String {
    let limits = limits.fingerprint();
    // Platform names contain no slash, and limits contain no line feed.
    let between = if limits.is_empty() { "" } else { "/" };
    let before = if *connected == Names::default() { "" } else { "\n" };
    [names(platforms), between, &limits, before, connected.as_str()].concat()
}

/// Explains results that a reader might misunderstand: actions of platforms other than the requested one, or none.
fn notes(platform_notes: &PlatformNotes, filter: &SearchFilter, total: u64) -> Vec<String> {
    let mut notes: Vec<String> = platform_notes
        .empty
        .iter()
        .take(NEAREST)
        .map(|name| {
            let others = if total > 0 { " These are actions of other platforms." } else { "" };
            format!("The catalog has no actions of `{name}`.{others} Its API can still be called as a connected account: with the tool `call_platform`, or the proxy of a connection.")
        })
        .collect();
    notes.extend(platform_notes.unmatched.iter().take(NEAREST).map(|name| {
        let others = if total > 0 { " These are actions of other platforms." } else { "" };
        format!("`{name}` has no action that does this.{others} With `platform`, the search covers its actions only, and with the tool `call_platform`, or the proxy of a connection, the rest of its API can be called.")
    }));
    if notes.is_empty() && total == 0 && filter.platforms.is_some() {
        notes.push("These platforms have actions, but none that matches. Rephrase the query, or list the actions of one platform.".to_owned());
    }
    notes
}

/// Adds notes to a list, if there are any.
fn with_notes(mut list: Vec<u8>, notes: &[String]) -> Vec<u8> {
    if !notes.is_empty() && list.pop_if(|last| *last == b'}').is_some() {
        list.extend_from_slice(b",\"notes\":");
        list.extend(json::bytes(&notes));
        list.push(b'}');
    }
    list
}

/// The folded name of a platform. Returns `None` when the caller may not see the platform.
fn visible_platform(platform: &str, platforms: Option<&Names>) -> Option<String> {
    Some(fold(platform)).filter(|folded| has_platform(platforms, folded))
}

/// The problem for a platform that does not exist or is not visible to the caller. `known` has a line for each
/// platform.
pub(crate) fn no_platform(platform: &str, known: &str, platforms: Option<&Names>) -> Problem {
    let known = known.lines().filter(|known| has_platform(platforms, known));
    let detail = format!("The catalog has no platform `{}`", shown(platform));
    not_found(Code::PlatformNotFound, &detail, nearest(platform, known, NEAREST))
}

pub(crate) fn no_action(platform: &str, key: &str, near: &[String]) -> Problem {
    let near = near.iter().map(String::as_str);
    let detail = format!("The platform `{}` has no action `{}`", shown(platform), shown(key));
    not_found(Code::ActionNotFound, &detail, nearest(key, near, NEAREST))
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

/// A response that needs no rendering: a 304 if the client's copy is current, or the cached body. Returns `None` if
/// neither applies.
fn cached_response(request: &Request, cache: &CatalogCache, tag: &str) -> Option<Response> {
    let condition = request.header("if-none-match");
    if condition.is_some_and(|value| etag::matches(value, tag)) {
        let mut response = Response::empty(304);
        response.add("cache-control", NO_CACHE);
        response.add("etag", tag);
        return Some(response);
    }
    let body = cache.body(&body_cache_key(request, tag))?;
    Some(ok(body, tag.to_owned()))
}

/// The cache key of a body. The entity tag alone is not enough, since it contains only a checksum of the query.
fn body_cache_key(request: &Request, tag: &str) -> String {
    [tag, &request_key(request)].concat()
}

/// The origin and the query of a request. A list of connectors depends on them in addition to what is stored, since the URLs
/// of logos begin with the service's origin.
fn request_key(request: &Request) -> String {
    [&request.origin, "?", &request.query].concat()
}

fn ok(body: Rc<dyn Blob>, tag: String) -> Response {
    let mut response = Response { cached: Some(body), ..Response::json(Vec::new(), NO_CACHE) };
    response.add("etag", tag);
    response
}
