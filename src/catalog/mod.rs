//! The catalog: connectors and the actions of each platform.
//!
//! The stored layout makes reads cheap: a request reads only the parts that its response needs. The importer renders
//! each row's JSON once and sorts the rows into list order; it stores these bytes with the fields that filters and
//! search need.
//!
//! | module | content |
//! |---|---|
//! | [`reader`] | queries: a page of a list, the detail of a connector or an action |
//! | [`model`], [`row`], [`key`] | a connector, an action; the fields that filters read; connector keys |
//! | [`detail`] | how users connect to a platform, and where its API is |
//! | [`filter`] | filters, and the rows that match them |
//! | [`list_search`] | search in one list, by substring |
//! | [`action_search`] | full-text search over the actions of all platforms |
//! | [`action`] | the detail of an action |
//! | [`graphql`] | the requests of GraphQL actions |
//! | [`format`](mod@format) | the stored layout |
//! | [`cache`] | the memory cache of an isolate, with which a warm request reads nothing from storage |
//! | [`write`](mod@write) | writes a catalog |

pub mod action;
pub mod action_search;
pub mod cache;
pub mod detail;
pub mod endpoints;
pub mod filter;
pub mod format;
pub mod graphql;
pub mod key;
pub mod list_search;
pub mod logos;
pub mod model;
pub mod reader;
pub mod row;
#[cfg(not(target_arch = "wasm32"))]
pub mod write;
