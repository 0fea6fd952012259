//! The detail of an action: its location, its input and its responses.
//!
//! [`stored`] is the stored form. [`unit`] is a compressed value with the details of some actions of a platform and the
//! definitions that they share; `store` distributes units over segments. [`constant`] finds parameters with a constant
//! value, and [`render`] renders the JSON of the API.

pub mod constant;
pub mod render;
#[cfg(not(target_arch = "wasm32"))]
pub mod store;
pub mod stored;
pub mod unit;
