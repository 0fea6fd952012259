//! Messages to and from authorization servers (RFC 6749): built, read and classified. Nothing here sends anything.
//!
//! | module | what it knows |
//! |---|---|
//! | [`client`] | the app's registration at a platform |
//! | [`assertion`] | how a client proves that it holds a private key |
//! | [`pkce`] | verifiers and their challenges |
//! | [`authorization`] | the URL to which a user is sent |
//! | [`callback`] | what the user's browser brings back |
//! | [`token`] | requests for tokens |
//! | [`answer`] | what platforms answer to them |
//! | [`error`] | what an error means, and who must act |
//! | [`revocation`] | the end of a grant |
//!
//! The crate `oauth2` reads only what RFC 6749 describes: no `expires_in` as text, no nested tokens, no error within
//! a 200, no comma between scopes. What would remain of it is shorter here.

pub mod account;
pub mod answer;
pub mod assertion;
pub mod authorization;
pub mod callback;
pub mod client;
pub mod error;
pub mod pkce;
pub mod revocation;
pub mod scopes;
pub mod token;

pub use answer::Tokens;
pub use client::Client;
pub use error::{TokenError, TokenErrorKind};
