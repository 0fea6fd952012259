//! Messages to and from authorization servers (RFC 6749): building requests, parsing and
//! classifying responses. This module does no I/O.
//!
//! | module | subject |
//! |---|---|
//! | [`client`] | the app's client credentials |
//! | [`assertion`] | client authentication with a private key |
//! | [`pkce`] | verifiers and challenges |
//! | [`authorization`] | authorization requests |
//! | [`callback`] | the redirect back from the platform |
//! | [`token`] | token requests |
//! | [`response`] | token responses |
//! | [`error`] | classification of errors |
//! | [`revocation`] | token revocation |
//!
//! The crate `oauth2` is not used because it parses only what RFC 6749 defines: it rejects
//! `expires_in` as a string, nested tokens, errors with status 200, and commas between scopes. What
//! remains takes less code than using the crate.

pub mod account;
pub mod assertion;
pub mod authorization;
pub mod callback;
pub mod client;
pub mod error;
pub mod pkce;
pub mod response;
pub mod revocation;
pub mod scopes;
pub mod token;

pub use client::Client;
pub use error::{TokenError, TokenErrorKind};
pub use response::Tokens;
