//! A connector catalog and connection vault at the edge: one crate, one flow, three doors.
//!
//! | folder | what it knows |
//! |---|---|
//! | [`api`] | the HTTP contract, pure: routes, query parameters, pages, problems, [`api::handle()`] |
//! | [`catalog`] | connectors and actions: rows, stored segments, filters, search, what an isolate remembers |
//! | [`vault`] | connections: fields and their rules, keys, filters, cursors, entity tags, all SQL |
//! | [`access`] | API keys, the tokens that they make, scopes, the principal of a request |
//! | [`ports`] | what the core needs from outside: a database, values, time, randomness, a rate limit |
//! | `edge` | feature `worker`: the Cloudflare Worker, the only code that names the platform |
//! | `importer` | feature `cli`: `OpenAPI` documents → a catalog folder |
//! | `operator` | feature `cli`: publishing catalogs, keeping keys and seeding connections through wrangler |
//! | `client` | feature `client`: the door of the npm package, the only code that names the browser |
//!
//! **The flow** of a request is [`api::handle()`]: route → authenticate → authorize → parse → ask storage once →
//! render. It takes and returns plain parts, so native tests drive every endpoint over real `SQLite`.
//!
//! **The walls.** Without a feature the crate can name neither Cloudflare nor the browser.

pub mod access;
pub mod api;
pub mod catalog;
#[cfg(feature = "client")]
pub mod client;
pub mod crc32;
#[cfg(feature = "worker")]
pub mod edge;
pub mod fold;
#[cfg(feature = "cli")]
pub mod importer;
pub mod json;
pub mod names;
pub mod nearest;
#[cfg(feature = "cli")]
pub mod operator;
pub mod ports;
pub mod rfc3339;
pub mod vault;

#[cfg(all(target_arch = "wasm32", feature = "worker", feature = "client"))]
compile_error!("the Worker and the client are two wasm modules: build them apart");
