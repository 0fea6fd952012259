//! What an action's detail adds to its row: where it is, what it takes and what it answers.
//!
//! [`stored`] is the form in which details are kept, [`unit`] the compressed value that holds those of some actions of a
//! platform with the definitions that they share, [`constant`] finds parameters with one value, `store` puts such values into segments, and [`answer`] makes what a
//! caller gets.

pub mod answer;
pub mod constant;
#[cfg(not(target_arch = "wasm32"))]
pub mod store;
pub mod stored;
pub mod unit;
