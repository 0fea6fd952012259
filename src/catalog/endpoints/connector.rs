//! `GET /v1/available-connectors/{platform}`: the detail of a connector.

use super::respond::CatalogRequest;
use crate::catalog::format::stored::SegmentId;
use crate::catalog::logos;
use crate::http::context::Context;
use crate::http::etag;
use crate::http::handler::Handler;
use crate::http::message::Response;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;

pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    Ok(Handler::catalog(respond(context, ports)))
}

async fn respond<P: Ports>(
    context: &Context<'_>,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let (platform, origin) = (context.argument(0), &context.request.origin);
    let request = CatalogRequest::open(context, ports).await?;
    let connector = match request.visible_platform(platform) {
        Some(folded) => request.catalog.detail(&folded).await?,
        None => None,
    };
    let Some(connector) = connector else { return Err(request.platform_not_found(platform).await) };
    let tag = etag::for_query(SegmentId::from_content(&connector), origin, "");
    if let Some(response) = request.cached(&tag) {
        return Ok(response);
    }
    Ok(request.detail(logos::absolute(connector, origin), tag))
}
