//! `GET /v1/available-actions`: a search over the actions of all platforms.

use super::actions::method;
use super::answer::{Asked, CatalogAnswer};
use crate::catalog::filter::Wish;
use crate::catalog::reader::FindFilter;
use crate::catalog::search::Query;
use crate::http::context::Context;
use crate::http::paging::Paging;
use crate::http::problem::Problem;
use crate::util::case_fold::fold;
use crate::util::name_set::Names;

/// Plans the request.
///
/// # Errors
/// With all faults of the query.
pub fn plan<'a>(context: &Context<'a>) -> Result<CatalogAnswer<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let (request, platforms) = (context.request, context.caller.platforms());
    let filter = FindFilter {
        q: query.text("q").and_then(|text| Query::parse(&text)).unwrap_or_default(),
        method: query.text("method").map_or(Wish::Any, |text| method(&text)),
        platforms: query.text("platform").map(|text| Names::of_text(fold(&text))),
        seen: platforms.cloned(),
    };
    let asked = Asked::Found { filter, paging: Paging::read(&query) };
    let limits = context.caller.limits();
    Ok(CatalogAnswer { request, platforms, limits, asked })
}
