//! Entity tags of single connections (RFC 9110, part 8.8.3): they follow from the id and the version.

/// The strong entity tag of a version of a connection.
#[must_use]
pub fn entity_tag(id: &str, version: u64) -> String {
    format!("\"{id}-{version}\"")
}

/// What `If-Match` asks of a connection before it is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Precondition {
    /// Nothing, or only that it is there (`*`).
    Any,
    /// To be at one of these versions; at none of them, when no entity tag that was sent is one of this connection's.
    Versions(Vec<u64>),
}

impl Precondition {
    /// Reads the value of `If-Match`. Weak tags match nothing, as RFC 9110 says for this header.
    #[must_use]
    pub fn of(if_match: Option<&str>, id: &str) -> Self {
        let Some(value) = if_match.map(str::trim).filter(|value| *value != "*") else {
            return Self::Any;
        };
        let version = |tag: &str| {
            let version = tag.trim().strip_prefix('"')?.strip_prefix(id)?.strip_prefix('-')?;
            let version: u64 = version.strip_suffix('"')?.parse().ok()?;
            (tag.trim() == entity_tag(id, version)).then_some(version)
        };
        Self::Versions(value.split(',').filter_map(version).collect())
    }

    /// Whether a connection at `version` meets it.
    #[must_use]
    pub fn holds(&self, version: u64) -> bool {
        match self {
            Self::Any => true,
            Self::Versions(versions) => versions.contains(&version),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Precondition;

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
            (Some("id-7"), false),
            (Some("\"od-7\""), false),
            (Some("\"id-7"), false),
            (Some(""), false),
        ] {
            assert_eq!(Precondition::of(value, "id").holds(7), expected, "{value:?}");
        }
    }
}
