//! The order of lists: newest first, then by id, descending. Where a page begins and ends in it.

use super::sql::Sql;
use crate::connections::filter::Start;

impl Sql<'_> {
    /// Adds a condition: after the connection that the cursor names, in list order.
    pub(super) fn after(&mut self, table: &str, start: &Start) -> &mut Self {
        let Start::After(cursor) = start else { return self };
        self.push(" AND (").push(table).push(".created_at, ").push(table).push(".id) < (");
        self.integer(cursor.created_at).push(", ").text(&cursor.id).push(")")
    }

    pub(super) fn in_order(&mut self, table: &str) -> &mut Self {
        self.push(" ORDER BY ").push(table).push(".created_at DESC, ").push(table).push(".id DESC")
    }

    pub(super) fn window(&mut self, start: &Start, rows: u64) -> &mut Self {
        self.push(" LIMIT ").integer(rows).skip(start)
    }

    /// Adds the page's offset; follows a `LIMIT`.
    pub(super) fn skip(&mut self, start: &Start) -> &mut Self {
        match start {
            Start::Offset(offset) if *offset > 0 => self.push(" OFFSET ").integer(*offset),
            _ => self,
        }
    }
}
