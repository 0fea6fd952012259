//! The HTTP layer: routes, authenticates and handles requests, and builds responses. Depends on all
//! modules of the core, but not on Cloudflare or the browser.

mod authorizer;
pub mod body;
pub mod condition;
pub mod config;
pub mod context;
pub mod cors;
pub mod doc;
pub mod endpoint;
pub mod etag;
pub mod fields;
pub mod form;
pub mod handle;
pub mod handler;
pub mod message;
mod open;
pub mod origin;
pub mod page;
pub mod paging;
pub mod parameters;
pub mod problem;
pub mod query;
pub mod route;
pub mod service;
pub mod wait;

pub use config::Config;
pub use message::{Request, Response};
pub use service::Service;
