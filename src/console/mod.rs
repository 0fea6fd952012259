//! Sign-in to the console: people sign in with their own accounts instead of an API key.
//!
//! - **Sign-ins** ([`sign_in`]) configure an OpenID provider or Cloudflare Access, and the scopes
//!   of each role.
//! - **Requests** ([`request`]) are not stored: they are signed, sent through the sign-in as a
//!   parameter, and bound to the browser by a cookie.
//! - **Sessions** ([`session`]) are stored. A person's token ([`crate::auth::token`]) is signed and
//!   contains the id of its session, which is checked in the same batch as the key. So ending a
//!   session takes effect immediately.

pub mod endpoints;
pub mod request;
pub mod session;
pub mod sign_in;
pub mod statements;

/// The time without requests after which a session ends, in milliseconds. Must match the SQL of
/// [`crate::auth`].
pub const IDLE_TIMEOUT_MS: u64 = 60 * 60 * 1000;
/// The maximum lifetime of a session, in milliseconds.
pub const LIFETIME_MS: u64 = 12 * 60 * 60 * 1000;
/// The lifetime of a code, in milliseconds.
pub const CODE_LIFETIME_MS: u64 = 60 * 1000;
