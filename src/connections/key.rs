//! Connection keys: `<environment>::<platform>::<label>::<identity>`.

use std::fmt;

use crate::catalog::key::{MAX_PLATFORM, split_key};
use crate::connections::rules::MAX_IDENTITY;
use crate::terms::Environment;

/// The maximum length of a key in characters: environment, platform, label (up to the length of a
/// platform), identity, and three separators.
pub const MAX_KEY: usize = 4 + MAX_PLATFORM + MAX_PLATFORM + MAX_IDENTITY + 3 * 2;

/// A parsed connection key. Only the identity may contain `::`, so a key can be split in only one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionKey<'a> {
    /// The account's environment.
    pub environment: Environment,
    /// The platform's identifier.
    pub platform: &'a str,
    /// Distinguishes several connections of an identity to a platform.
    pub label: &'a str,
    /// The identity that the connection belongs to.
    pub identity: &'a str,
}

impl<'a> ConnectionKey<'a> {
    /// Splits a key. Returns `None` when a part is missing or the environment is unknown.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (environment, rest) = split_key(text)?;
        let (platform, rest) = split_key(rest)?;
        let (label, identity) = split_key(rest)?;
        let environment = environment.parse().ok()?;
        (!identity.is_empty()).then_some(Self { environment, platform, label, identity })
    }
}

impl fmt::Display for ConnectionKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}::{}::{}::{}",
            self.environment.as_str(),
            self.platform,
            self.label,
            self.identity
        )
    }
}

#[cfg(test)]
mod tests {
    use super::ConnectionKey;

    #[test]
    fn keys_round_trip() {
        for key in ["test::github::default::ann", "live::a-b::x-1::urn::x::1", "test::p::l:::x"] {
            assert_eq!(ConnectionKey::parse(key).unwrap().to_string(), key);
        }
        assert_eq!(ConnectionKey::parse("live::a::b::c::d").unwrap().identity, "c::d");
        for text in ["", "test", "test::a::b", "test::a::b::", "prod::a::b::c", "Test::a::b::c"] {
            assert_eq!(ConnectionKey::parse(text), None, "{text}");
        }
    }
}
