//! `GET /v1/available-actions`: a search over the actions of all platforms.

use super::actions::method;
use super::respond::{CatalogQuery, handler};
use crate::catalog::filter::Constraint;
use crate::catalog::list_search::Query;
use crate::catalog::reader::SearchFilter;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::paging::Paging;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::util::case_fold::fold;
use crate::util::name_set::Names;

pub fn plan<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let platforms = context.caller.platforms();
    let filter = SearchFilter {
        q: query.text("q").and_then(|text| Query::parse(&text)).unwrap_or_default(),
        method: query.text("method").map_or(Constraint::Any, |text| method(&text)),
        platforms: query.text("platform").map(|text| Names::from_string(fold(&text))),
        visible: platforms.cloned(),
    };
    let query = CatalogQuery::SearchActions { filter, paging: Paging::read(&query) };
    Ok(handler(context, query, ports))
}
