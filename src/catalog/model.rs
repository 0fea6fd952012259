//! The rows of the catalog, with exactly the fields of the specification, parts 2.2 and 2.3, in its order.

use serde::{Deserialize, Serialize};

use crate::terms::Method;

/// How mature a connector is (specification, part 2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Ready for everybody.
    GenerallyAvailable,
    /// Usable, but its shape may still change.
    Beta,
    /// An early preview.
    Alpha,
    /// Listed, but not usable.
    NotAvailable,
}

/// A row of the connector list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Connector {
    /// A positive integer below 2^53, stable for a `key` across imports.
    pub id: u64,
    /// Display name.
    pub name: String,
    /// `api::<platform>::<platformVersion>`
    pub key: String,
    /// 1 to 64 characters of `a-z0-9-`.
    pub platform: String,
    /// `v<number>`
    pub platform_version: String,
    /// How mature the connector is.
    pub status: Status,
    /// One line, at most 500 characters.
    pub description: String,
    /// In words; `Other` when unknown.
    pub category: String,
    /// An `https:` or `data:` URL, or the path of a logo of the site.
    pub image: String,
    /// Free-form tags.
    pub tags: Vec<String>,
    /// Whether the platform offers OAuth.
    pub oauth: bool,
    /// The number of rows in the platform's action list.
    pub tools: u32,
    /// The version that the platform's own description states.
    pub version: String,
    /// Whether the operator offers the connector.
    pub active: bool,
}

/// A row of a platform's action list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Action {
    /// Human-readable title, one line.
    pub title: String,
    /// Unique within the platform.
    pub key: String,
    /// The HTTP method that the action uses.
    pub method: Method,
    /// The platform that the action belongs to.
    pub platform: String,
    /// The resource that the action works on, in `PascalCase`; possibly empty.
    pub model_name: String,
}
