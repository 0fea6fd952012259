//! Validates request bodies from JavaScript.

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use super::failure::Failure;
use crate::http::body::{BodyReader, too_large};
use crate::http::endpoint::EndpointSpec;
use crate::util::json::Value;

/// Validates a body with the rules of the service. `text` is the body as it will be sent, and
/// `parsed` is its JavaScript value.
pub fn check(text: &str, parsed: &JsValue, spec: &EndpointSpec) -> Result<(), Failure> {
    if text.len() > spec.max_body {
        return Err(too_large(spec.max_body).into());
    }
    Ok(BodyReader::from_value(value(parsed), spec.body.unwrap_or_default())?.finish()?)
}

/// Converts a body. The validation inspects only two levels, so deeper levels are not converted.
fn value(parsed: &JsValue) -> Value {
    if Array::is_array(parsed) {
        return Value::Null;
    }
    object(parsed, |value| {
        if Array::is_array(value) {
            Value::Array(Array::from(value).iter().map(|item| scalar(&item)).collect())
        } else if value.is_object() {
            object(value, scalar)
        } else {
            scalar(value)
        }
    })
}

/// Converts an object, using `member` for each of its values. Anything else becomes
/// [`Value::Null`].
fn object(parsed: &JsValue, member: impl Fn(&JsValue) -> Value) -> Value {
    if !parsed.is_object() {
        return Value::Null;
    }
    let names = Object::keys(parsed.unchecked_ref::<Object>());
    let members = names.iter().map(|name| {
        let value = member(&Reflect::get(parsed, &name).unwrap_or_default());
        (name.as_string().unwrap_or_default(), value)
    });
    Value::Object(members.collect())
}

/// Converts a string, boolean, null or number. Anything else becomes [`Value::Number`], which no
/// field accepts.
fn scalar(value: &JsValue) -> Value {
    if let Some(text) = value.as_string() {
        return Value::Text(text);
    }
    match (value.as_bool(), value.as_f64()) {
        (Some(value), _) => Value::Boolean(value),
        (None, Some(number)) => Value::from_number(number),
        (None, _) if value.is_null() => Value::Null,
        (None, _) => Value::Number,
    }
}
