//! Calls to platforms: URLs, headers, signatures, and the input of actions. Only `client` and `endpoints` do I/O.

pub mod address;
pub mod budget;
pub mod build;
pub mod call_error;
pub mod charset;
pub mod client;
pub mod endpoints;
mod expired_token;
pub mod flat;
pub mod headers;
pub mod json_cursor;
pub mod lenient;
pub mod links;
pub mod overrides;
pub mod pages;
pub mod retry;
pub mod schema;
pub mod sigv4;
