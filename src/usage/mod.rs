//! Usage: the number of requests of a tenant per day, by endpoint group, platform, identity and class of status.
//!
//! A request never writes its count. Each isolate counts in memory and writes all of its counts in one statement, in
//! the background: [`FLUSH_MS`] after the first one, or when it holds [`counts::MAX_ROWS`] rows. An isolate that ends
//! before that loses what it has not written, and so does a failed write, because repeating it could count twice. So
//! the counts can be too low, but never too high.

pub mod counts;
pub mod endpoints;
pub mod statements;

use crate::http::service::Service;
use crate::ports::{Clock, Dataset, Db, StorageError, all_rows, with_timeout};
use crate::storage::metering::STORAGE_TIMEOUT_MS;
use crate::util::json;
use statements::DataPoint;

/// The time between the first count and its write, in milliseconds. Work after a response may take 30 seconds.
pub const FLUSH_MS: u32 = 20_000;

const DAY_MS: u64 = 86_400_000;

/// The number of days since 1970-01-01 UTC.
pub const fn day(milliseconds: u64) -> u64 {
    milliseconds / DAY_MS
}

/// Waits for `delay_ms`, and writes the counts that this isolate holds for the database of `ports`: to the database, and to
/// the dataset if there is one. Only the database knows the accounts of the callers.
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
