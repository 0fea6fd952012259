//! `/v1/vault/connections/{id}/credentials`: handed out fresh, imported, and checked.

pub mod check;
pub mod check_now;
pub mod fresh;
pub mod read;
pub mod renew;
pub mod set;
