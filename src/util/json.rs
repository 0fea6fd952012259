//! JSON from strangers, read into a value that keeps duplicate members and their order: whoever reads a body has to say
//! everything that is wrong with it. What has one shape only is read and written by serde's derive.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A non-negative whole number, however it is written: `900`, `900.0`, `9e2`.
    Integer(u64),
    /// Any other number. Its value is not kept, since nothing here needs one.
    Number,
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Value>),
    /// An object's members in their order, including repeated names.
    Object(Vec<(String, Value)>),
}

/// The text is not JSON, or is nested more than 127 levels deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1.
    pub column: usize,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

impl std::error::Error for SyntaxError {}

/// Parses the whole text as one value.
///
/// # Errors
/// When the text is not JSON (RFC 8259), for example because of a lone surrogate or something after the value.
pub fn parse(text: &str) -> Result<Value, SyntaxError> {
    serde_json::from_str(text)
        .map_err(|error| SyntaxError { line: error.line(), column: error.column() })
}

/// The first whole number that a float can't distinguish from its neighbour: 2^53.
const UNSAFE_INTEGER: f64 = 9_007_199_254_740_992.0;

impl Value {
    /// The value of a floating-point number.
    #[must_use]
    pub fn of_number(number: f64) -> Self {
        if number.fract() != 0.0 || !(0.0..UNSAFE_INTEGER).contains(&number) {
            return Self::Number;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, not negative and below 2^53"
        )]
        let integer = number as u64;
        Self::Integer(integer)
    }

    /// The string. Returns `None` for any other kind of value.
    #[must_use]
    pub fn into_text(self) -> Option<String> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// As [`Self::into_text`], borrowed.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Passes the place of each member that an object in the value has twice to `note`: of two readers, one may take the first
    /// and one the last. `place` is that of the value.
    pub fn each_repeated(&self, place: &[&str], note: &mut dyn FnMut(&[&str])) {
        match self {
            Self::Array(items) => {
                for (nth, item) in items.iter().enumerate() {
                    item.each_repeated(&[place, &[&nth.to_string()]].concat(), note);
                }
            }
            Self::Object(members) => {
                let mut seen = BTreeSet::new();
                for (name, value) in members {
                    let place = [place, &[name.as_str()]].concat();
                    if !seen.insert(name) {
                        note(&place);
                    }
                    value.each_repeated(&place, note);
                }
            }
            _ => {}
        }
    }

    /// The number. Returns `None` unless the value is a non-negative whole number.
    #[must_use]
    pub const fn as_integer(&self) -> Option<u64> {
        if let Self::Integer(number) = self { Some(*number) } else { None }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Boolean(value))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::of_number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Vec::new();
        while let Some(member) = members.next_entry()? {
            object.push(member);
        }
        Ok(Value::Object(object))
    }
}

/// A value as JSON.
#[must_use]
pub fn bytes(value: &impl Serialize) -> Vec<u8> {
    // Nothing here has a key that is no text: serialization has nothing to fail on.
    serde_json::to_vec(value).unwrap_or_default()
}

/// A value as JSON, as a text.
#[must_use]
pub fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Value, parse};

    #[test]
    fn only_whole_well_formed_text_is_json() {
        assert_eq!(parse(" {} \n"), Ok(Value::Object(Vec::new())));
        assert_eq!(parse(r#""\ud83e\udd80""#), Ok(Value::Text("🦀".into())));
        for (text, expected) in [
            ("7", Value::Integer(7)),
            ("7.0", Value::Integer(7)),
            ("9e2", Value::Integer(900)),
            ("9E+2", Value::Integer(900)),
            ("9000e-1", Value::Integer(900)),
            ("0.0", Value::Integer(0)),
            ("-0", Value::Integer(0)),
            ("18446744073709551615", Value::Integer(u64::MAX)),
            ("4294967296.0", Value::Integer(1 << 32)),
            ("9007199254740992.0", Value::Number),
            ("1e300", Value::Number),
            ("-7", Value::Number),
            ("-7.0", Value::Number),
            ("0.5", Value::Number),
            ("900.0000001", Value::Number),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        let deep = "[".repeat(60_000);
        let bad = ["", " ", "{} x", "{}{}", "{", r#"{"a":[}"#, r#"["\ud800"]"#, "{'a':[]}"];
        for bad in bad.into_iter().chain(["[01]", "NaN", "[1,]", &deep]) {
            assert!(parse(bad).is_err(), "{}", bad.get(..20).unwrap_or(bad));
        }
    }
}
