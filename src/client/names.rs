//! Suggestions for misspelled options.

use wasm_bindgen::prelude::wasm_bindgen;

/// Returns the most similar name among the comma-separated names in `known`, or an empty string if
/// none is similar.
#[wasm_bindgen]
pub fn nearest(name: &str, known: &str) -> String {
    crate::util::nearest::nearest(name, known.split(','), 1).pop().unwrap_or_default()
}
