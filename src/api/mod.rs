//! The HTTP contract, pure: from a request's plain parts to a response's plain parts.

pub mod paging;
pub mod percent;
pub mod problem;
pub mod query;
pub mod route;
