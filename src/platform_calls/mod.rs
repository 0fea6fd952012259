//! Calls to platforms on behalf of connected accounts: addresses, headers, signatures, and the input of actions. Pure.

pub mod address;
pub mod budget;
pub mod build;
pub mod charset;
pub mod client;
pub mod endpoints;
pub mod flat;
pub mod headers;
pub mod lenient;
pub mod links;
pub mod overrides;
pub mod pages;
pub mod retry;
pub mod schema;
pub mod sigv4;
