//! Connecting accounts: which method, which fields, what an attempt is and what became of it.

pub mod attempt;
pub mod client;
pub mod endpoints;
pub mod filled;
pub mod method;
pub mod revocations;
pub mod rules;
pub mod statements;
