//! Background jobs, which run every minute in small batches.
//!
//! | file | job |
//! |---|---|
//! | `run_minute` | runs everything that is due in a minute |
//! | `check_due` | refreshes and health checks of connections |
//! | `deliver_webhooks` | deliveries to webhooks |
//! | `maintenance` | re-encryption with the first key, revocation of grants |
//! | `queue` | queue messages, for more work than one run can do |

mod check_due;
mod deliver_webhooks;
pub mod maintenance;
mod queue;
mod run_minute;

pub use deliver_webhooks::deliver_due;
pub use queue::consume;
pub use run_minute::run_minute;
