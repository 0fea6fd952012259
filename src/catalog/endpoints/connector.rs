//! `GET /v1/available-connectors/{platform}`: a connector with how users connect to its platform.

use super::answer::{CatalogQuery, handler};
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;

/// Plans the request.
///
/// # Errors
/// When the request has a query.
pub fn plan<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.no_query()?;
    let asked = CatalogQuery::Connector { platform: context.argument(0) };
    Ok(handler(context, asked, ports))
}
