//! Parses a GraphQL schema from SDL or the JSON of an introspection query. Specification:
//! <https://spec.graphql.org/September2025/#sec-Type-System>

use std::collections::BTreeMap;
use std::fmt;

use cynic_parser::parse_type_system_document;
use cynic_parser::type_system::{
    Definition, Description, Directive, FieldDefinition, InputValueDefinition,
    RootOperationTypeDefinition, TypeDefinition,
};
use serde::Deserialize;
use serde_json::Value;

use crate::importer::text;

#[derive(Debug, Default)]
pub struct Schema {
    /// The name of the query root type.
    pub query: Option<String>,
    /// The name of the mutation root type.
    pub mutation: Option<String>,
    pub types: BTreeMap<String, Type>,
}

#[derive(Debug, Default, Clone)]
pub struct Type {
    pub description: String,
    pub kind: Kind,
}

#[derive(Debug, Clone, Default)]
pub enum Kind {
    #[default]
    Scalar,
    Object(Vec<Field>),
    Interface(Vec<Field>),
    Union,
    Enum(Vec<String>),
    Input(InputObject),
}

#[derive(Debug, Clone, Default)]
pub struct InputObject {
    pub fields: Vec<Argument>,
    /// Whether callers must send exactly one of the fields (`@oneOf`).
    pub is_one_of: bool,
}

#[derive(Debug, Clone)]
pub struct Field {
    pub name: String,
    pub description: String,
    pub is_deprecated: bool,
    pub arguments: Vec<Argument>,
    pub r#type: TypeRef,
}

/// An argument of a field, or a field of an input object.
#[derive(Debug, Clone)]
pub struct Argument {
    pub name: String,
    pub description: String,
    pub r#type: TypeRef,
    pub has_default: bool,
}

impl Argument {
    pub const fn is_required(&self) -> bool {
        matches!(self.r#type, TypeRef::NonNull(_)) && !self.has_default
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeRef {
    Named(String),
    List(Box<TypeRef>),
    NonNull(Box<TypeRef>),
}

impl TypeRef {
    /// Parses a type in GraphQL's notation, such as `[ID!]!`.
    fn parse(text: &str) -> Self {
        if let Some(inner) = text.strip_suffix('!') {
            return Self::NonNull(Box::new(Self::parse(inner)));
        }
        match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            Some(inner) => Self::List(Box::new(Self::parse(inner))),
            None => Self::Named(text.to_owned()),
        }
    }

    /// The name of the type, without brackets and exclamation marks.
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::List(inner) | Self::NonNull(inner) => inner.name(),
        }
    }

    pub fn is_list(&self) -> bool {
        match self {
            Self::Named(_) => false,
            Self::List(_) => true,
            Self::NonNull(inner) => inner.is_list(),
        }
    }
}

/// Formats the type in GraphQL's notation, such as `[ID!]!`.
impl fmt::Display for TypeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::List(inner) => write!(f, "[{inner}]"),
            Self::NonNull(inner) => write!(f, "{inner}!"),
        }
    }
}

impl Type {
    /// Whether values of the type can have different object types.
    pub const fn is_abstract(&self) -> bool {
        matches!(self.kind, Kind::Interface(_) | Kind::Union)
    }
}

impl Schema {
    /// Parses SDL or the JSON of an introspection query. The error message is a single line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let schema = if text.trim_start().starts_with('{') {
            from_introspection(text)?
        } else {
            from_sdl(text.trim_start_matches('\u{feff}'))?
        };
        let is_object = |name: &String| {
            schema.types.get(name).is_some_and(|own| matches!(own.kind, Kind::Object(_)))
        };
        if !schema.query.as_ref().is_some_and(is_object) {
            return Err("it has no query type".to_owned());
        }
        Ok(schema)
    }

    /// The fields of an object type or an interface.
    pub fn fields(&self, name: &str) -> &[Field] {
        match self.types.get(name).map(|own| &own.kind) {
            Some(Kind::Object(fields) | Kind::Interface(fields)) => fields,
            _ => &[],
        }
    }

    /// Whether a type is a scalar or an enum. Built-in scalars have no definition.
    pub fn is_leaf(&self, name: &str) -> bool {
        self.types.get(name).is_none_or(|own| matches!(own.kind, Kind::Scalar | Kind::Enum(_)))
    }
}

fn from_sdl(text: &str) -> Result<Schema, String> {
    // Workaround: the lexer of cynic-parser 0.11 panics on four-byte characters in block strings.
    // Such characters occur only in descriptions, default values and comments.
    let sdl = text.replace(|character| character > '\u{ffff}', "");
    let document =
        parse_type_system_document(&sdl).map_err(|e| text::verbatim(&e.to_string(), 200))?;
    let mut schema = Schema::default();
    let mut extensions = Vec::new();
    let mut has_roots = false;
    for definition in document.definitions() {
        match definition {
            Definition::Schema(own) | Definition::SchemaExtension(own) => {
                has_roots = has_roots || matches!(definition, Definition::Schema(_));
                let name = |root: RootOperationTypeDefinition<'_>| root.named_type().to_owned();
                schema.query = own.query_type().map(name).or(schema.query);
                schema.mutation = own.mutation_type().map(name).or(schema.mutation);
            }
            Definition::Type(own) => {
                let own_type = Type { description: text_of(own.description()), kind: kind(own) };
                schema.types.insert(own.name().to_owned(), own_type);
            }
            Definition::TypeExtension(own) => extensions.push(own),
            Definition::Directive(_) => {}
        }
    }
    for extension in extensions {
        if let Some(own) = schema.types.get_mut(extension.name()) {
            own.kind.extend(kind(extension));
        }
    }
    if !has_roots {
        let default = |name: &str| schema.types.contains_key(name).then(|| name.to_owned());
        schema.query = schema.query.or_else(|| default("Query"));
        schema.mutation = schema.mutation.or_else(|| default("Mutation"));
    }
    Ok(schema)
}

fn kind(definition: TypeDefinition<'_>) -> Kind {
    match definition {
        TypeDefinition::Scalar(_) => Kind::Scalar,
        TypeDefinition::Object(it) => Kind::Object(it.fields().map(field).collect()),
        TypeDefinition::Interface(it) => Kind::Interface(it.fields().map(field).collect()),
        TypeDefinition::Union(_) => Kind::Union,
        TypeDefinition::Enum(it) => {
            Kind::Enum(it.values().map(|value| value.value().to_owned()).collect())
        }
        TypeDefinition::InputObject(it) => Kind::Input(InputObject {
            fields: arguments(it.fields()),
            is_one_of: has_directive(it.directives(), "oneOf"),
        }),
    }
}

impl Kind {
    /// Adds the members that an extension of the type defines.
    fn extend(&mut self, extension: Self) {
        match (self, extension) {
            (Self::Object(own), Self::Object(more))
            | (Self::Interface(own), Self::Interface(more)) => own.extend(more),
            (Self::Enum(own), Self::Enum(more)) => own.extend(more),
            (Self::Input(own), Self::Input(more)) => {
                own.fields.extend(more.fields);
                own.is_one_of |= more.is_one_of;
            }
            _ => {}
        }
    }
}

fn field(it: FieldDefinition<'_>) -> Field {
    Field {
        name: it.name().to_owned(),
        description: text_of(it.description()),
        is_deprecated: has_directive(it.directives(), "deprecated"),
        arguments: arguments(it.arguments()),
        r#type: TypeRef::parse(&it.ty().to_string()),
    }
}

fn arguments<'a>(inputs: impl Iterator<Item = InputValueDefinition<'a>>) -> Vec<Argument> {
    let inputs = inputs.filter(|it| !has_directive(it.directives(), "deprecated"));
    let argument = |it: InputValueDefinition<'_>| Argument {
        name: it.name().to_owned(),
        description: text_of(it.description()),
        r#type: TypeRef::parse(&it.ty().to_string()),
        has_default: it.default_value().is_some(),
    };
    inputs.map(argument).collect()
}

fn text_of(description: Option<Description<'_>>) -> String {
    description.map(|it| it.to_cow().into_owned()).unwrap_or_default()
}

fn has_directive<'a>(mut directives: impl Iterator<Item = Directive<'a>>, name: &str) -> bool {
    directives.any(|directive| directive.name() == name)
}

/// The result of an introspection query. In a type, lists that don't apply to its kind are `null`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Introspection {
    query_type: Option<IntrospectionName>,
    mutation_type: Option<IntrospectionName>,
    types: Vec<IntrospectionType>,
}

#[derive(Deserialize)]
struct IntrospectionName {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IntrospectionType {
    kind: String,
    name: String,
    description: Option<String>,
    fields: Option<Vec<IntrospectionField>>,
    input_fields: Option<Vec<IntrospectionArgument>>,
    enum_values: Option<Vec<IntrospectionName>>,
    is_one_of: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IntrospectionField {
    name: String,
    description: Option<String>,
    #[serde(default)]
    args: Vec<IntrospectionArgument>,
    r#type: IntrospectionTypeRef,
    #[serde(default)]
    is_deprecated: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IntrospectionArgument {
    name: String,
    description: Option<String>,
    r#type: IntrospectionTypeRef,
    default_value: Option<String>,
    #[serde(default)]
    is_deprecated: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IntrospectionTypeRef {
    kind: String,
    name: Option<String>,
    of_type: Option<Box<IntrospectionTypeRef>>,
}

fn from_introspection(text: &str) -> Result<Schema, String> {
    let one_line = |e: serde_json::Error| text::verbatim(&e.to_string(), 200);
    let mut document: Value = serde_json::from_str(text).map_err(one_line)?;
    let mut found = None;
    for pointer in ["/data/__schema", "/__schema"] {
        found = found.or_else(|| document.pointer_mut(pointer).map(Value::take));
    }
    let found = found.ok_or("it has no `__schema`")?;
    let Introspection { query_type, mutation_type, types } =
        serde_json::from_value(found).map_err(one_line)?;
    let mut schema = Schema {
        query: query_type.map(|it| it.name),
        mutation: mutation_type.map(|it| it.name),
        types: BTreeMap::new(),
    };
    for it in types {
        let kind = match it.kind.as_str() {
            "OBJECT" | "INTERFACE" => {
                let fields = it.fields.unwrap_or_default().into_iter().map(convert_field);
                let fields = fields.collect::<Result<_, _>>()?;
                if it.kind == "OBJECT" { Kind::Object(fields) } else { Kind::Interface(fields) }
            }
            "UNION" => Kind::Union,
            "ENUM" => Kind::Enum(
                it.enum_values.unwrap_or_default().into_iter().map(|it| it.name).collect(),
            ),
            "INPUT_OBJECT" => Kind::Input(InputObject {
                fields: convert_arguments(it.input_fields.unwrap_or_default())?,
                is_one_of: it.is_one_of == Some(true),
            }),
            _ => Kind::Scalar,
        };
        let description = it.description.unwrap_or_default();
        schema.types.insert(it.name, Type { description, kind });
    }
    Ok(schema)
}

fn convert_field(it: IntrospectionField) -> Result<Field, String> {
    Ok(Field {
        name: it.name,
        description: it.description.unwrap_or_default(),
        is_deprecated: it.is_deprecated,
        arguments: convert_arguments(it.args)?,
        r#type: convert_type_ref(it.r#type)?,
    })
}

fn convert_arguments(inputs: Vec<IntrospectionArgument>) -> Result<Vec<Argument>, String> {
    let argument = |it: IntrospectionArgument| {
        Ok(Argument {
            name: it.name,
            description: it.description.unwrap_or_default(),
            r#type: convert_type_ref(it.r#type)?,
            has_default: it.default_value.is_some(),
        })
    };
    inputs.into_iter().filter(|it| !it.is_deprecated).map(argument).collect()
}

fn convert_type_ref(it: IntrospectionTypeRef) -> Result<TypeRef, String> {
    let inner = |of: Option<Box<IntrospectionTypeRef>>| {
        let of = of.ok_or("a type is nested more deeply than the introspection query requested")?;
        convert_type_ref(*of).map(Box::new)
    };
    Ok(match it.kind.as_str() {
        "LIST" => TypeRef::List(inner(it.of_type)?),
        "NON_NULL" => TypeRef::NonNull(inner(it.of_type)?),
        _ => TypeRef::Named(it.name.ok_or("a type has no name")?),
    })
}

#[cfg(test)]
mod tests {
    use super::{Kind, Schema};

    #[test]
    fn sdl_and_introspection_parse_to_equal_schemas() {
        let sdl = r#"
            "The root"
            schema { query: Root }
            type Root { "All pets" pets(first: Int = 5, old: Int @deprecated, filter: PetFilter!): [Pet!]! old: Int @deprecated(reason: "no") }
            interface Named { name: String }
            type Pet implements Named { name: String kind: PetKind }
            extend type Pet { id: ID! }
            enum PetKind { CAT }
            extend enum PetKind { DOG }
            union Any = Pet
            input PetFilter @oneOf { name: String id: ID }
            scalar Date
        "#;
        let named = |kind: &str, name: &str| {
            format!(r#"{{"kind":"{kind}","name":"{name}","ofType":null}}"#)
        };
        let wrapped = |kind: &str, inner: &str| {
            format!(r#"{{"kind":"{kind}","name":null,"ofType":{inner}}}"#)
        };
        let pets =
            wrapped("NON_NULL", &wrapped("LIST", &wrapped("NON_NULL", &named("OBJECT", "Pet"))));
        let (int, string, id) =
            (named("SCALAR", "Int"), named("SCALAR", "String"), named("SCALAR", "ID"));
        let filter = wrapped("NON_NULL", &named("INPUT_OBJECT", "PetFilter"));
        let (kind, must) = (named("ENUM", "PetKind"), wrapped("NON_NULL", &id));
        let json = format!(
            r#"{{"data":{{"__schema":{{"queryType":{{"name":"Root"}},"mutationType":null,"types":[
                {{"kind":"OBJECT","name":"Root","description":null,"fields":[
                    {{"name":"pets","description":"All pets","args":[
                        {{"name":"first","description":null,"type":{int},"defaultValue":"5"}},
                        {{"name":"filter","description":null,"type":{filter},"defaultValue":null}}
                    ],"type":{pets},"isDeprecated":false}},
                    {{"name":"old","description":null,"args":[],"type":{int},"isDeprecated":true}}
                ]}},
                {{"kind":"INTERFACE","name":"Named","fields":[{{"name":"name","args":[],"type":{string}}}]}},
                {{"kind":"OBJECT","name":"Pet","fields":[
                    {{"name":"name","args":[],"type":{string}}},
                    {{"name":"kind","args":[],"type":{kind}}},
                    {{"name":"id","args":[],"type":{must}}}
                ]}},
                {{"kind":"ENUM","name":"PetKind","enumValues":[{{"name":"CAT"}},{{"name":"DOG"}}]}},
                {{"kind":"UNION","name":"Any"}},
                {{"kind":"INPUT_OBJECT","name":"PetFilter","isOneOf":true,"inputFields":[
                    {{"name":"name","type":{string}}},{{"name":"id","type":{id}}}
                ]}},
                {{"kind":"SCALAR","name":"Date"}}
            ]}}}}}}"#
        );
        let (sdl, json) = (Schema::parse(sdl).unwrap(), Schema::parse(&json).unwrap());
        assert_eq!(format!("{sdl:?}"), format!("{json:?}"));
        let pets = &sdl.fields("Root")[0];
        assert_eq!(pets.r#type.to_string(), "[Pet!]!");
        assert!(pets.arguments[1].is_required() && !pets.arguments[0].is_required());
        assert!(matches!(&sdl.types["PetFilter"].kind, Kind::Input(input) if input.is_one_of));
        assert!(sdl.is_leaf("Int") && sdl.is_leaf("Date") && !sdl.is_leaf("Any"));
    }

    #[test]
    fn errors_explain_the_cause() {
        for (text, expected) in [
            ("type Pet { id: ID }", "it has no query type"),
            ("schema { query: Root }", "it has no query type"),
            ("enum Query { A }", "it has no query type"),
            ("{}", "it has no `__schema`"),
            (r#"{"__schema":{"types":[]}}"#, "it has no query type"),
        ] {
            assert_eq!(Schema::parse(text).unwrap_err(), expected, "{text}");
        }
        assert!(Schema::parse("type Query {").is_err());
        assert!(Schema::parse(r#"{"__schema":{"types":5}}"#).is_err());
    }
}
