//! `PUT /v1/vault/connections/{id}/name`: sets a connection's display name.

use super::change;
use crate::connections::statements::one;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::problem::Problem;

pub fn handle<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let condition = context.condition()?;
    let mut body = context.body()?;
    body.finish()?;
    let name = body.text("name");
    let (statements, render) =
        change::apply(context, condition, |update| Some(one::set_name(update, name.as_deref())));
    Ok(Handler::Render { statements, render })
}
