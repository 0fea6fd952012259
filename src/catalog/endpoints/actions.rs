//! `GET /v1/available-actions/{platform}`: the actions of a platform.

use super::respond::{CatalogRequest, runnable_page};
use crate::catalog::filter::{ActionFilter, Constraint};
use crate::catalog::list_search::Query;
use crate::http::context::Context;
use crate::http::etag;
use crate::http::handler::Handler;
use crate::http::message::Response;
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
    Ok(Handler::catalog(respond(context, filter, paging, ports)))
}

async fn respond<P: Ports>(
    context: &Context<'_>,
    filter: ActionFilter,
    paging: Paging,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let platform = context.argument(0);
    let request = CatalogRequest::open(context, ports).await?;
    let (catalog, limits) = (&request.catalog, request.limits());
    let actions = match request.visible_platform(platform) {
        Some(folded) => catalog.find_actions(&folded).await?,
        None => None,
    };
    let Some(actions) = actions else { return Err(request.platform_not_found(platform).await) };
    let tag = etag::for_query(actions.id, &context.request.query, &limits.fingerprint());
    if let Some(response) = request.cached(&tag) {
        return Ok(response);
    }
    let page = if limits.is_none() {
        catalog.actions(actions, &filter, &|total| paging.positions(total)).await?
    } else {
        let all = catalog.actions(actions, &filter, &|total| 0..total).await?;
        runnable_page(&all, limits, paging)?
    };
    Ok(request.page(paging.envelope(&page.rows, page.total as u64), tag))
}

/// Parses a method, ignoring case. An unknown method matches no row.
pub(super) fn method(text: &str) -> Constraint<Method> {
    // ASCII comparison is enough: no other letter folds to a letter of a method name.
    let method = Method::ALL.into_iter().find(|method| method.as_str().eq_ignore_ascii_case(text));
    method.map_or(Constraint::Never, Constraint::Equals)
}
