//! `GET /v1/available-actions`: a search over the actions of all platforms.

use super::actions::method;
use super::answer::{CatalogQuery, handler};
use crate::catalog::filter::Wish;
use crate::catalog::reader::FindFilter;
use crate::catalog::search::Query;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::paging::Paging;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::util::case_fold::fold;
use crate::util::name_set::Names;

/// Plans the request.
///
/// # Errors
/// With all faults of the query.
pub fn plan<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let platforms = context.caller.platforms();
    let filter = FindFilter {
        q: query.text("q").and_then(|text| Query::parse(&text)).unwrap_or_default(),
        method: query.text("method").map_or(Wish::Any, |text| method(&text)),
        platforms: query.text("platform").map(|text| Names::of_text(fold(&text))),
        seen: platforms.cloned(),
    };
    let asked = CatalogQuery::Found { filter, paging: Paging::read(&query) };
    Ok(handler(context, asked, ports))
}
