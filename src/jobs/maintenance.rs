//! The jobs that re-encrypt rows after a key rotation, and revoke the grants of deleted
//! connections.

use crate::connect::endpoints::revoke::revoke_due;
use crate::credentials::reencrypt::{Progress, reencrypt};
use crate::http::service::Service;
use crate::oauth::revocation::Outcome;
use crate::ports::{Ports, StorageError};
use crate::storage::metering::Metered;

/// The maximum number of rows that one run re-encrypts.
const MAX_ROWS_PER_RUN: u64 = 200;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MaintenanceResult {
    /// The progress of re-encryption with the first key.
    pub sealed: Progress,
    /// The number of completed revocations.
    pub revoked: usize,
    /// The number of revocations that will be retried.
    pub waiting: usize,
}

/// Re-encrypts rows that do not use the first key, if `may_reencrypt`, and attempts up to
/// `revocations` due revocations. Reads only rows that it changes. Can be interrupted at any time,
/// and can run several times concurrently. Fails if storage is unavailable, but keeps completed
/// work.
pub async fn maintain<P: Ports>(
    service: &Service,
    ports: &P,
    may_reencrypt: bool,
    revocations: usize,
) -> Result<MaintenanceResult, StorageError> {
    let (config, catalog, ports) = (service.config(), service.catalog(), Metered::new(ports));
    // Re-encryption must wait until all running services have the first key.
    let sealed = if may_reencrypt {
        reencrypt(&ports, &config.vault_keys, MAX_ROWS_PER_RUN).await?
    } else {
        Progress::default()
    };
    let attempted = revoke_due(config, catalog, &ports, revocations as u64).await?;
    let waiting = attempted.iter().filter(|(_, outcome)| *outcome == Outcome::TryAgain).count();
    Ok(MaintenanceResult { sealed, revoked: attempted.len().saturating_sub(waiting), waiting })
}
