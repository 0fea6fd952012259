//! Token restrictions: which connections of the tenant a token can access.
//!
//! They are enforced by `ConnectionFilter::restrict_to` for lists, by `Sql::guard_connection` for
//! statements on one connection, by `connections::endpoints::create` and
//! `connect::endpoints::start` for new connections, and by `Connection::is_visible_to` for rows that
//! have already been read.

use crate::terms::IdentityType;
use crate::util::name_set::Names;

/// Restricts a token to one identity and, optionally, to an identity type, platforms or
/// connections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenRestriction {
    /// Case-sensitive.
    pub identity: String,
    pub identity_type: Option<IdentityType>,
    /// `None` allows all platforms.
    pub platforms: Option<Names>,
    /// The ids of the allowed connections; `None` allows all.
    pub connections: Option<Names>,
    /// The name of the OAuth client for connecting accounts. `None`: the client of the connection,
    /// or the default one.
    pub client: Option<String>,
}

impl TokenRestriction {
    pub fn has_platform(&self, platform: &str) -> bool {
        has_platform(self.platforms.as_ref(), platform)
    }

    /// Whether the connection id is allowed. Does not check the identity and the platform.
    pub fn has_connection(&self, id: &str) -> bool {
        self.connections.as_ref().is_none_or(|ids| ids.has(id))
    }
}

/// Whether a platform is among `platforms`; `None` allows all.
pub fn has_platform(platforms: Option<&Names>, platform: &str) -> bool {
    platforms.is_none_or(|platforms| platforms.has(platform))
}
