//! Authentication and authorization: API keys, session tokens, token restrictions, and resolving
//! the secret of a request to a [`Principal`].

pub mod api_keys;
pub mod authenticate;
pub mod caller;
pub mod confirm;
pub mod endpoints;
pub mod error;
pub mod key;
pub mod last_use;
pub mod limits;
pub mod mac;
pub mod principal;
pub mod restriction;
pub mod shard;
pub mod statements;
pub mod token;

pub use caller::Caller;
pub use principal::Principal;
pub use shard::Shard;
