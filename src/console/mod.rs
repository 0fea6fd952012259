//! The console's sign-in: people sign in with their own accounts instead of an API key.
//!
//! - **Sign-ins** ([`sign_in`]) name an OpenID provider or Cloudflare Access, and the scopes of each role.
//! - **Requests** ([`request`]) are not stored: they travel, signed, through the sign-in, bound to the browser by a cookie.
//! - **Sessions** ([`session`]) are stored. A person's token ([`crate::auth::token`]) is signed and names its session, which is
//!   checked in the same batch as the key. So ending a session takes effect at once.

pub mod endpoints;
pub mod request;
pub mod session;
pub mod sign_in;
pub mod statements;

/// The time without requests after which a session ends, in milliseconds. The SQL of [`crate::auth`] repeats it.
pub const IDLE_MS: u64 = 60 * 60 * 1000;
/// The maximum lifetime of a session, in milliseconds.
pub const LIFETIME_MS: u64 = 12 * 60 * 60 * 1000;
/// How long the console can exchange a code, in milliseconds.
pub const CODE_MS: u64 = 60 * 1000;
