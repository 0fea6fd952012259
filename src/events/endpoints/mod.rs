//! The endpoint that lists events.

pub mod feed;
