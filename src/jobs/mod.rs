//! Background jobs, which run every minute in small batches.

pub mod schedule;
pub mod upkeep;
