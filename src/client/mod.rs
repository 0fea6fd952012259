//! The core of the npm package, and the only code that uses browser APIs. It validates calls with the service's own
//! code and builds the requests. `npm/src` sends them and turns the responses into pages and errors.
//!
//! | module | content |
//! |---|---|
//! | [`call`] | the request of each method of the package |
//! | [`body`] | validation of bodies that JavaScript passes |
//! | [`secret`] | validation of secrets before they are sent |
//! | [`names`] | suggestions for mistyped options |
//! | [`keys`] | parsing of connection and connector keys |
//! | [`failure`] | problems as JavaScript receives them |
//!
//! Nothing here panics, even if JavaScript passes invalid values. Invalid arguments are thrown as plain objects with the members of
//! the problem that the service would respond with.

pub mod body;
pub mod call;
pub mod failure;
pub mod keys;
pub mod names;
pub mod secret;

/// The default allocator would be an eighth of this module, which allocates little.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
