//! The SQL of connections. Every statement joins the row of the request's API key. So it accesses
//! only the key's account and environment, and does nothing if the key is not valid or lacks the
//! scope. The restriction of a token is part of a list's filter, and of `Sql::guard_connection` in
//! statements on single connections. A new connection is checked before it is inserted, in
//! `connections::endpoints::create`.
//!
//! `sql` builds the statements. `columns`, `order`, `count` and `conditions` add parts to a
//! statement, and `search`, `plans`, `list`, `one` and `summary` combine these parts.
//!
//! | filter of a list | where its total is counted |
//! |---|---|
//! | columns, or one tag | `count`: counters that triggers maintain |
//! | identity, account at the platform, name, `q` | `search`: the matching rows |
//! | several tags, or tags with columns | `plans` |
//! | keys | `connections::endpoints::list`: the number of rows |

mod columns;
mod conditions;
mod count;
pub mod limits;
pub mod list;
pub mod one;
mod order;
mod plans;
mod search;
pub(crate) mod sql;
pub mod summary;
