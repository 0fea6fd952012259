//! `PUT /v1/vault/connections/{id}/state`: sets the state of a connection whose credentials are
//! stored in another service.

use serde_json::{Map, Value};

use super::change;
use crate::connect::statements::select_credentials;
use crate::connections::draft::NewState;
use crate::connections::statements::one;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::problem::{Code, Problem};

pub fn handle<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let condition = context.condition()?;
    let mut body = context.body()?;
    body.finish()?;
    // Reported states store events, so a nearly full database rejects those reported with a token.
    if context.caller.token().is_some() {
        context.ensure_capacity()?;
    }
    let new = body.text("state").and_then(|text| text.parse().ok()).map(|state| NewState {
        state,
        active: body.boolean("active"),
        now: context.now,
        reason: body.text("reason"),
    });
    let (mut statements, render) =
        change::apply(context, condition, |update| Some(one::set_state(update, &new?)));
    let credentials = statements.query::<Map<String, Value>>(select_credentials(
        &context.guard(),
        &context.connection_id(),
    ));
    Ok(Handler::render(statements, move |results, principal| {
        if results.first(credentials)?.is_some() {
            let detail =
                "The vault holds this connection's credentials, so it determines the state itself.";
            return Err(Problem::new(Code::CredentialsHeld, detail));
        }
        render(results, principal)
    }))
}
