//! What a request asks of the list of connections.

use super::cursor::Cursor;
use super::model::IdentityType;

/// Most keys that a request may name.
pub const MAX_KEYS: usize = 100;
/// Most tags that a request may name.
pub const MAX_TAGS: usize = 20;
/// Most characters of `q`.
pub const MAX_Q: usize = 100;

/// The filters of the list (specification, part 4.3), folded where case is ignored. All that are given must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionFilter {
    /// Whether the connection is active.
    pub active: bool,
    /// Any of these keys, without their environment: platform, label, identity. No key is there twice.
    pub keys: Option<Vec<[String; 3]>>,
    /// Exact.
    pub identity: Option<String>,
    /// Folded.
    pub name: Option<String>,
    /// Folded: what the name or the identity begins with.
    pub q: Option<String>,
    /// Different tags.
    pub tags: Option<Tags>,
    /// Folded.
    pub platform: Option<String>,
    /// Exact.
    pub platform_version: Option<String>,
    /// Exact.
    pub identity_type: Option<IdentityType>,
}

/// Which tags a connection must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tags {
    /// All of these.
    All(Vec<String>),
    /// At least one of these.
    Any(Vec<String>),
}

/// Where in a list a page begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// After this many rows.
    Offset(u64),
    /// Right after a connection.
    After(Cursor),
}
