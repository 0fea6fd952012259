//! Connections between identities and platforms: their endpoints, rules and SQL.

pub mod cursor;
pub mod draft;
pub mod endpoints;
pub mod filter;
pub mod key;
pub mod model;
pub mod revision;
pub mod rules;
pub mod statements;
