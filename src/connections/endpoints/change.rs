//! The steps common to all changes to a connection: check the version in `If-Match`, write only
//! differences, and return the resulting connection.

use super::render::connection_response;
use crate::connections::model::Connection;
use crate::connections::revision::Precondition;
use crate::connections::statements::one::{self, ConnectionUpdate};
use crate::http::condition::Condition;
use crate::http::context::Context;
use crate::http::handler::Render;
use crate::http::problem::{Code, Problem};
use crate::ports::Statement;
use crate::storage::transaction::Statements;

/// The error if the connection's version does not match `If-Match`.
pub(super) fn precondition_failed() -> Problem {
    let detail =
        "The connection's current version does not match `If-Match`. Fetch the connection again.";
    Problem::new(Code::PreconditionFailed, detail)
}

/// Changes the connection in the path with the statement that `update` returns. If it returns
/// `None`, only reads the connection.
pub(super) fn apply<'a>(
    context: &'a Context<'a>,
    condition: Option<Condition<'_>>,
    update: impl FnOnce(&ConnectionUpdate<'_>) -> Option<Statement>,
) -> (Statements, Box<Render<'a>>) {
    let (guard, id) = (context.guard(), context.connection_id());
    let precondition = Precondition::new(condition, id.as_str());
    let request = context.request_id;
    let mut statements = Statements::default();
    if let Some(update) =
        update(&ConnectionUpdate { guard: &guard, id: &id, precondition: &precondition, request })
    {
        statements.run(update);
    }
    let connection = statements.query::<Connection>(one::select(&guard, &id));
    let render: Box<Render<'a>> = Box::new(move |results, _| {
        let current = results.first(connection)?.ok_or_else(Problem::connection_not_found)?;
        // This request wrote this version, perhaps in an earlier try, or the required version is
        // unchanged.
        if current.written_by == request || precondition.is_satisfied_by(current.version) {
            connection_response(&current)
        } else {
            Err(precondition_failed())
        }
    });
    (statements, render)
}
