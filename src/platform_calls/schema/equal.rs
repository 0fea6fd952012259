//! Equality of values in JSON Schema.

use std::cmp::Ordering;

use serde_json::Value;

/// Whether two values are equal in JSON Schema, where `1` equals `1.0`.
pub(super) fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other
                || one.as_f64().zip(other.as_f64()).is_some_and(|(a, b)| {
                    a.partial_cmp(&b) == Some(Ordering::Equal) && !is_exact(one, other)
                })
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(name, value): (&String, &Value)| {
                other.get(name).is_some_and(|other| is_equal(value, other))
            };
            one.len() == other.len() && one.iter().all(has)
        }
        _ => one == other,
    }
}

/// Whether both numbers are exact, so that a different spelling means a different number.
fn is_exact(one: &serde_json::Number, other: &serde_json::Number) -> bool {
    !one.is_f64() && !other.is_f64()
}
