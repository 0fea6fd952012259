//! Converts arguments and input types to JSON Schema.

use serde_json::{Map, Value, json};

use super::schema::{Argument, Kind, Schema, Type, TypeRef};

/// The schemas of enums and input objects, which [`argument`] refers to.
pub fn definitions(schema: &Schema) -> Map<String, Value> {
    let all = schema.types.iter().filter(|(name, _)| !name.starts_with("__"));
    all.filter_map(|(name, input_type)| Some((name.clone(), definition(schema, input_type)?)))
        .collect()
}

fn definition(schema: &Schema, input_type: &Type) -> Option<Value> {
    let mut definition = match &input_type.kind {
        Kind::Scalar => json!({}),
        Kind::Enum(values) => json!({ "enum": values }),
        Kind::Input(input) => {
            let properties =
                input.fields.iter().map(|field| (field.name.clone(), argument(schema, field)));
            let properties: Map<String, Value> = properties.collect();
            let required = input.fields.iter().filter(|field| field.is_required());
            let required: Vec<&str> = required.map(|field| field.name.as_str()).collect();
            let mut object = json!({ "type": "object", "properties": properties, "additionalProperties": false });
            if let Some(members) = object.as_object_mut() {
                if !required.is_empty() {
                    members.insert("required".to_owned(), json!(required));
                }
                if input.is_one_of {
                    members.insert("minProperties".to_owned(), json!(1));
                    members.insert("maxProperties".to_owned(), json!(1));
                }
            }
            object
        }
        Kind::Object(_) | Kind::Interface(_) | Kind::Union => return None,
    };
    describe(&mut definition, &input_type.description);
    Some(definition)
}

/// The schema of an argument, or of a field of an input object.
pub fn argument(schema: &Schema, argument: &Argument) -> Value {
    let mut described = match &argument.r#type {
        TypeRef::NonNull(inner) => value(inner),
        TypeRef::Named(name) if is_enum(schema, name) => {
            json!({ "anyOf": [value(&argument.r#type), { "type": "null" }] })
        }
        nullable => or_null(value(nullable)),
    };
    describe(&mut described, &argument.description);
    described
}

fn is_enum(schema: &Schema, name: &str) -> bool {
    schema.types.get(name).is_some_and(|input_type| matches!(input_type.kind, Kind::Enum(_)))
}

fn value(r#type: &TypeRef) -> Value {
    match r#type {
        TypeRef::Named(name) => match name.as_str() {
            "Int" => json!({ "type": "integer" }),
            "Float" => json!({ "type": "number" }),
            "String" => json!({ "type": "string" }),
            "Boolean" => json!({ "type": "boolean" }),
            "ID" => json!({ "type": ["string", "integer"] }),
            name => json!({ "$ref": format!("#/components/schemas/{name}") }),
        },
        TypeRef::List(inner) => json!({ "type": "array", "items": value(inner) }),
        TypeRef::NonNull(inner) => value(inner),
    }
}

/// Extends a schema with a `type` to allow null. A reference to an input object stays unchanged:
/// callers omit the object instead of sending null.
fn or_null(mut schema: Value) -> Value {
    match schema.get_mut("type") {
        Some(Value::Array(types)) => types.push("null".into()),
        Some(one) => *one = json!([one.take(), "null"]),
        None => {}
    }
    schema
}

fn describe(schema: &mut Value, description: &str) {
    if let Some(members) = schema.as_object_mut()
        && !description.is_empty()
    {
        members.insert("description".to_owned(), description.into());
    }
}
