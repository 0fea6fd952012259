//! The HTTP contract, through `handle()`, over real `SQLite` and the real segments.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests fail by panicking"
)]

mod access;
mod actions;
mod chance;
mod connections;
mod connectors;
mod counted;
mod create;
mod keys;
mod migrations;
mod model;
mod openapi;
mod pages;
mod parameters;
mod plans;
mod properties;
mod requests;
mod resilience;
mod sessions;
mod storage;
mod summary;
mod support;
mod tenants;
mod tokens;
mod typescript;
mod update;
mod usage;
mod vault;
mod vault_model;
mod walk;
