//! Suggestions for mistyped options.

use wasm_bindgen::prelude::wasm_bindgen;

/// The name most similar to `name` among the comma-separated names in `known`. Empty when none is similar.
#[wasm_bindgen]
pub fn nearest(name: &str, known: &str) -> String {
    crate::util::nearest::nearest(name, known.split(','), 1).pop().unwrap_or_default()
}
