//! `DELETE /v1/vault/connections/{id}`: deletes a connection, and has the platform revoke what it granted.

use super::change::precondition_failed;
use crate::catalog::cache::CatalogCache;
use crate::connect::client::OauthClient;
use crate::connect::endpoints::revoke::{Revocation, revoke};
use crate::connect::revocations;
use crate::connect::statements::select_client_for;
use crate::connections::model::Connection;
use crate::connections::revision::Precondition;
use crate::connections::statements::one;
use crate::http::context::Context;
use crate::http::message::Response;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::storage::transaction::{Results, Rows, Statements};

/// A connection to be deleted.
#[derive(Debug)]
pub struct Deletion<'a> {
    context: &'a Context<'a>,
    precondition: Precondition,
    connection: Rows<Connection>,
    client: Rows<OauthClient>,
    revocation: Rows<Revocation>,
}

/// Plans the request.
///
/// # Errors
/// With all faults of the request.
pub fn plan<'a>(context: &'a Context<'a>) -> Result<(Deletion<'a>, Statements), Problem> {
    let condition = context.condition()?;
    let id = context.connection_id();
    let precondition = Precondition::of(condition, id.as_str());
    let (guard, mut statements) = (context.guard(), Statements::default());
    let connection = statements.ask(one::select(&guard, &id));
    let client = statements.ask(select_client_for(&guard, &id));
    statements.run(one::delete(&guard, &id, &precondition));
    let revocation = statements.ask(revocations::select(&guard, &id));
    for statement in revocations::prune(context.now) {
        statements.run(statement);
    }
    let deletion = Deletion { context, precondition, connection, client, revocation };
    Ok((deletion, statements))
}

impl Deletion<'_> {
    /// Answers, after the platform was asked to revoke what it granted. The connection and its credentials are gone
    /// whatever the platform says.
    ///
    /// # Errors
    /// `connection_not_found`, `precondition_failed`.
    pub async fn answer<P: Ports>(
        self,
        results: &Results,
        cache: &CatalogCache,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        match results.first(self.connection)? {
            Some(found) if !self.precondition.holds(found.version) => {
                return Err(precondition_failed());
            }
            // When statements were sent twice, the lost first try has most likely deleted it.
            None if !results.repeated => return Err(Problem::no_connection()),
            _ => {}
        }
        if let Some(revocation) = results.first(self.revocation)? {
            let (config, client) = (self.context.config, results.first(self.client)?);
            revoke(config, cache, ports, &revocation, client.as_ref()).await;
        }
        Ok(Response::no_content())
    }
}
