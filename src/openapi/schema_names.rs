//! Names nested schemas. Client generators create a type for each object and each enumeration. They
//! number the types of unnamed schemas, and an addition to the API would change the numbers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::json::{Members as _, object, to_source};
use super::schema::reference;

/// Properties with names that are too generic to name an enumeration.
const GENERIC_PROPERTIES: [&str; 3] = ["code", "status", "type"];

/// The schemas of the document, by name.
#[derive(Debug)]
struct Names {
    schemas: Vec<(String, Value)>,
    /// Enumerations that occur in more than one schema, by property.
    shared: BTreeMap<String, Vec<Value>>,
}

/// Names each nested object and enumeration after the schema and the property that contain it.
pub fn name_nested_schemas(schemas: Value) -> Value {
    let Value::Object(schemas) = schemas else { panic!("schemas have names") };
    let mut users: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    let mut shared: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (name, schema) in &schemas {
        enumerations(schema, "", &mut |property, own| {
            let users = users.entry((property.to_owned(), to_source(&own))).or_default();
            // An enumeration is shared if at least two schemas use it.
            if users.insert(name.clone()) && users.len() == 2 {
                shared.entry(property.to_owned()).or_default().push(own);
            }
        });
    }
    let mut names = Names { schemas: Vec::new(), shared };
    let all: Vec<String> = schemas.keys().cloned().collect();
    for (name, schema) in schemas {
        let schema = names.extract_nested(schema, &name);
        names.schemas.push((name, schema));
    }
    // Append the newly named schemas after the existing ones.
    names
        .schemas
        .sort_by_key(|(name, _)| all.iter().position(|known| known == name).unwrap_or(all.len()));
    object(names.schemas)
}

/// Calls `show` with each enumeration in a schema and the property that contains it.
fn enumerations(schema: &Value, property: &str, show: &mut impl FnMut(&str, Value)) {
    if let Some((own, _)) = enumeration(schema) {
        return show(property, own);
    }
    match schema {
        Value::Object(members) => {
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("properties", Value::Object(properties)) => {
                        for (name, value) in properties {
                            enumerations(value, name, show);
                        }
                    }
                    ("items", _) => enumerations(value, singular(property), show),
                    ("additionalProperties" | "oneOf" | "anyOf" | "allOf", _) => {
                        enumerations(value, property, show);
                    }
                    _ => {}
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| enumerations(item, property, show)),
        _ => {}
    }
}

/// The enumeration of a schema, without its description, and whether the schema allows null.
/// Returns `None` for other schemas.
fn enumeration(schema: &Value) -> Option<(Value, bool)> {
    let Some(Value::Array(values)) = schema.get("enum") else { return None };
    let texts: Vec<Value> = values.iter().filter(|value| value.is_string()).cloned().collect();
    // A single value is a constant, not an enumeration.
    let is_enumeration = texts.len() > 1;
    let own = json!({"type": "string", "enum": texts});
    is_enumeration.then(|| (own, values.contains(&Value::Null)))
}

fn singular(name: &str) -> &str {
    name.strip_suffix('s').filter(|rest| !rest.ends_with(['s', 'u'])).unwrap_or(name)
}

fn pascal(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    words
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| {
                first.to_ascii_uppercase().to_string() + letters.as_str()
            })
        })
        .collect()
}

/// Whether a schema is an object with known members, or a choice of alternatives.
fn is_object(schema: &Value) -> bool {
    schema.get("properties").is_some() || schema.get("oneOf").is_some_and(|of| !is_nullable(of))
}

/// Whether the alternatives are a single schema and null.
fn is_nullable(alternatives: &Value) -> bool {
    let Value::Array(alternatives) = alternatives else { return false };
    let is_null = |schema: &Value| schema["type"] == "null";
    alternatives.len() == 2 && alternatives.iter().any(is_null)
}

fn without_title(schema: Value) -> Value {
    let Value::Object(members) = schema else { return schema };
    Value::Object(members.into_iter().filter(|(name, _)| name != "title").collect())
}

/// The name of an alternative: its `title`, the constant value of its `type`, or its first
/// property.
fn alternative(schema: &Value, parent: &str) -> String {
    if let Some(Value::String(title)) = schema.get("title") {
        return title.clone();
    }
    let properties = schema.get("properties");
    let constant = properties.and_then(|all| all.get("type")).and_then(|own| own.get("const"));
    let first = properties.and_then(|all| all.names().first().map(|name| (*name).to_owned()));
    let name = match constant {
        Some(Value::String(text)) => text.clone(),
        _ => first.unwrap_or_default(),
    };
    parent.to_owned() + &pascal(&name)
}

impl Names {
    /// Replaces the nested schemas of the schema `name` with references to named schemas.
    fn extract_nested(&mut self, schema: Value, name: &str) -> Value {
        let Value::Object(members) = schema else { return schema };
        let inner = members.into_iter().map(|(member, value)| {
            let value = match (member.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    let named = properties.into_iter().map(|(property, value)| {
                        let value = self.child(value, name, &property);
                        (property, value)
                    });
                    Value::Object(named.collect())
                }
                ("items", value) => self.child(value, name, "item"),
                ("additionalProperties", value) => self.child(value, name, "value"),
                ("oneOf" | "anyOf" | "allOf", Value::Array(all)) => {
                    let all = all.into_iter().map(|one| match one.get("properties") {
                        Some(_) => {
                            let own = alternative(&one, name);
                            // Drop the title, because Swagger UI does not expand nested schemas
                            // with a title.
                            let one = self.extract_nested(without_title(one), &own);
                            self.put(&own, "", one)
                        }
                        None => self.extract_nested(one, name),
                    });
                    Value::Array(all.collect())
                }
                (_, value) => value,
            };
            (member, value)
        });
        Value::Object(inner.collect())
    }

    /// Processes the schema of a property. Returns a reference if the schema is named.
    fn child(&mut self, schema: Value, parent: &str, property: &str) -> Value {
        let long = parent.to_owned() + &pascal(property);
        if let Some((own, is_nullable)) = enumeration(&schema) {
            let is_shared = !GENERIC_PROPERTIES.contains(&property)
                && self.shared.get(property).is_some_and(|all| all.contains(&own));
            let short = pascal(property);
            let is_free = |name: &str| match self.find(name) {
                Some(known) => *known == own,
                None => true,
            };
            let name = if is_shared && is_free(&short) { short } else { long };
            let own = self.put(&name, property, own);
            let Value::Object(members) = schema else { return schema };
            let described =
                members.into_iter().filter(|(name, _)| name != "type" && name != "enum");
            let own = if is_nullable { json!({"oneOf": [own, {"type": "null"}]}) } else { own };
            return Value::Object(described.collect()).with(own);
        }
        let Value::Object(members) = schema else { return schema };
        if is_object(&Value::Object(members.clone())) {
            let own = self.extract_nested(Value::Object(members), &long);
            return self.put(&long, property, own);
        }
        let inner = members.into_iter().map(|(member, value)| {
            let value = match (member.as_str(), value) {
                ("items", value) => self.child(value, parent, singular(property)),
                ("oneOf", Value::Array(all)) => Value::Array(
                    all.into_iter().map(|one| self.child(one, parent, property)).collect(),
                ),
                ("additionalProperties", value) => self.child(value, &long, "value"),
                (_, value) => value,
            };
            (member, value)
        });
        Value::Object(inner.collect())
    }

    fn find(&self, name: &str) -> Option<&Value> {
        self.schemas.iter().find(|(known, _)| known == name).map(|(_, schema)| schema)
    }

    /// Names a schema, or reuses an equal schema of a property with the same name. Returns a
    /// reference.
    fn put(&mut self, name: &str, property: &str, schema: Value) -> Value {
        let same = self.schemas.iter().find(|(known, other)| {
            known.ends_with(&pascal(property)) && *other == schema && !property.is_empty()
        });
        if let Some((known, _)) = same {
            return reference(known);
        }
        match self.find(name) {
            Some(known) => assert_eq!(*known, schema, "two schemas are called {name}"),
            None => self.schemas.push((name.to_owned(), schema)),
        }
        reference(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_objects_and_shared_enumerations() {
        let schemas = r#"{
            "A": {"type": "object", "properties": {
                "state": {"description": "Its state.", "type": "string", "enum": ["on", "off"]},
                "kinds": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
                "owner": {"oneOf": [{"type": "object", "properties": {"id": {"type": "string"}}}, {"type": "null"}]},
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
                "one": {"type": "string", "enum": ["only"]}
            }},
            "B": {"type": "object", "properties": {
                "state": {"type": ["string", "null"], "enum": ["on", "off", null]},
                "parts": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}
            }},
            "C": {"oneOf": [
                {"type": "object", "properties": {"type": {"const": "api_key"}}},
                {"title": "Other", "type": "object", "properties": {"b": {"type": "string"}}}
            ]}
        }"#;
        let expected = r##"{
            "A": {"type": "object", "properties": {
                "state": {"description": "Its state.", "$ref": "#/components/schemas/State"},
                "kinds": {"type": "array", "items": {"$ref": "#/components/schemas/AKind"}},
                "owner": {"oneOf": [{"$ref": "#/components/schemas/AOwner"}, {"type": "null"}]},
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
                "one": {"type": "string", "enum": ["only"]}
            }},
            "B": {"type": "object", "properties": {
                "state": {"oneOf": [{"$ref": "#/components/schemas/State"}, {"type": "null"}]},
                "parts": {"type": "array", "items": {"$ref": "#/components/schemas/BPart"}}
            }},
            "C": {"oneOf": [{"$ref": "#/components/schemas/CApi_key"}, {"$ref": "#/components/schemas/Other"}]},
            "State": {"type": "string", "enum": ["on", "off"]},
            "AKind": {"type": "string", "enum": ["x", "y"]},
            "AOwner": {"type": "object", "properties": {"id": {"type": "string"}}},
            "BPart": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "CApi_key": {"type": "object", "properties": {"type": {"const": "api_key"}}},
            "Other": {"type": "object", "properties": {"b": {"type": "string"}}}
        }"##
        .replace("CApi_key", "CApiKey");
        let parse = |text: &str| serde_json::from_str(text).unwrap();
        assert_eq!(to_source(&name_nested_schemas(parse(schemas))), to_source(&parse(&expected)));
    }
}
