//! `POST /v1/sessions`: creates a session token for an identity. An app can safely pass it to a
//! browser.

pub mod new;

use crate::agents::sign_in::Endpoint;
use crate::agents::statements::select_for_caller;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::storage::transaction::Statements;

/// Validates the body. After the key is authenticated, looks up the platforms in the catalog and
/// creates the token.
pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    if !context.config().sessions.can_sign() {
        return Err(new::no_session_secret());
    }
    context.ensure_no_query()?;
    let body = context.body()?;
    let mut statements = Statements::default();
    let endpoint = body
        .has("confirm")
        .then(|| statements.query::<Endpoint>(select_for_caller(&context.guard())));
    Ok(Handler::new(statements, move |results, principal| async move {
        let endpoint = endpoint.map(|endpoint| results.first(endpoint)).transpose()?.flatten();
        let has_sign_in = endpoint.is_some_and(|endpoint| endpoint.r#type.is_some());
        let can_confirm = has_sign_in && context.config().base_url.is_some();
        new::create(context, body, &principal, can_confirm, ports).await
    }))
}
