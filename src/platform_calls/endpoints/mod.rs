//! Endpoints that call platforms: the proxy, and actions.

pub mod action_response;
mod approval;
pub mod download;
mod paged;
pub mod proxy;
pub mod run;
