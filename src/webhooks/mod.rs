//! Webhooks: each event is sent to the subscribed URLs of the account at least once, signed
//! according to Standard Webhooks.
//!
//! Triggers in `schema/0001_init.sql` insert the deliveries. This module determines when they are
//! due, signs and sends them, and stores the outcome.

pub mod attempt;
pub mod deliver;
pub mod endpoints;
pub mod model;
pub mod rules;
pub mod secret;
pub mod statements;

pub use model::{Delivery, Webhook};
