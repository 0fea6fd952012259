//! A page of the list of connections.

use super::count::{count, counted};
use super::source::{NAME_OVERLAPS, Source};
use super::{COLUMNS, Sql};
use crate::access::statements::Guard;
use crate::ports::Statement;
use crate::vault::filter::{ConnectionFilter, Start};
use crate::vault::model::Connection;

/// Most rows of a page whose rows are looked up after sorting.
const SHORT: u64 = 32;

/// What gives a page of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListStatements {
    /// Pairs, of which one speaks and the others give nothing: the number of all rows as `total` (no row for none), and
    /// the page's rows. No pair where nothing can be found.
    Paged(Vec<(Statement, Statement)>),
    /// All rows: there is at most one for each key asked for.
    All(Statement),
}

/// The statements of a page; at most `rows` rows of it. What they give is put into list order by [`in_order`].
#[must_use]
pub fn list(
    guard: &Guard<'_>,
    filter: &ConnectionFilter,
    start: &Start,
    rows: u64,
) -> ListStatements {
    if filter.finds_nothing() {
        return ListStatements::Paged(Vec::new());
    }
    if let Some(keys) = &filter.keys {
        return ListStatements::All(keyed(guard, filter, keys));
    }
    let pairs = filter.sources().into_iter().map(|source| {
        let total = counted(guard, filter).unwrap_or_else(|| count(guard, filter, source));
        let mut sql = Sql::new(guard);
        match source.0 {
            Source::Prefix(q) => sql.prefixed(q, filter, start, rows),
            Source::Name => sql.of_name(filter, start, rows),
            _ => {
                let table = sql.push("SELECT ").push(COLUMNS).walk(source, filter);
                sql.begin_at(table, filter, start).in_order(table).window(start, rows);
            }
        }
        (total, sql.finish())
    });
    ListStatements::Paged(pairs.collect())
}

/// The rows in list order.
#[must_use]
pub fn in_order(rows: Vec<Connection>) -> Vec<Connection> {
    // They mostly are: putting each in its place costs less than a sort weighs.
    let mut sorted: Vec<Connection> = Vec::with_capacity(rows.len());
    for row in rows {
        let at = sorted.partition_point(|other| other.place() > row.place());
        sorted.insert(at, row);
    }
    sorted
}

impl Sql<'_> {
    /// A condition: at the start, or after it.
    fn begin_at(&mut self, table: &str, filter: &ConnectionFilter, start: &Start) -> &mut Self {
        match start {
            Start::Offset(offset) => self.unless_past(filter, *offset),
            Start::After(_) => self.after(table, start),
        }
    }

    /// A condition: after the connection that a cursor names, in list order.
    fn after(&mut self, table: &str, start: &Start) -> &mut Self {
        let Start::After(cursor) = start else { return self };
        self.push(" AND (").push(table).push(".created_at, ").push(table).push(".id) < (");
        self.integer(cursor.created_at).push(", ").text(&cursor.id).push(")")
    }

    fn in_order(&mut self, table: &str) -> &mut Self {
        self.push(" ORDER BY ").push(table).push(".created_at DESC, ").push(table).push(".id DESC")
    }

    fn window(&mut self, start: &Start, rows: u64) -> &mut Self {
        self.push(" LIMIT ").integer(rows);
        match start {
            Start::Offset(offset) if *offset > 0 => self.push(" OFFSET ").integer(*offset),
            _ => self,
        }
    }
}

/// The connections with one of the keys: two rows read a key.
fn keyed(guard: &Guard<'_>, filter: &ConnectionFilter, keys: &[[String; 3]]) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT ").push(COLUMNS).push(" FROM api_keys k CROSS JOIN json_each(").keys(keys);
    sql.push(") j CROSS JOIN connections c INDEXED BY connections_by_key ON c.account = k.account AND c.environment = k.environment AND c.platform = j.value ->> 0 AND c.label = j.value ->> 1 AND c.identity = j.value ->> 2 WHERE ");
    sql.guard().push(" AND c.active = ").integer(u64::from(filter.active));
    sql.column_filters(filter).q_filter(filter).tag_filter(filter);
    sql.finish()
}

// What is found by name is not in list order, so that all of it has to be sorted. `LIMIT -1` makes the database sort
// everything at once, and give it row by row to the `LIMIT` outside: a sort that keeps only the first rows counts every
// row twice. Places are sorted in an eighth of the time that whole rows take, but then each row of the page is looked up
// and counts twice: done where the page is short.
impl Sql<'_> {
    /// The page of the connections with the filter's name.
    fn of_name(&mut self, filter: &ConnectionFilter, start: &Start, rows: u64) {
        let columns = self.begin_sorted(rows);
        self.push(columns).walk_names(NAME_OVERLAPS, filter).after("c", start);
        self.end_sorted(start, rows);
    }

    /// The page of the connections of which the name or the identity begins with `q`.
    fn prefixed(&mut self, q: &str, filter: &ConnectionFilter, start: &Start, rows: u64) {
        let columns = self.begin_sorted(rows);
        self.push(columns).named(q, filter).after("c", start);
        self.push(" UNION ALL SELECT ").push(columns).identified(q, filter).after("c", start);
        self.end_sorted(start, rows);
    }

    /// Begins a page of which everything has to be sorted; gives the columns that are.
    fn begin_sorted(&mut self, rows: u64) -> &'static str {
        let is_short = rows <= SHORT;
        if is_short {
            self.push("SELECT ").push(COLUMNS).push(" FROM (");
        }
        self.push("SELECT * FROM (SELECT * FROM (SELECT ");
        if is_short { "c.created_at, c.id, c.seq" } else { COLUMNS }
    }

    fn end_sorted(&mut self, start: &Start, rows: u64) {
        self.push(") m").in_order("m").push(" LIMIT -1)").window(start, rows);
        if rows <= SHORT {
            self.push(") m CROSS JOIN connections c ON c.seq = m.seq");
        }
    }

    /// ` FROM … WHERE …`: the connections `c` whose identity begins with `q`.
    pub(super) fn identified(&mut self, q: &str, filter: &ConnectionFilter) -> &mut Self {
        let rest = ConnectionFilter { q: None, ..filter.clone() };
        self.walk_index("connections_by_identity", &rest).unless_none(filter).push(" AND ");
        self.begins("c.identity_folded", q)
    }

    /// As above, those whose name does, and whose identity does not: with fewer of the same characters at the beginning
    /// than `q` has, it can't.
    pub(super) fn named(&mut self, q: &str, filter: &ConnectionFilter) -> &mut Self {
        let rest = ConnectionFilter { q: None, ..filter.clone() };
        let length = q.chars().count();
        self.walk_names(length, &rest).unless_none(filter).push(" AND ");
        self.begins("c.name_folded", q);
        if length >= NAME_OVERLAPS {
            self.push(" AND NOT (").begins("c.identity_folded", q).push(")");
        }
        self
    }
}
