//! A connector catalog and connection vault at the edge.

pub mod catalog;
#[cfg(feature = "cli")]
pub mod importer;
