//! The bodies that JavaScript passes.

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use super::failure::Failure;
use crate::api::body::{BodyReader, Field, too_large};
use crate::api::message::MAX_BODY;
use crate::json::Value;

/// Checks a body as the service reads it: `text` is what is sent, and `parsed` what that means. `known` lists its fields.
///
/// # Errors
/// With all faults of the body.
pub fn check(text: &str, parsed: &JsValue, known: &[Field]) -> Result<(), Failure> {
    if text.len() > MAX_BODY {
        return Err(too_large().into());
    }
    Ok(BodyReader::of(value(parsed), known)?.finish()?)
}

/// The two levels of a body that its reader looks at.
fn value(parsed: &JsValue) -> Value {
    if !parsed.is_object() || Array::is_array(parsed) {
        return Value::Null;
    }
    let mut members = Vec::new();
    for name in Object::keys(parsed.unchecked_ref::<Object>()) {
        let value = Reflect::get(parsed, &name).unwrap_or_default();
        let value = if Array::is_array(&value) {
            Value::Array(Array::from(&value).iter().map(|item| scalar(&item)).collect())
        } else {
            scalar(&value)
        };
        members.push((name.as_string().unwrap_or_default(), value));
    }
    Value::Object(members)
}

/// A text, a boolean or null; a number for all that no field takes.
fn scalar(value: &JsValue) -> Value {
    if let Some(text) = value.as_string() {
        return Value::Text(text);
    }
    match value.as_bool() {
        Some(value) => Value::Boolean(value),
        None if value.is_null() => Value::Null,
        None => Value::Number,
    }
}
