//! The statements for a page of the list of connections.

use super::count::{Counter, counted};
use super::search::Search;
use super::sql::Sql;
use super::ways::Ways;
use crate::auth::statements::Guard;
use crate::connections::filter::{ConnectionFilter, Start, Tags};
use crate::connections::model::Connection;
use crate::ports::Statement;

/// The statements for a page of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListStatements {
    /// No connection can match.
    Nothing,
    /// Selects all rows, at most one per requested key.
    All(Statement),
    /// Select the number of all rows as `total`, and the page's rows. They read the page and what it skips.
    Counted(Statement, Statement),
    /// Select how many matches were visited, as `walked`, with the number of all rows, as `total`; and the page's rows.
    /// The search stops after more matches than the given limit.
    Searched(Statement, Statement, u64),
    /// Selects the list's cost in rows, as `cost`, and how many connections match its `tags` and `columns`. Then one
    /// pair per way, as in `Counted`; only the cheapest way returns rows, and none does when it is too expensive.
    Ways(Statement, Vec<(Statement, Statement)>),
}

/// The statements for at most `rows` rows of a page, reading at most `most` rows to get there. [`in_order`] sorts their
/// rows into list order.
#[must_use]
pub fn list(
    guard: &Guard<'_>,
    filter: &ConnectionFilter,
    start: &Start,
    rows: u64,
    most: u64,
) -> ListStatements {
    if filter.finds_nothing() {
        return ListStatements::Nothing;
    }
    if let Some(keys) = &filter.keys {
        return ListStatements::All(keyed(guard, filter, keys));
    }
    if let Some(search) = Search::new(filter, most) {
        let page = search.page(guard, start, rows);
        return ListStatements::Searched(search.total(guard), page, search.most);
    }
    match (filter.counter(), &filter.tags) {
        (Some(counter), tags) => {
            let mut page = Sql::new(guard);
            let place = Place { counter: &counter, start, rows, most };
            match tags {
                Some(Tags::All(tags) | Tags::Any(tags)) => page.tag_page(filter, tags, &place),
                None => page.column_page(filter, &place),
            }
            ListStatements::Counted(counted(guard, filter, &counter), page.finish())
        }
        (None, Some(tags)) => {
            let ways = Ways::new(filter, tags, start, most);
            ListStatements::Ways(ways.costs(guard), ways.pairs(guard, rows))
        }
        (None, None) => ListStatements::Nothing,
    }
}

/// How many rows the walk to a page of a counted list skips, from the nearer end when the page lies deep.
#[must_use]
pub const fn skipped(start: &Start, total: u64, rows: u64, most: u64) -> u64 {
    match start {
        Start::Offset(offset) if *offset >= total => 0,
        Start::Offset(offset) if *offset > most => {
            total.saturating_sub(*offset).saturating_sub(rows)
        }
        Start::Offset(offset) => *offset,
        Start::After(_) => 0,
    }
}

/// Sorts rows into list order.
#[must_use]
pub fn in_order(mut rows: Vec<Connection>) -> Vec<Connection> {
    // Rows read from the far end arrive in reverse.
    if let [first, .., last] = rows.as_slice()
        && first.place() < last.place()
    {
        rows.reverse();
    }
    // They are nearly sorted: inserting each in place needs less code than a general sort.
    let mut sorted: Vec<Connection> = Vec::with_capacity(rows.len());
    for row in rows {
        let at = sorted.partition_point(|other| other.place() > row.place());
        sorted.insert(at, row);
    }
    sorted
}

/// The position of a page in a counted list.
struct Place<'a> {
    counter: &'a Counter,
    start: &'a Start,
    rows: u64,
    most: u64,
}

impl Place<'_> {
    /// Whether the walk begins at the far end, because the page lies deeper than a walk may go.
    fn is_far(&self) -> bool {
        matches!(self.start, Start::Offset(offset) if *offset > self.most)
    }
}

impl Sql<'_> {
    /// Adds the query for a page when the filter asks only about columns.
    fn column_page(&mut self, filter: &ConnectionFilter, place: &Place<'_>) {
        self.select(filter);
        let Some(open) = filter.columns().open() else {
            self.walk_columns(filter).after("c", place.start);
            self.ordered("c.created_at", "c.id", filter, place);
            return;
        };
        self.push(" FROM (");
        for (nth, value) in open.values.iter().enumerate() {
            self.push(if nth == 0 { "" } else { " UNION ALL " });
            self.push("SELECT c.created_at, c.id, c.seq");
            self.index(filter.columns().index(), filter).column_filters(filter);
            self.push(" AND ").push(open.column).push(" = ").text(value).after("c", place.start);
        }
        self.ordered("1", "2", filter, place).push(") m").rows_of("m");
    }

    /// Adds the query for a page when the filter asks only about one tag.
    fn tag_page(&mut self, filter: &ConnectionFilter, tags: &[String], place: &Place<'_>) {
        self.select(filter).walk_tag(tags, filter, true).after("t", place.start);
        self.ordered("t.created_at", "t.id", filter, place);
    }

    /// Ends a walk in list order, or in reverse for a page nearer to the end. Returns no rows when the page lies past
    /// the end or too far from both ends.
    fn ordered(
        &mut self,
        created_at: &str,
        id: &str,
        filter: &ConnectionFilter,
        place: &Place<'_>,
    ) -> &mut Self {
        let direction = if place.is_far() { " ASC" } else { " DESC" };
        self.push(" ORDER BY ")
            .push(created_at)
            .push(direction)
            .push(", ")
            .push(id)
            .push(direction);
        let offset = match place.start {
            Start::Offset(offset) if *offset > 0 => *offset,
            _ => return self.push(" LIMIT ").integer(place.rows),
        };
        if !place.is_far() {
            self.push(" LIMIT iif(").integer(offset).push(" < ").counted(filter, place.counter);
            return self.push(", ").integer(place.rows).push(", 0) OFFSET ").integer(offset);
        }
        self.push(" LIMIT (SELECT iif(rest - ").integer(place.rows).push(" <= ");
        self.integer(place.most).push(", max(min(rest, ").integer(place.rows);
        self.push("), 0), 0) FROM (SELECT ").counted(filter, place.counter).push(" - ");
        self.integer(offset).push(" AS rest)) OFFSET (SELECT max(rest - ").integer(place.rows);
        self.push(", 0) FROM (SELECT ").counted(filter, place.counter).push(" - ");
        self.integer(offset).push(" AS rest))")
    }
}

/// Selects the connections with one of the keys, reading two rows per key.
fn keyed(guard: &Guard<'_>, filter: &ConnectionFilter, keys: &[[String; 3]]) -> Statement {
    let mut sql = Sql::new(guard);
    sql.select(filter).push(" FROM api_keys k CROSS JOIN json_each(").keys(keys);
    sql.push(") j CROSS JOIN connections c INDEXED BY connections_by_key ON c.account = k.account AND c.environment = k.environment AND c.platform = j.value ->> 0 AND c.label = j.value ->> 1 AND c.identity = j.value ->> 2 WHERE ");
    sql.guard().push(" AND c.active = ").integer(u64::from(filter.active));
    sql.conditions(filter);
    sql.finish()
}
