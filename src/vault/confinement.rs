//! What a token may see of the connections that the key which made it may see.

use super::filter::ConnectionFilter;
use super::model::{Connection, IdentityType};
use crate::names::Names;

/// The connections of one identity, perhaps of one type and of some platforms only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// Exact.
    pub identity: String,
    /// Only this type, when given.
    pub identity_type: Option<IdentityType>,
    /// Only these platforms, when given: at least one.
    pub platforms: Option<Names>,
}

impl Confinement {
    /// Whether a platform is among those that may be seen.
    #[must_use]
    pub fn has_platform(&self, platform: &str) -> bool {
        has_platform(self.platforms.as_ref(), platform)
    }

    /// Whether a connection may be seen.
    #[must_use]
    pub fn sees(&self, connection: &Connection) -> bool {
        connection.identity == self.identity
            && self.identity_type.is_none_or(|own| connection.identity_type == own)
            && self.has_platform(&connection.platform)
    }

    /// Narrows a filter to what may be seen; one that asks for anything else finds nothing.
    pub fn narrow(&self, filter: &mut ConnectionFilter) {
        let mut contradicts =
            *filter.identity.get_or_insert_with(|| self.identity.clone()) != self.identity;
        if let Some(own) = self.identity_type {
            contradicts |= *filter.identity_type.get_or_insert(own) != own;
        }
        let platform = filter.platform.as_deref();
        contradicts |= platform.is_some_and(|platform| !self.has_platform(platform));
        if let Some(keys) = &mut filter.keys {
            // What is looked for costs something where there is something: only one's own is.
            keys.retain(|[platform, _, identity]| {
                *identity == self.identity && self.has_platform(platform)
            });
            contradicts |= keys.is_empty();
        }
        let own = self.platforms.as_ref().filter(|_| filter.platform.is_none()).cloned();
        filter.platforms = if contradicts { Some(Names::default()) } else { own };
    }
}

/// Whether a platform is among these; every one is where there is no restriction.
#[must_use]
pub fn has_platform(platforms: Option<&Names>, platform: &str) -> bool {
    platforms.is_none_or(|platforms| platforms.has(platform))
}
