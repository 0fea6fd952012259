//! The endpoint of the event feed.

pub mod feed;
