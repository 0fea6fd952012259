//! The parameters of an action, in `OpenAPI` 3 and Swagger 2.

use std::collections::HashSet;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::definitions::Definitions;
use super::media;
use super::referenced_definitions::ReferencedDefinitions;
use crate::catalog::action::stored::{Parameter, ParameterLocation};
use crate::platform_calls::headers::may_be_sent;

/// The maximum number of parameters of an action.
const MAX_PARAMETERS: usize = 1000;
/// The maximum length of a name, in bytes.
const MAX_NAME: usize = 300;
/// Headers that the service derives from the body and the connection's credentials.
const RESERVED_HEADERS: [&str; 3] = ["accept", "content-type", "authorization"];

/// The parameters of an operation. In Swagger 2, these include the body.
#[derive(Default)]
pub struct ListedParameters {
    /// The parameters, without the body.
    pub parameters: Vec<Parameter<Box<RawValue>>>,
    /// The body in Swagger 2: the parameter with `in: body`.
    pub body: Option<Map<String, Value>>,
    /// The fields of a form in Swagger 2: the parameters with `in: formData`.
    pub form: Vec<Map<String, Value>>,
}

/// Converts the parameters of an operation and of its path.
pub fn convert<F>(
    operation_parameters: Option<&RawValue>,
    path_parameters: Option<&RawValue>,
    path: &str,
    definitions: &mut Definitions<'_, F>,
    referenced_definitions: &mut ReferencedDefinitions,
) -> ListedParameters {
    let mut given = ListedParameters::default();
    let mut seen: HashSet<(String, String)> = HashSet::new();
    let lists = [operation_parameters, path_parameters].into_iter().flatten();
    let lists = lists.map(|raw| serde_json::from_str::<Vec<Value>>(raw.get()).unwrap_or_default());
    for value in lists.flatten() {
        let Some(map) = definitions.resolved(value) else { continue };
        let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (name, r#in) = (text("name"), text("in"));
        if name.is_empty() || name.len() > MAX_NAME || !seen.insert((name, r#in.clone())) {
            continue;
        }
        match r#in.as_str() {
            "body" => given.body = Some(map),
            "formData" => given.form.push(map),
            _ if given.parameters.len() < MAX_PARAMETERS => {
                given.parameters.extend(parameter(&map, path, definitions, referenced_definitions));
            }
            _ => {}
        }
    }
    add_undeclared(path, &mut given.parameters);
    given
}

/// Adds the path parameters that the document does not declare.
fn add_undeclared(path: &str, parameters: &mut Vec<Parameter<Box<RawValue>>>) {
    let path_parameters = parameters.iter().filter(|one| one.r#in == ParameterLocation::Path);
    let mut known: HashSet<String> = path_parameters.map(|one| one.name.clone()).collect();
    for name in names(path).take(MAX_PARAMETERS) {
        let is_known = !known.insert(name.to_owned());
        let schema = RawValue::from_string(r#"{"type":"string"}"#.to_owned());
        if let Some(schema) = schema.ok().filter(|_| !is_known) {
            parameters.push(Parameter {
                name: name.to_owned(),
                r#in: ParameterLocation::Path,
                required: true,
                schema,
                style: "simple".to_owned(),
                explode: false,
                allow_reserved: false,
                content_type: None,
            });
        }
    }
}

/// The names in the braces of a path.
fn names(path: &str) -> impl Iterator<Item = &str> {
    let path = path.split('#').next().unwrap_or_default();
    let parts = path.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0));
    parts.filter(|name| !name.is_empty())
}

fn parameter<F>(
    map: &Map<String, Value>,
    path: &str,
    definitions: &mut Definitions<'_, F>,
    referenced_definitions: &mut ReferencedDefinitions,
) -> Option<Parameter<Box<RawValue>>> {
    let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default();
    let name = text("name").to_owned();
    let r#in = match text("in") {
        "path" => ParameterLocation::Path,
        "query" => ParameterLocation::Query,
        "header" => ParameterLocation::Header,
        "cookie" => ParameterLocation::Cookie,
        "querystring" => {
            definitions.skipped.insert("parameters with `in: querystring`");
            return None;
        }
        _ => return None,
    };
    let lower = name.to_ascii_lowercase();
    let is_refused = RESERVED_HEADERS.contains(&lower.as_str()) || !may_be_sent(&lower);
    if (r#in == ParameterLocation::Header && is_refused)
        || (r#in == ParameterLocation::Path && !names(path).any(|one| one == name))
    {
        return None;
    }
    let content = map.get("content").and_then(Value::as_object);
    let content = content.map(|content| media::resolved(content, definitions));
    let content = content.as_ref().and_then(|content| {
        let (content_type, media) = content.iter().next()?;
        Some((media::normalize(content_type), media.get("schema")))
    });
    let (schema, content_type) = match (map.get("schema"), content) {
        (Some(schema), _) => (with_description(schema, map), None),
        (None, Some((content_type, schema))) => {
            (with_description(schema.unwrap_or(&Value::Null), map), Some(content_type))
        }
        // In Swagger 2, the keywords of the schema are members of the parameter.
        (None, None) => (inline_schema(map), None),
    };
    let (style, explode) = style(map, r#in);
    Some(Parameter {
        name,
        r#in,
        required: r#in == ParameterLocation::Path
            || map.get("required").and_then(Value::as_bool) == Some(true),
        schema: referenced_definitions.convert(&schema, definitions),
        style,
        explode,
        allow_reserved: r#in == ParameterLocation::Query
            && map.get("allowReserved").and_then(Value::as_bool) == Some(true),
        content_type,
    })
}

/// Adds the parameter's description to its schema.
fn with_description(schema: &Value, parameter: &Map<String, Value>) -> Value {
    let Value::Object(schema) = schema else { return Value::Object(annotations(parameter)) };
    let mut schema = schema.clone();
    for (key, value) in annotations(parameter) {
        if key != "deprecated" || value == Value::Bool(true) {
            schema.entry(key).or_insert(value);
        }
    }
    Value::Object(schema)
}

fn annotations(parameter: &Map<String, Value>) -> Map<String, Value> {
    let keys = ["description", "deprecated", "example"];
    let given =
        keys.iter().filter_map(|key| Some(((*key).to_owned(), parameter.get(*key)?.clone())));
    given.collect()
}

/// The schema of a Swagger 2 parameter.
pub fn inline_schema(parameter: &Map<String, Value>) -> Value {
    let mut schema = parameter.clone();
    for key in ["name", "in", "required", "collectionFormat", "allowEmptyValue"] {
        schema.remove(key);
    }
    Value::Object(schema)
}

/// The serialization of a list or an object, as `style` and `explode`. Converts `collectionFormat`
/// of Swagger 2.
fn style(map: &Map<String, Value>, r#in: ParameterLocation) -> (String, bool) {
    let default_style = if matches!(r#in, ParameterLocation::Query | ParameterLocation::Cookie) {
        "form"
    } else {
        "simple"
    };
    let is_swagger2_list = map.get("type").and_then(Value::as_str) == Some("array");
    let collection = map.get("collectionFormat").and_then(Value::as_str);
    match collection.or(Some("csv").filter(|_| is_swagger2_list)) {
        Some("multi") => return ("form".to_owned(), true),
        Some("ssv") => return ("spaceDelimited".to_owned(), false),
        Some("pipes") => return ("pipeDelimited".to_owned(), false),
        Some(_) => return (default_style.to_owned(), false),
        None => {}
    }
    let style = map.get("style").and_then(Value::as_str);
    let known =
        ["matrix", "label", "simple", "form", "spaceDelimited", "pipeDelimited", "deepObject"];
    let style = style.filter(|style| known.contains(style)).unwrap_or(default_style);
    let explode = map.get("explode").and_then(Value::as_bool).unwrap_or(style == "form");
    (style.to_owned(), explode)
}
