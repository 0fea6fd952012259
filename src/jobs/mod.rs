//! Background jobs, which run every minute in small batches.
//!
//! | job | file |
//! |---|---|
//! | everything that is due each minute | `run_minute` |
//! | refreshes and health checks of connections | `check_due` |
//! | deliveries to webhooks | `deliver_webhooks` |
//! | re-encryption with the first key, revocation of grants | `maintenance` |
//! | messages of the queue, which carry more work than one run may do | `queue` |

mod check_due;
mod deliver_webhooks;
pub mod maintenance;
mod queue;
mod run_minute;

pub use deliver_webhooks::deliver_due;
pub use queue::consume;
pub use run_minute::run_minute;
