//! The search over the actions of all platforms: which match a question as people type it, best first.
//!
//! The importer finds the words of each action and weighs them; the Worker reads what is stored about the words of a
//! question and adds it up. All of it is one list, [`EVERY_ACTION`], whose rows are in the order of their platforms:
//! well-known platforms first, then by name.
//!
//! | part | what it holds |
//! |---|---|
//! | [`Role::Rows`](super::list::Role::Rows) | the rows |
//! | [`Role::Words`](super::list::Role::Words) | of each word, the platforms and the actions that have it |
//! | [`Role::Traits`](super::list::Role::Traits) | the platforms, and what ranks an action whatever is asked |
//!
//! | file | what it knows |
//! |---|---|
//! | [`words`] | how a text becomes words, and their stems |
//! | [`meaning`] | which words say little, which are verbs, and which stand for others |
//! | [`question`] | what a question looks for |
//! | [`index`] | the parts, as they are stored |
//! | [`rank`] | which actions match, and how well |
//! | [`write`](mod@write) | writing the parts |

pub mod index;
pub mod meaning;
pub mod question;
pub mod rank;
pub mod words;
#[cfg(not(target_arch = "wasm32"))]
pub mod write;

/// The name of the list of all actions, which no platform can have.
pub const EVERY_ACTION: &str = "*";
