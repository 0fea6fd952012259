//! The WebAssembly core of the npm package, and the only code that uses browser APIs. It validates
//! calls with the code of the service and builds the requests. `npm/src` sends them and converts
//! the responses.
//!
//! | module | content |
//! |---|---|
//! | [`call`] | the request of each method of the package |
//! | [`body`] | validation of bodies that JavaScript passes |
//! | [`secret`] | validation of secrets before they are sent |
//! | [`names`] | suggestions for misspelled options |
//! | [`keys`] | parsing of connection and connector keys |
//! | [`failure`] | problems as JavaScript receives them |
//!
//! This code must not panic, even if JavaScript passes invalid values. For invalid arguments, it
//! throws plain objects with the members of the problem that the service would return.

pub mod body;
pub mod call;
pub mod failure;
pub mod keys;
pub mod names;
pub mod secret;

/// The default allocator would make up an eighth of the module's size. This code allocates little,
/// so a smaller allocator suffices.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
