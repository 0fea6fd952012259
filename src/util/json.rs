//! Parses untrusted JSON into a value that preserves the order of members and duplicates, so that a
//! body reader can report all faults. JSON with a fixed format is read and written with serde's
//! derive.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, forward_to_deserialize_any};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Null,
    Boolean(bool),
    /// A non-negative integer in any notation: `900`, `900.0`, `9e2`.
    Integer(u64),
    /// Any other number. Its value is dropped, because no caller needs it.
    Number,
    Text(String),
    Array(Vec<Value>),
    /// The members in their order, including duplicate names.
    Object(Vec<(String, Value)>),
}

/// The error if the input is not JSON, or is nested more than 127 levels deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    /// Starts at 1.
    pub line: usize,
    /// Starts at 1.
    pub column: usize,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

impl std::error::Error for SyntaxError {}

/// Parses the whole input as one value.
pub fn parse(text: &str) -> Result<Value, SyntaxError> {
    serde_json::from_str(text)
        .map_err(|error| SyntaxError { line: error.line(), column: error.column() })
}

/// 2^53, the first integer that a float can't distinguish from its neighbour.
const UNSAFE_INTEGER: f64 = 9_007_199_254_740_992.0;

impl Value {
    pub fn from_number(number: f64) -> Self {
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

    /// The string, or `None` if the value has a different type.
    pub fn into_string(self) -> Option<String> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The string, or `None` if the value has a different type.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Calls `report` with the path of each duplicate member in the value. Duplicates are rejected
    /// because some parsers use the first one and others the last. `path` is the path of the value
    /// itself.
    pub fn for_each_duplicate(&self, path: &[&str], report: &mut dyn FnMut(&[&str])) {
        match self {
            Self::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.for_each_duplicate(&[path, &[&index.to_string()]].concat(), report);
                }
            }
            Self::Object(members) => {
                let mut seen = BTreeSet::new();
                for (name, value) in members {
                    let path = [path, &[name.as_str()]].concat();
                    if !seen.insert(name) {
                        report(&path);
                    }
                    value.for_each_duplicate(&path, report);
                }
            }
            _ => {}
        }
    }

    /// The integer, or `None` if the value is not a non-negative integer.
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
        Ok(Value::from_number(value))
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

/// Parses JSON in UTF-8.
pub fn from_bytes<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> serde_json::Result<T> {
    // Does not use `serde_json::from_slice`, because the Worker would then contain the code of each
    // type twice, for two types of readers.
    from_text(std::str::from_utf8(bytes).map_err(serde::de::Error::custom)?)
}

/// Parses JSON. Structs must be JSON objects: see [`Object`].
pub fn from_text<'de, T: Deserialize<'de>>(text: &'de str) -> serde_json::Result<T> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(Object(&mut deserializer))?;
    deserializer.end()?;
    Ok(value)
}

/// Deserializes structs only from objects. Derived implementations of `Deserialize` also accept an
/// array of the members. Without this code, and with a single type of reader, the gzipped Worker is
/// 12 KB smaller.
pub struct Object<D>(pub D);

macro_rules! forward {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($argument,)* visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Object<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(visitor)
    }

    forward! {
        deserialize_any()
        deserialize_option()
        deserialize_seq()
        deserialize_map()
        deserialize_newtype_struct(name: &'static str)
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        tuple tuple_struct identifier ignored_any
    }
}

pub fn bytes(value: &impl Serialize) -> Vec<u8> {
    // All map keys are strings, so serialization can't fail.
    serde_json::to_vec(value).unwrap_or_default()
}

pub fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Value, parse};

    #[test]
    fn parses_only_complete_json() {
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
