//! Re-encryption after a key rotation, and revocation of grants whose connections were deleted.

use crate::connect::endpoints::revoke::revoke_due;
use crate::credentials::reencrypt::{Progress, reencrypt};
use crate::http::service::Service;
use crate::oauth::revocation::Outcome;
use crate::ports::{Ports, StorageError};
use crate::storage::metering::Metered;

/// The maximum number of rows that one run re-encrypts.
const MAX_ROWS_PER_RUN: u64 = 200;

/// The result of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MaintenanceResult {
    /// Re-encryption with the first key.
    pub sealed: Progress,
    /// Revocations that are complete.
    pub revoked: usize,
    /// Revocations that are tried again later.
    pub waiting: usize,
}

/// Re-encrypts rows that do not use the first key, if `may_reencrypt`, and retries up to `revocations` revocations. It
/// reads only as many rows as it changes. It may be interrupted at any time, and several may run concurrently. Fails when storage
/// is unavailable; completed work is kept.
pub async fn maintain<P: Ports>(
    service: &Service,
    ports: &P,
    may_reencrypt: bool,
    revocations: usize,
) -> Result<MaintenanceResult, StorageError> {
    let (config, catalog, ports) = (service.config(), service.catalog(), Metered::new(ports));
    // A running instance may not have the first key yet.
    let sealed = if may_reencrypt {
        reencrypt(&ports, &config.vault_keys, MAX_ROWS_PER_RUN).await?
    } else {
        Progress::default()
    };
    let attempted = revoke_due(config, catalog, &ports, revocations as u64).await?;
    let waiting = attempted.iter().filter(|(_, outcome)| *outcome == Outcome::TryAgain).count();
    Ok(MaintenanceResult { sealed, revoked: attempted.len().saturating_sub(waiting), waiting })
}
