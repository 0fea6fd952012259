//! The endpoints of credentials: read, import, check.

pub mod check_now;
pub mod import;
pub mod read;
pub mod set;
pub(crate) mod submitted;
