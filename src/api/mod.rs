//! The HTTP contract, pure: from a request's plain parts to a response's plain parts.

pub mod body;
pub mod catalog;
pub mod config;
pub mod cors;
pub mod cost;
pub mod etag;
pub mod handle;
pub mod message;
pub mod paging;
pub mod percent;
pub mod problem;
pub mod query;
pub mod route;
pub mod session;
pub mod vault;
pub mod whoami;

pub use config::Config;
pub use handle::{Service, handle};
pub use message::{Request, Response};
