//! Full-text search over the actions of all platforms, for queries such as "create github issue".
//!
//! The importer extracts and weighs the words of each action; the Worker adds up the postings of
//! the query's words. All actions are in one list, [`ALL_ACTIONS`], sorted by platform: well-known
//! platforms first, then by name.
//!
//! | part | content |
//! |---|---|
//! | [`Role::Rows`](crate::catalog::format::list::Role::Rows) | the rows |
//! | [`Role::Words`](crate::catalog::format::list::Role::Words) | for each word, the platforms and the actions that contain it |
//! | [`Role::Features`](crate::catalog::format::list::Role::Features) | the platforms, and the part of each action's score that does not depend on the query |

#[cfg(not(target_arch = "wasm32"))]
pub mod extract;
pub mod index;
pub mod intent;
pub mod query;
pub mod rank;
pub mod ranking;
pub mod score;
pub mod stem;
#[cfg(not(target_arch = "wasm32"))]
pub mod write;

/// The name of the list of all actions. No platform can have this name.
pub const ALL_ACTIONS: &str = "*";
