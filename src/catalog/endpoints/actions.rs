//! `GET /v1/available-actions/{platform}` (specification, part 4.1).

use super::answer::{Asked, CatalogAnswer};
use crate::catalog::filter::{ActionFilter, Wish};
use crate::catalog::search::Query;
use crate::http::context::Context;
use crate::http::paging::Paging;
use crate::http::problem::Problem;
use crate::terms::Method;
use crate::util::case_fold::fold;

/// Plans the request.
///
/// # Errors
/// With all faults of the query.
pub fn plan<'a>(context: &Context<'a>) -> Result<CatalogAnswer<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let filter = ActionFilter {
        title: query.text("title").map(|text| fold(&text)),
        key: query.text("key"),
        method: query.text("method").map_or(Wish::Any, |text| method(&text)),
        q: query.text("q").and_then(|text| Query::parse(&text)),
    };
    let (request, paging) = (context.request, Paging::read(&query));
    let platforms = context.caller.platforms();
    let asked = Asked::Actions { platform: context.argument(0), filter, paging };
    let limits = context.caller.limits();
    Ok(CatalogAnswer { request, platforms, limits, asked })
}

/// The method of a name, in any case.
pub(super) fn method(text: &str) -> Wish<Method> {
    // No letter outside ASCII folds to one of these names' letters.
    let method = Method::ALL.into_iter().find(|method| method.as_str().eq_ignore_ascii_case(text));
    method.map_or(Wish::Unknown, Wish::Only)
}
