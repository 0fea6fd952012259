//! Tests of the HTTP API through `handle()`, over real `SQLite` and real segments.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests fail by panicking"
)]

mod access;
mod action_detail;
mod actions;
mod agents;
mod answers;
mod api_keys;
#[cfg(feature = "cli")]
mod audit;
mod broad;
mod call;
mod chance;
mod connect;
mod connections;
mod connector_detail;
mod connectors;
mod console;
mod counted;
mod create;
mod derived;
mod due_work;
#[cfg(feature = "cli")]
mod faults;
mod full;
mod keys;
mod last_use;
mod logos;
#[cfg(feature = "cli")]
mod methods;
mod migrations;
mod model;
#[cfg(feature = "cli")]
mod moves;
mod near;
#[cfg(feature = "cli")]
mod openapi;
mod pages;
mod parameters;
mod plans;
mod properties;
mod reads;
mod rehearsal;
mod requests;
mod resilience;
mod search;
mod sessions;
mod shards;
mod site;
mod slices;
mod state_and_name;
mod states;
mod storage;
mod summary;
mod support;
mod tenants;
mod timing;
mod tokens;
#[cfg(feature = "cli")]
mod typescript;
mod update;
mod usage;
mod vault;
mod vault_model;
mod walk;
mod webhooks;
