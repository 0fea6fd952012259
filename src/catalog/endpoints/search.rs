//! `GET /v1/available-actions`: a search over the actions of all platforms. For a token that may read connections, the actions of
//! the platforms that its identity has connected come first, and are marked.

use serde::Deserialize;

use super::actions::method;
use super::respond::{CatalogQuery, handler, respond};
use crate::catalog::filter::Constraint;
use crate::catalog::list_search::Query;
use crate::catalog::reader::SearchFilter;
use crate::connections::statements::summary::connected_platforms;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::paging::Paging;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::storage::transaction::Statements;
use crate::terms::{Scope, Scopes};
use crate::util::case_fold::fold;
use crate::util::name_set::Names;

/// A platform that the caller's identity has connected.
#[derive(Debug, Deserialize)]
struct Connected {
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
        return Ok(handler(context, CatalogQuery::SearchActions { filter, paging }, ports));
    }
    let mut statements = Statements::default();
    let connected = statements.ask::<Connected>(connected_platforms(&context.guard()));
    Ok(Handler::new(statements, move |results, principal| async move {
        if reads_connections(principal.scopes) {
            let all = results.all(connected)?.into_iter().map(|row| row.platform);
            filter.connected = Names::new(&all.collect::<Vec<_>>());
        }
        respond(context, CatalogQuery::SearchActions { filter, paging }, ports).await
    }))
}
