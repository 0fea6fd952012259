//! Translates Google's Discovery format to `OpenAPI`. Each method becomes an operation with the
//! method's OAuth scopes. Format: <https://developers.google.com/discovery/v1/reference/apis>

use serde_json::{Map, Value, json};

use super::read::{Fault, Rejection};

/// The `kind` of a Discovery document.
const DISCOVERY_KIND: &str = "discovery#restDescription";
/// The name of the security scheme for OAuth.
const OAUTH_SCHEME: &str = "Oauth2";
/// The name of the security scheme for methods without a user.
const API_KEY_SCHEME: &str = "ApiKey";
/// The common parameters that are useful to callers. The other common parameters are for
/// credentials, JSONP and uploads.
const COMMON_PARAMETERS: [&str; 5] = ["alt", "fields", "prettyPrint", "quotaUser", "userIp"];
/// Google's logo, because its documents contain no logo.
const LOGO: &str =
    "https://www.google.com/images/branding/googlelogo/2x/googlelogo_color_272x92dp.png";

/// Translates a Discovery document to `OpenAPI`. Returns `None` for a document in another format.
pub fn openapi(text: &str) -> Result<Option<String>, Rejection> {
    if !text.contains(DISCOVERY_KIND) || !text.trim_start().starts_with('{') {
        return Ok(None);
    }
    // Invalid JSON is reported later, when the text is parsed as an OpenAPI document.
    let Ok(document) = serde_json::from_str::<Value>(text) else { return Ok(None) };
    if document.get("kind").and_then(Value::as_str) != Some(DISCOVERY_KIND) {
        return Ok(None);
    }
    let broken = |message: &str| {
        Rejection::Broken(Fault {
            place: None,
            message: format!("the Discovery document {message}"),
        })
    };
    if document.get("protocol").and_then(Value::as_str).is_some_and(|protocol| protocol != "rest") {
        return Err(broken("describes a protocol other than REST"));
    }
    let service = string_member(&document, "name").ok_or_else(|| broken("has no `name`"))?;
    let root = string_member(&document, "rootUrl");
    let base =
        root.map(|root| format!("{root}{}", string_member(&document, "servicePath").unwrap_or("")));
    let base = base.or_else(|| string_member(&document, "baseUrl").map(str::to_owned));
    let base = base.ok_or_else(|| broken("has no `rootUrl`"))?;
    let mut methods = Vec::new();
    collect(&document, service, &mut methods);
    let owner = string_member(&document, "ownerDomain").unwrap_or("google.com");
    let is_google = owner == "google.com";
    let mut info = json!({
        "title": string_member(&document, "title").unwrap_or(service),
        "version": string_member(&document, "version").unwrap_or_default(),
        "description": string_member(&document, "description").unwrap_or_default(),
        "x-providerName": if is_google { "googleapis.com" } else { owner },
        "x-serviceName": service,
    });
    if is_google && let Some(info) = info.as_object_mut() {
        info.insert("x-logo".into(), json!({ "url": LOGO }));
    }
    let mut openapi = json!({
        "openapi": "3.1.0",
        "info": info,
        "servers": [{ "url": base }],
        "paths": paths(&document, &methods),
        "components": {
            "schemas": members(&document, "schemas", schema),
            "securitySchemes": schemes(&document, &methods),
        },
    });
    if let Some((link, map)) =
        string_member(&document, "documentationLink").zip(openapi.as_object_mut())
    {
        map.insert("externalDocs".into(), json!({ "url": link }));
    }
    Ok(Some(openapi.to_string()))
}

/// The name of the innermost resource, and a method in it.
type Method<'a> = (&'a str, &'a Value);

fn collect<'a>(parent: &'a Value, resource: &'a str, methods: &mut Vec<Method<'a>>) {
    let own = parent.get("methods").and_then(Value::as_object);
    methods.extend(own.into_iter().flat_map(Map::values).map(|method| (resource, method)));
    let resources = parent.get("resources").and_then(Value::as_object);
    for (name, resource) in resources.into_iter().flatten() {
        collect(resource, name, methods);
    }
}

fn paths(document: &Value, methods: &[Method<'_>]) -> Value {
    let common: Vec<Value> = document
        .get("parameters")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(name, _)| COMMON_PARAMETERS.contains(&name.as_str()))
        .map(|(name, source)| parameter(name, source))
        .collect();
    let mut paths: Map<String, Value> = Map::new();
    for (resource, method) in methods {
        let Some(verb) = string_member(method, "httpMethod").map(str::to_ascii_lowercase) else {
            continue;
        };
        let Some(path) = path(method) else { continue };
        let item = paths.entry(path).or_insert_with(|| json!({}));
        // Some documents repeat a method at the same path under a former name. Keep the first one.
        if let Some(item) = item.as_object_mut()
            && !item.contains_key(&verb)
        {
            item.insert(verb, operation(resource, method, &common));
        }
    }
    Value::Object(paths)
}

/// The path of a method. `{+name}` in `path` can match several segments; `flatPath` has a parameter
/// for each of them. If each matches one segment, `path` is used, which has the documented names.
fn path(method: &Value) -> Option<String> {
    let path = string_member(method, "path")?;
    let matches_several_segments = |rest: &str| {
        let name = rest.split('}').next().unwrap_or_default();
        let pattern = method.pointer(&format!("/parameters/{name}/pattern"));
        pattern.and_then(Value::as_str) != Some("^[^/]+$")
    };
    let is_flat = path.split("{+").skip(1).any(matches_several_segments);
    let flat = string_member(method, "flatPath").filter(|_| is_flat);
    Some(format!("/{}", flat.unwrap_or(path).trim_start_matches('/').replace("{+", "{")))
}

fn operation(resource: &str, method: &Value, common: &[Value]) -> Value {
    let mut operation = json!({
        "operationId": string_member(method, "id").unwrap_or_default(),
        "description": string_member(method, "description").unwrap_or_default(),
        "tags": [resource],
        "parameters": parameters(method, common),
        "responses": { "200": response(method) },
    });
    let Some(map) = operation.as_object_mut() else { return operation };
    if method.get("deprecated") == Some(&Value::Bool(true)) {
        map.insert("deprecated".into(), Value::Bool(true));
    }
    if let Some(request) = method.get("request") {
        let content = json!({ "application/json": { "schema": schema(request) } });
        map.insert("requestBody".into(), json!({ "content": content }));
    }
    // Each scope is an alternative: a token with any of them is sufficient.
    let scopes = method.get("scopes").and_then(Value::as_array).into_iter().flatten();
    let mut security: Vec<Value> = scopes.map(|scope| json!({ OAUTH_SCHEME: [scope] })).collect();
    if security.is_empty() {
        security.push(json!({ API_KEY_SCHEME: [] }));
    }
    map.insert("security".into(), Value::Array(security));
    operation
}

fn parameters(method: &Value, common: &[Value]) -> Vec<Value> {
    let declared = method.get("parameters").and_then(Value::as_object);
    let path = path(method).unwrap_or_default();
    let in_path: Vec<&str> = variables(&path).collect();
    let is_there = |name: &str, source: &Value| {
        string_member(source, "location") != Some("path") || in_path.contains(&name)
    };
    let own = declared.into_iter().flatten().filter(|(name, source)| is_there(name, source));
    let mut parameters: Vec<Value> = own.map(|(name, source)| parameter(name, source)).collect();
    // A parameter of `path` can correspond to several parameters of `flatPath`, in the same order.
    let original = string_member(method, "path").unwrap_or_default();
    let is_declared = |name: &str| declared.is_some_and(|declared| declared.contains_key(name));
    let mut parts = in_path.iter().filter(|name| !is_declared(name));
    let multi_segment: Vec<&str> =
        variables(original).filter(|name| !in_path.contains(name)).collect();
    for (at, name) in multi_segment.iter().enumerate() {
        let source = declared.and_then(|declared| declared.get(*name)).unwrap_or(&Value::Null);
        let pattern = string_member(source, "pattern").unwrap_or_default();
        let is_last = at.saturating_add(1) == multi_segment.len();
        let count = if is_last { usize::MAX } else { pattern.matches("[^/]+").count() };
        let description = string_member(source, "description").unwrap_or_default();
        parameters.extend(parts.by_ref().take(count).map(|part| {
            json!({
                "name": part,
                "in": "path",
                "required": true,
                "description": format!("Part of `{name}`: {description}"),
                "schema": { "type": "string" },
            })
        }));
    }
    if let Some(version) = string_member(method, "apiVersion") {
        parameters.push(json!({
            "name": "X-Goog-Api-Version",
            "in": "header",
            "description": "The version of the method",
            "schema": { "type": "string", "enum": [version], "default": version },
        }));
    }
    let is_download = method.get("supportsMediaDownload") == Some(&Value::Bool(true));
    // Only downloads support response formats other than JSON.
    let common =
        common.iter().filter(|one| is_download || string_member(one, "name") != Some("alt"));
    let common =
        common.filter(|one| string_member(one, "name").is_none_or(|name| !is_declared(name)));
    parameters.extend(common.cloned());
    parameters
}

fn parameter(name: &str, source: &Value) -> Value {
    let schema = schema(source);
    let is_repeated = source.get("repeated") == Some(&Value::Bool(true));
    let schema = if is_repeated { json!({ "type": "array", "items": schema }) } else { schema };
    let place = string_member(source, "location").unwrap_or("query");
    json!({
        "name": name,
        "in": place,
        "required": place == "path" || source.get("required") == Some(&Value::Bool(true)),
        "deprecated": source.get("deprecated") == Some(&Value::Bool(true)),
        "description": string_member(source, "description").unwrap_or_default(),
        "schema": schema,
    })
}

fn response(method: &Value) -> Value {
    let mut content = Map::new();
    if let Some(response) = method.get("response") {
        content.insert("application/json".into(), json!({ "schema": schema(response) }));
    }
    if method.get("supportsMediaDownload") == Some(&Value::Bool(true)) {
        content.insert("*/*".into(), json!({}));
    }
    json!({ "description": "The response", "content": content })
}

/// Converts a schema to JSON Schema 2020-12. In Discovery documents, defaults and limits are
/// strings, regardless of the type.
fn schema(source: &Value) -> Value {
    if let Some(name) = string_member(source, "$ref") {
        return json!({ "$ref": format!("#/components/schemas/{name}") });
    }
    let mut schema = Map::new();
    let r#type = string_member(source, "type").filter(|name| *name != "any");
    if let Some(name) = r#type {
        schema.insert("type".into(), name.into());
    }
    for name in ["description", "format", "pattern", "readOnly", "deprecated", "enum"] {
        if let Some(value) = source.get(name) {
            schema.insert(name.into(), value.clone());
        }
    }
    for name in ["default", "minimum", "maximum"] {
        let value = source.get(name).and_then(|value| parse_typed(r#type, value));
        if let Some(value) = value.filter(|value| name == "default" || value.is_number()) {
            schema.insert(name.into(), value);
        }
    }
    if source.get("properties").is_some() {
        schema.insert("properties".into(), members(source, "properties", self::schema));
    }
    for name in ["items", "additionalProperties"] {
        if let Some(value) = source.get(name).filter(|value| value.is_object()) {
            schema.insert(name.into(), self::schema(value));
        }
    }
    Value::Object(schema)
}

/// Parses a string as a value of this type.
fn parse_typed(r#type: Option<&str>, value: &Value) -> Option<Value> {
    let Value::String(text) = value else { return Some(value.clone()) };
    match r#type {
        Some("boolean" | "integer" | "number") => {
            serde_json::from_str(text).ok().filter(|value: &Value| !value.is_string())
        }
        Some("string") | None => Some(value.clone()),
        Some(_) => None,
    }
}

fn schemes(document: &Value, methods: &[Method<'_>]) -> Value {
    let mut schemes = Map::new();
    let scopes = document.pointer("/auth/oauth2/scopes").and_then(Value::as_object);
    if let Some(scopes) = scopes {
        let described = scopes.iter().map(|(scope, source)| {
            (scope.clone(), Value::from(string_member(source, "description").unwrap_or_default()))
        });
        let flow = json!({
            "authorizationUrl": "https://accounts.google.com/o/oauth2/v2/auth",
            "tokenUrl": "https://oauth2.googleapis.com/token",
            "scopes": described.collect::<Map<String, Value>>(),
        });
        let flows = json!({ "authorizationCode": flow });
        schemes.insert(OAUTH_SCHEME.into(), json!({ "type": "oauth2", "flows": flows }));
    }
    let has_scopes = |method: &Value| {
        method.get("scopes").and_then(Value::as_array).is_some_and(|scopes| !scopes.is_empty())
    };
    if methods.iter().any(|(_, method)| !has_scopes(method)) {
        schemes.insert(
            API_KEY_SCHEME.into(),
            json!({ "type": "apiKey", "in": "query", "name": "key" }),
        );
    }
    Value::Object(schemes)
}

fn members(parent: &Value, name: &str, convert: impl Fn(&Value) -> Value) -> Value {
    let members = parent.get(name).and_then(Value::as_object).into_iter().flatten();
    Value::Object(members.map(|(name, value)| (name.clone(), convert(value))).collect())
}

fn variables(path: &str) -> impl Iterator<Item = &str> {
    let opened = path.split('{').skip(1).filter_map(|part| part.split_once('}'));
    opened.map(|(name, _)| name.trim_start_matches('+'))
}

fn string_member<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}
