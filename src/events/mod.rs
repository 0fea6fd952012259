//! Events: changes of connections, and of the OAuth clients and webhooks of a tenant. Triggers in
//! `schema/0001_init.sql` insert events in the transaction of the change; this module reads and
//! renders them.

pub mod endpoints;
pub mod model;
pub mod statements;

pub use model::{Event, EventId};
