//! The endpoints of a connection's credentials: read, import, check.

pub mod check_now;
pub mod read;
pub mod set;
