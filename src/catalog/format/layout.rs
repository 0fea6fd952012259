//! The encoding of stored values: little-endian numbers and tables of byte strings.
//!
//! The module [`section`](super::section) verifies checksums before values are decoded.

use std::fmt;
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DamagedError(
    /// A description of the damage.
    pub &'static str,
);

impl fmt::Display for DamagedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for DamagedError {}

/// Serializes a number as 32 bits. Sizes and offsets fit, since storage accepts values of at most
/// 25 MiB.
pub fn number(value: usize) -> [u8; 4] {
    u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes()
}

/// Reads the number at an offset. Returns `None` if it exceeds the end.
pub fn read_number(bytes: &[u8], at: usize) -> Option<usize> {
    let number = bytes.get(at..at.checked_add(4)?)?.first_chunk()?;
    Some(u32::from_le_bytes(*number) as usize)
}

/// A table of byte strings: their count, the offset of each string and of the end, then the
/// concatenated strings.
#[derive(Debug, Clone, Copy, Default)]
pub struct StringTable<'a> {
    offsets: &'a [u8],
    joined: &'a [u8],
}

/// Serializes a [`StringTable`].
pub fn write_string_table<T: AsRef<[u8]>>(texts: impl ExactSizeIterator<Item = T>) -> Vec<u8> {
    let mut bytes = number(texts.len()).to_vec();
    let mut joined = Vec::new();
    bytes.extend(number(0));
    for text in texts {
        joined.extend_from_slice(text.as_ref());
        bytes.extend(number(joined.len()));
    }
    bytes.append(&mut joined);
    bytes
}

impl<'a> StringTable<'a> {
    /// Parses a table. Returns `None` if the bytes are truncated.
    pub fn open(bytes: &'a [u8]) -> Option<Self> {
        let count = read_number(bytes, 0)?;
        let end = count.checked_add(2)?.checked_mul(4)?;
        let texts = Self { offsets: bytes.get(4..end)?, joined: bytes.get(end..)? };
        (texts.start(count) == texts.joined.len()).then_some(texts)
    }

    pub const fn len(&self) -> usize {
        (self.offsets.len() / 4).saturating_sub(1)
    }

    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The offset of a string in the concatenated strings, or their length past the last string.
    pub fn start(&self, index: usize) -> usize {
        index
            .checked_mul(4)
            .and_then(|at| read_number(self.offsets, at))
            .unwrap_or(self.joined.len())
    }

    /// The string at an index; empty past the end.
    pub fn get(&self, index: usize) -> &'a [u8] {
        self.slice(index..index.saturating_add(1))
    }

    /// Consecutive strings, concatenated.
    pub fn slice(&self, range: Range<usize>) -> &'a [u8] {
        self.joined.get(self.start(range.start)..self.start(range.end)).unwrap_or_default()
    }

    /// All strings, concatenated.
    pub const fn joined(&self) -> &'a [u8] {
        self.joined
    }

    /// The index of the string at an offset of the concatenated strings.
    pub fn index_at(&self, position: usize) -> usize {
        first_where(self.len(), |index| self.start(index) > position).saturating_sub(1)
    }
}

/// Binary search: the first index of `0..len` for which `holds` is true, or `len`. `holds` must be
/// monotonic: false up to some index, then true.
pub fn first_where(len: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle.saturating_add(1);
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::{DamagedError, StringTable, write_string_table};

    #[test]
    fn finds_strings_by_index_and_offset() {
        let bytes = write_string_table(["ab", "", "c"].iter());
        let texts = StringTable::open(&bytes).unwrap();
        assert_eq!((texts.len(), texts.joined()), (3, &b"abc"[..]));
        assert_eq!([0, 1, 2, 3].map(|index| texts.get(index)), [&b"ab"[..], b"", b"c", b""]);
        assert_eq!([0, 1, 2].map(|position| texts.index_at(position)), [0, 0, 2]);
        assert_eq!(texts.slice(1..3), b"c");
        for cut in 0..bytes.len() {
            assert!(StringTable::open(&bytes[..cut]).is_none(), "{cut}");
        }
        let none = write_string_table([""; 0].iter());
        assert!(StringTable::open(&none).unwrap().is_empty());
    }

    #[test]
    fn damage_errors_contain_the_cause() {
        assert_eq!(DamagedError("it is cut short").to_string(), "it is cut short");
    }
}
