//! A unit: the details of several actions of a platform, [sorted](compare) by key, and the
//! definitions that they share.
//!
//! Units are stored deflated (RFC 1951), several per segment. An inflated unit is a [`StringTable`]
//! that contains four [`StringTable`]s: the keys, the [`StoredAction`]s, the names of the
//! definitions, and the definitions.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::stored::StoredAction;
use crate::catalog::format::layout::{StringTable, first_where};
use crate::catalog::format::stored::SegmentId;
use crate::ports::Blob;
use crate::util::crc32::crc32;
use crate::util::json;

/// Compares two keys, ignoring case first. Keys that differ only in case are adjacent, so that a
/// lookup with the wrong case can suggest the right key.
pub fn compare(one: &str, other: &str) -> Ordering {
    let lower = |key: &str| key.bytes().map(|byte| byte.to_ascii_lowercase()).collect::<Vec<_>>();
    lower(one).cmp(&lower(other)).then_with(|| one.cmp(other))
}

/// The part of a platform's entry that locates the details of its actions.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct UnitTable {
    /// Maps each security scheme of the document to the ids of the connector's methods that satisfy it.
    pub schemes: BTreeMap<String, Vec<String>>,
    /// Sorted by key.
    pub units: Vec<UnitRef>,
}

/// The location of a unit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UnitRef {
    pub first: String,
    pub segment: SegmentId,
    /// The offset in the segment.
    pub base: u32,
    /// The length in bytes.
    pub length: u32,
    pub crc: u32,
}

impl UnitTable {
    /// The unit that would contain a key. Returns `None` if the key sorts before all units.
    pub fn unit(&self, key: &str) -> Option<&UnitRef> {
        let is_before = |unit: &UnitRef| compare(&unit.first, key) != Ordering::Greater;
        let next = self.units.partition_point(is_before);
        self.units.get(next.checked_sub(1)?)
    }
}

impl UnitRef {
    /// Reads the bytes of the unit. Returns `None` if the checksum does not match.
    pub fn read(&self, segment: &dyn Blob) -> Option<Vec<u8>> {
        let base = usize::try_from(self.base).ok()?;
        let end = base.checked_add(usize::try_from(self.length).ok()?)?;
        segment.read(base..end).filter(|bytes| crc32(bytes) == self.crc)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Unit<'a> {
    /// The keys, at the same indexes as `actions`.
    pub keys: StringTable<'a>,
    actions: StringTable<'a>,
    names: StringTable<'a>,
    definitions: StringTable<'a>,
}

impl<'a> Unit<'a> {
    /// Parses an inflated unit. Returns `None` if the bytes are truncated or inconsistent.
    pub fn open(bytes: &'a [u8]) -> Option<Self> {
        let parts = StringTable::open(bytes)?;
        let part = |index| StringTable::open(parts.get(index));
        let (keys, actions, names, definitions) = (part(0)?, part(1)?, part(2)?, part(3)?);
        let is_consistent = keys.len() == actions.len() && names.len() == definitions.len();
        is_consistent.then_some(Self { keys, actions, names, definitions })
    }

    /// Finds an action by key. Returns `None` if the unit lacks the action, or if the action is not
    /// valid JSON.
    pub fn action(&self, key: &str) -> Option<StoredAction<&'a RawValue>> {
        let at_or_after = |index| {
            let stored_key = std::str::from_utf8(self.keys.get(index)).unwrap_or_default();
            compare(stored_key, key) != Ordering::Less
        };
        let index = first_where(self.keys.len(), at_or_after);
        (self.keys.get(index) == key.as_bytes()).then_some(())?;
        json::from_bytes(self.actions.get(index)).ok()
    }

    /// The name and the JSON of a definition.
    pub fn definition(&self, number: u32) -> Option<(&'a str, &'a str)> {
        let number = usize::try_from(number).ok().filter(|number| *number < self.names.len())?;
        let text = |texts: &StringTable<'a>| std::str::from_utf8(texts.get(number)).ok();
        Some((text(&self.names)?, text(&self.definitions)?))
    }
}

/// A deflated unit, ready to be stored.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeflatedUnit {
    pub first: String,
    pub bytes: Vec<u8>,
}

/// The details of a platform's actions, ready to be stored.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Units {
    /// Maps each security scheme to method ids, like [`UnitTable::schemes`].
    pub schemes: BTreeMap<String, Vec<String>>,
    pub units: Vec<DeflatedUnit>,
}

/// Serializes actions with their keys, and definitions with their names, for [`Unit::open`].
#[cfg(not(target_arch = "wasm32"))]
pub fn write_unit(actions: &[(&str, String)], definitions: &[(&str, &str)]) -> Vec<u8> {
    use crate::catalog::format::layout::write_string_table;
    let parts = [
        write_string_table(actions.iter().map(|(key, _)| key)),
        write_string_table(actions.iter().map(|(_, action)| action)),
        write_string_table(definitions.iter().map(|(name, _)| name)),
        write_string_table(definitions.iter().map(|(_, schema)| schema)),
    ];
    write_string_table(parts.iter())
}

#[cfg(not(target_arch = "wasm32"))]
pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    use flate2::{Compression, write::DeflateEncoder};
    use std::io::Write as _;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    // Writing to a `Vec` cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// Inflates bytes with the same result as the Worker's runtime. Returns `None` for invalid data.
#[cfg(not(target_arch = "wasm32"))]
pub fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    use std::io::Read as _;
    let mut inflated = Vec::new();
    flate2::read::DeflateDecoder::new(bytes).read_to_end(&mut inflated).ok()?;
    Some(inflated)
}

#[cfg(test)]
mod tests {
    use super::{Unit, write_unit};
    use crate::catalog::format::layout::write_string_table;

    #[test]
    fn rejects_unit_with_mismatched_table_lengths() {
        let written = write_unit(&[("a", "{}".to_owned())], &[("b", "{}")]);
        let unit = Unit::open(&written).unwrap();
        assert_eq!((unit.definition(0), unit.definition(1)), (Some(("b", "{}")), None));
        let (none, one) = (write_string_table([""; 0].iter()), write_string_table(["a"].iter()));
        for (parts, is_consistent) in [
            ([&one, &one, &none, &none], true),
            ([&none, &none, &one, &one], true),
            ([&one, &none, &none, &none], false),
            ([&none, &none, &one, &none], false),
        ] {
            assert_eq!(Unit::open(&write_string_table(parts.iter())).is_some(), is_consistent);
        }
    }
}
