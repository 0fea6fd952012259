//! The building blocks of schemas.

use serde::Deserialize;
use serde::de::value::Error;
use serde::de::{Deserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::node::{Node, object};
use super::texts::said;

/// A reference to a schema.
#[must_use]
pub fn reference(name: &str) -> Node {
    object! {"$ref": format!("#/components/schemas/{name}")}
}

/// An object whose members are all required.
#[must_use]
pub fn record(description: &str, members: Vec<(&str, Node)>) -> Node {
    record_with(description, members, object! {})
}

/// An object with these members, and with some optional ones.
#[must_use]
pub fn record_with(description: &str, always: Vec<(&str, Node)>, optional: Node) -> Node {
    let required = Node::texts(always.iter().map(|(name, _)| *name));
    object! {
        "type": "object",
        "description": description,
        "required": required,
        "properties": Node::members(always).with(optional),
    }
}

/// A string.
#[must_use]
pub fn string(description: &str) -> Node {
    said(description, object! {"type": "string"})
}

/// A string, or null.
#[must_use]
pub fn text_or_null(description: &str) -> Node {
    said(description, object! {"type": Node::texts(["string", "null"])})
}

/// A whole number, or null.
#[must_use]
pub fn number_or_null(description: &str) -> Node {
    said(description, object! {"type": Node::texts(["integer", "null"])})
}

/// A time (RFC 3339).
#[must_use]
pub fn time(description: &str) -> Node {
    said(description, object! {"type": "string", "format": "date-time"})
}

/// A time (RFC 3339), or null.
#[must_use]
pub fn time_or_null(description: &str) -> Node {
    said(description, object! {"type": Node::texts(["string", "null"]), "format": "date-time"})
}

/// True or false.
#[must_use]
pub fn boolean(description: &str) -> Node {
    said(description, object! {"type": "boolean"})
}

/// A count.
#[must_use]
pub fn count(description: &str) -> Node {
    said(description, object! {"type": "integer", "minimum": 0})
}

/// One of these names.
#[must_use]
pub fn names<T: AsRef<str>>(description: &str, names: impl IntoIterator<Item = T>) -> Node {
    said(description, object! {"type": "string", "enum": Node::texts(names)})
}

/// A list of strings.
#[must_use]
pub fn strings(description: &str) -> Node {
    said(description, object! {"type": "array", "items": object! {"type": "string"}})
}

/// The serde names of an enumeration's variants.
#[must_use]
pub fn variants<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    struct Asked<'a>(&'a mut Vec<&'static str>);

    impl<'de> Deserializer<'de> for Asked<'_> {
        type Error = Error;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            Err(serde::de::Error::custom("asked for something else than an enumeration"))
        }

        fn deserialize_enum<V: Visitor<'de>>(
            self,
            _: &'static str,
            names: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Error> {
            self.0.extend(names);
            Err(serde::de::Error::custom("all that was wanted is the names"))
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map struct identifier ignored_any
        }
    }

    let mut names = Vec::new();
    assert!(T::deserialize(Asked(&mut names)).is_err());
    assert!(!names.is_empty());
    names
}
