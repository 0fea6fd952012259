//! The detail of an action: its server and path, its input and its responses.
//!
//! [`stored`] defines the stored form. A [`unit`] is a compressed value with the details of some
//! actions of a platform and the definitions that they share; `store` packs units into segments.
//! [`constant`] finds parameters with a constant value, and [`render`] writes the JSON of the API.

pub mod constant;
pub mod render;
#[cfg(not(target_arch = "wasm32"))]
pub mod store;
pub mod stored;
pub mod unit;
