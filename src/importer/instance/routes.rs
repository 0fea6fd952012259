//! Translates the index of a `WordPress` site's REST API to `OpenAPI`. Each method of a route
//! becomes an operation. Format:
//! <https://developer.wordpress.org/rest-api/extending-the-rest-api/routes-and-endpoints/>

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use super::SelectedParts;

/// Batch routes, which are skipped: they forward requests to other routes, so an action's name
/// would not reveal its effect.
const BATCH_ROUTES: [&str; 2] = ["/batch/v1", "/wc/v3/batch"];

/// Translates an index. Returns the `OpenAPI` document, and the number of routes that cannot be
/// translated. `server` is the base URL of the routes that begin with `prefix`.
pub fn openapi(
    text: &str,
    server: &str,
    prefix: &str,
    chosen: &SelectedParts<'_>,
) -> Result<(Value, usize)> {
    let index: Value =
        serde_json::from_str(text).context("the index of the REST API is not JSON")?;
    let routes = index.get("routes").and_then(Value::as_object);
    let routes =
        routes.context("the response is not the index of a REST API: it has no `routes`")?;
    let mut paths = Map::new();
    let mut skipped_parts = 0_usize;
    for (route, source) in routes {
        let namespace = source.get("namespace").and_then(Value::as_str).unwrap_or_default();
        let is_index = route.trim_matches('/') == namespace.trim_matches('/');
        if is_index || BATCH_ROUTES.contains(&route.as_str()) || !chosen.has(namespace) {
            continue;
        }
        let Some(path) = path(route) else {
            skipped_parts = skipped_parts.saturating_add(1);
            continue;
        };
        let Some(below) = path.strip_prefix(prefix).filter(|path| path.starts_with('/')) else {
            continue;
        };
        paths.insert(below.to_owned(), item(below, source));
    }
    let title = index.get("name").and_then(Value::as_str).unwrap_or("REST API");
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": title, "version": "" },
        "servers": [{ "url": server }],
        "paths": paths,
    });
    Ok((document, skipped_parts))
}

/// Converts a route, a PHP regular expression, to a path: `/wp/v2/posts/(?P<id>[\d]+)` →
/// `/wp/v2/posts/{id}`. Returns `None` if the route varies outside named groups.
fn path(route: &str) -> Option<String> {
    let mut path = String::new();
    let mut rest = route;
    while let Some((before, group)) = rest.split_once("(?P<") {
        let (name, pattern) = group.split_once('>')?;
        path.push_str(before);
        let _ = write!(path, "{{{name}}}");
        rest = after_group(pattern)?;
    }
    path.push_str(rest);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/{}-_.".contains(c);
    path.chars().all(is_plain).then_some(path)
}

/// The rest of a pattern after the end of a group. `pattern` begins with the content of the group.
fn after_group(pattern: &str) -> Option<&str> {
    let mut depth = 1_u32;
    let (mut is_escaped, mut is_in_class) = (false, false);
    for (at, c) in pattern.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            _ if is_in_class => {}
            '(' => depth = depth.saturating_add(1),
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return pattern.get(at.saturating_add(1)..);
                }
            }
            _ => {}
        }
    }
    None
}

fn item(path: &str, source: &Value) -> Value {
    let mut item = Map::new();
    for endpoint in source.get("endpoints").and_then(Value::as_array).into_iter().flatten() {
        let methods = endpoint.get("methods").and_then(Value::as_array);
        let methods: Vec<&str> = methods.into_iter().flatten().filter_map(Value::as_str).collect();
        // Edit routes accept POST, PUT and PATCH with the same effect, so one operation is enough.
        let edit = ["PUT", "POST", "PATCH"].into_iter().find(|method| methods.contains(method));
        let others = ["GET", "DELETE"].into_iter().filter(|method| methods.contains(method));
        for method in others.chain(edit) {
            let verb = method.to_ascii_lowercase();
            item.entry(verb).or_insert_with(|| operation(path, method, endpoint));
        }
    }
    Value::Object(item)
}

fn operation(path: &str, method: &str, endpoint: &Value) -> Value {
    let has_body = method != "GET" && method != "DELETE";
    let mut parameters = Vec::new();
    let mut properties = Map::new();
    let mut required = Vec::new();
    // PHP serializes an empty map as `[]`.
    let arguments = endpoint.get("args").and_then(Value::as_object);
    let in_path = variables(path);
    for (name, source) in arguments.into_iter().flatten() {
        let is_required = source.get("required") == Some(&Value::Bool(true));
        if in_path.contains(&name.as_str()) {
            continue;
        }
        if has_body {
            properties.insert(name.clone(), schema(source));
            required.extend(is_required.then_some(name.as_str()));
        } else {
            parameters.push(json!({
                "name": name, "in": "query", "required": is_required, "style": "form", "explode": false,
                "schema": schema(source),
            }));
        }
    }
    for name in in_path {
        let source = arguments.and_then(|arguments| arguments.get(name));
        let schema = source.map_or_else(|| json!({ "type": "string" }), schema);
        parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
    }
    let mut operation = json!({
        "parameters": parameters,
        "responses": { "200": { "description": "The response" } },
    });
    if let Some(members) = operation.as_object_mut().filter(|_| has_body) {
        let is_required = !required.is_empty();
        let body = json!({ "type": "object", "properties": properties, "required": required });
        let content = json!({ "application/json": { "schema": body } });
        members.insert(
            "requestBody".to_owned(),
            json!({ "required": is_required, "content": content }),
        );
    }
    operation
}

/// The names in the braces of a path.
fn variables(path: &str) -> Vec<&str> {
    let opened = path.split('{').skip(1).filter_map(|part| part.split_once('}'));
    opened.map(|(name, _)| name).collect()
}

/// Converts the schema of an argument: JSON Schema draft 4, except that `required` is a member of
/// each property, and empty maps are serialized as lists.
fn schema(source: &Value) -> Value {
    let Some(members) = source.as_object() else { return json!({}) };
    let mut schema = Map::new();
    for (name, value) in members {
        let value = match (name.as_str(), value) {
            ("required" | "readonly" | "context", _) | ("properties", Value::Array(_)) => continue,
            ("properties", Value::Object(properties)) => {
                let property_schema = properties
                    .iter()
                    .map(|(name, property_schema)| (name.clone(), self::schema(property_schema)));
                Value::Object(property_schema.collect())
            }
            ("items", property_schema) => self::schema(property_schema),
            ("enum", Value::Object(values)) => Value::Array(values.values().cloned().collect()),
            _ => value.clone(),
        };
        schema.insert(name.clone(), value);
    }
    Value::Object(schema)
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn named_groups_of_a_route_are_parameters() {
        for (route, expected) in [
            ("/wp/v2/posts", Some("/wp/v2/posts")),
            ("/wp/v2/posts/(?P<id>[\\d]+)", Some("/wp/v2/posts/{id}")),
            (
                "/wp/v2/posts/(?P<parent>[\\d]+)/revisions/(?P<id>[\\d]+)",
                Some("/wp/v2/posts/{parent}/revisions/{id}"),
            ),
            (
                "/wp/v2/templates/(?P<id>([^\\/:<>\\*\\?\"\\|]+(?:\\/[^\\/:<>]+)?)[\\/\\w%-]+)",
                Some("/wp/v2/templates/{id}"),
            ),
            ("/oembed/1.0/embed", Some("/oembed/1.0/embed")),
            ("/a/v1/things/(?P<id>[)]+)/x", Some("/a/v1/things/{id}/x")),
            ("/a/v1/things(?:/(?P<id>\\d+))?", None),
            ("/a/v1/things/(?P<id>\\d+)?", None),
            ("/a/v1/[a-z]+", None),
            ("/a/v1/(?P<id>\\d+", None),
        ] {
            assert_eq!(path(route).as_deref(), expected, "{route}");
        }
    }
}
