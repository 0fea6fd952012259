//! Events: changes of connections and of the objects that they depend on. Triggers insert them in the transaction of the
//! change (`schema/0001_init.sql`); this module reads and renders them.

pub mod endpoints;
pub mod model;
pub mod statements;

pub use model::{Event, EventId};
