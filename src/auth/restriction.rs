//! The part of its key's connections that a token may see.

use crate::terms::IdentityType;
use crate::util::name_set::Names;

/// One identity, optionally of one type and on some platforms only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Exact, case-sensitive.
    pub identity: String,
    /// Only this type, when given.
    pub identity_type: Option<IdentityType>,
    /// Only these platforms, when given; at least one.
    pub platforms: Option<Names>,
    /// Only the connections with these ids, when given; at least one.
    pub connections: Option<Names>,
}

impl Confinement {
    /// Whether the token may see this platform.
    #[must_use]
    pub fn has_platform(&self, platform: &str) -> bool {
        has_platform(self.platforms.as_ref(), platform)
    }

    /// Whether the token may see a connection with this id, as far as ids restrict it.
    #[must_use]
    pub fn has_connection(&self, id: &str) -> bool {
        self.connections.as_ref().is_none_or(|ids| ids.has(id))
    }
}

/// Whether a platform is one of these. Returns `true` when there is no restriction.
#[must_use]
pub fn has_platform(platforms: Option<&Names>, platform: &str) -> bool {
    platforms.is_none_or(|platforms| platforms.has(platform))
}
