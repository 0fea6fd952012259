//! Multipart forms. A file in a form is a base64 string, or an object with the base64 string, a
//! file name and a media type.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::definitions::Definitions;
use crate::catalog::action::stored::Encoding;
use crate::util::media_type::{essence, is_json};

/// The maximum nesting depth of `allOf`.
const MAX_DEPTH: u8 = 8;

/// Extends the schema of a form, so that files can have a name and a media type. Returns `None` if
/// the form has no file.
pub fn with_file_schemas<F>(
    schema: &Value,
    encoding: &BTreeMap<String, Encoding>,
    definitions: &mut Definitions<'_, F>,
) -> Option<Value> {
    let mut form = Map::new();
    let mut members = Members::default();
    gather(schema.clone(), definitions, &mut form, &mut members, 0);
    let mut has_file = false;
    for (name, schema) in &mut members.properties {
        let encoding = encoding.get(name);
        let Some(file_schema) = definitions.sources.resolved(schema.clone()) else { continue };
        let items =
            file_schema.get("items").and_then(|items| definitions.sources.resolved(items.clone()));
        if is_file(&file_schema, encoding) {
            *schema = file(file_schema, encoding);
        } else if let Some(items) = items.filter(|items| is_file(items, encoding)) {
            let mut list = file_schema;
            list.insert("items".to_owned(), file(items, encoding));
            *schema = Value::Object(list);
        } else {
            continue;
        }
        has_file = true;
    }
    form.remove("allOf");
    form.insert("properties".to_owned(), Value::Object(members.properties));
    form.insert("required".to_owned(), Value::Array(members.required));
    has_file.then_some(Value::Object(form))
}

#[derive(Default)]
struct Members {
    properties: Map<String, Value>,
    required: Vec<Value>,
}

/// Adds the keywords of a form to `form` and its members to `members`, including those in `allOf`.
fn gather<F>(
    schema: Value,
    definitions: &mut Definitions<'_, F>,
    form: &mut Map<String, Value>,
    members: &mut Members,
    depth: u8,
) {
    let Some(file_schema) = definitions.resolved(schema).filter(|_| depth <= MAX_DEPTH) else {
        return;
    };
    for (key, value) in file_schema {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => members.properties.extend(properties),
            ("required", Value::Array(names)) => {
                let known = &mut members.required;
                let new =
                    names.into_iter().filter(|name| !known.contains(name)).collect::<Vec<_>>();
                known.extend(new);
            }
            ("allOf", Value::Array(all)) => {
                for one in all {
                    gather(one, definitions, form, members, depth.saturating_add(1));
                }
            }
            (_, value) => drop(form.entry(key).or_insert(value)),
        }
    }
}

/// Whether a member is a file: binary, without a text encoding.
fn is_file(schema: &Map<String, Value>, encoding: Option<&Encoding>) -> bool {
    let has_keyword =
        |key: &str, value: &str| schema.get(key).and_then(Value::as_str) == Some(value);
    let is_string = match schema.get("type") {
        None => !["properties", "allOf", "anyOf", "oneOf", "items", "enum", "const"]
            .iter()
            .any(|key| schema.contains_key(*key)),
        Some(Value::Array(kinds)) => kinds.contains(&json!("string")),
        Some(kind) => kind == "string",
    };
    let is_binary = |media: &str| {
        let media = essence(media);
        !media.starts_with("text/") && !is_json(&media) && media != "application/xml"
    };
    let media = schema.get("contentMediaType").and_then(Value::as_str);
    let accepted = encoding.and_then(|encoding| encoding.content_type.as_deref());
    has_keyword("type", "file")
        || (is_string && has_keyword("format", "binary"))
        || (is_string
            && !schema.contains_key("contentEncoding")
            && !["format", "enum", "const"].iter().any(|key| schema.contains_key(*key))
            && (media.is_some_and(is_binary)
                || accepted.is_some_and(|all| all.split(',').any(|one| is_binary(one.trim())))))
}

/// The schema of a file: either the bytes, or an object with the bytes, a name and a media type.
fn file(mut file_schema: Map<String, Value>, encoding: Option<&Encoding>) -> Value {
    let shared_keywords = ["description", "title", "deprecated", "nullable", "x-nullable"];
    let mut schema = Map::new();
    for key in shared_keywords {
        schema.extend(file_schema.remove(key).map(|value| (key.to_owned(), value)));
    }
    file_schema.insert("type".to_owned(), json!("string"));
    file_schema.insert("format".to_owned(), json!("binary"));
    let mut properties = json!({
        "content": { "type": "string", "format": "binary", "description": "The bytes in base64." },
        "filename": { "type": "string", "minLength": 1, "description": "The file's name." },
        "contentType": { "type": "string", "minLength": 1, "description": "The file's media type." },
    });
    let headers = encoding.map(|encoding| encoding.headers.as_slice()).unwrap_or_default();
    let headers: Map<String, Value> =
        headers.iter().map(|name| (name.clone(), json!({ "type": "string" }))).collect();
    if let Some(properties) = properties.as_object_mut().filter(|_| !headers.is_empty()) {
        let part_headers = json!({
            "type": "object", "properties": headers, "additionalProperties": false,
            "description": "Headers of the part.",
        });
        properties.insert("headers".to_owned(), part_headers);
    }
    let with_name_and_type = json!({
        "type": "object", "properties": properties, "required": ["content"],
        "additionalProperties": false,
    });
    schema.insert("anyOf".to_owned(), json!([file_schema, with_name_and_type]));
    Value::Object(schema)
}
