//! The stored form of an action's detail, as JSON. Schemas are unparsed JSON with references to
//! shared definitions.

use std::collections::BTreeMap;

use crate::catalog::graphql::GraphqlRequest;
use crate::terms::Method;
use serde::{Deserialize, Serialize};

/// Replaces a schema that is too large, and allows any value.
pub const TOO_LARGE: &str = r#"{"description":"Left out, since the schema would be too large."}"#;

/// An action with its detail. Schemas (type `S`) are JSON Schema 2020-12; each `$ref` is
/// `#/$defs/<name>` and points to a definition in the same [unit](super::unit).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredAction<S> {
    pub title: String,
    pub key: String,
    pub method: Method,
    pub model_name: String,
    /// The members of the detail that the API returns unchanged.
    pub facts: OperationInfo,
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter<S>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_body: Option<RequestBody<S>>,
    /// Alternative lists of security schemes; all schemes of a list are required. `None` if the
    /// document declares no security.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<Vec<Vec<Requirement>>>,
    /// The media types of successful responses, preferred first. Empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub response_types: Vec<String>,
    /// The definitions that the schemas of parameters and body need.
    #[serde(default, skip_serializing_if = "DefinitionRefs::is_empty")]
    pub reached: DefinitionRefs,
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<StoredResponse<S>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OperationInfo {
    /// The path relative to the server. Each `{name}` is a path parameter.
    pub path: String,
    /// The base URL of the action. `None` if it is the connector's first server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// A single line; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "is_false")]
    pub deprecated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// The GraphQL request. `None` for a REST action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graphql: Option<GraphqlRequest>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parameter<S> {
    pub name: String,
    pub r#in: ParameterLocation,
    pub required: bool,
    pub schema: S,
    /// `OpenAPI`'s `style`: how a list or an object is serialized.
    pub style: String,
    /// `OpenAPI`'s `explode`: whether each item of a list or an object becomes a parameter of its own.
    pub explode: bool,
    /// `OpenAPI`'s `allowReserved`: whether reserved characters stay unescaped.
    #[serde(default, skip_serializing_if = "is_false")]
    pub allow_reserved: bool,
    /// The media type of a serialized value, instead of a `style`.
    pub content_type: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParameterLocation {
    Path,
    Query,
    Header,
    Cookie,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestBody<S> {
    pub required: bool,
    /// The accepted media types. The schema describes the first type.
    pub content_types: Vec<String>,
    pub schema: S,
    /// `OpenAPI`'s `encoding`: how the members of a form are serialized.
    #[serde(default = "BTreeMap::new", skip_serializing_if = "BTreeMap::is_empty")]
    pub encoding: BTreeMap<String, Encoding>,
}

/// The serialization of a form's member: like a query parameter, or as a part of a multipart body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Encoding {
    /// `OpenAPI`'s `style`: how a list or an object is serialized.
    pub style: String,
    /// `OpenAPI`'s `explode`: whether each item of a list or an object becomes a parameter of its own.
    pub explode: bool,
    /// `OpenAPI`'s `allowReserved`: whether reserved characters stay unescaped.
    #[serde(default, skip_serializing_if = "is_false")]
    pub allow_reserved: bool,
    /// `OpenAPI`'s `contentType`: the media types that a part may have, comma-separated, possibly with wildcards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The headers that a part may have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
}

/// A security scheme of the document, with the scopes that it requires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    pub scheme: String,
    /// Empty except for OAuth.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

/// The definitions that a schema needs, directly or indirectly, as numbers within the unit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinitionRefs {
    /// Definitions to include in the response, those nearest to the schema first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whole: Vec<u32>,
    /// Definitions to replace with [`TOO_LARGE`], because the response would become too large.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<u32>,
}

impl DefinitionRefs {
    pub const fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.cut.is_empty()
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredResponse<S> {
    /// `200`, `4XX` or `default`, for example.
    pub status: String,
    /// The document's explanation of when the platform returns this status.
    pub description: String,
    /// The media type. `None` for a response without a body.
    pub content_type: Option<String>,
    /// The schema of the body. `None` if the document does not describe the content.
    pub schema: Option<S>,
    /// The definitions that the schema needs.
    #[serde(default, skip_serializing_if = "DefinitionRefs::is_empty")]
    pub reached: DefinitionRefs,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}
