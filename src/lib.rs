//! A connector catalog and a connection vault at the edge.
//!
//! One folder per feature, with its HTTP endpoints (`endpoints/`) and its SQL (`statements`). From
//! the lowest layer to the highest:
//!
//! | module | contents |
//! |---|---|
//! | [`util`] | JSON, percent-encoding, timestamps, suggestions, patterns; independent of the service |
//! | [`terms`] | types that requests, rows and responses share: environments, scopes, identity types, states, methods |
//! | [`ports`] | the interfaces to the outside: a database, a value store, time, randomness, a rate limit, HTTP |
//! | [`targets`] | the policy for the addresses to which credentials and users may be sent |
//! | [`oauth`] | messages to and from authorization servers: creation, parsing, classification; pure |
//! | [`oidc`] | signing users in at OpenID providers: discovery, codes, ID tokens |
//! | [`storage`] | batches of statements, metering and retries, read replicas, database capacity |
//! | [`http`] | requests, responses, the table of endpoints, queries, bodies, paging, problems, [`http::handle::handle()`] |
//! | [`auth`] | API keys, session tokens and their restrictions, the principal of a request, shards |
//! | [`catalog`] | connectors and actions: stored rows, filters, search, the cache of an isolate |
//! | [`connections`] | connections: fields and their rules, filters, cursors, entity tags |
//! | [`credentials`] | encryption at rest, refresh, health checks, the state machine of a connection |
//! | [`connect`] | connecting accounts: methods, OAuth clients, attempts, pages, the callback |
//! | [`branding`] | the name, logo and colour of an account's app on the pages for its users |
//! | [`platform_calls`] | the proxy and `run_action`: URLs, headers, signatures, input schemas |
//! | [`events`], [`webhooks`], [`audit`] | the event feed, the delivery of events, the record of who changed what |
//! | [`traces`] | the trace context of platform calls, and their spans |
//! | [`usage`] | the number of requests per day |
//! | [`agents`], [`mcp`] | the authorization server for agents, and the MCP endpoint |
//! | [`jobs`] | the work that runs every minute |
//! | `edge` | feature `worker`: the Cloudflare Worker, the only code that uses the Workers API |
//! | `client` | feature `client`: the core of the npm package, the only code that uses browser APIs |
//! | `openapi` | feature `cli`: the API's `OpenAPI` document, derived from [`http::endpoint`] |
//! | `importer` | feature `cli`: `OpenAPI` documents to a catalog folder |
//! | `operator` | feature `cli`: the operator's commands, through wrangler |
//!
//! [`http::handle::handle()`] handles every request: route, read the secret, check the rate limit,
//! prepare the handler, query storage once, authenticate, authorize, respond. It takes and returns
//! plain structs, so native tests run every endpoint with real `SQLite`. Without a feature, the
//! crate depends on neither Cloudflare nor the browser.

pub mod agents;
pub mod audit;
pub mod auth;
pub mod branding;
pub mod catalog;
#[cfg(feature = "client")]
pub mod client;
pub mod connect;
pub mod connections;
pub mod console;
pub mod credentials;
#[cfg(feature = "worker")]
pub mod edge;
pub mod events;
pub mod http;
#[cfg(feature = "cli")]
pub mod importer;
pub mod jobs;
pub mod mcp;
pub mod oauth;
pub mod oidc;
#[cfg(feature = "cli")]
#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a panic here reaches only the developer who left something undescribed"
)]
#[expect(clippy::needless_pass_by_value, reason = "`json!` borrows the parts of a schema")]
pub mod openapi;
#[cfg(feature = "cli")]
pub mod operator;
pub mod platform_calls;
pub mod ports;
pub mod storage;
pub mod targets;
pub mod terms;
pub mod texts;
pub mod traces;
pub mod usage;
pub mod util;
pub mod webhooks;

#[cfg(all(target_arch = "wasm32", feature = "worker", feature = "client"))]
compile_error!("the Worker and the client are two wasm modules: build them apart");
