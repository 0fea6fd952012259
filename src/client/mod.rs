//! The core of the npm package, and the only code that uses browser APIs. It checks calls with the service's own code
//! and builds the requests. `npm/src` sends them and shapes the answers into pages and errors.
//!
//! | module | what it knows |
//! |---|---|
//! | [`call`] | what each method of the package requests, checked |
//! | [`body`] | checking the bodies that JavaScript passes |
//! | [`secret`] | checking secrets before they are sent |
//! | [`names`] | suggestions for mistyped options |
//! | [`keys`] | splitting connection and connector keys |
//! | [`failure`] | problems as JavaScript receives them |
//!
//! Nothing here panics, whatever JavaScript passes. What can't be used is thrown as a plain object with members of the
//! problem that the service would answer with.

pub mod body;
pub mod call;
pub mod failure;
pub mod keys;
pub mod names;
pub mod secret;

/// The platform's usual allocator would make up an eighth of a module that allocates little.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
