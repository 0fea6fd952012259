//! Credentials at rest: the operator's keys, and texts that only these keys open, each in one place only. Uses nothing
//! of `vault` or `api`.

pub mod check;
pub mod endpoints;
pub mod fresh;
pub mod held;
pub mod keys;
pub mod lifecycle;
pub mod minted;
pub mod placing;
pub mod refresh;
pub mod reports;
pub mod reseal;
pub mod seal;
#[cfg(test)]
mod tests;

pub use keys::{VaultKeys, VaultKeysError};
pub use seal::{Kind, OpenError, Place, SealError, Sealed};
