//! The endpoints of the catalog (specification, parts 4.1 and 4.2), a module each, and what they share.

pub mod action;
pub mod actions;
pub mod answer;
pub mod connector;
pub mod connectors;
pub mod search;
