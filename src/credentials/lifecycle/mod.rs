//! The lifecycle of stored credentials: the times of refreshes and checks, and the changes after a failure.

pub mod machine;
pub mod row;
pub mod statements;
pub mod timing;
