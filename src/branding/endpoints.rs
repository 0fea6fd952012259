//! `/v1/branding`: how an account's app is presented to its end users.

use super::{Branding, statements};
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::Problem;
use crate::ports::StorageError;
use crate::storage::transaction::Statements;

/// `GET /v1/branding`
pub fn read<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut statements = Statements::default();
    let branding = statements.query::<Branding>(statements::select_for_caller(&context.guard()));
    Ok(Handler::render(statements, move |results, _| {
        let branding = results.first(branding)?.unwrap_or_default();
        Ok(Response::json(branding.to_json(), NO_STORE))
    }))
}

/// `PUT /v1/branding`
pub fn put<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut body = context.body()?;
    body.finish()?;
    let new = Branding {
        name: body.text("name"),
        logo: body.text("logo"),
        color: body.text("color").map(|color| color.to_ascii_lowercase()),
        url: body.text("url"),
        updated_at: None,
    };
    let mut statements = Statements::default();
    let put = statements::put(&context.guard(), &new, context.now);
    let stored = statements.query::<Branding>(put);
    Ok(Handler::render(statements, move |results, _| {
        let missing = || StorageError::new("the stored branding is missing");
        let stored = results.first(stored)?.ok_or_else(missing)?;
        Ok(Response::json(stored.to_json(), NO_STORE))
    }))
}
