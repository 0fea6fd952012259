//! Endpoints that call platforms: the proxy, and actions.

pub mod action_response;
mod approval;
mod paged;
pub mod proxy;
pub mod run;
