//! The endpoints of connections, one module each.
//!
//! Each returns a plan whose statements are guarded by the caller's key: they do and return nothing if the key is not
//! valid or lacks the scope. So they are sent in one batch with the query for the key's row.

mod broad;
mod change;
pub mod create;
pub mod delete;
pub mod list;
pub mod name;
pub mod no_platform;
pub mod read;
pub mod shown;
pub mod state;
pub mod status;
pub mod summary;
pub mod update;
