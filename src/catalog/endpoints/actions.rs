//! `GET /v1/available-actions/{platform}` (specification, part 4.1).

use super::answer::{CatalogQuery, handler};
use crate::catalog::filter::{ActionFilter, Wish};
use crate::catalog::search::Query;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::paging::Paging;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::terms::Method;
use crate::util::case_fold::fold;

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
    let filter = ActionFilter {
        title: query.text("title").map(|text| fold(&text)),
        key: query.text("key"),
        method: query.text("method").map_or(Wish::Any, |text| method(&text)),
        q: query.text("q").and_then(|text| Query::parse(&text)),
    };
    let paging = Paging::read(&query);
    let asked = CatalogQuery::Actions { platform: context.argument(0), filter, paging };
    Ok(handler(context, asked, ports))
}

/// The method of a name, in any case.
pub(super) fn method(text: &str) -> Wish<Method> {
    // No letter outside ASCII folds to one of these names' letters.
    let method = Method::ALL.into_iter().find(|method| method.as_str().eq_ignore_ascii_case(text));
    method.map_or(Wish::Unknown, Wish::Only)
}
