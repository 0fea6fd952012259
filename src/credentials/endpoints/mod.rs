//! `/v1/vault/connections/{id}/credentials`: handed out fresh, imported, and checked.

pub mod check_now;
pub mod read;
pub mod set;
