//! The HTTP contract, pure: from a request's plain parts to a response's plain parts. Knows all modules of the core,
//! and neither Cloudflare nor the browser.

pub mod agents;
pub mod audit;
pub mod body;
pub mod call;
pub mod catalog;
pub mod clients;
pub mod config;
pub mod connect;
pub mod context;
pub mod cors;
pub mod cost;
pub mod credentials;
pub mod endpoint;
pub mod etag;
pub mod events;
pub mod fields;
pub mod handle;
pub mod keys;
mod mcp;
pub mod message;
pub mod near;
mod open;
pub mod page;
pub mod paging;
pub mod parameters;
pub mod plan;
pub mod problem;
pub mod query;
pub mod room;
pub mod route;
pub mod schedule;
pub mod session;
pub mod transaction;
pub mod upkeep;
pub mod vault;
pub mod webhooks;
pub mod whoami;

pub use config::Config;
pub use handle::Service;
pub use message::{Request, Response};
