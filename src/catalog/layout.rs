//! The bytes of a segment: a header, then sections one after another, each with its length before it.
//!
//! | bytes | meaning |
//! |---|---|
//! | 8 | `CVAULT`, the [`FORMAT`], the kind |
//! | 4 | CRC-32 of all that follows |
//! | 4 | number of rows |
//! | … | sections: 4 bytes of length, then that many bytes |
//!
//! Numbers are little-endian. A list of texts is a section of `rows + 1` offsets and a section with the texts.

use std::fmt;
use std::ops::Range;

use super::stored::FORMAT;

const MAGIC: &[u8; 6] = b"CVAULT";
const CHECKED_FROM: usize = 12;

/// The bytes are not a segment of the expected kind and format, or not all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DamagedError(
    /// What is wrong with them.
    pub &'static str,
);

impl fmt::Display for DamagedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "damaged segment: {}", self.0)
    }
}

impl std::error::Error for DamagedError {}

/// Which list a segment holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// All connectors.
    Connectors = 1,
    /// One platform's actions.
    Actions = 2,
}

/// Puts a segment together.
#[derive(Debug)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Starts a segment of `rows` rows.
    #[must_use]
    pub fn new(kind: Kind, rows: usize) -> Self {
        let mut bytes = MAGIC.to_vec();
        bytes.push(u8::try_from(FORMAT).unwrap_or(u8::MAX));
        bytes.push(kind as u8);
        bytes.extend([0; 4]);
        bytes.extend(number(rows));
        Self { bytes }
    }

    /// Adds a section.
    pub fn section(&mut self, bytes: &[u8]) {
        self.bytes.extend(number(bytes.len()));
        self.bytes.extend(bytes);
    }

    /// Adds a list of texts, one a row.
    pub fn texts<T: AsRef<[u8]>>(&mut self, texts: impl IntoIterator<Item = T>) {
        let mut joined = Vec::new();
        let mut offsets = number(0).to_vec();
        for text in texts {
            joined.extend(text.as_ref());
            offsets.extend(number(joined.len()));
        }
        self.section(&offsets);
        self.section(&joined);
    }

    /// Adds a list of row numbers.
    pub fn row_numbers(&mut self, rows: impl IntoIterator<Item = usize>) {
        let bytes: Vec<u8> = rows.into_iter().flat_map(number).collect();
        self.section(&bytes);
    }

    /// The finished segment.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        let sum = crate::crc32::crc32(self.bytes.get(CHECKED_FROM..).unwrap_or_default());
        if let Some(place) = self.bytes.get_mut(8..CHECKED_FROM) {
            place.copy_from_slice(&sum.to_le_bytes());
        }
        self.bytes
    }
}

/// A segment stays far below 2^32 bytes: storage takes values of 25 MiB.
fn number(value: usize) -> [u8; 4] {
    u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes()
}

/// Walks through the sections of a segment whose checksum holds.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    rows: usize,
}

/// A list of texts within a segment.
#[derive(Debug, Clone)]
pub struct Texts {
    offsets: Range<usize>,
    joined: Range<usize>,
}

impl<'a> Reader<'a> {
    /// Checks the header and the checksum.
    ///
    /// # Errors
    /// When the bytes are not a whole segment of this kind.
    pub fn open(bytes: &'a [u8], kind: Kind) -> Result<Self, DamagedError> {
        if bytes.get(..6) != Some(MAGIC) {
            return Err(DamagedError("it does not begin like a segment"));
        }
        if bytes.get(6).map(|format| u32::from(*format)) != Some(FORMAT) {
            return Err(DamagedError("it has another format"));
        }
        if bytes.get(7) != Some(&(kind as u8)) {
            return Err(DamagedError("it holds another kind of list"));
        }
        let checked = bytes.get(CHECKED_FROM..).ok_or(DamagedError("it is cut short"))?;
        if read_number(bytes, 8) != Some(crate::crc32::crc32(checked) as usize) {
            return Err(DamagedError("its checksum is wrong"));
        }
        let rows = read_number(bytes, CHECKED_FROM).ok_or(DamagedError("it is cut short"))?;
        Ok(Self { bytes, at: CHECKED_FROM.saturating_add(4), rows })
    }

    /// The number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// The place of the next section.
    ///
    /// # Errors
    /// When it reaches past the end.
    pub fn section(&mut self) -> Result<Range<usize>, DamagedError> {
        let length =
            read_number(self.bytes, self.at).ok_or(DamagedError("a section is missing"))?;
        let start = self.at.saturating_add(4);
        let end = start
            .checked_add(length)
            .filter(|end| *end <= self.bytes.len())
            .ok_or(DamagedError("a section is cut short"))?;
        self.at = end;
        Ok(start..end)
    }

    /// The place of the next section, which has `width` bytes a row.
    ///
    /// # Errors
    /// When it has another length.
    pub fn cells(&mut self, width: usize) -> Result<Range<usize>, DamagedError> {
        let place = self.section()?;
        if Some(place.len()) == self.rows.checked_mul(width) {
            Ok(place)
        } else {
            Err(DamagedError("a section has the wrong length"))
        }
    }

    /// The next list of texts.
    ///
    /// # Errors
    /// When its offsets don't fit its texts.
    pub fn texts(&mut self) -> Result<Texts, DamagedError> {
        let offsets = self.section()?;
        let joined = self.section()?;
        let numbers = self.bytes.get(offsets.clone()).unwrap_or_default();
        let expected = self.rows.checked_add(1).and_then(|count| count.checked_mul(4));
        let mut last = 0;
        let ascending = numbers.as_chunks::<4>().0.iter().all(|number| {
            let number = u32::from_le_bytes(*number);
            let holds = last <= number;
            last = number;
            holds
        });
        if Some(offsets.len()) != expected || !ascending || last as usize != joined.len() {
            return Err(DamagedError("its offsets don't fit its texts"));
        }
        Ok(Texts { offsets, joined })
    }
}

impl Texts {
    /// Where row `row` begins among the joined texts; the end of the last row for `row` = number of rows.
    #[must_use]
    pub fn start(&self, bytes: &[u8], row: usize) -> usize {
        row.checked_mul(4)
            .and_then(|at| read_number(bytes.get(self.offsets.clone())?, at))
            .unwrap_or(0)
    }

    /// The text of a row; empty when there is no such row.
    #[must_use]
    pub fn get<'a>(&self, bytes: &'a [u8], row: usize) -> &'a [u8] {
        self.slice(bytes, row..row.saturating_add(1))
    }

    /// The joined texts of neighbouring rows.
    #[must_use]
    pub fn slice<'a>(&self, bytes: &'a [u8], rows: Range<usize>) -> &'a [u8] {
        self.joined(bytes)
            .get(self.start(bytes, rows.start)..self.start(bytes, rows.end))
            .unwrap_or_default()
    }

    /// All texts, joined.
    #[must_use]
    pub fn joined<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes.get(self.joined.clone()).unwrap_or_default()
    }
}

/// The number at a place; none past the end.
#[must_use]
pub fn read_number(bytes: &[u8], at: usize) -> Option<usize> {
    let number = bytes.get(at..at.checked_add(4)?)?.first_chunk()?;
    Some(u32::from_le_bytes(*number) as usize)
}
