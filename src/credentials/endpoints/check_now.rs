//! `POST /v1/vault/connections/{id}/check`: runs the health check of a connection now.

use super::read::{awaiting_cut_over, failed};
use crate::auth::Principal;
use crate::catalog::reader::Catalog;
use crate::connect::endpoints::connector;
use crate::connect::statements::select_connection;
use crate::connections::endpoints::render::connection_response;
use crate::connections::model::Connection;
use crate::credentials::check::{DueConnection, check_all, is_checkable};
use crate::credentials::usable::CredentialsQuery;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::Response;
use crate::http::problem::{Code, Problem};
use crate::ports::{Db, Ports, first_row};
use crate::storage::metering::Metered;
use crate::storage::transaction::{Results, Statements};
use crate::terms::State;

pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut statements = Statements::default();
    let credentials = CredentialsQuery::new(context, &context.connection_id(), &mut statements)?;
    Ok(Handler::new(statements, move |results, principal| async move {
        check(context, credentials, &principal, &results, ports).await
    }))
}

/// Checks the connection, unless the service is backing off after a failure. Returns the updated
/// connection.
async fn check<P: Ports>(
    context: &Context<'_>,
    credentials: CredentialsQuery,
    principal: &Principal,
    results: &Results,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let cache = context.service.catalog();
    let (connection, row, client) = credentials.rows(results)?;
    if connection.state == State::Failed {
        return Err(failed(&row));
    }
    if row.awaits_cut_over() {
        return Err(awaiting_cut_over(&row, context.now));
    }
    let catalog = Catalog::open(cache, ports).await?;
    let connector = connector(&catalog, &connection.platform).await?;
    if !connector.is_some_and(|connector| is_checkable(&connector, &row, context.now)) {
        let detail = "This connection can't be checked: its credentials can't be refreshed, and the catalog has no request that verifies them.";
        return Err(Problem::new(Code::NotCheckable, detail));
    }
    let is_client_fixed =
        row.waits_for_client() && client.is_some_and(|client| client.rejected_since.is_none());
    let next = row.next_attempt_at.filter(|_| !is_client_fixed).unwrap_or_default();
    let wait_seconds = next.saturating_sub(context.now).div_ceil(1000);
    if wait_seconds > 0 {
        let detail = format!(
            "After a failure, the service waits before it calls the platform again. Retry in {wait_seconds} seconds."
        );
        let problem = Problem::new(Code::TooManyRequests, detail);
        return Err(Problem { retry_after: u32::try_from(wait_seconds).ok(), ..problem });
    }
    let (account, environment) = (&principal.account, principal.environment);
    let select = select_connection(account, environment.as_str(), &connection.id);
    let due = DueConnection { account: account.clone(), environment, connection: connection.id };
    let faults = check_all(context.config(), cache, ports, &[due]).await?;
    if let Some(fault) = faults.into_iter().next() {
        return Err(Problem::unavailable(fault));
    }
    let sets = ports.batch(vec![select]).await?;
    connection_response(
        &first_row::<Connection>(&sets, 0)?.ok_or_else(Problem::connection_not_found)?,
    )
}
