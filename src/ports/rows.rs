//! Parses rows: a JSON array of objects.
//!
//! Derived implementations of `Deserialize` can read a struct from an object or from an array of its members. Rows are always
//! objects. [`Object`] requests one, so that the compiler leaves the code for arrays out of the Worker: for all rows together,
//! it took 14 KB gzipped.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, DeserializeSeed, SeqAccess, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

pub(super) fn parse<T: DeserializeOwned>(json: &str) -> Result<Vec<T>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let rows = deserializer.deserialize_seq(Rows(PhantomData))?;
    deserializer.end()?;
    Ok(rows)
}

struct Rows<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for Rows<T> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
        let mut rows = Vec::new();
        while let Some(row) = seq.next_element_seed(Row(PhantomData))? {
            rows.push(row);
        }
        Ok(rows)
    }
}

struct Row<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for Row<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        T::deserialize(Object(deserializer))
    }
}

struct Object<D>(D);

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

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::parse;

    #[derive(Debug, PartialEq, Eq, Deserialize)]
    struct Sample {
        id: u64,
        name: Option<String>,
    }

    #[test]
    fn rows_are_objects() {
        let sample = |id, name: Option<&str>| Sample { id, name: name.map(str::to_owned) };
        let json = r#"[{"id":1,"name":"a"},{"name":null,"id":2},{"id":3,"other":[]}]"#;
        let expected = vec![sample(1, Some("a")), sample(2, None), sample(3, None)];
        assert_eq!(parse::<Sample>(json).unwrap(), expected);
        assert_eq!(parse::<Sample>("[]").unwrap(), []);
        for json in
            ["", "{}", "[[1,null]]", "[1]", "[null]", r#"[{"id":"1"}]"#, "[]x", r#"[{"id":1}"#]
        {
            assert!(parse::<Sample>(json).is_err(), "{json}");
        }
    }
}
