//! What the service does by itself, without a request: whoever runs it each minute has small pieces of work done.

use crate::connect::endpoints::revoke::revoke_due;
use crate::credentials::reseal::{Progress, reseal};
use crate::http::service::Service;
use crate::oauth::revocation::Outcome;
use crate::ports::{Ports, StorageError};
use crate::storage::metering::Metered;

/// The most rows that a run seals anew.
const RESEALED: u64 = 200;

/// What a run has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Sealing anew with the first key.
    pub sealed: Progress,
    /// Revocations that came to an end.
    pub revoked: usize,
    /// Revocations that are tried again later.
    pub waiting: usize,
}

impl Service {
    /// Seals anew what another key than the first has sealed, unless a running service may lack it, and asks platforms once
    /// more to revoke, for up to `revoked` grants. It reads as many rows as it finds to do. It may be stopped at any time, and run by several at once.
    ///
    /// # Errors
    /// When storage can't answer. What was done by then stays done.
    pub async fn upkeep<P: Ports>(
        &self,
        ports: &P,
        may_reseal: bool,
        revoked: usize,
    ) -> Result<Done, StorageError> {
        let (config, catalog, ports) = (self.config(), self.catalog(), Metered::new(ports));
        let sealed = if may_reseal {
            reseal(&ports, &config.vault_keys, RESEALED).await?
        } else {
            Progress::default()
        };
        let asked = revoke_due(config, catalog, &ports, revoked as u64).await?;
        let waiting = asked.iter().filter(|(_, outcome)| *outcome == Outcome::TryAgain).count();
        Ok(Done { sealed, revoked: asked.len().saturating_sub(waiting), waiting })
    }
}
