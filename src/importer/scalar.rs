//! Deserializes strings leniently, as real-world documents require.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::{RawValue, to_raw_value};

/// A format of documents. Preserves the spelling of scalars, so that `version: 1.10` does not
/// become the number 1.1.
pub trait Format: Default {
    /// Deserializes a scalar with its original spelling. Returns `None` for null.
    fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error>;

    /// Deserializes any value as JSON.
    fn raw<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<RawValue>, D::Error>;
}

#[derive(Default)]
pub struct Json;
#[derive(Default)]
pub struct Yaml;

impl Format for Json {
    fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        match raw.as_bytes().first() {
            Some(b'"') => serde_json::from_str(raw)
                .map(Some)
                .map_err(|_| D::Error::custom("string with a broken escape sequence")),
            Some(b'{') => Err(D::Error::custom("expected a string, found a map")),
            Some(b'[') => Err(D::Error::custom("expected a string, found a list")),
            Some(b'n') => Ok(None),
            _ => Ok(Some(raw.to_owned())),
        }
    }

    fn raw<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<RawValue>, D::Error> {
        <&RawValue>::deserialize(deserializer).map(ToOwned::to_owned)
    }
}

impl Format for Yaml {
    fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
        Option::deserialize(deserializer)
    }

    fn raw<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<RawValue>, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        to_raw_value(&value).map_err(D::Error::custom)
    }
}

/// Any value, as JSON that is parsed only when needed.
#[derive(Default)]
pub struct Raw<F> {
    value: Option<Box<RawValue>>,
    format: PhantomData<F>,
}

impl<F> Raw<F> {
    /// The value as JSON. `None` if it is missing.
    pub fn get(&self) -> Option<&RawValue> {
        self.value.as_deref()
    }
}

impl<'de, F: Format> Deserialize<'de> for Raw<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { value: Some(F::raw(deserializer)?), format: PhantomData })
    }
}

/// A string. Numbers and booleans keep their original spelling; null is an empty string.
#[derive(Default)]
pub struct Text<F> {
    value: String,
    format: PhantomData<F>,
}

impl<F> Text<F> {
    /// Returns `None` for an empty string or white space.
    pub fn non_blank(&self) -> Option<&str> {
        Some(self.value.as_str()).filter(|text| !text.trim().is_empty())
    }

    /// Returns an empty string for a missing value.
    pub fn as_str(&self) -> &str {
        &self.value
    }
}

impl<'de, F: Format> Deserialize<'de> for Text<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { value: F::text(deserializer)?.unwrap_or_default(), format: PhantomData })
    }
}

/// A struct name by which [`LooseStrings`] requests the original spelling of scalars from the YAML
/// deserializer. Other deserializers ignore it.
pub const ORIGINAL_SPELLING: &str = "connector-vault: as written";

/// The value of an extension: a string or a list of strings. Any other value counts as absent.
#[derive(Default)]
pub struct StringList(pub Vec<String>);

impl<'de> Deserialize<'de> for StringList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_newtype_struct(
                ORIGINAL_SPELLING,
                LooseStrings { lists: true, fields: &[] },
            )
            .map(Self)
    }
}

/// `x-logo`: `{ "url": … }`, or the URL itself.
#[derive(Default)]
pub struct Logo(pub Option<String>);

impl<'de> Deserialize<'de> for Logo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = deserializer.deserialize_newtype_struct(
            ORIGINAL_SPELLING,
            LooseStrings { lists: false, fields: &["url"] },
        )?;
        Ok(Self(found.into_iter().next()))
    }
}

/// A string, or the first string of a list. Any other value counts as absent.
#[derive(Debug, Default)]
pub struct FirstText(pub Option<String>);

impl FirstText {
    /// Returns `None` for an empty string or white space.
    pub fn non_blank(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.trim().is_empty())
    }

    /// Returns an empty string for a missing value.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for FirstText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = deserializer.deserialize_newtype_struct(
            ORIGINAL_SPELLING,
            LooseStrings { lists: true, fields: &[] },
        )?;
        Ok(Self(found.into_iter().next()))
    }
}

/// Collects the strings in a value, and skips all other values.
struct LooseStrings {
    lists: bool,
    fields: &'static [&'static str],
}

/// The maximum number of strings in a list, more than any row uses.
const MAX_TEXTS: usize = 100;

impl<'de> Visitor<'de> for LooseStrings {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(vec![text.to_owned()])
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(vec![value.to_string()])
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(vec![value.to_string()])
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(vec![value.to_string()])
    }

    fn visit_i128<E>(self, value: i128) -> Result<Self::Value, E> {
        Ok(vec![value.to_string()])
    }

    fn visit_u128<E>(self, value: u128) -> Result<Self::Value, E> {
        Ok(vec![value.to_string()])
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(vec![value.to_string()])
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut texts = Vec::new();
        if self.lists {
            while texts.len() < MAX_TEXTS {
                let Some(item) = seq.next_element_seed(Item(self.fields))? else {
                    return Ok(texts);
                };
                texts.extend(item);
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(texts)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut texts = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if self.fields.contains(&key.as_str()) {
                texts.extend(map.next_value_seed(Item(&[]))?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(texts)
    }
}

/// An element of a list or a map: a string, or a map with a string in one of these fields.
struct Item(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Item {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let found = deserializer.deserialize_newtype_struct(
            ORIGINAL_SPELLING,
            LooseStrings { lists: false, fields: self.0 },
        )?;
        Ok(found.into_iter().next())
    }
}

/// Deserializes only a map. For a struct, serde would also accept a list of the members' values.
pub struct Map<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Map<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MapVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for MapVisitor<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_map(MapVisitor(PhantomData)).map(Self)
    }
}

/// An optional map. Any other value is skipped.
#[derive(Debug, Default)]
pub enum OptionalMap<T> {
    #[default]
    Absent,
    Given(T),
    /// A string, which documents may use as a short form of the map.
    Text(String),
    /// Any other value.
    Other,
}

impl<T> OptionalMap<T> {
    /// The map. `None` for any other value.
    pub const fn get(&self) -> Option<&T> {
        match self {
            Self::Given(map) => Some(map),
            _ => None,
        }
    }

    /// Whether the value is present, but not a map.
    pub const fn is_malformed(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Other)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OptionalMap<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OptionalMapVisitor(PhantomData))
    }
}

struct OptionalMapVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OptionalMapVisitor<T> {
    type Value = OptionalMap<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(OptionalMap::Given)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(OptionalMap::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(OptionalMap::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(OptionalMap::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(OptionalMap::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(OptionalMap::Other)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Self::Value, E> {
        Ok(OptionalMap::Other)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Self::Value, E> {
        Ok(OptionalMap::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(OptionalMap::Other)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(OptionalMap::Absent)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(OptionalMap::Absent)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}
