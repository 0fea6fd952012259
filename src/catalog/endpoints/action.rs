//! `GET /v1/available-actions/{platform}/{key}`: the detail of an action.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::respond::{ActionFacts, CatalogRequest, action_not_found};
use crate::auth::limits::Limits;
use crate::catalog::format::stored::SegmentId;
use crate::catalog::reader::ActionLookup;
use crate::http::context::Context;
use crate::http::etag;
use crate::http::handler::Handler;
use crate::http::message::Response;
use crate::http::problem::Problem;
use crate::platform_calls::flat::FlatInput;
use crate::ports::{Ports, StorageError};
use crate::storage::metering::Metered;
use crate::util::json;

pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let with_responses = query.text("include").is_some();
    let for_model = query.text("for").is_some();
    Ok(Handler::catalog(respond(context, with_responses, for_model, ports)))
}

/// `for_model` flattens the input schema for a language model.
async fn respond<P: Ports>(
    context: &Context<'_>,
    with_responses: bool,
    for_model: bool,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let (platform, key) = (context.argument(0), context.argument(1));
    let request = CatalogRequest::open(context, ports).await?;
    let lookup = match request.visible_platform(platform) {
        Some(folded) => request.catalog.action(&folded, key, with_responses).await?,
        None => ActionLookup::NoPlatform,
    };
    let action = match lookup {
        ActionLookup::Found(action) => action,
        ActionLookup::NoAction(similar) => return Err(action_not_found(platform, key, &similar)),
        ActionLookup::NoPlatform => return Err(request.platform_not_found(platform).await),
    };
    permit(&action, request.limits())?;
    let form = if for_model { "model" } else { "" };
    let tag = etag::for_query(SegmentId::from_content(&action), form, "");
    if let Some(response) = request.cached(&tag) {
        return Ok(response);
    }
    Ok(request.detail(if for_model { with_flat_input(&action)? } else { action }, tag))
}

/// Returns a problem if the caller may not run the action.
fn permit(action: &[u8], limits: &Limits) -> Result<(), Problem> {
    if limits.is_none() {
        return Ok(());
    }
    let unreadable = |_| StorageError::new("a stored action is malformed");
    let facts: ActionFacts<'_> = json::from_bytes(action).map_err(unreadable)?;
    let action_key = Some((facts.platform.as_ref(), facts.key.as_ref()));
    limits.permit(facts.method.as_str(), action_key).map_err(Problem::limits_exceeded)
}

/// Replaces the input schema of an action with its flat form.
fn with_flat_input(action: &[u8]) -> Result<Vec<u8>, StorageError> {
    #[derive(Deserialize)]
    struct WithInput<'a> {
        #[serde(borrow)]
        input: &'a RawValue,
    }
    let unreadable = |_| StorageError::new("a stored action is malformed");
    let WithInput { input } = json::from_bytes(action).map_err(unreadable)?;
    let schema: Value = serde_json::from_str(input.get()).map_err(unreadable)?;
    // `input` borrows from `action`, so its address gives its offset.
    let before = input.get().as_ptr().addr().saturating_sub(action.as_ptr().addr());
    let after = before.saturating_add(input.get().len());
    let mut flat = action.get(..before).unwrap_or_default().to_vec();
    flat.extend(json::bytes(&FlatInput::new(&schema).schema()));
    flat.extend_from_slice(action.get(after..).unwrap_or_default());
    Ok(flat)
}
