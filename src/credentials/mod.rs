//! Credentials: encryption, storage, refresh, health checks, and use in requests.

pub mod check;
pub mod endpoints;
pub mod keys;
pub mod lifecycle;
pub mod minted;
pub mod model;
pub mod reencrypt;
pub mod refresh;
pub mod reports;
pub mod request_auth;
pub mod seal;
#[cfg(test)]
mod tests;
mod token_request;
pub mod usable;

pub use keys::{VaultKeys, VaultKeysError};
pub use seal::{Kind, OpenError, SealContext, SealError, Sealed};
