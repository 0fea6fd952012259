//! Calls to platforms on behalf of connected accounts: addresses, headers and signatures. Pure.

pub mod address;
pub mod headers;
pub mod sigv4;
