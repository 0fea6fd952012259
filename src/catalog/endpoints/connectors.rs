//! `GET /v1/available-connectors`: the list of connectors.

use serde::Deserialize;

use super::respond::{CatalogRequest, request_key};
use crate::catalog::filter::ConnectorFilter;
use crate::catalog::list_search::Query;
use crate::catalog::logos;
use crate::connect::statements::select_platforms_with_client;
use crate::http::context::Context;
use crate::http::etag;
use crate::http::handler::Handler;
use crate::http::message::Response;
use crate::http::paging::Paging;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::storage::transaction::Statements;
use crate::util::case_fold::fold;
use crate::util::name_set::Names;

/// A row of the query for OAuth clients.
#[derive(Debug, Deserialize)]
struct Client {
    platform: String,
}

pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let folded = |parameter| query.text(parameter).map(|text| fold(&text));
    let is_true = |parameter| query.boolean(parameter).unwrap_or(false);
    let platforms = context.caller.platforms();
    let filter = ConnectorFilter {
        platform: folded("platform"),
        authkit: is_true("authkit"),
        connectable: None,
        key: query.text("key"),
        name: folded("name"),
        category: folded("category"),
        q: query.text("q").and_then(|text| Query::parse(&text)),
        platforms: platforms.cloned(),
    };
    let paging = Paging::read(&query);
    let (only_connectable, only_with_client) = (is_true("connectable"), is_true("hasOauthClient"));
    if !only_connectable && !only_with_client {
        return Ok(Handler::catalog(respond(context, filter, paging, ports)));
    }
    let mut statements = Statements::default();
    let clients = statements.query::<Client>(select_platforms_with_client(&context.guard()));
    Ok(Handler::new(statements, move |results, _| async move {
        let clients = results.all(clients)?.into_iter().map(|client| client.platform);
        let clients: Vec<String> = clients.collect();
        let filter = with_clients(filter, &clients, only_connectable, only_with_client);
        respond(context, filter, paging, ports).await
    }))
}

async fn respond<P: Ports>(
    context: &Context<'_>,
    filter: ConnectorFilter,
    paging: Paging,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let request = CatalogRequest::open(context, ports).await?;
    let visible = filter.platforms.as_ref();
    // The entity tag covers these restrictions, because the response depends on them.
    let restrictions = match &filter.connectable {
        Some(clients) => [visible.map_or("*", Names::as_str), "/", clients.as_str()].concat(),
        None => visible.map_or("", Names::as_str).to_owned(),
    };
    let list = request.catalog.connectors_id()?;
    let tag = etag::for_query(list, &request_key(context.request), &restrictions);
    if let Some(response) = request.cached(&tag) {
        return Ok(response);
    }
    let page = request.catalog.connectors(&filter, &|total| paging.positions(total)).await?;
    let rows = logos::absolute(page.rows, &context.request.origin);
    Ok(request.page(paging.envelope(&rows, page.total as u64), tag))
}

/// Adds the conditions on the platforms that have an OAuth client.
fn with_clients(
    mut filter: ConnectorFilter,
    clients: &[String],
    only_connectable: bool,
    only_with_client: bool,
) -> ConnectorFilter {
    if only_connectable {
        filter.connectable = Some(Names::new(clients));
    }
    if only_with_client {
        let is_visible =
            |name: &&String| filter.platforms.as_ref().is_none_or(|allowed| allowed.has(name));
        let allowed: Vec<String> = clients.iter().filter(is_visible).cloned().collect();
        filter.platforms = Some(Names::new(&allowed));
    }
    filter
}
