//! Text values, read with the tolerance that documents in the wild need.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// How a format writes text, so that `version: 1.10` stays `1.10` and is not the number 1.1.
pub trait Format: Default {
    /// The text of a scalar as written; null is none.
    ///
    /// # Errors
    /// When the value is a map or a list.
    fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error>;
}

/// JSON
#[derive(Default)]
pub struct Json;
/// YAML
#[derive(Default)]
pub struct Yaml;

impl Format for Json {
    fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        match raw.as_bytes().first() {
            Some(b'"') => serde_json::from_str(raw)
                .map(Some)
                .map_err(|_| D::Error::custom("text with a broken escape sequence")),
            Some(b'{') => Err(D::Error::custom("expected text, found a map")),
            Some(b'[') => Err(D::Error::custom("expected text, found a list")),
            Some(b'n') => Ok(None),
            _ => Ok(Some(raw.to_owned())),
        }
    }
}

impl Format for Yaml {
    fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
        Option::deserialize(deserializer)
    }
}

/// A text; a number or a boolean counts as what is written, null as empty.
#[derive(Default)]
pub struct Text<F> {
    value: String,
    format: PhantomData<F>,
}

impl<F> Text<F> {
    /// The text, when there is more than white space.
    #[must_use]
    pub fn filled(&self) -> Option<&str> {
        Some(self.value.as_str()).filter(|text| !text.trim().is_empty())
    }

    /// The text, possibly empty.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.value
    }
}

impl<'de, F: Format> Deserialize<'de> for Text<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { value: F::text(deserializer)?.unwrap_or_default(), format: PhantomData })
    }
}

/// What an extension field says: one text or a list of them. Anything else is not there.
#[derive(Default)]
pub struct Texts(pub Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Loose { lists: true, fields: &[] }).map(Self)
    }
}

/// `x-logo`: `{ "url": … }`, or the URL itself.
#[derive(Default)]
pub struct Logo(pub Option<String>);

impl<'de> Deserialize<'de> for Logo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = deserializer.deserialize_any(Loose { lists: false, fields: &["url"] })?;
        Ok(Self(texts.into_iter().next()))
    }
}

/// The first text of a list, or the text that stands where a list should.
#[derive(Default)]
pub struct FirstText(pub Option<String>);

impl<'de> Deserialize<'de> for FirstText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = deserializer.deserialize_any(Loose { lists: true, fields: &[] })?;
        Ok(Self(texts.into_iter().next()))
    }
}

/// Takes texts where they may be found, and skips everything else.
struct Loose {
    lists: bool,
    fields: &'static [&'static str],
}

/// More texts than any row shows.
const MAX_TEXTS: usize = 100;

impl<'de> Visitor<'de> for Loose {
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

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut texts = Vec::new();
        if self.lists {
            while texts.len() < MAX_TEXTS {
                let Some(Item(item)) = seq.next_element()? else {
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
                texts.extend(map.next_value::<Item>()?.0);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(texts)
    }
}

/// A text inside a list or a map.
struct Item(Option<String>);

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = deserializer.deserialize_any(Loose { lists: false, fields: &[] })?;
        Ok(Self(texts.into_iter().next()))
    }
}
