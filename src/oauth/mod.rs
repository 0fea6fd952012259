//! Messages to and from authorization servers (RFC 6749): building requests, parsing and classifying responses. Pure, without
//! I/O.
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
//! The crate `oauth2` parses only what RFC 6749 describes: no `expires_in` as a string, no nested tokens, no error with status
//! 200, no commas between scopes. The remaining work takes less code here than with the crate.

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
