//! What a mistyped name of an option may have meant.

use wasm_bindgen::prelude::wasm_bindgen;

/// Of `known`, names parted by commas, the one that resembles `name` most.
#[must_use]
#[wasm_bindgen]
pub fn nearest(name: &str, known: &str) -> String {
    crate::nearest::nearest(name, known.split(','), 1).pop().unwrap_or_default()
}
