//! The catalog: connectors and the actions of each platform.
//!
//! It is laid out for reading. The importer renders each row's JSON once and sorts the rows in list order; a
//! [`segment`] is those bytes plus the columns that filters and search need, and is opened without parsing. A warm
//! request asks storage nothing: [`cache`] holds what it needs.

pub mod cache;
pub mod filter;
pub mod key;
pub mod layout;
pub mod model;
pub mod search;
pub mod segment;
pub mod stored;
