//! The data of a connection to create, or of a new state.

use crate::terms::{IdentityType, State};

/// A new connection, without its account and environment, which come from the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewConnection {
    /// A lower-case hyphenated UUID. Also stored as the id of the request that wrote the first
    /// version.
    pub id: String,
    /// The identifier of a platform in the catalog.
    pub platform: String,
    /// The version in the catalog: `v` followed by a number.
    pub platform_version: String,
    /// The platform's description.
    pub description: String,
    /// The identity that the connection belongs to.
    pub identity: String,
    pub identity_type: IdentityType,
    /// Distinguishes several connections of an identity to a platform.
    pub label: String,
    /// The display name.
    pub name: Option<String>,
    /// A JSON array of strings.
    pub tags: String,
    /// The connection's health.
    pub state: State,
    pub active: bool,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
}

/// A change to a connection's health.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewState {
    pub state: State,
    /// Whether the connection is active; `None` leaves it unchanged.
    pub active: Option<bool>,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
    /// The reason. With `None`, an unchanged state keeps its reason, and a changed state has none.
    pub reason: Option<String>,
}
