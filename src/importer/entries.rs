//! Maps with arbitrary keys.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

/// A map in document order. Duplicate keys are an error; null values are skipped.
pub struct Entries<T>(pub Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
            type Value = Vec<(String, T)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                entries(map, |_| true)
            }
        }
        deserializer.deserialize_map(EntriesVisitor(PhantomData)).map(Self)
    }
}

/// The maximum number of entries in a map, more than twice the number in the largest known
/// document. Limits the number of rows.
const MAX_ENTRIES: usize = 50_000;

/// Deserializes the entries whose keys satisfy `accepts`, and skips all others.
pub fn entries<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    mut map: A,
    accepts: fn(&str) -> bool,
) -> Result<Vec<(String, T)>, A::Error> {
    let mut entries = Vec::new();
    let mut seen = HashSet::new();
    while let Some(key) = map.next_key::<String>()? {
        if !accepts(&key) {
            map.next_value::<IgnoredAny>()?;
            continue;
        }
        if !seen.insert(key.clone()) {
            return Err(A::Error::custom(format_args!(
                "duplicate key `{}`",
                super::text::verbatim(&key, 100)
            )));
        }
        if entries.len() >= MAX_ENTRIES {
            return Err(A::Error::custom(format_args!("more than {MAX_ENTRIES} entries")));
        }
        if let Some(value) = map.next_value::<Option<T>>()? {
            entries.push((key, value));
        }
    }
    Ok(entries)
}
