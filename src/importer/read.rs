//! Parses bytes to a `Document`, or returns the reason why they are rejected.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::document::{Document, Reader};
use super::scalar::{Format, Json, Yaml};
use super::yaml::{self, Node, ReadError};

/// The error message for a file with several documents.
const MULTIPLE_DOCUMENTS: &str = "the file has several YAML documents";

/// A fault of a document, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line and the column, both starting at 1. `None` if unknown.
    pub place: Option<(u64, u64)>,
    pub message: String,
}

impl Fault {
    fn at_start(message: &str) -> Self {
        Self { place: Some((1, 1)), message: message.to_owned() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "{} at line {line} column {column}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Why a file is not imported as a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// The file is not an `OpenAPI` document.
    NotOpenApi,
    /// The document's version of `OpenAPI` is not supported.
    Dialect(String),
    /// The file claims to be an `OpenAPI` document, but is malformed.
    Broken(Fault),
}

/// A document, by its format.
pub enum Parsed {
    Json(Document<Json>),
    Yaml(Document<Yaml>),
}

/// Decodes the content of a file as UTF-8.
pub fn text(bytes: &[u8]) -> Result<&str, Rejection> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| Rejection::Broken(not_utf8(bytes, e.valid_up_to())))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Parses JSON or YAML, detected by content.
pub fn value(text: &str) -> Result<Value, Fault> {
    if is_json(text) {
        return serde_json::from_str(text).map_err(|e| json_fault(&e));
    }
    let node = match yaml::parse(text) {
        Ok(node) => node,
        Err(ReadError::Faulty(fault)) => return Err(fault),
        Err(ReadError::Several(_)) => return Err(Fault::at_start(MULTIPLE_DOCUMENTS)),
    };
    Value::deserialize(&node).map_err(|yaml::Error(fault)| fault)
}

/// Parses a document in JSON or YAML, detected by content.
pub fn read(text: &str) -> Result<Parsed, Rejection> {
    if text.trim().is_empty() {
        return Err(Rejection::Broken(Fault::at_start("the file is empty")));
    }
    if is_json(text) { json(text).map(Parsed::Json) } else { yaml(text).map(Parsed::Yaml) }
}

/// Whether the text is a JSON object or list, and not a YAML flow map (`{openapi: …`), which does
/// not start with a quoted key.
fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('[')
        || text.strip_prefix('{').is_some_and(|text| {
            text.trim_start().is_empty() || text.trim_start().starts_with(['"', '}'])
        })
}

fn not_utf8(bytes: &[u8], at: usize) -> Fault {
    let before = bytes.get(..at).unwrap_or_default();
    let line = before.split(|byte| *byte == b'\n').skip(1).count();
    let column = before.rsplit(|byte| *byte == b'\n').next().map_or(0, <[u8]>::len);
    let from_one = |n: usize| u64::try_from(n).unwrap_or(u64::MAX).saturating_add(1);
    Fault {
        place: Some((from_one(line), from_one(column))),
        message: "the file is not UTF-8".to_owned(),
    }
}

fn json(text: &str) -> Result<Document<Json>, Rejection> {
    let mut document = Document::default();
    let mut stream = serde_json::Deserializer::from_str(text);
    let read = Reader(&mut document).deserialize(&mut stream).and_then(|()| stream.end());
    if let Err(e) = read {
        let is_other = document.dialect.is_none()
            && serde_json::from_str(text).is_ok_and(|Probe(is_openapi)| !is_openapi);
        return Err(if is_other {
            Rejection::NotOpenApi
        } else {
            Rejection::Broken(json_fault(&e))
        });
    }
    checked(document)
}

fn json_fault(e: &serde_json::Error) -> Fault {
    let message = e.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
    let from_one = |n: usize| u64::try_from(n).unwrap_or(u64::MAX).max(1);
    Fault {
        place: Some((from_one(e.line()), from_one(e.column()))),
        message: super::text::verbatim(message, 300),
    }
}

fn yaml(text: &str) -> Result<Document<Yaml>, Rejection> {
    let is_openapi = |node: &Node| node.has_key(&["openapi", "swagger"]);
    let node = match yaml::parse(text) {
        Ok(node) if is_openapi(&node) => node,
        Err(ReadError::Several(first)) if is_openapi(&first) => {
            return Err(Rejection::Broken(Fault::at_start(MULTIPLE_DOCUMENTS)));
        }
        Ok(_) | Err(ReadError::Several(_)) => return Err(Rejection::NotOpenApi),
        Err(ReadError::Faulty(fault)) => return Err(Rejection::Broken(short(fault))),
    };
    let mut document = Document::default();
    let read = Reader(&mut document).deserialize(&node);
    read.map_err(|yaml::Error(fault)| Rejection::Broken(short(fault)))?;
    checked(document)
}

/// Shortens the message of a fault to a single line.
fn short(mut fault: Fault) -> Fault {
    fault.message = super::text::verbatim(&fault.message, 300);
    fault
}

fn checked<F: Format>(document: Document<F>) -> Result<Document<F>, Rejection> {
    let Some(dialect) = &document.dialect else {
        return Err(Rejection::NotOpenApi);
    };
    let dialect = dialect.as_str().trim();
    let is_read = matches!(dialect, "2" | "2.0")
        || ["3.0", "3.1", "3.2"].iter().any(|known| {
            dialect.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
    if !is_read {
        return Err(Rejection::Dialect(super::text::verbatim(dialect, 40)));
    }
    if document.info.is_none() {
        return Err(Rejection::Broken(Fault::at_start("the document has no `info`")));
    }
    Ok(document)
}

/// Detects whether a map claims to be an `OpenAPI` document.
struct Probe(bool);

impl<'de> Deserialize<'de> for Probe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ProbeVisitor).map(Self)
    }
}

struct ProbeVisitor;

impl<'de> Visitor<'de> for ProbeVisitor {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(key) = map.next_key::<super::scalar::FirstText>()? {
            found |= matches!(key.0.as_deref(), Some("openapi" | "swagger"));
            map.next_value::<IgnoredAny>()?;
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(false)
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
}
