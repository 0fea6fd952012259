//! Corrects the input of clients that write values as strings, null or an empty string for omitted
//! values, a number instead of a string, or a single item instead of a list. A string is parsed as JSON where the schema does not
//! allow a string, but allows the parsed value. A member that is null or empty is dropped where the
//! schema neither requires nor allows it. MCP clients send lists, objects, numbers and optional
//! values in these forms.
//!
//! An empty string is dropped only from input of requests that read: a `DELETE` without a filter that
//! the client meant to send would delete more.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::schema::{MAX_LEVELS, MAX_STEPS};
use crate::terms::Method;
use crate::util::collect::by_insertion;

/// The maximum number of schemas that a value is compared with.
const MAX_SCHEMAS: usize = 200;

/// Replaces strings with the values that the schema expects. Keeps a string that matches no schema, and all values
/// beyond the limits of depth and steps, which the validation shares.
pub fn coerce(schema: &Value, input: Value, method: Method) -> Value {
    InputCoercion::new(schema, method).value(&[schema], input, Level::default())
}

struct InputCoercion<'s> {
    root: &'s Value,
    /// Whether an empty string can stand for an omitted value.
    drops_empty: bool,
    /// The number of schemas that values were compared with.
    steps: Cell<usize>,
}

/// The location of a value in the input.
#[derive(Clone, Copy, Default)]
struct Level {
    depth: u32,
    /// Whether the value has been wrapped into a list.
    is_wrapped: bool,
}

/// The schemas that may apply to a value, with combinations and references resolved.
#[derive(Default)]
struct Leaves<'s> {
    schemas: Vec<&'s Map<String, Value>>,
    /// Whether one of the alternatives allows any value.
    allow_anything: bool,
}

impl<'s> InputCoercion<'s> {
    const fn new(root: &'s Value, method: Method) -> Self {
        Self { root, drops_empty: matches!(method, Method::Get), steps: Cell::new(0) }
    }

    /// Counts steps. Returns whether the limit is reached.
    fn count_steps(&self, steps: usize) -> bool {
        self.steps.set(self.steps.get().saturating_add(steps));
        self.steps.get() > MAX_STEPS
    }

    /// The schemas that may apply to a value; `None` beyond the limit of steps.
    fn leaves(&self, schemas: &[&'s Value]) -> Option<Leaves<'s>> {
        let mut leaves = Leaves::default();
        for schema in schemas {
            self.collect_leaves(schema, false, &mut leaves);
        }
        (!self.count_steps(1)).then_some(leaves)
    }

    fn value(&self, schemas: &[&'s Value], value: Value, level: Level) -> Value {
        let Some(leaves) = self.leaves(schemas).filter(|_| level.depth < MAX_LEVELS) else {
            return value;
        };
        let value = match value {
            Value::String(text) => parse_text(&leaves, text),
            // An id, such as 7, where the platform expects the string "7".
            Value::Number(number) if !number.is_f64() && allows_only(&leaves, "string") => {
                Value::String(number.to_string())
            }
            other => other,
        };
        let wraps = !level.is_wrapped && is_only_item(&leaves, &value);
        let value = if wraps { Value::Array(vec![value]) } else { value };
        let level = Level { depth: level.depth.saturating_add(1), is_wrapped: wraps };
        match value {
            Value::Object(members) => {
                let member = |(name, value): (String, Value)| {
                    if self.count_steps(leaves.schemas.len()) {
                        return Some((name, value));
                    }
                    let schemas = member_schemas(&leaves, &name);
                    if !is_required(&leaves, &name) && self.is_absent(&schemas, &value) {
                        return None;
                    }
                    Some((name, self.value(&schemas, value, level)))
                };
                Value::Object(by_insertion(members.into_iter().filter_map(member)))
            }
            Value::Array(items) => {
                let item = |(index, item)| {
                    if self.count_steps(leaves.schemas.len()) {
                        return item;
                    }
                    self.value(&item_schemas(&leaves, index), item, level)
                };
                Value::Array(items.into_iter().enumerate().map(item).collect())
            }
            other => other,
        }
    }

    /// Whether a value is null, the string `null` or an empty string, although the schemas do not
    /// allow its type.
    fn is_absent(&self, schemas: &[&'s Value], value: &Value) -> bool {
        let is_null = |text: &str| text.trim() == "null";
        let is_blank = value.is_null()
            || value.as_str().is_some_and(is_null)
            || self.drops_empty && is_empty(value);
        if !is_blank {
            return false;
        }
        let Some(leaves) = self.leaves(schemas) else { return false };
        let allowed: Vec<&str> = leaves.schemas.iter().flat_map(|schema| types(schema)).collect();
        let kind = if value.is_null() { "null" } else { "string" };
        !leaves.allow_anything
            && !allowed.is_empty()
            && !allowed.contains(&"null")
            && !allowed.contains(&kind)
    }

    fn collect_leaves(&self, schema: &'s Value, is_alternative: bool, leaves: &mut Leaves<'s>) {
        if self.count_steps(1) || leaves.schemas.len() >= MAX_SCHEMAS {
            return;
        }
        let Value::Object(map) = schema else {
            leaves.allow_anything |= is_alternative && *schema == Value::Bool(true);
            return;
        };
        leaves.schemas.push(map);
        let target = map.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|reference| self.root.pointer(reference.strip_prefix('#')?));
        if let Some(target) = target {
            self.collect_leaves(target, is_alternative, leaves);
        }
        let list = |key: &str| map.get(key).and_then(Value::as_array).into_iter().flatten();
        for schema in list("allOf") {
            self.collect_leaves(schema, false, leaves);
        }
        let mut has_alternatives = false;
        for schema in list("anyOf").chain(list("oneOf")) {
            has_alternatives = true;
            self.collect_leaves(schema, true, leaves);
        }
        let has_restriction = target.is_some() || has_alternatives || map.contains_key("allOf");
        leaves.allow_anything |= is_alternative && !has_restriction && types(map).is_empty();
    }
}

/// The types that a schema allows; empty if it does not restrict them.
fn types(schema: &Map<String, Value>) -> Vec<&str> {
    let type_of = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    match (schema.get("type"), schema.get("enum"), schema.get("const")) {
        (Some(Value::String(kind)), ..) => vec![kind],
        (Some(Value::Array(kinds)), ..) => kinds.iter().filter_map(Value::as_str).collect(),
        (_, Some(Value::Array(values)), _) => values.iter().map(type_of).collect(),
        (.., Some(value)) => vec![type_of(value)],
        _ if schema.contains_key("properties") => vec!["object"],
        _ if schema.contains_key("items") => vec!["array"],
        _ => Vec::new(),
    }
}

/// Parses the value in a string, if the schemas allow the value but no string.
fn parse_text(leaves: &Leaves<'_>, text: String) -> Value {
    let allowed: Vec<&str> = leaves.schemas.iter().flat_map(|schema| types(schema)).collect();
    if leaves.allow_anything || allowed.is_empty() || allowed.contains(&"string") {
        return Value::String(text);
    }
    let trimmed = text.trim();
    let lower = trimmed.to_ascii_lowercase();
    // Some languages, such as Python, capitalize these words.
    let json = if matches!(lower.as_str(), "true" | "false") { lower.as_str() } else { trimmed };
    let Ok(value) = serde_json::from_str::<Value>(json) else { return Value::String(text) };
    let fits = match &value {
        Value::Null => allowed.contains(&"null"),
        Value::Bool(_) => allowed.contains(&"boolean"),
        Value::Array(_) => allowed.contains(&"array"),
        Value::Object(_) => allowed.contains(&"object"),
        Value::String(_) => false,
        Value::Number(number) => {
            let is_whole = number.as_f64().is_some_and(|number| number.fract() == 0.0);
            // Leave a number that would lose digits as a string, which is then rejected.
            let is_exact = !number.is_f64() || json.len() <= 15 || json.contains(['.', 'e', 'E']);
            is_exact && (allowed.contains(&"number") || (is_whole && allowed.contains(&"integer")))
        }
    };
    if fits { value } else { Value::String(text) }
}

fn is_empty(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// Whether the value should be wrapped in a list: the schemas allow only lists, and the value is
/// neither a list nor null.
fn is_only_item(leaves: &Leaves<'_>, value: &Value) -> bool {
    !value.is_array() && !value.is_null() && !is_empty(value) && allows_only(leaves, "array")
}

/// Whether the schemas allow values of one type only.
fn allows_only(leaves: &Leaves<'_>, kind: &str) -> bool {
    let mut allowed = leaves.schemas.iter().flat_map(|schema| types(schema)).peekable();
    !leaves.allow_anything && allowed.peek().is_some() && allowed.all(|allowed| allowed == kind)
}

fn is_required(leaves: &Leaves<'_>, name: &str) -> bool {
    let required = leaves.schemas.iter().filter_map(|schema| schema.get("required")?.as_array());
    required.flatten().any(|required| required == name)
}

fn member_schemas<'s>(leaves: &Leaves<'s>, name: &str) -> Vec<&'s Value> {
    let member_schema = |schema: &&'s Map<String, Value>| schema.get("properties")?.get(name);
    let coerced_value: Vec<&Value> = leaves.schemas.iter().filter_map(member_schema).collect();
    if !coerced_value.is_empty() {
        return coerced_value;
    }
    leaves.schemas.iter().filter_map(|schema| schema.get("additionalProperties")).collect()
}

fn item_schemas<'s>(leaves: &Leaves<'s>, index: usize) -> Vec<&'s Value> {
    let item_schema = |schema: &&'s Map<String, Value>| {
        let first = schema.get("prefixItems").and_then(Value::as_array);
        first.and_then(|first| first.get(index)).or_else(|| schema.get("items"))
    };
    leaves.schemas.iter().filter_map(item_schema).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{InputCoercion, Level, MAX_STEPS, coerce};
    use crate::terms::Method;

    #[test]
    #[rustfmt::skip] // one case per line
    fn strings_are_parsed_if_the_schema_allows_their_content_but_no_string() {
        for (schema, given, expected) in [
            (json!({"type": "integer"}), json!("5"), json!(5)),
            (json!({"type": "integer"}), json!(" 5 "), json!(5)),
            (json!({"type": "integer"}), json!("5.5"), json!("5.5")),
            (json!({"type": "integer"}), json!("9007199254740993"), json!(9_007_199_254_740_993_u64)),
            (json!({"type": "integer"}), json!("123456789012345678901234567890"), json!("123456789012345678901234567890")),
            (json!({"type": "integer"}), json!("five"), json!("five")),
            (json!({"type": "array", "items": {"type": "integer"}}), json!("[1, 2]"), json!([1, 2])),
            (json!({"type": "array", "items": {"type": "integer"}}), json!("1"), json!([1])),
            (json!({"type": "array", "items": {"type": "string"}}), json!("urgent"), json!(["urgent"])),
            (json!({"type": "array", "items": {"type": "object"}}), json!({"id": 1}), json!([{"id": 1}])),
            (json!({"type": "array"}), json!(null), json!(null)),
            (json!({"type": "array", "items": {"type": "string"}}), json!(""), json!("")),
            (json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}), json!("1"), json!(["1"])),
            (json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}), json!("[\"1\"]"), json!([[1]])),
            (json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}), json!(["1"]), json!([[1]])),
            (json!({"type": ["array", "string"]}), json!("urgent"), json!("urgent")),
            (json!({"properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}), json!({"n": "", "s": ""}), json!({"s": ""})),
            (json!({"properties": {"n": {"type": "integer"}}, "required": ["n"]}), json!({"n": " "}), json!({"n": " "})),
            (json!({"type": "number"}), json!("-1.5e3"), json!(-1.5e3)),
            (json!({"type": "boolean"}), json!("false"), json!(false)),
            (json!({"type": "boolean"}), json!("True"), json!(true)),
            (json!({"type": "boolean"}), json!("yes"), json!("yes")),
            (json!({"type": ["integer", "null"]}), json!("null"), json!(null)),
            (json!({"type": "string"}), json!("5"), json!("5")),
            (json!({"type": "string"}), json!(5), json!("5")),
            (json!({"type": "string"}), json!(1.5), json!(1.5)),
            (json!({"type": "string"}), json!(true), json!(true)),
            (json!({"type": ["string", "integer"]}), json!(5), json!(5)),
            (json!({"type": "array", "items": {"type": "string"}}), json!(5), json!(["5"])),
            (json!({"type": ["string", "integer"]}), json!("5"), json!("5")),
            (json!({}), json!("5"), json!("5")),
            (json!(true), json!("{}"), json!("{}")),
            (json!({"enum": [1, 2]}), json!("2"), json!(2)),
            (json!({"enum": ["1", 2]}), json!("2"), json!("2")),
            (json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), json!("2"), json!(2)),
            (json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}), json!("2"), json!("2")),
            (json!({"anyOf": [{"type": "integer"}, {}]}), json!("2"), json!("2")),
            (json!({"allOf": [{"type": "integer"}, {"description": "x"}]}), json!("2"), json!(2)),
            (json!({"type": "array", "items": {"type": "integer"}}), json!("[1, \"2\"]"), json!([1, 2])),
            (json!({"type": "array", "items": {"type": "string"}}), json!(["1"]), json!(["1"])),
            (json!({"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "boolean"}}), json!(["1", "true"]), json!([1, true])),
            (json!({"properties": {"a": {"type": "integer"}}}), json!("{\"a\": \"1\"}"), json!({"a": 1})),
            (json!({"additionalProperties": {"type": "integer"}}), json!({"a": "1"}), json!({"a": 1})),
            (json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}}), json!({"a": "1", "b": "1"}), json!({"a": "1", "b": 1})),
            (json!({"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}, "v": {"type": "integer"}}}}}), json!({"n": "{\"v\": \"1\"}"}), json!({"n": {"v": 1}})),
            (json!({"$ref": "#"}), json!("1"), json!("1")),
            (json!({"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}), json!({"a": null, "b": null}), json!({})),
            (json!({"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}), json!({"a": "null", "b": "null"}), json!({"b": "null"})),
            (json!({"properties": {"a": {"type": "integer"}}, "required": ["a"]}), json!({"a": null}), json!({"a": null})),
            (json!({"properties": {"a": {"type": ["integer", "null"]}, "b": {}}}), json!({"a": null, "b": null}), json!({"a": null, "b": null})),
            (json!({"properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}), json!({"a": "null"}), json!({"a": null})),
            (json!({"properties": {"a": {"enum": [1, null]}}}), json!({"a": null}), json!({"a": null})),
            (json!({"additionalProperties": {"type": "integer"}}), json!({"a": null}), json!({})),
            (json!({"type": "array", "items": {"type": "integer"}}), json!([null, 1]), json!([null, 1])),
            (json!({"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "boolean"}}}]}), json!({"a": "1", "b": "true"}), json!({"a": 1, "b": true})),
        ] {
            assert_eq!(coerce(&schema, given.clone(), Method::Get), expected, "{schema} {given}");
        }
    }

    #[test]
    fn empty_strings_are_dropped_only_from_requests_that_read() {
        let schema = json!({"properties": {"a": {"type": "integer"}, "l": {"type": "array"}}});
        let input = json!({"a": "", "l": " "});
        for (method, expected) in [
            (Method::Get, json!({})),
            (Method::Post, input.clone()),
            (Method::Delete, input.clone()),
        ] {
            assert_eq!(coerce(&schema, input.clone(), method), expected, "{method:?}");
        }
        let nulls = json!({"a": null, "l": "null"});
        assert_eq!(coerce(&schema, nulls, Method::Delete), json!({}));
    }

    #[test]
    fn an_item_of_a_list_of_itself_is_wrapped_once() {
        let nest = json!({"type": "array", "items": {"$ref": "#/$defs/nest"}});
        let other = json!({"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/nest"}, {"$ref": "#/$defs/other"}]}});
        for schema in [
            json!({"$ref": "#/$defs/nest", "$defs": {"nest": nest}}),
            json!({
                "anyOf": [{"$ref": "#/$defs/nest"}, {"$ref": "#/$defs/other"}],
                "$defs": {"nest": nest, "other": other},
            }),
        ] {
            for input in [json!("hello"), json!(5), json!({"a": 1})] {
                let wrapped = json!([input]);
                assert_eq!(coerce(&schema, input, Method::Post), wrapped, "{schema}");
            }
            for (depth, expected) in [(99, json!([])), (100, json!("[]"))] {
                let nested = (0..depth).fold(json!("[]"), |value, _| json!([value]));
                let mut found = &coerce(&schema, nested, Method::Post);
                for _ in 0..depth {
                    found = &found[0];
                }
                assert_eq!(*found, expected, "{depth} {schema}");
            }
        }
    }

    #[test]
    fn the_number_of_steps_is_limited() {
        let alternatives = |count: usize, schema: &serde_json::Value| vec![schema.clone(); count];
        let objects = alternatives(199, &json!({"properties": {"a": {"type": "integer"}}}));
        let integers = alternatives(199, &json!({"type": "integer"}));
        let inner = alternatives(50, &json!({"type": "integer"}));
        let lists = alternatives(60, &json!({"type": "array", "items": {"anyOf": inner}}));
        let list_of = |items: serde_json::Value| json!({"type": "array", "items": items});
        for (schema, input, coerced) in [
            (list_of(json!({"anyOf": objects})), vec![json!({"a": "1"}); 7_000], json!({"a": 1})),
            (list_of(json!({"anyOf": integers})), vec![json!("1"); 14_000], json!(1)),
            (json!({"oneOf": lists}), vec![json!("1"); 12_000], json!(1)),
        ] {
            let coercion = InputCoercion::new(&schema, Method::Get);
            let given = json!(input);
            let found = coercion.value(&[&schema], given.clone(), Level::default());
            // Beyond the limit, only the schemas of the list itself are counted for each item.
            let limit = MAX_STEPS + 1_000 + input.len() * 61;
            assert!(coercion.steps.get() <= limit, "{}", coercion.steps.get());
            assert_eq!(found[0], coerced);
            assert_eq!(found.as_array().unwrap().last(), input.last(), "{schema}");
            assert_eq!(found.as_array().unwrap().len(), input.len());
        }
    }
}
