//! Creates the result of `describe_action`: the details of an action without repetitions, in at
//! most [`MAX_BYTES`]. Deeply nested optional parts are omitted; each is replaced by `omitted`, the
//! path with which an agent can request it.

use serde_json::{Map, Value};

/// The maximum length of an outline, in bytes. A token of JSON has more than three bytes on
/// average, so this is less than 3,000 tokens.
pub const MAX_BYTES: usize = 8_800;
/// The maximum length of the action's own description, in characters.
const MAX_DESCRIPTION: usize = 1_200;
/// The maximum length of a chain of references.
const MAX_REFERENCES: usize = 16;
/// Members of an action that repeat its `input`, or that an agent does not need to run the action.
const OMITTED_MEMBERS: [&str; 5] =
    ["auth", "modelName", "parameters", "requestBody", "responseTypes"];
/// Keywords of a schema that do not affect what to send.
const DROPPED_KEYWORDS: [&str; 8] =
    ["$comment", "$defs", "$ref", "$schema", "example", "examples", "externalDocs", "xml"];
/// The keywords with nested schemas: with an array of schemas, an object of schemas, and a single
/// schema.
const LIST_KEYWORDS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAP_KEYWORDS: [&str; 2] = ["patternProperties", "properties"];
const SCHEMA_KEYWORDS: [&str; 7] =
    ["additionalProperties", "contains", "else", "if", "items", "not", "then"];
const HINT: &str = "A part with `omitted` is not shown in full: to see it, call describe_action again with its value as `path`.";

/// Limits on the parts of a schema that the outline shows.
#[derive(Debug, Clone, Copy)]
struct DetailLimits {
    /// The maximum depth of optional parts.
    optional: usize,
    /// The maximum depth of all parts.
    levels: usize,
    /// The maximum length of a description, in characters.
    description: usize,
    /// The maximum number of values in an `enum`, alternatives of a combination, or members of an
    /// object.
    items: usize,
}

/// The limits to try, in this order, until the result is short enough.
const DETAIL_LIMITS: [DetailLimits; 15] = [
    DetailLimits { optional: 8, levels: 12, description: 400, items: 200 },
    DetailLimits { optional: 5, levels: 10, description: 300, items: 100 },
    DetailLimits { optional: 3, levels: 10, description: 200, items: 100 },
    DetailLimits { optional: 2, levels: 10, description: 200, items: 80 },
    DetailLimits { optional: 2, levels: 8, description: 100, items: 80 },
    DetailLimits { optional: 1, levels: 8, description: 160, items: 80 },
    DetailLimits { optional: 1, levels: 6, description: 80, items: 80 },
    DetailLimits { optional: 1, levels: 6, description: 30, items: 120 },
    DetailLimits { optional: 1, levels: 6, description: 0, items: 200 },
    DetailLimits { optional: 0, levels: 10, description: 100, items: 200 },
    DetailLimits { optional: 0, levels: 8, description: 20, items: 200 },
    DetailLimits { optional: 0, levels: 4, description: 40, items: 200 },
    DetailLimits { optional: 0, levels: 3, description: 0, items: 200 },
    DetailLimits { optional: 0, levels: 2, description: 0, items: 100 },
    DetailLimits { optional: 0, levels: 1, description: 0, items: 20 },
];

/// Outlines an action or, with a path, the part of its `input` at this path. Returns `None` if
/// there is no such part.
pub fn outline(action: &Value, path: Option<&str>) -> Option<Value> {
    let root = action.get("input")?;
    let part = schema_at(root, path.unwrap_or_default())?;
    let mut outline_members = Map::new();
    for (name, value) in action.as_object()? {
        let is_kept = path.is_none() || matches!(name.as_str(), "platform" | "key");
        if !is_kept || name == "input" || OMITTED_MEMBERS.contains(&name.as_str()) {
            continue;
        }
        let value = match value.as_str() {
            Some(text) => cut(text, MAX_DESCRIPTION).into(),
            None => value.clone(),
        };
        outline_members.insert(name.clone(), value);
    }
    if let Some(path) = path {
        outline_members.insert("path".to_owned(), path.into());
    }
    let mut shortest = Value::Object(outline_members.clone());
    for detail in DETAIL_LIMITS {
        let start = path.unwrap_or_default();
        let mut writer = Writer { root, start, detail, left: MAX_BYTES, has_omitted: false };
        let mut pointer = start.to_owned();
        let input = writer.schema(part, &mut pointer, detail.optional, detail.levels);
        if writer.left == 0 {
            continue;
        }
        let mut outlined = outline_members.clone();
        outlined.insert("input".to_owned(), input);
        if writer.has_omitted {
            outlined.insert("hint".to_owned(), HINT.into());
        }
        shortest = Value::Object(outlined);
        if shortest.to_string().len() <= MAX_BYTES {
            break;
        }
    }
    Some(shortest)
}

/// The part of a schema at a JSON Pointer. The pointer may pass through references.
fn schema_at<'s>(root: &'s Value, pointer: &str) -> Option<&'s Value> {
    let mut schema = resolve_references(root, root);
    if pointer.is_empty() {
        return Some(schema);
    }
    for token in pointer.strip_prefix('/')?.split('/') {
        let name = token.replace("~1", "/").replace("~0", "~");
        let next = match schema {
            Value::Array(all) => all.get(name.parse::<usize>().ok()?)?,
            _ => schema.get(&name)?,
        };
        schema = resolve_references(root, next);
    }
    Some(schema)
}

/// Follows the references of a schema.
fn resolve_references<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let mut schema = schema;
    for _ in 0..MAX_REFERENCES {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|text| root.pointer(text.strip_prefix('#')?));
        match target {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

/// Truncates a string to `max` characters.
fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default().trim_end()),
    }
}

struct Writer<'s> {
    root: &'s Value,
    /// The JSON Pointer of the outlined part.
    start: &'s str,
    detail: DetailLimits,
    /// The number of bytes that may still be written; 0 if the result is too long.
    left: usize,
    has_omitted: bool,
}

impl Writer<'_> {
    /// Copies a schema with up to `optional` levels of optional parts.
    fn schema(
        &mut self,
        schema: &Value,
        pointer: &mut String,
        optional: usize,
        levels: usize,
    ) -> Value {
        let target = resolve_references(self.root, schema);
        let (Some(own), Some(members)) = (schema.as_object(), target.as_object()) else {
            return target.clone();
        };
        let mut copy = Map::new();
        let is_reference = own.contains_key("$ref");
        let siblings = own.iter().filter(|_| is_reference);
        let (mut is_truncated, mut omitted_names) = (false, Vec::new());
        for (name, value) in members.iter().chain(siblings) {
            if DROPPED_KEYWORDS.contains(&name.as_str()) || name.starts_with("x-") {
                continue;
            }
            match self.keyword(name, value) {
                Keyword::Kept(value) => {
                    copy.insert(name.clone(), value);
                }
                Keyword::Dropped => {}
                Keyword::TooLong => is_truncated = true,
                Keyword::Nested if levels == 0 => is_truncated = true,
                Keyword::Nested => {
                    let (value, is_part, names) =
                        self.nested(target, (name, value), pointer, optional, levels);
                    is_truncated |= is_part;
                    omitted_names.extend(names);
                    copy.insert(name.clone(), value);
                }
            }
        }
        if is_truncated {
            self.has_omitted = true;
            copy.insert("omitted".to_owned(), pointer.as_str().into());
        }
        // The agent can append `/properties/` and one of these names to the path to request an
        // omitted property.
        if pointer.as_str() == self.start && !omitted_names.is_empty() {
            omitted_names.truncate(self.detail.items.saturating_mul(4));
            copy.insert("omittedProperties".to_owned(), omitted_names.into());
        }
        let written: usize = copy
            .iter()
            .filter(|(name, _)| !is_nested(name))
            .map(|(name, value)| name.len().saturating_add(value.to_string().len()))
            .fold(4, usize::saturating_add);
        self.left = self.left.saturating_sub(written);
        Value::Object(copy)
    }

    fn keyword(&self, name: &str, value: &Value) -> Keyword {
        let DetailLimits { description, items, .. } = self.detail;
        match (name, value) {
            ("description" | "title", Value::String(text)) => match description {
                0 => Keyword::Dropped,
                max => Keyword::Kept(cut(text, max).into()),
            },
            ("enum", Value::Array(all)) if all.len() > items => Keyword::TooLong,
            _ if is_nested(name) && (value.is_object() || value.is_array()) => Keyword::Nested,
            ("required" | "enum", _) => Keyword::Kept(value.clone()),
            _ if value.to_string().len() > 200 => Keyword::TooLong,
            _ => Keyword::Kept(value.clone()),
        }
    }

    /// Copies the schemas of a keyword. Also returns whether any were omitted, and the names of
    /// omitted properties.
    fn nested(
        &mut self,
        schema: &Value,
        (keyword, value): (&str, &Value),
        pointer: &mut String,
        optional: usize,
        levels: usize,
    ) -> (Value, bool, Vec<String>) {
        let length = pointer.len();
        let inner_levels = levels.saturating_sub(1);
        let (mut is_truncated, mut omitted_names) = (false, Vec::new());
        let mut step = |writer: &mut Self, name: Option<&str>, part: &Value, optional: usize| {
            for name in [Some(keyword), name].into_iter().flatten() {
                pointer.push('/');
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
            }
            let copy = if writer.left == 0 {
                Value::Null
            } else {
                writer.schema(part, pointer, optional, inner_levels)
            };
            pointer.truncate(length);
            copy
        };
        let copy = match value {
            Value::Array(all) => {
                let shown_parts = all.iter().enumerate().take(self.detail.items);
                is_truncated = all.len() > self.detail.items;
                shown_parts
                    .map(|(index, part)| step(self, Some(&index.to_string()), part, optional))
                    .collect()
            }
            Value::Object(all) if MAP_KEYWORDS.contains(&keyword) => {
                let required = schema.get("required").and_then(Value::as_array);
                let is_required = |name: &str| {
                    keyword == "properties"
                        && required.is_some_and(|all| all.iter().any(|one| one == name))
                };
                let mut copies = Map::new();
                let mut shown = 0_usize;
                for (name, part) in all {
                    if is_required(name) {
                        copies.insert(name.clone(), step(self, Some(name), part, optional));
                    } else if optional > 0 && shown < self.detail.items {
                        shown = shown.saturating_add(1);
                        let inner_optional = optional.saturating_sub(1);
                        copies.insert(name.clone(), step(self, Some(name), part, inner_optional));
                    } else {
                        is_truncated = true;
                        omitted_names.push(name.clone());
                    }
                }
                Value::Object(copies)
            }
            part => step(self, None, part, optional),
        };
        (copy, is_truncated, omitted_names)
    }
}

/// How the outline treats a keyword of a schema.
enum Keyword {
    Kept(Value),
    Dropped,
    /// The value is too long for the outline.
    TooLong,
    /// The keyword contains schemas.
    Nested,
}

fn is_nested(keyword: &str) -> bool {
    [&LIST_KEYWORDS[..], &MAP_KEYWORDS, &SCHEMA_KEYWORDS].iter().any(|all| all.contains(&keyword))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MAX_BYTES, outline};

    fn action(input: &Value) -> Value {
        json!({
            "title": "T", "key": "k", "platform": "acme", "method": "POST", "description": "D", "input": input,
            "requestBody": {"schema": {}}, "parameters": [], "auth": [],
        })
    }

    /// A schema with several levels of objects, each with 12 optional members and a required one.
    fn large(levels: usize) -> Value {
        let mut schema = json!({"type": "string", "description": "d".repeat(90)});
        for _ in 0..levels {
            let mut properties = serde_json::Map::new();
            for index in 0..12 {
                properties.insert(format!("member{index}"), schema.clone());
            }
            schema = json!({"type": "object", "properties": properties, "required": ["member3"]});
        }
        schema
    }

    #[test]
    fn a_short_action_is_shown_in_full_without_repetitions() {
        let input =
            json!({"type": "object", "properties": {"body": large(1)}, "required": ["body"]});
        let shown = outline(&action(&input), None).unwrap();
        assert_eq!(
            shown,
            json!({
                "title": "T", "key": "k", "platform": "acme", "method": "POST", "description": "D", "input": input,
            })
        );
    }

    #[test]
    fn deep_optional_parts_are_left_out_and_can_be_requested() {
        let action = action(
            &json!({"type": "object", "properties": {"body": large(4)}, "required": ["body"]}),
        );
        let shown = outline(&action, None).unwrap();
        assert!(shown.to_string().len() <= MAX_BYTES && shown["hint"].is_string());
        // Required parts are shown at all levels.
        let member = |at: &Value| at["properties"]["member3"].clone();
        let deepest =
            (0..4).fold(shown["input"]["properties"]["body"].clone(), |at, _| member(&at));
        assert_eq!(deepest["type"], "string", "{shown}");
        let path = "/properties/body/properties/member7/properties/member1";
        let part = outline(&action, Some(path)).unwrap();
        assert_eq!((&part["path"], &part["title"]), (&json!(path), &Value::Null));
        assert!(part["input"]["properties"]["member11"]["properties"].is_object(), "{part}");
        assert!(part.to_string().len() <= MAX_BYTES);
        for wrong in ["/properties/none", "x", "/properties/body/properties/member7/0", "/"] {
            assert_eq!(outline(&action, Some(wrong)), None, "{wrong}");
        }
    }

    #[test]
    fn outlines_recursive_schemas_on_demand() {
        let input = json!({
            "type": "object", "properties": {"body": {"$ref": "#/$defs/node"}},
            "$defs": {"node": {"type": "object", "description": "N".repeat(500), "properties": {
                "left": {"$ref": "#/$defs/node"}, "right": {"$ref": "#/$defs/node", "description": "R"},
            }}},
        });
        let action = action(&input);
        let mut path = String::from("/properties/body");
        for _ in 0..20 {
            let part = outline(&action, Some(&path)).unwrap();
            assert!(part.to_string().len() <= MAX_BYTES);
            assert_eq!(part["input"]["properties"]["right"]["description"], "R", "{part}");
            path.push_str("/properties/left");
        }
    }

    #[test]
    fn lists_omitted_properties_and_truncates_enums() {
        let mut properties = serde_json::Map::new();
        for index in 0..400 {
            properties.insert(
                format!("a{index}"),
                json!({"type": "object", "properties": {"x": {"description": "d".repeat(99)}}}),
            );
        }
        let values: Vec<String> = (0..900).map(|index| format!("value{index}")).collect();
        properties.insert("kind".into(), json!({"enum": values}));
        let action =
            action(&json!({"type": "object", "properties": {"body": {"properties": properties}}}));
        let part = outline(&action, Some("/properties/body")).unwrap();
        assert!(part.to_string().len() <= MAX_BYTES);
        let shown = part["input"]["properties"].as_object().unwrap();
        let named = part["input"]["omittedProperties"].as_array().map_or(&[][..], Vec::as_slice);
        assert_eq!(shown.len() + named.len(), 401, "{part}");
        let kind = outline(&action, Some("/properties/body/properties/kind")).unwrap();
        assert!(kind.to_string().len() <= MAX_BYTES);
    }
}
