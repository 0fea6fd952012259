//! `DELETE /v1/vault/connections/{id}`: deletes a connection.

use super::change::precondition_failed;
use crate::api::message::{NO_STORE, Response};
use crate::api::plan::{Context, Plan, Statements};
use crate::api::problem::Problem;
use crate::vault::model::Connection;
use crate::vault::revision::Precondition;
use crate::vault::statements::one;

/// Plans the request.
///
/// # Errors
/// With all faults of the request.
pub fn plan<'a>(context: &'a Context<'a>) -> Result<Plan<'a>, Problem> {
    let condition = context.condition()?;
    let id = context.connection_id();
    let precondition = Precondition::of(condition, id.as_str());
    let (guard, mut statements) = (context.guard(), Statements::default());
    let connection = statements.ask::<Connection>(one::select(&guard, &id));
    statements.run(one::delete(&guard, &id, &precondition));
    Ok(Plan::vault(statements, move |results, _| match results.first(connection)? {
        Some(found) if !precondition.holds(found.version) => Err(precondition_failed()),
        // When statements were sent twice, the lost first try has most likely deleted it.
        None if !results.repeated => Err(Problem::no_connection()),
        _ => {
            let mut response = Response::empty(204);
            response.add("cache-control", NO_STORE);
            Ok(response)
        }
    }))
}
