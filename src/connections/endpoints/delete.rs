//! `DELETE /v1/vault/connections/{id}`: deletes a connection, and revokes its grant at the platform.

use super::change::precondition_failed;
use crate::connect::client::OauthClient;
use crate::connect::endpoints::revoke::{Revocation, revoke};
use crate::connect::revocations;
use crate::connect::statements::select_client_for;
use crate::connections::model::Connection;
use crate::connections::revision::Precondition;
use crate::connections::statements::one;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::Response;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::storage::transaction::Statements;

pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    let condition = context.condition()?;
    let id = context.connection_id();
    let precondition = Precondition::new(condition, id.as_str());
    let (guard, mut statements) = (context.guard(), Statements::default());
    let connection = statements.query::<Connection>(one::select(&guard, &id));
    let client = statements.query::<OauthClient>(select_client_for(&guard, &id));
    statements.run(one::delete(&guard, &id, &precondition));
    let revocation = statements.query::<Revocation>(revocations::select(&guard, &id));
    for statement in revocations::prune(context.now) {
        statements.run(statement);
    }
    Ok(Handler::new(statements, move |results, _| async move {
        match results.first(connection)? {
            Some(connection) if !precondition.is_satisfied_by(connection.version) => {
                return Err(precondition_failed());
            }
            // If the batch was sent twice, the first one probably deleted the connection.
            None if !results.repeated => return Err(Problem::connection_not_found()),
            _ => {}
        }
        // The connection stays deleted even if the platform does not revoke the grant.
        if let Some(revocation) = results.first(revocation)? {
            let (cache, client) = (context.service.catalog(), results.first(client)?);
            revoke(context.config(), cache, ports, &revocation, client.as_ref()).await;
        }
        Ok(Response::no_content())
    }))
}
