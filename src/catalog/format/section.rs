//! A section: a part of a segment that can be read block by block. It consists of a head, which
//! contains the checksums of the blocks, and the blocks.
//!
//! | bytes | meaning |
//! |---|---|
//! | 4 | number of blocks |
//! | 12 per block | the block's offset in the section, its length, its CRC-32 |
//! | … | the rest of the head, depending on the kind of section |
//! | … | the blocks |
//!
//! Bit 31 of a length marks a packed block: its unpacked length (4 bytes) and an [LZ4
//! block](https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md). The length and the CRC-32
//! are those of the packed bytes. LZ4 was chosen because unpacking takes less time than reading the
//! saved bytes, even before V8 has optimized the code.
//!
//! A reference to a section contains the length and the checksum of its head. So a chain of
//! checksums leads from the record `current` to every byte that is used, and a damaged, outdated or
//! wrong value is detected before it is served.

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use super::layout::{DamagedError, read_number};
use super::stored::SegmentId;
use crate::ports::{Blob, StorageError};
use crate::util::crc32::crc32;

/// The location of a section, with the length and checksum of its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionRef {
    pub segment: SegmentId,
    /// The offset in the segment.
    pub base: usize,
    /// The length of the head, in bytes.
    pub head: usize,
    /// The CRC-32 of the head.
    pub crc: u32,
}

/// The size of a stored [`SectionRef`] in bytes. The base is not stored.
pub const REF_BYTES: usize = 24;

impl SectionRef {
    /// Reads a stored reference, whose base is 0. Returns `None` if it exceeds the end of `bytes`.
    pub fn read(bytes: &[u8], at: usize) -> Option<Self> {
        let segment = SegmentId(*bytes.get(at..)?.first_chunk()?);
        let head = read_number(bytes, at.checked_add(16)?)?;
        let crc = u32::try_from(read_number(bytes, at.checked_add(20)?)?).ok()?;
        Some(Self { segment, base: 0, head, crc })
    }
}

/// An opened section. Blocks are copied and verified on first use.
#[derive(Debug)]
pub struct Section {
    segment: SegmentId,
    base: usize,
    /// The fetched value. `None` once every block has been copied.
    blob: RefCell<Option<Rc<dyn Blob>>>,
    head: Vec<u8>,
    blocks: Vec<OnceCell<Vec<u8>>>,
    remaining: Cell<usize>,
    copied: Cell<usize>,
    /// The stored size of the head and of the copied blocks, in bytes. It is less than `copied` if
    /// blocks are packed.
    stored: Cell<usize>,
    is_damaged: Cell<bool>,
}

const BLOCK_BYTES: usize = 12;
/// The bit of a block's length that marks a packed block.
const PACKED: usize = 1 << 31;
/// The maximum size of an unpacked block, in bytes: the maximum size of a value in KV.
const MAX_UNPACKED: usize = 25 << 20;

impl Section {
    /// Returns an error if the head does not match the reference.
    pub fn open(blob: &Rc<dyn Blob>, location: SectionRef) -> Result<Self, StorageError> {
        let damaged = |damage| damaged(location.segment, damage);
        let head = read_checked(blob.as_ref(), location.base, 0..location.head, location.crc)
            .map_err(damaged)?;
        let count = read_number(&head, 0).unwrap_or(usize::MAX);
        if count > head.len() / BLOCK_BYTES {
            return Err(damaged(DamagedError("its head is cut short")));
        }
        Ok(Self {
            segment: location.segment,
            base: location.base,
            blob: RefCell::new(Some(Rc::clone(blob))),
            copied: Cell::new(head.len()),
            stored: Cell::new(head.len()),
            head,
            blocks: (0..count).map(|_| OnceCell::new()).collect(),
            remaining: Cell::new(count),
            is_damaged: Cell::new(false),
        })
    }

    pub const fn len(&self) -> usize {
        self.blocks.len()
    }

    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rest of the head, after the table of blocks.
    pub fn rest(&self) -> &[u8] {
        let start = self.len().saturating_mul(BLOCK_BYTES).saturating_add(4);
        self.head.get(start..).unwrap_or_default()
    }

    pub fn block(&self, index: usize) -> Result<&[u8], StorageError> {
        let cell = self.blocks.get(index).ok_or_else(|| self.damaged("a block is missing"))?;
        if let Some(bytes) = cell.get() {
            return Ok(bytes);
        }
        let bytes = self.load(index).map_err(|error| {
            self.is_damaged.set(true);
            damaged(self.segment, error)
        })?;
        self.copied.set(self.copied.get().saturating_add(bytes.len()));
        self.remaining.set(self.remaining.get().saturating_sub(1));
        if self.remaining.get() == 0 {
            self.blob.take();
        }
        Ok(cell.get_or_init(|| bytes))
    }

    fn load(&self, index: usize) -> Result<Vec<u8>, DamagedError> {
        let entry = index.saturating_mul(BLOCK_BYTES).saturating_add(4);
        let field = |index: usize| read_number(&self.head, entry.saturating_add(index));
        let (Some(at), Some(length), Some(crc)) = (field(0), field(4), field(8)) else {
            return Err(DamagedError("its head is cut short"));
        };
        let blob = self.blob.borrow();
        let blob = blob.as_ref().ok_or(DamagedError("a block is gone"))?;
        let crc = u32::try_from(crc).unwrap_or_default();
        let (length, is_packed) = (length & !PACKED, length & PACKED != 0);
        let bytes = read_checked(blob.as_ref(), self.base, at..at.saturating_add(length), crc)?;
        self.stored.set(self.stored.get().saturating_add(length));
        if is_packed { unpack_block(&bytes) } else { Ok(bytes) }
    }

    /// The memory that the copied blocks use, in bytes.
    pub const fn copied(&self) -> usize {
        self.copied.get()
    }

    /// The stored size of the blocks copied so far, in bytes.
    pub const fn stored(&self) -> usize {
        self.stored.get()
    }

    /// Whether a damaged block was found, so that the segment must be fetched again.
    pub const fn is_damaged(&self) -> bool {
        self.is_damaged.get()
    }

    /// Whether every block has been copied.
    pub const fn is_copied(&self) -> bool {
        self.remaining.get() == 0
    }

    /// The error for a section with unexpected content.
    pub fn damaged(&self, damage: &'static str) -> StorageError {
        damaged(self.segment, DamagedError(damage))
    }
}

fn damaged(segment: SegmentId, error: DamagedError) -> StorageError {
    StorageError::new(format!("`{}` is damaged: {error}", segment.key()))
}

/// Copies a range relative to `base`. Returns an error if its checksum is not `crc`.
fn read_checked(
    blob: &dyn Blob,
    base: usize,
    range: Range<usize>,
    crc: u32,
) -> Result<Vec<u8>, DamagedError> {
    let range = base.saturating_add(range.start)..base.saturating_add(range.end);
    let bytes = blob.read(range).ok_or(DamagedError("it is cut short"))?;
    if crc32(&bytes) == crc { Ok(bytes) } else { Err(DamagedError("a checksum is wrong")) }
}

fn unpack_block(bytes: &[u8]) -> Result<Vec<u8>, DamagedError> {
    let malformed_error = DamagedError("a packed block is malformed");
    let (length, packed) = bytes.split_first_chunk().ok_or(malformed_error)?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > MAX_UNPACKED {
        return Err(malformed_error);
    }
    let mut unpacked = vec![0; length];
    let written =
        lz4_flex::block::decompress_into(packed, &mut unpacked).map_err(|_| malformed_error)?;
    if written == length { Ok(unpacked) } else { Err(malformed_error) }
}

#[cfg(not(target_arch = "wasm32"))]
fn pack_block(block: &[u8]) -> Vec<u8> {
    use super::layout::number;
    let mut bytes = number(block.len()).to_vec();
    bytes.resize(lz4_flex::block::get_maximum_output_size(block.len()).saturating_add(4), 0);
    let length = bytes.get_mut(4..).map(|buffer| lz4_flex::block::compress_into(block, buffer));
    bytes.truncate(length.and_then(Result::ok).unwrap_or_default().saturating_add(4));
    bytes
}

#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug, Default)]
pub struct SectionWriter {
    pub blocks: Vec<Vec<u8>>,
    /// The rest of the head.
    pub rest: Vec<u8>,
}

/// A serialized section, with the length and the checksum for references to it.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug, Clone)]
pub struct WrittenSection {
    pub bytes: Vec<u8>,
    /// The length of the head, in bytes.
    pub head: usize,
    /// The CRC-32 of the head.
    pub crc: u32,
}

#[cfg(not(target_arch = "wasm32"))]
impl SectionWriter {
    pub fn finish(self) -> WrittenSection {
        self.serialize(0)
    }

    /// Serializes the section with compressed blocks.
    pub fn finish_packed(mut self) -> WrittenSection {
        for block in &mut self.blocks {
            *block = pack_block(block);
        }
        self.serialize(PACKED)
    }

    #[cfg(test)]
    pub(crate) fn opened(self) -> Section {
        let WrittenSection { bytes, head, crc } = self.finish();
        let segment = SegmentId::from_content(&bytes);
        let blob: Rc<dyn Blob> = Rc::new(bytes);
        Section::open(&blob, SectionRef { segment, base: 0, head, crc }).unwrap()
    }

    /// Serializes the section, with `flag` set in the length of each block.
    fn serialize(self, flag: usize) -> WrittenSection {
        use super::layout::number;
        let table = self.blocks.len().saturating_mul(BLOCK_BYTES).saturating_add(4);
        let head = table.saturating_add(self.rest.len());
        let mut bytes = number(self.blocks.len()).to_vec();
        let mut at = head;
        for block in &self.blocks {
            bytes.extend(number(at));
            bytes.extend(number(block.len() | flag));
            bytes.extend(crc32(block).to_le_bytes());
            at = at.saturating_add(block.len());
        }
        bytes.extend(self.rest);
        let crc = crc32(&bytes);
        for block in self.blocks {
            bytes.extend(block);
        }
        WrittenSection { bytes, head, crc }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{Section, SectionRef, SectionWriter, WrittenSection};
    use crate::catalog::format::stored::SegmentId;
    use crate::ports::Blob;
    use crate::util::crc32::crc32;

    /// Opens a section and reads all of its blocks.
    fn read(bytes: Vec<u8>, location: SectionRef) -> Result<Vec<Vec<u8>>, String> {
        let blob: Rc<dyn Blob> = Rc::new(bytes);
        let section = Section::open(&blob, location).map_err(|error| error.cause)?;
        let blocks = (0..section.len()).map(|index| section.block(index).map(<[u8]>::to_vec));
        blocks.collect::<Result<_, _>>().map_err(|error| error.cause)
    }

    #[test]
    fn detects_every_damaged_byte() {
        let blocks = vec![b"one".to_vec(), Vec::new(), b"three, and three, and three".to_vec()];
        let written = || SectionWriter { blocks: blocks.clone(), rest: b"rest".to_vec() };
        let (plain, packed) = (written().finish(), written().finish_packed());
        for written in [plain, packed] {
            assert_detects_damaged_bytes(&written, &blocks);
        }
    }

    fn assert_detects_damaged_bytes(written: &WrittenSection, blocks: &[Vec<u8>]) {
        let segment = SegmentId::from_content(&written.bytes);
        let location = SectionRef { segment, base: 2, head: written.head, crc: written.crc };
        let stored = [b"..", &written.bytes[..]].concat();
        assert_eq!(read(stored.clone(), location), Ok(blocks.to_vec()));
        for at in 2..stored.len() {
            let mut bytes = stored.clone();
            bytes[at] ^= 1;
            let error = read(bytes, location).unwrap_err();
            assert!(error.contains(&segment.key()), "{at}: {error}");
            assert!(read(stored[..at].to_vec(), location).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn rejects_head_with_too_many_blocks() {
        for (blocks, bytes, is_valid) in
            [(0, 4, true), (1, 4, false), (1, 16, true), (2, 16, false)]
        {
            let mut head = vec![0; bytes];
            head[0] = blocks;
            let crc = crc32(&head);
            let location = SectionRef { segment: SegmentId([0; 16]), base: 0, head: bytes, crc };
            let blob: Rc<dyn Blob> = Rc::new(head);
            assert_eq!(Section::open(&blob, location).is_ok(), is_valid, "{blocks} {bytes}");
        }
    }

    #[test]
    fn a_section_drops_the_value_once_all_blocks_are_copied() {
        let written = SectionWriter { blocks: vec![vec![1], vec![2]], rest: Vec::new() }.finish();
        let location = SectionRef {
            segment: SegmentId([0; 16]),
            base: 0,
            head: written.head,
            crc: written.crc,
        };
        let blob: Rc<dyn Blob> = Rc::new(written.bytes);
        let section = Section::open(&blob, location).unwrap();
        for (index, block, holders) in [(0, [1], 2), (0, [1], 2), (1, [2], 1)] {
            assert_eq!(section.block(index).unwrap(), block);
            assert_eq!(Rc::strong_count(&blob), holders);
        }
        assert!(section.is_copied());
        assert_eq!(section.copied(), written.head + 2);
    }
}
