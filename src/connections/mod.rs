//! Connections: who is connected to which platform, and their SQL. Uses nothing of `api`.

pub mod cursor;
pub mod draft;
pub mod endpoints;
pub mod filter;
pub mod key;
pub mod model;
pub mod revision;
pub mod rules;
pub mod statements;
