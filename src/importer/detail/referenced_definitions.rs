//! Tracks which definitions the schemas of an action need, and their size.

use serde_json::Value;
use serde_json::value::RawValue;

use super::definitions::Definitions;
use super::schema;
use crate::catalog::action::stored::TOO_LARGE;

/// The maximum total size of the schemas of an action's input, or of a response, in bytes, without
/// definitions.
const MAX_SCHEMA: usize = 96 << 10;
/// The maximum total size of such schemas in a document, in bytes, far more than the largest known
/// document needs.
const MAX_WRITTEN: usize = 1 << 30;

/// The definitions that an action's input or a response refers to.
#[derive(Debug, Default)]
pub struct ReferencedDefinitions {
    /// The numbers of the definitions that the schemas refer to directly.
    pub roots: Vec<u32>,
    bytes: usize,
    /// Whether a schema was too large and was replaced with a schema that allows any value.
    pub is_too_large: bool,
}

impl ReferencedDefinitions {
    /// Converts a schema, and records the definitions that it refers to.
    pub fn convert<F>(
        &mut self,
        schema: &Value,
        definitions: &mut Definitions<'_, F>,
    ) -> Box<RawValue> {
        let (mut text, reaches) = schema::convert(schema, definitions);
        definitions.written = definitions.written.saturating_add(text.len());
        let bytes = self.bytes.saturating_add(text.len());
        if bytes > MAX_SCHEMA || definitions.written > MAX_WRITTEN {
            self.is_too_large = true;
            TOO_LARGE.clone_into(&mut text);
        } else {
            self.bytes = bytes;
            self.roots.extend(reaches);
        }
        RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
    }
}
