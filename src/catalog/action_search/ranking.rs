//! The result of a search over all actions: the best rows, sorted on demand.

use std::cell::RefCell;
use std::ops::Range;

/// Notes about platforms that a search over all actions returns.
#[derive(Debug, Clone, Default)]
pub struct PlatformNotes {
    /// Requested platforms that do not exist.
    pub unknown: Vec<String>,
    /// Requested platforms that have no actions.
    pub empty: Vec<String>,
    /// Well-known platforms whose names the query contains, but without actions among the best
    /// matches.
    pub unmatched: Vec<String>,
}

/// The best rows that match a query. They are sorted only up to the last requested page, since most
/// callers read only the first one.
#[derive(Debug)]
pub struct Ranking {
    pub platform_notes: PlatformNotes,
    len: usize,
    kept: usize,
    /// The rows, and the length of the sorted prefix.
    scored_rows: RefCell<(Vec<ScoredRow>, usize)>,
}

impl Ranking {
    pub const ROW_BYTES: usize = size_of::<ScoredRow>();

    pub(super) const fn new(len: usize, scored_rows: Vec<ScoredRow>) -> Self {
        let platform_notes =
            PlatformNotes { unknown: Vec::new(), empty: Vec::new(), unmatched: Vec::new() };
        Self {
            platform_notes,
            len,
            kept: scored_rows.len(),
            scored_rows: RefCell::new((scored_rows, 0)),
        }
    }

    pub fn bytes(&self) -> usize {
        let PlatformNotes { unknown, empty, unmatched } = &self.platform_notes;
        let names = unknown.iter().chain(empty).chain(unmatched).map(String::len);
        let rows = self.kept.saturating_mul(Self::ROW_BYTES);
        names.fold(rows, usize::saturating_add)
    }

    /// The number of matching rows, at most [`MAX_MATCHES`](super::rank::MAX_MATCHES).
    pub const fn len(&self) -> usize {
        self.len
    }

    pub const fn kept(&self) -> usize {
        self.kept
    }

    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The rows at these positions, best first. Positions beyond the stored rows are omitted.
    pub fn page(&self, positions: Range<usize>) -> Vec<u32> {
        let Ok(mut scored_rows) = self.scored_rows.try_borrow_mut() else { return Vec::new() };
        let (scored_rows, sorted) = &mut *scored_rows;
        let end = positions.end.min(self.kept);
        if let Some(more) = end.checked_sub(*sorted).filter(|more| *more > 0) {
            let others = scored_rows.get_mut(*sorted..).unwrap_or_default();
            if more < others.len() {
                others.select_nth_unstable(more);
            }
            others.get_mut(..more).unwrap_or_default().sort_unstable();
            *sorted = end;
        }
        let page = scored_rows.get(positions.start.min(end)..end).unwrap_or_default();
        page.iter().map(|scored| scored.row()).collect()
    }
}

/// A row with its score, packed into one integer. Higher scores sort first, then lower row numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScoredRow(u64);

impl ScoredRow {
    pub(super) const fn new(score: i32, row: u32) -> Self {
        // Flipping all bits except the sign reverses the order.
        let inverted = (score ^ i32::MAX).cast_unsigned();
        Self((inverted as u64) << 32 | row as u64)
    }

    pub(super) const fn row(self) -> u32 {
        (self.0 & 0xffff_ffff) as u32
    }

    pub(super) const fn score(self) -> i32 {
        ((self.0 >> 32) as u32).cast_signed() ^ i32::MAX
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{Ranking, ScoredRow};
    use crate::catalog::filter::Selection;

    #[test]
    fn ranking_returns_only_stored_rows() {
        for (len, kept, end, expected) in
            [(5, 2, 2, true), (5, 2, 3, false), (2, 2, 9, true), (0, 0, 9, true)]
        {
            let scored_rows = (0..kept).map(|row| ScoredRow::new(0, row)).collect();
            let selection = Selection::Ranked(Rc::new(Ranking::new(len, scored_rows)));
            assert_eq!(selection.reaches(end), expected, "{len} {kept} {end}");
            assert_eq!(selection.bytes(), kept as usize * size_of::<ScoredRow>());
        }
        assert!(Selection::Range(2..2).is_empty() && !Selection::Range(2..3).is_empty());
        let rows = |index| Selection::Rows(vec![0; index].into());
        assert_eq!([Selection::Range(0..3), rows(0), rows(3)].map(|one| one.bytes()), [0, 0, 12]);
        assert!(Selection::Range(0..3).reaches(9) && Selection::Rows(Rc::new([1])).reaches(9));
    }

    fn ranking(scored_rows: impl IntoIterator<Item = (i32, u32)>) -> Ranking {
        let scored_rows: Vec<ScoredRow> =
            scored_rows.into_iter().map(|(score, row)| ScoredRow::new(score, row)).collect();
        Ranking::new(scored_rows.len(), scored_rows)
    }

    #[test]
    fn sorts_by_score_then_row() {
        let best = [(i32::MAX, 9), (7, 0), (1, 3), (0, 1), (0, u32::MAX), (-1, 0), (i32::MIN, 5)];
        let ranking = ranking(best.into_iter().rev());
        assert_eq!(ranking.page(0..7), best.map(|(_, row)| row));
    }

    #[test]
    fn pages_do_not_depend_on_the_order_of_requests() {
        let score = |row: u32| i32::try_from(row.wrapping_mul(2_654_435_761) % 97).unwrap();
        let scored_rows: Vec<(i32, u32)> = (0..1000).map(|row| (score(row), row)).collect();
        let all = ranking(scored_rows.clone()).page(0..1000);
        for order in [[0, 1, 9, 5], [9, 0, 5, 1], [5, 9, 1, 0]] {
            let ranking = ranking(scored_rows.clone());
            for page in order {
                let positions = page * 100..(page + 1) * 100;
                assert_eq!(ranking.page(positions.clone()), all[positions]);
            }
            assert_eq!(ranking.page(990..2000), all[990..]);
            assert_eq!(ranking.page(2000..2100), [0_u32; 0]);
        }
    }
}
