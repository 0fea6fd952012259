//! Connector keys, `api::<platform>::<platformVersion>`, and the validation of their parts. The
//! validation functions return `None` for a valid value; otherwise, they return an error that
//! completes a sentence beginning with the field's name.

use std::fmt;

/// The maximum length of a platform, in characters.
pub const MAX_PLATFORM: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectorKey<'a> {
    pub platform: &'a str,
    /// `v` followed by a number.
    pub platform_version: &'a str,
}

impl<'a> ConnectorKey<'a> {
    /// Parses a key. Returns `None` if a part is missing or invalid.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (platform, platform_version) = split_key(text.strip_prefix("api::")?)?;
        let fault = self::platform(platform).or_else(|| self::platform_version(platform_version));
        fault.is_none().then_some(Self { platform, platform_version })
    }
}

impl fmt::Display for ConnectorKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "api::{}::{}", self.platform, self.platform_version)
    }
}

/// Splits a key at its first `::`. Returns `None` if the key contains no `::`. Avoids
/// `str::split_once`, which would add more code to the Worker than the rest of this module.
pub fn split_key(text: &str) -> Option<(&str, &str)> {
    let at = text.as_bytes().windows(2).position(|pair| pair == b"::")?;
    Some((text.get(..at)?, text.get(at..)?.strip_prefix("::")?))
}

pub fn platform(text: &str) -> Option<&'static str> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_valid = (1..=MAX_PLATFORM).contains(&text.len()) && text.bytes().all(allowed);
    (!is_valid).then_some("must be 1 to 64 of a-z, 0-9 and -")
}

pub fn platform_version(text: &str) -> Option<&'static str> {
    let digits = text.strip_prefix('v').unwrap_or_default();
    let is_valid =
        (1..=16).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    (!is_valid).then_some("must be `v` and a number of at most 16 digits, for example `v1`")
}

#[cfg(test)]
mod tests {
    use super::{ConnectorKey, platform, platform_version};

    #[test]
    fn keys_round_trip() {
        for key in ["api::github::v1", "api::a-b-2::v2024", "api::1password::v0"] {
            assert_eq!(ConnectorKey::parse(key).unwrap().to_string(), key);
        }
        for text in
            ["", "api", "api::a", "api::a::", "api::::v1", "api::A::v1", "app::a::v1", "api::a::1"]
        {
            assert_eq!(ConnectorKey::parse(text), None, "{text}");
        }
        assert_eq!(ConnectorKey::parse("api::a::v1::v2"), None);
    }

    #[test]
    fn validates_platforms_and_versions() {
        for text in ["a", "amazonaws-ec2", "1password", &"x".repeat(64)] {
            assert_eq!(platform(text), None, "{text}");
        }
        for text in ["", "A", "a_b", "a.b", "é", " a", &"x".repeat(65)] {
            assert!(platform(text).is_some(), "{text}");
        }
        for text in ["v1", "v2024", "v0", "v1234567890123456"] {
            assert_eq!(platform_version(text), None, "{text}");
        }
        for text in ["v", "1", "V1", "v1.0", "v٣", "v-1", "v12345678901234567"] {
            assert!(platform_version(text).is_some(), "{text}");
        }
    }
}
