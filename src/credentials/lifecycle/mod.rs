//! The life of a connection whose credentials the vault holds: when they are renewed, and what becomes of the connection.

pub mod machine;
pub mod renewal;
pub mod row;
pub mod statements;
