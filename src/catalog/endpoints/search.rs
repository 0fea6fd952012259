//! `GET /v1/available-actions`: a search over the actions of all platforms. For a token with access
//! to connections, actions of connected platforms are ranked first and marked.

use serde::Deserialize;

use super::actions::method;
use super::respond::{
    CatalogRequest, MAX_SUGGESTIONS, for_each_action, platform_not_found, runnable_page,
};
use crate::auth::limits::Limits;
use crate::catalog::action_search::ranking::PlatformNotes;
use crate::catalog::filter::Constraint;
use crate::catalog::format::list::ListRef;
use crate::catalog::list_search::Query;
use crate::catalog::reader::{MAX_COUNTED, Page, SearchFilter};
use crate::connections::statements::summary::connected_platforms;
use crate::http::context::Context;
use crate::http::etag;
use crate::http::handler::Handler;
use crate::http::message::Response;
use crate::http::paging::Paging;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::storage::transaction::Statements;
use crate::terms::{Scope, Scopes};
use crate::util::case_fold::fold;
use crate::util::json;
use crate::util::name_set::Names;

/// A platform that the caller's identity has connected.
#[derive(Debug, Deserialize)]
struct ConnectedPlatform {
    platform: String,
}

pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let mut filter = SearchFilter {
        q: query.text("q").and_then(|text| Query::parse(&text)).unwrap_or_default(),
        method: query.text("method").map_or(Constraint::Any, |text| method(&text)),
        platforms: query.text("platform").map(|text| Names::from_string(fold(&text))),
        visible: context.caller.platforms().cloned(),
        connected: Names::default(),
    };
    let paging = Paging::read(&query);
    let reads_connections = |scopes: Scopes| scopes.contains(Scope::ConnectionsRead);
    if !context.caller.token().is_some_and(|token| reads_connections(token.scopes)) {
        return Ok(Handler::catalog(respond(context, filter, paging, ports)));
    }
    let mut statements = Statements::default();
    let connected = statements.query::<ConnectedPlatform>(connected_platforms(&context.guard()));
    Ok(Handler::new(statements, move |results, principal| async move {
        if reads_connections(principal.scopes) {
            let all = results.all(connected)?.into_iter().map(|row| row.platform);
            filter.connected = Names::new(&all.collect::<Vec<_>>());
        }
        respond(context, filter, paging, ports).await
    }))
}

async fn respond<P: Ports>(
    context: &Context<'_>,
    filter: SearchFilter,
    paging: Paging,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let request = CatalogRequest::open(context, ports).await?;
    let dependencies = caller_cache_key(request.platforms(), request.limits(), &filter.connected);
    let list = request.catalog.all_actions()?;
    let tag = etag::for_query(list.id, &context.request.query, &dependencies);
    if let Some(response) = request.cached(&tag) {
        return Ok(response);
    }
    let (page, platform_notes) = search(&request, list, &filter, paging).await?;
    let total = page.total as u64;
    let rows = mark_connected(page.rows, &filter.connected)?;
    let body = paging.envelope_up_to(MAX_COUNTED as u64, &rows, total);
    let mut notes = notes(&platform_notes, &filter, total);
    if !platform_notes.unknown.is_empty() {
        let known = request.catalog.platforms().await?;
        let unknown = platform_notes.unknown.iter().take(MAX_SUGGESTIONS);
        notes.extend(
            unknown.map(|name| platform_not_found(name, &known, request.platforms()).detail.into()),
        );
    }
    Ok(request.page(with_notes(body, &notes), tag))
}

/// Returns a page of the actions that the caller may run, and notes about platforms.
async fn search<P: Ports>(
    request: &CatalogRequest<'_, P>,
    list: ListRef,
    filter: &SearchFilter,
    paging: Paging,
) -> Result<(Page, PlatformNotes), Problem> {
    let (catalog, limits) = (&request.catalog, request.limits());
    if limits.is_none() {
        return Ok(catalog.search_actions(list, filter, &|total| paging.positions(total)).await?);
    }
    let (all, platform_notes) = catalog.search_actions(list, filter, &|total| 0..total).await?;
    Ok((runnable_page(&all, limits, paging)?, platform_notes))
}

/// Marks the actions of platforms that the caller's identity has connected.
fn mark_connected(rows: Vec<u8>, connected: &Names) -> Result<Vec<u8>, Problem> {
    if *connected == Names::default() {
        return Ok(rows);
    }
    let mut marked_rows = Vec::new();
    for_each_action(&rows, &mut |row, facts| {
        marked_rows.push(match row.strip_suffix('}') {
            Some(start) if connected.has(&facts.platform) => {
                format!("{start},\"connected\":true}}")
            }
            _ => row.to_owned(),
        });
    })?;
    Ok(marked_rows.join(",").into_bytes())
}

/// The caller's restrictions and connected platforms, as a part of the entity tag.
fn caller_cache_key(platforms: Option<&Names>, limits: &Limits, connected: &Names) -> String {
    let limits = limits.fingerprint();
    // The separators are unambiguous: platform names contain no slash, and limits contain no line
    // feed.
    let limits_separator = if limits.is_empty() { "" } else { "/" };
    let connected_separator = if *connected == Names::default() { "" } else { "\n" };
    [
        platforms.map_or("", Names::as_str),
        limits_separator,
        &limits,
        connected_separator,
        connected.as_str(),
    ]
    .concat()
}

/// Notes that explain unexpected results: platforms without actions, and platforms without matching
/// actions.
fn notes(platform_notes: &PlatformNotes, filter: &SearchFilter, total: u64) -> Vec<String> {
    let mut notes: Vec<String> = platform_notes
        .empty
        .iter()
        .take(MAX_SUGGESTIONS)
        .map(|name| {
            let others = if total > 0 { " These are actions of other platforms." } else { "" };
            format!("The catalog has no actions of `{name}`.{others} Its API can still be called as a connected account: with the tool `call_platform`, or the proxy of a connection.")
        })
        .collect();
    notes.extend(platform_notes.unmatched.iter().take(MAX_SUGGESTIONS).map(|name| {
        let others = if total > 0 { " These are actions of other platforms." } else { "" };
        format!("`{name}` has no action that does this.{others} With `platform`, the search covers its actions only, and with the tool `call_platform`, or the proxy of a connection, the rest of its API can be called.")
    }));
    if notes.is_empty() && total == 0 && filter.platforms.is_some() {
        notes.push("These platforms have actions, but none that matches. Rephrase the query, or list the actions of one platform.".to_owned());
    }
    notes
}

/// Adds the member `notes` to a list, unless there are no notes.
fn with_notes(mut list: Vec<u8>, notes: &[String]) -> Vec<u8> {
    if !notes.is_empty() && list.pop_if(|last| *last == b'}').is_some() {
        list.extend_from_slice(b",\"notes\":");
        list.extend(json::bytes(&notes));
        list.push(b'}');
    }
    list
}
