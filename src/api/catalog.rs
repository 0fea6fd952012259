//! The two lists of the catalog (specification, parts 4.1 and 4.2).

use super::cost::Metered;
use super::etag;
use super::message::{NO_CACHE, Request, Response};
use super::paging::{LIMIT, PAGE, Paging};
use super::problem::{Code, Extension, Problem};
use super::query::{Check, Parameter, QueryReader};
use crate::catalog::cache::CatalogCache;
use crate::catalog::filter::{ActionFilter, ConnectorFilter};
use crate::catalog::model::Method;
use crate::catalog::search::{MAX_CHARS, Query};
use crate::catalog::segment::{ActionList, ConnectorList};
use crate::fold::fold;
use crate::names::Names;
use crate::nearest::{beginning, nearest};
use crate::ports::Ports;
use crate::vault::confinement::has_platform;

/// The parameters of the connector list.
pub const CONNECTOR_PARAMETERS: [Parameter; 8] = [
    Parameter { name: "platform", check: Check::Text },
    Parameter { name: "authkit", check: Check::Boolean },
    Parameter { name: "key", check: Check::Text },
    Parameter { name: "name", check: Check::Text },
    Parameter { name: "category", check: Check::Text },
    Parameter { name: "q", check: Check::Words(MAX_CHARS) },
    LIMIT,
    PAGE,
];
/// The parameters of the action list.
pub const ACTION_PARAMETERS: [Parameter; 6] = [
    Parameter { name: "title", check: Check::Text },
    Parameter { name: "key", check: Check::Text },
    Parameter { name: "method", check: Check::Text },
    Parameter { name: "q", check: Check::Words(MAX_CHARS) },
    LIMIT,
    PAGE,
];
/// Platforms named when the asked one is unknown.
const NEAREST_PLATFORMS: usize = 3;

/// Reads the query string of the connector list.
///
/// # Errors
/// With all faults of the query.
pub fn read_connector_query(query: &str) -> Result<(ConnectorFilter, Paging), Problem> {
    let mut reader = QueryReader::new(query, &CONNECTOR_PARAMETERS);
    reader.finish()?;
    let folded = |parameter| reader.text(parameter).map(|text| fold(&text));
    let filter = ConnectorFilter {
        platform: folded("platform"),
        authkit: reader.boolean("authkit").unwrap_or(false),
        key: reader.text("key"),
        name: folded("name"),
        category: folded("category"),
        q: reader.text("q").and_then(|text| Query::parse(&text)),
        platforms: None,
    };
    Ok((filter, Paging::read(&reader)))
}

/// Reads the query string of the action list.
///
/// # Errors
/// With all faults of the query.
pub fn read_action_query(query: &str) -> Result<(ActionFilter, Paging), Problem> {
    let mut reader = QueryReader::new(query, &ACTION_PARAMETERS);
    reader.finish()?;
    let filter = ActionFilter {
        title: reader.text("title").map(|text| fold(&text)),
        key: reader.text("key"),
        method: reader.text("method").map(|text| method(&text)),
        q: reader.text("q").and_then(|text| Query::parse(&text)),
    };
    Ok((filter, Paging::read(&reader)))
}

fn method(text: &str) -> Option<Method> {
    // No letter outside ASCII folds to one of these.
    Method::ALL.into_iter().find(|method| method.as_str().eq_ignore_ascii_case(text))
}

/// Answers `GET /v1/available-connectors`, with no more than `platforms`, when given.
///
/// # Errors
/// With all faults of the query; `unavailable` when storage can't be asked.
pub async fn list_connectors<P: Ports>(
    catalog: &CatalogCache,
    ports: &Metered<'_, P>,
    request: &Request,
    platforms: Option<&Names>,
) -> Result<Response, Problem> {
    let (mut filter, paging) = read_connector_query(&request.query)?;
    filter.platforms = platforms.cloned();
    let id = catalog.current(ports).await?.connectors;
    let tag = etag::of_query(id, &request.query, platforms);
    if is_known(request, &tag) {
        return Ok(not_modified(tag));
    }
    let connectors = catalog.segment::<_, ConnectorList>(ports, id).await?;
    let selection = catalog.answer(id, &filter, &connectors);
    let rows = selection.json(&connectors.list, paging.positions(selection.len()));
    Ok(tagged(tag, paging.envelope(&rows, selection.len() as u64)))
}

/// Answers `GET /v1/available-actions/{platform}`, where there are no more than `platforms`, when given.
///
/// # Errors
/// With all faults of the query; `platform_not_found`; `unavailable` when storage can't be asked.
pub async fn list_actions<P: Ports>(
    catalog: &CatalogCache,
    ports: &Metered<'_, P>,
    request: &Request,
    platform: &str,
    platforms: Option<&Names>,
) -> Result<Response, Problem> {
    let (filter, paging) = read_action_query(&request.query)?;
    let current = catalog.current(ports).await?.connectors;
    let connectors = catalog.segment::<_, ConnectorList>(ports, current).await?;
    let folded = fold(platform);
    let row = connectors.with_platform(&folded).into_iter().next();
    let id = row
        .filter(|_| has_platform(platforms, &folded))
        .and_then(|row| connectors.actions_of(row as usize))
        .ok_or_else(|| no_platform(platform, &connectors, platforms))?;
    let tag = etag::of_query(id, &request.query, None);
    if is_known(request, &tag) {
        return Ok(not_modified(tag));
    }
    let actions = catalog.segment::<_, ActionList>(ports, id).await?;
    let selection = catalog.answer(id, &filter, &actions);
    let rows = selection.json(&actions.list, paging.positions(selection.len()));
    Ok(tagged(tag, paging.envelope(&rows, selection.len() as u64)))
}

fn no_platform(platform: &str, connectors: &ConnectorList, platforms: Option<&Names>) -> Problem {
    let known = connectors.platforms().filter(|known| has_platform(platforms, known));
    let suggestions = nearest(platform, known, NEAREST_PLATFORMS);
    let names: Vec<String> = suggestions.iter().map(|known| format!("`{known}`")).collect();
    let meant =
        if names.is_empty() { String::new() } else { format!("; nearest: {}", names.join(", ")) };
    let detail = format!("The catalog has no platform `{}`{meant}.", beginning(platform));
    let mut problem = Problem::new(Code::PlatformNotFound, detail);
    if !suggestions.is_empty() {
        problem.extension = Extension::Suggestions(suggestions);
    }
    problem
}

fn is_known(request: &Request, tag: &str) -> bool {
    request.header("if-none-match").is_some_and(|value| etag::matches(value, tag))
}

fn tagged(tag: String, body: Vec<u8>) -> Response {
    let mut response = Response::json(body, NO_CACHE);
    response.add("etag", tag);
    response
}

fn not_modified(tag: String) -> Response {
    let mut response = Response::empty(304);
    response.add("cache-control", NO_CACHE);
    response.add("etag", tag);
    response
}
