//! Entity tags of connections (RFC 9110, section 8.8.3), made of the id and the version.

use crate::http::condition::{Condition, EntityTag};

/// The strong entity tag of one version of a connection.
pub fn entity_tag(id: &str, version: u64) -> String {
    format!("\"{id}-{version}\"")
}

/// The version that `If-Match` requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Precondition {
    /// Any version.
    Any,
    /// Any of these versions. Empty if none of the entity tags belongs to this connection.
    Versions(Vec<u64>),
}

impl Precondition {
    /// The precondition for the connection `id`; [`Self::Any`] without a condition. Weak tags never match, as RFC 9110
    /// requires for `If-Match`.
    pub fn new(condition: Option<Condition<'_>>, id: &str) -> Self {
        let Some(Condition::OneOf(tags)) = condition else { return Self::Any };
        let version = |tag: &EntityTag<'_>| {
            let version = tag.opaque.strip_prefix('"')?.strip_prefix(id)?.strip_prefix('-')?;
            let version: u64 = version.strip_suffix('"')?.parse().ok()?;
            (!tag.is_weak && tag.opaque == entity_tag(id, version)).then_some(version)
        };
        Self::Versions(tags.iter().filter_map(version).collect())
    }

    /// Whether a connection at `version` satisfies the precondition.
    pub fn is_satisfied_by(&self, version: u64) -> bool {
        match self {
            Self::Any => true,
            Self::Versions(versions) => versions.contains(&version),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Condition, Precondition};

    #[test]
    fn if_match_is_compared_strongly() {
        for (value, expected) in [
            (None, true),
            (Some("*"), true),
            (Some("\"id-7\""), true),
            (Some("\"x\" , \"id-7\""), true),
            (Some("W/\"id-7\""), false),
            (Some("\"id-8\""), false),
            (Some("\"id-07\""), false),
            (Some("\"id-+7\""), false),
            (Some("\"od-7\""), false),
        ] {
            let condition = value.map(|value| Condition::parse(value).unwrap());
            assert_eq!(
                Precondition::new(condition, "id").is_satisfied_by(7),
                expected,
                "{value:?}"
            );
        }
    }
}
