//! The endpoint of events.

pub mod feed;
