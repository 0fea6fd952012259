//! The keys of the running services, according to their reports.

use anyhow::Result;
use serde::Deserialize;

use crate::credentials::reports::{REPORT_INTERVAL_MS, Report, reports};
use crate::operator::shards::Shards;
use crate::operator::sql::interpolate;

const MINUTE_MS: u64 = 60_000;
/// The maximum delay of a running service's report. A single report may be late or get lost.
const MAX_DELAY_MS: u64 = 5 * MINUTE_MS;
/// The number of shards that a service processes per minute (`src/edge/shards.js`).
const DATABASES_PER_MINUTE: usize = 10;

#[derive(Deserialize)]
struct DatabaseTime {
    now: u64,
}

/// Reads the reports of running services from each database. Ages are based on the database's
/// clock, not on this machine's.
pub fn read_reports(shards: &Shards) -> Result<Vec<Vec<Report>>> {
    let minutes_per_cycle =
        u64::try_from(shards.0.len().div_ceil(DATABASES_PER_MINUTE)).unwrap_or(u64::MAX);
    // A service that has not reported for this long is considered stopped.
    let max_age_ms =
        REPORT_INTERVAL_MS.saturating_add(MAX_DELAY_MS.saturating_mul(minutes_per_cycle));
    let read = |database: &crate::operator::d1::Database| {
        let clock = "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now".to_owned();
        let results = database.query(&[clock, interpolate(&reports(0))])?;
        let now = results.rows::<DatabaseTime>(0)?.first().map_or(0, |row| row.now);
        let mut all: Vec<Report> = results.rows(1)?;
        all.retain(|report| report.last_at() >= now.saturating_sub(max_age_ms));
        Ok(all)
    };
    shards.0.iter().map(read).collect()
}

/// The distinct ids of the reported keys, for messages.
pub fn names(reports: &[Report]) -> String {
    let mut ids: Vec<String> = Vec::new();
    for key in reports.iter().flat_map(Report::keys) {
        let id = format!("`{}`", key.split(':').next().unwrap_or_default().escape_debug());
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    if ids.is_empty() { "no keys".into() } else { ids.join(", ") }
}

/// Describes the reported keys in a sentence.
pub fn describe(reports: &[Report]) -> String {
    if reports.is_empty() {
        return "No running service has reported its keys in the last hour.".into();
    }
    format!("Running services have {}.", names(reports))
}
