//! Validates a value against the JSON Schema of an action's input. Supports the keywords of draft
//! 2020-12 that occur in the catalog's schemas. `format` and media keywords are not validated.
//!
//! A library would be as large as the rest of the Worker: on top of `serde_json`, compiled for
//! size, `jsonschema` 0.61 without its default features adds 825 KB gzipped, and `boon` 0.6 adds
//! 461 KB. The catalog's schemas use no other keyword that restricts a value (`npm run lab --
//! catalog-proof` counts them).
//!
//! `scalars` and `containers` validate the keywords of single types.

mod containers;
mod equal;
mod pointer;
mod scalars;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use serde_json::{Map, Value};

use crate::ports::Patterns;
use crate::util::nearest::nearest;
use crate::util::patterns::Matcher;
use equal::is_equal;
use pointer::{Name, Pointer};

/// The maximum number of faults that are reported.
pub const MAX_FAULTS: usize = 100;
/// The maximum depth of references. Deeper schemas are not checked.
pub const MAX_LEVELS: u32 = 100;
/// The maximum number of evaluated schemas. The platform validates everything beyond.
pub const MAX_STEPS: usize = 100_000;

/// A fault in a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The JSON Pointer of the value at fault (RFC 6901).
    pub pointer: String,
    /// The error, as the end of a sentence that begins with the value's name.
    pub message: String,
    pub suggestion: Option<String>,
}

/// All faults of a value, at most [`MAX_FAULTS`].
pub fn faults(schema: &Value, value: &Value, patterns: &impl Patterns) -> Vec<Fault> {
    let matcher = Matcher::new(patterns);
    // The platform validates text that would take too long to match.
    let is_match =
        |pattern: &str, text: &str| matcher.contains_match(pattern, text).unwrap_or(true);
    let definitions = schema.get("$defs").and_then(Value::as_object);
    let mut check = Check { definitions, is_match: &is_match, faults: Vec::new(), steps: 0 };
    check.value(schema, value, &Pointer { parent: None, name: Name::Text("") }, 0);
    check.faults
}

struct Check<'s> {
    definitions: Option<&'s Map<String, Value>>,
    is_match: &'s dyn Fn(&str, &str) -> bool,
    faults: Vec<Fault>,
    steps: usize,
}

impl Check<'_> {
    fn fault(&mut self, at: &Pointer<'_>, message: impl Into<String>) {
        self.suggest(at, message, None);
    }

    fn suggest(
        &mut self,
        at: &Pointer<'_>,
        message: impl Into<String>,
        suggestion: Option<String>,
    ) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(Fault { pointer: at.text(), message: message.into(), suggestion });
        }
    }

    /// Returns the faults of a value under one schema, without reporting them.
    fn faults_of_schema(
        &mut self,
        schema: &Value,
        value: &Value,
        at: &Pointer<'_>,
        level: u32,
    ) -> Vec<Fault> {
        let before = std::mem::take(&mut self.faults);
        self.value(schema, value, at, level);
        std::mem::replace(&mut self.faults, before)
    }

    fn is_valid(&mut self, schema: &Value, value: &Value, level: u32) -> bool {
        let nowhere = Pointer { parent: None, name: Name::Text("") };
        self.faults_of_schema(schema, value, &nowhere, level).is_empty()
    }

    fn value(&mut self, schema: &Value, value: &Value, at: &Pointer<'_>, level: u32) {
        self.steps = self.steps.saturating_add(1);
        let has_max_faults = self.faults.len() >= MAX_FAULTS;
        if level > MAX_LEVELS || self.steps > MAX_STEPS || has_max_faults {
            return;
        }
        let level = level.saturating_add(1);
        let schema = match schema {
            Value::Bool(false) => return self.fault(at, "must be left out"),
            Value::Object(schema) => schema,
            _ => return,
        };
        let reference = schema.get("$ref").and_then(Value::as_str);
        let name = reference.and_then(|reference| reference.strip_prefix("#/$defs/"));
        if let Some(target) = name.and_then(|name| self.definitions?.get(name)) {
            self.value(target, value, at, level);
        }
        if !self.check_type(schema, value, at) {
            // A wrong type would cause further faults.
            return;
        }
        self.check_enum(schema, value, at);
        match value {
            Value::Number(number) => self.number(schema, number.as_f64().unwrap_or(0.0), at),
            Value::String(text) => self.text(schema, text, at),
            Value::Array(items) => self.items(schema, items, at, level),
            Value::Object(members) => self.members(schema, members, at, level),
            Value::Null | Value::Bool(_) => {}
        }
        self.check_combinations(schema, value, at, level);
    }

    /// Whether the value has one of the schema's types. Reports a fault otherwise.
    fn check_type(&mut self, schema: &Map<String, Value>, value: &Value, at: &Pointer<'_>) -> bool {
        let kinds: Vec<&str> = match schema.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => return true,
        };
        let has_type = |kind: &&str| match *kind {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "object" => value.is_object(),
            "array" => value.is_array(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            _ => true,
        };
        let fits = kinds.iter().any(has_type);
        if !fits {
            let describe = |kind: &&str| match *kind {
                "null" => "null",
                "boolean" => "true or false",
                "object" => "an object",
                "array" => "an array",
                "number" => "a number",
                "string" => "a string",
                _ => "a whole number",
            };
            let all: Vec<&str> = kinds.iter().map(describe).collect();
            self.fault(at, format!("must be {}", all.join(" or ")));
        }
        fits
    }

    /// Checks the keywords `enum` and `const`.
    fn check_enum(&mut self, schema: &Map<String, Value>, value: &Value, at: &Pointer<'_>) {
        if let Some(Value::Array(known)) = schema.get("enum")
            && !known.iter().any(|known| is_equal(known, value))
        {
            let names: Vec<&str> = known.iter().filter_map(Value::as_str).collect();
            let meant = value.as_str();
            let meant = meant.and_then(|text| nearest(text, names.iter().copied(), 1).pop());
            let allowed_values: Vec<String> = known.iter().take(20).map(Value::to_string).collect();
            let end = if known.len() > allowed_values.len() { ", …" } else { "" };
            self.suggest(at, format!("must be one of {}{end}", allowed_values.join(", ")), meant);
        }
        if let Some(expected) = schema.get("const").filter(|expected| !is_equal(expected, value)) {
            self.fault(at, format!("must be {expected}"));
        }
    }

    fn check_combinations(
        &mut self,
        schema: &Map<String, Value>,
        value: &Value,
        at: &Pointer<'_>,
        level: u32,
    ) {
        let list = |key: &str| schema.get(key).and_then(Value::as_array);
        for schema in list("allOf").into_iter().flatten() {
            self.value(schema, value, at, level);
        }
        if let Some(any) = list("anyOf") {
            let mut nearest: Option<Vec<Fault>> = None;
            for schema in any {
                let faults = self.faults_of_schema(schema, value, at, level);
                let is_better_match = |known: &Vec<Fault>| is_better_match(&faults, known);
                if nearest.as_ref().is_none_or(is_better_match) {
                    nearest = Some(faults);
                }
            }
            // Only the faults of the alternative that was probably meant help, so report no others.
            let remaining = MAX_FAULTS.saturating_sub(self.faults.len());
            self.faults.extend(nearest.unwrap_or_default().into_iter().take(remaining));
        }
        if let Some(not) = schema.get("not")
            && self.is_valid(not, value, level)
        {
            self.fault(at, "must not match the schema in `not`");
        }
    }
}

/// Whether `faults` are deeper than `known`, or fewer at the same depth. Their schema is then more
/// likely to be the intended one. An empty list counts as the deepest.
fn is_better_match(faults: &[Fault], known: &[Fault]) -> bool {
    let depth = |faults: &[Fault]| {
        let depth = |fault: &Fault| fault.pointer.matches('/').count();
        faults.iter().map(depth).min().unwrap_or(usize::MAX)
    };
    match depth(faults).cmp(&depth(known)) {
        Ordering::Equal => faults.len() < known.len(),
        order => order == Ordering::Greater,
    }
}
