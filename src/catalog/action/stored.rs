//! The form in which an action's detail is stored: JSON, with schemas as texts that refer to shared definitions.

use std::collections::BTreeMap;

use crate::terms::Method;
use serde::{Deserialize, Serialize};

/// What stands for a schema that is too large: anything is valid.
pub const TOO_LARGE: &str = r#"{"description":"Left out, since the schema would be too large."}"#;

/// An action with its detail. Schemas, of the type `S`, are JSON Schema 2020-12; a `$ref` in them is `#/$defs/<name>`, the
/// name of a definition in the same [unit](super::unit).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredAction<S> {
    /// The row's title.
    pub title: String,
    /// The row's key.
    pub key: String,
    /// The row's method.
    pub method: Method,
    /// The row's model.
    pub model_name: String,
    /// What the answer shows as it is.
    pub facts: Facts,
    /// The parameters of the path, the query, headers and cookies.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter<S>>,
    /// The body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_body: Option<RequestBody<S>>,
    /// Alternatives of security schemes, each of schemes that are needed together; `None` when the document does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<Vec<Vec<Requirement>>>,
    /// The media types in which the platform answers when it succeeds, the preferred one first; empty if they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub response_types: Vec<String>,
    /// The definitions that parameters and body lead to.
    #[serde(default, skip_serializing_if = "Reached::is_empty")]
    pub reached: Reached,
    /// What the action answers.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<StoredResponse<S>>,
}

/// The plain facts of an action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// The path below the server; a part in braces is a parameter.
    pub path: String,
    /// The base address; `None` for the connector's first server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// What it does, in a line; possibly empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whether the platform advises against it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub deprecated: bool,
    /// The platform's own documentation of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
}

/// A parameter of an action.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parameter<S> {
    /// As the platform names it.
    pub name: String,
    /// Where it is sent.
    pub r#in: Place,
    /// Whether the platform needs it.
    pub required: bool,
    /// Its values.
    pub schema: S,
    /// How a list or an object is written (`OpenAPI`'s `style`).
    pub style: String,
    /// Whether each value of a list or an object stands for itself (`OpenAPI`'s `explode`).
    pub explode: bool,
    /// Whether reserved characters of a value stay as they are (`OpenAPI`'s `allowReserved`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub allow_reserved: bool,
    /// The media type in which a value is written, where that is not a matter of `style`.
    pub content_type: Option<String>,
}

/// Where a parameter is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// In a header.
    Header,
    /// In a cookie.
    Cookie,
}

/// The body of a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestBody<S> {
    /// Whether the platform needs it.
    pub required: bool,
    /// The media types that the platform takes, the one that the schema describes first.
    pub content_types: Vec<String>,
    /// Its content.
    pub schema: S,
    /// How the members of a form are written, as far as the document says so (`OpenAPI`'s `encoding`).
    #[serde(default = "BTreeMap::new", skip_serializing_if = "BTreeMap::is_empty")]
    pub encoding: BTreeMap<String, Encoding>,
}

/// How a member of a form is written: as a parameter of a query is, or as a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Encoding {
    /// How a list or an object is written (`OpenAPI`'s `style`).
    pub style: String,
    /// Whether each value of a list or an object stands for itself (`OpenAPI`'s `explode`).
    pub explode: bool,
    /// Whether reserved characters of a value stay as they are (`OpenAPI`'s `allowReserved`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub allow_reserved: bool,
    /// The media types that a part may have, comma-separated, possibly with wildcards (`OpenAPI`'s `contentType`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The headers that a part may have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
}

/// A security scheme of the document, and the scopes that are needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// The scheme's name.
    pub scheme: String,
    /// Of OAuth.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

/// Definitions of the unit by number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// Those that belong to the answer, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whole: Vec<u32>,
    /// Those of which only the name belongs to the answer: whole, they would make it too large.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<u32>,
}

impl Reached {
    /// Whether no definition is reached.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.cut.is_empty()
    }
}

/// What an action answers with one status.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredResponse<S> {
    /// The status, as `200`, `4XX` or `default`.
    pub status: String,
    /// When it is answered.
    pub description: String,
    /// The media type; `None` for an answer without a body.
    pub content_type: Option<String>,
    /// The content; `None` when it is not described.
    pub schema: Option<S>,
    /// The definitions that the schema leads to.
    #[serde(default, skip_serializing_if = "Reached::is_empty")]
    pub reached: Reached,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}
