//! `GET /v1/available-connectors/{platform}`: a connector with how users connect to its platform.

use super::answer::{Asked, CatalogAnswer};
use crate::http::context::Context;
use crate::http::problem::Problem;

/// Plans the request.
///
/// # Errors
/// When the request has a query.
pub fn plan<'a>(context: &Context<'a>) -> Result<CatalogAnswer<'a>, Problem> {
    context.no_query()?;
    let (request, platforms) = (context.request, context.caller.platforms());
    let asked = Asked::Connector { platform: context.argument(0) };
    let limits = context.caller.limits();
    Ok(CatalogAnswer { request, platforms, limits, asked })
}
