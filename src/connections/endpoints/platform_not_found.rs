//! The error for a new connection to a platform that the catalog does not have.

use crate::auth::restriction::has_platform;
use crate::catalog::reader::Catalog;
use crate::http::body::BodyReader;
use crate::http::context::Context;
use crate::http::fields::unknown_platform;
use crate::http::message::Response;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;

/// Rejects a body with an unknown `platform`, which is in lower case. Runs only for an authorized
/// caller, because the suggestion comes from the catalog. Fails with all faults of the body.
pub async fn platform_not_found<P: Ports>(
    context: &Context<'_>,
    body: BodyReader,
    platform: &str,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let platforms = context.caller.platforms();
    let platform_list = Catalog::open(context.service.catalog(), ports).await?.platforms().await?;
    let known = platform_list.lines().filter(|known| has_platform(platforms, known));
    let (message, suggestion) = unknown_platform(platform, known);
    Err(body.refuse(&["platform"], &message, suggestion))
}
