//! `GET /v1/available-actions/{platform}/{key}`: an action with what it takes and answers.

use super::answer::{CatalogQuery, handler};
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;

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
    let asked = CatalogQuery::Action {
        platform: context.argument(0),
        key: context.argument(1),
        with_responses: query.text("include").is_some(),
        for_model: query.text("for").is_some(),
    };
    Ok(handler(context, asked, ports))
}
