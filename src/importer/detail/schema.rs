//! Converts a document's schemas to valid JSON Schema 2020-12. Input: the dialects of Swagger 2 and
//! `OpenAPI` 3.0, and schemas of `OpenAPI` 3.1, which may be invalid.

use std::collections::HashSet;

use regress::{Flags, Regex};
use serde_json::{Map, Value, json};

use super::definitions::Definitions;
use crate::importer::text;

/// The maximum length of a description, in characters.
const MAX_DESCRIPTION: usize = 300;
/// The maximum length of a title, in characters.
const MAX_TITLE: usize = 200;
/// The maximum size of a default or an example, in bytes of JSON.
const MAX_VALUE: usize = 500;
/// The maximum length of a pattern, in bytes. Longer patterns are dropped.
const MAX_PATTERN: usize = 1000;

/// Converts a schema. Returns its JSON, and the numbers of the definitions that it refers to.
pub fn convert<F>(schema: &Value, definitions: &mut Definitions<'_, F>) -> (String, Vec<u32>) {
    let mut conversion = Conversion { definitions, reaches: Vec::new(), seen: HashSet::new() };
    let converted = conversion.schema(schema);
    (converted.to_string(), conversion.reaches)
}

struct Conversion<'c, 'd, F> {
    definitions: &'c mut Definitions<'d, F>,
    reaches: Vec<u32>,
    seen: HashSet<u32>,
}

impl<F> Conversion<'_, '_, F> {
    /// Converts a schema. Replaces an invalid schema with `true`.
    fn schema(&mut self, input: &Value) -> Value {
        match input {
            Value::Bool(allows) => Value::Bool(*allows),
            Value::Object(map) => match map.get("$ref").and_then(Value::as_str) {
                Some(reference) => self.reference(reference, map),
                None => Value::Object(self.object(map)),
            },
            _ => json!({}),
        }
    }

    fn reference(&mut self, reference: &str, map: &Map<String, Value>) -> Value {
        let mut converted = Map::new();
        if let Some(number) = self.definitions.number(reference) {
            if self.seen.insert(number) {
                self.reaches.push(number);
            }
            let name = self.definitions.get(number).map(|one| one.name.as_str());
            let name = format!("#/$defs/{}", name.unwrap_or_default());
            converted.insert("$ref".to_owned(), Value::String(name));
        }
        for (key, value) in map {
            if matches!(key.as_str(), "description" | "deprecated" | "default") {
                self.keyword(key, value, &mut converted);
            }
        }
        if is_true(map, &["nullable", "x-nullable"]) {
            return json!({ "anyOf": [converted, { "type": "null" }] });
        }
        Value::Object(converted)
    }

    fn object(&mut self, map: &Map<String, Value>) -> Map<String, Value> {
        let mut converted = Map::new();
        for (key, value) in map {
            self.keyword(key, value, &mut converted);
        }
        convert_exclusive(map, &mut converted, "exclusiveMinimum", "minimum");
        convert_exclusive(map, &mut converted, "exclusiveMaximum", "maximum");
        // Convert `oneOf` to `anyOf`: a definition that is replaced because of its size matches any
        // value, so that several alternatives may match.
        if let Some(one_of) = converted.remove("oneOf") {
            let has_both = converted.contains_key("anyOf");
            match converted.get_mut("allOf") {
                Some(Value::Array(all)) => all.push(json!({ "anyOf": one_of })),
                _ if has_both => {
                    converted.insert("allOf".to_owned(), json!([{ "anyOf": one_of }]));
                }
                _ => {
                    converted.insert("anyOf".to_owned(), one_of);
                }
            }
        }
        self.relax_read_only(map, &mut converted);
        drop_wrong_types(&mut converted);
        if is_true(map, &["nullable", "x-nullable"]) { allow_null(converted) } else { converted }
    }

    /// Makes read-only members optional, because only the platform sets them.
    fn relax_read_only(&self, map: &Map<String, Value>, converted: &mut Map<String, Value>) {
        let properties = map.get("properties").and_then(Value::as_object);
        let is_read_only = |name: &Value| {
            let property = properties.zip(name.as_str()).and_then(|(all, name)| all.get(name));
            let own = property.and_then(Value::as_object);
            if own.is_some_and(|own| own.contains_key("$ref") && !is_true(own, &["readOnly"])) {
                let target =
                    property.and_then(|own| self.definitions.sources.resolved(own.clone()));
                return target.is_some_and(|target| is_true(&target, &["readOnly"]));
            }
            own.is_some_and(|own| is_true(own, &["readOnly"]))
        };
        if let Some(Value::Array(required)) = converted.get_mut("required") {
            required.retain(|name| !is_read_only(name));
            if required.is_empty() {
                converted.remove("required");
            }
        }
    }

    /// Adds a keyword if it is valid.
    fn keyword(&mut self, key: &str, value: &Value, into: &mut Map<String, Value>) {
        let converted = match key {
            "type" => json_types(value, into),
            "properties" | "patternProperties" | "dependentSchemas" => self.schema_map(key, value),
            "additionalProperties" | "contains" | "propertyNames" => self.valid_schema(value),
            // If the size limit replaced the definition with one that allows any value, `not` would
            // reject every value.
            "not" if !contains_reference(value) => self.valid_schema(value),
            "items" => match value {
                Value::Array(_) => {
                    into.extend(
                        self.schema_list(value).map(|list| ("prefixItems".to_owned(), list)),
                    );
                    None
                }
                _ => self.valid_schema(value),
            },
            "prefixItems" | "allOf" | "anyOf" | "oneOf" => self.schema_list(value),
            "required" => names(value),
            "enum" => values(value),
            "const" => Some(value.clone()),
            "minimum" | "maximum" => number(value),
            "exclusiveMinimum" | "exclusiveMaximum" if !value.is_boolean() => number(value),
            "multipleOf" => number(value).filter(|value| value.as_f64().is_some_and(|n| n > 0.0)),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" | "minContains" | "maxContains" => count(value),
            "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => {
                Some(Value::Bool(true)).filter(|_| value.as_bool() == Some(true))
            }
            "pattern" => pattern(value),
            "format" | "contentMediaType" | "contentEncoding" => value
                .as_str()
                .filter(|text| !text.is_empty())
                .map(|text| truncated(text, MAX_TITLE)),
            "title" => value.as_str().map(|text| truncated(text, MAX_TITLE)),
            "description" => value.as_str().map(|text| truncated(text, MAX_DESCRIPTION)),
            "default" => within_limit(value),
            "example" => {
                let example = within_limit(value).map(|value| Value::Array(vec![value]));
                into.extend(example.map(|example| ("examples".to_owned(), example)));
                None
            }
            "examples" => {
                let first = value.as_array().and_then(|values| within_limit(values.first()?));
                first.map(|first| Value::Array(vec![first]))
            }
            _ => None,
        };
        let is_text = matches!(key, "title" | "description");
        let converted = converted.filter(|value| !is_text || value.as_str() != Some(""));
        into.extend(converted.map(|value| (key.to_owned(), value)));
    }

    fn valid_schema(&mut self, value: &Value) -> Option<Value> {
        matches!(value, Value::Bool(_) | Value::Object(_)).then(|| self.schema(value))
    }

    /// Converts each schema of a map.
    fn schema_map(&mut self, key: &str, value: &Value) -> Option<Value> {
        let map = value.as_object()?;
        let mut converted = Map::new();
        for (name, value) in map {
            let is_fit = key != "patternProperties" || is_pattern(name);
            let value = Some(value).filter(|_| is_fit).and_then(|value| self.valid_schema(value));
            converted.extend(value.map(|value| (name.clone(), value)));
        }
        Some(Value::Object(converted))
    }

    /// Converts each schema of a list. Returns `None` if no schema remains.
    fn schema_list(&mut self, value: &Value) -> Option<Value> {
        let input = value.as_array()?;
        let list: Vec<Value> = input.iter().filter_map(|value| self.valid_schema(value)).collect();
        Some(Value::Array(list)).filter(|list| *list != json!([]))
    }
}

/// Whether a schema contains a reference.
fn contains_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.contains_key("$ref") || map.values().any(contains_reference),
        Value::Array(list) => list.iter().any(contains_reference),
        _ => false,
    }
}

/// Drops a `type` that contradicts the values of `enum`: some documents declare `type: string` for
/// numbers.
fn drop_wrong_types(converted: &mut Map<String, Value>) {
    let Some(Value::Array(values)) = converted.get("enum") else { return };
    let fits = |value: &Value| {
        let kinds = match converted.get("type") {
            Some(Value::Array(kinds)) => kinds.as_slice(),
            Some(kind) => std::slice::from_ref(kind),
            None => return true,
        };
        kinds.iter().filter_map(Value::as_str).any(|kind| match kind {
            "string" => value.is_string(),
            "number" => value.is_number(),
            "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            _ => value.is_null(),
        })
    };
    if !values.iter().all(|value| value.is_null() || fits(value)) {
        converted.remove("type");
    }
}

fn is_true(map: &Map<String, Value>, keys: &[&str]) -> bool {
    keys.iter().any(|key| map.get(*key).and_then(Value::as_bool) == Some(true))
}

/// Converts a boolean `exclusiveMinimum` or `exclusiveMaximum` of `OpenAPI` 3.0 to a number.
fn convert_exclusive(
    map: &Map<String, Value>,
    converted: &mut Map<String, Value>,
    key: &str,
    limit_key: &str,
) {
    if is_true(map, &[key])
        && let Some(limit) = converted.remove(limit_key)
    {
        converted.insert(key.to_owned(), limit);
    }
}

/// Extends a schema to allow null.
fn allow_null(mut schema: Map<String, Value>) -> Map<String, Value> {
    let null = Value::String("null".to_owned());
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    let combines = ["allOf", "anyOf", "oneOf", "not"].iter().any(|key| schema.contains_key(*key));
    if combines {
        let either = json!([schema, { "type": "null" }]);
        return Map::from_iter([("anyOf".to_owned(), either)]);
    }
    match schema.get_mut("type") {
        Some(Value::Array(kinds)) => {
            if !kinds.contains(&null) {
                kinds.push(null);
            }
            schema
        }
        Some(kind) if *kind != null => {
            let kinds = vec![kind.take(), null];
            *kind = Value::Array(kinds);
            schema
        }
        Some(_) | None => schema,
    }
}

/// The JSON type for a type name in a document.
pub fn json_type(kind: &str) -> Option<&'static str> {
    Some(match kind.to_ascii_lowercase().as_str() {
        "string" | "date" | "datetime" | "date-time" | "uuid" | "text" | "file" => "string",
        "number" | "float" | "double" | "decimal" => "number",
        "integer" | "int" | "int32" | "int64" | "long" => "integer",
        "boolean" | "bool" => "boolean",
        "array" | "list" => "array",
        "object" | "map" => "object",
        "null" => "null",
        _ => return None,
    })
}

/// The JSON types for the type names in a document.
fn json_types(value: &Value, into: &mut Map<String, Value>) -> Option<Value> {
    let input = match value {
        Value::Array(list) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut kinds: Vec<Value> = Vec::new();
    for kind in input {
        // In YAML, an unquoted `null` is the null value, not a string.
        let kind = if kind.is_null() { Some("null") } else { kind.as_str() };
        let kind = kind.unwrap_or_default();
        if kind.eq_ignore_ascii_case("file") {
            into.insert("format".to_owned(), Value::String("binary".to_owned()));
        }
        // An unknown type drops the keyword, so that any value is allowed.
        let kind = json_type(kind)?;
        let kind = Value::String(kind.to_owned());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    match kinds.len() {
        0 => None,
        1 => kinds.pop(),
        _ => Some(Value::Array(kinds)),
    }
}

/// A non-empty list of distinct names.
fn names(value: &Value) -> Option<Value> {
    let mut seen = HashSet::new();
    let input = value.as_array()?.iter();
    let names = input.filter(|name| name.as_str().is_some_and(|one| seen.insert(one)));
    let names: Vec<Value> = names.cloned().collect();
    Some(Value::Array(names)).filter(|names| *names != json!([]))
}

/// A non-empty list of distinct values.
fn values(value: &Value) -> Option<Value> {
    let input = value.as_array()?;
    let mut seen = HashSet::new();
    let values = input.iter().filter(|value| seen.insert(value.to_string()));
    let values: Vec<Value> = values.cloned().collect();
    Some(Value::Array(values)).filter(|values| *values != json!([]))
}

fn number(value: &Value) -> Option<Value> {
    match value {
        Value::Number(_) => Some(value.clone()),
        Value::String(text) => {
            let number = text.trim().parse::<serde_json::Number>().ok()?;
            Some(Value::Number(number))
        }
        _ => None,
    }
}

/// A non-negative integer.
fn count(value: &Value) -> Option<Value> {
    let number = number(value)?;
    let whole = number.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and positive"
    )]
    let whole = whole as u64;
    Some(Value::from(whole))
}

/// A pattern that JavaScript engines can compile.
fn pattern(value: &Value) -> Option<Value> {
    value.as_str().filter(|pattern| is_pattern(pattern)).map(|text| Value::String(text.to_owned()))
}

fn is_pattern(pattern: &str) -> bool {
    // Disable the optimizer: it unrolls loops, so a short pattern with nested loops could exhaust
    // the memory.
    let flags = Flags { unicode: true, no_opt: true, ..Flags::default() };
    pattern.len() <= MAX_PATTERN
        && !has_modifiers(pattern)
        && Regex::with_flags(pattern, flags).is_ok()
}

/// Whether a pattern contains inline modifiers such as `(?i:a)`, which not every engine supports.
fn has_modifiers(pattern: &str) -> bool {
    let is_flag = |c: char| c.is_ascii_lowercase() || c == '-';
    pattern.split("(?").skip(1).any(|rest| rest.starts_with(is_flag))
}

fn truncated(text: &str, max: usize) -> Value {
    Value::String(text::verbatim(text, max))
}

/// A default or example within [`MAX_VALUE`].
fn within_limit(value: &Value) -> Option<Value> {
    let is_small = match value {
        Value::String(text) => text.len() <= MAX_VALUE,
        Value::Array(_) | Value::Object(_) => value.to_string().len() <= MAX_VALUE,
        _ => true,
    };
    is_small.then(|| value.clone())
}
