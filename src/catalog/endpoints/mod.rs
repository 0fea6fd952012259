//! The endpoints of the catalog.

pub mod action;
pub mod actions;
pub mod connector;
pub mod connectors;
pub mod respond;
pub mod search;
