//! Endpoints for API keys, session tokens and `whoami`.

pub mod api_keys;
pub mod session;
pub mod whoami;
