//! `PATCH /v1/vault/connections/{id}`: replaces the tags.

use super::change;
use crate::connections::statements::one;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::problem::Problem;
use crate::util::json;

pub fn handle<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let condition = context.condition()?;
    let mut body = context.body()?;
    body.finish()?;
    let tags = body.texts("tags").map(|tags| json::text(&tags));
    let (statements, render) =
        change::apply(context, condition, |write| Some(one::set_tags(write, &tags?)));
    Ok(Handler::Render { statements, render })
}
