//! Usage: the number of requests of a tenant per day, by endpoint group, platform, identity and class of status.
//!
//! A request never writes its count. Each isolate counts in memory and writes all of its counts in one statement, in the
//! background: [`FLUSH_MS`] after the first one, or when it holds [`counts::MAX_ROWS`] rows. An isolate that ends before
//! loses what it has not written, and so does a failed write, because repeating it could count twice. So the numbers can
//! be lower than the truth, but never higher.

pub mod counts;
pub mod endpoints;
pub mod statements;

use crate::http::service::Service;
use crate::ports::{Clock, Db, StorageError, with_timeout};
use crate::storage::metering::STORAGE_MS;

/// The time between the first count and its write, in milliseconds. Work after a response may take 30 seconds.
pub const FLUSH_MS: u32 = 20_000;

const DAY_MS: u64 = 86_400_000;

/// The number of days since 1970-01-01 UTC.
pub const fn day(milliseconds: u64) -> u64 {
    milliseconds / DAY_MS
}

/// Waits for `delay_ms`, and writes the counts that this isolate holds for the database of `ports`.
pub async fn flush<P: Db + Clock>(
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
    let written = ports.batch(vec![statements::add(&counts)]);
    let written = with_timeout(ports, STORAGE_MS, written).await;
    written.unwrap_or_else(|| Err(StorageError::new("D1: timed out"))).map(|_| ())
}
