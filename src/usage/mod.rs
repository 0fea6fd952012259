//! Usage: the number of a tenant's requests per day, by endpoint group, platform, identity and
//! class of status.
//!
//! Requests do not write their counts. Each isolate counts in memory and writes all of its counts
//! with one statement in the background: [`FLUSH_MS`] after the first count, or at
//! [`counts::MAX_ROWS`] rows. If the isolate ends earlier, its counts are lost. A failed write is
//! not retried, because it could count twice. So counts can be too low, but never too high.

pub mod counts;
pub mod endpoints;
pub mod statements;

use crate::http::service::Service;
use crate::ports::{Clock, Dataset, Db, StorageError, all_rows, with_timeout};
use crate::storage::metering::STORAGE_TIMEOUT_MS;
use crate::util::json;
use statements::DataPoint;

/// The time between the first count and its write, in milliseconds. The platform allows 30 seconds
/// after a response.
pub const FLUSH_MS: u32 = 20_000;

const DAY_MS: u64 = 86_400_000;

/// Converts milliseconds to days since 1970-01-01 UTC.
pub const fn day(milliseconds: u64) -> u64 {
    milliseconds / DAY_MS
}

/// Waits for `delay_ms`, then writes this isolate's counts for the database of `ports`: to the
/// database, and to the dataset if one is configured. The dataset's points are selected from the
/// database, because only the database knows the accounts of callers.
pub async fn flush<P: Db + Clock + Dataset>(
    service: &Service,
    ports: &P,
    delay_ms: u32,
) -> Result<(), StorageError> {
    if delay_ms > 0 {
        ports.sleep(delay_ms).await;
    }
    let counts = service.usage().take(ports.number());
    if counts.is_empty() {
        return Ok(());
    }
    let add = (service.config().usage_days > 0).then(|| statements::add(&counts));
    let select = ports.has_dataset().then(|| statements::select_counted(&counts));
    let has_dataset = select.is_some();
    let written = ports.batch([select, add].into_iter().flatten().collect());
    let written = with_timeout(ports, STORAGE_TIMEOUT_MS, written).await;
    let sets = written.unwrap_or_else(|| Err(StorageError::new("D1: timed out")))?;
    if has_dataset {
        let points: Vec<DataPoint> = all_rows(&sets, 0)?;
        ports.write_points(&json::text(&points));
    }
    Ok(())
}
