//! `DELETE /v1/vault/connections/{id}`.

use super::{Ask, Context, not_found, precondition_failed};
use crate::api::message::{NO_STORE, Response};
use crate::api::problem::Problem;
use crate::api::query::no_parameters;
use crate::vault::revision::Precondition;
use crate::vault::statements::one;

pub(super) fn ask<'a>(context: &'a Context<'a>, id: &str) -> Result<Ask<'a>, Problem> {
    no_parameters(&context.request.query)?;
    let precondition = Precondition::of(context.request.header("if-match"), id);
    let statements =
        vec![one::select(&context.guard, id), one::delete(&context.guard, id, &precondition)];
    let answer = move |results: &super::Results<'_>| {
        match results.connection(0)? {
            Some(found) if !precondition.holds(found.version) => Err(precondition_failed()),
            // An earlier try of this request, whose answer was lost, has most likely done it.
            None if !results.repeated => Err(not_found()),
            _ => {
                let mut response = Response::empty(204);
                response.add("cache-control", NO_STORE);
                Ok(response)
            }
        }
    };
    Ok(Ask { statements, answer: Box::new(answer) })
}
