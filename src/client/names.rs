//! Suggestions for mistyped options.

use wasm_bindgen::prelude::wasm_bindgen;

/// The name that resembles `name` most, of the comma-separated names in `known`; empty when none does.
#[must_use]
#[wasm_bindgen]
pub fn nearest(name: &str, known: &str) -> String {
    crate::util::nearest::nearest(name, known.split(','), 1).pop().unwrap_or_default()
}
