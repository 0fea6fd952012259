//! `GET /v1/available-actions/{platform}`: the actions of a platform.

use super::respond::{CatalogQuery, handler};
use crate::catalog::filter::{ActionFilter, Constraint};
use crate::catalog::list_search::Query;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::paging::Paging;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::terms::Method;
use crate::util::case_fold::fold;

pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let filter = ActionFilter {
        title: query.text("title").map(|text| fold(&text)),
        key: query.text("key"),
        method: query.text("method").map_or(Constraint::Any, |text| method(&text)),
        q: query.text("q").and_then(|text| Query::parse(&text)),
    };
    let paging = Paging::read(&query);
    let query = CatalogQuery::Actions { platform: context.argument(0), filter, paging };
    Ok(handler(context, query, ports))
}

/// Parses a method, ignoring case. An unknown method matches no row.
pub(super) fn method(text: &str) -> Constraint<Method> {
    // No letter outside ASCII folds to a letter of these names.
    let method = Method::ALL.into_iter().find(|method| method.as_str().eq_ignore_ascii_case(text));
    method.map_or(Constraint::Never, Constraint::Equals)
}
