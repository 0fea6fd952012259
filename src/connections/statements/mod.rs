//! All SQL of the vault. Every statement joins the row of the request's key: it reaches only that key's account and
//! environment, and returns or changes nothing when the key is not valid or lacks the scope. What a token is confined
//! to is part of a list's filter and of `Sql::guard_connection`, which every statement on a stored connection
//! uses. A new connection is checked before it is inserted, in `api::vault::create`.
//!
//! `sql` builds the text. On it stand `columns`, `order`, `count` and `source`, each on those before it, and
//! on these the statements themselves: `search`, `ways`, `list`; `one`; `summary`.

mod columns;
mod count;
pub mod limits;
pub mod list;
pub mod one;
mod order;
mod search;
mod source;
pub(crate) mod sql;
pub mod summary;
mod ways;
