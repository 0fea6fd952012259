//! The rows of the catalog. The order of the fields is that of the API.

use serde::{Deserialize, Serialize};

use crate::terms::Method;

/// The maturity of a connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    GenerallyAvailable,
    /// Usable, but its shape may still change.
    Beta,
    /// An early preview.
    Alpha,
    /// Listed, but not usable.
    NotAvailable,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Connector {
    /// A positive integer below 2^53, stable for a `key` across imports.
    pub id: u64,
    pub name: String,
    /// `api::<platform>::<platformVersion>`
    pub key: String,
    /// 1 to 64 characters of `a-z0-9-`.
    pub platform: String,
    /// `v<number>`
    pub platform_version: String,
    pub status: Status,
    /// One line, at most 500 characters.
    pub description: String,
    /// `Other` when unknown.
    pub category: String,
    /// An `https:` or `data:` URL, or the path of a logo of the site.
    pub image: String,
    pub tags: Vec<String>,
    /// Whether the platform supports OAuth.
    pub oauth: bool,
    /// The number of the platform's actions.
    pub tools: u32,
    /// The version that the platform's own document states.
    pub version: String,
    /// Whether the operator offers the connector.
    pub active: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Action {
    /// A single line.
    pub title: String,
    /// Unique within the platform.
    pub key: String,
    pub method: Method,
    pub platform: String,
    /// The resource that the action works on, in `PascalCase`; possibly empty.
    pub model_name: String,
}
