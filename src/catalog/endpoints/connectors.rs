//! `GET /v1/available-connectors` (specification, part 4.2).

use serde::Deserialize;

use super::answer::{Asked, CatalogAnswer};
use crate::catalog::filter::ConnectorFilter;
use crate::catalog::search::Query;
use crate::connect::statements::select_platforms_with_client;
use crate::http::context::Context;
use crate::http::paging::Paging;
use crate::http::plan::Plan;
use crate::http::problem::Problem;
use crate::storage::transaction::{Results, Rows, Statements};
use crate::util::case_fold::fold;
use crate::util::name_set::Names;

/// A list of connectors that depends on which platforms have an OAuth client.
#[derive(Debug)]
pub struct ByClients<'a> {
    context: &'a Context<'a>,
    filter: ConnectorFilter,
    paging: Paging,
    clients: Rows<Client>,
    asks_connectable: bool,
    asks_client: bool,
}

/// The platform of an OAuth client.
#[derive(Debug, Deserialize)]
struct Client {
    platform: String,
}

/// Plans the request.
///
/// # Errors
/// With all faults of the query.
pub fn plan<'a>(context: &'a Context<'a>) -> Result<Plan<'a>, Problem> {
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
    let (asks_connectable, asks_client) = (is_true("connectable"), is_true("hasOauthClient"));
    if !asks_connectable && !asks_client {
        return Ok(Plan::Catalog(answer(context, filter, paging)));
    }
    let mut statements = Statements::default();
    let clients = statements.ask(select_platforms_with_client(&context.guard()));
    let asked = ByClients { context, filter, paging, clients, asks_connectable, asks_client };
    Ok(Plan::ByClients((asked, statements)))
}

impl<'a> ByClients<'a> {
    /// The answer of the catalog, now that it is known which platforms have an OAuth client.
    ///
    /// # Errors
    /// When storage gave something else than rows.
    pub fn known(self, results: &Results<'_>) -> Result<CatalogAnswer<'a>, Problem> {
        let Self { context, mut filter, paging, clients, asks_connectable, asks_client } = self;
        let clients = results.all(clients)?.into_iter().map(|client| client.platform);
        let clients: Vec<String> = clients.collect();
        if asks_connectable {
            filter.connectable = Some(Names::new(&clients));
        }
        if asks_client {
            let is_seen =
                |name: &&String| filter.platforms.as_ref().is_none_or(|seen| seen.has(name));
            let seen: Vec<String> = clients.iter().filter(is_seen).cloned().collect();
            filter.platforms = Some(Names::new(&seen));
        }
        Ok(answer(context, filter, paging))
    }
}

fn answer<'a>(
    context: &'a Context<'a>,
    filter: ConnectorFilter,
    paging: Paging,
) -> CatalogAnswer<'a> {
    CatalogAnswer {
        request: context.request,
        platforms: context.caller.platforms(),
        limits: context.caller.limits(),
        asked: Asked::Connectors { filter, paging },
    }
}
