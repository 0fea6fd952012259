//! `GET /v1/available-connectors` (specification, part 4.2).

use super::answer::{Asked, CatalogAnswer};
use crate::api::context::Context;
use crate::api::paging::Paging;
use crate::api::problem::Problem;
use crate::catalog::filter::ConnectorFilter;
use crate::catalog::search::Query;
use crate::fold::fold;

/// Plans the request.
///
/// # Errors
/// With all faults of the query.
pub fn plan<'a>(context: &Context<'a>) -> Result<CatalogAnswer<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let folded = |parameter| query.text(parameter).map(|text| fold(&text));
    let platforms = context.caller.platforms();
    let filter = ConnectorFilter {
        platform: folded("platform"),
        authkit: query.boolean("authkit").unwrap_or(false),
        key: query.text("key"),
        name: folded("name"),
        category: folded("category"),
        q: query.text("q").and_then(|text| Query::parse(&text)),
        platforms: platforms.cloned(),
    };
    let (request, paging) = (context.request, Paging::read(&query));
    let asked = Asked::Connectors { filter, paging };
    let limits = context.caller.limits();
    Ok(CatalogAnswer { request, platforms, limits, asked })
}
