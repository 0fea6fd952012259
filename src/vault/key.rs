//! Connection keys: `<environment>::<platform>::<label>::<identity>` (specification, part 2.4).

use std::fmt;

use crate::access::Environment;
use crate::catalog::key::split_key;

/// A connection key in parts. Only the identity may hold `::`, so that a key can be taken apart in one way only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionKey<'a> {
    /// Which of the account's two worlds.
    pub environment: Environment,
    /// The platform's identifier.
    pub platform: &'a str,
    /// Tells connections of one identity to one platform apart.
    pub label: &'a str,
    /// Whose connection it is.
    pub identity: &'a str,
}

impl<'a> ConnectionKey<'a> {
    /// Takes a key apart; none when it lacks a part.
    #[must_use]
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
    fn keys_are_taken_apart_and_put_together() {
        for key in ["test::github::default::ann", "live::a-b::x-1::urn::x::1", "test::p::l:::x"] {
            assert_eq!(ConnectionKey::parse(key).unwrap().to_string(), key);
        }
        assert_eq!(ConnectionKey::parse("live::a::b::c::d").unwrap().identity, "c::d");
        for text in ["", "test", "test::a::b", "test::a::b::", "prod::a::b::c", "Test::a::b::c"] {
            assert_eq!(ConnectionKey::parse(text), None, "{text}");
        }
    }
}
