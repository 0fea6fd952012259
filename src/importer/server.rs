//! The base addresses of an API: `servers`, or `host`, `basePath` and `schemes` of 2.0.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::document::Document;
use super::paths::Entries;
use super::scalar::{FirstText, Spare, Texts};
use super::text;
use crate::catalog::detail::{Field, Server, variables};

/// The most servers that are kept.
const MAX_SERVERS: usize = 50;
/// The most values of a variable that are kept.
const MAX_VALUES: usize = 200;
/// The longest URL, in bytes.
const MAX_URL: usize = 2048;
/// The most characters of a description.
const MAX_DESCRIPTION: usize = 200;

/// `servers`, or what stands in its place.
#[derive(Default)]
pub struct Servers {
    /// In order; some may have an empty URL.
    pub list: Vec<Entry>,
    /// Whether a map without a URL stands in its place.
    pub is_wrong: bool,
}

/// A server as it is written.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Entry {
    /// Absolute, or relative to where the document was found.
    pub url: FirstText,
    description: FirstText,
    variables: Spare<Entries<Spare<Variable>>>,
}

/// A variable of a URL.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Variable {
    default: FirstText,
    description: FirstText,
    r#enum: Texts,
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
                Some(Spare::Given(entry)) => list.push(entry),
                Some(Spare::Text(url)) => list.push(Entry::at(url)),
                Some(Spare::Absent | Spare::Other) => {}
                None => return Ok(Servers { list, is_wrong: false }),
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Servers { list, is_wrong: false })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Servers, A::Error> {
        let entry = Entry::deserialize(MapAccessDeserializer::new(map))?;
        let is_wrong = entry.url.0.is_none();
        Ok(Servers { list: vec![entry], is_wrong })
    }

    fn visit_str<E>(self, url: &str) -> Result<Servers, E> {
        Ok(Servers { list: vec![Entry::at(url.to_owned())], is_wrong: false })
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
    fn at(url: String) -> Self {
        Self { url: FirstText(Some(url)), ..Self::default() }
    }
}

/// The servers of a document, and the fields that their variables need.
#[derive(Debug, Default)]
pub struct Found {
    /// The absolute ones: those with `https`, or all when there is none.
    pub servers: Vec<Server>,
    /// A field for each variable.
    pub fields: Vec<Field>,
    /// URLs that are left out, since they are not absolute.
    pub left_out: Vec<String>,
}

/// The servers of a document.
#[must_use]
pub fn of<F>(document: &Document<F>) -> Found {
    let mut found = Found::default();
    let given = document.servers.iter().flat_map(|servers| &servers.list);
    let of_2 = entries_of_2(document);
    let mut fields: BTreeMap<&str, Field> = BTreeMap::new();
    for entry in given.chain(&of_2) {
        let Some(url) = absolute(entry.url.as_str()) else {
            let url = entry.url.filled().filter(|url| url.contains(['/', ':']));
            found.left_out.extend(url.map(|url| text::verbatim(url, 200)));
            continue;
        };
        if found.servers.iter().any(|known| known.url == url) {
            continue;
        }
        for name in variables(entry.url.as_str()) {
            let variable = entry
                .variables
                .get()
                .and_then(|variables| variables.0.iter().find(|(known, _)| known == name)?.1.get());
            fields.entry(name).or_insert_with(|| field(name, variable));
        }
        let description = text::line(entry.description.as_str(), MAX_DESCRIPTION);
        let description = Some(description).filter(|description| !description.is_empty());
        found.servers.push(Server { url, description });
    }
    if found.servers.iter().any(is_secure) {
        found.servers.retain(is_secure);
    }
    let is_used = |name: &str| {
        found.servers.iter().any(|server| variables(&server.url).any(|used| used == name))
    };
    found.fields = fields.into_values().filter(|field| is_used(&field.name)).collect();
    found
}

/// Whether requests to a server are encrypted.
#[must_use]
pub fn is_secure(server: &Server) -> bool {
    server.url.starts_with("https://")
}

/// A server for each protocol of a 2.0 document.
fn entries_of_2<F>(document: &Document<F>) -> Vec<Entry> {
    let Some(host) = document.host.as_ref().and_then(FirstText::filled) else { return Vec::new() };
    let path = document.base_path.as_ref().map(FirstText::as_str).unwrap_or_default();
    let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
    let protocols = document.protocols.as_ref().map_or(&[][..], |protocols| &protocols.0);
    let protocols = if protocols.is_empty() { &["https".to_owned()][..] } else { protocols };
    let address = |protocol: &String| Entry::at(format!("{protocol}://{host}{slash}{path}"));
    protocols.iter().map(address).collect()
}

/// An absolute URL without white space and without a slash at its end. Returns `None` for any other text.
fn absolute(url: &str) -> Option<String> {
    let url = url.trim().split(['?', '#']).next()?.trim_end_matches('/');
    // An address without a protocol has that of the page that names it.
    let url =
        url.strip_prefix("//").map_or_else(|| url.to_owned(), |rest| format!("https://{rest}"));
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let host = rest.split('/').next()?;
    let is_clean =
        |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '\\' | '`' | '@');
    let is_good = matches!(scheme.as_str(), "http" | "https")
        && !host.is_empty()
        && rest.chars().all(is_clean)
        && rest.matches('{').count() == rest.matches('}').count()
        && variables(rest).all(is_name)
        && url.len() <= MAX_URL;
    is_good.then(|| format!("{scheme}://{rest}"))
}

/// Whether a text can be the name of a field.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let is_clean = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=64).contains(&name.len()) && name.chars().all(is_clean)
}

fn field(name: &str, variable: Option<&Variable>) -> Field {
    let one_line = |text: &FirstText| {
        let line = text::line(text.as_str(), MAX_DESCRIPTION);
        Some(line).filter(|line| !line.is_empty())
    };
    let default = variable.and_then(|variable| variable.default.filled());
    let values: Vec<String> = variable
        .map(|variable| variable.r#enum.0.iter().take(MAX_VALUES).cloned().collect())
        .unwrap_or_default();
    Field {
        description: variable.and_then(|variable| one_line(&variable.description)),
        required: default.is_none(),
        default: default.map(|text| text::verbatim(text, MAX_DESCRIPTION)),
        r#enum: Some(values).filter(|values| !values.is_empty()),
        ..Field::required(name, &label(name))
    }
}

/// A variable's name as people write it: `subDomain` → `Sub domain`.
#[must_use]
pub fn label(name: &str) -> String {
    let words = text::words(name).join(" ").to_lowercase();
    let mut letters = words.chars();
    letters
        .next()
        .map_or_else(|| name.to_owned(), |first| first.to_uppercase().chain(letters).collect())
}
