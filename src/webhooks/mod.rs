//! Webhooks: events are sent to an account's URLs at least once, signed by Standard Webhooks.
//!
//! Triggers insert the deliveries (`schema/0001_init.sql`). This module decides when they are due, signs and sends
//! them, and stores the outcome.

pub mod attempt;
pub mod deliver;
pub mod endpoints;
pub mod model;
pub mod rules;
pub mod secret;
pub mod statements;

pub use model::{Delivery, Webhook};
