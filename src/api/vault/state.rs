//! `PUT /v1/vault/connections/{id}/state`: sets a connection's health, as reported by the holder of its credentials.

use serde_json::{Map, Value};

use super::change;
use crate::api::plan::{Context, Plan};
use crate::api::problem::{Code, Problem};
use crate::connect::statements::select_held;
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
        now: context.now,
        reason: body.text("reason"),
    });
    let plan = change::plan(context, condition, |write| Some(one::set_state(write, &new?)));
    let Plan::Vault(mut statements, render) = plan else { return Ok(plan) };
    let held = statements
        .ask::<Map<String, Value>>(select_held(&context.guard(), &context.connection_id()));
    Ok(Plan::vault(statements, move |results, principal| {
        if results.first(held)?.is_some() {
            let detail =
                "The vault holds this connection's credentials, so it determines the state itself.";
            return Err(Problem::new(Code::CredentialsHeld, detail));
        }
        render(results, principal)
    }))
}
