//! Deserializes rows from a JSON array of objects.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, SeqAccess, Visitor};

use super::db::StorageError;
use crate::util::json::Object;

pub(super) fn parse<T: DeserializeOwned>(json: &str) -> Result<Vec<T>, StorageError> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let rows =
        deserializer.deserialize_seq(Rows(PhantomData)).map_err(|error| unexpected(&error))?;
    deserializer.end().map_err(|error| unexpected(&error))?;
    Ok(rows)
}

fn unexpected(error: &serde_json::Error) -> StorageError {
    StorageError::new(format!("the rows have an unexpected shape: {error}"))
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
