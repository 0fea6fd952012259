//! JSON read into one type of value, and written member by member. One type instead of one for each document: the code
//! that reads and writes a type is what a wasm module is made of, and every cold start loads it. For the same reason what
//! is called at many places is never inlined.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A whole number that is not negative.
    Integer(u64),
    /// Any other number; nothing here needs one.
    Number,
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Value>),
    /// An object's members in their order, those of the same name too.
    Object(Vec<(String, Value)>),
}

/// The text is no JSON, or is nested more than 127 deep.
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

/// The value that is the whole text.
///
/// # Errors
/// When the text is no JSON (RFC 8259), for example has a lone surrogate or something after the value.
pub fn parse(text: &str) -> Result<Value, SyntaxError> {
    serde_json::from_str(text)
        .map_err(|error| SyntaxError { line: error.line(), column: error.column() })
}

impl Value {
    /// The text, of a text.
    #[must_use]
    pub fn into_text(self) -> Option<String> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The text, of a text, left where it is.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The number, of a whole number that is not negative.
    #[must_use]
    pub const fn as_integer(&self) -> Option<u64> {
        if let Self::Integer(number) = self { Some(*number) } else { None }
    }

    /// Takes a member's value out of an object; none when there is no such member.
    #[inline(never)]
    pub fn take(&mut self, name: &str) -> Option<Self> {
        let Self::Object(members) = self else { return None };
        let at = members.iter().position(|(known, _)| known == name)?;
        Some(members.swap_remove(at).1)
    }

    /// As [`Self::take`], of a member that is a text.
    #[inline(never)]
    pub fn take_text(&mut self, name: &str) -> Option<String> {
        self.take(name)?.into_text()
    }

    /// As [`Self::take`], of a member that is a whole number and not negative.
    #[inline(never)]
    pub fn take_integer(&mut self, name: &str) -> Option<u64> {
        self.take(name)?.as_integer()
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

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Number)
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

/// A text as JSON.
fn quote(text: &str) -> String {
    // A text alone: serialization has nothing to fail on.
    serde_json::to_string(text).unwrap_or_default()
}

/// Texts as a JSON array.
#[must_use]
pub fn array<T: AsRef<str>>(texts: &[T]) -> String {
    list(texts.iter().map(|text| quote(text.as_ref())))
}

/// JSON values as a JSON array.
pub fn list(values: impl Iterator<Item = String>) -> String {
    let mut json = String::from("[");
    for value in values {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&value);
    }
    json.push(']');
    json
}

/// A JSON object that is being written.
#[derive(Debug, Clone, Default)]
pub struct Object(String);

impl Object {
    /// Adds a member whose value is this JSON.
    #[must_use]
    #[inline(never)]
    pub fn json(mut self, name: &str, json: &str) -> Self {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push_str(&quote(name));
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    /// Adds a member whose value is a text.
    #[must_use]
    #[inline(never)]
    pub fn text(self, name: &str, text: &str) -> Self {
        self.json(name, &quote(text))
    }

    /// Adds a member whose value is a text or null.
    #[must_use]
    #[inline(never)]
    pub fn text_or_null(self, name: &str, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.text(name, text),
            None => self.json(name, "null"),
        }
    }

    /// Adds a member whose value is a number.
    #[must_use]
    #[inline(never)]
    pub fn integer(self, name: &str, number: u64) -> Self {
        self.json(name, &number.to_string())
    }

    /// The whole object.
    #[must_use]
    pub fn finish(self) -> String {
        if self.0.is_empty() { "{}".into() } else { self.0 + "}" }
    }
}

#[cfg(test)]
mod tests {
    use super::{Object, Value, array, parse};

    #[test]
    fn only_whole_well_formed_text_is_json() {
        assert_eq!(parse(" {} \n"), Ok(Value::Object(Vec::new())));
        assert_eq!(parse(r#""\ud83e\udd80""#), Ok(Value::Text("🦀".into())));
        let numbers = [Value::Integer(7), Value::Number, Value::Number];
        assert_eq!(parse("[7,-7,0.5]"), Ok(Value::Array(numbers.into())));
        let deep = "[".repeat(60_000);
        let bad = ["", " ", "{} x", "{}{}", "{", r#"{"a":[}"#, r#"["\ud800"]"#, "{'a':[]}"];
        for bad in bad.into_iter().chain(["[01]", "NaN", "[1,]", &deep]) {
            assert!(parse(bad).is_err(), "{}", bad.get(..20).unwrap_or(bad));
        }
    }

    #[test]
    fn members_are_taken_out() {
        let mut value = parse(r#"{"a":"x","b":3,"a":"y"}"#).unwrap();
        assert_eq!((value.take_text("a"), value.take_integer("b")), (Some("x".into()), Some(3)));
        assert_eq!((value.take_text("b"), value.take("c")), (None, None));
    }

    #[test]
    fn what_is_written_is_json() {
        let json = Object::default().text("a\"", "\n\u{1f}ü").integer("n", 7);
        let json = json.json("t", &array(&["x", "\\"])).text_or_null("o", None).finish();
        assert_eq!(json, r#"{"a\"":"\n\u001fü","n":7,"t":["x","\\"],"o":null}"#);
        assert_eq!(
            (Object::default().finish().as_str(), array::<&str>(&[]).as_str()),
            ("{}", "[]")
        );
    }
}
