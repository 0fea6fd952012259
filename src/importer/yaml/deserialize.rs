//! Deserializes typed values from a YAML tree.

use std::fmt;
use std::rc::Rc;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::resolve::{Scalar, resolve};
use super::{Kind, Node};
use crate::importer::read::Fault;
use crate::importer::scalar::ORIGINAL_SPELLING;

/// A deserialization error with its position.
#[derive(Debug)]
pub struct Error(pub Fault);

impl Error {
    /// Adds the position of a value, unless the error already has the position of a nested value.
    fn at(mut self, node: &Node) -> Self {
        self.0.place.get_or_insert(node.place);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Fault { place: None, message: message.to_string() })
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let read = match &self.kind {
            Kind::Scalar { text, is_plain: false } => visitor.visit_borrowed_str(text),
            Kind::Scalar { text, .. } => match resolve(text) {
                Scalar::Null => visitor.visit_unit(),
                Scalar::Bool(value) => visitor.visit_bool(value),
                Scalar::Unsigned(number) => visitor.visit_u64(number),
                Scalar::Signed(number) => visitor.visit_i64(number),
                Scalar::Float(number) => visitor.visit_f64(number),
                Scalar::Text(text) => visitor.visit_borrowed_str(text),
            },
            Kind::List(list) => visitor.visit_seq(Items(list.iter())),
            Kind::Map(entries) => visitor.visit_map(Members { rest: entries.iter(), value: None }),
        };
        read.map_err(|error: Error| error.at(self))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
            .map_err(|error: Error| error.at(self))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.kind {
            Kind::Scalar { text, .. } if !self.is_null() => {
                visitor.visit_borrowed_str(text).map_err(|error: Error| error.at(self))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == ORIGINAL_SPELLING {
            return self.deserialize_str(visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl Node {
    pub(super) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar { text, is_plain: true } if resolve(text) == Scalar::Null)
    }
}

struct Items<'de>(std::slice::Iter<'de, Rc<Node>>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|item| seed.deserialize(item.as_ref())).transpose()
    }
}

struct Members<'de> {
    rest: std::slice::Iter<'de, (String, Rc<Node>)>,
    value: Option<&'de Node>,
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        let key: StrDeserializer<'_, Error> = StrDeserializer::new(key);
        seed.deserialize(key).map(Some).map_err(|error| error.at(value))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let value = self.value.take().ok_or_else(|| Error::custom("a value without a key"))?;
        seed.deserialize(value)
    }
}
