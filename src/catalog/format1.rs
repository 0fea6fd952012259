//! Reads what earlier releases published, in format 1, until a new catalog replaces it.
//!
//! In that format, `current` is JSON and every list is one segment: a header of 16 bytes, then sections, each preceded
//! by its length. The first two sections hold the offsets of the rows and the rows' JSON, each row followed by a comma.
//! Of the others, only the last two of the connector list are needed: whether a row is enabled for hosted authorization
//! (one byte), and the id of the segment with its actions (16 bytes).

use serde::Deserialize;

use super::filter::Wanted;
use super::key;
use super::layout::{DamagedError, first_where, read_number};
use super::row::{Facts, Kind};
use super::search::Search;
use super::stored::SegmentId;
use crate::util::crc32::crc32;

/// The connector list that the record `current` names. Returns `None` when the record is not in format 1.
#[must_use]
pub fn connectors_of(current: &[u8]) -> Option<SegmentId> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Record {
        format: u32,
        connectors: SegmentId,
    }
    let record: Record = serde_json::from_slice(current).ok()?;
    (record.format == 1).then_some(record.connectors)
}

/// A list in format 1.
#[derive(Debug)]
pub struct OldList {
    bytes: Vec<u8>,
    kind: Kind,
    rows: usize,
    sections: Vec<(usize, usize)>,
}

const CHECKED_FROM: usize = 12;

impl OldList {
    /// Opens the segment of a list.
    ///
    /// # Errors
    /// When it is not a complete segment of this kind.
    pub fn open(kind: Kind, bytes: Vec<u8>) -> Result<Self, DamagedError> {
        let number_of_kind = if kind == Kind::Connector { 1 } else { 2 };
        if bytes.get(..8) != Some(&[b'C', b'V', b'A', b'U', b'L', b'T', 1, number_of_kind]) {
            return Err(DamagedError("it is no segment of this kind"));
        }
        let checked = bytes.get(CHECKED_FROM..).ok_or(DamagedError("it is cut short"))?;
        if read_number(&bytes, 8) != Some(crc32(checked) as usize) {
            return Err(DamagedError("its checksum is wrong"));
        }
        let rows = read_number(&bytes, CHECKED_FROM).ok_or(DamagedError("it is cut short"))?;
        let (mut at, mut sections) = (CHECKED_FROM.saturating_add(4), Vec::new());
        while let Some(length) = read_number(&bytes, at) {
            let start = at.saturating_add(4);
            at = start.saturating_add(length);
            sections.push((start, at));
        }
        let list = Self { bytes, kind, rows, sections };
        let is_whole = list.row_end(rows) == list.section(1).map(<[u8]>::len);
        if is_whole { Ok(list) } else { Err(DamagedError("its rows are cut short")) }
    }

    /// Bytes that the list holds in memory.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.bytes.len()
    }

    fn section(&self, nth: usize) -> Option<&[u8]> {
        let (start, end) = *self.sections.get(nth)?;
        self.bytes.get(start..end)
    }

    /// Where the rows before this one end.
    fn row_end(&self, row: usize) -> Option<usize> {
        read_number(self.section(0)?, row.checked_mul(4)?)
    }

    /// The JSON of a row. Returns `None` when there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> Option<&[u8]> {
        let range = self.row_end(row)?..self.row_end(row.checked_add(1)?)?;
        self.section(1)?.get(range)?.strip_suffix(b",")
    }

    fn authkit(&self, row: usize) -> bool {
        let nth = self.sections.len().checked_sub(2).filter(|_| self.kind == Kind::Connector);
        nth.and_then(|nth| self.section(nth)?.get(row)) == Some(&1)
    }

    /// The row of a platform's connector. Returns `None` when the list has none.
    #[must_use]
    pub fn row_of_platform(&self, platform: &str) -> Option<usize> {
        if key::platform(platform).is_some() {
            return None;
        }
        // Quotes inside strings are escaped, so this text occurs only where a row states its key.
        let key = format!("\"key\":\"api::{platform}::");
        let at = memchr::memmem::find(self.section(1)?, key.as_bytes())?;
        let ends_after =
            |row: usize| self.row_end(row.saturating_add(1)).is_none_or(|end| end > at);
        Some(first_where(self.rows, ends_after)).filter(|row| *row < self.rows)
    }

    /// The segment with a connector's actions. Returns `None` when there is no such row.
    #[must_use]
    pub fn actions_of(&self, row: usize) -> Option<SegmentId> {
        let ids = self.section(self.sections.len().checked_sub(1)?)?;
        ids.as_chunks().0.get(row).copied().map(SegmentId)
    }

    /// All rows as filters see them; `None` for a row that can't be read.
    fn facts(&self) -> impl Iterator<Item = Option<Facts>> {
        let facts = |row| Facts::read(self.kind, self.row(row)?, u8::from(self.authkit(row)));
        (0..self.rows).map(facts)
    }

    /// The rows that match and for which `holds` is true, best first. It reads every row, so an old catalog answers
    /// more slowly than a new one.
    ///
    /// # Errors
    /// When a row can't be read.
    pub fn select(
        &self,
        wanted: &Wanted,
        shared: &str,
        holds: impl Fn(&Facts) -> bool,
    ) -> Result<Vec<u32>, DamagedError> {
        let search = wanted.q.as_ref().map(|query| Search::new(query, shared));
        let mut found = Vec::new();
        for (row, facts) in (0_u32..).zip(self.facts()) {
            let facts = facts.ok_or(DamagedError("a row is not what it should be"))?;
            if holds(&facts)
                && let Some(rank) = wanted.rank(&facts, search.as_ref())
            {
                found.push((rank, row));
            }
        }
        found.sort_unstable();
        Ok(found.into_iter().map(|(_, row)| row).collect())
    }

    /// The number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }
}
