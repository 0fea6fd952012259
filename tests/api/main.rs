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
mod api_keys;
#[cfg(feature = "cli")]
mod audit;
#[cfg(feature = "cli")]
mod backups;
mod broad_lists;
mod call;
mod capacity;
mod connect;
mod connections;
mod connector_detail;
mod connectors;
mod console;
mod counters;
mod create;
mod database;
mod due_work;
#[cfg(feature = "cli")]
mod faults;
mod generated_files;
mod keys;
mod last_use;
mod logos;
#[cfg(feature = "cli")]
mod methods;
mod migrations;
mod model;
#[cfg(feature = "cli")]
mod moves;
#[cfg(feature = "cli")]
mod openapi;
mod pages;
mod parameters;
mod plans;
mod properties;
mod read_replica;
mod reads;
mod recorded_responses;
mod rehearsal;
mod requests;
mod resilience;
mod rng;
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
