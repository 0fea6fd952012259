//! Calls to platforms on behalf of connected accounts: addresses, headers, signatures, and the input of actions. Pure.

pub mod address;
pub mod build;
pub mod headers;
pub mod schema;
pub mod sigv4;
