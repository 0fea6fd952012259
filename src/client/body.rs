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

/// A text, a boolean, null or a whole number; another number for all that no field takes.
fn scalar(value: &JsValue) -> Value {
    if let Some(text) = value.as_string() {
        return Value::Text(text);
    }
    match (value.as_bool(), value.as_f64()) {
        (Some(value), _) => Value::Boolean(value),
        (None, Some(number)) if number >= 0.0 && number.fract() == 0.0 => integer(number),
        (None, _) if value.is_null() => Value::Null,
        (None, _) => Value::Number,
    }
}

fn integer(number: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and not negative; `as` saturates, and no field takes as much"
    )]
    let number = number as u64;
    Value::Integer(number)
}
