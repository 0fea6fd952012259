//! Validates the keywords of numbers and strings, and limits of counts.

use serde_json::{Map, Value};

use super::Check;
use super::pointer::Pointer;

/// Whether a number is a multiple of another one. Decimal fractions have no exact binary
/// representation, so `19.99 / 0.01` is not whole; for them, the last three bits do not count.
fn is_multiple(number: f64, step: f64) -> bool {
    let quotient = number / step;
    number % step == 0.0
        || (step.fract() != 0.0
            && (quotient - quotient.round()).abs() <= quotient.abs() * 8.0 * f64::EPSILON)
}

impl Check<'_> {
    pub(super) fn number(&mut self, schema: &Map<String, Value>, number: f64, at: &Pointer<'_>) {
        for (key, satisfies, message) in [
            ("minimum", (|n, limit| n >= limit) as fn(f64, f64) -> bool, "at least"),
            ("maximum", |n, limit| n <= limit, "at most"),
            ("exclusiveMinimum", |n, limit| n > limit, "greater than"),
            ("exclusiveMaximum", |n, limit| n < limit, "less than"),
            ("multipleOf", is_multiple, "a multiple of"),
        ] {
            let Some(limit) = schema.get(key) else { continue };
            if limit.as_f64().is_some_and(|limit| !satisfies(number, limit)) {
                // Print the limit as it is in the schema. Code that formats any number would add 10
                // KB.
                self.fault(at, format!("must be {message} {limit}"));
            }
        }
    }

    pub(super) fn text(&mut self, schema: &Map<String, Value>, text: &str, at: &Pointer<'_>) {
        self.count(schema, ["minLength", "maxLength"], text.chars().count(), "character", at);
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
            && !(self.is_match)(pattern, text)
        {
            self.fault(at, format!("must match the pattern `{pattern}`"));
        }
    }

    /// Checks a count against a minimum and a maximum.
    pub(super) fn count(
        &mut self,
        schema: &Map<String, Value>,
        [least, max]: [&str; 2],
        count: usize,
        noun: &str,
        at: &Pointer<'_>,
    ) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        if let Some(least) = limit(least).filter(|least| count < *least) {
            self.fault(at, format!("must have at least {least} {noun}{}", plural(least)));
        }
        if let Some(max) = limit(max).filter(|max| count > *max) {
            self.fault(at, format!("must have at most {max} {noun}{}", plural(max)));
        }
    }
}
