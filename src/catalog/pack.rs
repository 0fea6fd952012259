//! A pack: the connector rows and details of some platforms, and those of their action lists that are small enough to
//! share a segment.
//!
//! It is a [`Section`] with three blocks per name: the connector's row, the members that its detail adds, and the
//! [`UnitTable`] of its actions' details. Of an alias, the first is the platform's name and the others are empty. The rest
//! of the section's head:
//!
//! | bytes | meaning |
//! |---|---|
//! | 4 | number of names |
//! | 36 per name | flags; its action list: 16 bytes of id, its start, its head's length and CRC-32, its rows |
//! | … | [`Texts`]: the names, in order |

use super::action::unit::UnitTable;
use super::layout::{Texts, first_where, read_number};
use super::list::ListRef;
use super::row;
use super::section::{Section, SectionRef};
use super::stored::SegmentId;
use crate::ports::StorageError;

/// Blocks per name.
const BLOCKS: usize = 3;
/// Bytes of a platform's entry.
pub const ENTRY_BYTES: usize = 36;
/// The flag of a connector with the bit [`row::AUTHKIT`].
pub const AUTHKIT: usize = 1;
/// The flag of a platform whose action list has segments of its own, which `current` names.
pub const LIST_APART: usize = 2;
/// The flag of a former name of a platform.
pub const ALIAS: usize = 4;
/// The flag of a connector with the bit [`row::NEEDS_CLIENT`].
pub const NEEDS_CLIENT: usize = 8;

/// What a name stands for.
#[derive(Debug)]
pub enum Found<'a> {
    /// A platform.
    Platform(Packed<'a>),
    /// A former name of this platform.
    Alias(&'a str),
}

/// What a pack stores about a platform.
#[derive(Debug)]
pub struct Packed<'a> {
    /// The connector's row.
    pub connector: &'a [u8],
    /// The connector's bits, as in [`Facts::mark`](row::Facts::mark).
    pub mark: u8,
    /// Its action list; `None` when that is not in the pack.
    pub actions: Option<ListRef>,
    pack: &'a Section,
    nth: usize,
}

impl<'a> Packed<'a> {
    /// What its detail adds: a JSON object. Most requests don't need it, so it is read when asked for.
    ///
    /// # Errors
    /// When the pack is damaged.
    pub fn detail(&self) -> Result<&'a [u8], StorageError> {
        self.pack.block(self.nth.saturating_mul(BLOCKS).saturating_add(1))
    }

    /// Where the details of its actions are.
    ///
    /// # Errors
    /// When the pack is damaged.
    pub fn units(&self) -> Result<UnitTable, StorageError> {
        let block = self.pack.block(self.nth.saturating_mul(BLOCKS).saturating_add(2))?;
        serde_json::from_slice(block).map_err(|_| self.pack.damaged("a table of units is no JSON"))
    }
}

/// Finds a name in a pack; `segment` is the pack's segment. Returns `None` when the pack does not contain it.
///
/// # Errors
/// When the pack is damaged.
pub fn find<'a>(
    pack: &'a Section,
    segment: SegmentId,
    name: &str,
) -> Result<Option<Found<'a>>, StorageError> {
    let names = names(pack)?;
    let nth = first_where(names.len(), |nth| names.get(nth) >= name.as_bytes());
    if names.get(nth) != name.as_bytes() {
        return Ok(None);
    }
    get(pack, segment, nth).map(Some)
}

/// The names of a pack, in order.
///
/// # Errors
/// When the pack is damaged.
pub fn names(pack: &Section) -> Result<Texts<'_>, StorageError> {
    let cut = || pack.damaged("its list of names is cut short");
    let count = read_number(pack.rest(), 0).ok_or_else(cut)?;
    let names_at = count.saturating_mul(ENTRY_BYTES).saturating_add(4);
    let names = pack.rest().get(names_at..).and_then(Texts::open).ok_or_else(cut)?;
    // The first builds with this format stored less about a name.
    if pack.len() != names.len().saturating_mul(BLOCKS) {
        return Err(pack.damaged("it has no details: import and publish again"));
    }
    Ok(names)
}

/// What the nth name of a pack stands for.
///
/// # Errors
/// When the pack is damaged.
pub fn get(pack: &Section, segment: SegmentId, nth: usize) -> Result<Found<'_>, StorageError> {
    let cut = || pack.damaged("its list of names is cut short");
    let entry = nth.saturating_mul(ENTRY_BYTES).saturating_add(4);
    let entry = pack.rest().get(entry..).ok_or_else(cut)?;
    let (flags, actions) = read_entry(entry, segment).ok_or_else(cut)?;
    let connector = pack.block(nth.saturating_mul(BLOCKS))?;
    if flags & ALIAS != 0 {
        let name = std::str::from_utf8(connector).map_err(|_| cut())?;
        return Ok(Found::Alias(name));
    }
    Ok(Found::Platform(Packed {
        connector,
        mark: [(AUTHKIT, row::AUTHKIT), (NEEDS_CLIENT, row::NEEDS_CLIENT)]
            .into_iter()
            .filter(|(flag, _)| flags & flag != 0)
            .fold(0, |mark, (_, bit)| mark | bit),
        actions: Some(actions).filter(|_| flags & LIST_APART == 0),
        pack,
        nth,
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
