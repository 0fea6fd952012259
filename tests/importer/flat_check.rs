//! Checks properties of the flat form of inputs.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "test helpers fail by panicking too"
)]

use std::collections::{BTreeMap, BTreeSet};

use connector_vault::catalog::action::render::render;
use connector_vault::catalog::action::unit::{Unit, inflate};
use connector_vault::catalog::write::Platform;
use connector_vault::mcp::outline::{MAX_BYTES, outline};
use connector_vault::platform_calls::flat::FlatInput;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// The number of actions or arguments to which each rule of the flat form applies.
#[derive(Debug, Default)]
pub struct FlatFormCounts {
    pub actions: usize,
    pub arguments: usize,
    pub renamed: usize,
    pub prefixed: usize,
    pub spread: usize,
    pub whole: usize,
    /// Actions whose outline omits parts.
    pub cut: usize,
    /// The size of the longest outline, in bytes.
    pub longest: usize,
    /// Requested parts that are incomplete without a note on how to request the rest.
    pub dead_ends: usize,
}

/// Checks all actions of a platform.
pub fn check_all(platform: &Platform, counted: &mut FlatFormCounts) {
    let connector = serde_json::to_value(&platform.detail).unwrap();
    let connector = serde_json::from_value(connector).unwrap();
    for packed in &platform.units.units {
        let bytes = inflate(&packed.bytes).unwrap();
        let unit = Unit::open(&bytes).unwrap();
        for index in 0..unit.keys.len() {
            let key = String::from_utf8(unit.keys.get(index).to_vec()).unwrap();
            let action = unit.action(&key).unwrap();
            let name = &platform.connector.platform;
            let schemes = &platform.units.schemes;
            let json = render(&unit, &action, name, &connector, schemes, false).unwrap();
            let detail: Value = serde_json::from_slice(&json).unwrap();
            check(&format!("{name}/{key}"), &detail["input"], counted);
            check_outline(&format!("{name}/{key}"), detail, counted);
        }
    }
}

/// The maximum size of a description of an action, in tokens.
const MAX_TOKENS: usize = 3_000;
/// The maximum number of omitted parts that the check requests per outline.
const MAX_FOLLOWED: usize = 5;

/// Estimates the number of tokens in JSON, which has more than three bytes per token.
fn tokens(text: &str) -> usize {
    text.len().div_ceil(3)
}

/// Checks that the result of `describe_action` is short, in both forms, and explains how to request
/// omitted parts.
fn check_outline(what: &str, mut detail: Value, counted: &mut FlatFormCounts) {
    let shown = outline(&detail, None).unwrap();
    let text = shown.to_string();
    counted.longest = counted.longest.max(text.len());
    assert!(text.len() <= MAX_BYTES && tokens(&text) < MAX_TOKENS, "{what}: {}", text.len());
    let mut omitted = Vec::new();
    collect_omitted(&shown["input"], &mut omitted);
    counted.cut += usize::from(!omitted.is_empty());
    for path in omitted.iter().take(MAX_FOLLOWED) {
        let part = outline(&detail, Some(path)).unwrap();
        assert!(tokens(&part.to_string()) < MAX_TOKENS, "{what}: {path}");
        let mut deeper = Vec::new();
        collect_omitted(&part["input"], &mut deeper);
        counted.dead_ends +=
            usize::from(deeper.contains(path) && part["input"].get("omittedProperties").is_none());
    }
    detail["input"] = FlatInput::new(&detail["input"].clone()).schema();
    let flat = outline(&detail, None).unwrap().to_string();
    counted.longest = counted.longest.max(flat.len());
    assert!(tokens(&flat) < MAX_TOKENS, "{what}, flat: {}", flat.len());
}

/// Collects the values of `omitted` in a schema.
fn collect_omitted(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(path)
                        if name == "omitted" && (path.is_empty() || path.starts_with('/')) =>
                    {
                        found.push(path.clone());
                    }
                    value => collect_omitted(value, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|one| collect_omitted(one, found)),
        _ => {}
    }
}

/// Checks the flat form of an input.
pub fn check(what: &str, input: &Value, counted: &mut FlatFormCounts) {
    let flat = FlatInput::new(input);
    let schema = flat.schema();
    assert_eq!(schema["type"], "object", "{what}");
    for combination in ["anyOf", "oneOf", "allOf"] {
        assert!(schema.get(combination).is_none(), "{what}");
    }
    for_each_schema(&schema, &mut |schema| {
        let of_object = ["properties", "additionalProperties", "required"];
        if of_object.iter().any(|key| schema.get(*key).is_some()) {
            assert!(schema.get("type").is_some(), "{what}: {schema}");
        }
        if let Some(reference) = schema.get("$ref") {
            assert!(flat.schema().pointer(&reference.as_str().unwrap()[1..]).is_some(), "{what}");
        }
    });
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    for name in &names {
        let is_valid = |letter: char| letter.is_ascii_alphanumeric() || "_.-".contains(letter);
        assert!((1..=64).contains(&name.len()) && name.chars().all(is_valid), "{what}: {name}");
    }

    // With all arguments set, each value is sent at the location of its argument.
    let values: Vec<Box<RawValue>> = names.iter().map(|name| to_raw_value(name).unwrap()).collect();
    let all: BTreeMap<String, &RawValue> =
        names.iter().map(|name| (*name).clone()).zip(values.iter().map(|value| &**value)).collect();
    let mapped: Value = serde_json::from_str(&flat.input(&all).unwrap()).unwrap();
    let mut reached = BTreeMap::new();
    for (place, members) in mapped.as_object().unwrap() {
        match members {
            Value::Object(members) => {
                for (name, flat) in members {
                    reached.insert(
                        (place.clone(), Some(name.clone())),
                        flat.as_str().unwrap().to_owned(),
                    );
                }
            }
            flat => {
                reached.insert((place.clone(), None), flat.as_str().unwrap().to_owned());
            }
        }
    }
    let is_whole = reached.contains_key(&("body".to_owned(), None));
    let expected = locations(input, is_whole);
    assert_eq!(reached.keys().cloned().collect::<BTreeSet<_>>(), expected, "{what}");
    assert_eq!(reached.values().collect::<BTreeSet<_>>().len(), names.len(), "{what}");

    // A valid name that occurs in only one location stays unchanged. A name that occurs in several
    // locations gets the location as a prefix.
    let mut counts = BTreeMap::<&str, usize>::new();
    for (_, name) in &expected {
        *counts.entry(name.as_deref().unwrap_or("body")).or_default() += 1;
    }
    for ((place, name), flat_name) in &reached {
        let argument_name = name.as_deref().unwrap_or("body");
        let is_valid = |letter: char| letter.is_ascii_alphanumeric() || "_.-".contains(letter);
        let is_allowed =
            (1..=64).contains(&argument_name.len()) && argument_name.chars().all(is_valid);
        if counts[argument_name] > 1 {
            assert!(flat_name.starts_with(&format!("{place}_")), "{what}: {flat_name}");
            counted.prefixed += 1;
        } else if is_allowed {
            assert_eq!(flat_name, argument_name, "{what}");
        } else {
            counted.renamed += 1;
        }
        // An error points to the argument.
        let escaped = argument_name.replace('~', "~0").replace('/', "~1");
        let (pointer, rest) = match name {
            Some(_) => (format!("/{place}/{escaped}/0/x"), "/0/x"),
            None => ("/body/0/x".to_owned(), "/0/x"),
        };
        assert_eq!(flat.pointer(&pointer), format!("/arguments/{flat_name}{rest}"), "{what}");
        // With a single argument set, its value is sent at the same location.
        let value = to_raw_value(&json!([place, argument_name])).unwrap();
        let one = BTreeMap::from([(flat_name.clone(), &*value)]);
        let mapped: Value = serde_json::from_str(&flat.input(&one).unwrap()).unwrap();
        let found = match name {
            Some(name) => &mapped[place][name],
            None => &mapped[place],
        };
        assert_eq!(*found, json!([place, argument_name]), "{what}");
    }
    // An argument is required if its location requires it, unless the body is optional.
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for ((place, name), flat_name) in &reached {
        let is_listed = |object: &Value, name: &str| {
            object
                .get("required")
                .and_then(Value::as_array)
                .is_some_and(|all| all.iter().any(|one| one == name))
        };
        let is_needed = match (place.as_str(), name) {
            ("body", None) => is_listed(input, "body"),
            ("body", Some(name)) => is_listed(input, "body") && is_listed(body(input), name),
            (_, name) => is_listed(&input["properties"][place], name.as_deref().unwrap()),
        };
        let is_required = required.iter().any(|one| one == flat_name);
        assert_eq!(is_required, is_needed, "{what}: {flat_name}");
    }
    counted.actions += 1;
    counted.arguments += names.len();
    counted.spread += usize::from(!is_whole && input["properties"].get("body").is_some());
    counted.whole += usize::from(is_whole);
}

/// The body's schema, with references resolved.
fn body(input: &Value) -> &Value {
    let mut body = &input["properties"]["body"];
    while let Some(reference) = body.get("$ref").and_then(Value::as_str) {
        body = input.pointer(&reference[1..]).unwrap();
    }
    body
}

/// All locations of arguments.
fn locations(input: &Value, is_whole: bool) -> BTreeSet<(String, Option<String>)> {
    let mut locations = BTreeSet::new();
    for (place, schema) in input["properties"].as_object().unwrap() {
        let object = if place == "body" { body(input) } else { schema };
        match object.get("properties").and_then(Value::as_object) {
            Some(members) if place != "body" || !is_whole => {
                locations.extend(members.keys().map(|name| (place.clone(), Some(name.clone()))));
            }
            _ => {
                locations.insert((place.clone(), None));
            }
        }
    }
    locations
}

fn for_each_schema(schema: &Value, note: &mut dyn FnMut(&Value)) {
    note(schema);
    for key in ["properties", "$defs", "patternProperties"] {
        let members = schema.get(key).and_then(Value::as_object).into_iter().flatten();
        members.for_each(|(_, schema)| for_each_schema(schema, note));
    }
    for key in ["allOf", "anyOf", "oneOf", "prefixItems"] {
        let items = schema.get(key).and_then(Value::as_array).into_iter().flatten();
        items.for_each(|schema| for_each_schema(schema, note));
    }
    for key in ["items", "additionalProperties"] {
        if let Some(schema) = schema.get(key) {
            for_each_schema(schema, note);
        }
    }
}
