//! Storage, as all features use it: batches of statements, metering, retries, read replicas, capacity.

pub mod capacity;
pub mod metering;
pub mod read_replica;
pub mod transaction;
