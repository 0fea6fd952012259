//! Who is asking: API keys and the tokens that they make, what they may do, and how a request's secret becomes a
//! [`Principal`].

pub mod authenticate;
pub mod base64url;
pub mod caller;
pub mod key;
pub mod mac;
pub mod principal;
pub mod statements;
pub mod token;
pub mod usage;

pub use caller::Caller;
pub use principal::{Environment, Principal, Scope, Scopes};
