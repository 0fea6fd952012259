//! Who is asking: API keys, what they may do, and how a request's key becomes a [`Principal`].

pub mod authenticate;
pub mod key;
pub mod principal;
pub mod statements;
pub mod usage;

pub use principal::{Environment, Principal, Scope, Scopes};
