//! `GET /v1/available-actions/{platform}/{key}`: the detail of an action.

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
    let mut query = context.query();
    query.finish()?;
    let query = CatalogQuery::Action {
        platform: context.argument(0),
        key: context.argument(1),
        with_responses: query.text("include").is_some(),
        for_model: query.text("for").is_some(),
    };
    Ok(handler(context, query, ports))
}
