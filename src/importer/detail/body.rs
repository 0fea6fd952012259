//! The body of an action, and its responses.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::definitions::Definitions;
use super::referenced_definitions::ReferencedDefinitions;
use super::{form, media, parameters};
use crate::catalog::action::stored::RequestBody;
use crate::importer::scalar::StringList;
use crate::importer::text;

/// The maximum number of responses of an action.
const MAX_RESPONSES: usize = 60;
/// The maximum length of a description, in characters.
const MAX_DESCRIPTION: usize = 300;

/// The body of an OpenAPI 3 operation. If `is_google`, it is JSON: documents that were converted
/// from Google's format list the types of the media that a method can upload in addition, such as
/// `message/rfc822`, as the types of the resource.
/// <https://developers.google.com/workspace/drive/api/guides/manage-uploads>
pub fn openapi<F>(
    declared: &RawValue,
    definitions: &mut Definitions<'_, F>,
    referenced_definitions: &mut ReferencedDefinitions,
    is_google: bool,
) -> Option<RequestBody<Box<RawValue>>> {
    let json = || vec!["application/json".to_owned()];
    let declared: Value = serde_json::from_str(declared.get()).ok()?;
    let Some(body) = definitions.resolved(declared) else {
        let schema = referenced_definitions.convert(&Value::Null, definitions);
        let content_types = json();
        let encoding = BTreeMap::new();
        return Some(RequestBody { required: false, content_types, schema, encoding });
    };
    let content = &media::resolved(body.get("content")?.as_object()?, definitions);
    let (mut content_types, schema) = media::content(content);
    if is_google {
        content_types = json();
    }
    let encoding = media::encoding(content);
    let schema = schema.unwrap_or(&Value::Null);
    let form = Some(schema).filter(|_| media::is_multipart(&content_types));
    let form = form.and_then(|schema| form::with_file_schemas(schema, &encoding, definitions));
    let schema = referenced_definitions.convert(form.as_ref().unwrap_or(schema), definitions);
    (!content_types.is_empty()).then_some(RequestBody {
        required: body.get("required").and_then(Value::as_bool) == Some(true),
        content_types,
        schema,
        encoding,
    })
}

/// The body of a Swagger 2 operation: a single parameter, or the fields of a form.
pub fn swagger<F>(
    declared: &parameters::ListedParameters,
    consumes: &[&StringList],
    definitions: &mut Definitions<'_, F>,
    referenced_definitions: &mut ReferencedDefinitions,
) -> Option<RequestBody<Box<RawValue>>> {
    let mut content_types = media::first_listed(consumes);
    if let Some(body) = &declared.body {
        if content_types.is_empty() {
            content_types.push("application/json".to_owned());
        }
        let schema = body.get("schema").unwrap_or(&Value::Null);
        return Some(RequestBody {
            required: body.get("required").and_then(Value::as_bool) == Some(true),
            content_types,
            schema: referenced_definitions.convert(schema, definitions),
            encoding: BTreeMap::new(),
        });
    }
    if declared.form.is_empty() {
        return None;
    }
    let is = |field: &Map<String, Value>, key: &str, value: &Value| field.get(key) == Some(value);
    let has_file = declared.form.iter().any(|field| is(field, "type", &json!("file")));
    let default_type =
        if has_file { "multipart/form-data" } else { "application/x-www-form-urlencoded" };
    content_types.retain(|media| {
        media == default_type || (!has_file && media.starts_with("multipart/form-data"))
    });
    if content_types.is_empty() {
        content_types.push(default_type.to_owned());
    }
    let name = |field: &Map<String, Value>| field.get("name").cloned().unwrap_or_default();
    let required: Vec<Value> = declared
        .form
        .iter()
        .filter(|field| is(field, "required", &json!(true)))
        .map(name)
        .collect();
    let properties: Map<String, Value> = declared
        .form
        .iter()
        .filter_map(|field| {
            Some((field.get("name")?.as_str()?.to_owned(), parameters::inline_schema(field)))
        })
        .collect();
    let is_required = !required.is_empty();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let encoding = BTreeMap::new();
    let form = form::with_file_schemas(&schema, &encoding, definitions);
    let schema = referenced_definitions.convert(form.as_ref().unwrap_or(&schema), definitions);
    Some(RequestBody { required: is_required, content_types, schema, encoding })
}

/// A response, with the definitions that its schema needs.
pub struct DocumentedResponse {
    /// `200`, `4XX` or `default`, for example.
    pub status: String,
    /// The document's explanation of when the platform returns this status.
    pub description: String,
    /// The media types. The schema describes the first type.
    pub types: Vec<String>,
    pub schema: Option<Box<RawValue>>,
    /// The definitions that the schema refers to.
    pub referenced_definitions: ReferencedDefinitions,
}

/// The media types of successful responses, preferred first.
pub fn response_types(responses: &[DocumentedResponse], produces: &[&StringList]) -> Vec<String> {
    let succeeds = |response: &&DocumentedResponse| response.status.starts_with('2');
    let mut successes: Vec<&DocumentedResponse> = responses.iter().filter(succeeds).collect();
    if successes.is_empty() {
        successes.extend(responses.iter().filter(|response| response.status == "default"));
    }
    let mut types: Vec<String> = Vec::new();
    let swagger2_types = media::first_listed(produces);
    for media in successes.iter().flat_map(|response| &response.types).chain(&swagger2_types) {
        if !media.is_empty() && !types.contains(media) {
            types.push(media.clone());
        }
    }
    types.truncate(media::MAX_TYPES);
    types
}

/// The responses of an operation.
pub fn responses<F>(
    declared: &RawValue,
    produces: &[&StringList],
    definitions: &mut Definitions<'_, F>,
) -> Vec<DocumentedResponse> {
    let Ok(Value::Object(responses)) = serde_json::from_str(declared.get()) else {
        return Vec::new();
    };
    let produces = media::first_listed(produces);
    let mut documented = Vec::new();
    for (status, value) in responses {
        if status.starts_with("x-") || status.len() > 10 || documented.len() >= MAX_RESPONSES {
            continue;
        }
        let Some(response) = definitions.resolved(value) else { continue };
        let content = response.get("content").and_then(Value::as_object);
        let content = content.map(|content| media::resolved(content, definitions));
        let content = content.as_ref().map(media::content);
        let (types, schema) = content.unwrap_or_else(|| {
            let schema = response.get("schema");
            let default_type = || vec!["application/json".to_owned()];
            let types = if produces.is_empty() { default_type() } else { produces.clone() };
            (schema.map(|_| types).unwrap_or_default(), schema)
        });
        let mut referenced_definitions = ReferencedDefinitions::default();
        let description = response.get("description").and_then(Value::as_str).unwrap_or_default();
        documented.push(DocumentedResponse {
            status,
            description: text::verbatim(description, MAX_DESCRIPTION),
            types,
            schema: schema.map(|schema| referenced_definitions.convert(schema, definitions)),
            referenced_definitions,
        });
    }
    documented
}
