//! `/v1/events`: what happened.

pub mod feed;
