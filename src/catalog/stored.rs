//! How a catalog is named in storage, the same in Workers KV and in the catalog folder.
//!
//! | key | value |
//! |---|---|
//! | `segment:<id>` | a [`segment`](super::segment), named by its content |
//! | `version:<id>` | a [`Manifest`] of everything that one version of the catalog consists of; `<id>` is its connector segment's |
//! | `current` | a [`Current`]: the version that is served |

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::json::{self, Value};

/// The key of the record that names the served version.
pub const CURRENT_KEY: &str = "current";

/// The number of the layout that this code reads and writes; another one is refused.
pub const FORMAT: u32 = 1;

/// A segment's name: the first 128 bits of its SHA-256, written as 32 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SegmentId(pub [u8; 16]);

impl SegmentId {
    /// The name of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut id = [0; 16];
        for (to, from) in id.iter_mut().zip(Sha256::digest(bytes)) {
            *to = from;
        }
        Self(id)
    }

    /// The key of the segment in storage.
    #[must_use]
    pub fn key(&self) -> String {
        format!("segment:{self}")
    }

    /// The key of the [`Manifest`] of the version whose connector segment this is.
    #[must_use]
    pub fn version_key(&self) -> String {
        format!("version:{self}")
    }
}

impl fmt::Display for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The text is not 32 lower-case hexadecimal digits.
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

/// The record under [`CURRENT_KEY`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Current {
    /// [`FORMAT`] of the version.
    pub format: u32,
    /// The version's connector segment; it names the action segments.
    pub connectors: SegmentId,
}

impl Current {
    /// Reads the record; none when it is damaged.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut record = json::parse(std::str::from_utf8(bytes).ok()?).ok()?;
        let format = u32::try_from(record.take_integer("format")?).ok()?;
        let connectors = record.take_text("connectors")?.parse().ok()?;
        (record == Value::Object(Vec::new())).then_some(Self { format, connectors })
    }
}

/// What one version of the catalog consists of, so that old versions can be listed and pruned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT`] of the version.
    pub format: u32,
    /// The connector segment.
    pub connectors: SegmentId,
    /// The action segments, sorted, each once.
    pub actions: Vec<SegmentId>,
    /// Rows of the connector list.
    pub connector_rows: u32,
    /// Rows of all action lists.
    pub action_rows: u32,
}

impl Manifest {
    /// Every segment that the version refers to.
    pub fn segments(&self) -> impl Iterator<Item = SegmentId> {
        std::iter::once(self.connectors).chain(self.actions.iter().copied())
    }
}
