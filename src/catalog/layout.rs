//! The encoding of stored values: little-endian numbers, and texts one after the other.
//!
//! Nothing here verifies checksums: [`section`](super::section) does, before anything is read.

use std::fmt;
use std::ops::Range;

/// Stored bytes are damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DamagedError(
    /// What is wrong with them.
    pub &'static str,
);

impl fmt::Display for DamagedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for DamagedError {}

/// A number as it is stored. Values stay far below 2^32 bytes, since storage accepts at most 25 MiB.
#[must_use]
pub fn number(value: usize) -> [u8; 4] {
    u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes()
}

/// The number at a position. Returns `None` past the end.
#[must_use]
pub fn read_number(bytes: &[u8], at: usize) -> Option<usize> {
    let number = bytes.get(at..at.checked_add(4)?)?.first_chunk()?;
    Some(u32::from_le_bytes(*number) as usize)
}

/// Texts one after the other: their count, the offsets at which they begin and the last one ends, and the joined texts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Texts<'a> {
    offsets: &'a [u8],
    joined: &'a [u8],
}

/// Writes texts in the form that [`Texts::open`] reads.
#[must_use]
pub fn write_texts<T: AsRef<[u8]>>(texts: impl ExactSizeIterator<Item = T>) -> Vec<u8> {
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

impl<'a> Texts<'a> {
    /// The texts that make up all of `bytes`. Returns `None` when they are cut short.
    #[must_use]
    pub fn open(bytes: &'a [u8]) -> Option<Self> {
        let count = read_number(bytes, 0)?;
        let end = count.checked_add(2)?.checked_mul(4)?;
        let texts = Self { offsets: bytes.get(4..end)?, joined: bytes.get(end..)? };
        (texts.start(count) == texts.joined.len()).then_some(texts)
    }

    /// The number of texts.
    #[must_use]
    pub const fn len(&self) -> usize {
        (self.offsets.len() / 4).saturating_sub(1)
    }

    /// Whether there are no texts.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where a text begins in the joined texts; past the last text, where that one ends.
    #[must_use]
    pub fn start(&self, nth: usize) -> usize {
        nth.checked_mul(4).and_then(|at| read_number(self.offsets, at)).unwrap_or(self.joined.len())
    }

    /// A text; empty when there is no such text.
    #[must_use]
    pub fn get(&self, nth: usize) -> &'a [u8] {
        self.slice(nth..nth.saturating_add(1))
    }

    /// Consecutive texts, joined.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> &'a [u8] {
        self.joined.get(self.start(range.start)..self.start(range.end)).unwrap_or_default()
    }

    /// All texts, joined.
    #[must_use]
    pub const fn joined(&self) -> &'a [u8] {
        self.joined
    }

    /// The number of the text that contains a position of the joined texts.
    #[must_use]
    pub fn at(&self, position: usize) -> usize {
        first_where(self.len(), |nth| self.start(nth) > position).saturating_sub(1)
    }
}

/// The first of `0..len` for which `holds` is true, by binary search; `len` when there is none. `holds` must be false
/// for all numbers before it and true for all after.
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
    use super::{DamagedError, Texts, write_texts};

    #[test]
    fn texts_are_found_by_number_and_by_position() {
        let bytes = write_texts(["ab", "", "c"].iter());
        let texts = Texts::open(&bytes).unwrap();
        assert_eq!((texts.len(), texts.joined()), (3, &b"abc"[..]));
        assert_eq!([0, 1, 2, 3].map(|nth| texts.get(nth)), [&b"ab"[..], b"", b"c", b""]);
        assert_eq!([0, 1, 2].map(|position| texts.at(position)), [0, 0, 2]);
        assert_eq!(texts.slice(1..3), b"c");
        for cut in 0..bytes.len() {
            assert!(Texts::open(&bytes[..cut]).is_none(), "{cut}");
        }
        let none = write_texts([""; 0].iter());
        assert!(Texts::open(&none).unwrap().is_empty());
    }

    #[test]
    fn damage_says_what_is_wrong() {
        assert_eq!(DamagedError("it is cut short").to_string(), "it is cut short");
    }
}
