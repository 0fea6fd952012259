//! Deserializes `servers`.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::importer::entries::Entries;
use crate::importer::scalar::{FirstText, OptionalMap, StringList};

/// The maximum number of servers. Further servers are skipped.
const MAX_SERVERS: usize = 50;

/// The value of `servers`: a list or, in some documents, a single server or its URL.
#[derive(Default)]
pub struct Servers {
    /// The servers, in document order. URLs may be empty.
    pub list: Vec<Entry>,
    /// Whether `servers` is malformed: a map without a URL.
    pub is_malformed: bool,
}

/// An item of `servers`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Entry {
    /// An absolute URL, or a URL relative to the URL of the document.
    pub url: FirstText,
    pub description: FirstText,
    /// The variables of the URL.
    pub variables: OptionalMap<Entries<OptionalMap<Variable>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Variable {
    pub default: FirstText,
    pub description: FirstText,
    /// All allowed values.
    pub r#enum: StringList,
}

impl<'de> Deserialize<'de> for Servers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ServersVisitor)
    }
}

struct ServersVisitor;

impl<'de> Visitor<'de> for ServersVisitor {
    type Value = Servers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("servers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Servers, A::Error> {
        let mut list = Vec::new();
        while list.len() < MAX_SERVERS {
            match seq.next_element()? {
                Some(OptionalMap::Given(entry)) => list.push(entry),
                Some(OptionalMap::Text(url)) => list.push(Entry::at(url)),
                Some(OptionalMap::Absent | OptionalMap::Other) => {}
                None => return Ok(Servers { list, is_malformed: false }),
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Servers { list, is_malformed: false })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Servers, A::Error> {
        let entry = Entry::deserialize(MapAccessDeserializer::new(map))?;
        let is_malformed = entry.url.0.is_none();
        Ok(Servers { list: vec![entry], is_malformed })
    }

    fn visit_str<E>(self, url: &str) -> Result<Servers, E> {
        Ok(Servers { list: vec![Entry::at(url.to_owned())], is_malformed: false })
    }

    fn visit_bool<E>(self, _: bool) -> Result<Servers, E> {
        Ok(Servers::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Servers, E> {
        Ok(Servers::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Servers, E> {
        Ok(Servers::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Servers, E> {
        Ok(Servers::default())
    }

    fn visit_unit<E>(self) -> Result<Servers, E> {
        Ok(Servers::default())
    }
}

impl Entry {
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        let variables = self.variables.get()?;
        variables.0.iter().find(|(known, _)| known == name)?.1.get()
    }

    /// A server with only a URL.
    pub fn at(url: String) -> Self {
        Self { url: FirstText(Some(url)), ..Self::default() }
    }
}
