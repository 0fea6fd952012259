//! A pack: the connectors of several platforms, and their action lists that are small enough to
//! share a segment.
//!
//! It is a [`Section`] with three blocks per name: the connector's row, the additional members of
//! its detail, and the [`UnitTable`] of its actions. For an alias, the first block is the
//! platform's name and the other blocks are empty. The rest of the section's head:
//!
//! | bytes | meaning |
//! |---|---|
//! | 4 | number of names |
//! | 36 per name | flags; the action list: 16 bytes of id, its start, the length and CRC-32 of its head, its number of rows |
//! | … | [`StringTable`]: the names, sorted |

use super::layout::{StringTable, first_where, read_number};
use super::list::ListRef;
use super::section::{Section, SectionRef};
use super::stored::SegmentId;
use crate::catalog::action::unit::UnitTable;
use crate::catalog::row;
use crate::ports::StorageError;
use crate::util::json;

const BLOCKS: usize = 3;
/// The size of a name's entry in the head, in bytes.
pub const ENTRY_BYTES: usize = 36;
/// Flag: the connector has the bit [`row::AUTHKIT`].
pub const AUTHKIT: usize = 1;
/// Flag: the platform's action list is in separate segments, which `current` locates.
pub const SEPARATE_LIST: usize = 2;
/// Flag: the name is a former name of a platform.
pub const ALIAS: usize = 4;
/// Flag: the connector has the bit [`row::NEEDS_CLIENT`].
pub const NEEDS_CLIENT: usize = 8;

/// The entry of a name in a pack.
#[derive(Debug)]
pub enum NameEntry<'a> {
    Platform(PlatformEntry<'a>),
    /// A former name, with the current name of the platform.
    Alias(&'a str),
}

/// The data of a platform in a pack.
#[derive(Debug)]
pub struct PlatformEntry<'a> {
    /// The connector's row.
    pub connector: &'a [u8],
    /// [`RowFields::attributes`](row::RowFields::attributes) of the connector.
    pub attributes: u8,
    /// The action list, if the pack contains it.
    pub actions: Option<ListRef>,
    pack: &'a Section,
    index: usize,
}

impl<'a> PlatformEntry<'a> {
    /// The additional members of the connector's detail, as a JSON object. Read on demand, since
    /// most requests don't need them.
    pub fn detail(&self) -> Result<&'a [u8], StorageError> {
        self.pack.block(self.index.saturating_mul(BLOCKS).saturating_add(1))
    }

    /// The locations of the details of the platform's actions.
    pub fn units(&self) -> Result<UnitTable, StorageError> {
        let block = self.pack.block(self.index.saturating_mul(BLOCKS).saturating_add(2))?;
        json::from_bytes(block).map_err(|_| self.pack.damaged("a unit table is not JSON"))
    }
}

/// Finds a name in a pack. `segment` is the segment of the pack.
pub fn find<'a>(
    pack: &'a Section,
    segment: SegmentId,
    name: &str,
) -> Result<Option<NameEntry<'a>>, StorageError> {
    let names = names(pack)?;
    let index = first_where(names.len(), |index| names.get(index) >= name.as_bytes());
    if names.get(index) != name.as_bytes() {
        return Ok(None);
    }
    get(pack, segment, index).map(Some)
}

/// The names of the platforms in a pack, sorted.
pub fn names(pack: &Section) -> Result<StringTable<'_>, StorageError> {
    let cut_short_error = || pack.damaged("its list of names is cut short");
    let count = read_number(pack.rest(), 0).ok_or_else(cut_short_error)?;
    let names_offset = count.saturating_mul(ENTRY_BYTES).saturating_add(4);
    let names =
        pack.rest().get(names_offset..).and_then(StringTable::open).ok_or_else(cut_short_error)?;
    if pack.len() != names.len().saturating_mul(BLOCKS) {
        return Err(pack.damaged("its number of blocks is wrong"));
    }
    Ok(names)
}

/// The entry of the name at an index.
pub fn get(
    pack: &Section,
    segment: SegmentId,
    index: usize,
) -> Result<NameEntry<'_>, StorageError> {
    let cut_short_error = || pack.damaged("its list of names is cut short");
    let entry = index.saturating_mul(ENTRY_BYTES).saturating_add(4);
    let entry = pack.rest().get(entry..).ok_or_else(cut_short_error)?;
    let (flags, actions) = read_entry(entry, segment).ok_or_else(cut_short_error)?;
    let connector = pack.block(index.saturating_mul(BLOCKS))?;
    if flags & ALIAS != 0 {
        let name = std::str::from_utf8(connector).map_err(|_| cut_short_error())?;
        return Ok(NameEntry::Alias(name));
    }
    Ok(NameEntry::Platform(PlatformEntry {
        connector,
        attributes: [(AUTHKIT, row::AUTHKIT), (NEEDS_CLIENT, row::NEEDS_CLIENT)]
            .into_iter()
            .filter(|(flag, _)| flags & flag != 0)
            .fold(0, |attributes, (_, bit)| attributes | bit),
        actions: Some(actions).filter(|_| flags & SEPARATE_LIST == 0),
        pack,
        index,
    }))
}

fn read_entry(entry: &[u8], segment: SegmentId) -> Option<(usize, ListRef)> {
    let flags = read_number(entry, 0)?;
    let id = SegmentId(*entry.get(4..)?.first_chunk()?);
    let (base, head) = (read_number(entry, 20)?, read_number(entry, 24)?);
    let crc = u32::try_from(read_number(entry, 28)?).ok()?;
    let rows = read_number(entry, 32)?;
    Some((flags, ListRef::whole(id, rows, SectionRef { segment, base, head, crc })))
}
