//! The lifecycle of stored credentials: when they are refreshed or checked, and what a failure changes.

pub mod machine;
pub mod row;
pub mod statements;
pub mod timing;
