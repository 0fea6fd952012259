//! The catalog: connectors and the actions of each platform.
//!
//! The stored format makes reads cheap: a request reads only the parts that its response needs. The
//! importer renders the JSON of each row and sorts the rows into list order. It stores the JSON
//! with the fields that filters and search need.
//!
//! | module | content |
//! |---|---|
//! | [`reader`] | queries for a page of a list, or for the detail of a connector or an action |
//! | [`model`], [`row`], [`key`] | connectors and actions; the fields that filters read; connector keys |
//! | [`detail`] | the detail of a connector: auth methods and servers |
//! | [`filter`] | filters, and the rows that match them |
//! | [`list_search`] | search in one list, by substring |
//! | [`action_search`] | full-text search over the actions of all platforms |
//! | [`action`] | the detail of an action |
//! | [`graphql`] | the requests of GraphQL actions |
//! | [`format`](mod@format) | the stored format |
//! | [`cache`] | the memory cache of an isolate; a cached request does not read storage |
//! | [`write`](mod@write) | serializes a catalog |

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
