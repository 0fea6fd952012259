//! The connect flow: auth methods, attempts, OAuth clients and revocations.

pub mod attempt;
pub mod client;
pub mod endpoints;
pub mod method;
pub mod presets;
pub mod resolved_oauth;
pub mod revocations;
pub mod rules;
pub mod statements;
