//! Translates the metadata of an `OData` 4 service to `OpenAPI`. Each entity set becomes operations
//! that list, read, create, update and delete its rows; each unbound function or action becomes an
//! operation that calls it. Format:
//! <https://docs.oasis-open.org/odata/odata-csdl-xml/v4.01/odata-csdl-xml-v4.01.html>

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, bail};
use roxmltree::{Document, Node};
use serde_json::{Map, Value, json};

use super::SelectedParts;

/// The maximum depth of type inheritance.
const MAX_BASES: usize = 10;
/// Annotation terms that mark read-only properties.
const READ_ONLY: [&str; 2] = ["Org.OData.Core.V1.Computed", "Org.OData.Core.V1.Permissions"];
/// The maximum number of properties in the description of `$select`.
const MAX_NAMES_SHOWN: usize = 12;

/// Translates metadata to an `OpenAPI` document. `service` is the URL of the service.
pub fn openapi(text: &str, service: &str, chosen: &SelectedParts<'_>) -> Result<Value> {
    let xml = Document::parse(text).context("the metadata is not XML")?;
    let model = Model::new(&xml);
    let containers: Vec<Node<'_, '_>> = named(xml.root(), "EntityContainer").collect();
    if containers.is_empty() {
        bail!("the metadata is not that of an OData 4 service: it has no EntityContainer");
    }
    let mut paths = Map::new();
    for node in containers.iter().flat_map(Node::children) {
        let Some(name) = node.attribute("Name").filter(|name| chosen.has(name)) else { continue };
        match node.tag_name().name() {
            "EntitySet" => paths.extend(model.entity_set(name, node)),
            "FunctionImport" => paths.extend(model.function(name, node)),
            "ActionImport" => paths.extend(model.action(name, node)),
            _ => {}
        }
    }
    Ok(json!({
        "openapi": "3.1.0",
        "info": { "title": "OData", "version": "4" },
        "servers": [{ "url": service }],
        "paths": paths,
        "components": { "schemas": model.definitions() },
    }))
}

fn named<'a, 'i>(within: Node<'a, 'i>, tag: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    within.descendants().filter(move |node| node.tag_name().name() == tag)
}

struct Model<'a, 'i> {
    /// Entity, complex and enum types, by qualified name.
    types: BTreeMap<String, Node<'a, 'i>>,
    /// Unbound functions and actions, by qualified name.
    operations: BTreeMap<String, Vec<Node<'a, 'i>>>,
    /// Maps aliases to namespaces.
    aliases: BTreeMap<&'a str, &'a str>,
    /// The entity sets of each entity type.
    sets: BTreeMap<String, &'a str>,
}

impl<'a, 'i> Model<'a, 'i> {
    fn new(xml: &'a Document<'i>) -> Self {
        let mut model = Self {
            types: BTreeMap::new(),
            operations: BTreeMap::new(),
            aliases: BTreeMap::new(),
            sets: BTreeMap::new(),
        };
        for schema in named(xml.root(), "Schema") {
            let Some(namespace) = schema.attribute("Namespace") else { continue };
            if let Some(alias) = schema.attribute("Alias") {
                model.aliases.insert(alias, namespace);
            }
            for node in schema.children() {
                let Some(name) = node.attribute("Name") else { continue };
                let name = format!("{namespace}.{name}");
                let is_unbound = node.attribute("IsBound") != Some("true");
                match node.tag_name().name() {
                    "EntityType" | "ComplexType" | "EnumType" => {
                        model.types.insert(name, node);
                    }
                    "Function" | "Action" if is_unbound => {
                        model.operations.entry(name).or_default().push(node);
                    }
                    _ => {}
                }
            }
        }
        for set in named(xml.root(), "EntitySet") {
            if let Some((name, type_name)) = set.attribute("Name").zip(set.attribute("EntityType"))
            {
                let type_name = model.qualified(type_name);
                model.sets.entry(type_name).or_insert(name);
            }
        }
        model
    }

    /// A qualified name in which the alias is replaced with its namespace.
    fn qualified(&self, name: &str) -> String {
        let known = name.rsplit_once('.').and_then(|(prefix, rest)| {
            self.aliases.get(prefix).map(|namespace| format!("{namespace}.{rest}"))
        });
        known.unwrap_or_else(|| name.to_owned())
    }

    /// A type and its base types, most general type first.
    fn chain(&self, name: &str) -> Vec<Node<'a, 'i>> {
        let mut chain = Vec::new();
        let mut next = Some(self.qualified(name));
        while let Some(node) = next.and_then(|name| self.types.get(&name).copied()) {
            chain.push(node);
            let base = node.attribute("BaseType").filter(|_| chain.len() < MAX_BASES);
            next = base.map(|base| self.qualified(base));
        }
        chain.reverse();
        chain
    }

    fn members(&self, r#type: &str, tag: &'static str) -> Vec<Node<'a, 'i>> {
        let chain = self.chain(r#type);
        let child_nodes = chain.iter().flat_map(Node::children);
        child_nodes.filter(|node| node.tag_name().name() == tag).collect()
    }

    fn entity_set(&self, set: &str, node: Node<'_, '_>) -> Vec<(String, Value)> {
        let Some(type_name) =
            node.attribute("EntityType").map(|type_name| self.qualified(type_name))
        else {
            return Vec::new();
        };
        let entity = type_name.rsplit('.').next().unwrap_or(&type_name);
        let properties = self.members(&type_name, "Property");
        let reference = json!({ "$ref": format!("#/components/schemas/{type_name}") });
        let required: Vec<&str> = self.required(&type_name, &properties);
        let create = if required.is_empty() {
            reference.clone()
        } else {
            json!({ "allOf": [reference, { "required": required }] })
        };
        let select = select(&properties);
        let rows = json!({
            "get": operation(&format!("list_{set}"), &format!("List {set}"), set, &list_parameters(&select)),
            "post": with_body(operation(&format!("create_{entity}"), &format!("Create {entity}"), set, &[]), &create),
        });
        let mut paths = vec![(format!("/{set}"), rows)];
        if let Some((key, keys)) = self.key(&type_name, &properties) {
            let with_keys = |more: &[Value]| [keys.as_slice(), more].concat();
            let expand =
                query("$expand", "Related rows to return, such as `owner($select=name)`", "string");
            let row = json!({
                "get": operation(&format!("get_{entity}"), &format!("Get {entity}"), set, &with_keys(&[select, expand])),
                "patch": with_body(
                    operation(&format!("update_{entity}"), &format!("Update {entity}"), set, &with_keys(&[if_match()])),
                    &reference,
                ),
                "delete": operation(&format!("delete_{entity}"), &format!("Delete {entity}"), set, &keys),
            });
            paths.push((format!("/{set}({key})"), row));
        }
        paths
    }

    /// The names of the properties that a new row must have.
    fn required(&self, type_name: &str, properties: &[Node<'a, 'i>]) -> Vec<&'a str> {
        let keys = self.keys(type_name);
        let is_required = |node: &&Node<'_, '_>| {
            node.attribute("Nullable") == Some("false")
                && node.attribute("DefaultValue").is_none()
                && !is_read_only(**node)
        };
        let names = properties.iter().filter(is_required).filter_map(|node| node.attribute("Name"));
        names.filter(|name| !keys.contains(name)).collect()
    }

    /// The names of the properties that identify a row.
    fn keys(&self, type_name: &str) -> Vec<&'a str> {
        let keys = self.members(type_name, "Key");
        let references = keys.first().into_iter().flat_map(Node::children);
        references.filter_map(|node| node.attribute("Name")).collect()
    }

    /// The key of a row in a URL, as a template, and the path parameters of the template.
    fn key(&self, type_name: &str, properties: &[Node<'_, '_>]) -> Option<(String, Vec<Value>)> {
        let names = self.keys(type_name);
        let property = |name: &str| {
            properties.iter().find(|node| node.attribute("Name") == Some(name)).copied()
        };
        let mut parts = Vec::new();
        let mut parameters = Vec::new();
        for name in &names {
            let property = property(name)?;
            let is_text = property.attribute("Type") == Some("Edm.String");
            let value = if is_text { format!("'{{{name}}}'") } else { format!("{{{name}}}") };
            parts.push(if names.len() > 1 { format!("{name}={value}") } else { value });
            parameters.push(json!({
                "name": name, "in": "path", "required": true, "schema": self.property_schema(property, false),
            }));
        }
        (!parts.is_empty()).then(|| (parts.join(","), parameters))
    }

    /// The path and the operation of a function. The path contains aliases for the parameters,
    /// whose values are literals in the query.
    fn function(&self, name: &str, import: Node<'_, '_>) -> Option<(String, Value)> {
        let parameters = self.parameters(import.attribute("Function")?)?;
        let is_simple = |node: &&Node<'_, '_>| {
            let type_name = node.attribute("Type").unwrap_or_default();
            type_name.starts_with("Edm.") || self.is_enum(type_name)
        };
        if !parameters.iter().all(|node| is_simple(&node)) {
            return None;
        }
        let names: Vec<&str> =
            parameters.iter().filter_map(|node| node.attribute("Name")).collect();
        let aliases: Vec<String> = names.iter().map(|name| format!("{name}=@{name}")).collect();
        let literals = parameters.iter().zip(&names).map(|(node, name)| {
            let type_name = node.attribute("Type").unwrap_or_default();
            json!({
                "name": format!("@{name}"),
                "in": "query",
                "required": node.attribute("Nullable") == Some("false"),
                "description": format!("A literal of the type {type_name}; a string is in single quotes"),
                "schema": { "type": "string" },
            })
        });
        let literals: Vec<Value> = literals.collect();
        let operation = operation(name, &format!("Run {name}"), "Functions", &literals);
        Some((format!("/{name}({})", aliases.join(",")), json!({ "get": operation })))
    }

    fn action(&self, name: &str, import: Node<'_, '_>) -> Option<(String, Value)> {
        let parameters = self.parameters(import.attribute("Action")?)?;
        let mut operation = operation(name, &format!("Run {name}"), "Actions", &[]);
        if !parameters.is_empty() {
            let properties = parameters.iter().filter_map(|node| {
                Some((node.attribute("Name")?.to_owned(), self.property_schema(*node, true)))
            });
            let required = parameters
                .iter()
                .filter(|node| node.attribute("Nullable") == Some("false"))
                .filter_map(|node| node.attribute("Name"));
            let body = json!({
                "type": "object",
                "properties": properties.collect::<Map<String, Value>>(),
                "required": required.collect::<Vec<_>>(),
                "additionalProperties": false,
            });
            operation = with_body(operation, &body);
        }
        Some((format!("/{name}"), json!({ "post": operation })))
    }

    /// The parameters of a function or an action. Returns `None` if it has several overloads.
    fn parameters(&self, name: &str) -> Option<Vec<Node<'a, 'i>>> {
        let found = self.operations.get(&self.qualified(name))?;
        let [node] = found.as_slice() else { return None };
        Some(node.children().filter(|node| node.tag_name().name() == "Parameter").collect())
    }

    fn is_enum(&self, name: &str) -> bool {
        let found = self.types.get(&self.qualified(name));
        found.is_some_and(|node| node.tag_name().name() == "EnumType")
    }

    /// The schemas of all types. Entity types have only the properties that callers can write.
    fn definitions(&self) -> Map<String, Value> {
        let all = self.types.iter();
        all.map(|(name, node)| (name.clone(), self.definition(name, *node))).collect()
    }

    fn definition(&self, name: &str, node: Node<'_, '_>) -> Value {
        if node.tag_name().name() == "EnumType" {
            let members = node.children().filter_map(|member| member.attribute("Name"));
            return json!({ "type": "string", "enum": members.collect::<BTreeSet<_>>() });
        }
        let mut properties = Map::new();
        for property in
            self.members(name, "Property").into_iter().filter(|node| !is_read_only(*node))
        {
            if let Some(name) = property.attribute("Name") {
                properties.insert(name.to_owned(), self.property_schema(property, true));
            }
        }
        for link in self.members(name, "NavigationProperty") {
            let (name, type_name) = (link.attribute("Name"), link.attribute("Type"));
            let set = type_name.and_then(|type_name| self.sets.get(&self.qualified(type_name)));
            if let Some((name, set)) = name.zip(set) {
                let description = format!("The row that it refers to, such as `/{set}(…)`");
                let schema = json!({ "type": "string", "description": description });
                properties.insert(format!("{name}@odata.bind"), schema);
            }
        }
        json!({ "type": "object", "properties": properties })
    }

    /// The schema of a property or a parameter.
    fn property_schema(&self, node: Node<'_, '_>, may_be_null: bool) -> Value {
        let type_name = node.attribute("Type").unwrap_or_default();
        let item = type_name.strip_prefix("Collection(").and_then(|rest| rest.strip_suffix(')'));
        if let Some(item) = item {
            return json!({ "type": "array", "items": self.type_schema(item) });
        }
        let mut schema = self.type_schema(type_name);
        let Some(members) = schema.as_object_mut() else { return schema };
        let length = node.attribute("MaxLength").and_then(|length| length.parse::<u32>().ok());
        if let Some(length) = length.filter(|_| type_name == "Edm.String") {
            members.insert("maxLength".to_owned(), length.into());
        }
        let is_nullable = may_be_null && node.attribute("Nullable") != Some("false");
        if is_nullable && let Some(one) = members.get("type").cloned() {
            members.insert("type".to_owned(), json!([one, "null"]));
        }
        schema
    }

    fn type_schema(&self, type_name: &str) -> Value {
        let text = |format: &str| json!({ "type": "string", "format": format });
        match type_name {
            "Edm.String" | "Edm.Duration" | "Edm.TimeOfDay" => json!({ "type": "string" }),
            "Edm.Binary" => json!({ "type": "string", "description": "In base64url" }),
            "Edm.Guid" => text("uuid"),
            "Edm.Date" => text("date"),
            "Edm.DateTimeOffset" => text("date-time"),
            "Edm.Boolean" => json!({ "type": "boolean" }),
            "Edm.Byte" | "Edm.SByte" | "Edm.Int16" | "Edm.Int32" | "Edm.Int64" => {
                json!({ "type": "integer" })
            }
            "Edm.Decimal" | "Edm.Double" | "Edm.Single" => json!({ "type": "number" }),
            _ => {
                let name = self.qualified(type_name);
                if self.types.contains_key(&name) {
                    json!({ "$ref": format!("#/components/schemas/{name}") })
                } else {
                    json!({})
                }
            }
        }
    }
}

fn is_read_only(property: Node<'_, '_>) -> bool {
    property.children().filter(|node| node.tag_name().name() == "Annotation").any(|annotation| {
        let term = annotation.attribute("Term").unwrap_or_default();
        let is_denied = annotation.attribute("Bool") == Some("false");
        let text = named(annotation, "EnumMember").find_map(|node| node.text());
        let member = annotation.attribute("EnumMember").or(text);
        READ_ONLY.contains(&term)
            && !is_denied
            && !member.is_some_and(|member| member.contains("Write"))
    })
}

fn operation(id: &str, summary: &str, tag: &str, parameters: &[Value]) -> Value {
    json!({
        "operationId": id,
        "summary": summary,
        "tags": [tag],
        "parameters": parameters,
        "responses": { "200": { "description": "The response" } },
    })
}

fn with_body(mut operation: Value, schema: &Value) -> Value {
    if let Some(members) = operation.as_object_mut() {
        let content = json!({ "application/json": { "schema": schema } });
        members.insert("requestBody".to_owned(), json!({ "required": true, "content": content }));
    }
    operation
}

fn query(name: &str, description: &str, r#type: &str) -> Value {
    json!({ "name": name, "in": "query", "description": description, "schema": { "type": r#type } })
}

/// The header `If-Match`. Without it, an update of a nonexistent row would create the row.
fn if_match() -> Value {
    json!({
        "name": "If-Match",
        "in": "header",
        "description": "`*` updates only a row that exists; otherwise one is created with this key",
        "schema": { "type": "string" },
    })
}

fn select(properties: &[Node<'_, '_>]) -> Value {
    let names = properties.iter().filter_map(|node| node.attribute("Name"));
    let names = names.take(MAX_NAMES_SHOWN).collect::<Vec<_>>().join(",");
    query(
        "$select",
        &format!("The properties to return, separated by commas, such as {names}"),
        "string",
    )
}

/// The query parameters that Dataverse supports, the only `OData` service so far. Dataverse
/// supports neither `$skip` nor `$search`; responses have the URL of the next page in
/// `@odata.nextLink`.
fn list_parameters(select: &Value) -> Vec<Value> {
    vec![
        select.clone(),
        query("$filter", "A condition, such as `name eq 'Acme'`", "string"),
        query("$orderby", "The order, such as `createdon desc`", "string"),
        query("$top", "The maximum number of rows", "integer"),
        query("$expand", "Related rows to return, such as `owner($select=name)`", "string"),
        query("$count", "Whether to return the number of rows", "boolean"),
    ]
}
