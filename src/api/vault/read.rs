//! `GET /v1/vault/connections/{id}` (specification, part 4.4).

use super::{Ask, Context, not_found, shown};
use crate::api::etag;
use crate::api::message::{NO_STORE, Response};
use crate::api::problem::Problem;
use crate::api::query::no_parameters;
use crate::vault::revision::entity_tag;
use crate::vault::statements::one;

pub(super) fn ask<'a>(context: &'a Context<'a>, id: &str) -> Result<Ask<'a>, Problem> {
    no_parameters(&context.request.query)?;
    let answer = |results: &super::Results<'_>| {
        let connection = results.connection(0)?.ok_or_else(not_found)?;
        let tag = entity_tag(&connection.id, connection.version);
        let known = context.request.header("if-none-match");
        if known.is_some_and(|known| etag::matches(known, &tag)) {
            let mut response = Response::empty(304);
            response.add("cache-control", NO_STORE);
            response.add("etag", tag);
            return Ok(response);
        }
        Ok(shown(&connection))
    };
    let statements = vec![one::select(&context.guard, id)];
    Ok(Ask { statements, answer: Box::new(answer) })
}
