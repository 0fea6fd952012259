//! The storage layer of all features: batches of statements, metering, retries, read replicas, capacity.

pub mod capacity;
pub mod metering;
pub mod read_replica;
pub mod transaction;
