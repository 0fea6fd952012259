//! Tests of the importer and its command line, with small documents.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "test helpers fail by panicking too")]

mod actions;
mod command;
mod connecting;
mod connectors;
mod details;
mod discovery;
mod display_names;
mod documents;
mod fetched;
mod flat;
mod flat_check;
mod folder;
mod graphql;
mod instance;
mod licences;
mod name_clashes;
mod names;
mod overrides;
mod parts;
mod project_documents;
mod providers;
mod servers;
mod support;
mod uploads;
mod version_3_2;
mod yaml;
