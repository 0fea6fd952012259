//! `GET /v1/available-connectors/{platform}`: the detail of a connector.

use super::respond::{CatalogQuery, handler};
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;

pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.no_query()?;
    let query = CatalogQuery::Connector { platform: context.argument(0) };
    Ok(handler(context, query, ports))
}
