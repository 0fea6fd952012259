//! `/v1/vault/connections/{id}/credentials`: handed out fresh, and imported.

pub mod check;
pub mod fresh;
pub mod read;
pub mod renew;
pub mod set;
