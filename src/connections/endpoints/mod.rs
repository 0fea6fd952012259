//! The endpoints of connections, one module each.
//!
//! The statements of each handler are guarded by the caller's key: they change and return nothing
//! if the key is not valid or lacks the scope. So they are sent in one batch with the query for the
//! key's row.

mod change;
pub mod create;
pub mod delete;
pub mod list;
pub mod name;
pub mod platform_not_found;
pub mod read;
pub mod render;
pub mod state;
pub mod status;
pub mod summary;
mod too_broad;
pub mod update;
