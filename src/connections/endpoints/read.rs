//! `GET /v1/vault/connections/{id}`: returns a connection.

use super::render::connection_response;
use crate::connections::model::Connection;
use crate::connections::revision::entity_tag;
use crate::connections::statements::one;
use crate::http::context::Context;
use crate::http::etag;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::Problem;
use crate::storage::transaction::Statements;

pub fn handle<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut statements = Statements::default();
    let id = context.connection_id();
    let connection = statements.query::<Connection>(one::select(&context.guard(), &id));
    Ok(Handler::render(statements, move |results, _| {
        let connection = results.first(connection)?.ok_or_else(Problem::connection_not_found)?;
        let tag = entity_tag(&connection.id, connection.version);
        let if_none_match = context.request.header("if-none-match");
        if if_none_match.is_some_and(|value| etag::matches(value, &tag)) {
            let mut response = Response::empty(304);
            response.add("cache-control", NO_STORE);
            response.add("etag", tag);
            return Ok(response);
        }
        connection_response(&connection)
    }))
}
