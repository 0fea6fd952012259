//! Checks a value against the JSON Schema of an action's input: the keywords that the catalog's schemas have, of draft
//! 2020-12. `format` and what describes media are not checked.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::patterns::is_match;
use crate::nearest::{nearest, shown};
use crate::ports::Patterns;

/// The most faults that are reported.
pub const MOST_FAULTS: usize = 100;
/// How deep schemas may lead into one another. What is deeper is not checked.
const MOST_LEVELS: u32 = 100;
/// The most schemas that are looked at. What is left then is not checked: the platform will do that.
const MOST_STEPS: u32 = 100_000;

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The JSON Pointer of the value at fault (RFC 6901).
    pub pointer: String,
    /// What is wrong, as the end of a sentence that begins with the value.
    pub what: String,
    /// What may have been meant.
    pub suggestion: Option<String>,
}

/// All that is wrong with a value, at most [`MOST_FAULTS`].
pub fn faults(schema: &Value, value: &Value, patterns: &impl Patterns) -> Vec<Fault> {
    let is_match = |pattern: &str, text: &str| is_match(patterns, pattern, text);
    let definitions = schema.get("$defs").and_then(Value::as_object);
    let mut check = Check { definitions, is_match: &is_match, faults: Vec::new(), steps: 0 };
    check.value(schema, value, &Pointer { parent: None, name: Name::Text("") }, 0);
    check.faults
}

struct Check<'s> {
    definitions: Option<&'s Map<String, Value>>,
    is_match: &'s dyn Fn(&str, &str) -> bool,
    faults: Vec<Fault>,
    steps: u32,
}

/// Where a value is. It becomes a text only when there is a fault.
struct Pointer<'p> {
    parent: Option<&'p Pointer<'p>>,
    name: Name<'p>,
}

#[derive(Clone, Copy)]
enum Name<'p> {
    Text(&'p str),
    Index(usize),
}

impl<'p> Pointer<'p> {
    fn member(&'p self, name: &'p str) -> Self {
        Self { parent: Some(self), name: Name::Text(name) }
    }

    fn item(&'p self, index: usize) -> Self {
        Self { parent: Some(self), name: Name::Index(index) }
    }

    fn text(&self) -> String {
        let Some(parent) = self.parent else { return String::new() };
        let mut text = parent.text();
        text.push('/');
        match self.name {
            Name::Text(name) => text.push_str(&name.replace('~', "~0").replace('/', "~1")),
            Name::Index(index) => text.push_str(&index.to_string()),
        }
        text
    }
}

impl Check<'_> {
    fn fault(&mut self, at: &Pointer<'_>, what: impl Into<String>) {
        self.suggest(at, what, None);
    }

    fn suggest(&mut self, at: &Pointer<'_>, what: impl Into<String>, suggestion: Option<String>) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(Fault { pointer: at.text(), what: what.into(), suggestion });
        }
    }

    /// The faults of a value by one schema, which are not reported.
    fn apart(&mut self, schema: &Value, value: &Value, at: &Pointer<'_>, level: u32) -> Vec<Fault> {
        let before = std::mem::take(&mut self.faults);
        self.value(schema, value, at, level);
        std::mem::replace(&mut self.faults, before)
    }

    fn is_valid(&mut self, schema: &Value, value: &Value, level: u32) -> bool {
        let nowhere = Pointer { parent: None, name: Name::Text("") };
        self.apart(schema, value, &nowhere, level).is_empty()
    }

    fn value(&mut self, schema: &Value, value: &Value, at: &Pointer<'_>, level: u32) {
        self.steps = self.steps.saturating_add(1);
        if level > MOST_LEVELS || self.steps > MOST_STEPS {
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
        if !self.kind(schema, value, at) {
            // Whatever else is wrong follows from that.
            return;
        }
        self.listed(schema, value, at);
        match value {
            Value::Number(number) => self.number(schema, number.as_f64().unwrap_or(0.0), at),
            Value::String(text) => self.text(schema, text, at),
            Value::Array(items) => self.items(schema, items, at, level),
            Value::Object(members) => self.members(schema, members, at, level),
            Value::Null | Value::Bool(_) => {}
        }
        self.combined(schema, value, at, level);
    }

    /// Whether the value has one of the schema's types.
    fn kind(&mut self, schema: &Map<String, Value>, value: &Value, at: &Pointer<'_>) -> bool {
        let kinds: Vec<&str> = match schema.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => return true,
        };
        let is = |kind: &&str| match *kind {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "object" => value.is_object(),
            "array" => value.is_array(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            _ => true,
        };
        let fits = kinds.iter().any(is);
        if !fits {
            let named = |kind: &&str| match *kind {
                "null" => "null",
                "boolean" => "true or false",
                "object" => "an object",
                "array" => "an array",
                "number" => "a number",
                "string" => "a string",
                _ => "a whole number",
            };
            let all: Vec<&str> = kinds.iter().map(named).collect();
            self.fault(at, format!("must be {}", all.join(" or ")));
        }
        fits
    }

    /// `enum` and `const`.
    fn listed(&mut self, schema: &Map<String, Value>, value: &Value, at: &Pointer<'_>) {
        if let Some(Value::Array(known)) = schema.get("enum")
            && !known.iter().any(|known| is_equal(known, value))
        {
            let names: Vec<&str> = known.iter().filter_map(Value::as_str).collect();
            let meant = value.as_str();
            let meant = meant.and_then(|text| nearest(text, names.iter().copied(), 1).pop());
            let few: Vec<String> = known.iter().take(20).map(Value::to_string).collect();
            let more = if known.len() > few.len() { ", …" } else { "" };
            self.suggest(at, format!("must be one of {}{more}", few.join(", ")), meant);
        }
        if let Some(only) = schema.get("const").filter(|only| !is_equal(only, value)) {
            self.fault(at, format!("must be {only}"));
        }
    }

    fn number(&mut self, schema: &Map<String, Value>, number: f64, at: &Pointer<'_>) {
        for (key, is_good, what) in [
            ("minimum", (|n, limit| n >= limit) as fn(f64, f64) -> bool, "at least"),
            ("maximum", |n, limit| n <= limit, "at most"),
            ("exclusiveMinimum", |n, limit| n > limit, "greater than"),
            ("exclusiveMaximum", |n, limit| n < limit, "less than"),
            ("multipleOf", |n, step| (n / step).fract() == 0.0, "a multiple of"),
        ] {
            let Some(limit) = schema.get(key) else { continue };
            if limit.as_f64().is_some_and(|limit| !is_good(number, limit)) {
                // As the schema writes it: code that writes any number would weigh 10 KB.
                self.fault(at, format!("must be {what} {limit}"));
            }
        }
    }

    fn text(&mut self, schema: &Map<String, Value>, text: &str, at: &Pointer<'_>) {
        self.count(schema, ["minLength", "maxLength"], text.chars().count(), "characters", at);
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
            && !(self.is_match)(pattern, text)
        {
            self.fault(at, format!("must match the pattern `{pattern}`"));
        }
    }

    /// Checks a count against a lower and an upper limit.
    fn count(
        &mut self,
        schema: &Map<String, Value>,
        [least, most]: [&str; 2],
        count: usize,
        of: &str,
        at: &Pointer<'_>,
    ) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
        if let Some(least) = limit(least).filter(|least| count < *least) {
            self.fault(at, format!("must have at least {least} {of}"));
        }
        if let Some(most) = limit(most).filter(|most| count > *most) {
            self.fault(at, format!("must have at most {most} {of}"));
        }
    }

    fn items(
        &mut self,
        schema: &Map<String, Value>,
        items: &[Value],
        at: &Pointer<'_>,
        level: u32,
    ) {
        self.count(schema, ["minItems", "maxItems"], items.len(), "items", at);
        let first = schema.get("prefixItems").and_then(Value::as_array);
        let first = first.map(Vec::as_slice).unwrap_or_default();
        for (nth, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(nth).or_else(|| schema.get("items")) {
                self.value(schema, item, &at.item(nth), level);
            }
        }
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            let is_repeated = |(nth, item): (usize, &Value)| {
                items.iter().take(nth).any(|earlier| is_equal(earlier, item))
            };
            if items.iter().take(1000).enumerate().any(is_repeated) {
                self.fault(at, "must not have the same item twice");
            }
        }
        if let Some(contained) = schema.get("contains") {
            let found = items.iter().filter(|item| self.is_valid(contained, item, level)).count();
            let found = u64::try_from(found).unwrap_or(u64::MAX);
            let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
            if found < limit("minContains").unwrap_or(1) {
                self.fault(at, "has too few items of the kind that it must contain");
            }
            if limit("maxContains").is_some_and(|most| found > most) {
                self.fault(at, "has too many items of the kind that it must contain");
            }
        }
    }

    fn members(
        &mut self,
        schema: &Map<String, Value>,
        members: &Map<String, Value>,
        at: &Pointer<'_>,
        level: u32,
    ) {
        self.count(schema, ["minProperties", "maxProperties"], members.len(), "members", at);
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(name) {
                self.fault(&at.member(name), "is required");
            }
        }
        let object = |key: &str| schema.get(key).and_then(Value::as_object);
        let (known, by_pattern) = (object("properties"), object("patternProperties"));
        let names = schema.get("propertyNames");
        let others = schema.get("additionalProperties");
        for (name, value) in members {
            let place = at.member(name);
            let own = known.and_then(|known| known.get(name));
            if let Some(own) = own {
                self.value(own, value, &place, level);
            }
            let mut is_known = own.is_some();
            for (pattern, schema) in by_pattern.into_iter().flatten() {
                if (self.is_match)(pattern, name) {
                    is_known = true;
                    self.value(schema, value, &place, level);
                }
            }
            match others.filter(|_| !is_known) {
                Some(Value::Bool(false)) => self.unknown(name, known, &place),
                Some(schema) => self.value(schema, value, &place, level),
                None => {}
            }
            if let Some(schema) = names
                && !self.is_valid(schema, &Value::String(name.clone()), level)
            {
                self.fault(&place, "has a name that is not allowed");
            }
        }
        for (name, schema) in object("dependentSchemas").into_iter().flatten() {
            if members.contains_key(name) {
                self.value(schema, &Value::Object(members.clone()), at, level);
            }
        }
    }

    fn unknown(&mut self, name: &str, known: Option<&Map<String, Value>>, at: &Pointer<'_>) {
        let names = known.into_iter().flatten().map(|(name, _)| name.as_str());
        let meant = nearest(name, names, 1).pop();
        let hint = meant.as_ref().map(|name| format!("; did you mean `{}`?", shown(name)));
        self.suggest(at, format!("is unknown{}", hint.unwrap_or_default()), meant);
    }

    fn combined(
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
                let faults = self.apart(schema, value, at, level);
                let is_nearer = |known: &Vec<Fault>| is_nearer(&faults, known);
                if nearest.as_ref().is_none_or(is_nearer) {
                    nearest = Some(faults);
                }
            }
            // What is wrong by the alternative that was probably meant helps most.
            let room = MOST_FAULTS.saturating_sub(self.faults.len());
            self.faults.extend(nearest.unwrap_or_default().into_iter().take(room));
        }
        if let Some(not) = schema.get("not")
            && self.is_valid(not, value, level)
        {
            self.fault(at, "is of a kind that is not allowed");
        }
    }
}

/// Whether some faults lie deeper than others, so that their schema is the one that was probably meant; or are none.
fn is_nearer(faults: &[Fault], known: &[Fault]) -> bool {
    let depth = |faults: &[Fault]| {
        let depth = |fault: &Fault| fault.pointer.matches('/').count();
        faults.iter().map(depth).min().unwrap_or(usize::MAX)
    };
    match depth(faults).cmp(&depth(known)) {
        Ordering::Equal => faults.len() < known.len(),
        order => order == Ordering::Greater,
    }
}

/// Whether two values are the same by JSON Schema, for which `1` and `1.0` are.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other
                || one.as_f64().zip(other.as_f64()).is_some_and(|(a, b)| {
                    a.partial_cmp(&b) == Some(Ordering::Equal) && !is_exact(one, other)
                })
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(name, value): (&String, &Value)| {
                other.get(name).is_some_and(|other| is_equal(value, other))
            };
            one.len() == other.len() && one.iter().all(has)
        }
        _ => one == other,
    }
}

/// Whether both numbers are known exactly, so that they differ when they are written differently.
fn is_exact(one: &serde_json::Number, other: &serde_json::Number) -> bool {
    !one.is_f64() && !other.is_f64()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::faults;
    use crate::ports::Patterns;

    /// Knows what these tests need.
    struct Few;

    impl Patterns for Few {
        fn is_match(&self, pattern: &str, text: &str) -> bool {
            match pattern {
                "[\\s\\S]*(?:^a)[\\s\\S]*" => text.starts_with('a'),
                "[\\s\\S]*(?:b)[\\s\\S]*" => text.contains('b'),
                other => panic!("{other}"),
            }
        }
    }

    fn found(schema: &Value, value: &Value) -> Vec<(String, String)> {
        let faults = faults(schema, value, &Few).into_iter();
        faults.map(|fault| (fault.pointer, fault.what)).collect()
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a case each")]
    fn each_keyword_is_checked() {
        for (schema, good, bad, pointer, what) in [
            (json!({"type": "string"}), json!("x"), json!(1), "", "must be a string"),
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
                json!({"minLength": 2}),
                json!("éé"),
                json!("é"),
                "",
                "must have at least 2 characters",
            ),
            (
                json!({"maxLength": 1}),
                json!("é"),
                json!("ab"),
                "",
                "must have at most 1 characters",
            ),
            (json!({"pattern": "^a"}), json!("ab"), json!("ba"), "", "must match the pattern `^a`"),
            (json!({"minItems": 1}), json!([1]), json!([]), "", "must have at least 1 items"),
            (json!({"maxItems": 1}), json!([1]), json!([1, 2]), "", "must have at most 1 items"),
            (
                json!({"uniqueItems": true}),
                json!([1, "1"]),
                json!([1, 1.0]),
                "",
                "must not have the same item twice",
            ),
            (
                json!({"items": {"type": "null"}}),
                json!([null]),
                json!([null, 1]),
                "/1",
                "must be null",
            ),
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
                "must have at least 1 members",
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
                json!({"not": {"type": "null"}}),
                json!(1),
                json!(null),
                "",
                "is of a kind that is not allowed",
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
            (
                json!({"format": "email", "contentEncoding": "base64"}),
                json!("x"),
                json!("y"),
                "?",
                "",
            ),
        ] {
            let fault = vec![(pointer.to_owned(), what.to_owned())];
            match pointer {
                // Everything is valid.
                "?" => assert_eq!(found(&schema, &bad), [], "{schema}"),
                // Nothing is.
                "!" => assert_eq!(found(&schema, &good)[0].1, what),
                _ => {
                    assert_eq!(found(&schema, &good), [], "{schema} {good}");
                    assert_eq!(found(&schema, &bad), fault, "{schema} {bad}");
                }
            }
        }
    }

    #[test]
    fn schemas_that_lead_to_themselves_end() {
        let endless = json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}});
        assert_eq!(found(&endless, &json!(1)), []);
        let tree = json!({
            "$ref": "#/$defs/t",
            "$defs": {"t": {"type": "object", "properties": {"next": {"$ref": "#/$defs/t"}}, "additionalProperties": false}},
        });
        let fault = ("/next/next/x".to_owned(), "is unknown".to_owned());
        assert_eq!(found(&tree, &json!({"next": {"next": {"x": 1}}})), [fault]);
        // All faults are found at once, up to a limit.
        let many: Vec<Value> = (0..500).map(Value::from).collect();
        assert_eq!(found(&json!({"items": {"type": "string"}}), &json!(many)).len(), 100);
    }
}
