//! The storage layer that all features use: batches of statements, metering, retries, read replicas
//! and capacity.

pub mod capacity;
pub mod metering;
pub mod read_replica;
pub mod transaction;
