//! Pages of a list: `limit`, `page` and the envelope (specification, parts 2.1 and 8).

use super::query::{Check, Parameter, QueryReader};

/// Rows of a page when the request does not say.
pub const DEFAULT_LIMIT: u64 = 20;
/// Most rows of a page.
pub const MAX_LIMIT: u64 = 500;
/// The highest page number that is understood.
pub const MAX_PAGE: u64 = 1_000_000_000;

/// The parameter with the number of rows of a page.
pub const LIMIT: Parameter = Parameter { name: "limit", check: Check::Integer(1, MAX_LIMIT) };
/// The parameter with the number of a page.
pub const PAGE: Parameter = Parameter { name: "page", check: Check::Integer(1, MAX_PAGE) };

/// Which page of a list is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paging {
    /// Rows a page, 1 to [`MAX_LIMIT`].
    pub limit: u64,
    /// 1 to [`MAX_PAGE`].
    pub page: u64,
}

impl Paging {
    /// Reads `limit` and `page`.
    #[must_use]
    pub fn read(query: &QueryReader<'_>) -> Self {
        let limit = query.integer(LIMIT.name).unwrap_or(DEFAULT_LIMIT);
        Self { limit, page: query.integer(PAGE.name).unwrap_or(1) }
    }

    /// The positions of the page's rows in a list of `total`: `start..end`, empty past the end.
    #[must_use]
    pub fn positions(self, total: usize) -> std::ops::Range<usize> {
        // At most 500 × 999,999,999: far below 2^64, and past any list when it does not fit a usize.
        let start = self.limit.saturating_mul(self.page.saturating_sub(1));
        let start = usize::try_from(start).unwrap_or(usize::MAX).min(total);
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        start..start.saturating_add(limit).min(total)
    }

    /// The envelope around `rows`, the JSON of the page's rows joined by commas.
    #[must_use]
    pub fn envelope(self, rows: &[u8], total: u64) -> Vec<u8> {
        let pages = total.div_ceil(self.limit);
        let end = format!("],\"total\":{total},\"pages\":{pages},\"page\":{}}}", self.page);
        [b"{\"rows\":[", rows, end.as_bytes()].concat()
    }
}
