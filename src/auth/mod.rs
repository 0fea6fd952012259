//! Who is asking: API keys, the tokens created with them, what they may do, and how a request's secret becomes a
//! [`Principal`]. Uses nothing of `vault` or `api`.

pub mod api_keys;
pub mod authenticate;
pub mod caller;
pub mod endpoints;
pub mod error;
pub mod key;
pub mod limits;
pub mod mac;
pub mod principal;
pub mod restriction;
pub mod shard;
pub mod statements;
pub mod token;
pub mod usage;

pub use caller::Caller;
pub use principal::Principal;
pub use shard::Shard;
