//! `PUT /v1/vault/connections/{id}/state`: sets a connection's health, as reported by the holder of its credentials.

use super::change;
use crate::api::plan::{Context, Plan};
use crate::api::problem::Problem;
use crate::vault::draft::NewState;
use crate::vault::statements::one;

/// Plans the request.
///
/// # Errors
/// With all faults of the request.
pub fn plan<'a>(context: &'a Context<'a>) -> Result<Plan<'a>, Problem> {
    let condition = context.condition()?;
    let mut body = context.body()?;
    body.finish()?;
    let new = body.text("state").and_then(|text| text.parse().ok()).map(|state| NewState {
        state,
        active: body.boolean("active"),
        reason: body.text("reason"),
    });
    Ok(change::plan(context, condition, |write| Some(one::set_state(write, &new?))))
}
