//! The record `current`: it identifies the served version of the catalog and locates its content.
//!
//! | bytes | meaning |
//! |---|---|
//! | 8 | `CVAULT`, the [`FORMAT`](super::stored::FORMAT), 0 |
//! | 4 | CRC-32 of everything that follows |
//! | 24 | the [`SectionRef`] of the platforms' names |
//! | 4 | number of packs |
//! | 24 per pack | its [`SectionRef`]; zeros for a pack without platforms |
//! | 4 | length of the names that follow, in bytes |
//! | … | [`StringTable`]: the names of the lists in separate segments, sorted; the connector list's name is empty |
//! | … | [`StringTable`]: the [`ListRef`]s of these lists |
//!
//! The number of a platform's pack is the CRC-32 of its name modulo the number of packs.

use super::layout::{DamagedError, StringTable, first_where, read_number};
use super::list::ListRef;
use super::section::{REF_BYTES, SectionRef};
use super::stored::{FORMAT, SegmentId};
use crate::util::crc32::crc32;

const MAGIC: &[u8; 6] = b"CVAULT";
const CHECKSUM_START: usize = 12;
const NAMES_OFFSET: usize = CHECKSUM_START;
const PACKS_OFFSET: usize = NAMES_OFFSET + REF_BYTES;

#[derive(Debug)]
pub struct Current {
    bytes: Vec<u8>,
    packs: usize,
    lists_offset: usize,
    entries_offset: usize,
}

impl Current {
    /// The format number of a record. Returns `None` if the bytes don't begin with the magic
    /// number.
    pub fn format(bytes: &[u8]) -> Option<u32> {
        bytes.strip_prefix(MAGIC)?.first().copied().map(u32::from)
    }

    pub fn open(bytes: Vec<u8>) -> Result<Self, DamagedError> {
        let format = Self::format(&bytes);
        if format.is_none() || bytes.get(7).is_some_and(|byte| *byte != 0) {
            return Err(DamagedError("it does not begin like a record"));
        }
        if format != Some(FORMAT) {
            return Err(DamagedError("it has another format"));
        }
        let checked = bytes.get(CHECKSUM_START..).ok_or(DamagedError("it is cut short"))?;
        if read_number(&bytes, 8) != Some(crc32(checked) as usize) {
            return Err(DamagedError("its checksum is wrong"));
        }
        Self::parse_checked(bytes).ok_or(DamagedError("it is cut short"))
    }

    fn parse_checked(bytes: Vec<u8>) -> Option<Self> {
        let packs = read_number(&bytes, PACKS_OFFSET)?;
        let length_offset = packs.checked_mul(REF_BYTES)?.checked_add(PACKS_OFFSET + 4)?;
        let lists_offset = length_offset.checked_add(4)?;
        let entries_offset = lists_offset.checked_add(read_number(&bytes, length_offset)?)?;
        let record = Self { bytes, packs, lists_offset, entries_offset };
        (record.lists()?.len() == record.entries()?.len()).then_some(record)
    }

    fn lists(&self) -> Option<StringTable<'_>> {
        StringTable::open(self.bytes.get(self.lists_offset..self.entries_offset)?)
    }

    fn entries(&self) -> Option<StringTable<'_>> {
        StringTable::open(self.bytes.get(self.entries_offset..)?)
    }

    /// The list with this name. Returns `None` if the list is not stored in separate segments.
    pub fn list(&self, name: &str) -> Option<ListRef> {
        let (lists, entries) = (self.lists()?, self.entries()?);
        let at = first_where(lists.len(), |index| lists.get(index) >= name.as_bytes());
        if lists.get(at) == name.as_bytes() { ListRef::read(entries.get(at)) } else { None }
    }

    pub fn connectors(&self) -> Result<ListRef, DamagedError> {
        self.list("").ok_or(DamagedError("it names no connector list"))
    }

    /// The pack that would contain a platform. Returns `None` if the pack is empty.
    pub fn pack(&self, platform: &str) -> Option<SectionRef> {
        self.pack_at(pack_index(platform, self.packs)?)
    }

    /// All packs that are not empty.
    pub fn packs(&self) -> impl Iterator<Item = SectionRef> {
        (0..self.packs).filter_map(|index| self.pack_at(index))
    }

    fn pack_at(&self, index: usize) -> Option<SectionRef> {
        let at = index.checked_mul(REF_BYTES)?.checked_add(PACKS_OFFSET + 4)?;
        SectionRef::read(&self.bytes, at).filter(|location| location.segment != SegmentId([0; 16]))
    }

    /// The location of the names of all platforms.
    pub fn names(&self) -> Option<SectionRef> {
        SectionRef::read(&self.bytes, NAMES_OFFSET)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The number of a platform's pack. Returns `None` if `packs` is 0.
pub fn pack_index(platform: &str, packs: usize) -> Option<usize> {
    (crc32(platform.as_bytes()) as usize).checked_rem(packs)
}

/// Serializes the record. `packs` are in order, `lists` are sorted by name.
#[cfg(not(target_arch = "wasm32"))]
pub fn write_current(
    names: &[u8; REF_BYTES],
    packs: &[[u8; REF_BYTES]],
    lists: &[(String, Vec<u8>)],
) -> Vec<u8> {
    use super::layout::{number, write_string_table};
    let mut checked = names.to_vec();
    checked.extend(number(packs.len()));
    checked.extend(packs.iter().flatten());
    let list_names = write_string_table(lists.iter().map(|(name, _)| name));
    checked.extend(number(list_names.len()));
    checked.extend(list_names);
    checked.extend(write_string_table(lists.iter().map(|(_, list)| list)));
    let mut bytes = MAGIC.to_vec();
    bytes.extend([u8::try_from(FORMAT).unwrap_or(u8::MAX), 0]);
    bytes.extend(crc32(&checked).to_le_bytes());
    bytes.append(&mut checked);
    bytes
}

#[cfg(test)]
mod tests {
    use super::{Current, REF_BYTES, SectionRef, SegmentId, write_current};
    use crate::catalog::format::list::ListRef;

    #[test]
    fn record_round_trips_packs_and_lists() {
        let location = SectionRef { segment: SegmentId([0; 16]), base: 0, head: 0, crc: 0 };
        let list = |rows| ListRef::whole(location.segment, rows, location).write();
        let lists = [(String::new(), list(1)), ("acme".to_owned(), list(2))];
        let packs = [1, 0, 2].map(|index| [index; REF_BYTES]);
        let bytes = write_current(&[9; REF_BYTES], &packs, &lists);
        let current = Current::open(bytes.clone()).unwrap();
        assert_eq!(current.bytes(), bytes);
        assert_eq!(current.names().unwrap().segment, SegmentId([9; 16]));
        let packs = current.packs().map(|location| location.segment);
        assert_eq!(packs.collect::<Vec<_>>(), [SegmentId([1; 16]), SegmentId([2; 16])]);
        assert_eq!(current.connectors().unwrap().rows, 1);
        for (name, rows) in [("acme", Some(2)), ("acm", None), ("acmes", None), ("z", None)] {
            assert_eq!(current.list(name).map(|list| list.rows), rows, "{name}");
        }
        // The checksum does not cover bytes 0 to 7. Byte 6 is the format, which is tested
        // separately.
        for index in (0..6).chain([7]) {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1;
            let refused = Current::open(damaged).err().map(|error| error.0);
            assert_eq!(refused, Some("it does not begin like a record"), "{index}");
        }
    }
}
