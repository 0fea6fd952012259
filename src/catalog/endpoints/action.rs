//! `GET /v1/available-actions/{platform}/{key}`: an action with what it takes and answers.

use super::answer::{Asked, CatalogAnswer};
use crate::http::context::Context;
use crate::http::problem::Problem;

/// Plans the request.
///
/// # Errors
/// With all faults of the query.
pub fn plan<'a>(context: &Context<'a>) -> Result<CatalogAnswer<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let (request, platforms) = (context.request, context.caller.platforms());
    let asked = Asked::Action {
        platform: context.argument(0),
        key: context.argument(1),
        with_responses: query.text("include").is_some(),
        for_model: query.text("for").is_some(),
    };
    let limits = context.caller.limits();
    Ok(CatalogAnswer { request, platforms, limits, asked })
}
