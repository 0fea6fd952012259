//! Webhooks: events are sent to where an account wants them, at least once, signed as Standard Webhooks say.
//!
//! Triggers write what is to be sent (`schema/0001_init.sql`). Here it is told when it is due, how it is signed, and
//! what an attempt makes of it.

pub mod attempt;
pub mod deliver;
pub mod endpoints;
pub mod model;
pub mod rules;
pub mod secret;
pub mod statements;

pub use model::{Delivery, Webhook};
