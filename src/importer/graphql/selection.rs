//! Builds the default selection of a field: the scalars of its type, two levels deep.

use super::schema::{Argument, Field, Schema, Type, TypeRef};

/// The maximum number of scalars on the first level, and per object on the second level.
const MAX_LEAVES: [usize; 2] = [60, 40];
/// Fields that identify or describe an object. They are selected first, because some schemas sort
/// their fields by name.
const FIRST_FIELDS: [&str; 9] =
    ["id", "identifier", "key", "name", "title", "displayName", "email", "url", "status"];
/// The maximum number of objects on the second level.
const MAX_OBJECTS: usize = 15;

/// The default selection of a type, without outer braces. Returns `None` for a scalar.
pub fn default(schema: &Schema, r#type: &TypeRef) -> Option<String> {
    let name = r#type.name();
    if schema.is_leaf(name) {
        return None;
    }
    let fields = schema.fields(name);
    let usable = || fields.iter().filter(|field| is_usable(field));
    let mut parts = scalar_fields(schema, name, MAX_LEAVES[0]);
    let has_nodes = usable().any(|field| field.name == "nodes");
    let objects = usable().filter(|field| !schema.is_leaf(field.r#type.name()));
    // Skip nested lists: they multiply the cost of a query, which platforms limit.
    let is_wrapper = |field: &Field| has_nodes && field.name == "edges";
    let objects = objects.filter(|field| !is_page(field)).filter(|field| !is_wrapper(field));
    let nested =
        objects.filter_map(|field| Some((field, nested(schema, field)?))).take(MAX_OBJECTS);
    parts.extend(nested.map(|(field, selection)| format!("{} {{ {selection} }}", field.name)));
    if parts.is_empty() || is_abstract(schema, name) {
        parts.insert(0, "__typename".to_owned());
    }
    Some(parts.join(" "))
}

/// Selects the scalars of a nested object. For the edges of a page, selects the scalars of their
/// nodes.
fn nested(schema: &Schema, field: &Field) -> Option<String> {
    let name = field.r#type.name();
    let mut parts = scalar_fields(schema, name, MAX_LEAVES[1]);
    if field.name == "edges"
        && let Some(node) = schema.fields(name).iter().find(|field| field.name == "node")
    {
        let scalars = scalar_fields(schema, node.r#type.name(), MAX_LEAVES[1]).join(" ");
        let scalars = if scalars.is_empty() { "__typename" } else { &scalars };
        parts.push(format!("node {{ {scalars} }}"));
    }
    Some(parts.join(" ")).filter(|selection| !selection.is_empty())
}

fn scalar_fields(schema: &Schema, name: &str, max: usize) -> Vec<String> {
    let fields = schema.fields(name).iter();
    let fields = fields.filter(|field| is_usable(field) && schema.is_leaf(field.r#type.name()));
    let mut names: Vec<&str> = fields.map(|field| field.name.as_str()).collect();
    names.sort_by_key(|name| {
        FIRST_FIELDS.iter().position(|first| first == name).unwrap_or(FIRST_FIELDS.len())
    });
    names.into_iter().take(max).map(str::to_owned).collect()
}

/// Whether a field can be selected without arguments.
fn is_usable(field: &Field) -> bool {
    !field.is_deprecated && !field.arguments.iter().any(Argument::is_required)
}

fn is_page(field: &Field) -> bool {
    field
        .arguments
        .iter()
        .any(|argument| matches!(argument.name.as_str(), "first" | "last" | "limit"))
}

/// Whether values of a type can have different object types, so that `__typename` is needed.
fn is_abstract(schema: &Schema, name: &str) -> bool {
    schema.types.get(name).is_some_and(Type::is_abstract)
}
