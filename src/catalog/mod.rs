//! The catalog: connectors and the actions of each platform.
//!
//! It is laid out for reading. The importer renders each row's JSON once and sorts the rows in list order;
//! a [`segment`] is those bytes plus the columns that filters and search need, and is opened without parsing.

pub mod model;
pub mod segment;
pub mod stored;
