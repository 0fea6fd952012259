//! Endpoints that call platforms: the proxy, and actions.

pub mod action_response;
mod approval;
pub mod download;
mod next_page_header;
pub mod proxy;
pub mod run;
