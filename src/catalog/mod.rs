//! The catalog: connectors and the actions of each platform. Uses nothing of `access`, `vault` or `api`.
//!
//! It is laid out for reading: a request reads what its answer needs, and no more. The importer renders each row's JSON
//! once and sorts the rows into list order; those bytes are stored, with what filters and search need.
//!
//! | file | what it knows |
//! |---|---|
//! | [`reader`] | what the service asks: a page of a list, a platform's connector |
//! | [`model`], [`row`], [`key`] | a connector, an action; what filters see of a row; connector keys |
//! | [`detail`] | how users connect to a platform, and where its API is |
//! | [`filter`], [`search`], [`index`] | which rows match a request; the rank of a row; where words occur |
//! | [`current`], [`pack`], [`list`] | the stored layout, from the record that names everything down to the rows |
//! | [`section`], [`layout`], [`stored`] | verified pieces of a value, numbers and texts in it, the keys of values |
//! | [`finder`] | the search over the actions of all platforms |
//! | [`cache`] | what an isolate remembers, so that a warm request asks storage nothing |
//! | [`write`](mod@write) | writing all of that |

pub mod action;
pub mod cache;
pub mod current;
pub mod detail;
pub mod endpoints;
pub mod filter;
pub mod finder;
pub mod index;
pub mod key;
pub mod layout;
pub mod list;
pub mod logos;
pub mod model;
pub mod pack;
pub mod reader;
pub mod row;
pub mod search;
pub mod section;
pub mod stored;
#[cfg(not(target_arch = "wasm32"))]
pub mod write;
