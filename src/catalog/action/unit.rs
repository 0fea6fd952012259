//! A unit: the details of some actions of a platform, in the [order](compare) of their keys, and the definitions that
//! they share.
//!
//! It is stored deflated (RFC 1951), several of them in a segment. Inflated it is [`Texts`] of four [`Texts`]: the keys,
//! the [`StoredAction`]s, the definitions' names and the definitions.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::stored::StoredAction;
use crate::catalog::layout::{Texts, first_where};
use crate::catalog::stored::SegmentId;
use crate::ports::Blob;
use crate::util::crc32::crc32;

/// The order of keys: a key that is written in another case stands beside the one that is meant.
#[must_use]
pub fn compare(one: &str, other: &str) -> Ordering {
    let lower = |key: &str| key.bytes().map(|byte| byte.to_ascii_lowercase()).collect::<Vec<_>>();
    lower(one).cmp(&lower(other)).then_with(|| one.cmp(other))
}

/// What a platform's entry says about the details of its actions.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct UnitTable {
    /// The document's security schemes: the ids of the connector's methods that satisfy them.
    pub schemes: BTreeMap<String, Vec<String>>,
    /// Where the units are, in order of their keys.
    pub units: Vec<UnitRef>,
}

/// Where a unit is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UnitRef {
    /// Its first key.
    pub first: String,
    /// The segment that holds it.
    pub segment: SegmentId,
    /// Where it begins in the segment.
    pub base: u32,
    /// How many bytes it has there.
    pub length: u32,
    /// The CRC-32 of these bytes.
    pub crc: u32,
}

impl UnitTable {
    /// The unit that would contain a key. Returns `None` when all keys are greater.
    #[must_use]
    pub fn unit(&self, key: &str) -> Option<&UnitRef> {
        let is_before = |unit: &UnitRef| compare(&unit.first, key) != Ordering::Greater;
        let next = self.units.partition_point(is_before);
        self.units.get(next.checked_sub(1)?)
    }
}

impl UnitRef {
    /// The unit's bytes in its segment. Returns `None` when they are not the ones that are meant.
    #[must_use]
    pub fn read(&self, segment: &dyn Blob) -> Option<Vec<u8>> {
        let base = usize::try_from(self.base).ok()?;
        let end = base.checked_add(usize::try_from(self.length).ok()?)?;
        segment.read(base..end).filter(|bytes| crc32(bytes) == self.crc)
    }
}

/// An inflated unit.
#[derive(Debug, Clone, Copy)]
pub struct Unit<'a> {
    /// The keys of its actions, in order.
    pub keys: Texts<'a>,
    actions: Texts<'a>,
    names: Texts<'a>,
    definitions: Texts<'a>,
}

impl<'a> Unit<'a> {
    /// The unit that makes up all of `bytes`. Returns `None` when they are cut short.
    #[must_use]
    pub fn open(bytes: &'a [u8]) -> Option<Self> {
        let parts = Texts::open(bytes)?;
        let part = |nth| Texts::open(parts.get(nth));
        let (keys, actions, names, definitions) = (part(0)?, part(1)?, part(2)?, part(3)?);
        let is_whole = keys.len() == actions.len() && names.len() == definitions.len();
        is_whole.then_some(Self { keys, actions, names, definitions })
    }

    /// The action with a key. Returns `None` when it is not here, or not what it should be.
    #[must_use]
    pub fn action(&self, key: &str) -> Option<StoredAction<&'a RawValue>> {
        let at_or_after = |nth| {
            let known = std::str::from_utf8(self.keys.get(nth)).unwrap_or_default();
            compare(known, key) != Ordering::Less
        };
        let nth = first_where(self.keys.len(), at_or_after);
        (self.keys.get(nth) == key.as_bytes()).then_some(())?;
        serde_json::from_slice(self.actions.get(nth)).ok()
    }

    /// The name and the JSON of a definition.
    #[must_use]
    pub fn definition(&self, number: u32) -> Option<(&'a str, &'a str)> {
        let number = usize::try_from(number).ok().filter(|number| *number < self.names.len())?;
        let text = |texts: &Texts<'a>| std::str::from_utf8(texts.get(number)).ok();
        Some((text(&self.names)?, text(&self.definitions)?))
    }
}

/// A deflated unit, ready to be stored.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deflated {
    /// Its first key.
    pub first: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// The details of a platform's actions, ready to be stored.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Units {
    /// As in [`UnitTable`].
    pub schemes: BTreeMap<String, Vec<String>>,
    /// In order of their keys.
    pub units: Vec<Deflated>,
}

/// Writes a unit in the form that [`Unit::open`] reads: actions, each with its key, and definitions, each with its name.
#[cfg(not(target_arch = "wasm32"))]
#[must_use]
pub fn write_unit(actions: &[(&str, String)], definitions: &[(&str, &str)]) -> Vec<u8> {
    use crate::catalog::layout::write_texts;
    let parts = [
        write_texts(actions.iter().map(|(key, _)| key)),
        write_texts(actions.iter().map(|(_, action)| action)),
        write_texts(definitions.iter().map(|(name, _)| name)),
        write_texts(definitions.iter().map(|(_, schema)| schema)),
    ];
    write_texts(parts.iter())
}

/// Deflates bytes.
#[cfg(not(target_arch = "wasm32"))]
#[must_use]
pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    use flate2::{Compression, write::DeflateEncoder};
    use std::io::Write as _;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    // Memory takes every byte.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// Inflates what [`deflate`] made, as the Worker's runtime does. Returns `None` when it is damaged.
#[cfg(not(target_arch = "wasm32"))]
#[must_use]
pub fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    use std::io::Read as _;
    let mut inflated = Vec::new();
    flate2::read::DeflateDecoder::new(bytes).read_to_end(&mut inflated).ok()?;
    Some(inflated)
}

#[cfg(test)]
mod tests {
    use super::{Unit, write_unit};
    use crate::catalog::layout::write_texts;

    #[test]
    fn a_unit_has_as_many_keys_as_actions_and_as_many_names_as_definitions() {
        let written = write_unit(&[("a", "{}".to_owned())], &[("b", "{}")]);
        let unit = Unit::open(&written).unwrap();
        assert_eq!((unit.definition(0), unit.definition(1)), (Some(("b", "{}")), None));
        let (none, one) = (write_texts([""; 0].iter()), write_texts(["a"].iter()));
        for (parts, is_whole) in [
            ([&one, &one, &none, &none], true),
            ([&none, &none, &one, &one], true),
            ([&one, &none, &none, &none], false),
            ([&none, &none, &one, &none], false),
        ] {
            assert_eq!(Unit::open(&write_texts(parts.iter())).is_some(), is_whole);
        }
    }
}
