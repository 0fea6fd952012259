//! Authenticates and authorizes a request with the row of its key.

use super::endpoint::Keyed;
use super::problem::Problem;
use super::service::Service;
use crate::auth::authenticate::{moved_to, principal_from_row};
use crate::auth::statements::{complete_move, complete_move_param, select_key};
use crate::auth::{Caller, Principal};
use crate::ports::{Db, Ports};
use crate::storage::metering::Metered;
use crate::storage::transaction::{Results, Statements};
use crate::terms::Scopes;

/// Authenticates and authorizes the caller of one request.
pub(super) struct KeyAuthorizer<'a, P> {
    pub service: &'a Service,
    pub ports: &'a Metered<'a, P>,
    pub caller: &'a Caller,
    /// The requested endpoint, or the problem if the path or method does not exist.
    pub endpoint: &'a Result<Keyed, Problem>,
    /// Whether the isolate's caches already authorize the caller.
    pub is_known: bool,
    pub now: u64,
}

impl<P: Ports> KeyAuthorizer<'_, P> {
    /// Queries storage only for a caller that is not cached.
    pub async fn ensure_authorized(&self) -> Result<(), Problem> {
        if !self.is_known {
            self.authorize_and_run(Statements::default()).await?;
        }
        Ok(())
    }

    /// Runs the statements in one batch with the query for the key's row. Returns their results
    /// only if the caller is authorized. Fails when the key is invalid, the path or method does not
    /// exist, the scope is missing, or storage is unavailable.
    pub async fn authorize_and_run(
        &self,
        statements: Statements,
    ) -> Result<(Principal, Results), Problem> {
        let mut batch = Vec::new();
        if self.ports.was_forwarded() {
            batch.extend(complete_move(&complete_move_param(self.caller)));
        }
        let first = batch.len();
        batch.push(select_key(self.caller, self.now));
        batch.append(&mut statements.into_vec());
        let (principal, sets) = loop {
            let mut sets = self.ports.batch(batch.clone()).await?;
            sets.drain(..first.min(sets.len()));
            if let Some(shard) = moved_to(sets.first())? {
                return Err(Problem { moved_to: Some(shard), ..self.caller.rejection().into() });
            }
            let principal = principal_from_row(self.caller, sets.first(), self.now);
            if principal.is_err() && self.ports.allows_replica() {
                // The replica may not have a new key yet, so retry on the primary.
                self.ports.use_primary();
                continue;
            }
            sets.drain(..1.min(sets.len()));
            break (principal, sets);
        };
        // Do not cache a row from a replica: it may be stale, and the cache also serves callers
        // that did not allow replicas.
        if let Caller::Key(key) = self.caller
            && !self.ports.allows_replica()
        {
            self.service.keys().update(key, principal.as_ref().ok(), self.now);
        }
        let principal = principal?;
        authorize(self.endpoint, self.caller, principal.scopes)?;
        Ok((principal, Results { sets, repeated: self.ports.was_retried() }))
    }
}

/// Returns the endpoint. Fails when the path or the method does not exist, or when the caller lacks the scope.
pub(super) fn authorize(
    endpoint: &Result<Keyed, Problem>,
    caller: &Caller,
    scopes: Scopes,
) -> Result<Keyed, Problem> {
    let endpoint = endpoint.clone()?;
    match endpoint.access().scope() {
        Some(scope) if !scopes.contains(scope) => Err(Problem::missing_scope(caller.noun(), scope)),
        _ => Ok(endpoint),
    }
}
