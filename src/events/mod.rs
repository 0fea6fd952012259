//! Events: what happened to connections and to what they depend on. Triggers write their rows, in the transaction of the
//! change (`schema/0001_init.sql`); here they become documents.

pub mod endpoints;
pub mod model;
pub mod statements;

pub use model::{Event, EventId};
