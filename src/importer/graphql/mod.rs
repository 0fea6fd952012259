//! Translates a GraphQL schema to `OpenAPI`. Each field of the query and mutation types becomes an
//! operation, and its arguments become members of the body. [`schema`] parses GraphQL schemas,
//! [`selection`] chooses the default selection of an action, and [`input`] converts arguments to
//! JSON Schema.

mod input;
mod schema;
mod selection;

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::read::{Fault, Rejection};
use super::server::base::split_origin;
use super::text;
use crate::catalog::graphql::{GraphqlRequest, MAX_SELECTION, SELECT, SELECTION};
use schema::{Field, Schema, TypeRef};

/// The extension of an operation that contains its GraphQL request.
pub const EXTENSION: &str = "x-connector-vault-graphql";
/// The default page size.
const DEFAULT_PAGE_SIZE: u32 = 20;

/// Translates a GraphQL schema to an `OpenAPI` document. `endpoint` is the URL of the GraphQL API.
pub fn openapi(text: &str, endpoint: &str) -> Result<String, Rejection> {
    let broken = |message: String| {
        let message = format!("the GraphQL schema cannot be read: {message}");
        Rejection::Broken(Fault { place: None, message })
    };
    let schema = Schema::parse(text).map_err(broken)?;
    let (origin, path) = split_origin(endpoint);
    let path = if path.is_empty() { "/" } else { path };
    let mut paths = Map::new();
    for (kind, root) in [("query", &schema.query), ("mutation", &schema.mutation)] {
        for field in root.iter().flat_map(|root| schema.fields(root)) {
            let operation = json!({ "post": operation(&schema, kind, field) });
            paths.insert(format!("{path}#{kind}.{}", field.name), operation);
        }
    }
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": "GraphQL", "version": "" },
        "servers": [server(origin)],
        "paths": paths,
        "components": { "schemas": input::definitions(&schema) },
    });
    Ok(document.to_string())
}

/// A server with a variable for each `{name}` in its URL.
fn server(origin: &str) -> Value {
    let names = crate::catalog::detail::variables(origin);
    let variables: Map<String, Value> =
        names.map(|name| (name.to_owned(), json!({ "default": name }))).collect();
    json!({ "url": origin, "variables": variables })
}

fn operation(schema: &Schema, kind: &str, field: &Field) -> Value {
    let request = request(schema, kind, field);
    let returned = field.r#type.name();
    let model = ["Connection", "Payload"].iter().find_map(|suffix| returned.strip_suffix(suffix));
    let body = body(schema, field, &request);
    let is_required = body.get("required").is_some();
    json!({
        "operationId": field.name,
        "summary": title(kind, field),
        "description": field.description,
        "tags": [model.unwrap_or(returned)],
        "deprecated": field.is_deprecated,
        "requestBody": { "required": is_required, "content": { "application/json": { "schema": body } } },
        "responses": { "200": { "description": "The data, or `errors`", "content": { "application/json": {} } } },
        EXTENSION: request,
    })
}

fn request(schema: &Schema, kind: &str, field: &Field) -> GraphqlRequest {
    let mut document = kind.to_owned();
    let mut call = field.name.clone();
    for (index, argument) in field.arguments.iter().enumerate() {
        let (name, r#type) = (&argument.name, &argument.r#type);
        // A variable with a nullable type can be omitted, so that the default of the argument
        // applies.
        let r#type = match r#type {
            TypeRef::NonNull(inner) if argument.has_default => inner,
            other => other,
        };
        let before = if index == 0 { ("(", " (") } else { (", ", ", ") };
        let _ = write!(document, "{}${name}: {type}", before.1);
        let _ = write!(call, "{}{name}: ${name}", before.0);
    }
    if !field.arguments.is_empty() {
        document.push(')');
        call.push(')');
    }
    let selection = selection::default(schema, &field.r#type).unwrap_or_default();
    if selection.is_empty() {
        let _ = write!(document, " {{ {call} }}");
    } else {
        let _ = write!(document, " {{ {call} {SELECTION} }}");
    }
    let is_page =
        field.arguments.iter().any(|argument| argument.name == "first" && !argument.has_default);
    GraphqlRequest { document, selection, first: is_page.then_some(DEFAULT_PAGE_SIZE) }
}

fn body(schema: &Schema, field: &Field, request: &GraphqlRequest) -> Value {
    let mut properties: Map<String, Value> = field
        .arguments
        .iter()
        .map(|argument| (argument.name.clone(), input::argument(schema, argument)))
        .collect();
    if !request.selection.is_empty() {
        properties.entry(SELECT).or_insert_with(|| {
            json!({
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_SELECTION,
                "description": format!("The fields to return, in GraphQL. Default: `{}`", text::verbatim(&request.selection, 400)),
            })
        });
    }
    let is_page = |name: &str| request.first.is_some() && name == "first";
    let required: Vec<&str> = field
        .arguments
        .iter()
        .filter(|argument| argument.is_required() && !is_page(&argument.name))
        .map(|argument| argument.name.as_str())
        .collect();
    let mut body =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if let Some(members) = body.as_object_mut().filter(|_| !required.is_empty()) {
        members.insert("required".to_owned(), json!(required));
    }
    body
}

/// Verbs that schemas put after the noun, as in `issueCreate`.
const VERBS: [&str; 48] = [
    "accept",
    "activate",
    "add",
    "approve",
    "archive",
    "assign",
    "attach",
    "cancel",
    "close",
    "complete",
    "connect",
    "convert",
    "copy",
    "create",
    "delete",
    "destroy",
    "detach",
    "disable",
    "disconnect",
    "duplicate",
    "edit",
    "enable",
    "enroll",
    "export",
    "import",
    "invite",
    "join",
    "leave",
    "link",
    "lock",
    "mark",
    "merge",
    "move",
    "open",
    "pause",
    "publish",
    "refresh",
    "reject",
    "remove",
    "rename",
    "reopen",
    "resend",
    "restore",
    "revoke",
    "send",
    "unarchive",
    "unpublish",
    "update",
];
/// Verbs at the start of the names of queries.
const QUERY_VERBS: [&str; 9] =
    ["check", "count", "fetch", "find", "get", "list", "lookup", "search", "validate"];

/// Derives a title from the name of a field: `issueCreate` → `Create issue`, `issues` → `List
/// issues`, `viewer` → `Get viewer`.
fn title(kind: &str, field: &Field) -> String {
    let mut words: Vec<String> =
        text::words(&field.name).into_iter().map(|word| word.to_lowercase()).collect();
    let first = words.first().map(String::as_str).unwrap_or_default();
    if kind == "query" {
        if !QUERY_VERBS.contains(&first) {
            let returned = &field.r#type;
            let is_list = returned.is_list() || returned.name().ends_with("Connection");
            words.insert(0, if is_list { "list" } else { "get" }.to_owned());
        }
    } else if !VERBS.contains(&first)
        && let Some(at) = words.iter().rposition(|word| VERBS.contains(&word.as_str()))
    {
        let verb = words.remove(at);
        words.insert(0, verb);
    }
    let title = words.join(" ");
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{EXTENSION, openapi};

    const SDL: &str = r#"
        type Query { issues(first: Int, after: String): IssueConnection! viewer: User! node(id: ID!): Node version: String! search(query: String!, max: Int! = 10): [Result] }
        type Mutation { issueCreate(input: IssueInput!): IssuePayload "Ends it" issueDelete(id: ID!, select: Boolean): Boolean! }
        interface Node { id: ID! }
        type Issue implements Node { id: ID! title: String! old: String @deprecated secret(key: String!): String state: State! labels(first: Int): LabelConnection author: User }
        type User { name: String! boss: User }
        type State { name: String! }
        type LabelConnection { nodes: [Label!]! }
        type Label { name: String }
        type IssueConnection { edges: [Edge!]! nodes: [Issue!]! pageInfo: PageInfo! totalCount: Int }
        type Edge { node: Issue! cursor: String }
        type PageInfo { hasNextPage: Boolean! endCursor: String }
        type IssuePayload { success: Boolean! issue: Issue }
        union Result = Issue | User
        input IssueInput { title: String! priority: Priority parent: IssueInput dueDate: Date ids: [ID!] }
        enum Priority { LOW HIGH }
        scalar Date
    "#;

    fn document() -> Value {
        serde_json::from_str(&openapi(SDL, "https://api.example.com/v1/graphql").unwrap()).unwrap()
    }

    #[test]
    fn each_root_field_is_an_operation() {
        let document = document();
        assert_eq!(document["servers"][0]["url"], "https://api.example.com");
        let summary = |path: &str| document["paths"][path]["post"]["summary"].clone();
        for (path, title) in [
            ("/v1/graphql#query.issues", "List issues"),
            ("/v1/graphql#query.viewer", "Get viewer"),
            ("/v1/graphql#query.node", "Get node"),
            ("/v1/graphql#query.version", "Get version"),
            ("/v1/graphql#query.search", "Search"),
            ("/v1/graphql#mutation.issueCreate", "Create issue"),
            ("/v1/graphql#mutation.issueDelete", "Delete issue"),
        ] {
            assert_eq!(summary(path), title, "{path}");
        }
        assert_eq!(document["paths"].as_object().unwrap().len(), 7);
    }

    #[test]
    fn arguments_are_variables_and_the_default_selects_scalars_two_levels_deep() {
        let document = document();
        let request = |path: &str| {
            document["paths"][format!("/v1/graphql#{path}")]["post"][EXTENSION].clone()
        };
        for (path, document, selection, first) in [
            (
                "query.issues",
                "query ($first: Int, $after: String) { issues(first: $first, after: $after) {selection} }",
                "totalCount nodes { id title } pageInfo { hasNextPage endCursor }",
                Some(20),
            ),
            ("query.viewer", "query { viewer {selection} }", "name boss { name }", None),
            ("query.node", "query ($id: ID!) { node(id: $id) {selection} }", "__typename id", None),
            ("query.version", "query { version }", "", None),
            (
                "query.search",
                "query ($query: String!, $max: Int) { search(query: $query, max: $max) {selection} }",
                "__typename",
                None,
            ),
            (
                "mutation.issueCreate",
                "mutation ($input: IssueInput!) { issueCreate(input: $input) {selection} }",
                "success issue { id title }",
                None,
            ),
            (
                "mutation.issueDelete",
                "mutation ($id: ID!, $select: Boolean) { issueDelete(id: $id, select: $select) }",
                "",
                None,
            ),
        ] {
            let mut expected = json!({ "document": document, "selection": selection });
            if let Some(first) = first {
                expected["first"] = json!(first);
            }
            assert_eq!(request(path), expected, "{path}");
        }
    }

    #[test]
    fn input_is_json_schema() {
        let document = document();
        let body = &document["paths"]["/v1/graphql#mutation.issueCreate"]["post"]["requestBody"];
        let schema = &body["content"]["application/json"]["schema"];
        assert_eq!(body["required"], true);
        assert_eq!(schema["required"], json!(["input"]));
        assert_eq!(schema["properties"]["input"]["$ref"], "#/components/schemas/IssueInput");
        assert!(
            schema["properties"]["select"]["description"]
                .as_str()
                .unwrap()
                .contains("issue { id title }")
        );
        let input = &document["components"]["schemas"]["IssueInput"];
        assert_eq!(
            *input,
            json!({
                "type": "object",
                "properties": {
                    "title": { "type": "string" },
                    "priority": { "anyOf": [{ "$ref": "#/components/schemas/Priority" }, { "type": "null" }] },
                    "parent": { "$ref": "#/components/schemas/IssueInput" },
                    "dueDate": { "$ref": "#/components/schemas/Date" },
                    "ids": { "type": ["array", "null"], "items": { "type": ["string", "integer"] } },
                },
                "required": ["title"],
                "additionalProperties": false,
            })
        );
        let priority = &document["components"]["schemas"]["Priority"];
        assert_eq!(*priority, json!({ "enum": ["LOW", "HIGH"] }));
        let issues = &document["paths"]["/v1/graphql#query.issues"]["post"]["requestBody"];
        assert_eq!(issues["required"], false);
    }
}
