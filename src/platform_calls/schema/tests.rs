//! Tests each keyword, and recursive schemas.

use serde_json::{Value, json};

use super::faults;
use crate::ports::Patterns;

/// Matches only the two patterns that these tests use, and panics for any other.
struct FewPatterns;

impl Patterns for FewPatterns {
    fn is_match(&self, pattern: &str, text: &str) -> bool {
        match pattern {
            "[\\s\\S]*(?:^a)[\\s\\S]*" => text.starts_with('a'),
            "[\\s\\S]*(?:b)[\\s\\S]*" => text.contains('b'),
            other => panic!("{other}"),
        }
    }
}

fn faults_of(schema: &Value, value: &Value) -> Vec<(String, String)> {
    let faults = faults(schema, value, &FewPatterns).into_iter();
    faults.map(|fault| (fault.pointer, fault.message)).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table with a case for each keyword")]
fn each_keyword_is_checked() {
    for (schema, valid_value, invalid_value, pointer, message) in [
        (json!({"type": "string"}), json!("x"), json!(1), "", "must be a string"),
        (json!({"type": "array"}), json!([]), json!({}), "", "must be an array"),
        (
            json!({"type": ["integer", "null"]}),
            json!(1.0),
            json!(1.5),
            "",
            "must be a whole number or null",
        ),
        (
            json!({"enum": ["open", "closed", 1]}),
            json!(1.0),
            json!("opne"),
            "",
            "must be one of \"open\", \"closed\", 1",
        ),
        (
            json!({"const": {"a": [1]}}),
            json!({"a": [1.0]}),
            json!({"a": [2]}),
            "",
            "must be {\"a\":[1]}",
        ),
        (json!({"minimum": 1}), json!(1), json!(0.5), "", "must be at least 1"),
        (json!({"maximum": 1}), json!(1), json!(2), "", "must be at most 1"),
        (json!({"exclusiveMinimum": 1}), json!(2), json!(1), "", "must be greater than 1"),
        (json!({"exclusiveMaximum": 1}), json!(0), json!(1), "", "must be less than 1"),
        (json!({"multipleOf": 0.5}), json!(1.5), json!(1.2), "", "must be a multiple of 0.5"),
        (
            json!({"multipleOf": 0.01}),
            json!(19.99),
            json!(19.995),
            "",
            "must be a multiple of 0.01",
        ),
        (json!({"multipleOf": 2}), json!(4), json!(3), "", "must be a multiple of 2"),
        (json!({"minLength": 2}), json!("éé"), json!("é"), "", "must have at least 2 characters"),
        (json!({"maxLength": 1}), json!("é"), json!("ab"), "", "must have at most 1 character"),
        (json!({"pattern": "^a"}), json!("ab"), json!("ba"), "", "must match the pattern `^a`"),
        (json!({"minItems": 1}), json!([1]), json!([]), "", "must have at least 1 item"),
        (json!({"maxItems": 1}), json!([1]), json!([1, 2]), "", "must have at most 1 item"),
        (
            json!({"uniqueItems": true}),
            json!([1, "1"]),
            json!([1, 1.0]),
            "",
            "must not have the same item twice",
        ),
        (json!({"items": {"type": "null"}}), json!([null]), json!([null, 1]), "/1", "must be null"),
        (
            json!({"prefixItems": [{"const": 1}], "items": false}),
            json!([1]),
            json!([1, 2]),
            "/1",
            "must be left out",
        ),
        (
            json!({"contains": {"const": 1}}),
            json!([2, 1]),
            json!([2]),
            "",
            "has too few items of the kind that it must contain",
        ),
        (
            json!({"contains": {"const": 1}, "maxContains": 1}),
            json!([1]),
            json!([1, 1]),
            "",
            "has too many items of the kind that it must contain",
        ),
        (json!({"contains": {"const": 1}, "minContains": 0}), json!([]), json!(null), "?", ""),
        (json!({"required": ["a/b"]}), json!({"a/b": null}), json!({}), "/a~1b", "is required"),
        (
            json!({"properties": {"a~": {"type": "object"}}}),
            json!({"b": 1}),
            json!({"a~": []}),
            "/a~0",
            "must be an object",
        ),
        (
            json!({"properties": {"label": {}}, "additionalProperties": false}),
            json!({"label": 1}),
            json!({"labl": 1}),
            "/labl",
            "is unknown; did you mean `label`?",
        ),
        (
            json!({"additionalProperties": {"type": "number"}}),
            json!({"x": 1}),
            json!({"x": "1"}),
            "/x",
            "must be a number",
        ),
        (
            json!({"patternProperties": {"^a": {"type": "boolean"}}, "additionalProperties": false}),
            json!({"ab": true}),
            json!({"ab": 1}),
            "/ab",
            "must be true or false",
        ),
        (
            json!({"propertyNames": {"pattern": "b"}}),
            json!({"b": 1}),
            json!({"c": 1}),
            "/c",
            "has a name that is not allowed",
        ),
        (
            json!({"minProperties": 1}),
            json!({"a": 1}),
            json!({}),
            "",
            "must have at least 1 member",
        ),
        (
            json!({"maxProperties": 0}),
            json!({}),
            json!({"a": 1}),
            "",
            "must have at most 0 members",
        ),
        (
            json!({"dependentSchemas": {"a": {"required": ["b"]}}}),
            json!({"a": 1, "b": 2}),
            json!({"a": 1}),
            "/b",
            "is required",
        ),
        (
            json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}),
            json!(1),
            json!(3),
            "",
            "must be at most 2",
        ),
        (
            json!({"anyOf": [{"type": "null"}, {"required": ["x"]}]}),
            json!(null),
            json!({}),
            "/x",
            "is required",
        ),
        (
            json!({"anyOf": [{"required": ["x"]}, {"type": "null"}]}),
            json!(null),
            json!({}),
            "/x",
            "is required",
        ),
        (
            json!({"anyOf": [{"required": ["x", "y"]}, {"required": ["z"]}, {"required": ["u", "v"]}, {"required": ["w"]}]}),
            json!({"x": 1, "y": 1}),
            json!({}),
            "/z",
            "is required",
        ),
        (
            json!({"not": {"type": "null"}}),
            json!(1),
            json!(null),
            "",
            "must not match the schema in `not`",
        ),
        (
            json!({"$ref": "#/$defs/d", "$defs": {"d": {"type": "string"}}}),
            json!("x"),
            json!(1),
            "",
            "must be a string",
        ),
        (json!({"$ref": "#/$defs/e"}), json!("x"), json!(1), "?", ""),
        (json!(true), json!(1), json!(1), "?", ""),
        (json!(false), json!(1), json!(1), "!", "must be left out"),
        (json!({"format": "email", "contentEncoding": "base64"}), json!("x"), json!("y"), "?", ""),
    ] {
        let fault = vec![(pointer.to_owned(), message.to_owned())];
        match pointer {
            // Both values are valid.
            "?" => assert_eq!(faults_of(&schema, &invalid_value), [], "{schema}"),
            // Both values are invalid.
            "!" => assert_eq!(faults_of(&schema, &valid_value)[0].1, message),
            _ => {
                assert_eq!(faults_of(&schema, &valid_value), [], "{schema} {valid_value}");
                assert_eq!(faults_of(&schema, &invalid_value), fault, "{schema} {invalid_value}");
            }
        }
    }
}

#[test]
fn equality_follows_the_specification() {
    for (one, other, is_equal) in [
        (json!(1), json!(1.0), true),
        (json!(1), json!(1.5), false),
        (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64), false),
        (json!("1"), json!(1), false),
        (json!([1, 2]), json!([1.0, 2]), true),
        (json!([1]), json!([1, 2]), false),
        (json!([1, 2]), json!([2, 1]), false),
        (json!({"a": 1}), json!({"a": 1.0}), true),
        (json!({"a": 1}), json!({"a": 1, "b": 2}), false),
        (json!({"a": 1}), json!({"b": 1}), false),
    ] {
        for (one, other) in [(&one, &other), (&other, &one)] {
            let faults = faults_of(&json!({"const": one}), other);
            assert_eq!(faults.is_empty(), is_equal, "{one} {other}");
        }
    }
}

#[test]
fn schemas_beyond_the_limits_are_not_checked() {
    for (levels, is_checked) in [(100, true), (101, false)] {
        let wrap = |schema, _| json!({"allOf": [schema]});
        let schema = (0..levels).fold(json!({"type": "string"}), wrap);
        assert_eq!(!faults_of(&schema, &json!(1)).is_empty(), is_checked, "{levels}");
    }
    // The list is one step, and so is each of its items.
    for (steps, is_checked) in [(100_000, true), (100_001, false)] {
        let mut items = vec![Value::Null; steps - 2];
        items.push(json!(1));
        let faults = faults_of(&json!({"items": {"type": "null"}}), &json!(items));
        assert_eq!(!faults.is_empty(), is_checked, "{steps}");
    }
}

#[test]
fn at_most_twenty_allowed_values_are_listed() {
    for (count, end) in [(20, "18, 19"), (21, "18, 19, …")] {
        let known: Vec<u32> = (0..count).collect();
        let faults = faults_of(&json!({"enum": known}), &json!("x"));
        assert!(faults[0].1.ends_with(end), "{faults:?}");
    }
}

#[test]
fn recursive_schemas_terminate() {
    let endless_schema = json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}});
    assert_eq!(faults_of(&endless_schema, &json!(1)), []);
    let tree = json!({
        "$ref": "#/$defs/t",
        "$defs": {"t": {"type": "object", "properties": {"next": {"$ref": "#/$defs/t"}}, "additionalProperties": false}},
    });
    let fault = ("/next/next/x".to_owned(), "is unknown".to_owned());
    assert_eq!(faults_of(&tree, &json!({"next": {"next": {"x": 1}}})), [fault]);
    // All faults are reported at once, up to a limit.
    let many: Vec<Value> = (0..500).map(Value::from).collect();
    assert_eq!(faults_of(&json!({"items": {"type": "string"}}), &json!(many)).len(), 100);
}
