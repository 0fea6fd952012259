//! Equality of values in JSON Schema.

use std::cmp::Ordering;

use serde_json::Value;

/// Whether two values are equal in JSON Schema, where `1` equals `1.0`.
pub(super) fn is_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right
                || left.as_f64().zip(right.as_f64()).is_some_and(|(a, b)| {
                    a.partial_cmp(&b) == Some(Ordering::Equal) && !is_exact(left, right)
                })
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(left), Value::Object(right)) => {
            let has = |(name, value): (&String, &Value)| {
                right.get(name).is_some_and(|right| is_equal(value, right))
            };
            left.len() == right.len() && left.iter().all(has)
        }
        _ => left == right,
    }
}

/// Whether both numbers are exact, so that a different spelling means a different number.
fn is_exact(left: &serde_json::Number, right: &serde_json::Number) -> bool {
    !left.is_f64() && !right.is_f64()
}
