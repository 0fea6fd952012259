//! A connector catalog and connection vault at the edge.

pub mod access;
pub mod api;
pub mod catalog;
pub mod fold;
#[cfg(feature = "cli")]
pub mod importer;
pub mod nearest;
pub mod ports;
