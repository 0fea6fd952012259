//! Flattens the input of an action into one object, for the tool definitions of language models:
//! each property has a name that all models allow, and the top level does not combine schemas.
//!
//! The names depend only on the action's `input`, so that a model's arguments can be mapped back
//! exactly.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::schema::Fault;
use crate::util::collect::by_insertion;
use crate::util::json;
use crate::util::nearest::nearest;

/// The maximum length of a name, in bytes: `^[a-zA-Z0-9_.-]{1,64}$`.
const MAX_NAME_BYTES: usize = 64;
/// The locations of parameters in the input.
const PARAMETERS: [&str; 4] = ["path", "query", "header", "cookie"];
/// The location of the body. Also the name of the argument for a body whose members are not
/// arguments.
const BODY: &str = "body";
/// The keywords that an object schema may contain if its members become arguments.
const SPREADABLE_KEYWORDS: [&str; 14] = [
    "$comment",
    "$schema",
    "additionalProperties",
    "default",
    "deprecated",
    "description",
    "example",
    "examples",
    "format",
    "properties",
    "readOnly",
    "required",
    "title",
    "type",
];
/// The maximum number of references to follow to the schema of the body.
const MAX_REFERENCES: usize = 8;
/// The types of an unrestricted value.
const ANY: [&str; 6] = ["string", "number", "boolean", "object", "array", "null"];

/// The flat form of an action's input.
#[derive(Debug)]
pub struct FlatInput<'s> {
    schema: &'s Value,
    /// The arguments by their flat names.
    arguments: BTreeMap<String, Argument<'s>>,
    /// Whether to send the body even if it has no members, because it is required and its members
    /// are arguments.
    needs_body: bool,
}

/// An argument, with its location in the input.
#[derive(Debug, Clone, Copy)]
struct Argument<'s> {
    location: &'static str,
    /// The original name; `None` for the whole body.
    name: Option<&'s str>,
    schema: &'s Value,
    is_required: bool,
}

impl Argument<'_> {
    fn name(&self) -> &str {
        self.name.unwrap_or(BODY)
    }
}

/// The members of an object, ordered by name, and whether each is required.
fn members(object: &Value) -> impl Iterator<Item = (&str, &Value, bool)> {
    let properties = object.get("properties").and_then(Value::as_object);
    let sorted: BTreeMap<&String, &Value> = by_insertion(properties.into_iter().flatten());
    sorted.into_iter().map(|(name, schema)| (name.as_str(), schema, requires(object, name)))
}

fn requires(object: &Value, name: &str) -> bool {
    let required = object.get("required").and_then(Value::as_array);
    required.is_some_and(|all| all.iter().any(|known| known == name))
}

/// The object whose members can replace the body without loss.
fn spreadable_object<'s>(input: &'s Value, body: &'s Value) -> Option<&'s Value> {
    let mut body = body;
    for _ in 0..MAX_REFERENCES {
        let Some(reference) = body.get("$ref") else { break };
        if body.as_object()?.keys().any(|key| key != "$ref" && key != "description") {
            return None;
        }
        body = input.pointer(reference.as_str()?.strip_prefix('#')?)?;
    }
    let own = body.as_object()?;
    let is_object = own.get("type").is_none_or(|kind| kind == "object");
    let is_plain =
        own.keys().all(|key| SPREADABLE_KEYWORDS.contains(&key.as_str()) || key.starts_with("x-"));
    let is_closed = own.get("additionalProperties").is_none_or(|more| *more == Value::Bool(false));
    let properties = own.get("properties")?.as_object()?;
    let required = own.get("required").and_then(Value::as_array).into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    let is_complete = required.all(|name| properties.contains_key(name));
    (is_object && is_plain && is_closed && is_complete && !properties.is_empty()).then_some(body)
}

impl<'s> FlatInput<'s> {
    /// Flattens an action's `input`.
    pub fn new(input: &'s Value) -> Self {
        let mut arguments = Vec::new();
        let mut needs_body = false;
        let locations = input.get("properties");
        for location in PARAMETERS {
            if let Some(object) = locations.and_then(|locations| locations.get(location)) {
                arguments.extend(members(object).map(|(name, schema, is_required)| Argument {
                    location,
                    name: Some(name),
                    schema,
                    is_required,
                }));
            }
        }
        if let Some(schema) = locations.and_then(|locations| locations.get(BODY)) {
            let is_required = requires(input, BODY);
            if let Some(object) = spreadable_object(input, schema) {
                needs_body = is_required;
                arguments.extend(members(object).map(|(name, schema, is_needed)| Argument {
                    location: BODY,
                    name: Some(name),
                    schema,
                    is_required: is_needed && is_required,
                }));
            } else {
                arguments.push(Argument { location: BODY, name: None, schema, is_required });
            }
        }
        Self { schema: input, arguments: name_arguments(&arguments), needs_body }
    }

    /// The JSON Schema of the flat form.
    pub fn schema(&self) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (name, argument) in &self.arguments {
            properties.insert(name.clone(), with_types(argument.schema));
            if argument.is_required {
                required.push(Value::from(name.as_str()));
            }
        }
        let mut schema = Map::new();
        if let Some(dialect) = self.schema.get("$schema") {
            schema.insert("$schema".to_owned(), dialect.clone());
        }
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        schema.insert("additionalProperties".to_owned(), false.into());
        if let Some(definitions) = self.schema.get("$defs").and_then(Value::as_object) {
            schema.insert("$defs".to_owned(), all_with_types(definitions));
        }
        schema.into()
    }

    /// Maps arguments back to the input, as JSON.
    pub fn input(&self, values: &BTreeMap<String, &RawValue>) -> Result<String, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut locations: BTreeMap<&str, BTreeMap<&str, &RawValue>> = BTreeMap::new();
        let mut whole_body = None;
        if self.needs_body {
            locations.entry(BODY).or_default();
        }
        for (name, value) in values {
            match self.arguments.get(name) {
                Some(Argument { location, name: Some(own), .. }) => {
                    locations.entry(location).or_default().insert(own, value);
                }
                Some(Argument { name: None, .. }) => whole_body = Some(*value),
                None => {
                    let known = self.arguments.keys().map(String::as_str);
                    let suggestion = nearest(name, known, 1).pop();
                    let did_you_mean =
                        suggestion.as_ref().map(|name| format!("; did you mean `{name}`?"));
                    let message = format!("is unknown{}", did_you_mean.unwrap_or_default());
                    faults.push(Fault { pointer: pointer(name), message, suggestion });
                }
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut input: BTreeMap<&str, Box<RawValue>> = BTreeMap::new();
        for (location, members) in locations {
            let text = json::text(&members);
            input.insert(location, RawValue::from_string(text).unwrap_or_default());
        }
        if let Some(body) = whole_body {
            input.insert(BODY, body.to_owned());
        }
        Ok(json::text(&input))
    }

    /// Maps the pointer of a fault in the input to the arguments.
    pub fn pointer(&self, input_pointer: &str) -> String {
        let mut steps = input_pointer.splitn(4, '/').skip(1);
        let (location, name, rest) = (steps.next().unwrap_or_default(), steps.next(), steps.next());
        let name = name.map(|name| name.replace("~1", "/").replace("~0", "~"));
        for (flat, argument) in &self.arguments {
            if argument.location != location {
                continue;
            }
            if argument.name.is_none() {
                return input_pointer.replacen("/body", &pointer(flat), 1);
            }
            if argument.name == name.as_deref() {
                let rest = rest.map(|rest| format!("/{rest}")).unwrap_or_default();
                return pointer(flat) + &rest;
            }
        }
        "/arguments".to_owned()
    }
}

fn pointer(name: &str) -> String {
    format!("/arguments/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Assigns flat names: the original name if possible, prefixed with the location if it occurs in
/// several locations, with invalid characters replaced, and with a number appended if the name is
/// taken.
fn name_arguments<'s>(arguments: &[Argument<'s>]) -> BTreeMap<String, Argument<'s>> {
    let mut locations: BTreeMap<&str, usize> = BTreeMap::new();
    for argument in arguments {
        let occurs = locations.entry(argument.name()).or_default();
        *occurs = occurs.saturating_add(1);
    }
    let is_own = |argument: &&Argument<'_>| {
        let name = argument.name();
        is_allowed(name) && locations.get(name) == Some(&1)
    };
    let mut named: BTreeMap<String, Argument<'s>> = by_insertion(
        arguments.iter().filter(is_own).map(|argument| (argument.name().to_owned(), *argument)),
    );
    for argument in arguments.iter().filter(|argument| !is_own(argument)) {
        let clean = replace_invalid(argument.name());
        let prefixed = cut(format!("{}_{clean}", argument.location), MAX_NAME_BYTES);
        let occurs_once = locations.get(argument.name()) == Some(&1);
        let first = if occurs_once && !clean.is_empty() { clean } else { prefixed.clone() };
        let numbered = (2_u32..).map(|number| {
            let end = format!("_{number}");
            cut(prefixed.clone(), MAX_NAME_BYTES.saturating_sub(end.len())) + &end
        });
        let mut candidates = [first, prefixed.clone()].into_iter().chain(numbered);
        if let Some(name) = candidates.find(|name| !named.contains_key(name)) {
            named.insert(name, *argument);
        }
    }
    named
}

fn is_allowed(name: &str) -> bool {
    let is_name_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_name_byte)
}

/// Replaces the invalid characters of a name. The result may be empty.
fn replace_invalid(name: &str) -> String {
    if is_allowed(name) {
        return name.to_owned();
    }
    let mut clean = String::new();
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-') {
            clean.push(letter);
        } else if !clean.ends_with('_') {
            clean.push('_');
        }
    }
    cut(clean.trim_matches('_').to_owned(), MAX_NAME_BYTES)
}

/// Truncates an ASCII name.
fn cut(mut name: String, max: usize) -> String {
    name.truncate(max);
    name
}

/// Adds a `type` to each schema, and `items` to each list: many models reject schemas without them.
fn with_types(schema: &Value) -> Value {
    let Value::Object(own) = schema else {
        let allows_anything = *schema == Value::Bool(true);
        return if allows_anything { json!({"type": ANY, "items": {}}) } else { schema.clone() };
    };
    let each = |(key, value): (&String, &Value)| {
        let value = match (key.as_str(), value) {
            (
                "properties" | "patternProperties" | "dependentSchemas" | "$defs",
                Value::Object(all),
            ) => all_with_types(all),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(all)) => {
                all.iter().map(with_types).collect()
            }
            ("items" | "additionalProperties" | "contains", Value::Object(all))
                if !all.is_empty() =>
            {
                with_types(value)
            }
            _ => value.clone(),
        };
        (key.clone(), value)
    };
    let mut typed: Map<String, Value> = by_insertion(own.iter().map(each));
    if !own.contains_key("type")
        && let Some(kind) = implied_types(own)
    {
        typed.insert("type".to_owned(), kind);
    }
    let is_list = typed.get("type").is_some_and(|kind| {
        kind == "array"
            || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "array"))
    });
    if is_list && !typed.contains_key("items") {
        typed.insert("items".to_owned(), json!({}));
    }
    typed.into()
}

fn all_with_types(schemas: &Map<String, Value>) -> Value {
    let typed = schemas.iter().map(|(name, schema)| (name.clone(), with_types(schema)));
    Value::Object(by_insertion(typed))
}

/// The types that the keywords of a schema imply. Returns `None` if other schemas restrict them.
fn implied_types(own: &Map<String, Value>) -> Option<Value> {
    let has = |keys: &[&str]| keys.iter().any(|key| own.contains_key(*key));
    let values = match (own.get("enum").and_then(Value::as_array), own.get("const")) {
        (Some(values), _) => Some(values.as_slice()),
        (None, value) => value.map(std::slice::from_ref),
    };
    if let Some(values) = values {
        let type_of = |value: &Value| match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let kinds: BTreeSet<&str> = by_insertion(values.iter().map(type_of));
        return match kinds.first() {
            Some(kind) if kinds.len() == 1 => Some(Value::from(*kind)),
            Some(_) => Some(json!(kinds)),
            None => None,
        };
    }
    if has(&["properties", "additionalProperties", "patternProperties", "required"]) {
        return Some("object".into());
    }
    if has(&["items", "prefixItems"]) {
        return Some("array".into());
    }
    let is_restricted_elsewhere = has(&["$ref", "allOf", "anyOf", "oneOf", "not"]);
    (!is_restricted_elsewhere).then(|| json!(ANY))
}
