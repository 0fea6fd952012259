//! Connections: who is connected to which platform.

pub mod confinement;
pub mod cursor;
pub mod draft;
pub mod filter;
pub mod key;
pub mod model;
pub mod revision;
pub mod rules;
pub mod statements;
