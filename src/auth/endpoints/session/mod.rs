//! `POST /v1/sessions`: creates a token for one identity, which is safe to give to a browser.

pub mod new;

use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::storage::transaction::Statements;

/// Plans the request. Once the key is known to be valid, looks up the platforms in the catalog and creates the token.
pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    if !context.config().sessions.can_sign() {
        return Err(new::no_session_secret());
    }
    context.no_query()?;
    let body = context.body()?;
    Ok(Handler::new(Statements::default(), move |_, principal| async move {
        new::create(context, body, &principal, ports).await
    }))
}
