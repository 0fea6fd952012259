//! The order of lists: by creation time and id, both descending. Also selects the range of a page
//! in this order.

use super::sql::Sql;
use crate::connections::filter::PageStart;

impl Sql<'_> {
    /// Adds the condition that a row is after the cursor, in list order.
    pub(super) fn after(&mut self, table: &str, start: &PageStart) -> &mut Self {
        let PageStart::After(cursor) = start else { return self };
        self.push(" AND (").push(table).push(".created_at, ").push(table).push(".id) < (");
        self.integer(cursor.created_at).push(", ").text(&cursor.id).push(")")
    }

    pub(super) fn in_order(&mut self, table: &str) -> &mut Self {
        self.push(" ORDER BY ").push(table).push(".created_at DESC, ").push(table).push(".id DESC")
    }

    pub(super) fn limit_and_offset(&mut self, start: &PageStart, rows: u64) -> &mut Self {
        self.push(" LIMIT ").integer(rows).skip(start)
    }

    /// Adds the page's offset, after a `LIMIT`.
    pub(super) fn skip(&mut self, start: &PageStart) -> &mut Self {
        match start {
            PageStart::Offset(offset) if *offset > 0 => self.push(" OFFSET ").integer(*offset),
            _ => self,
        }
    }
}
