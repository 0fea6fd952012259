//! Translates Google's Discovery format to `OpenAPI`: each method becomes an operation, and its scopes become those of
//! OAuth. <https://developers.google.com/discovery/v1/reference/apis> describes the format.

use serde_json::{Map, Value, json};

use super::read::{Fault, Refusal};

/// The `kind` of such a document.
const KIND: &str = "discovery#restDescription";
/// The name of the security scheme for OAuth.
const OAUTH: &str = "Oauth2";
/// The name of the security scheme for methods that need no user.
const KEY: &str = "ApiKey";
/// Parameters of all methods that are useful to callers. The others are credentials, JSONP and uploads.
const COMMON: [&str; 5] = ["alt", "fields", "prettyPrint", "quotaUser", "userIp"];
/// Google's logo, which its documents do not name.
const LOGO: &str =
    "https://www.google.com/images/branding/googlelogo/2x/googlelogo_color_272x92dp.png";

/// The equivalent `OpenAPI` document. Returns `None` for a document in another format.
pub fn openapi(text: &str) -> Result<Option<String>, Refusal> {
    if !text.contains(KIND) || !text.trim_start().starts_with('{') {
        return Ok(None);
    }
    // Invalid JSON is reported when the text is read as an OpenAPI document.
    let Ok(document) = serde_json::from_str::<Value>(text) else { return Ok(None) };
    if document.get("kind").and_then(Value::as_str) != Some(KIND) {
        return Ok(None);
    }
    let broken = |message: &str| {
        Refusal::Broken(Fault { place: None, message: format!("the Discovery document {message}") })
    };
    if document.get("protocol").and_then(Value::as_str).is_some_and(|protocol| protocol != "rest") {
        return Err(broken("describes a protocol other than REST"));
    }
    let service = text_of(&document, "name").ok_or_else(|| broken("has no `name`"))?;
    let root = text_of(&document, "rootUrl");
    let base =
        root.map(|root| format!("{root}{}", text_of(&document, "servicePath").unwrap_or("")));
    let base = base.or_else(|| text_of(&document, "baseUrl").map(str::to_owned));
    let base = base.ok_or_else(|| broken("has no `rootUrl`"))?;
    let mut methods = Vec::new();
    collect(&document, service, &mut methods);
    let owner = text_of(&document, "ownerDomain").unwrap_or("google.com");
    let is_google = owner == "google.com";
    let mut info = json!({
        "title": text_of(&document, "title").unwrap_or(service),
        "version": text_of(&document, "version").unwrap_or_default(),
        "description": text_of(&document, "description").unwrap_or_default(),
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
    if let Some((link, map)) = text_of(&document, "documentationLink").zip(openapi.as_object_mut())
    {
        map.insert("externalDocs".into(), json!({ "url": link }));
    }
    Ok(Some(openapi.to_string()))
}

/// A method, and the innermost resource that contains it.
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
        .filter(|(name, _)| COMMON.contains(&name.as_str()))
        .map(|(name, given)| parameter(name, given))
        .collect();
    let mut paths: Map<String, Value> = Map::new();
    for (resource, method) in methods {
        let Some(verb) = text_of(method, "httpMethod").map(str::to_ascii_lowercase) else {
            continue;
        };
        let Some(path) = path(method) else { continue };
        let item = paths.entry(path).or_insert_with(|| json!({}));
        // Some documents describe a method a second time under a former name, at the same address. The first one is
        // kept.
        if let Some(item) = item.as_object_mut()
            && !item.contains_key(&verb)
        {
            item.insert(verb, operation(resource, method, &common));
        }
    }
    Value::Object(paths)
}

/// The path of a method. In `path`, `{+name}` can stand for several segments; `flatPath` has a parameter for each of them.
/// Where each stands for one segment, the names of `path` are used: they are the documented ones.
fn path(method: &Value) -> Option<String> {
    let path = text_of(method, "path")?;
    let has_more_segments = |rest: &str| {
        let name = rest.split('}').next().unwrap_or_default();
        let pattern = method.pointer(&format!("/parameters/{name}/pattern"));
        pattern.and_then(Value::as_str) != Some("^[^/]+$")
    };
    let is_flat = path.split("{+").skip(1).any(has_more_segments);
    let flat = text_of(method, "flatPath").filter(|_| is_flat);
    Some(format!("/{}", flat.unwrap_or(path).trim_start_matches('/').replace("{+", "{")))
}

fn operation(resource: &str, method: &Value, common: &[Value]) -> Value {
    let mut operation = json!({
        "operationId": text_of(method, "id").unwrap_or_default(),
        "description": text_of(method, "description").unwrap_or_default(),
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
    // A token with any one of the scopes is enough.
    let scopes = method.get("scopes").and_then(Value::as_array).into_iter().flatten();
    let mut security: Vec<Value> = scopes.map(|scope| json!({ OAUTH: [scope] })).collect();
    if security.is_empty() {
        security.push(json!({ KEY: [] }));
    }
    map.insert("security".into(), Value::Array(security));
    operation
}

fn parameters(method: &Value, common: &[Value]) -> Vec<Value> {
    let declared = method.get("parameters").and_then(Value::as_object);
    let path = path(method).unwrap_or_default();
    let in_path: Vec<&str> = variables(&path).collect();
    let is_there = |name: &str, given: &Value| {
        text_of(given, "location") != Some("path") || in_path.contains(&name)
    };
    let own = declared.into_iter().flatten().filter(|(name, given)| is_there(name, given));
    let mut parameters: Vec<Value> = own.map(|(name, given)| parameter(name, given)).collect();
    // A parameter of `path` can stand for several parameters of `flatPath`: assigns these in order.
    let original = text_of(method, "path").unwrap_or_default();
    let is_declared = |name: &str| declared.is_some_and(|declared| declared.contains_key(name));
    let mut parts = in_path.iter().filter(|name| !is_declared(name));
    let whole: Vec<&str> = variables(original).filter(|name| !in_path.contains(name)).collect();
    for (at, name) in whole.iter().enumerate() {
        let given = declared.and_then(|declared| declared.get(*name)).unwrap_or(&Value::Null);
        let pattern = text_of(given, "pattern").unwrap_or_default();
        let is_last = at.saturating_add(1) == whole.len();
        let count = if is_last { usize::MAX } else { pattern.matches("[^/]+").count() };
        let description = text_of(given, "description").unwrap_or_default();
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
    if let Some(version) = text_of(method, "apiVersion") {
        parameters.push(json!({
            "name": "X-Goog-Api-Version",
            "in": "header",
            "description": "The version of the method",
            "schema": { "type": "string", "enum": [version], "default": version },
        }));
    }
    let is_download = method.get("supportsMediaDownload") == Some(&Value::Bool(true));
    // Response formats other than JSON are for downloads.
    let common = common.iter().filter(|one| is_download || text_of(one, "name") != Some("alt"));
    let common = common.filter(|one| text_of(one, "name").is_none_or(|name| !is_declared(name)));
    parameters.extend(common.cloned());
    parameters
}

fn parameter(name: &str, given: &Value) -> Value {
    let schema = schema(given);
    let is_repeated = given.get("repeated") == Some(&Value::Bool(true));
    let schema = if is_repeated { json!({ "type": "array", "items": schema }) } else { schema };
    let place = text_of(given, "location").unwrap_or("query");
    json!({
        "name": name,
        "in": place,
        "required": place == "path" || given.get("required") == Some(&Value::Bool(true)),
        "deprecated": given.get("deprecated") == Some(&Value::Bool(true)),
        "description": text_of(given, "description").unwrap_or_default(),
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

/// A schema of JSON Schema 2020-12. In this format, defaults and limits are strings, regardless of the type.
fn schema(given: &Value) -> Value {
    if let Some(name) = text_of(given, "$ref") {
        return json!({ "$ref": format!("#/components/schemas/{name}") });
    }
    let mut schema = Map::new();
    let r#type = text_of(given, "type").filter(|name| *name != "any");
    if let Some(name) = r#type {
        schema.insert("type".into(), name.into());
    }
    for name in ["description", "format", "pattern", "readOnly", "deprecated", "enum"] {
        if let Some(value) = given.get(name) {
            schema.insert(name.into(), value.clone());
        }
    }
    for name in ["default", "minimum", "maximum"] {
        let value = given.get(name).and_then(|value| typed(r#type, value));
        if let Some(value) = value.filter(|value| name == "default" || value.is_number()) {
            schema.insert(name.into(), value);
        }
    }
    if given.get("properties").is_some() {
        schema.insert("properties".into(), members(given, "properties", self::schema));
    }
    for name in ["items", "additionalProperties"] {
        if let Some(value) = given.get(name).filter(|value| value.is_object()) {
            schema.insert(name.into(), self::schema(value));
        }
    }
    Value::Object(schema)
}

/// Parses a value that is written as a string, by its type.
fn typed(r#type: Option<&str>, value: &Value) -> Option<Value> {
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
        let described = scopes.iter().map(|(scope, given)| {
            (scope.clone(), Value::from(text_of(given, "description").unwrap_or_default()))
        });
        let flow = json!({
            "authorizationUrl": "https://accounts.google.com/o/oauth2/v2/auth",
            "tokenUrl": "https://oauth2.googleapis.com/token",
            "scopes": described.collect::<Map<String, Value>>(),
        });
        let flows = json!({ "authorizationCode": flow });
        schemes.insert(OAUTH.into(), json!({ "type": "oauth2", "flows": flows }));
    }
    let has_scopes = |method: &Value| {
        method.get("scopes").and_then(Value::as_array).is_some_and(|scopes| !scopes.is_empty())
    };
    if methods.iter().any(|(_, method)| !has_scopes(method)) {
        schemes.insert(KEY.into(), json!({ "type": "apiKey", "in": "query", "name": "key" }));
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

fn text_of<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}
