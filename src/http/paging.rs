//! Pages of a list: the parameters `limit` and `page`, and the JSON document.

use serde::Serialize;

use super::doc::DefaultValue;
use super::message::{NO_STORE, Response};
use super::query::{Check, Parameter, QueryReader};
use crate::util::json;

/// The default number of rows per page.
pub const DEFAULT_LIMIT: u64 = 20;
/// The maximum number of rows per page.
pub const MAX_LIMIT: u64 = 500;
/// The maximum page number.
pub const MAX_PAGE: u64 = 1_000_000_000;

/// The parameter for the number of rows per page.
pub const LIMIT: Parameter =
    Parameter::new("limit", Check::Integer(1, MAX_LIMIT), "Rows per page.")
        .default(DefaultValue::Integer(DEFAULT_LIMIT));
/// The parameter for the page number.
pub const PAGE: Parameter = Parameter::new(
    "page",
    Check::Integer(1, MAX_PAGE),
    "The number of the page, from 1. Past the last page `rows` is empty and `total` stays correct. In the list of connections, a very deep page returns `query_too_broad`: follow `Link` instead.",
)
.default(DefaultValue::Integer(1));

/// The start of every list document.
const ROWS: &[u8] = b"{\"rows\":[";

/// The requested page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paging {
    /// Rows per page, 1 to [`MAX_LIMIT`].
    pub limit: u64,
    /// The page number, 1 to [`MAX_PAGE`].
    pub page: u64,
}

impl Paging {
    /// Reads `limit` and `page`. `QueryReader::new` has checked both, and `finish` reports invalid
    /// values, so the defaults apply only to omitted ones.
    pub fn read(query: &QueryReader<'_>) -> Self {
        let limit = query.integer(LIMIT.name).unwrap_or(DEFAULT_LIMIT);
        Self { limit, page: query.integer(PAGE.name).unwrap_or(1) }
    }

    /// The positions of the page's rows in a list of `total` rows; empty past the end.
    pub fn positions(self, total: usize) -> std::ops::Range<usize> {
        // At most 500 × 999,999,999, far below 2^64. A start that does not fit a `usize` is past any list.
        let start = self.limit.saturating_mul(self.page.saturating_sub(1));
        let start = usize::try_from(start).unwrap_or(usize::MAX).min(total);
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        start..start.saturating_add(limit).min(total)
    }

    /// The document of a numbered page; `rows` are its rows as JSON, joined by commas.
    pub fn envelope(self, rows: &[u8], total: u64) -> Vec<u8> {
        self.render_envelope(rows, total, "")
    }

    /// Like [`Self::envelope`], for a list that is counted only up to `max`; `total` is larger when there are more rows.
    pub fn envelope_up_to(self, max: u64, rows: &[u8], total: u64) -> Vec<u8> {
        let is_minimum = if total > max { ",\"totalIsMinimum\":true" } else { "" };
        self.render_envelope(rows, total.min(max), is_minimum)
    }

    fn render_envelope(self, rows: &[u8], total: u64, after_total: &str) -> Vec<u8> {
        [ROWS, rows, self.end(total, after_total).as_bytes()].concat()
    }

    fn end(self, total: u64, after_total: &str) -> String {
        let (pages, page) = (total.div_ceil(self.limit), self.page);
        format!("],\"total\":{total}{after_total},\"pages\":{pages},\"page\":{page}}}")
    }
}

/// The response for a page of a list with a cursor; `next` is the cursor of the next page, or null
/// on the last page.
pub fn cursor_page(rows: &[Vec<u8>], next: &impl Serialize) -> Response {
    let mut page =
        ListDocument::with_capacity(rows.iter().map(|row| row.len().saturating_add(1)).sum());
    for row in rows {
        page.push(row);
    }
    Response::json(page.end(&format!("],\"next\":{}}}", json::text(next))), NO_STORE)
}

/// The document of a list, written row by row. A page can have many megabytes, and the isolate has no room for a copy.
pub struct ListDocument(Vec<u8>);

impl ListDocument {
    /// Starts a document whose rows have about this many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        let mut document = Vec::with_capacity(bytes.saturating_add(128));
        document.extend_from_slice(ROWS);
        Self(document)
    }

    /// Adds a row, as JSON.
    pub fn push(&mut self, row: &[u8]) {
        if self.0.len() > ROWS.len() {
            self.0.push(b',');
        }
        self.0.extend_from_slice(row);
    }

    fn end(mut self, end: &str) -> Vec<u8> {
        self.0.extend_from_slice(end.as_bytes());
        self.0
    }

    /// Ends the document of a numbered page.
    pub fn envelope(self, paging: Paging, total: u64) -> Vec<u8> {
        self.end(&paging.end(total, ""))
    }
}

#[cfg(test)]
mod tests {
    use super::{ListDocument, Paging};

    #[test]
    fn rows_are_separated_by_commas() {
        let paging = Paging { limit: 20, page: 1 };
        for rows in [&[][..], &["{}"], &["{}", "{\"a\":[]}", "{}"]] {
            let mut document = ListDocument::with_capacity(0);
            for row in rows {
                document.push(row.as_bytes());
            }
            let expected = paging.envelope(rows.join(",").as_bytes(), 3);
            assert_eq!(document.envelope(paging, 3), expected);
        }
    }

    #[test]
    fn a_total_is_a_minimum_once_counting_stopped() {
        let paging = Paging { limit: 20, page: 1 };
        for (total, end) in [
            (99, "\"total\":99,\"pages\":5,\"page\":1}"),
            (100, "\"total\":100,\"pages\":5,\"page\":1}"),
            (101, "\"total\":100,\"totalIsMinimum\":true,\"pages\":5,\"page\":1}"),
        ] {
            let text = String::from_utf8(paging.envelope_up_to(100, b"", total)).unwrap();
            assert_eq!(text, format!("{{\"rows\":[],{end}"));
        }
    }
}
