//! Constructors for common schemas.

use serde::Deserialize;
use serde::de::value::Error;
use serde::de::{Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Value, json};

use super::json::{Members as _, object, texts};
use super::string_schemas::described;
use crate::http::paging::MAX_LIMIT;

pub fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The schema of an object whose members are all required.
pub fn record(description: &str, members: Vec<(&str, Value)>) -> Value {
    record_with(description, members, json!({}))
}

/// The schema of an object with required and optional members.
pub fn record_with(
    description: &str,
    required_members: Vec<(&str, Value)>,
    optional: Value,
) -> Value {
    let required = texts(required_members.iter().map(|(name, _)| *name));
    json!({
        "type": "object",
        "description": description,
        "required": required,
        "properties": object(required_members).with(optional),
    })
}

pub fn string(description: &str) -> Value {
    described(description, json!({"type": "string"}))
}

pub fn text_or_null(description: &str) -> Value {
    described(description, json!({"type": ["string", "null"]}))
}

pub fn number_or_null(description: &str) -> Value {
    described(description, json!({"type": ["integer", "null"]}))
}

/// The schema of a timestamp (RFC 3339).
pub fn time(description: &str) -> Value {
    described(description, json!({"type": "string", "format": "date-time"}))
}

/// The schema of a timestamp (RFC 3339) or null.
pub fn time_or_null(description: &str) -> Value {
    described(description, json!({"type": ["string", "null"], "format": "date-time"}))
}

pub fn boolean(description: &str) -> Value {
    described(description, json!({"type": "boolean"}))
}

/// The schema of a non-negative integer.
pub fn count(description: &str) -> Value {
    described(description, json!({"type": "integer", "minimum": 0}))
}

/// The schema of a string enumeration.
pub fn names<T: AsRef<str>>(description: &str, names: impl IntoIterator<Item = T>) -> Value {
    described(description, json!({"type": "string", "enum": texts(names)}))
}

pub fn strings(description: &str) -> Value {
    described(description, json!({"type": "array", "items": {"type": "string"}}))
}

/// The serde names of an enum's variants.
pub fn variants<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    struct NameCollector<'a>(&'a mut Vec<&'static str>);

    impl<'de> Deserializer<'de> for NameCollector<'_> {
        type Error = Error;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            Err(serde::de::Error::custom("expected an enumeration"))
        }

        fn deserialize_enum<V: Visitor<'de>>(
            self,
            _: &'static str,
            names: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Error> {
            self.0.extend(names);
            Err(serde::de::Error::custom("only the names are needed"))
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map struct identifier ignored_any
        }
    }

    let mut names = Vec::new();
    assert!(T::deserialize(NameCollector(&mut names)).is_err());
    assert!(!names.is_empty());
    names
}

/// The schema of a page of a list.
pub fn page(row: &str, what: &str) -> Value {
    let rows = json!({"type": "array", "maxItems": MAX_LIMIT, "items": reference(row)});
    record(
        &format!("A page of the list of {what}."),
        vec![
            ("rows", described("The rows of this page; empty past the last page.", rows)),
            ("total", count("The exact number of rows in the whole list.")),
            ("pages", count("The number of pages; 0 if there are no rows.")),
            (
                "page",
                described("The number of this page.", json!({"type": "integer", "minimum": 1})),
            ),
        ],
    )
}
