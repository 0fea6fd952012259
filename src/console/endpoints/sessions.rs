//! `/v1/console-sessions`: the sessions of people in the console.

use crate::connections::model::ConnectionId;
use crate::console::session::Session;
use crate::console::statements;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::paging::{Paging, cursor_page};
use crate::http::problem::{Code, Problem};
use crate::storage::transaction::{ExistingRow, Statements};

/// The id of the caller's session. Returns `None` if the caller is not a person.
fn caller_session_id<'a>(context: &Context<'a>) -> Option<&'a str> {
    context.caller.person()?.grant.as_ref().map(|session| session.id.as_str())
}

/// `GET /v1/console-sessions`
pub fn list<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let before = query.text("before").and_then(|text| ConnectionId::parse(&text));
    let limit = Paging::read(&query).limit;
    let select = statements::select_sessions(
        &context.guard(),
        before.as_ref().map(ConnectionId::as_str),
        limit.saturating_add(1),
        context.now,
    );
    let mut statements = Statements::default();
    let rows = statements.query::<Session>(select);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Handler::render(statements, move |results, _| {
        let mut rows = results.all(rows)?;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| has_more).map(|row| row.id.as_str());
        let current = caller_session_id(context);
        let sessions: Vec<_> = rows.iter().map(|row| row.to_json(current)).collect();
        Ok(cursor_page(&sessions, &next))
    }))
}

/// `DELETE /v1/console-sessions/{id}`
pub fn delete<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    Ok(end(context, context.connection_id().as_str()))
}

/// `DELETE /v1/console-sessions/current`: signs out the person.
pub fn delete_own<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let Some(id) = caller_session_id(context) else {
        let detail = "The caller has no session: only people who sign in to the console have one.";
        return Err(Problem::new(Code::ConsoleSessionNotFound, detail));
    };
    Ok(end(context, id))
}

fn end<'a>(context: &'a Context<'a>, id: &str) -> Handler<'a> {
    let mut statements = Statements::default();
    let deleted = statements.query::<ExistingRow>(statements::delete_session(&context.guard(), id));
    Handler::delete(statements, deleted, move || {
        Problem::new(Code::ConsoleSessionNotFound, "There is no such session.")
    })
}
