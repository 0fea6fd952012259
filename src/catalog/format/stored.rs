//! The keys of the catalog's values in Workers KV and in the catalog folder.
//!
//! | key | value |
//! |---|---|
//! | `segment:<id>` | a part of the catalog, named by its content |
//! | `version:<id>` | the [`Manifest`] of a version of the catalog, which lists its segments |
//! | `current` | the served version: see [`current`](super::current). A version is named by the content of this record |

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

pub const CURRENT_KEY: &str = "current";

/// The number of the stored format. A catalog in another format is rejected and must be imported
/// and published again.
pub const FORMAT: u32 = 4;

/// A segment's id: the first 128 bits of its SHA-256, written as 32 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SegmentId(pub [u8; 16]);

impl SegmentId {
    pub fn from_content(bytes: &[u8]) -> Self {
        let mut id = [0; 16];
        for (to, from) in id.iter_mut().zip(Sha256::digest(bytes)) {
            *to = from;
        }
        Self(id)
    }

    /// The key of the segment in storage.
    pub fn key(&self) -> String {
        format!("segment:{self}")
    }

    /// The key of the [`Manifest`] of the version with this id.
    pub fn version_key(&self) -> String {
        format!("version:{self}")
    }
}

impl fmt::Display for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Error: the string is not 32 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentIdError;

impl fmt::Display for SegmentIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a segment id has 32 lower-case hexadecimal digits")
    }
}

impl std::error::Error for SegmentIdError {}

impl FromStr for SegmentId {
    type Err = SegmentIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lower_hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 32 || !text.bytes().all(lower_hex) {
            return Err(SegmentIdError);
        }
        u128::from_str_radix(text, 16).map(|id| Self(id.to_be_bytes())).map_err(|_| SegmentIdError)
    }
}

impl Serialize for SegmentId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SegmentId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A list of the segments of one version of the catalog, for listing and pruning versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    pub format: u32,
    /// The id of the version: the hash of its record `current`.
    pub version: SegmentId,
    /// The segments of the version, sorted and without duplicates.
    pub segments: Vec<SegmentId>,
    pub connector_rows: u32,
    pub action_rows: u32,
}

#[cfg(test)]
mod tests {
    use super::SegmentId;

    #[test]
    fn segment_id_determines_storage_keys() {
        let (id, text) = (SegmentId([0xab; 16]), "ab".repeat(16));
        assert_eq!(id.key(), format!("segment:{text}"));
        assert_eq!(id.version_key(), format!("version:{text}"));
        let error = "ab".parse::<SegmentId>().unwrap_err();
        assert_eq!(error.to_string(), "a segment id has 32 lower-case hexadecimal digits");
    }

    #[test]
    fn segment_id_requires_32_lower_case_hex_digits() {
        for (text, is_valid) in [
            ("0123456789abcdef0123456789abcdef", true),
            ("0123456789abcdef0123456789abcde", false),
            ("00123456789abcdef0123456789abcdef", false),
            ("0123456789ABCDEF0123456789abcdef", false),
            ("+123456789abcdef0123456789abcdef", false),
            ("", false),
        ] {
            assert_eq!(text.parse::<SegmentId>().is_ok(), is_valid, "{text}");
        }
    }
}
