//! The door of the npm package, and the only code that names the browser. It checks what is asked with the service's own
//! code and builds the request. `npm/src` sends it and gives what comes back its shape: pages, errors.
//!
//! | module | what it knows |
//! |---|---|
//! | [`call`] | what each method of the package asks for, checked, and its request |
//! | [`body`] | the bodies that JavaScript passes |
//! | [`secret`] | what may be sent as a secret |
//! | [`names`] | what a mistyped option may have meant |
//! | [`keys`] | connection and connector keys taken apart |
//! | [`failure`] | problems, as JavaScript gets them |
//!
//! Whatever JavaScript passes, nothing here panics: what can't be used is thrown as a plain object with the members of the
//! problem that the service would answer.

pub mod body;
pub mod call;
pub mod failure;
pub mod keys;
pub mod names;
pub mod secret;

/// The platform's usual allocator is an eighth of a module that allocates little.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
