//! What all features share of storage: batches of statements, metering and retries, read replicas, capacity.

pub mod capacity;
pub mod metering;
pub mod read_replica;
pub mod transaction;
