//! A connector catalog and connection vault at the edge: one crate, one flow, three doors.
//!
//! | module | what it knows |
//! |---|---|
//! | [`terms`] | the contract's vocabulary: environments, scopes, identity types, states, methods |
//! | [`json`], [`names`], [`nearest`], … | small tools: JSON, sets of names, suggestions, checksums, timestamps |
//! | [`ports`] | what the core needs from outside: a database, a value store, time, randomness, a rate limit |
//! | [`catalog`] | connectors and actions: rows, stored segments, filters, search, what an isolate caches |
//! | [`target`] | which addresses the vault may send credentials and users to |
//! | [`oauth`] | messages to and from authorization servers: built, read, classified; pure |
//! | [`access`] | API keys, session tokens, scopes, what a token is confined to, the principal of a request |
//! | [`credentials`] | the keys that seal credentials at rest, sealing, opening |
//! | [`vault`] | connections: fields and their rules, keys, filters, cursors, entity tags, their SQL |
//! | [`connect`] | connecting accounts: methods and fields, attempts, their SQL |
//! | [`call`] | calls to platforms: addresses, headers, signatures; pure |
//! | [`lifecycle`] | when credentials are renewed, what a failed renewal means, the SQL of both |
//! | [`events`] | what happened to connections: the rows that triggers write, as documents; their SQL |
//! | [`keys`] | API keys that the API shows, creates and ends: their documents, their SQL |
//! | [`api`] | the HTTP contract, pure: endpoints, query parameters, bodies, problems, [`api::handle::handle()`] |
//! | `edge` | feature `worker`: the Cloudflare Worker, the only code that uses the Workers API |
//! | `client` | feature `client`: the core of the npm package, the only code that uses browser APIs |
//! | `openapi` | feature `cli`: the API's `OpenAPI` document, derived from [`api::endpoint`] |
//! | `importer` | feature `cli`: `OpenAPI` documents → a catalog folder |
//! | `operator` | feature `cli`: publishing catalogs, managing keys and seeding connections through wrangler |
//!
//! A module uses only modules above it in this table.
//!
//! **The flow** of a request is [`api::handle::handle()`]: route → read the secret → rate → plan → ask storage once →
//! authenticate → authorize → render. It takes and returns plain structs, so native tests drive every endpoint over
//! real `SQLite`.
//!
//! **The walls.** Without a feature, the crate can name neither Cloudflare nor the browser.

pub mod access;
pub mod agents;
pub mod api;
pub mod audit;
pub mod call;
pub mod catalog;
#[cfg(feature = "client")]
pub mod client;
pub mod condition;
pub mod connect;
pub mod crc32;
pub mod credentials;
#[cfg(feature = "worker")]
pub mod edge;
pub mod events;
pub mod fold;
#[cfg(feature = "cli")]
pub mod importer;
pub mod invisible;
pub mod json;
pub mod keys;
pub mod lifecycle;
pub mod logos;
pub mod media;
pub mod names;
pub mod nearest;
pub mod nfc;
pub mod oauth;
#[cfg(feature = "cli")]
#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::too_many_lines,
    clippy::unwrap_used,
    reason = "a panic here reaches only the developer who left something undescribed"
)]
pub mod openapi;
#[cfg(feature = "cli")]
pub mod operator;
pub mod patterns;
pub mod percent;
pub mod ports;
pub mod rfc3339;
pub mod target;
pub mod terms;
pub mod vault;
pub mod webhooks;

#[cfg(all(target_arch = "wasm32", feature = "worker", feature = "client"))]
compile_error!("the Worker and the client are two wasm modules: build them apart");
