//! The rows of the catalog. The API returns their fields in the order of declaration.

use serde::{Deserialize, Serialize};

use crate::terms::Method;

/// The maturity of a connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    GenerallyAvailable,
    /// Usable, but may still change.
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
    /// `Other` if unknown.
    pub category: String,
    /// An `https:` or `data:` URL, or the path of a logo that the site serves.
    pub image: String,
    pub tags: Vec<String>,
    /// Whether the platform supports OAuth.
    pub oauth: bool,
    /// The number of actions.
    pub tools: u32,
    /// The API version in the platform's document.
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
    /// The resource of the action, in `PascalCase`; possibly empty.
    pub model_name: String,
}
