//! The job that runs every minute.

use super::check_due::check_due;
use super::deliver_webhooks::deliver_all_due;
use super::maintenance::maintain;
use crate::agents::approval;
use crate::audit;
use crate::connect::statements::clear_expired_attempts;
use crate::credentials::check::{BATCH_SIZE, CLAIM_MS};
use crate::credentials::lifecycle::statements::claim_due;
use crate::credentials::reports::{self, Readiness, Report, readiness};
use crate::events::statements::prune;
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::ports::{Db, Ports, Queue, all_rows};
use crate::storage::metering::Metered;
use crate::usage;

/// Runs due work: a small batch in this run, the rest through the queue. Returns errors for the
/// log. Work that was not done remains due. Fails if storage is unavailable.
pub async fn run_minute<P: Ports + Queue>(
    service: &Service,
    ports: &P,
) -> Result<Vec<String>, Problem> {
    let config = service.config();
    let metered = Metered::new(ports);
    let now = ports.now();
    let keys = &config.vault_keys;
    let mut batch = vec![
        claim_due(now, now.saturating_add(CLAIM_MS), BATCH_SIZE),
        prune(now.saturating_sub(config.event_retention_ms)),
    ];
    batch.extend(reports::report(keys, now));
    batch.push(reports::reports(0));
    batch.push(audit::statements::prune(now.saturating_sub(config.audit_retention_ms)));
    batch.push(approval::prune(now));
    batch.push(clear_expired_attempts(now));
    batch.push(usage::statements::prune(usage::day(now).saturating_sub(config.usage_days)));
    let sets = metered.batch(batch).await?;
    let claimed = all_rows(&sets, 0)?;
    let reported: Vec<Report> = all_rows(&sets, 4)?;
    let checks = check_due(service, &metered, claimed).await?;
    // A revocation uses as many subrequests as a check. Limiting their sum reserves subrequests for
    // deliveries: Cloudflare's free plan allows 50 per run.
    let revocations = BATCH_SIZE.saturating_add(1).saturating_sub(checks.checked);
    let first_key = keys.ids_and_fingerprints().into_iter().next().unwrap_or_default();
    let may_reencrypt = readiness(&reported, &first_key) == Readiness::Ready;
    maintain(service, ports, may_reencrypt, revocations).await?;
    let mut faults = checks.faults;
    // Last, because all previous steps may write events.
    faults.append(&mut deliver_all_due(service, ports).await?);
    let capacity = service.capacity();
    capacity.record_size(ports.number(), metered.size());
    faults.extend(capacity.warning(ports.number(), now));
    Ok(faults)
}
