//! A connection that is to be created.

use super::model::{IdentityType, State};

/// All that a new connection holds, beside what its account and environment follow from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewConnection {
    /// Lower-case hyphenated UUID; also the request that wrote it.
    pub id: String,
    /// A platform of the catalog.
    pub platform: String,
    /// `v` and a number.
    pub platform_version: String,
    /// The platform's description.
    pub description: String,
    /// Whose connection it is.
    pub identity: String,
    /// What kind of identity that is.
    pub identity_type: IdentityType,
    /// Tells connections of one identity to one platform apart.
    pub label: String,
    /// What people call it.
    pub name: Option<String>,
    /// A JSON array of texts.
    pub tags: String,
    /// How it is doing.
    pub state: State,
    /// Whether it is active.
    pub active: bool,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
}
